//! A ledger on a cluster: what replicas may lack, what is refused, and what a failover keeps.

use std::time::Duration;

use counterpoint_ledger::{DatabaseError, Ledger, LedgerError, OpenOptions, Pool, Request, Url};
use counterpoint_testing::{cluster, has_own_server, on_own_server, run, server};

use crate::child::start;
use crate::crash::{kept, under_load};
use crate::{Place, Random, amount, assert_sound, pay, release, size, with_account};

/// Every rule, then failovers under load. Full: 10 of them. Quick: 1.
#[test]
fn a_failover_keeps_every_debit_that_was_acknowledged() {
    on_own_server("replicas::failing_over");
}

#[test]
#[ignore = "is started by another test"]
fn failing_over() {
    if !has_own_server() {
        return;
    }
    let (place, primary) = (Place::postgres().unwrap(), server().unwrap());
    asynchronous_replicas_are_refused(&place, &primary);
    // The replica's settings are a copy.
    wait_for(&primary, "*");
    let standby = cluster(&["replica", "s0", "data"]);
    standbys_are_read_alone(&place, &primary, &standby);
    commits_that_did_not_wait_are_uncertain(&place, &primary);
    let mut servers = vec![("data".to_owned(), primary), ("s0".to_owned(), standby)];
    for round in 0..size(10, 1) {
        fail_over(&place, &mut servers, round);
    }
}

/// Where a schema is found on a server, and more settings.
fn at(place: &Place, server: &str, settings: &str) -> Url {
    let (_, found) = place.url.split_once('?').unwrap();
    format!("{server}?{found}{settings}").parse().unwrap()
}

/// The URL of two servers.
fn both(one: &str, other: &str) -> String {
    let host = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    one.replace(&host(one), &format!("{},{}", host(one), host(other)))
}

/// Waits until a server says that something is so.
fn until(server: &str, sql: &str) {
    let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
    for _ in 0..60_000 {
        if client.query_one(sql, &[]).unwrap().get::<_, bool>(0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {sql}");
}

/// Commits wait for these from now on.
fn wait_for(server: &str, names: &str) {
    run(server, &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
    run(server, "SELECT pg_reload_conf()");
    let now = format!("SELECT current_setting('synchronous_standby_names') = '{names}'");
    until(server, &now);
}

/// Waits for a commit that waits for a replica.
fn somebody_waits(server: &str) {
    until(server, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
}

#[track_caller]
fn unusable<T>(outcome: Result<T, LedgerError>) -> String {
    match outcome.err() {
        Some(LedgerError::Database(DatabaseError::Unusable(problem))) => problem,
        other => panic!("{other:?}"),
    }
}

/// A replica that commits do not wait for is found at opening, and at the next write of those who had opened before.
fn asynchronous_replicas_are_refused(place: &Place, primary: &str) {
    let mut ledger = with_account(place, "1000000");
    let problem = unusable(Ledger::open(&at(place, primary, "&replicas=synchronous")));
    assert!(problem.starts_with("synchronous_standby_names is empty"), "{problem}");
    pay(&mut ledger, "alone").unwrap();
    let head = ledger.head().unwrap();
    cluster(&["replica", "spare", "data"]);
    until(primary, "SELECT count(*) = 1 FROM pg_stat_replication");
    // Whoever may not see what streams sees that something does.
    run(primary, "CREATE ROLE plain LOGIN");
    for url in [at(place, primary, ""), at(place, &primary.replace("ledger@", "plain@"), "")] {
        let problem = unusable(Ledger::open(&url));
        assert!(
            problem.starts_with("there are replicas, and synchronous_standby_names"),
            "{problem}"
        );
        assert!(problem.contains("replicas=asynchronous in the URL"), "{problem}");
    }
    let problem = unusable(pay(&mut ledger, "refused"));
    assert!(problem.starts_with("nothing was written: there are replicas"), "{problem}");
    assert_eq!((ledger.head().unwrap(), ledger.is_stopped()), (head, false));
    // Nothing is written to read.
    let options = OpenOptions { read_only: true, expect: Some(head) };
    assert_eq!(Ledger::open_with(&at(place, primary, ""), &options).unwrap().head(), Ok(head));
    pay(&mut Ledger::open(&at(place, primary, "&replicas=asynchronous")).unwrap(), "said").unwrap();
    // One that went away is missed if it has a slot to come back to.
    cluster(&["stop", "spare"]);
    until(primary, "SELECT count(*) = 0 FROM pg_stat_replication");
    pay(&mut ledger, "alone-again").unwrap();
    run(primary, "SELECT pg_create_physical_replication_slot('spare')");
    assert!(unusable(pay(&mut ledger, "refused")).starts_with("nothing was written: there are"));
    run(primary, "SELECT pg_drop_replication_slot('spare')");
    pay(&mut ledger, "alone-at-last").unwrap();
    assert_sound(&mut ledger);
}

/// A standby can be read; of several servers a ledger is written on the one that can be.
fn standbys_are_read_alone(place: &Place, primary: &str, standby: &str) {
    let mut ledger = Ledger::open(&at(place, primary, "&replicas=synchronous")).unwrap();
    let head = pay(&mut ledger, "synchronous").unwrap();
    let problem = unusable(Ledger::open(&at(place, standby, "")));
    assert_eq!(problem, "the server is a standby; legal: its primary, or to read only");
    let options = OpenOptions { read_only: true, expect: None };
    let mut reader = Ledger::open_with(&at(place, standby, ""), &options).unwrap();
    while reader.head().unwrap() != head {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(reader.verify(Some(head)).unwrap().problem, None);
    assert_eq!(pay(&mut reader, "there"), Err(LedgerError::ReadOnly));
    for (key, url) in [("second", both(standby, primary)), ("first", both(primary, standby))] {
        pay(&mut Ledger::open(&at(place, &url, "")).unwrap(), key).unwrap();
    }
}

/// A commit that waits for a replica and is cancelled succeeds on the server, and so does one whose replicas are forgotten:
/// neither is acknowledged here, and a retry finds it and waits.
fn commits_that_did_not_wait_are_uncertain(place: &Place, primary: &str) {
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let quiet = "%20-cclient_min_messages%3Derror";
    let ways: [(&str, &dyn Fn()); 4] = [
        ("", &|| run(primary, cancel)),
        (quiet, &|| run(primary, cancel)),
        ("&replicas=asynchronous", &|| run(primary, cancel)),
        ("&replicas=synchronous", &|| wait_for(primary, "")),
    ];
    let tenth = release("0.1");
    for (number, (settings, cut_short)) in ways.into_iter().enumerate() {
        let mut ledger = Ledger::open(&at(place, primary, settings)).unwrap();
        let spent = |ledger: &mut Ledger| {
            ledger.status(Some("account")).unwrap().accounts[0].spent.main.clone()
        };
        let (before, key) = (spent(&mut ledger), format!("cut-{number}"));
        let request = Request::new("account", &key, &tenth);
        cluster(&["stop", "s0"]);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ledger.reserve(&request));
            somebody_waits(primary);
            cut_short();
            match waiting.join().unwrap() {
                Err(LedgerError::Database(DatabaseError::Uncertain(_))) => {}
                other => panic!("{settings}: {other:?}"),
            }
        });
        assert!(ledger.is_stopped());
        if number == 3 {
            let problem = unusable(Ledger::open(&at(place, primary, settings)));
            assert!(problem.starts_with("synchronous_standby_names is empty"), "{problem}");
            wait_for(primary, "*");
        }
        // The retry waits for the standby, too.
        let mut again = Ledger::open(&at(place, primary, "")).unwrap();
        std::thread::scope(|scope| {
            let retried = scope.spawn(|| again.reserve(&request));
            somebody_waits(primary);
            cluster(&["start", "s0"]);
            let retried = retried.join().unwrap().unwrap();
            assert_eq!((retried.charge, retried.response), (None, None));
        });
        assert_eq!(spent(&mut again), &before + &amount("0.1"));
        assert_sound(&mut again);
    }
    // Names that are taken away between two transactions.
    let mut ledger = Ledger::open(&at(place, primary, "&replicas=synchronous")).unwrap();
    wait_for(primary, "");
    assert!(unusable(pay(&mut ledger, "refused")).contains("synchronous_standby_names is empty"));
    wait_for(primary, "*");
    pay(&mut ledger, "waited-for").unwrap();
}

/// The primary is stopped in mid-flight and its standby promoted: all that was acknowledged is there, and everybody goes on.
/// The old primary, brought back, acknowledges nothing.
fn fail_over(place: &Place, servers: &mut Vec<(String, String)>, round: u64) {
    let [(name, primary), (next_name, next)] = [servers[0].clone(), servers[1].clone()];
    let settings = "&replicas=synchronous";
    let url = at(place, &both(&primary, &next), settings);
    let Url::Postgres(text) = &url else { panic!("{url:?}") };
    let pool = Pool::new(&url, &OpenOptions::default(), 2).unwrap();
    pool.with(|ledger| pay(ledger, &format!("before-{round}"))).unwrap();
    let said = under_load(text, &format!("f{round}-"), Random::new(round).below(200), || {
        cluster(&["stop", &name]);
    });
    cluster(&["promote", &next_name]);
    // It waits for a standby, as the old one did.
    let third = cluster(&["replica", &format!("s{}", round + 1), &next_name]);
    kept(&Place { url: text.clone(), folder: None }, &said);
    // The pool's handle lost its server, and is replaced by one that has the other.
    let head = pool.with(|ledger| pay(ledger, &format!("after-{round}"))).unwrap();
    pool.with(|ledger| ledger.verify(Some(head))).unwrap();
    cluster(&["start", &name]);
    let Url::Postgres(old) = at(place, &primary, settings) else { panic!("{primary}") };
    let mut left_behind = start(&["loop", &old, &format!("old{round}-"), "10"], None);
    assert_eq!(left_behind.said().as_deref(), Some("ready"));
    somebody_waits(&primary);
    left_behind.kill();
    assert_eq!(left_behind.all(), Vec::<String>::new());
    cluster(&["stop", &name]);
    *servers = vec![(next_name, next), (format!("s{}", round + 1), third)];
}
