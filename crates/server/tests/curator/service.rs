//! A curator with tables for the tests, and a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use counterpoint_curator::{Config, Curator, Role, Tokens};
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter};
use counterpoint_server::Server;
use counterpoint_wire::ledger::{Event, HistoryEntry};
use serde_json::{Value, json};

/// A row: a person, an age, a pay, a region.
pub(crate) type Row = (i64, rusqlite::types::Value, rusqlite::types::Value, &'static str);

/// A row of plain numbers.
pub(crate) fn row(person: i64, age: i64, pay: f64, region: &'static str) -> Row {
    (person, age.into(), pay.into(), region)
}

/// A few hundred ordinary people. Some of them have two rows.
pub(crate) fn people(count: i64) -> Vec<Row> {
    let regions = ["north", "south", "west"];
    let one = |person: i64| {
        row(person, 20 + person % 50, (person % 10) as f64, regions[(person % 3) as usize])
    };
    (0..count).chain((0..count).step_by(5)).map(one).collect()
}

const FOLDER: &str = "COUNTERPOINT_TEST_SERVICE";

/// The entry point of the child process: serves until it is killed.
#[test]
#[ignore = "a child of other tests"]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    counterpoint_server::log_to_stderr(None);
    let (address, config) = ("127.0.0.1:0".parse().unwrap(), config(Path::new(&folder)));
    let server = match &config.tls {
        None => Server::bind(address).unwrap(),
        Some(tls) => Server::bind_with_tls(address, tls).unwrap(),
    };
    let server = server.with_curator(Curator::open(&config).unwrap());
    let server = server.with_reload(move || {
        let text = std::fs::read_to_string(Path::new(&folder).join("config.toml"))?;
        Ok(Config::parse(&text, Path::new(&folder))?)
    });
    println!("listening on {}", server.address());
    server.run().unwrap();
}

/// A service without its process.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// The name of an account and its budget.
type Account<'a> = (&'a str, &'a str);

impl Place {
    /// Creates a data set with this budget, and accounts under it.
    pub(crate) fn new(
        rows: &[Row],
        timing: (f64, f64),
        budget: &str,
        accounts: &[Account<'_>],
    ) -> Self {
        Self::on("sqlite:ledger.db", rows, timing, budget, accounts)
    }

    /// Does the same with the ledger at another location.
    pub(crate) fn on(
        ledger: &str,
        rows: &[Row],
        timing: (f64, f64),
        budget: &str,
        accounts: &[Account<'_>],
    ) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write(rows);
        let text = format!(
            "ledger = \"{ledger}\"\nstate = \"sqlite:state.db\"\n\
             [timing]\nslot = {}\nlimit = {}\n\
             [[table]]\nname = \"visits\"\nsource = \"sqlite:data.db\"\nperson = \"nr\"\nrows = 2\n\
             adjacency = \"add-remove\"\npeople = 500\n\
             [[table.column]]\nname = \"age\"\nbounds = [0, 100]\n\
             [[table.column]]\nname = \"pay\"\nbounds = [-5, 10]\n\
             [[table.column]]\nname = \"region\"\ncategories = [\"north\", \"south\", \"nowhere\"]\n",
            timing.0, timing.1
        );
        std::fs::write(place.path("config.toml"), text).unwrap();
        let config = place.config();
        let mut ledger = Ledger::init(&config.ledger).unwrap();
        ledger.add_dataset("visits", config.tables[0].public.relation(), &pure(budget)).unwrap();
        for (name, epsilon) in accounts {
            ledger.open_account(name, "visits", &NewAccount::Filter(pure(epsilon))).unwrap();
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn config(&self) -> Config {
        config(self.folder())
    }

    /// Replaces the rows of the table.
    pub(crate) fn write(&self, rows: &[Row]) {
        let mut connection = rusqlite::Connection::open(self.path("data.db")).unwrap();
        let sql = "DROP TABLE IF EXISTS visits; CREATE TABLE visits (nr, age, pay, region)";
        connection.execute_batch(sql).unwrap();
        let transaction = connection.transaction().unwrap();
        for (person, age, pay, region) in rows {
            let sql = "INSERT INTO visits VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(sql, rusqlite::params![person, age, pay, region]).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Adds lines to the configuration, before its first table.
    pub(crate) fn configure(&self, lines: &str) {
        let file = self.path("config.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("[[table]]", &format!("{lines}\n[[table]]"), 1))
            .unwrap();
    }

    /// Adds this many steps to the engine's work for every question.
    pub(crate) fn slow_down(&self, steps: u64) {
        let connection = rusqlite::Connection::open(self.path("data.db")).unwrap();
        let sql = format!(
            "ALTER TABLE visits RENAME TO kept; CREATE VIEW visits AS SELECT nr, age, pay, region FROM kept, \
             (WITH RECURSIVE nap(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM nap LIMIT {steps}) \
             SELECT COUNT(*) AS steps FROM nap) WHERE steps > 0"
        );
        connection.execute_batch(&sql).unwrap();
    }

    /// The log lines of requests to this path.
    pub(crate) fn logged(&self, endpoint: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["endpoint"] == endpoint).collect()
    }

    /// Moves the table to another location and name.
    pub(crate) fn move_table(&self, source: &str, from: &str) {
        let file = self.path("config.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let there = format!("source = \"{source}\"\nfrom = \"{from}\"");
        std::fs::write(&file, text.replace("source = \"sqlite:data.db\"", &there)).unwrap();
    }

    pub(crate) fn tokens(&self) -> Tokens {
        Tokens::open(&self.config().state).unwrap()
    }

    pub(crate) fn token(&self, role: Role, name: &str, accounts: &[&str]) -> String {
        let accounts: Vec<String> = accounts.iter().map(|name| (*name).to_owned()).collect();
        self.tokens().create(role, name, &accounts).unwrap()
    }

    /// Starts a service in this process. It lives as long as the process.
    pub(crate) fn serve(&self) -> SocketAddr {
        let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let server = server.with_curator(Curator::open(&self.config()).unwrap());
        let address = server.address();
        std::thread::spawn(move || server.run().unwrap());
        address
    }

    /// Starts a service in its own process. Its log is the file `log`.
    pub(crate) fn start(&self) -> (Child, SocketAddr) {
        self.start_by(&mut Command::new(std::env::current_exe().unwrap()))
    }

    /// Starts the service by a command that starts this program.
    pub(crate) fn start_by(&self, command: &mut Command) -> (Child, SocketAddr) {
        self.try_start(command).expect("the service does not start: see its log")
    }

    /// Starts the service even if an engine does not answer yet. Without this setting, a service does not start unless
    /// its tables can be reached.
    pub(crate) fn start_when_ready(&self) -> (Child, SocketAddr) {
        let start = |_| self.try_start(&mut Command::new(std::env::current_exe().unwrap()));
        (0..20).find_map(start).expect("the service does not start: see its log")
    }

    fn try_start(&self, command: &mut Command) -> Option<(Child, SocketAddr)> {
        let log = std::fs::File::options().create(true).append(true).open(self.path("log"));
        let mut child = command
            .args(["service::child", "--ignored", "--exact", "--nocapture"])
            .env(FOLDER, self.folder.path())
            .stdout(Stdio::piped())
            .stderr(log.unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // With one processor, the name of the test comes before the address, in the same line.
        let said = |line: &str| line.split_once("listening on ").map(|(_, rest)| rest.to_owned());
        let Some(address) = lines.find_map(|line| said(&line.unwrap())) else {
            child.wait().unwrap();
            return None;
        };
        std::thread::spawn(move || lines.for_each(drop));
        Some((child, address.parse().unwrap()))
    }

    /// The ledger, beside the service.
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::open(&self.config().ledger).unwrap()
    }

    /// The spent amount of an account, in the ledger's decimals.
    pub(crate) fn spent(&self, account: &str) -> String {
        let status = self.ledger().status(Some(account)).unwrap();
        status.accounts[0].spent.main.to_string()
    }

    /// The keys that an account was debited for, in order.
    pub(crate) fn debits(&self, account: &str) -> Vec<String> {
        let mut keys = Vec::new();
        let debit = |entry: HistoryEntry| {
            if let Event::Reserve { key, .. } = entry.event {
                keys.push(key);
            }
        };
        self.ledger().history(Some(account), None, debit).unwrap();
        keys
    }

    pub(crate) fn verified(&self) -> bool {
        self.ledger().verify(None).unwrap().problem.is_none()
    }

    /// The ledger's last entry: the same as before if nothing was written.
    pub(crate) fn head(&self) -> String {
        self.ledger().head().unwrap().to_string()
    }
}

/// A budget of epsilon alone, without delta.
pub(crate) fn pure(epsilon: &str) -> NewFilter {
    NewFilter::new(FilterKind::Sums, epsilon.parse().unwrap(), "0".parse().unwrap())
}

pub(crate) fn config(folder: &Path) -> Config {
    let text = std::fs::read_to_string(folder.join("config.toml")).unwrap();
    Config::parse(&text, folder).unwrap()
}

/// Waits for a condition, however slow the machine is.
#[track_caller]
pub(crate) fn wait_for(mut happened: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not happen");
}

/// Sends a signal to a process that a test started.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Kills a process that a test started.
pub(crate) fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A status, which is 0 if there was no answer, and a body.
pub(crate) type Answer = (u16, String);

/// Sends bytes and reads the response until the server closes: its header in lower case except for the first line, and
/// its body.
pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> (String, String) {
    let Ok(mut stream) = TcpStream::connect(address) else { return Default::default() };
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let head = head.to_ascii_lowercase().replacen("http", "HTTP", 1);
    // An answer that was cut off counts as no answer.
    let length = head.split("content-length: ").nth(1).and_then(|rest| {
        rest.split("\r\n").next().and_then(|length| length.trim().parse::<usize>().ok())
    });
    if length.is_some_and(|length| length != body.len()) {
        return Default::default();
    }
    (head, body.to_owned())
}

/// Sends bytes and returns the status and the body of the response.
pub(crate) fn send(address: SocketAddr, bytes: &[u8]) -> Answer {
    let (head, body) = raw(address, bytes);
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0), body)
}

pub(crate) fn request(
    address: SocketAddr,
    line: &str,
    token: &str,
    body: Option<&Value>,
) -> Answer {
    let body = body.map(ToString::to_string).unwrap_or_default();
    let text = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    send(address, text.as_bytes())
}

pub(crate) fn get(address: SocketAddr, path: &str, token: &str) -> Answer {
    request(address, &format!("GET {path}"), token, None)
}

pub(crate) fn post(address: SocketAddr, path: &str, token: &str, body: &Value) -> Answer {
    request(address, &format!("POST {path}"), token, Some(body))
}

/// Asks a question in SQL.
pub(crate) fn ask(
    address: SocketAddr,
    token: &str,
    account: &str,
    sql: &str,
    epsilon: f64,
) -> Answer {
    let body = json!({"account": account, "sql": sql, "epsilon": epsilon});
    post(address, "/v1/questions", token, &body)
}

/// A body as JSON.
pub(crate) fn read((status, body): &Answer) -> Value {
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{status}: {body}"))
}

/// Checks that the response is a problem of this status and code, without other fields.
#[track_caller]
pub(crate) fn assert_problem(answer: &Answer, status: u16, code: &str) {
    let problem = read(answer);
    assert_eq!((answer.0, problem["code"].as_str()), (status, Some(code)), "{problem}");
    assert_eq!(problem["type"], format!("urn:counterpoint:problem:{code}"), "{problem}");
    assert_eq!((&problem["status"], problem.as_object().unwrap().len()), (&json!(status), 5));
}
