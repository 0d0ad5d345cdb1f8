//! The curator to try, and the private file of tokens.

use std::path::Path;

use counterpoint_curator::demo::make;
use counterpoint_curator::{Role, Tokens};
use counterpoint_ledger::Ledger;

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
