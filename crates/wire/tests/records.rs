//! Records of every kind as ledgers have stored them, with what they were charged: neither ever changes.
//!
//! `records/records.txt` was written by the program before kinds of mechanisms came from one catalogue. A new kind adds lines; a line that
//! stands there stays.

use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::{Amount, Filter, Query, Terms};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{ExactPlan, ReleaseRecord};

const RECORDS: &str = include_str!("records/records.txt");

/// What each kind of account charges for a query, and the doubles that the query is rounded to; a dash where there is nothing of the
/// kind.
fn charges(query: Result<Query, counterpoint_wire::PlanError>) -> String {
    let amount = |text: &str| text.parse::<Amount>().unwrap();
    let terms = Terms::new(Adjacency::AddRemove);
    let filters = [
        Filter::sums(amount("1000"), amount("0.9"), terms),
        Filter::renyi_budget(Order::new(3.0).unwrap(), amount("1000"), terms),
        Filter::zcdp_budget(amount("1000"), amount("0.9"), terms),
        Filter::gdp_budget(amount("1000"), terms),
    ];
    let charge = |filter: &Filter| {
        let charge = filter.charge(query.as_ref().ok()?).ok()?;
        let pure = charge.pure.map_or("-".to_owned(), |pure| pure.to_string());
        Some(format!("{} {} {pure}", charge.main, charge.delta))
    };
    let charges = filters.map(|filter| charge(&filter.unwrap()).unwrap_or_else(|| "-".to_owned()));
    let doubles =
        query.as_ref().ok().and_then(|query| ReleaseRecord::from_release(query.release()).ok());
    let doubles = doubles.map_or("-".to_owned(), |doubles| doubles.text().unwrap());
    format!("{}; {doubles}", charges.join("; "))
}

/// A release as plans write it, how it is stored, how it is compared, and what it is charged before and since format 4.
fn line(written: &str) -> String {
    let plan = format!(r#"{{"release":[{written}]}}"#);
    let plan = ExactPlan::parse(plan.as_bytes(), Format::Json).unwrap();
    let release = plan.releases.first().unwrap();
    let stored = release.text().unwrap();
    // A history holds nothing but this text.
    let release = ReleaseRecord::read(&stored).unwrap();
    assert_eq!(release.text().unwrap(), stored);
    let normal = release.without_defaults().text().unwrap();
    let [old, new] = [3, 4].map(|format| charges(release.query_in(format)));
    format!("{written}\n  {stored}\n  {normal}\n  {old}\n  {new}\n")
}

#[test]
fn records_of_every_kind_are_stored_and_charged_as_ever() {
    let written = RECORDS.lines().filter(|line| line.starts_with('{'));
    let now: String = written.map(line).collect();
    for (now, then) in now.lines().zip(RECORDS.lines()) {
        assert_eq!(now, then);
    }
    assert_eq!(now, RECORDS);
}

#[test]
fn every_kind_has_a_record() {
    let uncharged = ["cells", "private-selection", "truncated-laplace", "shuffled-reports"];
    for kind in counterpoint::Mechanism::KINDS.iter().filter(|kind| !uncharged.contains(kind)) {
        assert!(RECORDS.contains(&format!("{{\"mechanism\":\"{kind}\"")), "{kind}");
    }
}
