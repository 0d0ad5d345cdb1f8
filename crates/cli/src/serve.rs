//! `counterpoint serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use counterpoint_curator::{Config, Curator, Examined, demo, examine};
use counterpoint_ledger::Url;
use counterpoint_server::{Server, log_to_stderr};

use crate::legal::NotLegal;
use crate::output::{self, Outcome};
use crate::releaser::ReleasedFile;

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Serve a curator, too: the ledger and the tables that this file names
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    pub(crate) config: Option<PathBuf>,

    /// Serve a curator to try: a made-up table, and tokens that are printed
    #[arg(long)]
    pub(crate) demo: bool,

    /// Only connect to everything that the configuration names, and say what is wrong
    #[arg(long, requires = "config")]
    pub(crate) check: bool,

    /// Let the page release this data file, and no other: .csv, .jsonl or .parquet
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = ["config", "demo", "open"])]
    pub(crate) data: Option<PathBuf>,

    /// With --data: write what the page releases to this folder, beside its ledger
    #[arg(long, value_name = "DIR", requires = "data")]
    pub(crate) out: Option<PathBuf>,

    /// With --data: charge this ledger: sqlite:PATH or postgres://...; DIR/ledger.db if it is not given
    #[arg(long, value_name = "URL", requires = "data")]
    pub(crate) ledger: Option<Url>,

    /// Address to listen on; port 0 is any that is free. Beyond this machine only with a certificate
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
}

fn address(text: &str) -> Result<SocketAddr, NotLegal> {
    let legal = "a loopback address and a port, such as 127.0.0.1:8000 or [::1]:0";
    text.parse().map_err(|_| NotLegal::unless(legal))
}

pub(crate) fn run(args: &ServeArgs) -> Result<Outcome> {
    match &args.config {
        Some(file) => {
            let config = config(file)?;
            if args.check {
                return Ok(checked(&examine(&config)));
            }
            log_to_stderr(std::env::var("COUNTERPOINT_LOG").ok().as_deref());
            let curator = Curator::open(&config)?;
            let server = match &config.tls {
                Some(tls) => Server::bind_with_tls(args.listen, tls)?,
                None => Server::bind(args.listen)?,
            };
            let file = file.clone();
            let again = move || self::config(&file).map_err(|error| format!("{error:#}"));
            served(server.with(curator).reloading(again), args, &[], "")
        }
        None if args.demo => {
            let folder = tempfile::tempdir().context("no folder can be made")?;
            let (config, tokens) = demo::make(folder.path())?;
            let server = Server::bind(args.listen)?.with(Curator::open(&config)?);
            let line =
                |(role, name, token): &demo::Made| format!("token {} {name} {token}", role.name());
            let lines: Vec<String> = tokens.iter().map(line).collect();
            served(server, args, &lines, "")
        }
        None => match (&args.data, &args.out) {
            (Some(data), Some(out)) => {
                let file = ReleasedFile::new(data, out, args.ledger.as_ref())?;
                let (server, key) = Server::bind(args.listen)?.releasing(file)?;
                served(server, args, &[], &format!("/#key={key}"))
            }
            _ => served(Server::bind(args.listen)?, args, &[], ""),
        },
    }
}

/// Reads a curator's configuration.
pub(crate) fn config(file: &Path) -> Result<Config> {
    let place = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(place)?;
    // A bare name has an empty folder, in which no program could be started.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    Config::parse(&text, folder).with_context(place)
}

/// What is as it was declared, what is not, and how long questions will take.
fn checked(tables: &[Examined]) -> Outcome {
    let text: String = tables.iter().map(described).collect();
    let outcome = Outcome::text(text, Vec::new());
    if tables.iter().all(|table| table.problems.is_empty()) { outcome } else { outcome.refused() }
}

fn described(table: &Examined) -> String {
    let mut text = format!("table {}, charged to {}\n", table.table, table.dataset);
    let width = table.columns.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, kind) in &table.columns {
        let kind = if kind.is_empty() { "not told" } else { kind };
        text += &format!("  {name:width$}  {kind}\n");
    }
    if !table.times.is_empty() {
        let rows = table.rows.unwrap_or(1_000_000);
        let of = |pace: &counterpoint_curator::Pace| {
            format!("{} about {} s", pace.question, seconds(pace.seconds(rows)))
        };
        let times: Vec<String> = table.times.iter().map(of).collect();
        text += &format!("  {rows} rows, made up by the engine: {}\n", times.join(", "));
    }
    for warning in &table.warnings {
        text += &format!("  note: {warning}\n");
    }
    for problem in &table.problems {
        text += &format!("  wrong: {problem}\n");
    }
    text
}

/// Two digits are more than an estimate has.
fn seconds(seconds: f64) -> String {
    if seconds < 0.01 { "0.01".to_owned() } else { format!("{seconds:.2}") }
}

/// Serves until the end; first it says where, with what belongs behind the address.
fn served(server: Server, args: &ServeArgs, lines: &[String], behind: &str) -> Result<Outcome> {
    let scheme = if server.has_tls() { "https" } else { "http" };
    let address = format!("{scheme}://{}", server.address());
    for line in lines {
        output::announce(line)?;
    }
    output::announce(&format!("listening on {address}{behind}"))?;
    if args.open {
        if server.has_tls() {
            bail!("--open is for this machine alone; legal: without a certificate");
        }
        open(&address).context("no browser can be opened")?;
    }
    server.run()?;
    Ok(Outcome::default())
}

/// Asks the system to show an address.
fn open(address: &str) -> std::io::Result<()> {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/c", "start"]);
        command
    } else {
        Command::new("xdg-open")
    };
    let command = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().map(|_| ())
}
