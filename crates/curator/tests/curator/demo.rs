//! The curator to try, and the private file of tokens.

use std::path::Path;

use counterpoint_curator::demo::make;
use counterpoint_curator::{Role, Tokens};
use counterpoint_ledger::Ledger;
use counterpoint_testing::size;
use std::sync::Barrier;

#[test]
fn a_class_of_quotas_costs_what_they_compose_to() {
    let folder = tempfile::tempdir().unwrap();
    let (config, _) = make(folder.path()).unwrap();
    let status = Ledger::open(&config.ledger).unwrap().status(Some("visits")).unwrap();
    let spent: f64 = status.accounts[0].spent.main.to_string().parse().unwrap();
    // Three accounts of 3, and 100 quotas of 0.02.
    assert!((spent - 9.824).abs() < 1e-3, "{spent}");
}

/// The modes of the file of tokens, and of what SQLite keeps beside it.
#[cfg(unix)]
fn modes(folder: &Path) -> Vec<u32> {
    use std::os::unix::fs::PermissionsExt;
    let file = |end: &str| folder.join(format!("state.db{end}"));
    let mode = |end: &str| file(end).metadata().unwrap().permissions().mode() & 0o777;
    ["", "-wal", "-shm"].map(mode).to_vec()
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_tokens_and_the_secret() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let tokens = Tokens::open(&file).unwrap();
    tokens.create(Role::Owner, "olga", &[]).unwrap();
    assert_eq!(modes(folder.path()), [0o600; 3]);
    // Files that an earlier version made.
    for end in ["", "-wal", "-shm"] {
        let open = PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(folder.path().join(format!("state.db{end}")), open).unwrap();
    }
    let again = Tokens::open(&file).unwrap();
    assert_eq!((modes(folder.path()), again.secret()), (vec![0o600; 3], tokens.secret()));
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_state_of_a_demonstration() {
    let folder = tempfile::tempdir().unwrap();
    let (config, _) = make(folder.path()).unwrap();
    let _open = Tokens::open(&config.state).unwrap();
    assert_eq!(modes(folder.path()), [0o600; 3]);
}

/// Many who open the file at once all wait for the one who makes it. Full: 500 files. Quick: 50.
#[test]
fn many_open_the_private_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..size(500, 50) {
        let file = folder.path().join(format!("tokens-{round}.db"));
        let barrier = Barrier::new(8);
        let open = || {
            barrier.wait();
            Tokens::open(&file).and_then(|tokens| tokens.secret())
        };
        let secrets: Vec<_> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        let first = secrets[0].clone().unwrap();
        assert!(secrets.iter().all(|secret| *secret == Ok(first)), "{secrets:?}");
    }
}
