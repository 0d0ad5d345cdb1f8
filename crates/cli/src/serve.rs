//! `counterpoint serve`.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use counterpoint_server::Server;

use crate::args::ServeArgs;
use crate::output::{self, Outcome};

pub(crate) fn run(args: &ServeArgs) -> Result<Outcome> {
    let server = Server::bind(args.listen)?;
    let address = format!("http://{}", server.address());
    output::announce(&format!("listening on {address}"))?;
    if args.open {
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
