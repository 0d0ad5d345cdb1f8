//! `counterpoint serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use counterpoint_curator::{Config, Curator, TableReport, demo, examine};
use counterpoint_ledger::Url;
use counterpoint_server::{Server, log_to_stderr};

use crate::illegal_value::IllegalValueError;
use crate::output::{self, Outcome};
use crate::releaser::DataFileReleaser;

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Also serve a curator with this configuration file, which names a ledger and tables
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    pub(crate) config: Option<PathBuf>,

    /// Also serve a demo curator with a made-up table, and print its tokens
    #[arg(long)]
    pub(crate) demo: bool,

    /// Test all connections of the configuration, report problems and exit
    #[arg(long, requires = "config")]
    pub(crate) check: bool,

    /// Let the page release studies of this data file, and of no other: .csv, .jsonl or .parquet
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = ["config", "demo", "open"])]
    pub(crate) data: Option<PathBuf>,

    /// With --data: folder for released files and the default ledger
    #[arg(long, value_name = "DIR", requires = "data")]
    pub(crate) out: Option<PathBuf>,

    /// With --data: ledger to charge: sqlite:PATH or postgres://... [default: DIR/ledger.db]
    #[arg(long, value_name = "URL", requires = "data")]
    pub(crate) ledger: Option<Url>,

    /// Address to listen on; port 0 chooses a free port. Other machines can connect only with TLS in the configuration
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
}

fn address(text: &str) -> Result<SocketAddr, IllegalValueError> {
    let legal = "an IP address and a port, such as 127.0.0.1:8000 or [::1]:0";
    text.parse().map_err(|_| IllegalValueError::new(legal))
}

pub(crate) fn run(args: &ServeArgs) -> Result<Outcome> {
    match &args.config {
        Some(file) => {
            let config = config(file)?;
            if args.check {
                return Ok(check_report(&examine(&config)));
            }
            log_to_stderr(std::env::var("COUNTERPOINT_LOG").ok().as_deref());
            let curator = Curator::open(&config)?;
            let server = match &config.tls {
                Some(tls) => Server::bind_with_tls(args.listen, tls)?,
                None => Server::bind(args.listen)?,
            };
            let file = file.clone();
            let reload = move || self::config(&file).map_err(|error| format!("{error:#}").into());
            run_server(server.with_curator(curator).with_reload(reload), args, &[], "")
        }
        None if args.demo => {
            let folder = tempfile::tempdir().context("no temporary folder can be created")?;
            let (config, tokens) = demo::make(folder.path())?;
            let server = Server::bind(args.listen)?.with_curator(Curator::open(&config)?);
            let line = |(role, name, token): &demo::DemoToken| {
                format!("token {} {name} {token}", role.name())
            };
            let lines: Vec<String> = tokens.iter().map(line).collect();
            run_server(server, args, &lines, "")
        }
        None => match (&args.data, &args.out) {
            (Some(data), Some(out)) => {
                let file = DataFileReleaser::new(data, out, args.ledger.as_ref())?;
                let (server, key) = Server::bind(args.listen)?.with_releaser(file)?;
                run_server(server, args, &[], &format!("/#key={key}"))
            }
            _ => run_server(Server::bind(args.listen)?, args, &[], ""),
        },
    }
}

/// Reads a curator's configuration.
pub(crate) fn config(file: &Path) -> Result<Config> {
    let place = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(place)?;
    // Programs cannot be started in a folder with an empty name.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    Config::parse(&text, folder).with_context(place)
}

/// Reports the check of the tables: types, problems and expected times of questions.
fn check_report(tables: &[TableReport]) -> Outcome {
    let text: String = tables.iter().map(table_text).collect();
    let outcome = Outcome::text(text, Vec::new());
    if tables.iter().all(|table| table.problems.is_empty()) { outcome } else { outcome.into_no() }
}

fn table_text(table: &TableReport) -> String {
    let mut text = format!("table {}, charged to {}\n", table.table, table.dataset);
    let width = table.columns.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, kind) in &table.columns {
        let kind = if kind.is_empty() { "type not reported" } else { kind };
        text += &format!("  {name:width$}  {kind}\n");
    }
    if !table.times.is_empty() {
        let rows = table.rows.unwrap_or(1_000_000);
        let of = |pace: &counterpoint_curator::Pace| {
            format!("{} about {} s", pace.question, seconds(pace.seconds(rows)))
        };
        let times: Vec<String> = table.times.iter().map(of).collect();
        text += &format!(
            "  estimated times for {rows} rows, from made-up rows: {}\n",
            times.join(", ")
        );
    }
    for warning in &table.warnings {
        text += &format!("  note: {warning}\n");
    }
    for problem in &table.problems {
        text += &format!("  wrong: {problem}\n");
    }
    text
}

/// Formats an estimated time, with two decimals.
fn seconds(seconds: f64) -> String {
    if seconds < 0.01 { "0.01".to_owned() } else { format!("{seconds:.2}") }
}

/// Prints the address, followed by `suffix`, and serves until the program is stopped.
fn run_server(server: Server, args: &ServeArgs, lines: &[String], suffix: &str) -> Result<Outcome> {
    let scheme = if server.has_tls() { "https" } else { "http" };
    let address = format!("{scheme}://{}", server.address());
    for line in lines {
        output::announce(line)?;
    }
    output::announce(&format!("listening on {address}{suffix}"))?;
    if args.open {
        if server.has_tls() {
            bail!(
                "--open is given with a TLS configuration; legal: without tls in the configuration"
            );
        }
        open(&address).context("the browser cannot be started")?;
    }
    server.run()?;
    Ok(Outcome::default())
}

/// Opens an address in the system's browser.
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
