//! Connections to PostgreSQL that others may listen to.

use counterpoint_ledger::database::{Access, Cell, DatabaseError};
use counterpoint_ledger::{Ledger, LedgerError, Request, Url};

use crate::{Place, assert_sound, release, with_account};

/// The URL with more settings in it.
fn with(place: &Place, settings: &str) -> Url {
    format!("{}&{settings}", place.url).parse().unwrap()
}

/// The file of one of the tests' authorities, as part of a URL.
fn authority(name: &str) -> String {
    let folder = std::env::var("COUNTERPOINT_POSTGRES_AUTHORITIES").unwrap();
    format!("{folder}/{name}.pem").replace('/', "%2F")
}

fn is_encrypted(url: &Url) -> bool {
    let mut database = url.open(false).unwrap();
    database.begin(Access::Read).unwrap();
    let sql = "SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()";
    database.query(sql, &[]).unwrap() == [[Cell::Whole(1)]]
}

#[test]
fn a_server_is_believed_by_its_certificate_alone() {
    let Some(place) = Place::postgres() else { return };
    drop(with_account(&place, "1"));
    let root = format!("sslrootcert={}", authority("authority"));
    for settings in [root.clone(), format!("sslmode=verify-full&{root}")] {
        let url = with(&place, &settings);
        assert!(is_encrypted(&url), "{settings}");
        let (mut ledger, asked) = (Ledger::open(&url).unwrap(), release("0.1"));
        ledger.reserve(&Request::new("account", "key", &asked)).unwrap();
        assert_eq!(ledger.commit("account", "key", b"42").unwrap().response, b"42");
        assert_sound(&mut ledger);
    }
    assert!(!is_encrypted(&place.url()) && !is_encrypted(&with(&place, "sslmode=disable")));
    let unusable = |url: Url| match Ledger::open(&url).err() {
        Some(LedgerError::Database(DatabaseError::Unusable(problem))) => problem,
        other => panic!("{other:?}"),
    };
    let other = format!("sslmode=require&sslrootcert={}", authority("other"));
    let problem = unusable(with(&place, &other));
    assert!(problem.contains("UnknownIssuer"), "{problem}");
    assert!(
        problem.ends_with(
            "(with TLS; legal sslmode: disable, or verify-full (require means the same))"
        )
    );
    // The certificate is 127.0.0.1's.
    let name = place.url.replace("127.0.0.1", "localhost");
    let problem = unusable(format!("{name}&{root}").parse().unwrap());
    assert!(problem.contains("not valid for"), "{problem}");
    let problem = unusable(with(&place, "sslmode=require&sslrootcert=%2Fnowhere"));
    assert!(problem.starts_with("sslrootcert: /nowhere: "), "{problem}");
    // Nobody the system trusts vouches for it.
    let problem = unusable(with(&place, "sslmode=require"));
    assert!(problem.contains("UnknownIssuer") || problem.contains("no certificate"), "{problem}");
    for weak in ["prefer", "allow", "verify-ca"] {
        let problem = unusable(with(&place, &format!("sslmode={weak}")));
        assert!(problem.starts_with(&format!("sslmode is {weak:?}; legal: ")), "{problem}");
    }
}
