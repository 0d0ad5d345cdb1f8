//! How many answers one, two and four services give over one PostgreSQL ledger, in turns: services LEDGER
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use counterpoint_curator::{Config, Curator, Role, Tokens};
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter};
use counterpoint_server::Server;
use counterpoint_testing::Client;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 32;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(4);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [serve, folder] if serve == "serve" => serve_from(Path::new(folder)),
        [ledger] => compare(ledger),
        _ => println!("usage: services LEDGER"),
    }
}

fn config(folder: &Path) -> Config {
    Config::parse(&std::fs::read_to_string(folder.join("config.toml")).unwrap(), folder).unwrap()
}

fn serve_from(folder: &Path) {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let server = server.with_curator(Curator::open(&config(folder)).unwrap());
    println!("{}", server.address());
    server.run().unwrap();
}

fn start(folder: &Path) -> (Child, std::net::SocketAddr) {
    let program = std::env::current_exe().unwrap();
    let mut child =
        Command::new(program).arg("serve").arg(folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

fn compare(ledger: &str) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "ledger = \"{ledger}\"\nstate = \"sqlite:state.db\"\n[timing]\nslot = 0\n[[table]]\nname = \"visits\"\n\
         source = \"sqlite:data.db\"\nadjacency = \"add-remove\"\n[[table.column]]\nname = \"age\"\nbounds = [0, 100]\n"
    );
    std::fs::write(folder.path().join("config.toml"), text).unwrap();
    let data = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
    data.execute_batch("CREATE TABLE visits (age INTEGER); INSERT INTO visits VALUES (7), (70)")
        .unwrap();
    let config = config(folder.path());
    let budget = NewFilter::new(FilterKind::Sums, "1000000".parse().unwrap(), "0".parse().unwrap());
    let mut ledger = Ledger::init(&config.ledger).unwrap();
    ledger.add_dataset("visits", config.tables[0].public.relation(), &budget).unwrap();
    ledger.open_account("team", "visits", &NewAccount::Filter(budget)).unwrap();
    let tokens = Tokens::open(&config.state).unwrap();
    let token = |number| tokens.create(Role::Analyst, &format!("c{number}"), &["team".to_owned()]);
    let tokens: Vec<String> = (0..CLIENTS).map(|number| token(number).unwrap()).collect();
    let next = AtomicUsize::new(0);
    let mut rates = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        for (place, count) in [1, 2, 4].into_iter().enumerate() {
            let services: Vec<_> = (0..count).map(|_| start(folder.path())).collect();
            let addresses: Vec<_> = services.iter().map(|(_, address)| *address).collect();
            let rate = rate(&addresses, &tokens, &next);
            // The first warms everything up.
            if round > 0 {
                rates[place].push(rate);
            }
            for (mut child, _) in services {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        }
    }
    let status = ledger.status(Some("team")).unwrap();
    println!(
        "{CLIENTS} clients, {ROUNDS} rounds in turns, medians; {} spent",
        status.accounts[0].spent.main
    );
    let medians = rates.map(|mut list: Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    });
    for (count, rate) in [1, 2, 4].into_iter().zip(medians) {
        println!("{count} services  {rate:>6.0} answers/s, ratio {:.2}", rate / medians[0]);
    }
}

/// Answers a second, of clients that are spread over the services.
fn rate(addresses: &[std::net::SocketAddr], tokens: &[String], next: &AtomicUsize) -> f64 {
    let start = Instant::now();
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (client, token) in tokens.iter().enumerate() {
            let address = addresses[client % addresses.len()];
            let answered = &answered;
            scope.spawn(move || {
                let mut sender = Client::new(address);
                while start.elapsed() < ROUND {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let sql = format!("SELECT COUNT(*) FROM visits WHERE age > -{number}");
                    let body = format!(r#"{{"account":"team","sql":"{sql}","epsilon":0.25}}"#);
                    let (status, text) = sender.question(token, &body);
                    assert_eq!(status, 200, "{text}");
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    answered.into_inner() as f64 / start.elapsed().as_secs_f64()
}
