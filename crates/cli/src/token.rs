//! `counterpoint token`.

use anyhow::Result;
use counterpoint_curator::{Bearer, Tokens};

use crate::args::{TokenArgs, TokenCommand};
use crate::output::Outcome;
use crate::serve::config;

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
            false => {
                Ok(Outcome::no(format!("there is no token {id} that is not revoked already"), None))
            }
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
