//! Releases as they are stored: every number is decimal text.

use std::collections::BTreeMap;

use counterpoint::mechanism::RenyiCurve;
use counterpoint::quantity::Order;
use counterpoint::{Count, Mechanism, OutOfRangeError};
use counterpoint_budget::{Amount, Query};
use counterpoint_mechanisms::NoisyQuery;
use serde::{Deserialize, Serialize};

use super::canonical::{CanonicalError, canonical};
use super::safe;
use crate::catalogue::{self, MechanismKind, Role};
use crate::plan::{Release, recipe};
use crate::text::error::PlanError;
use crate::text::value::{Table, Value};
use crate::text::written::amount;

/// The fields of a release that are words; all others are numbers.
const WORDS: [&str; 6] = ["name", "mechanism", "partition", "recipe", "noise", "scores"];

/// The first format of a ledger whose numbers are rounded to the safe side.
const SAFE: u64 = 4;

/// A release as it is stored: its fields in alphabetical order, its numbers as exact decimal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReleaseRecord(BTreeMap<String, StoredField>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredField {
    One(String),
    Many(Vec<String>),
    /// The further releases of the bundle.
    Parts(Vec<ReleaseRecord>),
}

impl ReleaseRecord {
    /// The record of a release that runs, with its doubles exactly. Its [`ReleaseRecord::query`] equals the query of
    /// the release.
    ///
    /// # Errors
    /// [`PlanError`] if the format cannot describe the release.
    pub fn from_release(release: &counterpoint::Release) -> Result<Self, PlanError> {
        if let Some(error) = without_charge(release.mechanism.kind()) {
            return Err(error);
        }
        let described =
            Self::from_fields(Release::from(release.clone()).fields()?)?.without_defaults();
        // A record that cannot be read again could not be charged.
        described.release()?;
        Ok(described)
    }

    /// The record of a release by its fields in a plan.
    pub(super) fn from_fields(table: Table<'_>) -> Result<Self, PlanError> {
        Self::canonical(Self::fields_of(table)?)
    }

    /// The fields of a table, their numbers as exact decimal text.
    fn fields_of(table: Table<'_>) -> Result<BTreeMap<String, StoredField>, PlanError> {
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
                    StoredField::Parts(list.into_iter().map(part).collect::<Result<_, _>>()?)
                }
                Value::List(list) => {
                    let texts = list.iter().map(|item| text(item).ok_or_else(|| wrong(item)));
                    StoredField::Many(texts.collect::<Result<_, _>>()?)
                }
                value => StoredField::One(text(&value).ok_or_else(|| wrong(&value))?),
            };
            Ok((key.into_owned(), field))
        };
        table.into_iter().map(field).collect()
    }

    /// The record of a planned release. Its numbers are the doubles of the noise that runs, not the texts of the file.
    pub(super) fn from_planned(release: &Release) -> Result<Self, PlanError> {
        let mut whole = Self::from_release(&release.without_bundle())?;
        let mut word = |key: &str, text: &str| {
            whole.0.insert(key.to_owned(), StoredField::One(text.to_owned()));
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
            let parts = also.iter().map(|one| Self::from_release(&one.without_bundle()));
            let parts = StoredField::Parts(parts.collect::<Result<_, _>>()?);
            whole.0.insert("also".to_owned(), parts);
        }
        Ok(whole)
    }

    /// The same release without fields that have their default values: an explicit default makes no difference.
    #[must_use]
    pub fn without_defaults(&self) -> Self {
        let is_default = |key: &str, field: &StoredField| {
            let default = catalogue::field(self.mechanism(), key).and_then(|field| field.default);
            matches!((field, default), (StoredField::One(text), Some(default)) if text == default)
        };
        let said = self.0.iter().filter(|(key, field)| !is_default(key, field));
        Self(said.map(|(key, field)| (key.clone(), field.clone())).collect())
    }

    fn canonical(fields: BTreeMap<String, StoredField>) -> Result<Self, PlanError> {
        if let Some(StoredField::One(kind)) = fields.get("mechanism")
            && let Some(error) = without_charge(kind)
        {
            return Err(error);
        }
        let mut canonical = BTreeMap::new();
        for (key, field) in fields {
            let number = |text: String| Ok::<_, PlanError>(read(&key, &text)?.to_string());
            let field = match field {
                field if WORDS.contains(&key.as_str()) => field,
                StoredField::One(text) => StoredField::One(number(text)?),
                StoredField::Many(list) => {
                    StoredField::Many(list.into_iter().map(number).collect::<Result<_, _>>()?)
                }
                StoredField::Parts(list) => {
                    let parts = list.into_iter().map(|part| Self::canonical(part.0));
                    StoredField::Parts(parts.collect::<Result<_, _>>()?)
                }
            };
            canonical.insert(key, field);
        }
        Self(canonical).with_noise()
    }

    /// Replaces a guarantee by the noise that has it. The record then keeps its meaning if the search for noise
    /// changes.
    fn with_noise(mut self) -> Result<Self, PlanError> {
        let noise = catalogue::kind(self.mechanism()).and_then(MechanismKind::noise_field);
        let Some(name) = noise.filter(|_| self.0.contains_key("epsilon")) else { return Ok(self) };
        let (Mechanism::Laplace { scale: noise, .. } | Mechanism::Gaussian { sigma: noise, .. }) =
            self.release()?.mechanism
        else {
            return Ok(self);
        };
        let amount = Amount::from_f64(noise.get()).unwrap_or_default();
        self.0.retain(|key, _| key != "epsilon" && key != "delta");
        self.0.insert(name.to_owned(), StoredField::One(amount.to_string()));
        Ok(self)
    }

    /// Multiplies the noise by a factor, or divides the loss by it if no field says how much noise there is; `None` if
    /// there is neither.
    #[must_use]
    pub fn noisier(&self, factor: &Amount) -> Option<Self> {
        self.is_one().ok()?;
        let mut fields = self.0.clone();
        let mut is_changed = false;
        let role =
            |key: &str| catalogue::field(self.mechanism(), key).map(|field| field.field_type.role);
        let has_noise = fields.keys().any(|key| role(key) == Some(Role::Noise));
        let wanted = if has_noise { Role::Noise } else { Role::Loss };
        for (key, field) in &mut fields {
            let is_one = role(key) == Some(wanted);
            let StoredField::One(text) = field else { continue };
            let Some(old) = amount(text).ok().filter(|_| is_one) else { continue };
            let new = if has_noise { Some(&old * factor) } else { old.div_down(factor) };
            *text = new?.to_string();
            is_changed = true;
        }
        is_changed.then_some(Self(fields))
    }

    /// The same release about a part of the data; `None` is all of the data, and changes nothing.
    ///
    /// # Errors
    /// [`PlanError`] if the release is about another part.
    pub fn in_part(mut self, part: Option<&str>) -> Result<Self, PlanError> {
        let named = self.part().map(str::to_owned);
        if let (Some(named), true) = (&named, named.as_deref() != part) {
            let problem = format!("is {named:?}; legal: the part that the data are of, or none");
            return Err(PlanError::field("partition", problem));
        }
        if let Some(part) = part {
            self.0.insert("partition".to_owned(), StoredField::One(part.to_owned()));
        }
        Ok(self)
    }

    /// The release as text.
    ///
    /// # Errors
    /// None in practice: every release can be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a text that [`ReleaseRecord::text`] wrote.
    ///
    /// # Errors
    /// [`CanonicalError`] for any other text.
    pub fn read(text: &str) -> Result<Self, CanonicalError> {
        canonical(text)
    }

    /// The name of the release.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.word("name")
    }

    /// The kind of the mechanism.
    #[must_use]
    pub fn mechanism(&self) -> &str {
        self.word("mechanism").unwrap_or_default()
    }

    /// The part of the data that the release is about; `None` for all of the data.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.word("partition")
    }

    /// The noisy query, if the release was planned with one.
    #[must_use]
    pub fn recipe(&self) -> Option<NoisyQuery> {
        Some(self.recipe_and_count()?.0)
    }

    /// The name of the slot of the shared noisy count that the answer is computed with; `None` if the answer counts its
    /// rows itself.
    #[must_use]
    pub fn shared_count(&self) -> Option<String> {
        self.recipe_and_count()?.1
    }

    fn recipe_and_count(&self) -> Option<(NoisyQuery, Option<String>)> {
        recipe::read(serde_json::from_str(self.word("recipe")?).ok()?).ok()
    }

    /// The number of times that the release is made: as a slot, the number of its openings.
    ///
    /// # Errors
    /// As [`ReleaseRecord::query`].
    pub fn count(&self) -> Result<u64, PlanError> {
        Ok(self.release()?.count.get())
    }

    /// The queries of one opening in a ledger of some format: that of the main release, and those of the further
    /// releases of its bundle.
    ///
    /// # Errors
    /// As [`ReleaseRecord::query`].
    pub fn opening_queries(&self, format: u64) -> Result<Vec<Query>, PlanError> {
        let first = self.without_bundle().query_in(format)?;
        let part = first.part().cloned();
        let also = self.also().iter().map(|one| Ok(one.query_in(format)?.about(part.clone())));
        let also = also.collect::<Result<Vec<_>, PlanError>>()?;
        Ok([first.clone().times(Count::ONE)].into_iter().chain(also).collect())
    }

    /// The main release, without the further releases of its bundle.
    fn without_bundle(&self) -> Self {
        let own = self.0.iter().filter(|(key, _)| *key != "also" && *key != "recipe");
        Self(own.map(|(key, field)| (key.clone(), field.clone())).collect())
    }

    fn also(&self) -> &[Self] {
        match self.0.get("also") {
            Some(StoredField::Parts(list)) => list,
            _ => &[],
        }
    }

    /// Returns an error if the release is a bundle of several.
    fn is_one(&self) -> Result<(), PlanError> {
        let problem = "is given where one release is meant; legal: in the slots of a plan";
        if self.0.contains_key("also") { Err(PlanError::field("also", problem)) } else { Ok(()) }
    }

    /// The query that an account is charged for. Guarantees, Laplace and Gaussian noise, zCDP, GDP and the divergence
    /// at one Rényi order are taken exactly. The numbers of other mechanisms, and of all on Poisson samples, are
    /// rounded to doubles that cost at least as much.
    ///
    /// # Errors
    /// [`PlanError`] if the fields do not describe a release.
    pub fn query(&self) -> Result<Query, PlanError> {
        self.is_one()?;
        self.exact_query(self.rounded()?.release()?)
    }

    /// The query in a ledger of some format. Before format 4, numbers that are not taken exactly stood for the nearest
    /// doubles, and a guarantee on a sample stood for the amplified guarantee.
    ///
    /// # Errors
    /// As [`ReleaseRecord::query`].
    pub fn query_in(&self, format: u64) -> Result<Query, PlanError> {
        if format >= SAFE {
            return self.query();
        }
        self.is_one()?;
        let mut release = self.release()?;
        if let (Mechanism::ApproxDp(guarantee), Some(_)) = (&release.mechanism, &release.sample) {
            release.mechanism = Mechanism::AmplifiedDp(*guarantee);
        }
        self.exact_query(release)
    }

    /// The query of a release in doubles, with the record's own numbers where they are taken exactly.
    fn exact_query(&self, mut release: Release) -> Result<Query, PlanError> {
        // A sample at rate 1 is all of the data.
        release.sample = release.sample.filter(|sample| sample.rate.get() < 1.0);
        let noise = catalogue::kind(self.mechanism()).and_then(MechanismKind::noise_field);
        // If a guarantee was given in the place of noise, the noise is the double that was found.
        let is_found = noise.is_some_and(|noise| !self.0.contains_key(noise));
        if release.sample.is_some() || is_found {
            return Ok(Query::from(release.without_bundle()));
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
            _ => return Ok(Query::from(release.without_bundle())),
        };
        let exact = exact.map_err(|error: OutOfRangeError| {
            PlanError::from_text(error.quantity, &error.to_string())
        })?;
        Ok(exact.times(release.count).about(release.partition.clone()))
    }

    /// The same release with every number that is not taken exactly rounded to a double that costs at least as much.
    fn rounded(&self) -> Result<Self, PlanError> {
        let mut fields = BTreeMap::new();
        for (key, field) in &self.0 {
            let of = catalogue::field(self.mechanism(), key).map(|field| field.field_type);
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
                word if WORDS.contains(&key.as_str()) => word.clone(),
                StoredField::One(text) => StoredField::One(number(text)?),
                StoredField::Many(list) => {
                    StoredField::Many(list.iter().map(number).collect::<Result<_, PlanError>>()?)
                }
                StoredField::Parts(list) => {
                    let parts = list.iter().map(Self::rounded);
                    StoredField::Parts(parts.collect::<Result<_, PlanError>>()?)
                }
            };
            fields.insert(key.clone(), field);
        }
        self.with_probabilities(Self(fields))
    }

    /// Rounds the lists of probabilities to doubles, each list together.
    fn with_probabilities(&self, mut rounded: Self) -> Result<Self, PlanError> {
        let texts =
            |list: Vec<Amount>| StoredField::Many(list.iter().map(Amount::to_string).collect());
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
            Some(StoredField::Many(list)) => list.iter().map(|text| read(key, text)).collect(),
            _ => Ok(Vec::new()),
        }
    }

    /// The query of a Rényi divergence at one order: the order is a double, the divergence is exact.
    fn at_one_order(
        &self,
        curve: &RenyiCurve,
    ) -> Result<Result<Query, OutOfRangeError>, PlanError> {
        let order = curve.points().first().map_or(f64::NAN, |point| point.0);
        let tau = match self.0.get("epsilons") {
            Some(StoredField::Many(list)) => list.first().map_or("0", String::as_str),
            _ => "0",
        };
        let tau = read("epsilons", tau)?;
        Ok(Order::new(order).and_then(|order| Query::renyi(order, tau)))
    }

    /// The release in doubles, checked field by field.
    ///
    /// # Errors
    /// [`PlanError`] if the fields do not describe a release.
    pub fn release(&self) -> Result<Release, PlanError> {
        let release = self.table().and_then(Release::read);
        release.map_err(|error| error.in_release(1, self.name()))
    }

    /// The release as an entry of a plan, its numbers as doubles.
    fn table(&self) -> Result<Table<'_>, PlanError> {
        let entry = |(key, field)| Ok((String::as_str(key).into(), Self::value(key, field)?));
        self.0.iter().map(entry).collect()
    }

    fn value<'a>(key: &str, field: &'a StoredField) -> Result<Value<'a>, PlanError> {
        let number = |text: &String| {
            let text = read(key, text)?.to_string();
            let whole = text.parse().map(Value::Whole);
            Ok(whole.unwrap_or_else(|_| Value::Real(text.parse().unwrap_or(f64::NAN))))
        };
        match field {
            StoredField::One(text) if key == "recipe" => {
                let wrong = |e: serde_json::Error| PlanError::field(key, e.to_string());
                serde_json::from_str(text).map_err(wrong)
            }
            StoredField::One(text) if WORDS.contains(&key) => Ok(Value::Text(text.as_str().into())),
            StoredField::One(text) => number(text),
            StoredField::Many(list) => {
                list.iter().map(number).collect::<Result<_, _>>().map(Value::List)
            }
            StoredField::Parts(list) => {
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
            Some(StoredField::One(text)) => Some(text),
            _ => None,
        }
    }
}

/// The error for a kind of mechanism that ledgers do not charge. (Bounds of losses in cells are negative, and amounts are
/// not.)
fn without_charge(kind: &str) -> Option<PlanError> {
    let problem = match kind {
        "cells" => {
            "is cells, which a ledger has no charge for; legal: finite, with the outcomes of a pair that dominates the \
             cells, or any other kind"
        }
        "private-selection" => {
            "is private-selection, which a ledger has no charge for; legal: the releases of each run by themselves"
        }
        "shuffled-reports" => {
            "is shuffled-reports, which a ledger has no charge for; legal: approx-dp, with the epsilon of one report"
        }
        "truncated-laplace" => {
            "is truncated-laplace, which a ledger has no charge for; legal: laplace, without bounds"
        }
        _ => return None,
    };
    Some(PlanError::field("mechanism", problem))
}

fn read(key: &str, text: &str) -> Result<Amount, PlanError> {
    amount(text).map_err(|error| PlanError::field(key, error.to_string()))
}

/// The text of a value: a number with every digit of its double, any other text unchanged.
pub(super) fn text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Real(number) => Some(Amount::from_f64(*number)?.to_string()),
        Value::Exact(number) => Some(Amount::from_f64(number.nearest)?.to_string()),
        Value::Whole(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone().into_owned()),
        Value::TooLarge(text) => Some(text.clone()),
        _ => None,
    }
}
