//! Releases with every number as the decimal text it was written in.

use std::collections::BTreeMap;

use counterpoint::Adjacency;
use counterpoint::Mechanism;
use counterpoint::mechanism::RenyiCurve;
use counterpoint::quantity::Order;
use counterpoint::{Count, OutOfRange};
use counterpoint_budget::{Amount, Query};
use counterpoint_mechanisms::Recipe;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

use super::canonical::{NotCanonical, canonical};
use super::safe::{self, side};
use crate::error::PlanError;
use crate::plan::{Format, Plan, Question, Release};
use crate::recipe;
use crate::sample::Sample;
use crate::value::Value;
use crate::written::amount;

/// The fields of a release that are words; all others are numbers.
const WORDS: [&str; 4] = ["name", "mechanism", "partition", "recipe"];

/// What a field that is left out stands for, and the kinds that may leave it out (all that have
/// it, if none is named).
const DEFAULTS: [(&str, &str, &[&str]); 7] = [
    ("count", "1", &[]),
    ("rate", "1", &[]),
    ("delta", "0", &["approx-dp", "zcdp"]),
    ("sensitivity", "1", &[]),
    ("buckets", "2", &[]),
    ("norm", "1", &[]),
    ("each", "1", &[]),
];

/// The first format of a ledger whose numbers are rounded to the safe side.
const SAFE: u64 = 4;

/// The fields that say how much noise there is.
const NOISE: [&str; 2] = ["scale", "sigma"];
/// The fields that say how much is lost where none says how much noise there is.
const LOSSES: [&str; 5] = ["epsilon", "epsilon_queries", "epsilon_threshold", "mu", "rho"];

/// A release, its fields in alphabetical order and its numbers as decimal text in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Described(BTreeMap<String, Field>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Field {
    One(String),
    Many(Vec<String>),
    /// The releases that are made together with it.
    Parts(Vec<Described>),
}

/// A plan whose amounts are read exactly.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExactPlan {
    /// The question and its exact amount, if the file asks one.
    pub question: Option<(Question, Amount)>,
    /// What neighbouring data sets are, if the file says.
    pub adjacency: Option<Adjacency>,
    /// How many people are protected together.
    pub group: u64,
    /// The releases.
    pub releases: Vec<Described>,
    /// What one should know before relying on it.
    pub warnings: Vec<String>,
}

impl ExactPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`PlanError`], as [`Plan::parse`], and for numbers that are no amounts.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        let plan = Plan::parse(bytes, format)?;
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let raw = match format {
            Format::Json => raw_json(text)?,
            Format::Toml => raw_toml(text)?,
        };
        let question = plan.question.map(|question| {
            let field = match question {
                Question::EpsilonAt(_) => "delta",
                Question::DeltaAt(_) => "epsilon",
            };
            let text = raw.question.as_deref().unwrap_or_default();
            amount(text).map(|amount| (question, amount)).map_err(|e| PlanError::field(field, e))
        });
        let mut releases = Vec::with_capacity(raw.releases.len());
        for (index, fields) in raw.releases.into_iter().enumerate() {
            let release = plan.releases.get(index);
            let name = release.and_then(|release| release.name.as_deref());
            let described = match release {
                Some(release) if release.is_planned() => Described::of_planned(release),
                _ => Described::canonical(fields),
            };
            releases.push(described.map_err(|error| error.in_release(index + 1, name))?);
        }
        let (adjacency, group, warnings) = (plan.adjacency, plan.group.get(), plan.warnings());
        Ok(Self { question: question.transpose()?, adjacency, group, releases, warnings })
    }
}

impl Described {
    /// A release as it is run: its doubles, exactly. [`Described::query`] of it is the query
    /// that the release itself is.
    ///
    /// # Errors
    /// [`PlanError`] if it has no place in the format.
    pub fn of(release: &counterpoint::Release) -> Result<Self, PlanError> {
        if matches!(release.mechanism, Mechanism::Cells(_)) {
            return Err(cells());
        }
        let sample = release.rate.map(|rate| Box::new(Sample { rate, batches: None }));
        let release = Release {
            name: None,
            mechanism: release.mechanism.clone(),
            sample,
            count: release.count,
            partition: release.part.clone(),
            written: Vec::new(),
            bundle: None,
        };
        let mut fields = BTreeMap::new();
        for (key, value) in release.fields()? {
            let field = exact(&value).ok_or_else(|| {
                PlanError::field(&key, format!("is {value}; legal: {}", Amount::LEGAL))
            })?;
            fields.insert(key.into_owned(), field);
        }
        let described = Self::canonical(fields)?.normal();
        // What cannot be read again could not be charged.
        described.release()?;
        Ok(described)
    }

    /// A release that says how it is run: its numbers are the doubles that it is run with, whatever their texts.
    fn of_planned(release: &Release) -> Result<Self, PlanError> {
        let mut whole = Self::of(&release.alone())?;
        let mut word = |key: &str, text: &str| {
            whole.0.insert(key.to_owned(), Field::One(text.to_owned()));
        };
        if let Some(name) = &release.name {
            word("name", name);
        }
        let bundle = release.bundle.as_deref();
        if let Some((bundle, recipe)) = bundle.and_then(|one| Some((one, one.recipe.as_ref()?))) {
            let wrong = |error: serde_json::Error| PlanError::field("recipe", error.to_string());
            let written = recipe::write(recipe, bundle.shared.as_deref()).map_err(wrong)?;
            word("recipe", &written.to_string());
        }
        let also = bundle.map_or(&[][..], |bundle| &bundle.also);
        if !also.is_empty() {
            let parts = also.iter().map(|one| Self::of(&one.alone()));
            let parts = Field::Parts(parts.collect::<Result<_, _>>()?);
            whole.0.insert("also".to_owned(), parts);
        }
        Ok(whole)
    }

    /// The same release with nothing said that goes without saying: a default that is spelled
    /// out makes no other release.
    #[must_use]
    pub fn normal(&self) -> Self {
        let is_default = |key: &str, field: &Field| {
            DEFAULTS.iter().any(|(name, default, kinds)| {
                let meant = kinds.is_empty() || kinds.contains(&self.mechanism());
                *name == key && meant && *field == Field::One((*default).to_owned())
            })
        };
        let said = self.0.iter().filter(|(key, field)| !is_default(key, field));
        Self(said.map(|(key, field)| (key.clone(), field.clone())).collect())
    }

    fn canonical(fields: BTreeMap<String, Field>) -> Result<Self, PlanError> {
        if fields.get("mechanism") == Some(&Field::One("cells".to_owned())) {
            return Err(cells());
        }
        let mut canonical = BTreeMap::new();
        for (key, field) in fields {
            let number = |text: String| {
                let amount = amount(&text).map_err(|problem| PlanError::field(&key, problem))?;
                Ok::<_, PlanError>(amount.to_string())
            };
            let field = match field {
                field if WORDS.contains(&key.as_str()) => field,
                Field::One(text) => Field::One(number(text)?),
                Field::Many(list) => {
                    Field::Many(list.into_iter().map(number).collect::<Result<_, _>>()?)
                }
                Field::Parts(list) => {
                    let parts = list.into_iter().map(|part| Self::canonical(part.0));
                    Field::Parts(parts.collect::<Result<_, _>>()?)
                }
            };
            canonical.insert(key, field);
        }
        Self(canonical).with_noise()
    }

    /// The same release with the noise itself in the place of the guarantee that it is to have: what is stored means the
    /// same for ever, however noise is found.
    fn with_noise(mut self) -> Result<Self, PlanError> {
        if !matches!(self.mechanism(), "laplace" | "gaussian") || !self.0.contains_key("epsilon") {
            return Ok(self);
        }
        let (name, noise) = match self.release()?.mechanism {
            Mechanism::Laplace { scale, .. } => ("scale", scale),
            Mechanism::Gaussian { sigma, .. } => ("sigma", sigma),
            _ => return Ok(self),
        };
        let amount = Amount::from_f64(noise.get()).unwrap_or_default();
        self.0.retain(|key, _| key != "epsilon" && key != "delta");
        self.0.insert(name.to_owned(), Field::One(amount.to_string()));
        Ok(self)
    }

    /// The same release with so many times the noise, or that part of the guarantee; `None` where it has neither.
    #[must_use]
    pub fn noisier(&self, factor: &Amount) -> Option<Self> {
        self.is_one().ok()?;
        let mut fields = self.0.clone();
        let mut is_changed = false;
        let has_noise = NOISE.iter().any(|key| fields.contains_key(*key));
        for (key, field) in &mut fields {
            let is_one = if has_noise { &NOISE[..] } else { &LOSSES[..] }.contains(&key.as_str());
            let Field::One(text) = field else { continue };
            let Some(old) = amount(text).ok().filter(|_| is_one) else { continue };
            let new = if has_noise { Some(&old * factor) } else { old.under(factor) };
            *text = new?.to_string();
            is_changed = true;
        }
        is_changed.then_some(Self(fields))
    }

    /// The same release about a part of the data; as it is if that is all of them.
    ///
    /// # Errors
    /// [`PlanError`] if it is about another part.
    pub fn about(mut self, part: Option<&str>) -> Result<Self, PlanError> {
        let named = self.part().map(str::to_owned);
        if let (Some(named), true) = (&named, named.as_deref() != part) {
            let problem = format!("is {named:?}; legal: the part that the data are of, or none");
            return Err(PlanError::field("partition", problem));
        }
        if let Some(part) = part {
            self.0.insert("partition".to_owned(), Field::One(part.to_owned()));
        }
        Ok(self)
    }

    /// The release as text.
    ///
    /// # Errors
    /// None that can be named: every release can be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads what [`Described::text`] wrote.
    ///
    /// # Errors
    /// [`NotCanonical`] if it is not that.
    pub fn read(text: &str) -> Result<Self, NotCanonical> {
        canonical(text)
    }

    /// What people call it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.word("name")
    }

    /// The kind of its mechanism.
    #[must_use]
    pub fn mechanism(&self) -> &str {
        self.word("mechanism").unwrap_or_default()
    }

    /// The part of the data it is about; all of it if `None`.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.word("partition")
    }

    /// The query and its noise, if the release says how it was planned.
    #[must_use]
    pub fn recipe(&self) -> Option<Recipe> {
        Some(self.recipe_and_count()?.0)
    }

    /// The name of the slot of a noisy count that its answer is computed with, if it does not count its rows itself.
    #[must_use]
    pub fn shared_count(&self) -> Option<String> {
        self.recipe_and_count()?.1
    }

    fn recipe_and_count(&self) -> Option<(Recipe, Option<String>)> {
        recipe::read(serde_json::from_str(self.word("recipe")?).ok()?).ok()
    }

    /// How often it is made: how many openings it has as a slot.
    ///
    /// # Errors
    /// As [`Described::query`].
    pub fn count(&self) -> Result<u64, PlanError> {
        Ok(self.release()?.count.get())
    }

    /// What each of its parts asks of an account when it is made once: the release itself, and those that are made together
    /// with it.
    ///
    /// # Errors
    /// As [`Described::query`].
    pub fn opening_in(&self, format: u64) -> Result<Vec<Query>, PlanError> {
        let first = self.alone().query_in(format)?;
        let part = first.part().cloned();
        let also = self.also().iter().map(|one| Ok(one.query_in(format)?.about(part.clone())));
        let also = also.collect::<Result<Vec<_>, PlanError>>()?;
        Ok([first.clone().times(Count::ONE)].into_iter().chain(also).collect())
    }

    /// The release itself, without those that are made together with it.
    fn alone(&self) -> Self {
        let own = self.0.iter().filter(|(key, _)| *key != "also" && *key != "recipe");
        Self(own.map(|(key, field)| (key.clone(), field.clone())).collect())
    }

    fn also(&self) -> &[Self] {
        match self.0.get("also") {
            Some(Field::Parts(list)) => list,
            _ => &[],
        }
    }

    /// An error where one release is meant, and it consists of several.
    fn is_one(&self) -> Result<(), PlanError> {
        let problem = "is given where one release is meant; legal: in the slots of a plan";
        if self.0.contains_key("also") { Err(PlanError::field("also", problem)) } else { Ok(()) }
    }

    /// What it asks of an account. Guarantees, Laplace and Gaussian noise, zCDP, GDP and the
    /// divergence at one Rényi order are taken exactly; of the others, and on Poisson samples, numbers are rounded to doubles
    /// that cost at least as much.
    ///
    /// # Errors
    /// [`PlanError`] if the fields do not describe a release.
    pub fn query(&self) -> Result<Query, PlanError> {
        self.is_one()?;
        self.asked(self.rounded()?.release()?)
    }

    /// What it asked of an account of a ledger of some format. Before 4 numbers that are not taken exactly meant the
    /// nearest doubles, and a guarantee on a sample the amplified guarantee.
    ///
    /// # Errors
    /// As [`Described::query`].
    pub fn query_in(&self, format: u64) -> Result<Query, PlanError> {
        if format >= SAFE {
            return self.query();
        }
        self.is_one()?;
        let mut release = self.release()?;
        if let (Mechanism::ApproxDp(guarantee), Some(_)) = (&release.mechanism, &release.sample) {
            release.mechanism = Mechanism::AmplifiedDp(*guarantee);
        }
        self.asked(release)
    }

    /// The query of a release in doubles, its own numbers where they are taken exactly.
    fn asked(&self, mut release: Release) -> Result<Query, PlanError> {
        // A sample of everything is none.
        release.sample = release.sample.filter(|sample| sample.rate.get() < 1.0);
        let noise = ["scale", "sigma"].iter().any(|noise| self.0.contains_key(*noise));
        let noisy = matches!(self.mechanism(), "laplace" | "gaussian");
        if release.sample.is_some() || noisy && !noise {
            return Ok(Query::from(release.alone()));
        }
        let exact = match &release.mechanism {
            Mechanism::ApproxDp(_) | Mechanism::AmplifiedDp(_) => {
                Query::approx_dp(self.amount("epsilon", "0")?, self.amount("delta", "0")?)
            }
            Mechanism::Laplace { .. } => {
                Query::laplace(self.amount("scale", "1")?, self.amount("sensitivity", "1")?)
            }
            Mechanism::Gaussian { .. } => {
                Query::gaussian(self.amount("sigma", "1")?, self.amount("sensitivity", "1")?)
            }
            Mechanism::Zcdp { .. } => {
                Query::zcdp(self.amount("rho", "0")?, self.amount("delta", "0")?)
            }
            Mechanism::Gdp { .. } => Query::gdp(self.amount("mu", "0")?),
            Mechanism::Rdp(curve) if curve.points().len() == 1 => self.at_one_order(curve)?,
            _ => return Ok(Query::from(release.alone())),
        };
        let exact = exact
            .map_err(|error: OutOfRange| PlanError::starting(error.quantity, &error.to_string()))?;
        Ok(exact.times(release.count).about(release.partition.clone()))
    }

    /// The same with every number that is not taken exactly as a double that costs at least as much.
    fn rounded(&self) -> Result<Self, PlanError> {
        let mut fields = BTreeMap::new();
        for (key, field) in &self.0 {
            let side = side(self.mechanism(), key);
            let number = |text: &String| match side {
                Some(side) => {
                    let whole =
                        || PlanError::field(key, format!("is {text}; legal: a whole number"));
                    Ok(side.of(&read(key, text)?).ok_or_else(whole)?.to_string())
                }
                None => Ok(text.clone()),
            };
            let field = match field {
                Field::One(text) => Field::One(number(text)?),
                Field::Many(list) => {
                    Field::Many(list.iter().map(number).collect::<Result<_, PlanError>>()?)
                }
                Field::Parts(list) => {
                    let parts = list.iter().map(Self::rounded);
                    Field::Parts(parts.collect::<Result<_, PlanError>>()?)
                }
            };
            fields.insert(key.clone(), field);
        }
        self.with_probabilities(Self(fields))
    }

    /// The same with lists of probabilities as doubles, rounded together.
    fn with_probabilities(&self, mut rounded: Self) -> Result<Self, PlanError> {
        let texts = |list: Vec<Amount>| Field::Many(list.iter().map(Amount::to_string).collect());
        let too_large = |key: &str| PlanError::field(key, "is too large; legal: probabilities");
        match self.mechanism() {
            "finite" => {
                let (p, q) = safe::pair(&self.amounts("p")?, &self.amounts("q")?)
                    .ok_or_else(|| too_large("p"))?;
                rounded.0.extend([("p".to_owned(), texts(p)), ("q".to_owned(), texts(q))]);
            }
            "gaussian-mixture" => {
                let key = "probabilities";
                let list = safe::shifts(&self.amounts("sensitivities")?, &self.amounts(key)?);
                let list = list.ok_or_else(|| too_large(key))?;
                rounded.0.insert(key.to_owned(), texts(list));
            }
            _ => {}
        }
        Ok(rounded)
    }

    fn amounts(&self, key: &str) -> Result<Vec<Amount>, PlanError> {
        match self.0.get(key) {
            Some(Field::Many(list)) => list.iter().map(|text| read(key, text)).collect(),
            _ => Ok(Vec::new()),
        }
    }

    /// A Rényi divergence at one order: the order is a double, the divergence exact.
    fn at_one_order(&self, curve: &RenyiCurve) -> Result<Result<Query, OutOfRange>, PlanError> {
        let order = curve.points().first().map_or(f64::NAN, |point| point.0);
        let tau = match self.0.get("epsilons") {
            Some(Field::Many(list)) => list.first().map_or("0", String::as_str),
            _ => "0",
        };
        let tau = read("epsilons", tau)?;
        Ok(Order::new(order).and_then(|order| Query::renyi(order, tau)))
    }

    /// The release in doubles, checked field by field.
    ///
    /// # Errors
    /// [`PlanError`] if the fields do not describe one.
    pub fn release(&self) -> Result<Release, PlanError> {
        let text = format!("{{\"release\":[{}]}}", self.json()?);
        let mut plan = Plan::parse(text.as_bytes(), Format::Json)?;
        plan.releases.pop().ok_or_else(|| PlanError::plan("there is no release"))
    }

    /// The release as an entry of a plan.
    fn json(&self) -> Result<String, PlanError> {
        let mut fields = Vec::with_capacity(self.0.len());
        for (key, field) in &self.0 {
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let value = match field {
                Field::One(text) if key == "recipe" => text.clone(),
                Field::One(text) if WORDS.contains(&key.as_str()) => quoted(text),
                Field::One(text) => self.number(text, key)?,
                Field::Many(list) => {
                    let list: Result<Vec<_>, _> =
                        list.iter().map(|text| self.number(text, key)).collect();
                    format!("[{}]", list?.join(","))
                }
                Field::Parts(list) => {
                    let list: Result<Vec<_>, _> = list.iter().map(Self::json).collect();
                    format!("[{}]", list?.join(","))
                }
            };
            fields.push(format!("{}:{value}", quoted(key)));
        }
        Ok(format!("{{{}}}", fields.join(",")))
    }

    /// Text that is a number and nothing more.
    fn number(&self, text: &str, key: &str) -> Result<String, PlanError> {
        Ok(read(key, text)?.to_string())
    }

    fn amount(&self, key: &str, default: &str) -> Result<Amount, PlanError> {
        read(key, self.word(key).unwrap_or(default))
    }

    fn word(&self, key: &str) -> Option<&str> {
        match self.0.get(key) {
            Some(Field::One(text)) => Some(text),
            _ => None,
        }
    }
}

/// Bounds on a loss are negative, and no amounts.
fn cells() -> PlanError {
    let problem = "is cells, which a ledger has no charge for; legal: finite, with the outcomes of a pair that dominates \
                   the cells, or any other kind";
    PlanError::field("mechanism", problem)
}

fn read(key: &str, text: &str) -> Result<Amount, PlanError> {
    amount(text).map_err(|problem| PlanError::field(key, problem))
}

/// A value with every digit of its doubles.
fn exact(value: &Value<'_>) -> Option<Field> {
    let text = |value: &Value<'_>| match value {
        Value::Real(number) => Some(Amount::from_f64(*number)?.to_string()),
        Value::Whole(number) => Some(number.to_string()),
        Value::Written(number) => Some(Amount::from_f64(number.nearest)?.to_string()),
        Value::Text(text) => Some(text.clone().into_owned()),
        _ => None,
    };
    match value {
        Value::List(list) => Some(Field::Many(list.iter().map(text).collect::<Option<_>>()?)),
        value => text(value).map(Field::One),
    }
}

/// A plan as text, its syntax known to be right.
struct Raw {
    question: Option<String>,
    releases: Vec<BTreeMap<String, Field>>,
}

#[derive(Deserialize)]
struct RawJson<'a> {
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    epsilon: Option<&'a RawValue>,
    #[serde(borrow)]
    target: Option<BTreeMap<String, &'a RawValue>>,
    #[serde(borrow)]
    release: Vec<BTreeMap<String, &'a RawValue>>,
}

/// The fields of a release, its numbers as they are written.
fn raw_fields(
    fields: BTreeMap<String, &RawValue>,
) -> Result<BTreeMap<String, Field>, serde_json::Error> {
    let field = |(key, value): (String, &RawValue)| {
        let text = value.get();
        Ok((
            key,
            match text.as_bytes().first() {
                Some(b'"') => Field::One(serde_json::from_str(text)?),
                Some(b'[') => {
                    let list: Vec<&RawValue> = serde_json::from_str(text)?;
                    if list.first().is_some_and(|item| item.get().starts_with('{')) {
                        let parts = list.into_iter().map(|item| {
                            raw_fields(serde_json::from_str(item.get())?).map(Described)
                        });
                        Field::Parts(parts.collect::<Result<_, serde_json::Error>>()?)
                    } else {
                        Field::Many(list.into_iter().map(|item| item.get().to_owned()).collect())
                    }
                }
                _ => Field::One(text.to_owned()),
            },
        ))
    };
    fields.into_iter().map(field).collect()
}

fn raw_json(text: &str) -> Result<Raw, PlanError> {
    let wrong = |error: serde_json::Error| PlanError::plan(error.to_string());
    let raw: RawJson<'_> = serde_json::from_str(text).map_err(wrong)?;
    let releases: Result<_, serde_json::Error> = raw.release.into_iter().map(raw_fields).collect();
    let of_target = raw.target.as_ref().and_then(|target| target.get("delta").copied());
    let question = raw.delta.or(raw.epsilon).or(of_target);
    let question = question.map(|value| value.get().trim_matches('"').to_owned());
    Ok(Raw { question, releases: releases.map_err(wrong)? })
}

fn raw_toml(text: &str) -> Result<Raw, PlanError> {
    let table = DeTable::parse(text).map_err(|error| PlanError::plan(error.message()))?;
    let table = table.into_inner();
    let of_target = || match table.get("target")?.get_ref() {
        DeValue::Table(target) => target.get("delta"),
        _ => None,
    };
    let question = table.get("delta").or_else(|| table.get("epsilon")).or_else(of_target);
    let question = question.map(|value| number_text(value.get_ref()));
    let mut releases = Vec::new();
    if let Some(DeValue::Array(list)) = table.get("release").map(|value| value.get_ref()) {
        for item in list.iter() {
            if let DeValue::Table(fields) = item.get_ref() {
                releases.push(toml_fields(fields));
            }
        }
    }
    Ok(Raw { question, releases })
}

/// The fields of a release, its numbers as they are written.
fn toml_fields(fields: &DeTable<'_>) -> BTreeMap<String, Field> {
    let field = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        let table = |item: &toml::Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Table(fields) => Some(Described(toml_fields(fields))),
            _ => None,
        };
        let field = match value.get_ref() {
            DeValue::Array(list) => match list.iter().map(table).collect::<Option<Vec<_>>>() {
                Some(parts) if !parts.is_empty() => Field::Parts(parts),
                _ => Field::Many(list.iter().map(|item| number_text(item.get_ref())).collect()),
            },
            value => Field::One(number_text(value)),
        };
        (key.clone().into_owned(), field)
    };
    fields.iter().map(field).collect()
}

/// The text of a number, or a string as it is.
fn number_text(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.clone().into_owned(),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.to_string(),
            Err(_) => number.as_str().to_owned(),
        },
        DeValue::Float(number) => number.as_str().to_owned(),
        _ => String::new(),
    }
}
