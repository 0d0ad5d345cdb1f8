//! Sessions, and what is asked of them.

use counterpoint_curator::question::{Of, Question};
use counterpoint_curator::table_session::{Declared, Summed};
use counterpoint_curator::{Opening, OwnAsking, OwnOpening, Spend, Standing};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::question::{Charge, Remaining, written};
use crate::api::problem::{ILLEGAL, Problem};

/// A session that is to be opened: one of `sparse_vector`, `guess_and_check`, `sequence` and `own`. All of it is charged now.
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
    /// A mechanism that the owner registered, by its name. What it costs, and that it costs no more, is the owner's word.
    #[serde(default)]
    own: Option<String>,
}

/// What is to be opened.
pub(crate) enum Opens {
    Ours(Opening),
    Own(OwnOpening),
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
    pub(crate) fn opening(self) -> Result<Opens, Problem> {
        let one = "legal: exactly one of sparse_vector, guess_and_check, sequence and own";
        let is_ours = self.sparse_vector.is_some() || self.guess_and_check.is_some();
        if let Some(mechanism) = self.own {
            if is_ours || self.sequence.is_some() {
                return Err(ILLEGAL.of(one));
            }
            let Self { account, key, table, slot, .. } = self;
            return Ok(Opens::Own(OwnOpening { account, key, table, mechanism, slot }));
        }
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
            _ => return Err(ILLEGAL.of(one)),
        };
        let Self { account, key, table, slot, .. } = self;
        Ok(Opens::Ours(Opening { account, key, table, declared, slot }))
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
    declared: counterpoint_curator::table_session::Runs,
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

/// A question to a session: one of `sql` and `question`, a filter and one aggregate, about the session's table; or `own`, to
/// a mechanism that the owner registered.
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
    /// What a mechanism of the owner's own is asked: any JSON.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    own: Option<Value>,
}

/// A question to a mechanism of ours, or of the owner's.
#[derive(Clone)]
pub(crate) enum Asks {
    Ours(counterpoint_curator::Asking),
    Own(OwnAsking),
}

impl Asks {
    /// The account that paid, and the session's key.
    pub(crate) fn place(&self) -> (&str, &str) {
        match self {
            Self::Ours(asking) => (&asking.account, &asking.key),
            Self::Own(asking) => (&asking.account, &asking.key),
        }
    }
}

impl SessionQuestion {
    pub(crate) fn asking(self, account: String, key: String) -> Result<Asks, Problem> {
        if let Some(own) = &self.own {
            let others = [self.sql.is_some(), self.question.is_some(), self.guess.is_some()];
            if others.contains(&true) || self.epsilon.is_some() || self.rho.is_some() {
                return Err(ILLEGAL.of("legal: own alone, or a question about the session's table"));
            }
            let (name, question) = (self.name, own.to_string());
            return Ok(Asks::Own(OwnAsking { account, key, name, question }));
        }
        let (written, spend) = (written(self.sql, self.question)?, spend(self.epsilon, self.rho)?);
        let (name, guess) = (self.name, self.guess);
        Ok(Asks::Ours(counterpoint_curator::Asking { account, key, name, written, guess, spend }))
    }
}

/// An answer of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionAnswer {
    /// `"below"`, `"pass"`, or an object with one of `above` (a number, or null), `wrong`, `number` and `table`; whatever a
    /// mechanism of the owner's own says.
    #[schema(value_type = Object)]
    pub(crate) reply: Box<RawValue>,
    /// The owner's own mechanism that answered, if one did: that it costs no more than was charged is the owner's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<String>,
    /// How many answers the session has given.
    pub(crate) answered: u64,
    /// Whether it gives no more.
    pub(crate) over: bool,
    /// The ledger's entry that stored it.
    pub(crate) entry: u64,
    /// Whether it had been stored before.
    pub(crate) repeated: bool,
}
