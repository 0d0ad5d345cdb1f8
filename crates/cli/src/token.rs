//! `counterpoint token`.

use std::path::PathBuf;

use anyhow::Result;
use counterpoint_curator::{Bearer, Role, Tokens};

use crate::illegal_value::IllegalValueError;
use crate::output::Outcome;
use crate::serve::config;

#[derive(Debug, clap::Args)]
pub(crate) struct TokenArgs {
    /// The curator's configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it is not shown again
    New {
        /// Role: owner, analyst or auditor
        #[arg(value_parser = role)]
        role: Role,
        /// Name of the person who gets the token
        name: String,
        /// For an analyst: account that may pay for the analyst's questions; may be given several times
        #[arg(long = "account", value_name = "ACCOUNT")]
        accounts: Vec<String>,
    },
    /// List tokens, without their secret texts
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token, at once and for good
    Revoke {
        /// Number of the token in the list
        id: i64,
    },
}

fn role(text: &str) -> Result<Role, IllegalValueError> {
    Role::named(text).ok_or_else(|| IllegalValueError::new("owner, analyst, auditor"))
}

pub(crate) fn run(args: &TokenArgs) -> Result<Outcome> {
    let tokens = Tokens::open(&config(&args.config)?.state)?;
    match &args.command {
        TokenCommand::New { role, name, accounts } => {
            let token = tokens.create(*role, name, accounts)?;
            Ok(Outcome::text(format!("token {} {name} {token}\n", role.name()), Vec::new()))
        }
        TokenCommand::List { json: true } => {
            let list = serde_json::json!({ "tokens": tokens.list()? });
            Ok(Outcome::json(list.to_string()))
        }
        TokenCommand::List { json: false } => {
            let list = tokens.list()?;
            Ok(Outcome::text(list.iter().map(line).collect(), Vec::new()))
        }
        TokenCommand::Revoke { id } => match tokens.revoke(*id)? {
            true => Ok(Outcome::text(format!("token {id} is revoked\n"), Vec::new())),
            false => Ok(Outcome::definite_no(
                format!("token {id} does not exist or is revoked already"),
                None,
            )),
        },
    }
}

fn line(bearer: &Bearer) -> String {
    let Bearer { id, role, name, accounts, revoked, .. } = bearer;
    let accounts =
        if accounts.is_empty() { String::new() } else { format!(", for {}", accounts.join(", ")) };
    let revoked = if revoked.is_some() { ", revoked" } else { "" };
    format!("{id}: {} {name}{accounts}{revoked}\n", role.name())
}
