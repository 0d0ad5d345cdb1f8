//! Study files: statistics to be planned, and the data that they are computed from.

mod column_statistic;
mod bounded_statistic;
mod data;
mod draft;

pub use column_statistic::StudyQuestion;
pub use data::DataSource;
pub use draft::{StudyDraft, draft_study, draft_study_of_files};

use std::collections::{BTreeMap, HashMap, HashSet};

use counterpoint::{Delta, Epsilon, Guarantee};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Noise, PublicFacts, QueryRequest, Statistic, StatisticContent,
    Study, StudyError,
};
use counterpoint_wire::document::{Fields, NumberMode, illegal, missing, number, table_of};
use counterpoint_wire::{Format, PlanError, Table, Value};

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
/// The fields of every statistic with a question, besides those of its kind.
const COMMON: [&str; 8] =
    ["name", "kind", "noise", "confidence", "error", "weight", "pin", "epsilon"];

/// A study file: the study to be planned, and the data that its statistics are computed from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StudyFile {
    /// The input of the planner.
    pub study: Study,
    /// The data, if the study describes their columns.
    pub data: Option<DataSource>,
    /// For each statistic its question about the data, if it names the rows and columns that it uses.
    pub questions: Vec<Option<StudyQuestion>>,
    /// The counts of rows that statistics may share, with the names under which they are planned.
    pub counts: Vec<(String, StudyQuestion)>,
}

/// Reads a study file.
///
/// # Errors
/// [`PlanError`], one line that names the statistic, the field, its value and the legal values.
pub fn read_study_file(bytes: &[u8], format: Format) -> Result<StudyFile, PlanError> {
    study_file_from_table(table_of(bytes, format, NumberMode::Doubles)?)
}

/// Reads a study, the input of the planner.
///
/// # Errors
/// As for [`read_study_file`].
pub fn read_study(bytes: &[u8], format: Format) -> Result<Study, PlanError> {
    Ok(read_study_file(bytes, format)?.study)
}

/// Reads a study from a table.
///
/// # Errors
/// As for [`read_study_file`].
pub fn study_from_table(table: Table<'_>) -> Result<Study, PlanError> {
    Ok(study_file_from_table(table)?.study)
}

/// Reads a study file from a table.
///
/// # Errors
/// As for [`read_study_file`].
pub fn study_file_from_table(table: Table<'_>) -> Result<StudyFile, PlanError> {
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
    if statistics.len() > counterpoint_planner::MAX_STATISTICS {
        let problem = format!("has {} entries; legal: {LEGAL_STATISTICS}", statistics.len());
        return Err(PlanError::field("statistic", problem));
    }
    let within = StudyContext { public: &public, data: data.as_ref(), delta };
    let (mut list, mut questions, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (index, value) in statistics.into_iter().enumerate() {
        let ParsedStatistic { name, ask, question, rows: used, .. } =
            statistic(value, index, &within)?;
        list.push(Statistic { name, content: ask });
        questions.push(question);
        rows.push(used);
    }
    let names: Vec<String> = list.iter().map(|statistic| statistic.name.clone()).collect();
    different(&names)?;
    let counts = name_counts(&mut list, rows, &names);
    let study = Study::new(public, budget, goal, list).map_err(|error| placed(&error, &names))?;
    Ok(StudyFile { study, data, questions, counts })
}

/// Names the counts of rows that statistics may share. Statistics about the same rows get the same count.
fn name_counts(
    list: &mut [Statistic],
    rows: Vec<Option<StudyQuestion>>,
    names: &[String],
) -> Vec<(String, StudyQuestion)> {
    let mut counts: Vec<(String, StudyQuestion)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    for (statistic, rows) in list.iter_mut().zip(rows) {
        let (
            StatisticContent::Query(QueryRequest { population: Some(population), .. }),
            Some(rows),
        ) = (&mut statistic.content, rows)
        else {
            continue;
        };
        // The key is the rows, and the number of rows for which errors are planned.
        let Ok(key) = serde_json::to_string(&(&rows.checked, population.rows)) else { continue };
        let place = *known.entry(key).or_insert_with(|| {
            let name = column_statistic::name_of_rows(&rows, |name| taken.contains(name));
            taken.insert(name.clone());
            counts.push((name, rows));
            counts.len() - 1
        });
        population.count = counts.get(place).map(|(name, _)| name.clone());
    }
    counts
}

/// The parts of a study that its statistics depend on.
struct StudyContext<'a> {
    public: &'a PublicFacts,
    data: Option<&'a DataSource>,
    delta: Delta,
}

const LEGAL_STATISTICS: &str = "1 to 10^5 statistics, each a table [[statistic]]";

/// Refuses equal names: a plan, a ledger and a publication identify statistics by their names.
fn different(names: &[String]) -> Result<(), PlanError> {
    let mut known = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = known.insert(name, index + 1) {
            let problem =
                format!("is {name:?}, which is the name of statistic {first}; legal: another name");
            return Err(PlanError::field("name", problem).in_statistic(index + 1, Some(name)));
        }
    }
    Ok(())
}

/// Adds the name of the statistic to an error of the planner.
#[must_use]
pub fn locate_study_error(study: &Study, error: &StudyError) -> PlanError {
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

/// Reads a statistic; an error gets its number and name.
fn statistic(
    value: Value<'_>,
    index: usize,
    within: &StudyContext<'_>,
) -> Result<ParsedStatistic, PlanError> {
    let Value::Table(table) = value else {
        let error = PlanError::plan(format!("is {value}; legal: a table"));
        return Err(error.in_statistic(index + 1, None));
    };
    let mut fields = Fields::new(table);
    let name = fields.peek_text("name").map(str::to_owned);
    ask(&mut fields, index, within)
        .and_then(|read| {
            let held = matches!(read.ask, StatisticContent::HeldBack(_));
            let mut legal = [if held { &COMMON[..2] } else { &COMMON[..] }, read.own].concat();
            if within.data.is_some() && !held {
                legal.extend(column_statistic::FIELDS);
            }
            fields.finish(read.kind, &legal)?;
            Ok(read)
        })
        .map_err(|error| error.in_statistic(index + 1, name.as_deref()))
}

/// A statistic that was read, with the fields of its kind.
struct ParsedStatistic {
    kind: &'static str,
    name: String,
    own: &'static [&'static str],
    ask: StatisticContent,
    question: Option<StudyQuestion>,
    /// The question for the number of rows that are used, if statistics may share its noisy answer.
    rows: Option<StudyQuestion>,
}

fn ask(
    fields: &mut Fields<'_>,
    index: usize,
    within: &StudyContext<'_>,
) -> Result<ParsedStatistic, PlanError> {
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
        let (own, ask) =
            (&["epsilon", "delta"], StatisticContent::HeldBack(Guarantee { epsilon, delta }));
        return Ok(ParsedStatistic { kind, name, own, ask, question: None, rows: None });
    }
    let about = match within.data {
        Some(data) if column_statistic::is_about(kind, fields) => {
            Some(column_statistic::read(kind, &name, fields, &data.table)?)
        }
        _ => None,
    };
    let (query, scale, own, population, question, rows) = match about {
        Some(column_statistic::ColumnStatistic { question, population, rows, scale, own }) => {
            let query = question.checked.aggregates().first().map(|part| part.query.clone());
            let query = query.ok_or_else(|| missing("kind", &known))?;
            (query, scale, own, Some(population), Some(question), rows)
        }
        None => {
            let (query, scale, own) = bounded_statistic::query(kind, fields, within.public)?;
            (query, scale, own, None, None, None)
        }
    };
    let confidence = fields.number("confidence", Some(0.95), (Ok, "above 0 and below 1"))?;
    let (target, pinned_by_epsilon) = accuracy_target(fields)?;
    // Gaussian noise has no finite epsilon at delta zero.
    let noise = noise(fields, kind, pinned_by_epsilon || within.delta.get() <= 0.0)?;
    if matches!(kind, "regression" | "correlation") && !pinned_by_epsilon {
        let problem = format!(
            "is missing: no bound on the error of a {kind} holds for all data; legal: pin = true with an epsilon"
        );
        return Err(PlanError::field("epsilon", problem));
    }
    let public = question.as_ref().and_then(|question| question.public_count());
    let ask = match public {
        Some(people) => StatisticContent::Public(people as f64),
        None => StatisticContent::Query(QueryRequest {
            query,
            noise,
            confidence,
            target,
            scale,
            population,
        }),
    };
    Ok(ParsedStatistic { kind, name, own, ask, question, rows })
}

/// Reads the accuracy that is requested; the flag is true if an epsilon is pinned.
fn accuracy_target(fields: &mut Fields<'_>) -> Result<(AccuracyTarget, bool), PlanError> {
    let pin = fields.flag("pin")?;
    let mut amount = |name: &str| {
        let given = fields.take(name);
        given.map(|value| number(name, &value, Ok, "a positive number")).transpose()
    };
    let (error, weight, epsilon) = (amount("error")?, amount("weight")?, amount("epsilon")?);
    match (pin, error, weight, epsilon) {
        (true, Some(error), None, None) => Ok((AccuracyTarget::PinnedError(error), false)),
        (true, None, None, Some(epsilon)) => Ok((AccuracyTarget::PinnedLevel(epsilon), true)),
        (true, ..) => Err(PlanError::field(
            "pin",
            "is true; legal: pin = true with exactly one of error and epsilon",
        )),
        (false, _, _, Some(_)) => Err(PlanError::field(
            "epsilon",
            "is given without pin; legal: pin = true with the epsilon",
        )),
        (false, Some(_), Some(_), _) => {
            Err(PlanError::field("weight", "is given with error; legal: one of the two"))
        }
        (false, Some(error), None, _) => Ok((AccuracyTarget::Error(error), false)),
        (false, None, weight, _) => Ok((AccuracyTarget::Weight(weight.unwrap_or(1.0)), false)),
    }
}

/// Reads the kind of noise. A pinned epsilon needs pure noise.
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
