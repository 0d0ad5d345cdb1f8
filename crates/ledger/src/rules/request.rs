//! Requests for releases.

use counterpoint::{Adjacency, Relation};
use counterpoint_wire::ledger::{Asked, Cost, Event};

use super::chain::Hash;

/// What is asked of an account.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The account.
    pub account: &'a str,
    /// The caller's name for this release, in the account. The same key is charged once.
    pub key: &'a str,
    /// Who asks.
    pub analyst: Option<&'a str>,
    /// For what.
    pub asked: &'a Asked,
    /// Whether answers are given one by one: it is then a session, debited in full.
    pub session: bool,
    /// The digest of the question that is asked at this price, if that is said: the key stands
    /// for it too.
    pub question: Option<Hash>,
    /// The name of the owner's own mechanism that answers, if it is one: what it is charged as is the owner's word.
    pub own: Option<&'a str>,
    /// The digest of the analyst's own key for this request, if there is one. It stands for the release from now on, and
    /// under it nothing else is reserved.
    pub alias: Option<Hash>,
    /// What the request says neighbours are, if it does: it must be what the data set says.
    pub adjacency: Option<Adjacency>,
    /// How many records the request says a person has, if it does: as many as the data set says.
    pub records: Option<u64>,
}

impl<'a> Request<'a> {
    /// A request by nobody in particular.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str, asked: &'a Asked) -> Self {
        Self {
            account,
            key,
            analyst: None,
            asked,
            session: false,
            question: None,
            own: None,
            alias: None,
            adjacency: None,
            records: None,
        }
    }

    /// The same about data with this relation, which must be the data set's.
    #[must_use]
    pub fn under(self, relation: Relation) -> Self {
        let (adjacency, records) = (Some(relation.adjacency()), Some(relation.records()));
        Self { adjacency, records, ..self }
    }
}

/// What makes two requests the same.
pub(crate) fn digest(request: &Request<'_>) -> Hash {
    let event = Event::Reserve {
        at: 0,
        account: request.account.to_owned(),
        key: request.key.to_owned(),
        analyst: request.analyst.map(str::to_owned),
        session: request.session,
        question: request.question.map(|question| question.to_string()),
        own: request.own.map(str::to_owned),
        release: request.asked.normal(),
        charge: Cost::default(),
    };
    // Every event can be written.
    Hash::of(event.body().unwrap_or_default().as_bytes())
}
