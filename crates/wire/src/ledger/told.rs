//! The objects that tell programs about a ledger.

use counterpoint_budget::Amount;
use serde::{Serialize, Serializer};

use super::event::Event;
use super::record::{Cost, Promised, amount, optional_amount};
use crate::text::object::SpentSetting;

/// `status`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// The last entry's number and hash.
    pub head: String,
    /// Data sets and accounts, in the order they were opened.
    pub accounts: Vec<AccountStatus>,
}

/// What a data set or an account promises, and what is spent of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccountStatus {
    /// Its name.
    pub name: String,
    /// The data set or plan account it was opened under; `None` for a data set.
    pub parent: Option<String>,
    /// The slot of the plan account it is within.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// The part of the data it is about, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// What neighbouring data sets are.
    pub adjacency: &'static str,
    /// How many records a person has at most.
    pub records: u64,
    /// `plan`, or the filter's kind.
    pub kind: String,
    /// The Rényi order, if the kind has one.
    #[serde(with = "optional_amount")]
    pub order: Option<Amount>,
    /// What it promises as a whole, however much is spent.
    pub promise: Promised,
    /// What the first of each two totals counts.
    pub unit: &'static str,
    /// What there is to spend.
    pub capacity: Cost,
    /// What is spent.
    pub spent: Cost,
    /// How many charges there were.
    pub charges: u64,
    /// Whether it was closed.
    pub closed: bool,
    /// The slots of a plan account, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotStatus>,
    /// Analysts' shares, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<QuotaStatus>,
    /// What is spent so far as an epsilon, if asked for and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_epsilon: Option<SpentEpsilon>,
    /// What still fits an open account, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
}

/// The largest single releases that an account admits now, rounded to the safe side: each is admitted as it is described,
/// one or the other. `None` where nothing of the kind fits, or the account does not charge the kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    /// The epsilon of one release with delta 0, such as Laplace noise of scale 1/epsilon and sensitivity 1.
    #[serde(with = "optional_amount")]
    pub pure: Option<Amount>,
    /// One release of Gaussian noise.
    pub gaussian: Option<GaussianRoom>,
    /// Steps of Gaussian noise on Poisson samples.
    pub sampled: Option<SampledRoom>,
}

impl Room {
    /// What fits, for people.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let pure = self.pure.as_ref().map(|epsilon| format!("a pure release of epsilon {epsilon}"));
        let gaussian = self.gaussian.as_ref().map(|room| {
            let as_epsilon = room.epsilon.as_ref().zip(room.delta.as_ref());
            let as_epsilon = as_epsilon.map(|(epsilon, delta)| {
                format!(" (epsilon {epsilon} at delta {})", short_power(delta))
            });
            let (sigma, as_epsilon) = (&room.sigma, as_epsilon.unwrap_or_default());
            format!("Gaussian noise of sigma {sigma} for sensitivity 1{as_epsilon}")
        });
        let sampled = self.sampled.as_ref().map(|room| {
            let SampledRoom { rate, sigma, steps } = room;
            format!(
                "{steps} steps of Gaussian noise of sigma {sigma} on Poisson samples of rate {rate}"
            )
        });
        pure.into_iter().chain(gaussian).chain(sampled).collect()
    }
}

/// A small number with a power of ten.
fn short_power(amount: &Amount) -> String {
    let text = amount.to_string();
    let Some(digits) = text.strip_prefix("0.").map(|rest| rest.trim_start_matches('0')) else {
        return text;
    };
    let power = text.len() - 1 - digits.len();
    match digits.split_at_checked(1) {
        Some((first, "")) if power > 3 => format!("{first}e-{power}"),
        Some((first, rest)) if power > 3 => format!("{first}.{rest}e-{power}"),
        _ => text,
    }
}

/// The least Gaussian noise that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GaussianRoom {
    /// Its standard deviation for sensitivity 1.
    #[serde(with = "amount")]
    pub sigma: Amount,
    /// The epsilon of a Gaussian release that fits, at `delta`.
    #[serde(with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<Amount>,
    /// The delta that the account promises, if it promises one.
    #[serde(with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub delta: Option<Amount>,
}

/// The least noise with which a training fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampledRoom {
    /// The rate of the samples.
    #[serde(with = "amount")]
    pub rate: Amount,
    /// How many steps it has.
    pub steps: u64,
    /// The standard deviation of each step's noise for sensitivity 1.
    #[serde(with = "amount")]
    pub sigma: Amount,
}

/// What is spent of an open account so far: a bound that holds at all times at once, whatever is asked next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpentEpsilon {
    /// The bound, rounded up.
    #[serde(with = "amount")]
    pub epsilon: Amount,
    /// The chance with which it ever fails.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// What licenses it.
    pub theorem: &'static str,
    /// The setting it holds in.
    pub setting: SpentSetting,
}

/// `odometer`: a running bound that holds at all times at once, and the levels it is read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OdometerRead {
    /// The account, or the data set.
    pub account: String,
    /// The bound, rounded up; `None` if nothing is known: every level is passed, or more has leaked than is set aside.
    #[serde(with = "optional_amount")]
    pub epsilon: Option<Amount>,
    /// The chance with which it ever fails.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// The sum of epsilons, where every release has one.
    #[serde(with = "optional_amount")]
    pub sum: Option<Amount>,
    /// The share of delta that is set aside for the releases' own.
    #[serde(with = "amount")]
    pub leaks: Amount,
    /// What the releases' own deltas add up to.
    #[serde(with = "amount")]
    pub leaked: Amount,
    /// How many charges it was read for.
    pub charges: u64,
    /// The levels, lowest first.
    pub levels: Vec<LevelRead>,
    /// What licenses it.
    pub theorem: &'static str,
    /// The setting it holds in.
    pub setting: SpentSetting,
    /// The last entry's number and hash.
    pub head: String,
}

/// A level of an odometer: a bound that holds while divergences at an order stay within a capacity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelRead {
    /// The bound.
    #[serde(with = "amount")]
    pub epsilon: Amount,
    /// The order.
    #[serde(with = "amount")]
    pub order: Amount,
    /// What the divergences may add up to.
    #[serde(with = "amount")]
    pub capacity: Amount,
    /// What they add up to; `None` if that is not known.
    #[serde(with = "optional_amount")]
    pub spent: Option<Amount>,
    /// Whether the bound holds still.
    pub holds: bool,
}

/// How often a slot may be opened, and was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotStatus {
    /// Its name.
    pub name: String,
    /// How often it may be opened.
    pub count: u64,
    /// How often it was.
    pub used: u64,
    /// The part of the data it is about, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// An analyst's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuotaStatus {
    /// Whose.
    pub analyst: String,
    /// What there is to spend.
    pub capacity: Cost,
    /// What is spent.
    pub spent: Cost,
    /// By how many releases.
    pub releases: u64,
}

/// One entry, as `history` and `export` show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryEntry {
    /// Its number.
    pub sequence: u64,
    /// Its hash.
    pub hash: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// `history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct History {
    /// The last entry's number and hash.
    pub head: String,
    /// The entries, in order.
    pub entries: Vec<HistoryEntry>,
}

/// `responses`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Responses {
    /// The last entry's number and hash.
    pub head: String,
    /// The stored responses, in the order of their reservations.
    pub responses: Vec<Response>,
}

/// A stored response, or an answer of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Response {
    /// The account.
    pub account: String,
    /// The release's key in it.
    pub key: String,
    /// The answer's key in the session, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// Who asked, if that was said.
    pub analyst: Option<String>,
    /// Its bytes, in Base64.
    #[serde(rename = "response_base64", serialize_with = "base64")]
    pub bytes: Vec<u8>,
}

/// Something that was done, or had been done before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done {
    /// `done`.
    pub outcome: &'static str,
    /// The ledger's head after it.
    pub head: String,
    /// What one should know before relying on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `pending`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// The last entry's number and hash.
    pub head: String,
    /// What is debited and not over, in the order of the reservations.
    pub pending: Vec<PendingKey>,
}

/// A key that is debited and without a response, or a session that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingKey {
    /// The account.
    pub account: String,
    /// The key.
    pub key: String,
    /// Who asked, if that was said.
    pub analyst: Option<String>,
    /// The entry that made the reservation.
    pub entry: u64,
    /// Whether it is a session.
    pub session: bool,
    /// How many answers the session has; `None` if it has not begun.
    pub answered: Option<u64>,
}

/// `session`: what may be known of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionStatus {
    /// The account.
    pub account: String,
    /// The key.
    pub key: String,
    /// Who asked, if that was said.
    pub analyst: Option<String>,
    /// The entry that made the reservation.
    pub entry: u64,
    /// The entry that began it, if it has begun.
    pub begun: Option<u64>,
    /// The entry that ended it, if it is over.
    pub ended: Option<u64>,
    /// The keys of its answers, in order.
    pub answers: Vec<String>,
    /// The last entry's number and hash.
    pub head: String,
}

/// `price`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Price {
    /// The account.
    pub account: String,
    /// What a reservation would cost.
    pub charge: Cost,
    /// What the charge is an amount of.
    pub unit: &'static str,
    /// Whether one would be made now.
    pub fits: bool,
    /// Whose budget is too short, if one is.
    pub refusal: Option<Short>,
    /// The last entry's number and hash.
    pub head: String,
    /// What one should know before relying on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `reserve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reserved {
    /// `reserved` now, `pending` if it was before, `committed` if there is a response.
    pub outcome: &'static str,
    /// The account.
    pub account: String,
    /// The release's key in it.
    pub key: String,
    /// The entry that made the reservation.
    pub entry: u64,
    /// What it cost, if that was now.
    pub charge: Option<Cost>,
    /// What the charge is an amount of.
    pub unit: &'static str,
    /// The stored response in Base64, if there is one: to be shown in place of a new one.
    #[serde(rename = "response_base64", serialize_with = "optional_base64")]
    pub response: Option<Vec<u8>>,
    /// The ledger's head.
    pub head: String,
    /// What one should know before relying on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `commit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Committed {
    /// `committed`.
    pub outcome: &'static str,
    /// The account.
    pub account: String,
    /// The release's key in it.
    pub key: String,
    /// The entry that stored the response.
    pub entry: u64,
    /// Whether an earlier call stored it.
    pub repeated: bool,
    /// The stored response in Base64: only this may be shown.
    #[serde(rename = "response_base64", serialize_with = "base64")]
    pub response: Vec<u8>,
    /// The ledger's head.
    pub head: String,
}

/// A definite no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct No {
    /// `refused`, or `broken`.
    pub outcome: &'static str,
    /// Why, in one line.
    pub reason: String,
    /// Whose budget, if one refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Short>,
}

/// A budget that is too short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Short {
    /// Whose.
    pub by: String,
    /// Which total.
    pub what: String,
    /// What was asked for.
    #[serde(with = "amount")]
    pub asked: Amount,
    /// What is left.
    #[serde(with = "amount")]
    pub left: Amount,
    /// What there was.
    #[serde(with = "amount")]
    pub capacity: Amount,
    /// With so many times the noise what was asked for would fit, where that is known.
    #[serde(with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub noise: Option<Amount>,
    /// What would still fit, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
}

/// `verify`, where nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// `verified`.
    pub outcome: &'static str,
    /// The head that the history leads to.
    pub head: String,
    /// The head that was expected, and found.
    pub expected: Option<String>,
    /// The head of the checkpoint that verification began at, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What is not excluded.
    pub not_excluded: Vec<String>,
}

macro_rules! json {
    ($($name:ident),*) => {$(
        impl $name {
            /// One JSON object.
            ///
            /// # Errors
            /// None that can be named: it can always be written.
            pub fn json(&self) -> Result<String, serde_json::Error> {
                serde_json::to_string(self)
            }
        }
    )*};
}

json!(
    OdometerRead,
    Status,
    History,
    Responses,
    Response,
    Pending,
    SessionStatus,
    Price,
    Done,
    Reserved,
    Committed,
    No,
    Verified
);

fn base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encoded(bytes))
}

fn optional_base64<S: Serializer>(
    bytes: &Option<Vec<u8>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match bytes {
        Some(bytes) => serializer.serialize_some(&encoded(bytes)),
        None => serializer.serialize_none(),
    }
}

/// Base64 with padding (RFC 4648, section 4).
fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_standards() {
        // RFC 4648, section 10.
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in cases {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
    }
}
