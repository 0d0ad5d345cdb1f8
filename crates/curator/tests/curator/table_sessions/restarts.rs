//! What a new process goes on from.

use counterpoint_curator::question::AggregateKind;
use counterpoint_curator::table_session::QuerySpec;
use counterpoint_curator::{Curator, Reply};
use counterpoint_testing::tries;
use rusqlite::Connection;

use super::{NORTH, Place, about, asking, assert_sound, north, opened, sparse};

/// The noisy threshold of ann's session, as it is stored.
fn threshold(curator: &Curator, key: &str) -> String {
    let key = format!("s-ann/{key}");
    let session = curator.pool().with(|ledger| ledger.session("both", &key)).unwrap().unwrap();
    let state: serde_json::Value = serde_json::from_slice(session.state.unwrap().bytes()).unwrap();
    state["state"]["left"]["gate"]["threshold"].as_str().unwrap().to_owned()
}

/// Puts another threshold in the place of the one that was drawn.
fn forge(place: &Place, key: &str, threshold: i64) {
    let connection = Connection::open(place.folder.path().join("ledger.db")).unwrap();
    let place = ["both".to_owned(), format!("s-ann/{key}")];
    let sql = "SELECT state FROM ledger_state WHERE account = ?1 AND key = ?2";
    let state: Vec<u8> = connection.query_row(sql, place.clone(), |row| row.get(0)).unwrap();
    let mut state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    state["state"]["left"]["gate"]["threshold"] = threshold.to_string().into();
    let sql = "UPDATE ledger_state SET state = ?3 WHERE account = ?1 AND key = ?2";
    let [account, key] = place;
    let bytes = serde_json::to_vec(&state).unwrap();
    assert_eq!(connection.execute(sql, rusqlite::params![account, key, bytes]).unwrap(), 1);
}

/// The threshold is drawn once: many processes, each of which opens the session again and asks it, find the same.
#[test]
fn a_new_process_goes_on_from_the_same_threshold() {
    let place = Place::new();
    let declared = || sparse(0.001, 1_000_000, NORTH, QuerySpec::default());
    opened(&place.curator(), &place.ann, "s", declared());
    let drawn = threshold(&place.curator(), "s");
    for round in 0..tries(40, 0.25) as u64 {
        let curator = place.curator();
        let again = opened(&curator, &place.ann, "s", declared());
        assert_eq!((again.charge, again.answered), (None, round));
        let asking = asking("s", &format!("q{round}"), about(AggregateKind::Count, north()));
        curator.ask_session(&place.ann, &asking).unwrap();
        assert_eq!(threshold(&curator, "s"), drawn, "{round}");
        assert_eq!(curator.session(&place.ann, "both", "s").unwrap().answered, round + 1);
    }
    assert_sound(&place.curator());
}

/// Answers are those of the threshold that is stored. The query is at the declared threshold, so that one that is drawn
/// again would be on either side of it about equally often; the stored one is put far above, then far below.
#[test]
fn every_answer_is_from_the_stored_threshold() {
    let place = Place::new();
    let declared = || sparse(0.01, 40, NORTH, QuerySpec::default());
    for (key, far) in [("above", 1_000_000_000), ("below", -1_000_000_000)] {
        opened(&place.curator(), &place.ann, key, declared());
        forge(&place, key, far);
        for round in 0..tries(40, 0.5) {
            let curator = place.curator();
            opened(&curator, &place.ann, key, declared());
            let asking = asking(key, &format!("q{round}"), about(AggregateKind::Count, north()));
            let shown = curator.ask_session(&place.ann, &asking).unwrap();
            assert_eq!(*shown.reply() == Reply::Below, far > 0, "{key}, {round}");
        }
    }
}
