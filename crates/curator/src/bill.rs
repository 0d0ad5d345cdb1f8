//! Where an answer is charged.

use crate::error::Error;
use counterpoint::{Relation, Release};
use counterpoint_ledger::{Hash, Request};
use counterpoint_wire::ledger::{Asked, Described};
use std::sync::Arc;

/// Where an answer is charged, and under which name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill<'a> {
    /// The account.
    pub account: &'a str,
    /// The caller's name for this question, in the account. It is charged once.
    pub key: &'a str,
    /// Who asks.
    pub analyst: Option<&'a str>,
    /// The slot that is opened once for it, in a plan account.
    pub slot: Option<&'a str>,
    /// The part of the data set that the data are, if they are one.
    pub part: Option<&'a str>,
}

impl<'a> Bill<'a> {
    /// Charged to an open account, asked by nobody in particular, about the whole data set.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str) -> Self {
        Self { account, key, analyst: None, slot: None, part: None }
    }

    /// What the ledger is asked for. The descriptions are made of the numbers that the samplers
    /// are given, digit by digit.
    pub(crate) fn asked(&self, releases: &[Release]) -> Result<Asked, Error> {
        let part: Option<Arc<str>> = self.part.map(Arc::from);
        let described = |release: &Release| {
            let described = Described::of(&Release { part: part.clone(), ..release.clone() });
            described.map_err(|error| Error::Unwritable(error.to_string()))
        };
        let releases: Vec<Described> = releases.iter().map(described).collect::<Result<_, _>>()?;
        Ok(match self.slot {
            Some(name) => Asked::Slot { name: name.to_owned(), count: 1, run: releases },
            None => Asked::Described(releases),
        })
    }

    /// The request that stands for a question about data of a relation.
    pub(crate) fn request(
        &self,
        asked: &'a Asked,
        relation: Relation,
        question: Hash,
        session: bool,
    ) -> Request<'a> {
        let request = Request::new(self.account, self.key, asked).under(relation);
        Request { analyst: self.analyst, question: Some(question), session, ..request }
    }
}
