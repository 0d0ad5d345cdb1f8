//! The objects that the ledger commands print as JSON.

use counterpoint_budget::Amount;
use serde::{Serialize, Serializer};

use super::event::Event;
use super::record::{Cost, PromiseRecord, amount, optional_amount};
use crate::text::object::SpentSetting;

/// The output of `status`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// The number and hash of the last entry.
    pub head: String,
    /// Data sets and accounts, in the order in which they were opened.
    pub accounts: Vec<AccountStatus>,
}

/// The promise of a data set or an account, and its spending.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccountStatus {
    /// The name of the data set or account.
    pub name: String,
    /// The data set or plan account that the account was opened under; `None` for a data set.
    pub parent: Option<String>,
    /// The slot of the plan account that the account was opened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// The part of the data; `None` for all of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The adjacency of neighbouring data sets.
    pub adjacency: &'static str,
    /// The largest number of records of a person.
    pub records: u64,
    /// `plan`, or the filter's kind.
    pub kind: String,
    /// The Rényi order, if the kind has one.
    #[serde(with = "optional_amount")]
    pub order: Option<Amount>,
    /// The guarantee of the account as a whole, however much is spent.
    pub promise: PromiseRecord,
    /// The unit of the main totals.
    pub unit: &'static str,
    /// The capacity: the largest total of the charges.
    pub capacity: Cost,
    /// The total of the charges.
    pub spent: Cost,
    /// The number of charges.
    pub charges: u64,
    /// True if the account was closed.
    pub closed: bool,
    /// The slots of a plan account, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotStatus>,
    /// The quotas of analysts, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<QuotaStatus>,
    /// The running bound on epsilon, if requested and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_epsilon: Option<SpentEpsilon>,
    /// The largest releases that still fit an open account, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Headroom>,
}

/// The largest single releases that an account admits now, rounded to the safe side. Each of them fits alone. `None` if no
/// release of the kind fits, or the account does not charge the kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Headroom {
    /// The epsilon of one release with delta 0, such as Laplace noise of scale 1/epsilon and sensitivity 1.
    #[serde(with = "optional_amount")]
    pub pure: Option<Amount>,
    /// One release of Gaussian noise.
    pub gaussian: Option<GaussianHeadroom>,
    /// Steps of Gaussian noise on Poisson samples.
    pub sampled: Option<SampledHeadroom>,
}

impl Headroom {
    /// Describes the releases that fit, one phrase each.
    #[must_use]
    pub fn phrases(&self) -> Vec<String> {
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
            let SampledHeadroom { rate, sigma, steps } = room;
            format!(
                "{steps} steps of Gaussian noise of sigma {sigma} on Poisson samples of rate {rate}"
            )
        });
        pure.into_iter().chain(gaussian).chain(sampled).collect()
    }
}

/// Writes a small number with a power of ten.
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
pub struct GaussianHeadroom {
    /// The standard deviation for sensitivity 1.
    #[serde(with = "amount")]
    pub sigma: Amount,
    /// The epsilon of such a release at `delta`.
    #[serde(with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<Amount>,
    /// The delta that the account promises, if it promises one.
    #[serde(with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub delta: Option<Amount>,
}

/// The least noise with which a training of many steps fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampledHeadroom {
    /// The sampling rate.
    #[serde(with = "amount")]
    pub rate: Amount,
    /// The number of steps.
    pub steps: u64,
    /// The standard deviation of each step's noise for sensitivity 1.
    #[serde(with = "amount")]
    pub sigma: Amount,
}

/// A running bound on the epsilon of an account with a filter. It holds at all times at once, whatever is asked next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpentEpsilon {
    /// The bound, rounded up.
    #[serde(with = "amount")]
    pub epsilon: Amount,
    /// The probability that the bound ever fails.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// The theorem that licenses the bound.
    pub theorem: &'static str,
    /// The setting in which the bound holds.
    pub setting: SpentSetting,
}

/// The output of `odometer`: a running bound that holds at all times at once, and the levels from which it is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OdometerStatus {
    /// The account or data set.
    pub account: String,
    /// The bound, rounded up; `None` if there is none: every level is exceeded, or the leaks exceed their share of delta.
    #[serde(with = "optional_amount")]
    pub epsilon: Option<Amount>,
    /// The probability that the bound ever fails.
    #[serde(with = "amount")]
    pub delta: Amount,
    /// The sum of the epsilons, if every release has an epsilon.
    #[serde(with = "optional_amount")]
    pub sum: Option<Amount>,
    /// The share of delta that is reserved for the releases' own deltas.
    #[serde(with = "amount")]
    pub leaks: Amount,
    /// The sum of the releases' own deltas.
    #[serde(with = "amount")]
    pub leaked: Amount,
    /// The number of charges that the bound covers.
    pub charges: u64,
    /// The levels, lowest first.
    pub levels: Vec<LevelStatus>,
    /// The theorem that licenses the bound.
    pub theorem: &'static str,
    /// The setting in which the bound holds.
    pub setting: SpentSetting,
    /// The number and hash of the last entry.
    pub head: String,
}

/// A level of an odometer: a bound that holds while divergences at an order stay within a capacity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelStatus {
    /// The bound.
    #[serde(with = "amount")]
    pub epsilon: Amount,
    /// The Rényi order.
    #[serde(with = "amount")]
    pub order: Amount,
    /// The capacity for the sum of the divergences.
    #[serde(with = "amount")]
    pub capacity: Amount,
    /// The sum of the divergences; `None` if it is not known.
    #[serde(with = "optional_amount")]
    pub spent: Option<Amount>,
    /// True while the bound holds.
    pub holds: bool,
}

/// The openings of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotStatus {
    /// The name of the slot.
    pub name: String,
    /// The number of openings.
    pub count: u64,
    /// The number of openings that were used.
    pub used: u64,
    /// The part of the data; `None` for all of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// An analyst's quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuotaStatus {
    /// The analyst.
    pub analyst: String,
    /// The capacity: the largest total of the charges.
    pub capacity: Cost,
    /// The total of the charges.
    pub spent: Cost,
    /// The number of releases.
    pub releases: u64,
}

/// An entry, as `history` and `export` print it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryEntry {
    /// The number of the entry.
    pub sequence: u64,
    /// The hash of the entry.
    pub hash: String,
    /// The event of the entry.
    #[serde(flatten)]
    pub event: Event,
}

/// The output of `history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct History {
    /// The number and hash of the last entry.
    pub head: String,
    /// The entries, in order.
    pub entries: Vec<HistoryEntry>,
}

/// The output of `responses`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Responses {
    /// The number and hash of the last entry.
    pub head: String,
    /// The stored responses, in the order of their reservations.
    pub responses: Vec<Response>,
}

/// A stored response, or an answer of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Response {
    /// The account.
    pub account: String,
    /// The release's key in the account.
    pub key: String,
    /// The answer's key in the session, if this is an answer of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// The analyst who asked, if one was named.
    pub analyst: Option<String>,
    /// The bytes of the response, in Base64.
    #[serde(rename = "response_base64", serialize_with = "base64")]
    pub bytes: Vec<u8>,
}

/// The output of a command that did its work, or found it done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Completion {
    /// `done`.
    pub outcome: &'static str,
    /// The ledger's head after the command.
    pub head: String,
    /// Warnings that belong to the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The output of `pending`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingList {
    /// The number and hash of the last entry.
    pub head: String,
    /// The keys that are debited and still open, in the order of their reservations.
    pub pending: Vec<PendingKey>,
}

/// A key that is debited and has no response, or a session that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingKey {
    /// The account.
    pub account: String,
    /// The key.
    pub key: String,
    /// The analyst who asked, if one was named.
    pub analyst: Option<String>,
    /// The entry that made the reservation.
    pub entry: u64,
    /// True if the key is a session.
    pub session: bool,
    /// The number of answers of the session; `None` if it has not begun.
    pub answered: Option<u64>,
}

/// The output of `session`: the public state of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionStatus {
    /// The account.
    pub account: String,
    /// The key.
    pub key: String,
    /// The analyst who asked, if one was named.
    pub analyst: Option<String>,
    /// The entry that made the reservation.
    pub entry: u64,
    /// The entry that began the session, if it has begun.
    pub begun: Option<u64>,
    /// The entry that ended the session, if it has ended.
    pub ended: Option<u64>,
    /// The keys of the answers, in order.
    pub answers: Vec<String>,
    /// The number and hash of the last entry.
    pub head: String,
}

/// The output of `price`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Price {
    /// The account.
    pub account: String,
    /// The cost of a reservation.
    pub charge: Cost,
    /// The unit of the charge.
    pub unit: &'static str,
    /// True if the reservation would be made now.
    pub fits: bool,
    /// The budget that is too small, if there is one.
    pub refusal: Option<Shortfall>,
    /// The number and hash of the last entry.
    pub head: String,
    /// Warnings that belong to the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The output of `reserve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReserveResult {
    /// `reserved` if this call made the reservation, `pending` if an earlier one did, `committed` if there is a response.
    pub outcome: &'static str,
    /// The account.
    pub account: String,
    /// The release's key in the account.
    pub key: String,
    /// The entry that made the reservation.
    pub entry: u64,
    /// The cost, if this call made the reservation.
    pub charge: Option<Cost>,
    /// The unit of the charge.
    pub unit: &'static str,
    /// The stored response in Base64, if there is one: it must be shown in place of a new answer.
    #[serde(rename = "response_base64", serialize_with = "optional_base64")]
    pub response: Option<Vec<u8>>,
    /// The ledger's head.
    pub head: String,
    /// Warnings that belong to the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The output of `commit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitResult {
    /// `committed`.
    pub outcome: &'static str,
    /// The account.
    pub account: String,
    /// The release's key in the account.
    pub key: String,
    /// The entry that stored the response.
    pub entry: u64,
    /// True if an earlier call stored the response.
    pub repeated: bool,
    /// The stored response in Base64. Only this answer may be shown.
    #[serde(rename = "response_base64", serialize_with = "base64")]
    pub response: Vec<u8>,
    /// The ledger's head.
    pub head: String,
}

/// The output of a command that failed for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// `refused` if a rule or a budget does not allow it, `broken` if the history has a fault.
    pub outcome: &'static str,
    /// The reason, in one line.
    pub reason: String,
    /// The budget that is too small, if a budget refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Shortfall>,
}

/// A budget that is too small for a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shortfall {
    /// The account, data set or analyst whose budget is too small.
    #[serde(rename = "by")]
    pub budget: String,
    /// The name of the total that would exceed the budget.
    #[serde(rename = "what")]
    pub total: String,
    /// The amount that was requested.
    #[serde(rename = "asked", with = "amount")]
    pub requested: Amount,
    /// The amount that remains.
    #[serde(rename = "left", with = "amount")]
    pub remaining: Amount,
    /// The whole budget.
    #[serde(with = "amount")]
    pub capacity: Amount,
    /// The factor by which the noise must grow for the request to fit, if it is known.
    #[serde(with = "optional_amount", skip_serializing_if = "Option::is_none")]
    pub noise: Option<Amount>,
    /// The largest releases that still fit, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Headroom>,
}

/// The output of `verify` for a history without faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyResult {
    /// `verified`.
    pub outcome: &'static str,
    /// The head at the end of the history.
    pub head: String,
    /// The expected head, which the history contains.
    pub expected: Option<String>,
    /// The head of the checkpoint at which verification began, if it began at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The faults that this verification cannot detect.
    pub not_excluded: Vec<String>,
}

macro_rules! json {
    ($($name:ident),*) => {$(
        impl $name {
            /// The object as JSON.
            ///
            /// # Errors
            /// None in practice: the object can always be written.
            pub fn json(&self) -> Result<String, serde_json::Error> {
                serde_json::to_string(self)
            }
        }
    )*};
}

json!(
    OdometerStatus,
    Status,
    History,
    Responses,
    Response,
    PendingList,
    SessionStatus,
    Price,
    Completion,
    ReserveResult,
    CommitResult,
    Failure,
    VerifyResult
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
#[allow(clippy::indexing_slicing, reason = "64 letters are indexed by six bits")]
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
