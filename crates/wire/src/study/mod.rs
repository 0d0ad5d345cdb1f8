//! Studies: what a planner is asked.

mod about;
mod bare;
mod data;
mod new;

pub use about::StudyQuestion;
pub use data::DataSource;
pub use new::{NewStudy, begin_study, new_study};

use std::collections::{BTreeMap, HashMap, HashSet};

use counterpoint::{Delta, Epsilon, Guarantee};
use counterpoint_planner::{
    Ask, Budget, Goal, Noise, Public, Statistic, Study, StudyError, Wanted, Wish,
};

use crate::plan::{Format, Numbers, table_of};
use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing, number};
use crate::text::value::{Table, Value};

const TOP: [&str; 6] = ["version", "delta", "epsilon", "goal", "data", "statistic"];
const KINDS: [&str; 13] = [
    "count",
    "proportion",
    "sum",
    "mean",
    "variance",
    "standard-deviation",
    "histogram",
    "quantiles",
    "cdf",
    "covariance",
    "correlation",
    "regression",
    "held-back",
];
/// The fields of every statistic that is a question, besides those of its kind.
const COMMON: [&str; 8] =
    ["name", "kind", "noise", "confidence", "error", "weight", "pin", "epsilon"];

/// A study file: what is to be planned, and what the statistics are computed from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StudyFile {
    /// What the planner is asked.
    pub study: Study,
    /// The data, if the study describes their columns.
    pub data: Option<DataSource>,
    /// For each statistic its question about the data, if it names the rows and columns that it is computed from.
    pub questions: Vec<Option<StudyQuestion>>,
    /// The counts of rows that statistics may share, by the names that they are planned under.
    pub counts: Vec<(String, StudyQuestion)>,
}

/// Reads a study file.
///
/// # Errors
/// [`PlanError`], one line that names the statistic, the field, the offending value and what would be legal.
pub fn read_study_file(bytes: &[u8], format: Format) -> Result<StudyFile, PlanError> {
    study_file_of(table_of(bytes, format, Numbers::Doubles)?)
}

/// Reads a study: what the planner is asked.
///
/// # Errors
/// As for [`read_study_file`].
pub fn read_study(bytes: &[u8], format: Format) -> Result<Study, PlanError> {
    Ok(read_study_file(bytes, format)?.study)
}

/// The study that a table says.
///
/// # Errors
/// As for [`read_study_file`].
pub fn study_of(table: Table<'_>) -> Result<Study, PlanError> {
    Ok(study_file_of(table)?.study)
}

/// The study file that a table says.
///
/// # Errors
/// As for [`read_study_file`].
pub fn study_file_of(table: Table<'_>) -> Result<StudyFile, PlanError> {
    let mut fields = Fields::new(table);
    match fields.take("version") {
        None | Some(Value::Whole(1)) => {}
        Some(other) => return Err(illegal("version", &other, "1")),
    }
    let delta = fields.number("delta", None, (Delta::new, Delta::LEGAL))?;
    let epsilon = fields.take("epsilon");
    let epsilon = epsilon.map(|value| number("epsilon", &value, Epsilon::new, Epsilon::LEGAL));
    let budget = Budget { epsilon: epsilon.transpose()?, delta };
    let goal = match fields.text("goal")?.as_deref() {
        None | Some("relative") => Goal::Relative,
        Some("squared") => Goal::Squared,
        Some(other) => return Err(illegal("goal", &text(other), "relative, squared")),
    };
    let (public, data) = data::read(&mut fields)?;
    let statistics = match fields.take("statistic") {
        Some(Value::List(list)) => list,
        Some(other) => return Err(illegal("statistic", &other, LEGAL_STATISTICS)),
        None => return Err(missing("statistic", LEGAL_STATISTICS)),
    };
    fields.finish("a study", &TOP)?;
    if statistics.len() > counterpoint_planner::MOST_STATISTICS {
        let problem = format!("has {} entries; legal: {LEGAL_STATISTICS}", statistics.len());
        return Err(PlanError::field("statistic", problem));
    }
    let within = Within { public: &public, data: data.as_ref(), delta };
    let (mut list, mut questions, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (index, value) in statistics.into_iter().enumerate() {
        let Read { name, ask, question, rows: used, .. } = statistic(value, index, &within)?;
        list.push(Statistic { name, ask });
        questions.push(question);
        rows.push(used);
    }
    let names: Vec<String> = list.iter().map(|statistic| statistic.name.clone()).collect();
    different(&names)?;
    let counts = name_counts(&mut list, rows, &names);
    let study = Study::new(public, budget, goal, list).map_err(|error| placed(&error, &names))?;
    Ok(StudyFile { study, data, questions, counts })
}

/// Names the counts of rows that statistics may share: statistics about the same rows name the same count.
fn name_counts(
    list: &mut [Statistic],
    rows: Vec<Option<StudyQuestion>>,
    names: &[String],
) -> Vec<(String, StudyQuestion)> {
    let mut counts: Vec<(String, StudyQuestion)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    for (statistic, rows) in list.iter_mut().zip(rows) {
        let (Ask::Query(Wanted { population: Some(population), .. }), Some(rows)) =
            (&mut statistic.ask, rows)
        else {
            continue;
        };
        // The rows, and for how many of them errors are planned.
        let Ok(key) = serde_json::to_string(&(&rows.checked, population.rows)) else { continue };
        let place = *known.entry(key).or_insert_with(|| {
            let name = about::name_of_rows(&rows, |name| taken.contains(name));
            taken.insert(name.clone());
            counts.push((name, rows));
            counts.len() - 1
        });
        population.count = counts.get(place).map(|(name, _)| name.clone());
    }
    counts
}

/// What the study says before its statistics.
struct Within<'a> {
    public: &'a Public,
    data: Option<&'a DataSource>,
    delta: Delta,
}

const LEGAL_STATISTICS: &str = "1 to 10^5 statistics, each a table";

/// A name stands for one statistic in everything that is made of a study.
fn different(names: &[String]) -> Result<(), PlanError> {
    let mut known = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = known.insert(name, index + 1) {
            let problem =
                format!("is {name:?}, which is the name of statistic {first}; legal: another");
            return Err(PlanError::field("name", problem).in_statistic(index + 1, Some(name)));
        }
    }
    Ok(())
}

/// An error of the planner, with the name of the statistic it is about.
#[must_use]
pub fn placed_in_study(study: &Study, error: &StudyError) -> PlanError {
    let names: Vec<String> =
        study.statistics().iter().map(|statistic| statistic.name.clone()).collect();
    placed(error, &names)
}

fn placed(error: &StudyError, names: &[String]) -> PlanError {
    let about = PlanError::field(error.field, &error.problem);
    match error.statistic {
        Some(index) => about.in_statistic(index + 1, names.get(index).map(String::as_str)),
        None => about,
    }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(text.into())
}

/// A statistic, and in an error its place and name.
fn statistic(value: Value<'_>, index: usize, within: &Within<'_>) -> Result<Read, PlanError> {
    let Value::Table(table) = value else {
        let error = PlanError::plan(format!("is {value}; legal: a table"));
        return Err(error.in_statistic(index + 1, None));
    };
    let mut fields = Fields::new(table);
    let name = fields.peek_text("name").map(str::to_owned);
    ask(&mut fields, index, within)
        .and_then(|read| {
            let held = matches!(read.ask, Ask::HeldBack(_));
            let mut legal = [if held { &COMMON[..2] } else { &COMMON[..] }, read.own].concat();
            if within.data.is_some() && !held {
                legal.extend(about::FIELDS);
            }
            fields.finish(read.kind, &legal)?;
            Ok(read)
        })
        .map_err(|error| error.in_statistic(index + 1, name.as_deref()))
}

/// A statistic that was read, and the fields of its kind.
struct Read {
    kind: &'static str,
    name: String,
    own: &'static [&'static str],
    ask: Ask,
    question: Option<StudyQuestion>,
    /// The question how many rows it uses, if others may share a noisy answer to that.
    rows: Option<StudyQuestion>,
}

fn ask(fields: &mut Fields<'_>, index: usize, within: &Within<'_>) -> Result<Read, PlanError> {
    let name = fields.text("name")?.map(|name| name.into_owned());
    let known = KINDS.join(", ");
    let value = fields.take("kind").ok_or_else(|| missing("kind", &known))?;
    let kind = match &value {
        Value::Text(text) => KINDS.into_iter().find(|kind| *kind == text),
        _ => None,
    };
    let kind = kind.ok_or_else(|| illegal("kind", &value, &known))?;
    let name = name.unwrap_or_else(|| format!("{kind} {}", index + 1));
    if kind == "held-back" {
        let epsilon = fields.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL))?;
        let delta = fields.number("delta", Some(0.0), (Delta::new, Delta::LEGAL))?;
        let (own, ask) = (&["epsilon", "delta"], Ask::HeldBack(Guarantee { epsilon, delta }));
        return Ok(Read { kind, name, own, ask, question: None, rows: None });
    }
    let about = match within.data {
        Some(data) if about::is_about(kind, fields) => {
            Some(about::read(kind, &name, fields, &data.table)?)
        }
        _ => None,
    };
    let (query, scale, own, population, question, rows) = match about {
        Some(about::About { question, population, rows, scale, own }) => {
            let query = question.checked.parts().first().map(|part| part.query.clone());
            let query = query.ok_or_else(|| missing("kind", &known))?;
            (query, scale, own, Some(population), Some(question), rows)
        }
        None => {
            let (query, scale, own) = bare::query(kind, fields, within.public)?;
            (query, scale, own, None, None, None)
        }
    };
    let confidence = fields.number("confidence", Some(0.95), (Ok, "above 0 and below 1"))?;
    let (wish, pinned_by_epsilon) = wish(fields)?;
    // Gaussian noise has no finite epsilon at delta zero.
    let noise = noise(fields, kind, pinned_by_epsilon || within.delta.get() <= 0.0)?;
    if matches!(kind, "regression" | "correlation") && !pinned_by_epsilon {
        let problem = format!(
            "is missing: no error of a {kind} holds for all data; legal: pin = true with an epsilon"
        );
        return Err(PlanError::field("epsilon", problem));
    }
    let public = question.as_ref().and_then(|question| question.public_count());
    let ask = match public {
        Some(people) => Ask::Public(people as f64),
        None => Ask::Query(Wanted { query, noise, confidence, wish, scale, population }),
    };
    Ok(Read { kind, name, own, ask, question, rows })
}

/// What is wanted, and whether an epsilon is pinned.
fn wish(fields: &mut Fields<'_>) -> Result<(Wish, bool), PlanError> {
    let pin = fields.flag("pin")?;
    let mut amount = |name: &str| {
        let given = fields.take(name);
        given.map(|value| number(name, &value, Ok, "a positive number")).transpose()
    };
    let (error, weight, epsilon) = (amount("error")?, amount("weight")?, amount("epsilon")?);
    match (pin, error, weight, epsilon) {
        (true, Some(error), None, None) => Ok((Wish::Kept(error), false)),
        (true, None, None, Some(epsilon)) => Ok((Wish::Level(epsilon), true)),
        (true, ..) => {
            Err(PlanError::field("pin", "is true; legal: with either an error or an epsilon"))
        }
        (false, _, _, Some(_)) => {
            Err(PlanError::field("epsilon", "is given; legal: with pin = true"))
        }
        (false, Some(_), Some(_), _) => {
            Err(PlanError::field("weight", "is given with error; legal: one of the two"))
        }
        (false, Some(error), None, _) => Ok((Wish::Error(error), false)),
        (false, None, weight, _) => Ok((Wish::Weight(weight.unwrap_or(1.0)), false)),
    }
}

/// The noise that is asked for. A pinned epsilon is that of pure noise.
fn noise(fields: &mut Fields<'_>, kind: &str, pure: bool) -> Result<Option<Noise>, PlanError> {
    let kinds: &[Noise] = match kind {
        "quantiles" => &[Noise::Exponential],
        _ if pure => &[Noise::Laplace],
        _ => &[Noise::Laplace, Noise::Gaussian],
    };
    let Some(name) = fields.text("noise")? else {
        return Ok(if kinds.len() == 1 { kinds.first().copied() } else { None });
    };
    match kinds.iter().find(|noise| noise.name() == name) {
        Some(noise) => Ok(Some(*noise)),
        None => {
            let legal: Vec<&str> = kinds.iter().map(|noise| noise.name()).collect();
            Err(illegal("noise", &Value::Text(name), &legal.join(", ")))
        }
    }
}
