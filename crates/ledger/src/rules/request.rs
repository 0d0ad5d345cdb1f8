//! Requests for releases.

use counterpoint::{Adjacency, Relation};
use counterpoint_wire::ledger::{Cost, Event, ReleaseRequest};

use super::chain::Hash;

/// A request for a release, to be charged to an account.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The account.
    pub account: &'a str,
    /// The caller's name for this release, within the account. The same key is charged once.
    pub key: &'a str,
    /// The analyst who asks.
    pub analyst: Option<&'a str>,
    /// The releases, or openings of a slot, that are asked for.
    pub asked: &'a ReleaseRequest,
    /// True for a session, whose answers are given one by one. It is debited in full.
    pub session: bool,
    /// The digest of the question that is asked at this price, if there is one. The key then stands for this question
    /// too.
    pub question: Option<Hash>,
    /// The name of the owner's mechanism, if such a mechanism gives the answer. The owner vouches that the charge covers
    /// the mechanism.
    pub owner_mechanism: Option<&'a str>,
    /// The digest of the analyst's own key for this request, if there is one. From now on that key stands for this
    /// release, and no other release is reserved under it.
    pub alias: Option<Hash>,
    /// The adjacency that the request states, if any. It must be that of the data set.
    pub adjacency: Option<Adjacency>,
    /// The number of records of a person that the request states, if any. It must be that of the data set.
    pub records: Option<u64>,
}

impl<'a> Request<'a> {
    /// A request that names no analyst.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str, asked: &'a ReleaseRequest) -> Self {
        Self {
            account,
            key,
            analyst: None,
            asked,
            session: false,
            question: None,
            owner_mechanism: None,
            alias: None,
            adjacency: None,
            records: None,
        }
    }

    /// States the neighbouring relation, which must be that of the data set.
    #[must_use]
    pub fn with_relation(self, relation: Relation) -> Self {
        let (adjacency, records) = (Some(relation.adjacency()), Some(relation.records()));
        Self { adjacency, records, ..self }
    }
}

/// The digest of a request: two requests are the same if their digests are.
pub(crate) fn digest(request: &Request<'_>) -> Hash {
    let event = Event::Reserve {
        at: 0,
        account: request.account.to_owned(),
        key: request.key.to_owned(),
        analyst: request.analyst.map(str::to_owned),
        session: request.session,
        question: request.question.map(|question| question.to_string()),
        own: request.owner_mechanism.map(str::to_owned),
        release: request.asked.without_defaults(),
        charge: Cost::default(),
    };
    // Every event can be written.
    Hash::of(event.body().unwrap_or_default().as_bytes())
}
