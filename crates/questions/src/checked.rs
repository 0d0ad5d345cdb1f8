//! A question that is legal for a table, by what is public about it alone; and what its answer is measured with.

use crate::illegal::Illegal;
use crate::public::{Column, Key, Kind, Table};
use crate::question::{Aggregate, Condition, Of, Question, Share, Values};
use counterpoint::Relation;
use counterpoint_mechanisms::{Bounds, Contribution, Measurement, Query, Recipe, Spread, Style};
use serde::Serialize;
use std::collections::BTreeSet;

/// The most aggregates of a question.
pub const MOST_AGGREGATES: usize = 20;
/// The most groups that a question answers for, and the most numbers of an answer.
pub const MOST_CELLS: usize = 10_000;
/// The most edges and candidates, and conditions.
pub const MOST_PLACES: usize = 2_000;
const MOST_CONDITIONS: usize = 200;
/// Where nothing is said, a quantile is one of so many numbers.
const CANDIDATES: usize = 1_001;
/// The confidence of the intervals that are drawn with quantiles, unless something else is said.
const CONFIDENCE: f64 = 0.95;

/// What an answer may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spend {
    /// In pure differential privacy: Laplace noise.
    Epsilon(f64),
    /// In zero-concentrated differential privacy: Gaussian noise.
    Rho(f64),
    /// What discrete Gaussian noise of this very sigma costs: counts alone.
    Sigma(f64),
    /// What this very noise costs, for a question of one aggregate: what was planned.
    Style(Style),
}

/// One aggregate, resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is called. That makes no other question of it.
    #[serde(skip)]
    pub name: String,
    /// What is asked of the rows of a group.
    pub query: Query,
    /// The column that it is about, the first of the query's if there are several; none if rows or people are counted.
    pub column: Option<String>,
    /// The query's other columns, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Where this holds, the value of a row is 1, and 0 where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indicator: Option<Condition>,
    /// Whether people are counted, not rows.
    pub people: bool,
    /// Whether rows without a value of the column are left out, so that how many are used is not public.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skips_missing: bool,
    /// The columns without a value of which rows are left out. They follow from the table's description.
    #[serde(skip)]
    pub required: Vec<String>,
}

/// A column that is grouped by, and its keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grouping {
    /// The column.
    pub column: String,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A legal question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    table: String,
    filter: Option<Condition>,
    groupings: Vec<Grouping>,
    parts: Vec<Part>,
    rows: u64,
    groups: u64,
    each: u64,
    #[serde(skip)]
    relation: Relation,
    #[serde(skip)]
    people: Option<u64>,
    /// Whether every row is a person's, and used.
    #[serde(skip)]
    whole: bool,
    /// Whether a person may have more rows than are used, among which each question makes its own choice.
    #[serde(skip)]
    chooses: bool,
}

impl Part {
    /// The query's columns, in its order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.column.iter().chain(&self.others).map(String::as_str)
    }
}

impl Question {
    /// Checks a question against what is public about its table.
    ///
    /// # Errors
    /// [`Illegal`], naming the place and what is legal.
    pub fn check(&self, table: &Table) -> Result<Checked, Illegal> {
        let filter = self.filter.as_ref();
        let mut conditions = Size::default();
        let filter =
            filter.map(|filter| condition(filter, table, true, &mut conditions)).transpose()?;
        let groupings = groupings(&self.group, table)?;
        let length = self.aggregates.len();
        if !(1..=MOST_AGGREGATES).contains(&length) {
            return Err(Illegal::new("aggregates", format!("are {length}"), "1 to 20"));
        }
        let parts = self.aggregates.iter().map(|one| part(one, table)).collect::<Result<_, _>>()?;
        let rows = at_most("rows", self.rows, table.rows())?;
        let groups = at_most("groups", self.groups, table.groups())?.min(rows);
        let each = at_most("rows_in_group", self.rows_in_group, rows)?;
        // Rows without a person are not used, and some people may have no others.
        let whole = filter.is_none() && table.person().is_none();
        let checked = Checked {
            whole,
            chooses: table.person().is_some(),
            table: table.name().to_owned(),
            filter,
            groupings,
            parts,
            rows,
            groups,
            each,
            relation: table.relation(),
            people: table.people(),
        };
        checked.is_short()?;
        Ok(checked)
    }
}

fn at_most(place: &str, asked: Option<u64>, most: u64) -> Result<u64, Illegal> {
    match asked {
        None => Ok(most),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(Illegal::new(place, format!("is {asked}"), format!("1 to {most}"))),
    }
}

impl Checked {
    /// The table.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Which rows are used.
    #[must_use]
    pub fn filter(&self) -> Option<&Condition> {
        self.filter.as_ref()
    }

    /// What answers are given for.
    #[must_use]
    pub fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    /// What is computed.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// At most so many rows of a person; in so many groups; in one group.
    #[must_use]
    pub fn contribution(&self) -> (u64, u64, u64) {
        (self.rows, self.groups, self.each)
    }

    /// The relation of the table.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// How many groups are answered.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.groupings.iter().map(|grouping| grouping.keys.len()).product()
    }

    /// The keys of a group.
    #[must_use]
    pub fn keys(&self, cell: usize) -> Vec<&Key> {
        let mut left = cell;
        let mut keys: Vec<&Key> = Vec::new();
        for grouping in self.groupings.iter().rev() {
            let length = grouping.keys.len().max(1);
            keys.extend(grouping.keys.get(left % length));
            left /= length;
        }
        keys.reverse();
        keys
    }

    /// About how many rows a part's answer is made of, if that is public.
    #[must_use]
    pub fn public_rows(&self, part: &Part) -> Option<u64> {
        let all = self.filter.is_none() && self.groupings.is_empty() && !part.skips_missing;
        self.people.filter(|_| all)
    }

    /// The question how many rows a part's answer is made of, in each group: `SELECT COUNT(*)` of the same rows, with `(condition)
    /// AND column IS NOT NULL`. `None` where that number is public, where people are counted, and where this question and that one could
    /// use different rows of a person.
    #[must_use]
    pub fn used_rows(&self, part: &Part) -> Option<Self> {
        let differ = self.chooses && (part.skips_missing || !self.groupings.is_empty());
        let is_public = self.groupings.is_empty()
            && self.contribution_to(part).is_ok_and(|contribution| match contribution {
                Contribution::Rows(relation) => relation.is_length_public(),
                Contribution::Groups(..) => false,
            });
        if part.people || differ || is_public {
            return None;
        }
        let present = |column: &String| {
            Condition::Not(Box::new(Condition::Missing { column: column.clone() }))
        };
        let mut required: Vec<&String> = part.required.iter().collect();
        required.sort();
        required.dedup();
        let mut all: Vec<Condition> = self.filter.iter().cloned().collect();
        all.extend(required.into_iter().map(present));
        let filter = if all.len() > 1 { Some(Condition::All(all)) } else { all.pop() };
        let count = Part {
            name: "count".to_owned(),
            query: Query::count(),
            column: None,
            others: Vec::new(),
            indicator: None,
            people: false,
            skips_missing: false,
            required: Vec::new(),
        };
        let whole = self.whole && !part.skips_missing;
        Some(Self { filter, parts: vec![count], whole, ..self.clone() })
    }

    /// What an aggregate is measured with if the number of its rows is measured elsewhere, with this noise.
    ///
    /// # Errors
    /// [`Illegal`] unless it is a question of one aggregate that can share such a count.
    pub fn measured_with(&self, style: Style, count: &Measurement) -> Result<Measurement, Illegal> {
        let [part] = self.parts.as_slice() else {
            return Err(Illegal::new("aggregates", format!("are {}", self.parts.len()), "1"));
        };
        let recipe = recipe(part, Spend::Style(style), 1.0);
        let made =
            recipe.and_then(|recipe| recipe.bounded_with_count(self.contribution_to(part)?, count));
        made.map_err(|error| {
            Illegal::new(&part.name, format!("cannot be measured: {error}"), "other costs")
        })
    }

    /// What each aggregate is measured with, all groups together, if the answer may cost so much: equal parts of it for each.
    ///
    /// # Errors
    /// [`Illegal`] if no noise can be had for that.
    pub fn measured(&self, spend: Spend) -> Result<Vec<Measurement>, Illegal> {
        self.measured_at(spend, CONFIDENCE)
    }

    /// The same with another confidence of the intervals that are drawn with quantiles. It costs the same.
    ///
    /// # Errors
    /// As for [`Checked::measured`], and unless the confidence is strictly between 0 and 1.
    pub fn measured_at(&self, spend: Spend, confidence: f64) -> Result<Vec<Measurement>, Illegal> {
        let with_interval = |part: &Part, spend: Spend, parts: f64| {
            let plain = recipe(part, spend, parts)?;
            match (spend, plain.style()) {
                (Spend::Epsilon(_) | Spend::Rho(_), Style::Exponential { epsilon }) => {
                    part.query.exponential_interval(epsilon, confidence)
                }
                // What was planned is as it was planned.
                _ => Ok(plain),
            }
        };
        self.measured_by(spend, with_interval)
    }

    /// The same with no intervals for quantiles but those that were planned: a slot without a recipe was declared for these.
    ///
    /// # Errors
    /// As for [`Checked::measured`].
    pub fn measured_in_slot(&self, spend: Spend) -> Result<Vec<Measurement>, Illegal> {
        self.measured_by(spend, recipe)
    }

    fn measured_by(
        &self,
        spend: Spend,
        recipe: impl Fn(&Part, Spend, f64) -> Result<Recipe, counterpoint_mechanisms::Error>,
    ) -> Result<Vec<Measurement>, Illegal> {
        let measurement = |part: &Part| {
            let recipe = recipe(part, spend, self.parts.len() as f64);
            let made = recipe.and_then(|recipe| recipe.bounded(self.contribution_to(part)?));
            made.map_err(|error| {
                Illegal::new(&part.name, format!("cannot be measured: {error}"), "other costs")
            })
        };
        self.parts.iter().map(measurement).collect()
    }

    /// The bound on what one person contributes to a part's answer.
    ///
    /// # Errors
    /// [`counterpoint_mechanisms::Error`] for more rows of a person than can be bounded.
    pub fn contribution_to(
        &self,
        part: &Part,
    ) -> Result<Contribution, counterpoint_mechanisms::Error> {
        if self.groupings.is_empty() {
            let rows = if part.people { 1 } else { self.rows };
            return Ok(Contribution::Rows(self.within(rows, part)?));
        }
        let (rows, each) =
            if part.people { (self.rows.min(self.groups), 1) } else { (self.rows, self.each) };
        Ok(Contribution::Groups(self.relation, Spread::new(rows, each, self.groups)?))
    }

    /// The relation of the rows that a part uses, of which a person has so many: at most, unless every row is used.
    fn within(&self, rows: u64, part: &Part) -> Result<Relation, counterpoint_mechanisms::Error> {
        let relation = Relation::new(self.relation.adjacency(), rows)?;
        let all = self.whole && !part.skips_missing;
        Ok(if all { relation } else { relation.of_some() })
    }

    /// An error unless every answer can be stored.
    fn is_short(&self) -> Result<(), Illegal> {
        let cells = self.groupings.iter().try_fold(1_usize, |cells, grouping| {
            cells.checked_mul(grouping.keys.len()).filter(|cells| *cells <= MOST_CELLS)
        });
        let Some(cells) = cells else {
            return Err(Illegal::new(
                "group",
                "has more than 10000 keys together",
                "at most 10000",
            ));
        };
        // A mean is made of two numbers, a variance of three.
        let numbers: usize = self.parts.iter().map(|part| part.query.numbers().max(3)).sum();
        let all = cells.saturating_mul(numbers);
        if all > 3 * MOST_CELLS {
            let problem = format!("would have up to {all} numbers");
            return Err(Illegal::new("the answer", problem, "at most 30000: fewer groups or bins"));
        }
        Ok(())
    }
}

/// A recipe for an aggregate that may cost so much, shared equally by so many parts: for quantiles without intervals.
///
/// # Errors
/// [`counterpoint_mechanisms::Error`] if no noise can be had for that.
pub fn recipe(
    part: &Part,
    spend: Spend,
    parts: f64,
) -> Result<Recipe, counterpoint_mechanisms::Error> {
    let chosen = part.query.exponential(1.0).is_ok();
    match spend {
        Spend::Epsilon(epsilon) if chosen => part.query.exponential(epsilon / parts),
        Spend::Epsilon(epsilon) => part.query.laplace(epsilon / parts),
        // A choice of range eta is eta^2/8 concentrated (Cesar and Rogers 2021); those of several shares add up to less.
        Spend::Rho(rho) if chosen => part.query.exponential((8.0 * rho / parts).sqrt()),
        Spend::Rho(rho) => part.query.gaussian((0.5 * parts / rho).sqrt()),
        Spend::Sigma(sigma) => part.query.discrete_gaussian(sigma),
        Spend::Style(style) => Recipe::new(part.query.clone(), style),
    }
}

fn unknown(column: &str, table: &Table) -> Illegal {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let problem = format!("is no declared column of {}", table.name());
    Illegal::new(format!("{column:?}"), problem, names.join(", "))
}

fn find<'a>(column: &str, table: &'a Table) -> Result<&'a Column, Illegal> {
    table.column(column).ok_or_else(|| unknown(column, table))
}

/// A column of numbers, by its name.
///
/// # Errors
/// [`Illegal`] unless the table has such a column.
pub fn number(column: &str, table: &Table) -> Result<(String, Bounds), Illegal> {
    let found = find(column, table)?;
    match found.kind {
        Kind::Number(bounds) => Ok((found.name.clone(), bounds)),
        Kind::Category(_) => {
            Err(Illegal::new(format!("{column:?}"), "has categories", "a column with bounds"))
        }
    }
}

/// A column of categories.
fn category<'a>(column: &str, table: &'a Table) -> Result<(&'a str, &'a [Key]), Illegal> {
    let found = find(column, table)?;
    match &found.kind {
        Kind::Category(keys) => Ok((&found.name, keys)),
        Kind::Number(_) => {
            Err(Illegal::new(format!("{column:?}"), "has bounds", "a column with categories"))
        }
    }
}

fn groupings(columns: &[String], table: &Table) -> Result<Vec<Grouping>, Illegal> {
    let mut seen = BTreeSet::new();
    let grouping = |column: &String| {
        let (column, keys) = category(column, table)?;
        if !seen.insert(column.to_owned()) {
            return Err(Illegal::new(format!("{column:?}"), "is grouped by twice", "once"));
        }
        Ok(Grouping { column: column.to_owned(), keys: keys.to_vec() })
    };
    columns.iter().map(grouping).collect()
}

/// How large a filter is.
#[derive(Default)]
struct Size {
    conditions: usize,
    /// The categories that columns are compared with.
    keys: usize,
}

/// A condition, or its opposite, with the columns' own names, if it is legal. `Not` is left of `In` and `Missing` alone.
///
/// What cannot be read is neither within nor outside anything: what SQL calls unknown is false wherever it is asked.
fn condition(
    given: &Condition,
    table: &Table,
    wanted: bool,
    size: &mut Size,
) -> Result<Condition, Illegal> {
    size.conditions += 1;
    if size.conditions > MOST_CONDITIONS {
        return Err(Illegal::new("the filter", "has more than 200 conditions", "at most 200"));
    }
    let mut each = |list: &[Condition]| -> Result<Vec<Condition>, Illegal> {
        if list.is_empty() {
            return Err(Illegal::new("the filter", "has an empty list", "at least one condition"));
        }
        list.iter().map(|one| condition(one, table, wanted, size)).collect()
    };
    match given {
        Condition::All(list) if wanted => Ok(Condition::All(each(list)?)),
        Condition::All(list) => Ok(Condition::Any(each(list)?)),
        Condition::Any(list) if wanted => Ok(Condition::Any(each(list)?)),
        Condition::Any(list) => Ok(Condition::All(each(list)?)),
        Condition::Not(one) => condition(one, table, !wanted, size),
        Condition::Between { column, from, to } => {
            let (column, _) = number(column, table)?;
            [from, to].into_iter().flatten().try_for_each(|end| finite(&column, *end))?;
            let (from, to) = (from.map(one_zero), to.map(one_zero));
            match (from, to) {
                (None, None) => {
                    Err(Illegal::new(column, "is between nothing", "from, to, or both"))
                }
                _ if wanted => Ok(Condition::Between { column, from, to }),
                _ => {
                    let below = from.map(|than| Condition::Below { column: column.clone(), than });
                    let above = to.map(|than| Condition::Above { column, than });
                    Ok(Condition::Any([below, above].into_iter().flatten().collect()))
                }
            }
        }
        Condition::Above { column, than } => {
            let (column, _) = number(column, table)?;
            finite(&column, *than)?;
            let than = one_zero(*than);
            Ok(match wanted {
                true => Condition::Above { column, than },
                false => Condition::Between { column, from: None, to: Some(than) },
            })
        }
        Condition::Below { column, than } => {
            let (column, _) = number(column, table)?;
            finite(&column, *than)?;
            let than = one_zero(*than);
            Ok(match wanted {
                true => Condition::Below { column, than },
                false => Condition::Between { column, from: Some(than), to: None },
            })
        }
        Condition::In { column, keys } => {
            let (column, declared) = category(column, table)?;
            size.keys += keys.len();
            if size.keys > MOST_CELLS {
                let problem = "compares with more than 10000 categories";
                return Err(Illegal::new("the filter", problem, "at most 10000"));
            }
            let known: BTreeSet<&Key> = declared.iter().collect();
            if let Some(bad) = keys.iter().find(|key| !known.contains(key)) {
                let problem = format!("is compared with {:?}", bad.to_string());
                return Err(Illegal::new(column, problem, "its declared categories"));
            }
            let keys: BTreeSet<&Key> = keys.iter().collect();
            let chosen = declared.iter().filter(|key| keys.contains(key));
            let chosen = chosen.cloned().collect();
            Ok(opposite_unless(wanted, Condition::In { column: column.to_owned(), keys: chosen }))
        }
        Condition::Missing { column } => {
            let column = find(column, table)?.name.clone();
            Ok(opposite_unless(wanted, Condition::Missing { column }))
        }
    }
}

fn opposite_unless(wanted: bool, condition: Condition) -> Condition {
    if wanted { condition } else { Condition::Not(Box::new(condition)) }
}

/// Minus zero is zero, so that equal questions are identical.
fn one_zero(number: f64) -> f64 {
    number + 0.0
}

fn finite(column: &str, number: f64) -> Result<(), Illegal> {
    if number.is_finite() {
        return Ok(());
    }
    Err(Illegal::new(column, format!("is compared with {number}"), "a finite number"))
}

/// An aggregate, if it is legal.
///
/// # Errors
/// [`Illegal`], naming the column or what is wrong.
pub fn part(aggregate: &Aggregate, table: &Table) -> Result<Part, Illegal> {
    let name = aggregate.name.clone().unwrap_or_else(|| aggregate.of.name());
    if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
        let legal = "1 to 200 characters that can be seen";
        return Err(Illegal::new("the name of an aggregate", "is too long or unreadable", legal));
    }
    let told = |error: counterpoint_mechanisms::Error| {
        Illegal::new(&name, format!("cannot be asked: {error}"), "what the message says")
    };
    let bounded = |values: &Values| -> Result<(String, Bounds), Illegal> {
        let (column, declared) = number(&values.column, table)?;
        let Some((low, high)) = values.bounds else { return Ok((column, declared)) };
        Ok((column, Bounds::new(low, high).map_err(told)?))
    };
    let plain = |query, column| (query, vec![column], None);
    let (query, columns, indicator) = match &aggregate.of {
        Of::Count | Of::People => (Query::count(), Vec::new(), None),
        Of::Sum(values) => {
            let (column, bounds) = bounded(values)?;
            plain(Query::sum(bounds), column)
        }
        Of::Mean(values) => {
            let (column, bounds) = bounded(values)?;
            plain(Query::mean(bounds), column)
        }
        Of::Variance(values) => {
            let (column, bounds) = bounded(values)?;
            plain(Query::variance(bounds), column)
        }
        Of::Deviation(values) => {
            let (column, bounds) = bounded(values)?;
            plain(Query::deviation(bounds), column)
        }
        Of::Proportion(share) => {
            let column = find(&share.column, table)?.name.clone();
            let holds = condition(&holds(share)?, table, true, &mut Size::default())?;
            // Of values 0 and 1 those that are 1.
            let one = Bounds::new(0.5, 1.5).map_err(told)?;
            (Query::proportion(one), vec![column], Some(holds))
        }
        Of::Quantiles { column, shares, candidates } => {
            let (column, bounds) = number(column, table)?;
            let shares = shares.iter().map(|share| ratio(*share, &name));
            let shares = shares.collect::<Result<Vec<_>, _>>()?;
            let candidates = candidates.clone().unwrap_or_else(|| evenly(bounds, CANDIDATES));
            few(&name, candidates.len())?;
            plain(Query::quantiles(&shares, &candidates).map_err(told)?, column)
        }
        Of::Histogram { column, edges } => {
            let (column, _) = number(column, table)?;
            few(&name, edges.len())?;
            plain(Query::histogram(edges).map_err(told)?, column)
        }
        Of::Cdf { column, edges } => {
            let (column, _) = number(column, table)?;
            few(&name, edges.len())?;
            plain(Query::cumulative(edges).map_err(told)?, column)
        }
        Of::Covariance { column, with } => {
            let ((x, x_bounds), (y, y_bounds)) = (number(column, table)?, number(with, table)?);
            (Query::covariance(x_bounds, y_bounds), vec![x, y], None)
        }
        Of::Correlation { column, with } => {
            let ((x, x_bounds), (y, y_bounds)) = (number(column, table)?, number(with, table)?);
            (Query::correlation(x_bounds, y_bounds), vec![x, y], None)
        }
        Of::Regression { column, predictors } => {
            let predictors = predictors.iter().map(|column| number(column, table));
            let predictors = predictors.collect::<Result<Vec<_>, _>>()?;
            let (outcome, outcome_bounds) = number(column, table)?;
            let bounds: Vec<Bounds> = predictors.iter().map(|(_, bounds)| *bounds).collect();
            let query = Query::regression(&bounds, outcome_bounds).map_err(told)?;
            let columns = predictors.into_iter().map(|(column, _)| column).chain([outcome]);
            (query, columns.collect(), None)
        }
    };
    let is_complete = |name: &String| table.column(name).is_some_and(|column| column.complete);
    let required: Vec<String> = columns.iter().filter(|name| !is_complete(name)).cloned().collect();
    let skips_missing = !required.is_empty();
    let people = matches!(aggregate.of, Of::People);
    let mut columns = columns.into_iter();
    let (column, others) = (columns.next(), columns.collect());
    Ok(Part { name, query, column, others, indicator, people, skips_missing, required })
}

/// The condition whose share of the rows is asked for.
fn holds(share: &Share) -> Result<Condition, Illegal> {
    let column = share.column.clone();
    match (share.bounds, &share.keys) {
        (Some((from, to)), None) => {
            Ok(Condition::Between { column, from: Some(from), to: Some(to) })
        }
        (None, Some(keys)) => Ok(Condition::In { column, keys: keys.clone() }),
        _ => Err(Illegal::new(column, "has a share of nothing", "bounds, or categories")),
    }
}

fn few(name: &str, length: usize) -> Result<(), Illegal> {
    if length <= MOST_PLACES {
        return Ok(());
    }
    Err(Illegal::new(name, format!("has {length} edges or candidates"), "at most 2000"))
}

/// Numbers from one end to the other.
fn evenly(bounds: Bounds, count: usize) -> Vec<f64> {
    let last = (count - 1) as f64;
    let at = |place: usize| {
        let share = place as f64 / last;
        bounds.low() * (1.0 - share) + bounds.high() * share
    };
    let mut list: Vec<f64> = (0..count).map(at).collect();
    list.dedup_by(|next, before| *next <= *before);
    list
}

/// A share as the fraction with the smallest denominator that it is.
fn ratio(share: f64, name: &str) -> Result<(u32, u32), Illegal> {
    let near = |whole: u32| {
        let part = (share * f64::from(whole)).round();
        let is_it = (share - part / f64::from(whole)).abs() < 1e-12;
        (is_it && part >= 1.0 && part < f64::from(whole)).then_some((part as u32, whole))
    };
    (2..=1000).find_map(near).ok_or_else(|| {
        let legal = "a fraction strictly between 0 and 1 with a denominator of at most 1000";
        Illegal::new(name, format!("has the share {share}"), legal)
    })
}
