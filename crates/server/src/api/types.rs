//! What goes in and comes out, as the OpenAPI document describes it.

use counterpoint_curator::public::{Key, TableText};
use counterpoint_curator::question::{Of, Question};
use counterpoint_curator::table_session::{Declared, Summed};
use counterpoint_curator::{Ask, Number, Opening, Pay, Priced, Spend, Standing, Written};
use counterpoint_wire::ledger::{AccountStatus, Cost};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::problem::{ILLEGAL, Problem};

/// A question, and what it may cost: one of `sql` and `question`, and one of `epsilon`, `rho`, `slot` and `error`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asking {
    /// The account that pays.
    pub(crate) account: String,
    /// The caller's own name for the question: asked again under it, it has to be the same.
    #[serde(default)]
    pub(crate) key: Option<String>,
    /// As SQL.
    #[serde(default)]
    sql: Option<String>,
    /// As JSON: `table`, `filter`, `group`, `aggregates`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    question: Option<Question>,
    /// In pure differential privacy.
    #[serde(default)]
    epsilon: Option<f64>,
    /// In zero-concentrated differential privacy.
    #[serde(default)]
    rho: Option<f64>,
    /// A slot of the account's plan.
    #[serde(default)]
    slot: Option<String>,
    /// As little as gives every number this half-width.
    #[serde(default)]
    error: Option<f64>,
    /// The confidence of intervals; 0.95 if nothing is said.
    #[serde(default)]
    confidence: Option<f64>,
}

impl Asking {
    pub(crate) fn ask(self) -> Result<Ask, Problem> {
        let written = written(self.sql, self.question)?;
        let pay = match (self.epsilon, self.rho, self.slot, self.error) {
            (Some(epsilon), None, None, None) => Pay::Epsilon(epsilon),
            (None, Some(rho), None, None) => Pay::Rho(rho),
            (None, None, Some(slot), None) => Pay::Slot(slot),
            (None, None, None, Some(error)) => Pay::Error(error),
            _ => return Err(ILLEGAL.of("legal: exactly one of epsilon, rho, slot and error")),
        };
        let confidence = self.confidence.unwrap_or(0.95);
        Ok(Ask { account: self.account, written, pay, confidence })
    }
}

fn written(sql: Option<String>, question: Option<Question>) -> Result<Written, Problem> {
    match (sql, question) {
        (Some(sql), None) => Ok(Written::Sql(sql)),
        (None, Some(question)) => Ok(Written::Question(Box::new(question))),
        _ => Err(ILLEGAL.of("legal: exactly one of sql and question")),
    }
}

/// One question, or a list of them.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Askings {
    /// A list.
    Many(Vec<Asking>),
    /// One.
    One(Box<Asking>),
}

/// What something costs, in an account's currency.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Charge {
    /// How much.
    pub(crate) amount: f64,
    /// Of what.
    pub(crate) unit: String,
    /// Deltas beside it.
    pub(crate) delta: f64,
}

impl Charge {
    pub(crate) fn of(cost: &Cost, unit: &str) -> Self {
        Self { amount: cost.main.upper(), unit: unit.to_owned(), delta: cost.delta.upper() }
    }
}

/// What is left to spend.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Remaining {
    /// How much.
    pub(crate) amount: f64,
    /// Of how much at first.
    pub(crate) of: f64,
    /// Of what.
    pub(crate) unit: String,
    /// Deltas that are left beside it.
    pub(crate) delta: f64,
    /// About how many more questions of the same cost.
    pub(crate) more: Option<u64>,
    /// The same in words.
    pub(crate) words: String,
}

impl Remaining {
    pub(crate) fn of(status: &AccountStatus, more: Option<u64>) -> Self {
        let balances = status
            .quotas
            .first()
            .map_or((&status.capacity, &status.spent), |quota| (&quota.capacity, &quota.spent));
        let (capacity, spent) = balances;
        let left = |capacity: f64, spent: f64| (capacity - spent).max(0.0);
        let words = match more {
            Some(0) => "not enough for another question like this one".to_owned(),
            Some(1) => "enough for one more question like this one".to_owned(),
            Some(more) if more > 1_000_000 => {
                "more than a million questions like this one".to_owned()
            }
            Some(more) => format!("about {more} more questions like this one"),
            None => format!(
                "{} of {} {}",
                left(capacity.main.lower(), spent.main.upper()),
                capacity.main,
                status.unit
            ),
        };
        Self {
            amount: left(capacity.main.lower(), spent.main.upper()),
            of: capacity.main.lower(),
            unit: status.unit.to_owned(),
            delta: left(capacity.delta.lower(), spent.delta.upper()),
            more,
            words,
        }
    }
}

/// A key of a group: a text or a whole number.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum GroupKey {
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(String),
}

/// One number of an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct One {
    /// The group's keys, in the order of the columns grouped by.
    group: Vec<GroupKey>,
    /// Which aggregate it is of.
    name: String,
    /// The bin that it counts, from the first up to but not including the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Vec<f64>>,
    /// The share that it is the quantile of.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// The number, with noise.
    value: f64,
    /// The number without noise is no further from it, with the confidence; null for quantiles.
    half_width: Option<f64>,
    /// Within these.
    interval: Option<Vec<f64>>,
    /// With so much probability, for each number on its own.
    confidence: f64,
}

impl From<Number> for One {
    fn from(number: Number) -> Self {
        let key = |key: Key| match key {
            Key::Whole(whole) => GroupKey::Whole(whole),
            Key::Text(text) => GroupKey::Text(text),
        };
        let two = |(one, other): (f64, f64)| vec![one, other];
        Self {
            group: number.group.into_iter().map(key).collect(),
            name: number.name,
            bin: number.bin.map(two),
            share: number.share,
            value: number.value,
            half_width: number.half_width,
            interval: number.interval.map(two),
            confidence: number.confidence,
        }
    }
}

/// An answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Answered {
    /// One for each group and aggregate, bin or share.
    pub(crate) answers: Vec<One>,
    /// What this call debited: nothing if it had been asked before.
    pub(crate) cost: Charge,
    /// What is left.
    pub(crate) left: Remaining,
    /// The ledger's entry, if this call made one.
    pub(crate) entry: Option<u64>,
    /// Whether the answer had been stored before.
    pub(crate) repeated: bool,
}

/// A half-width that is known in advance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Expected {
    /// Which aggregate.
    name: String,
    /// No further from the number without noise, whatever the data are; in ranks for quantiles. Null where it depends on how
    /// many rows there are, and that is not public.
    half_width: Option<f64>,
}

/// What a question would cost.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Quote {
    /// What it would cost.
    pub(crate) cost: Charge,
    /// What is left now.
    pub(crate) left: Remaining,
    /// Whether it would be answered now.
    pub(crate) affordable: bool,
    /// Whose budget is too short, if one is.
    pub(crate) refusal: Option<String>,
    /// Whether it was answered before, so that it costs nothing.
    pub(crate) free: bool,
    /// The epsilon that noise is drawn for, if it is Laplace noise.
    pub(crate) epsilon: Option<f64>,
    /// The rho that noise is drawn for, if it is Gaussian noise.
    pub(crate) rho: Option<f64>,
    /// How far answers will be off, at the confidence asked for.
    pub(crate) expected: Vec<Expected>,
}

impl Quote {
    pub(crate) fn of(priced: Priced, unit: &str, left: Remaining) -> Self {
        let (epsilon, rho) = match priced.spend {
            Spend::Epsilon(epsilon) => (Some(epsilon), None),
            Spend::Rho(rho) => (None, Some(rho)),
        };
        let expected = priced.half_widths.into_iter();
        Self {
            cost: Charge::of(&priced.charge, unit),
            left,
            affordable: priced.refusal.is_none() || priced.is_free,
            refusal: priced.refusal.map(|refusal| refusal.to_string()),
            free: priced.is_free,
            epsilon,
            rho,
            expected: expected.map(|(name, half_width)| Expected { name, half_width }).collect(),
        }
    }
}

/// A session that is to be opened: one of `sparse_vector`, `guess_and_check` and `sequence`. All of it is charged now.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionAsked {
    /// The account that pays.
    account: String,
    /// The caller's own name for the session: letters, digits and . _ -. Opened again under it, it has to be the same.
    key: String,
    /// The table that its questions are about.
    table: String,
    /// A slot of the account's plan.
    #[serde(default)]
    slot: Option<String>,
    #[serde(default)]
    sparse_vector: Option<SparseVectorAsked>,
    #[serde(default)]
    guess_and_check: Option<GuessAndCheckAsked>,
    #[serde(default)]
    sequence: Option<Vec<StepAsked>>,
}

/// Which counts, or sums, are above a threshold. Costs 3 epsilon, and a fourth with values.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SparseVectorAsked {
    epsilon: f64,
    /// It ends with so many answers above.
    answers: u64,
    threshold: f64,
    /// Whether answers above have a value.
    #[serde(default)]
    values: bool,
    /// For sums: the column whose bounds say how far a row moves one.
    #[serde(default)]
    column: Option<String>,
    /// For sums: bounds, if not a column's own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<f64>>)]
    bounds: Option<(f64, f64)>,
}

/// Which guesses of counts, or sums, are wrong, and what would be right. Costs 4 epsilon.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GuessAndCheckAsked {
    epsilon: f64,
    /// It ends with so many corrections.
    corrections: u64,
    /// Guesses that are off by about this are wrong.
    tolerance: f64,
    /// For sums: the column whose bounds say how far a row moves one.
    #[serde(default)]
    column: Option<String>,
    /// For sums: bounds, if not a column's own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<f64>>)]
    bounds: Option<(f64, f64)>,
}

/// An aggregate, at a cost. Another may be asked in its place that costs the same.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StepAsked {
    /// The aggregate, as in a question.
    #[schema(value_type = Object)]
    of: Of,
    #[serde(default)]
    epsilon: Option<f64>,
    #[serde(default)]
    rho: Option<f64>,
}

impl SessionAsked {
    pub(crate) fn opening(self) -> Result<Opening, Problem> {
        let declared = match (self.sparse_vector, self.guess_and_check, self.sequence) {
            (Some(asked), None, None) => {
                let SparseVectorAsked { epsilon, answers, threshold, values, column, bounds } =
                    asked;
                let of = Summed { column, bounds };
                Declared::SparseVector { epsilon, answers, threshold, values, of }
            }
            (None, Some(asked), None) => {
                let GuessAndCheckAsked { epsilon, corrections, tolerance, column, bounds } = asked;
                let of = Summed { column, bounds };
                Declared::GuessAndCheck { epsilon, corrections, tolerance, of }
            }
            (None, None, Some(list)) => {
                let step = |step: StepAsked| {
                    let spend = spend(step.epsilon, step.rho)?;
                    let spend = spend.ok_or_else(|| ILLEGAL.of("legal: an epsilon or a rho"))?;
                    Ok::<_, Problem>((step.of, spend))
                };
                Declared::Sequence(list.into_iter().map(step).collect::<Result<_, _>>()?)
            }
            _ => {
                let legal = "legal: exactly one of sparse_vector, guess_and_check and sequence";
                return Err(ILLEGAL.of(legal));
            }
        };
        let Self { account, key, table, slot, .. } = self;
        Ok(Opening { account, key, table, declared, slot })
    }
}

fn spend(epsilon: Option<f64>, rho: Option<f64>) -> Result<Option<Spend>, Problem> {
    match (epsilon, rho) {
        (None, None) => Ok(None),
        (Some(epsilon), None) => Ok(Some(Spend::Epsilon(epsilon))),
        (None, Some(rho)) => Ok(Some(Spend::Rho(rho))),
        _ => Err(ILLEGAL.of("legal: an epsilon or a rho, not both")),
    }
}

/// A session that was opened.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionOpened {
    pub(crate) key: String,
    /// What this call debited: nothing if it had been opened before.
    pub(crate) cost: Charge,
    /// What is left.
    pub(crate) left: Remaining,
    /// How many answers it has given.
    pub(crate) answered: u64,
    /// Whether it gives no more.
    pub(crate) over: bool,
}

/// A session, as it stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionShown {
    account: String,
    key: String,
    table: String,
    /// What was declared.
    #[schema(value_type = Object)]
    declared: counterpoint_curator::Interactive,
    /// How many answers it has given.
    answered: u64,
    /// Whether it gives no more.
    over: bool,
}

impl From<Standing> for SessionShown {
    fn from(standing: Standing) -> Self {
        let Standing { account, key, table, declared, answered, is_over: over } = standing;
        Self { account, key, table, declared, answered, over }
    }
}

/// A list of sessions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Sessions {
    pub(crate) sessions: Vec<SessionShown>,
}

/// A question to a session: one of `sql` and `question`, a filter and one aggregate, about the session's table.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionQuestion {
    /// The caller's own name for the question: asked again under it, it has to be the same, and has the same answer.
    name: String,
    /// As SQL.
    #[serde(default)]
    sql: Option<String>,
    /// As JSON: `table`, `filter`, `aggregates`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    question: Option<Question>,
    /// The guess that is checked, for guess-and-check.
    #[serde(default)]
    guess: Option<f64>,
    /// What it costs of a sequence.
    #[serde(default)]
    epsilon: Option<f64>,
    /// What it costs of a sequence.
    #[serde(default)]
    rho: Option<f64>,
}

impl SessionQuestion {
    pub(crate) fn asking(
        self,
        account: String,
        key: String,
    ) -> Result<counterpoint_curator::Asking, Problem> {
        let (written, spend) = (written(self.sql, self.question)?, spend(self.epsilon, self.rho)?);
        let (name, guess) = (self.name, self.guess);
        Ok(counterpoint_curator::Asking { account, key, name, written, guess, spend })
    }
}

/// An answer of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionAnswer {
    /// `"below"`, `"pass"`, or an object with one of `above` (a number, or null), `wrong`, `number` and `table`.
    #[schema(value_type = Object)]
    pub(crate) reply: counterpoint_curator::Reply,
    /// How many answers the session has given.
    pub(crate) answered: u64,
    /// Whether it gives no more.
    pub(crate) over: bool,
    /// The ledger's entry that stored it.
    pub(crate) entry: u64,
    /// Whether it had been stored before.
    pub(crate) repeated: bool,
}

/// What one of several questions would cost, or why it cannot be asked.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Offer {
    /// What it would cost.
    Quote(Box<Quote>),
    /// Why it cannot be asked.
    Problem(Problem),
}

/// A quote for one question, or a list for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Offers {
    /// For one.
    One(Box<Quote>),
    /// For several, in their order.
    Many(Vec<Offer>),
}

/// A column, as it is declared.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ColumnShown {
    name: String,
    /// The bounds of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Vec<f64>>,
    /// The categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<GroupKey>>,
}

/// What is public about a table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TableShown {
    name: String,
    /// The column that says whose a row is; a row is a person if there is none.
    person: Option<String>,
    /// How many rows of a person are used at most.
    rows: u64,
    /// How many groups of a person are used at most.
    groups: u64,
    /// Which tables are neighbours.
    adjacency: String,
    /// About how many people there are, if that is public.
    people: Option<u64>,
    columns: Vec<ColumnShown>,
}

impl From<&TableText> for TableShown {
    fn from(text: &TableText) -> Self {
        let key = |key: &Key| match key {
            Key::Whole(whole) => GroupKey::Whole(*whole),
            Key::Text(text) => GroupKey::Text(text.clone()),
        };
        let column = |column: &counterpoint_curator::public::ColumnText| ColumnShown {
            name: column.name.clone(),
            bounds: column.bounds.map(|(low, high)| vec![low, high]),
            categories: column.categories.as_ref().map(|keys| keys.iter().map(key).collect()),
        };
        Self {
            name: text.name.clone(),
            person: text.person.clone(),
            rows: text.rows,
            groups: text.groups.unwrap_or(text.rows).min(text.rows),
            adjacency: text.adjacency.clone(),
            people: text.people,
            columns: text.columns.iter().map(column).collect(),
        }
    }
}

/// A list of tables.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Tables {
    pub(crate) tables: Vec<TableShown>,
}

/// Whose token it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    pub(crate) name: String,
    /// `owner`, `analyst` or `auditor`.
    pub(crate) role: String,
    /// The accounts that may be asked.
    pub(crate) accounts: Vec<String>,
}

/// How an account stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AccountShown {
    pub(crate) name: String,
    /// `plan`, or what the account adds up.
    pub(crate) kind: String,
    /// The data set or account that it is under.
    pub(crate) parent: Option<String>,
    /// What is left of it, for the asker.
    pub(crate) left: Remaining,
    /// How many charges there were.
    pub(crate) charges: u64,
    pub(crate) closed: bool,
    /// The slots of a plan.
    pub(crate) slots: Vec<SlotShown>,
}

/// A slot of a plan.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SlotShown {
    name: String,
    count: u64,
    used: u64,
}

impl AccountShown {
    pub(crate) fn of(status: &AccountStatus) -> Self {
        let slot = |slot: &counterpoint_wire::ledger::SlotStatus| SlotShown {
            name: slot.name.clone(),
            count: slot.count,
            used: slot.used,
        };
        Self {
            name: status.name.clone(),
            kind: status.kind.clone(),
            parent: status.parent.clone(),
            left: Remaining::of(status, None),
            charges: status.charges,
            closed: status.closed,
            slots: status.slots.iter().map(slot).collect(),
        }
    }
}

/// A list of accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Accounts {
    pub(crate) accounts: Vec<AccountShown>,
}

/// Whether the history is whole, and agrees with what is stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Verified {
    /// The last entry's number and hash.
    pub(crate) head: String,
    pub(crate) verified: bool,
    /// What is wrong, if something is.
    pub(crate) problem: Option<String>,
}

/// That the service is there.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    pub(crate) status: &'static str,
}
