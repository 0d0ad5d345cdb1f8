//! `counterpoint serve`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use counterpoint_curator::{Config, Curator, demo};
use counterpoint_server::Server;

use crate::args::ServeArgs;
use crate::output::{self, Outcome};

pub(crate) fn run(args: &ServeArgs) -> Result<Outcome> {
    match &args.config {
        Some(file) => {
            let config = config(file)?;
            let curator = Curator::open(&config)?;
            if args.check {
                return Ok(Outcome::text(checked(&curator), Vec::new()));
            }
            let server = match &config.tls {
                Some(tls) => Server::bind_with_tls(args.listen, tls)?,
                None => Server::bind(args.listen)?,
            };
            served(server.with(curator), args, &[])
        }
        None if args.demo => {
            let folder = tempfile::tempdir().context("no folder can be made")?;
            let (config, tokens) = demo::make(folder.path())?;
            let server = Server::bind(args.listen)?.with(Curator::open(&config)?);
            let line =
                |(role, name, token): &demo::Made| format!("token {} {name} {token}", role.name());
            let lines: Vec<String> = tokens.iter().map(line).collect();
            served(server, args, &lines)
        }
        None => served(Server::bind(args.listen)?, args, &[]),
    }
}

/// Reads a curator's configuration.
pub(crate) fn config(file: &Path) -> Result<Config> {
    let place = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(place)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    Config::parse(&text, folder).with_context(place)
}

/// What a curator holds, in a line for each table.
fn checked(curator: &Curator) -> String {
    let line = |kept: &counterpoint_curator::Kept| {
        let public = &kept.held.public;
        let columns = public.columns().len();
        format!(
            "table {} is there, with its {columns} columns; charged to {}\n",
            public.name(),
            kept.dataset
        )
    };
    curator.tables().map(line).collect()
}

fn served(server: Server, args: &ServeArgs, lines: &[String]) -> Result<Outcome> {
    let scheme = if server.has_tls() { "https" } else { "http" };
    let address = format!("{scheme}://{}", server.address());
    for line in lines {
        output::announce(line)?;
    }
    output::announce(&format!("listening on {address}"))?;
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
