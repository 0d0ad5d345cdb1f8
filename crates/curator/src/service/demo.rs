//! A demonstration: a made-up table of hospital visits, three analysts and a class, an owner and an auditor.

use super::config::{Config, ConfigError};
use super::curator::SetupError;
use crate::engine::Dice;
use crate::state::{Role, Tokens};
use counterpoint_budget::Amount;
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use rusqlite::Connection;
use std::path::Path;

/// The number of people. Each has one to four visits, and three are used.
const PEOPLE: u64 = 3_000;

const CONFIG: &str = r#"
version = 1
ledger = "sqlite:ledger.db"
state = "sqlite:state.db"

[timing]
slot = 0.1
limit = 5

[[table]]
name = "visits"
source = "sqlite:visits.db"
person = "patient"
rows = 3
adjacency = "add-remove"
people = 3000

[[table.column]]
name = "age"
bounds = [0, 100]
complete = true

[[table.column]]
name = "days"
bounds = [0, 30]
complete = true

[[table.column]]
name = "cost"
bounds = [0, 20000]
complete = true

[[table.column]]
name = "region"
categories = ["north", "east", "south", "west"]

[[table.column]]
name = "year"
categories = [2023, 2024, 2025]
"#;

/// A hundred quotas for a class. The students' work is a hundred interactive mechanisms, whose composition costs 0.824
/// at delta 1e-6 instead of the sum 2 (Lyu 2022; Kairouz, Oh and Viswanath 2015).
const CLASS: &str = r#"{"delta": 1e-6, "release": [
    {"name": "student", "mechanism": "approx-dp", "epsilon": 0.02, "delta": 1e-10, "count": 100}]}"#;

/// A new token: its role, its bearer's name and its text.
pub type DemoToken = (Role, String, String);

/// Creates the demonstration in an empty folder. Returns its configuration and tokens.
///
/// # Errors
/// [`SetupError`] if something cannot be written.
pub fn make(folder: &Path) -> Result<(Config, Vec<DemoToken>), SetupError> {
    let config = Config::parse(CONFIG, folder)?;
    fill(&folder.join("visits.db")).map_err(|error| SetupError::Source {
        table: "visits".to_owned(),
        why: error.to_string(),
    })?;
    let tokens = accounts(&config)?;
    Ok((config, tokens))
}

fn amount(text: &str) -> Result<Amount, SetupError> {
    text.parse().map_err(|_| {
        ConfigError::Text(format!("{text:?} is not an amount; legal: a decimal")).into()
    })
}

/// Creates the data set, an account for each analyst, and the tokens.
fn accounts(config: &Config) -> Result<Vec<DemoToken>, SetupError> {
    let mut ledger = Ledger::init(&config.ledger)?;
    let budget = |epsilon: &str, delta: &str| {
        Ok::<_, SetupError>(NewFilter::new(FilterKind::Sums, amount(epsilon)?, amount(delta)?))
    };
    for table in &config.tables {
        ledger.add_dataset(&table.dataset, table.public.relation(), &budget("10", "1e-5")?)?;
    }
    let tokens = Tokens::open(&config.state)?;
    let mut made = Vec::new();
    for name in ["ann", "ben", "cleo"] {
        ledger.open_account(name, "visits", &NewAccount::Filter(budget("3", "0")?))?;
        let token = tokens.create(Role::Analyst, name, &[name.to_owned()])?;
        made.push((Role::Analyst, name.to_owned(), token));
    }
    let class = ExactPlan::parse(CLASS.as_bytes(), Format::Json);
    let class = class.map_err(|error| ConfigError::Text(error.to_string()))?;
    ledger.open_account("class", "visits", &NewAccount::Plan(class, None))?;
    ledger.open_in_slot("dora", "class", "student", &budget("0.02", "1e-10")?)?;
    made.push((
        Role::Analyst,
        "dora".to_owned(),
        tokens.create(Role::Analyst, "dora", &["dora".to_owned()])?,
    ));
    for (role, name) in [(Role::Owner, "olga"), (Role::Auditor, "otto")] {
        made.push((role, name.to_owned(), tokens.create(role, name, &[])?));
    }
    Ok(made)
}

/// Writes made-up visits, the same ones every time.
#[allow(clippy::indexing_slicing, reason = "a remainder by four indexes four names")]
fn fill(file: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    connection.execute_batch(
        "CREATE TABLE visits (patient INTEGER, age INTEGER, days INTEGER, cost REAL, region TEXT, year INTEGER)",
    )?;
    let transaction = connection.transaction()?;
    {
        let sql = "INSERT INTO visits VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut insert = transaction.prepare(sql)?;
        let mut dice = Dice(20_261_117);
        let mut below = |most: u64| dice.below(most);
        for patient in 0..PEOPLE {
            let age = 1 + (below(60) + below(40)) as i64;
            let region = ["north", "east", "south", "west"][(below(10) % 4) as usize];
            for _ in 0..=below(4) {
                let days = 1 + (below(4) * below(5)) as i64;
                let cost = 250.0 + 480.0 * days as f64 + 11.0 * age as f64 + below(900) as f64;
                let year = 2023 + below(3) as i64;
                insert.execute(rusqlite::params![patient as i64, age, days, cost, region, year])?;
            }
        }
    }
    transaction.commit()
}
