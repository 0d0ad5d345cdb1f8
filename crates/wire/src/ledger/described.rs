//! Releases with every number as the decimal text it was written in.

use std::collections::BTreeMap;

use counterpoint::mechanism::RenyiCurve;
use counterpoint::quantity::Order;
use counterpoint::{Count, Mechanism, OutOfRange};
use counterpoint_budget::{Amount, Query};
use counterpoint_mechanisms::Recipe;
use serde::{Deserialize, Serialize};

use super::canonical::{NotCanonical, canonical};
use super::safe;
use crate::catalogue::{self, Kind, Role};
use crate::plan::{Release, recipe};
use crate::text::error::PlanError;
use crate::text::value::{Table, Value};
use crate::text::written::amount;

/// The fields of a release that are words; all others are numbers.
const WORDS: [&str; 4] = ["name", "mechanism", "partition", "recipe"];

/// The first format of a ledger whose numbers are rounded to the safe side.
const SAFE: u64 = 4;

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
        let described = Self::of_fields(Release::from(release.clone()).fields()?)?.normal();
        // What cannot be read again could not be charged.
        described.release()?;
        Ok(described)
    }

    /// A release by its fields, as they stand in a plan.
    pub(super) fn of_fields(table: Table<'_>) -> Result<Self, PlanError> {
        Self::canonical(Self::fields_of(table)?)
    }

    /// The fields of a table, every digit of their numbers as text.
    fn fields_of(table: Table<'_>) -> Result<BTreeMap<String, Field>, PlanError> {
        let field = |(key, value): (std::borrow::Cow<'_, str>, Value<'_>)| {
            let wrong = |shown: &dyn std::fmt::Display| {
                PlanError::field(&key, format!("is {shown}; legal: {}", Amount::LEGAL))
            };
            let field = match value {
                Value::List(list) if matches!(list.first(), Some(Value::Table(_))) => {
                    let part = |value| match value {
                        Value::Table(fields) => Self::fields_of(fields).map(Self),
                        other => Err(wrong(&other)),
                    };
                    Field::Parts(list.into_iter().map(part).collect::<Result<_, _>>()?)
                }
                Value::List(list) => {
                    let texts = list.iter().map(|item| text(item).ok_or_else(|| wrong(item)));
                    Field::Many(texts.collect::<Result<_, _>>()?)
                }
                value => Field::One(text(&value).ok_or_else(|| wrong(&value))?),
            };
            Ok((key.into_owned(), field))
        };
        table.into_iter().map(field).collect()
    }

    /// A release that says how it is run: its numbers are the doubles that it is run with, whatever their texts.
    pub(super) fn of_planned(release: &Release) -> Result<Self, PlanError> {
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
            let default = catalogue::field(self.mechanism(), key).and_then(|field| field.default);
            matches!((field, default), (Field::One(text), Some(default)) if text == default)
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
            let number = |text: String| Ok::<_, PlanError>(read(&key, &text)?.to_string());
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
        let noise = catalogue::kind(self.mechanism()).and_then(Kind::noise);
        let Some(name) = noise.filter(|_| self.0.contains_key("epsilon")) else { return Ok(self) };
        let (Mechanism::Laplace { scale: noise, .. } | Mechanism::Gaussian { sigma: noise, .. }) =
            self.release()?.mechanism
        else {
            return Ok(self);
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
        let role = |key: &str| catalogue::field(self.mechanism(), key).map(|field| field.of.role);
        let has_noise = fields.keys().any(|key| role(key) == Some(Role::Noise));
        let wanted = if has_noise { Role::Noise } else { Role::Loss };
        for (key, field) in &mut fields {
            let is_one = role(key) == Some(wanted);
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
        let noise = catalogue::kind(self.mechanism()).and_then(Kind::noise);
        // Noise that a guarantee stands for is the double that was found.
        let is_found = noise.is_some_and(|noise| !self.0.contains_key(noise));
        if release.sample.is_some() || is_found {
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
            let of = catalogue::field(self.mechanism(), key).map(|field| field.of);
            let number = |text: &String| match of {
                Some(of) => {
                    let whole =
                        || PlanError::field(key, format!("is {text}; legal: a whole number"));
                    let number = safe::rounded(of.side, &read(key, text)?).ok_or_else(whole)?;
                    Ok(number.to_string())
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
        let release = self.table().and_then(Release::read);
        release.map_err(|error| error.in_release(1, self.name()))
    }

    /// The release as an entry of a plan, its numbers as doubles.
    fn table(&self) -> Result<Table<'_>, PlanError> {
        let entry = |(key, field)| Ok((String::as_str(key).into(), Self::value(key, field)?));
        self.0.iter().map(entry).collect()
    }

    fn value<'a>(key: &str, field: &'a Field) -> Result<Value<'a>, PlanError> {
        let number = |text: &String| {
            let text = read(key, text)?.to_string();
            let whole = text.parse().map(Value::Whole);
            Ok(whole.unwrap_or_else(|_| Value::Real(text.parse().unwrap_or(f64::NAN))))
        };
        match field {
            Field::One(text) if key == "recipe" => {
                let wrong = |e: serde_json::Error| PlanError::field(key, e.to_string());
                serde_json::from_str(text).map_err(wrong)
            }
            Field::One(text) if WORDS.contains(&key) => Ok(Value::Text(text.as_str().into())),
            Field::One(text) => number(text),
            Field::Many(list) => list.iter().map(number).collect::<Result<_, _>>().map(Value::List),
            Field::Parts(list) => {
                let parts = list.iter().map(|part| part.table().map(Value::Table));
                parts.collect::<Result<_, _>>().map(Value::List)
            }
        }
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
    amount(text).map_err(|error| PlanError::field(key, error.to_string()))
}

/// The text of a number with every digit of its double, and any other text as it is.
pub(super) fn text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Real(number) => Some(Amount::from_f64(*number)?.to_string()),
        Value::Written(number) => Some(Amount::from_f64(number.nearest)?.to_string()),
        Value::Whole(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone().into_owned()),
        Value::TooLarge(text) => Some(text.clone()),
        _ => None,
    }
}
