//! Counts for the questions of bench/files about a file, in one pass: `count_file FILE`. Prints seconds and a checksum.

use counterpoint_curator::public::{Table, TableText};
use counterpoint_curator::question::sql;
use counterpoint_curator::{OpenTable, PreparedQuestion, RowSource, Spend, Tabulation};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const TABLE: &str = include_str!("../../../bench/files/table.toml");
const QUESTIONS: &str = include_str!("../../../bench/files/questions.sql");

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: count_file FILE")?;
    let public = Table::new(toml::from_str::<TableText>(TABLE)?)?;
    let held = OpenTable::of_rows(public, RowSource::of_file(Path::new(&file))?, [7; 32])?;
    let ready = |text: &str| -> Result<PreparedQuestion, Box<dyn Error>> {
        let question = sql::read(text, |_| Some(&held.public))?;
        Ok(PreparedQuestion::new(&held, &question, Spend::Rho(0.1), None)?)
    };
    let ready = QUESTIONS.lines().map(ready).collect::<Result<Vec<_>, _>>()?;
    let questions: Vec<&Tabulation> = ready.iter().map(PreparedQuestion::tabulation).collect();
    let start = Instant::now();
    let counted = held.count(&questions, start + Duration::from_secs(3600))?;
    let seconds = start.elapsed().as_secs_f64();
    let cells = counted.iter().flatten();
    let sum: i128 = cells.flat_map(|cell| cell.numbers.iter().flatten()).sum();
    println!("{} questions: {seconds:.2} s, checksum {sum}", questions.len());
    Ok(())
}
