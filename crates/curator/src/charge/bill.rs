//! Where an answer is charged.

use super::error::Error;
use counterpoint::{Relation, Release};
use counterpoint_ledger::{Hash, Request};
use counterpoint_wire::PlanError;
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
}

impl<'a> Bill<'a> {
    /// Charged to an open account, asked by nobody in particular.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str) -> Self {
        Self { account, key, analyst: None, slot: None }
    }

    /// What the ledger is asked for. The descriptions are made of the numbers that the samplers
    /// are given, digit by digit, and about the part that the data are of.
    pub(crate) fn asked(
        &self,
        releases: &[Release],
        part: Option<&Arc<str>>,
    ) -> Result<Asked, Error> {
        let described = |release: &Release| {
            let release = Release { part: part.cloned(), ..release.clone() };
            Described::of(&release).map_err(|error| Error::Unwritable(error.to_string()))
        };
        self.of(releases.iter().map(described).collect::<Result<_, _>>()?)
    }

    /// The same of releases that are described already, about a part or all of the data.
    pub(crate) fn described(
        &self,
        releases: Vec<Described>,
        part: Option<&Arc<str>>,
    ) -> Result<Asked, Error> {
        let unwritable = |error: PlanError| Error::Unwritable(error.to_string());
        let about =
            |release: Described| release.about(part.map(|part| &**part)).map_err(unwritable);
        self.of(releases.into_iter().map(about).collect::<Result<_, _>>()?)
    }

    fn of(&self, releases: Vec<Described>) -> Result<Asked, Error> {
        match self.slot {
            // A slot that is told nothing is not checked.
            _ if releases.is_empty() => Err(Error::Unwritable("it costs nothing".to_owned())),
            Some(name) => Ok(Asked::Slot { name: name.to_owned(), count: 1, run: releases }),
            None => Ok(Asked::Described(releases)),
        }
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
