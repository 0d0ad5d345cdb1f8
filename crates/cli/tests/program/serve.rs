//! `serve`: where it listens, and how it ends. What it answers is tested with the server.

use super::*;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

fn serve(args: &[&str]) -> (std::process::Child, String) {
    let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("listening on http://").expect("where it listens");
    (child, address.trim_end().to_owned())
}

#[test]
fn the_page_is_served_until_the_program_is_interrupted() {
    for (args, start) in
        [(&["serve"][..], "127.0.0.1:"), (&["serve", "--listen", "127.0.0.1:0"], "127.0.0.1:")]
    {
        let (mut child, address) = serve(args);
        assert!(address.starts_with(start), "{address}");
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<h1>"), "{page}");
        let taken = run(&["serve", "--listen", &address]);
        assert!(taken.error().starts_with(&format!("cannot listen on {address}: ")));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut rest = String::new();
        child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "one line, and nothing more");
    }
}

#[test]
fn other_machines_are_not_served() {
    for address in ["0.0.0.0:8000", "192.0.2.1:1", "[::]:0", "localhost:1", "127.0.0.1", "x"] {
        let error = run(&["serve", "--listen", address]);
        assert!(error.error().contains("address and a port, such as"), "{address}");
    }
    let demo = run(&["serve", "--demo", "--listen", "0.0.0.0:0"]);
    assert!(demo.error().contains("address and a port, such as"));
    for (args, problem) in [
        (&["--config", "/nowhere/at.all"][..], "/nowhere/at.all"),
        (&["--check"], "--config"),
        (&["--demo", "--config", "x"], "cannot be used with"),
    ] {
        let error = run(&[&["serve"], args].concat());
        assert!(error.error().contains(problem), "{args:?}: {}", error.error());
    }
}

/// Everything that is wrong is said at once, and how long questions take of rows that the engine makes up. (SQLite takes an
/// empty file for a database without tables.)
#[test]
fn sources_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let ledger = format!("sqlite:{}", path("ledger.db"));
    run(&["ledger", "--url", &ledger, "init"]).answer();
    std::fs::write(path("data.db"), "").unwrap();
    let table = |name: &str, from: &str, source: &str| {
        format!(
            "[[table]]\nname = \"{name}\"\nsource = \"{source}\"\nfrom = \"{from}\"\nadjacency = \"add-remove\"\n\
             [[table.column]]\nname = \"name\"\ncategories = [\"a\"]\n"
        )
    };
    let tables = table("nowhere", "visits", "sqlite:data.db")
        + &table("away", "visits", "postgres://nobody@127.0.0.1:1/none");
    let config = format!("ledger = \"{ledger}\"\nstate = \"sqlite:state.db\"\n{tables}");
    std::fs::write(path("curator.toml"), config).unwrap();
    let checked = run(&["serve", "--config", &path("curator.toml"), "--check"]);
    assert_eq!(checked.status, 1, "{}", checked.stdout);
    let wrong: Vec<&str> = checked.stdout.lines().filter(|line| line.contains("wrong: ")).collect();
    assert_eq!(wrong.len(), 4, "{}", checked.stdout);
    assert!(checked.stdout.contains("there is no table \"visits\""), "{}", checked.stdout);

    run(&[
        "ledger",
        "--url",
        &ledger,
        "dataset",
        "schema",
        "--adjacency",
        "add-remove",
        "--records",
        "1",
        "--epsilon",
        "1",
        "--delta",
        "0",
    ])
    .answer();
    // A table that every database has.
    let tables = table("schema", "sqlite_schema", "sqlite:data.db");
    let config = format!("ledger = \"{ledger}\"\nstate = \"sqlite:state.db\"\n{tables}");
    std::fs::write(path("curator.toml"), config).unwrap();
    let checked = run(&["serve", "--config", &path("curator.toml"), "--check"]);
    assert_eq!(checked.status, 0, "{}", checked.stdout);
    assert!(
        checked
            .stdout
            .contains("estimated times for 1000000 rows, from made-up rows: COUNT(*) about "),
        "{}",
        checked.stdout
    );
}
