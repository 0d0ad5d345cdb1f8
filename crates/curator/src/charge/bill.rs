//! The account and key under which an answer is charged.

use super::error::Error;
use counterpoint::{Relation, Release};
use counterpoint_ledger::{Hash, Request};
use counterpoint_wire::PlanError;
use counterpoint_wire::ledger::{ReleaseRecord, ReleaseRequest};
use std::sync::Arc;

/// The account that an answer is charged to, and the key that it is charged under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill<'a> {
    /// The account.
    pub account: &'a str,
    /// The caller's key for this question in the account. The key is charged once.
    pub key: &'a str,
    /// The analyst who asks.
    pub analyst: Option<&'a str>,
    /// The slot that pays, in a plan account. It is opened once.
    pub slot: Option<&'a str>,
}

impl<'a> Bill<'a> {
    /// A bill to an account that is no plan, without an analyst.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str) -> Self {
        Self { account, key, analyst: None, slot: None }
    }

    /// The charge of releases about a part of the data, or all of it. The descriptions hold exactly the numbers that
    /// the samplers are given.
    pub(crate) fn charge_for(
        &self,
        releases: &[Release],
        part: Option<&Arc<str>>,
    ) -> Result<ReleaseRequest, Error> {
        let described = |release: &Release| {
            let release = Release { part: part.cloned(), ..release.clone() };
            ReleaseRecord::from_release(&release)
                .map_err(|error| Error::Unwritable(error.to_string()))
        };
        self.charge(releases.iter().map(described).collect::<Result<_, _>>()?)
    }

    /// The charge of releases that are described already, about a part of the data or all of it.
    pub(crate) fn charge_for_described(
        &self,
        releases: Vec<ReleaseRecord>,
        part: Option<&Arc<str>>,
    ) -> Result<ReleaseRequest, Error> {
        let unwritable = |error: PlanError| Error::Unwritable(error.to_string());
        let about =
            |release: ReleaseRecord| release.in_part(part.map(|part| &**part)).map_err(unwritable);
        self.charge(releases.into_iter().map(about).collect::<Result<_, _>>()?)
    }

    fn charge(&self, releases: Vec<ReleaseRecord>) -> Result<ReleaseRequest, Error> {
        match self.slot {
            // The ledger does not check a slot's opening that runs nothing.
            _ if releases.is_empty() => Err(Error::Unwritable("it costs nothing".to_owned())),
            Some(name) => {
                Ok(ReleaseRequest::Slot { name: name.to_owned(), count: 1, run: releases })
            }
            None => Ok(ReleaseRequest::Described(releases)),
        }
    }

    /// The ledger's request to reserve a charge, for a question about data with this relation.
    pub(crate) fn request(
        &self,
        charge: &'a ReleaseRequest,
        relation: Relation,
        question: Hash,
        session: bool,
    ) -> Request<'a> {
        let request = Request::new(self.account, self.key, charge).with_relation(relation);
        Request { analyst: self.analyst, question: Some(question), session, ..request }
    }
}
