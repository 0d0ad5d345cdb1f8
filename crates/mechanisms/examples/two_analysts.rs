//! Two analysts ask about the same town at the same time: Ann checks guesses about ages, Bob
//! draws histograms of incomes, and each looks at the other's answers before asking on.
//!
//!     cargo run -p counterpoint-mechanisms --example two_analysts [FILE]
//!
//! The file has a line `age,income` for each person; examples/town.csv (made up) if not given.

use counterpoint::quantity::Delta;
use counterpoint::{Adjacency, Mechanism, Relation, Release};
use counterpoint_mechanisms::{
    Bounds, ConcurrentSessions, Data, Error, GuessAndCheck, InteractiveMechanism, NoisyQuery,
    Query, Reply, Sequence, SessionQuery,
};

const TOWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/town.csv");
/// One person more or less, with one line.
const NEIGHBOURS: Relation = Relation::single_record(Adjacency::AddRemove);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| TOWN.to_owned());
    let (ages, incomes) = read(&std::fs::read_to_string(path)?)?;

    // Everything is declared, and so charged, before the first question.
    let by_thousands = |step: u32| -> Result<NoisyQuery, Error> {
        let edges: Vec<f64> = (0..=12 / step).map(|bin| 1000.0 * f64::from(bin * step)).collect();
        Query::histogram(&edges)?.laplace(0.4)
    };
    let (coarse, fine) = (by_thousands(4)?, by_thousands(1)?);
    let guesses = InteractiveMechanism::from(GuessAndCheck::new(0.2, 3, 60.0)?);
    let tables = InteractiveMechanism::from(Sequence::new([coarse.clone(), fine.clone()])?);
    println!("Ann declares guess-and-check, three corrections:");
    guesses.under(NEIGHBOURS)?.releases().iter().for_each(|one| println!("    {}", cost(one)));
    println!("Bob declares two histograms:");
    tables.under(NEIGHBOURS)?.releases().iter().for_each(|one| println!("    {}", cost(one)));
    let town =
        ConcurrentSessions::open_on_columns([("ann", guesses, ages), ("bob", tables, incomes)])?;

    println!("\nThe questions, as they come:");
    let mut elderly = 250.0;
    elderly = ann(&town, "65 and over", 65.0, 120.0, elderly)?.unwrap_or(elderly);
    let rough = bob(&town, "incomes by 4,000", &coarse)?;
    // Ann takes the population from Bob's table, Bob his second question from Ann's answer.
    let people: f64 = rough.iter().sum();
    ann(&town, "under 30", 0.0, 29.0, people / 4.0)?;
    ann(&town, "30 to 64", 30.0, 64.0, people * 0.75 - elderly)?;
    bob(&town, "incomes by 1,000", &fine)?;
    ann(&town, "under 20", 0.0, 19.0, 300.0)?;
    ann(&town, "65 and over", 65.0, 120.0, elderly)?;
    match town.session("bob")?.ask(&SessionQuery::Measure(fine)) {
        Err(error) => println!("bob: incomes by 1,000, again: refused: {error}"),
        Ok(_) => return Err("a third histogram was answered".into()),
    }

    println!("\nWhat all of this costs together, whatever was answered:");
    for delta in [0.0, 1e-6, 1e-3] {
        let answer = town.epsilon(Delta::new(delta)?)?;
        println!(
            "    ({:.4}, {delta})-private, by {}",
            answer.bracket.upper,
            answer.theorem.source()
        );
    }
    Ok(())
}

/// Checks a guess about how many people have these ages; the better value, if it is wrong.
fn ann(
    town: &ConcurrentSessions,
    what: &str,
    from: f64,
    to: f64,
    guess: f64,
) -> Result<Option<f64>, Error> {
    let query = Query::count_within(Bounds::new(from, to)?);
    let session = town.session("ann")?;
    let (said, value) = match session.ask(&SessionQuery::Check(query, guess)) {
        Ok(Reply::Wrong(value)) => (format!("wrong, rather {value}"), Some(value)),
        Ok(_) => ("about right".to_owned(), None),
        Err(Error::Exhausted) => ("refused: no corrections are left".to_owned(), None),
        Err(other) => return Err(other),
    };
    println!("ann: {what}, {guess:.0}? {said}  [cost: within the declared 4 x 0.2]");
    Ok(value)
}

/// Runs a histogram.
fn bob(town: &ConcurrentSessions, what: &str, noisy_query: &NoisyQuery) -> Result<Vec<f64>, Error> {
    let reply = town.session("bob")?.ask(&SessionQuery::Measure(noisy_query.clone()))?;
    let measurement = noisy_query.under(NEIGHBOURS)?;
    let paid: Vec<String> = measurement.releases().iter().map(cost).collect();
    let within = measurement.half_width(0, 0.95)?;
    let Reply::Table(bins) = reply else { return Ok(Vec::new()) };
    println!("bob: {what}: {bins:?}, each within {within} (95 %)  [cost: {}]", paid.join("; "));
    Ok(bins)
}

/// A release in words.
fn cost(release: &Release) -> String {
    let what = match &release.mechanism {
        Mechanism::Geometric { scale, sensitivity } => {
            format!("geometric noise, epsilon {:.4}", sensitivity.get() as f64 / scale.get())
        }
        Mechanism::SparseVector { threshold, queries } => {
            format!("sparse vector, epsilon {} + {}", threshold.get(), queries.get())
        }
        other => format!("{other:?}"),
    };
    match release.count.get() {
        1 => what,
        count => format!("{count} times {what}"),
    }
}

fn read(text: &str) -> Result<(Data, Data), Box<dyn std::error::Error>> {
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let (age, income) = line
            .split_once(',')
            .ok_or_else(|| format!("line {} has no comma; legal: age,income", number + 1))?;
        rows.push((age.trim().parse()?, income.trim().parse()?));
    }
    let (ages, incomes): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
    Ok((Data::new(NEIGHBOURS, ages), Data::new(NEIGHBOURS, incomes)))
}
