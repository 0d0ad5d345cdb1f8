//! Reading simulation files: stages of mechanisms, systems, two pairs, or Laplace noise, with exact numbers.

use std::borrow::Cow;

use counterpoint::Epsilon;
use counterpoint_numerics::fractions::{ExactError, Ratio, from_double, larger};
use counterpoint_papers::pair::Pair;
use counterpoint_wire::document::{Fields, NumberMode, illegal, missing, number, table_of, text};
use counterpoint_wire::{Format, PlanError, Table, Value, fraction};

use super::file::{
    DeltaPoint, FileMechanism, FilePair, FileQuery, FileStage, FileState, FileSystem, Simulation,
    Subject,
};

const TOP: [&str; 8] =
    ["version", "stage", "system", "source", "target", "laplace", "ratios", "epsilons"];
const KINDS: [&str; 5] = ["stage", "system", "laplace", "source", "target"];
const LEGAL: &str =
    "tables [[stage]], tables [[system]], tables [source] and [target], or a table [laplace]";
const PAIR: [&str; 4] = ["name", "p", "q", "outcomes"];
const CLAIM: [&str; 4] = ["name", "ratio", "epsilon", "delta"];
const MECHANISM: [&str; 5] = ["name", "p", "q", "outcomes", "then"];
const QUERY: [&str; 5] = ["name", "p", "q", "answers", "then"];

impl Simulation {
    /// Reads a file.
    ///
    /// ```
    /// use counterpoint_studies::{Simulation, Subject};
    /// use counterpoint_wire::Format;
    /// let text = r#"
    ///     [[stage]]
    ///     ratio = 3
    ///     p = ["2/3", "1/3"]
    ///     q = [0.25, 0.75]
    /// "#;
    /// let simulation = Simulation::parse(text.as_bytes(), Format::Toml)?;
    /// assert!(matches!(simulation.subject, Subject::Stages(_)));
    /// # Ok::<(), counterpoint_wire::PlanError>(())
    /// ```
    ///
    /// # Errors
    /// [`PlanError`], one line that names the stage or system, the field, the offending value and what would be legal.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        Self::from_table(table_of(bytes, format, NumberMode::Exact)?)
    }

    /// Reads a simulation from a table.
    ///
    /// # Errors
    /// As [`Simulation::parse`].
    pub fn from_table(table: Table<'_>) -> Result<Self, PlanError> {
        let mut fields = Fields::new(table);
        match fields.take("version") {
            None | Some(Value::Whole(1)) => {}
            Some(other) => return Err(illegal("version", &other, "1")),
        }
        let points = points(&mut fields)?;
        let given = KINDS.map(|name| fields.take(name).map(|value| (name, value)));
        fields.finish("a simulation", &TOP)?;
        let given: Vec<_> = given.into_iter().flatten().collect();
        let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        let mut values = given.into_iter().map(|(_, value)| value);
        let subject = match (names.as_slice(), values.next(), values.next()) {
            (["stage"], Some(list), None) => Subject::Stages(read_stages(tables("stage", list)?)?),
            (["system"], Some(list), None) => {
                Subject::Systems(read_systems(tables("system", list)?)?)
            }
            (["laplace"], Some(table), None) => Subject::Laplace(read_laplace(table)?),
            (["source", "target"], Some(source), Some(target)) => {
                let pairs = [read_pair("source", source)?, read_pair("target", target)?];
                Subject::Pairs(Box::new(pairs))
            }
            (["source"], ..) => return Err(missing("target", "a table [target] beside [source]")),
            (["target"], ..) => return Err(missing("source", "a table [source] beside [target]")),
            ([first, second, ..], ..) => {
                let problem = format!("is given with {first}; legal: one of them");
                return Err(PlanError::field(second, problem));
            }
            _ => return Err(missing("stage", LEGAL)),
        };
        Ok(Self { subject, points })
    }
}

/// Makes a point of a number; `None` if the number is out of range.
type ReadPoint = fn(Ratio) -> Option<DeltaPoint>;

/// Takes the points for the least deltas: first the ratios, then the epsilons.
fn points(fields: &mut Fields<'_>) -> Result<Vec<DeltaPoint>, PlanError> {
    let mut points = Vec::new();
    let kinds: [(_, ReadPoint, _); 2] = [
        ("ratios", DeltaPoint::ratio, "a list of numbers of at least 1, such as [2, \"5/2\"]"),
        ("epsilons", DeltaPoint::epsilon, "a list of numbers from 0 to 500, such as [0.5, 1]"),
    ];
    for (name, check, legal) in kinds {
        let Some(value) = fields.take(name) else { continue };
        let Value::List(items) = &value else { return Err(illegal(name, &value, legal)) };
        for item in items {
            let point = exact(item).and_then(check);
            let wrong = || PlanError::field(name, format!("has {item}; legal: {legal}"));
            points.push(point.ok_or_else(wrong)?);
        }
    }
    Ok(points)
}

impl DeltaPoint {
    /// The point at this likelihood ratio, e^epsilon, if it is at least 1.
    #[must_use]
    pub fn ratio(ratio: Ratio) -> Option<Self> {
        (ratio >= Ratio::ONE).then_some(Self::Ratio(ratio))
    }

    /// The point at this epsilon, if it is from 0 to 500.
    #[must_use]
    pub fn epsilon(epsilon: Ratio) -> Option<Self> {
        let legal = Ratio::ZERO..=Ratio::from(500_u32);
        legal.contains(&epsilon).then_some(Self::Epsilon(epsilon))
    }
}

/// Reads the table of one of the two pairs.
fn read_pair(name: &'static str, value: Value<'_>) -> Result<FilePair, PlanError> {
    let legal = format!("a table [{name}] with p and q");
    let Value::Table(table) = value else { return Err(illegal(name, &value, &legal)) };
    let mut fields = Fields::new(table);
    let own = fields.text("name").and_then(|given| {
        let pair = pair(&mut fields)?;
        let outcomes = labels(&mut fields, "outcomes", pair.outcomes().len())?;
        fields.finish("a pair", &PAIR)?;
        Ok(FilePair { name: given.map_or(name.to_owned(), Cow::into_owned), outcomes, pair })
    });
    own.map_err(|error| PlanError::plan(format!("{name}: {error}")))
}

fn read_laplace(value: Value<'_>) -> Result<Epsilon, PlanError> {
    let legal = "a table [laplace] with epsilon";
    let Value::Table(table) = value else { return Err(illegal("laplace", &value, legal)) };
    let mut fields = Fields::new(table);
    let epsilon = fields.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL))?;
    fields.finish("Laplace noise", &["epsilon"])?;
    Ok(epsilon)
}

/// Reads a list of tables that is not empty.
fn tables<'a>(name: &str, value: Value<'a>) -> Result<Vec<Table<'a>>, PlanError> {
    let legal = format!("one or more tables [[{name}]]");
    let shown = value.to_string();
    let Value::List(items) = value else { return Err(illegal(name, &value, &legal)) };
    if items.is_empty() {
        return Err(PlanError::field(name, format!("is empty; legal: {legal}")));
    }
    let table = |item| match item {
        Value::Table(table) => Ok(table),
        other => Err(PlanError::field(name, format!("has {other} in {shown}; legal: {legal}"))),
    };
    items.into_iter().map(table).collect()
}

/// Returns the exact number of a text, a double or a whole number.
fn exact(value: &Value<'_>) -> Option<Ratio> {
    match value {
        Value::Whole(number) => u64::try_from(*number).ok().map(Ratio::from),
        Value::Real(number) if *number >= 0.0 && number.is_finite() => Some(from_double(*number)),
        Value::Exact(number) => Some(number.exact.clone()),
        Value::Text(text) => fraction(text).ok(),
        _ => None,
    }
}

/// Takes a likelihood ratio and a delta; without a delta the claim is the least delta.
fn claim(fields: &mut Fields<'_>) -> Result<(Ratio, Option<Ratio>), PlanError> {
    let ratio = match (fields.take("ratio"), fields.take("epsilon")) {
        (Some(_), Some(_)) => {
            return Err(PlanError::field("epsilon", "is given with ratio; legal: one of them"));
        }
        (Some(value), None) => {
            let legal = "e^epsilon: a number of at least 1, such as 3 or \"5/2\"";
            let ratio = exact(&value).filter(|ratio| *ratio >= Ratio::ONE);
            ratio.ok_or_else(|| illegal("ratio", &value, legal))?
        }
        (None, Some(value)) => {
            let epsilon = number("epsilon", &value, Epsilon::new, Epsilon::LEGAL)?;
            let bracket = epsilon.exponential();
            // Rounded up: the claim implies the claim with a larger ratio.
            bracket.map_err(|error| PlanError::from_text("epsilon", &error.to_string()))?.1
        }
        (None, None) => {
            return Err(missing("ratio", "e^epsilon, a number of at least 1; or epsilon"));
        }
    };
    let value = fields.take("delta").unwrap_or(Value::Whole(0));
    if matches!(&value, Value::Text(text) if text == "least") {
        return Ok((ratio, None));
    }
    let delta = exact(&value).filter(|delta| *delta < Ratio::ONE);
    let legal = "a number from 0 up to but not including 1, or \"least\"";
    Ok((ratio, Some(delta.ok_or_else(|| illegal("delta", &value, legal))?)))
}

/// Takes the probabilities on both data sets.
fn pair(fields: &mut Fields<'_>) -> Result<Pair, PlanError> {
    let p = probabilities(fields, "p")?;
    let q = probabilities(fields, "q")?;
    Pair::new(p, q).map_err(|error| {
        let message = error.to_string();
        match error {
            ExactError::Sum { place, .. } if place.ends_with(" q") => {
                PlanError::field("q", format!("is wrong: {message}"))
            }
            ExactError::Size { what: "entries of q", .. } => PlanError::field("q", message),
            _ => PlanError::field("p", format!("is wrong: {message}")),
        }
    })
}

fn probabilities(fields: &mut Fields<'_>, name: &str) -> Result<Vec<Ratio>, PlanError> {
    let legal = "a list of probabilities, such as [\"1/3\", \"2/3\"]";
    let value = fields.take(name).ok_or_else(|| missing(name, legal))?;
    let Value::List(items) = &value else { return Err(illegal(name, &value, legal)) };
    let one = |(at, item): (usize, &Value<'_>)| {
        let number = exact(item).filter(|number| *number <= Ratio::ONE);
        number.ok_or_else(|| {
            let legal = "a number from 0 to 1, such as 0.25 or \"1/4\"";
            PlanError::field(name, format!("entry {} is {item}; legal: {legal}", at + 1))
        })
    };
    items.iter().enumerate().map(one).collect()
}

/// Takes one text for each outcome; `None` if the field is absent.
fn texts(
    fields: &mut Fields<'_>,
    name: &str,
    count: usize,
) -> Result<Option<Vec<String>>, PlanError> {
    let Some(value) = fields.take(name) else { return Ok(None) };
    let legal = format!("a list of {count} texts, one for each outcome");
    let Value::List(items) = &value else { return Err(illegal(name, &value, &legal)) };
    if items.len() != count {
        return Err(PlanError::field(name, format!("has {}; legal: {legal}", items.len())));
    }
    let one = |item: &Value<'_>| match item {
        Value::Text(text) => Ok(text.clone().into_owned()),
        other => Err(PlanError::field(name, format!("has {other}; legal: {legal}"))),
    };
    items.iter().map(one).collect::<Result<_, _>>().map(Some)
}

/// Takes the names of outcomes, which must be distinct; without names, outcomes have numbers.
fn labels(fields: &mut Fields<'_>, name: &str, count: usize) -> Result<Vec<String>, PlanError> {
    let numbers = || (1..=count).map(|number| number.to_string()).collect();
    let labels: Vec<String> = texts(fields, name, count)?.unwrap_or_else(numbers);
    distinct(name, &labels)?;
    Ok(labels)
}

fn distinct(field: &str, names: &[String]) -> Result<(), PlanError> {
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    twice.map_or(Ok(()), |(_, name)| {
        Err(PlanError::field(field, format!("has {name:?} twice; legal: each once")))
    })
}

fn name_or(fields: &mut Fields<'_>, number: usize) -> Result<String, PlanError> {
    let name = fields.take("name").map(|value| text("name", value)).transpose()?;
    Ok(name.map_or_else(|| number.to_string(), Cow::into_owned))
}

fn read_stages(list: Vec<Table<'_>>) -> Result<Vec<FileStage>, PlanError> {
    let mut stages: Vec<(FileStage, Vec<Option<Vec<String>>>)> = Vec::new();
    for (at, table) in list.into_iter().enumerate() {
        let mut fields = Fields::new(table);
        let name = fields.peek_text("name").map(str::to_owned);
        let placed = |error: PlanError| error.in_entry("stage", at + 1, name.as_deref());
        stages.push(
            stage(&mut fields)
                .and_then(|stage| {
                    let legal = [&CLAIM[..], &MECHANISM[1..], &["mechanism"]].concat();
                    fields.finish("a stage", &legal)?;
                    Ok(stage)
                })
                .map_err(placed)?,
        );
    }
    let names: Vec<Vec<String>> = stages
        .iter()
        .map(|(stage, _)| stage.mechanisms.iter().map(|m| m.name.clone()).collect())
        .collect();
    let mut found = Vec::with_capacity(stages.len());
    for (at, (mut stage, then)) in stages.into_iter().enumerate() {
        let next = names.get(at + 1).map_or(&[][..], Vec::as_slice);
        for (mechanism, then) in stage.mechanisms.iter_mut().zip(then) {
            mechanism.then = follow(then, next)
                .map_err(|error| error.in_entry("stage", at + 1, stage.name.as_deref()))?;
        }
        found.push(stage);
    }
    Ok(found)
}

/// Returns the numbers of the named mechanisms of the next stage.
fn follow(then: Option<Vec<String>>, next: &[String]) -> Result<Vec<usize>, PlanError> {
    let Some(then) = then else {
        if next.len() <= 1 {
            return Ok(Vec::new());
        }
        let legal = format!("a mechanism for each outcome: {}", next.join(", "));
        return Err(missing("then", &legal));
    };
    let one = |name: &String| {
        next.iter().position(|known| known == name).ok_or_else(|| {
            let known =
                if next.is_empty() { "none after the last stage".into() } else { next.join(", ") };
            PlanError::field("then", format!("has {name:?}; legal: {known}"))
        })
    };
    then.iter().map(one).collect()
}

type NamedStage = (FileStage, Vec<Option<Vec<String>>>);

fn stage(fields: &mut Fields<'_>) -> Result<NamedStage, PlanError> {
    let (ratio, delta) = claim(fields)?;
    let (name, several) = (fields.text("name")?.map(Cow::into_owned), fields.take("mechanism"));
    let (mut mechanisms, mut thens) = (Vec::new(), Vec::new());
    match several {
        None => {
            let (mechanism, then) = mechanism(fields, 1)?;
            mechanisms.push(mechanism);
            thens.push(then);
        }
        Some(list) => {
            for (at, table) in tables("stage.mechanism", list)?.into_iter().enumerate() {
                let mut own = Fields::new(table);
                let (mechanism, then) = mechanism(&mut own, at + 1)?;
                own.finish("a mechanism", &MECHANISM)?;
                mechanisms.push(mechanism);
                thens.push(then);
            }
        }
    }
    let names: Vec<String> = mechanisms.iter().map(|m: &FileMechanism| m.name.clone()).collect();
    distinct("mechanism", &names)?;
    let least = || {
        let pairs = mechanisms.iter().flat_map(|m| [m.pair.clone(), m.pair.swapped()]);
        pairs.map(|pair| pair.delta(&ratio)).fold(Ratio::ZERO, larger)
    };
    let delta = delta.unwrap_or_else(least);
    Ok((FileStage { name, ratio, delta, mechanisms }, thens))
}

fn mechanism(
    fields: &mut Fields<'_>,
    number: usize,
) -> Result<(FileMechanism, Option<Vec<String>>), PlanError> {
    let (name, pair) = (name_or(fields, number)?, pair(fields)?);
    let count = pair.outcomes().len();
    let (outcomes, then) = (labels(fields, "outcomes", count)?, texts(fields, "then", count)?);
    Ok((FileMechanism { name, outcomes, pair, then: Vec::new() }, then))
}

fn read_systems(list: Vec<Table<'_>>) -> Result<Vec<FileSystem>, PlanError> {
    let mut systems = Vec::with_capacity(list.len());
    for (at, table) in list.into_iter().enumerate() {
        let mut fields = Fields::new(table);
        let name = fields.peek_text("name").map(str::to_owned);
        let system = system(&mut fields, at + 1).and_then(|system| {
            fields.finish("a system", &[&CLAIM[..], &["state"]].concat())?;
            Ok(system)
        });
        systems.push(system.map_err(|error| error.in_entry("system", at + 1, name.as_deref()))?);
    }
    let names: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    distinct("system", &names)?;
    Ok(systems)
}

fn system(fields: &mut Fields<'_>, number: usize) -> Result<FileSystem, PlanError> {
    let (name, (ratio, delta)) = (name_or(fields, number)?, claim(fields)?);
    let list = fields.take("state").ok_or_else(|| missing("state", "tables [[system.state]]"))?;
    let tables = tables("system.state", list)?;
    let mut states = Vec::with_capacity(tables.len());
    let mut names = Vec::with_capacity(tables.len());
    for (at, table) in tables.into_iter().enumerate() {
        let mut own = Fields::new(table);
        names.push(name_or(&mut own, at + 1)?);
        let queries = own.take("query");
        own.finish("a state", &["name", "query"])?;
        let queries = queries.ok_or_else(|| missing("query", "tables [[system.state.query]]"))?;
        states.push(self::tables("system.state.query", queries)?);
    }
    distinct("state", &names)?;
    let read = |(at, queries): (usize, Vec<Table<'_>>)| {
        let queries = queries.into_iter().enumerate();
        let queries = queries.map(|(which, table)| query(table, which + 1, (at, &names)));
        let queries = queries.collect::<Result<Vec<_>, PlanError>>()?;
        let called: Vec<String> = queries.iter().map(|query| query.name.clone()).collect();
        distinct("query", &called)?;
        Ok(FileState { name: names[at].clone(), queries })
    };
    let states = states.into_iter().enumerate().map(read).collect::<Result<_, PlanError>>()?;
    let given = delta.clone().unwrap_or(Ratio::ZERO);
    let mut own = FileSystem { name, ratio, delta: given, states };
    if delta.is_none() {
        let system = own.system().map_err(|error| PlanError::plan(error.to_string()))?;
        own.delta = system.delta(&own.ratio);
    }
    Ok(own)
}

fn query(
    table: Table<'_>,
    number: usize,
    (at, states): (usize, &[String]),
) -> Result<FileQuery, PlanError> {
    let mut fields = Fields::new(table);
    let (name, pair) = (name_or(&mut fields, number)?, pair(&mut fields)?);
    let count = pair.outcomes().len();
    let answers = labels(&mut fields, "answers", count)?;
    let then = texts(&mut fields, "then", count)?.unwrap_or_else(|| vec![String::new(); count]);
    fields.finish("a query", &QUERY)?;
    let later = states.get(at + 1..).unwrap_or_default();
    let one = |name: String| {
        if name.is_empty() {
            return Ok(None);
        }
        let found = later.iter().position(|state| *state == name);
        found.map(|place| Some(at + 1 + place)).ok_or_else(|| {
            let legal = format!("\"\" for the end, or a later state: {}", later.join(", "));
            PlanError::field("then", format!("has {name:?}; legal: {legal}"))
        })
    };
    let then = then.into_iter().map(one).collect::<Result<_, _>>()?;
    Ok(FileQuery { name, answers, pair, then })
}
