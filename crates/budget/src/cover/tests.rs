//! Every pair of kinds: a slot, and something much smaller that may or may not be run in it.

use super::*;
use crate::{Concurrency, Filter, PlanAccount, Promise};
use counterpoint::mechanism::{
    Adjacency, CellPair, FinitePair, MaxNoise, RenyiCurve, ScoreChanges, Shifts,
};
use counterpoint::quantity::{
    Buckets, Delta, Epsilon, Mu, NoiseScale, Order, OutOfRangeError, Rate, Rho, Sensitivity,
    WholeSensitivity,
};
use std::collections::BTreeSet;

/// Defines a list of the names of an enum's variants, and a function from a value to its variant's name. A new variant
/// does not compile until it is named here; `no_kind_is_missing` then fails until the table has the variant.
macro_rules! variants {
    ($of:ident, $all:ident, $name:ident: $($variant:ident)*) => {
        const $all: &[&str] = &[$(stringify!($variant)),*];
        fn $name(value: &$of) -> &'static str {
            match value { $($of::$variant { .. } => stringify!($variant)),* }
        }
    };
}
variants!(Promise, PROMISES, promise_name: ApproxDp Zcdp Gdp Renyi);
variants!(Basis, BASES, basis_name: Same LessOfTheSame Guarantee Divergences Outcomes
    TotalVariation Profile Gaussians OneByOne);

/// The rule by which a slot (row) covers a query (column): l less of the same, g guarantee, d divergences, o outcomes,
/// t total variation, p profile. A point means that the query is refused. The columns are in the order of the rows:
/// pure mechanisms; mechanisms that leak; mechanisms without a largest loss; curves.
///
/// - A slot with a symmetric pair covers pure mechanisms. If the pair leaks, the slot covers every mechanism with a
///   profile. If the pair has no largest loss, the slot also covers its own kind.
/// - A slot for exponential mechanisms, or for a sample whose pair is not symmetric, covers its own kind. If such a
///   sample has finitely many losses, the slot also covers pure mechanisms; but no mechanism that leaks, because the
///   sample leaks in one direction alone.
/// - A slot with a curve covers mechanisms with divergences at the curve's orders, and mechanisms that leak if the
///   curve has a leak beside it.
const TABLE: &str = "
    pure                ggggggggggggggggg ..... ....... .....
    laplace             tlttttttttttltttt ..... ....... .....
    geometric           ttltttttttttttttt ..... ....... .....
    buckets             tttltttttttttlttt ..... ....... .....
    exponential         ....l..........l. ..... ....... .....
    staircase           ttttttttttttttttt ..... ....... .....
    sparse-vector       ttttttttttttttttt ..... ....... .....
    above-threshold     ttttttttttttttttt ..... ....... .....
    noisy-max           ttttttttttttttttt ..... ....... .....
    asymmetric          pppppppppoopppopp ..... ....... .....
    symmetric           tttttttttootttott ..... ....... .....
    sampled-pure        ppppppppppplppppp ..... ....... .....
    sampled-laplace     ............l.... ..... ....... .....
    sampled-buckets     ppppppppppppplppp ..... ....... .....
    sampled-symmetric   ppppppppppppppppp ..... ....... .....
    sampled-exponential ...............l. ..... ....... .....
    cells               ppppppppppppppppp ..... ....... .....

    approx-dp           ggggggggggggggggg ggggg ppppppp ppppp
    name-and-shame      ttttttttttttttttt plppp ppppppp ppppp
    leaky               tttttttttootttott ppopo ppppppp ppppp
    sampled-approx      ppppppppppplppppp ...l. ....... .....
    sampled-leaky       ppppppppppppppppp ..... ....... .....

    gaussian            ttttttttttttttttt ..... ll.l... .....
    gdp                 ttttttttttttttttt ..... ll..... .....
    discrete            ttttttttttttttttt ..... ..l.l.. .....
    sampled-gaussian    ................. ..... ...l... .....
    sampled-discrete    ................. ..... ....l.. .....
    sampled-gdp         ................. ..... ....... .....
    mixture             ................. ..... ....... .....

    zcdp                ddddddddddddddddd ..... ddd.... d....
    zcdp-leak           ddddddddddddddddd ddddd ddd.... dd...
    tcdp                ddddddddddddddddd ..... ddd.... d.d..
    rdp                 ddddddddddddddddd ..... dddd.dd d.ddd
    rdp-one             ddddddddddddddddd ..... dddd.dd d.ddd
";

/// The rows: a kind, and what it covers of each kind.
fn table() -> Vec<(&'static str, Vec<char>)> {
    let rows = TABLE.lines().filter_map(|line| line.trim().split_once(' '));
    rows.map(|(kind, cells)| (kind, cells.chars().filter(|c| *c != ' ').collect())).collect()
}

fn letter(basis: Option<Basis>) -> char {
    match basis.as_ref().map(basis_name) {
        Some("LessOfTheSame") => 'l',
        Some("Guarantee") => 'g',
        Some("Divergences") => 'd',
        Some("Outcomes") => 'o',
        Some("TotalVariation") => 't',
        Some("Profile") => 'p',
        Some(_) => '?',
        None => '.',
    }
}

/// A release of a kind. At size 1, its outputs on neighbouring data sets are about as far apart as epsilon 1 or mu 1
/// allows.
fn sample(kind: &str, size: f64) -> Query {
    made(kind, size).unwrap().unwrap_or_else(|| panic!("{kind} is no kind"))
}

fn made(kind: &str, size: f64) -> Result<Option<Query>, OutOfRangeError> {
    let (epsilon, delta) = (Epsilon::new(size)?, Delta::new(leak_of(size))?);
    let (one, square) = (Sensitivity::new(1.0)?, 0.5 * size * size);
    let steps = WholeSensitivity::new((20.0 * size) as u64)?;
    let finite = |outcomes: &[(f64, f64)]| {
        let (p, q): (Vec<f64>, Vec<f64>) = outcomes.iter().copied().unzip();
        Mechanism::Finite(FinitePair::new(&p, &q).unwrap())
    };
    let table = |orders: &[f64]| {
        let taus: Vec<f64> = orders.iter().map(|a| a * square).collect();
        Mechanism::Rdp(RenyiCurve::new(orders, &taus).unwrap())
    };
    let up = 1.0 / (1.0 + (-size).exp());
    let (down, leak) = (1.0 - up, leak_of(size));
    let (inner, rate) =
        kind.split_once("sampled-").map_or((kind, None), |(_, kind)| (kind, Some(0.5)));
    let mechanism = match inner {
        "pure" => Guarantee::pure(size)?.into(),
        "approx-dp" | "approx" => Mechanism::ApproxDp(Guarantee { epsilon, delta }),
        "laplace" => Mechanism::Laplace { scale: NoiseScale::new(1.0 / size)?, sensitivity: one },
        "geometric" => Mechanism::Geometric {
            scale: NoiseScale::new(2.0 / size)?,
            sensitivity: WholeSensitivity::new(2)?,
        },
        "buckets" => Mechanism::RandomizedResponse { epsilon, buckets: Buckets::new(3)? },
        "exponential" => Mechanism::Exponential { epsilon },
        "staircase" => Mechanism::Staircase { epsilon, gamma: None },
        "sparse-vector" => {
            let half = Epsilon::new(0.5 * size)?;
            Mechanism::SparseVector { threshold: half, queries: half }
        }
        "above-threshold" => {
            let half = Epsilon::new(0.5 * size)?;
            Mechanism::AboveThreshold { threshold: half, queries: half }
        }
        "noisy-max" => Mechanism::NoisyMax {
            noise: MaxNoise::Laplace,
            scale: NoiseScale::new(2.0 / size)?,
            sensitivity: one,
            scores: ScoreChanges::Any,
        },
        "asymmetric" => {
            let all = 2.0 * size.exp() + 1.0 + (-size).exp();
            let (most, least) = (2.0 * size.exp() / all, (-size).exp() / all);
            finite(&[(most, 0.5), (1.0 / all, 0.25), (least, 0.25)])
        }
        "symmetric" => finite(&[(0.5 * up, 0.5 * down), (0.5 * down, 0.5 * up), (0.5, 0.5)]),
        "leaky" => {
            let keep = 1.0 - leak;
            let (p, q) = (up * keep, down * keep);
            finite(&[(leak, 0.0), (p, q), (q, p), (0.0, leak)])
        }
        "name-and-shame" => Mechanism::NameAndShame { delta },
        "gaussian" => Mechanism::Gaussian { sigma: NoiseScale::new(1.0 / size)?, sensitivity: one },
        "gdp" => Mechanism::Gdp { mu: Mu::new(size)? },
        "discrete" => {
            Mechanism::DiscreteGaussian { sigma: NoiseScale::new(20.0)?, sensitivity: steps }
        }
        "cells" => {
            let list = [[up, down, 0.0, size], [down, up, -size, 0.0]];
            let column = |at: usize| list.map(|cell| cell[at]);
            Mechanism::Cells(CellPair::new(&column(0), &column(1), &column(2), &column(3)).unwrap())
        }
        "mixture" => {
            let shifts = Shifts::new(&[0.5 * size, size], &[0.5, 0.5]).unwrap();
            Mechanism::GaussianMixture { sigma: NoiseScale::new(1.0)?, shifts }
        }
        "zcdp" => Mechanism::Zcdp { rho: Rho::new(square)?, delta: Delta::new(0.0)? },
        "zcdp-leak" => Mechanism::Zcdp { rho: Rho::new(square)?, delta },
        "tcdp" => Mechanism::Tcdp { rho: Rho::new(square)?, omega: Order::new(10.0 / size)? },
        "rdp" => table(&[2.0, 8.0]),
        "rdp-one" => table(&[8.0]),
        _ => return Ok(None),
    };
    let rate = rate.map(Rate::new).transpose()?;
    Ok(Some(Query::from(Release { rate, ..Release::from((mechanism, Count::ONE)) })))
}

/// The leak at a size: a tenth at size one, and nearly zero at small sizes.
fn leak_of(size: f64) -> f64 {
    (0.1 * size * size * size).min(0.6)
}

/// Terms that allow queries to interleave, unless one of the kinds is a curve with a leak beside it.
fn terms(kinds: [&str; 2]) -> Terms {
    let concurrency = if kinds.contains(&"zcdp-leak") {
        Concurrency::Sequential
    } else {
        Concurrency::Concurrent
    };
    Terms { concurrency, ..Terms::new(Adjacency::AddRemove) }
}

fn cover(slot: &str, opened: &str, size: f64) -> Option<Basis> {
    covers(&[sample(slot, 1.0)], &[sample(opened, size)], terms([slot, opened])).ok()
}

#[test]
fn every_pair_of_kinds_is_licensed_or_refused() {
    let (rows, mut unlike) = (table(), Vec::new());
    for (slot, cells) in &rows {
        assert_eq!(cells.len(), rows.len(), "{slot}");
        for ((opened, _), expected) in rows.iter().zip(cells) {
            let found = letter(cover(slot, opened, 0.05));
            if found != *expected {
                unlike.push(format!("{opened} in {slot}: {found}"));
            }
            // A query that is several times as large as the slot is never covered.
            assert_eq!(cover(slot, opened, 8.0), None, "{opened} in {slot}");
        }
        assert_eq!(cover(slot, slot, 1.0), Some(Basis::Same), "{slot}");
    }
    assert!(unlike.is_empty(), "{unlike:?}");
}

/// Fails until a new mechanism has a row of the table, a new promise an account, and a new basis a letter.
#[test]
fn no_kind_is_missing() {
    let rows = table();
    let mechanisms: BTreeSet<&str> =
        rows.iter().map(|(kind, _)| sample(kind, 1.0).release().mechanism.kind()).collect();
    // A sample of a fixed size has no meaning where people are added and removed; the others are for plans only.
    let left_out = [
        "gaussian-subset",
        "gaussian-allocation",
        "gaussian-batch",
        "gaussian-draws",
        "private-selection",
        "truncated-laplace",
        "shuffled-reports",
    ];
    let all = Mechanism::KINDS.iter().copied().filter(|name| !left_out.contains(name));
    assert_eq!(mechanisms, all.collect());
    let promises: BTreeSet<&str> = accounts(terms(["pure"; 2]))
        .iter()
        .map(|(_, filter)| promise_name(filter.promise()))
        .collect();
    assert_eq!(promises, PROMISES.iter().copied().collect());
    let letters: BTreeSet<char> = rows.iter().flat_map(|(_, cells)| cells.clone()).collect();
    // One letter is the point. Three bases have no letter: `Same`, and the two for lists.
    assert_eq!(letters.len() - 1 + 3, BASES.len());
}

/// Every kind of account, small, and the kind of its promise.
fn accounts(terms: Terms) -> Vec<(&'static str, Filter)> {
    let exact = |value: f64| Amount::from_f64(value).unwrap();
    let size = 0.05;
    let (epsilon, delta) = (|| exact(size), || exact(leak_of(size)));
    let rho = || exact(0.5 * size * size);
    let order = Order::new(8.0).unwrap();
    let made = [
        ("pure", Filter::sums(epsilon(), Amount::ZERO, terms)),
        ("approx-dp", Filter::sums(epsilon(), delta(), terms)),
        ("approx-dp", Filter::renyi_for(epsilon(), delta(), &[], terms)),
        ("approx-dp", Filter::zcdp(epsilon(), delta(), Amount::ZERO, terms)),
        ("approx-dp", Filter::gdp(epsilon(), delta(), terms)),
        ("zcdp", Filter::zcdp_budget(rho(), Amount::ZERO, terms)),
        ("zcdp-leak", Filter::zcdp_budget(rho(), delta(), terms)),
        ("gdp", Filter::gdp_budget(epsilon(), terms)),
        ("rdp-one", Filter::renyi_budget(order, rho().times(8), terms)),
    ];
    made.map(|(kind, filter)| (kind, filter.unwrap())).into()
}

/// An account fits where its promise does, whatever it adds up inside.
#[test]
fn accounts_fit_by_their_promise() {
    let rows = table();
    for (slot, cells) in &rows {
        for (kind, _) in accounts(terms(["pure"; 2])) {
            let terms = terms([slot, kind]);
            let column = rows.iter().position(|(other, _)| *other == kind).unwrap();
            for (_, filter) in accounts(terms).iter().filter(|(other, _)| *other == kind) {
                let mut account = PlanAccount::new(vec![sample(slot, 1.0)], terms).unwrap();
                let found = letter(account.open_filter(0, filter).ok());
                assert_eq!(found, cells[column], "{filter:?} in {slot}");
            }
        }
    }
}

/// Where queries interleave, every slot refuses a curve with a leak beside it, and such a curve cannot be a slot.
#[test]
fn curves_with_leaks_are_refused_where_queries_interleave() {
    let interleaved = Terms::new(Adjacency::AddRemove);
    for (slot, _) in table() {
        let leaky = [sample("zcdp-leak", 0.05)];
        let refused = covers(&[sample(slot, 1.0)], &leaky, interleaved);
        assert!(matches!(refused, Err(CoverError::Filter(FilterError::NotConcurrent { .. }))));
    }
    assert!(PlanAccount::new(vec![sample("zcdp-leak", 1.0)], interleaved).is_err());
}

/// A slot for a mechanism on a sample does not cover the mechanism on all data.
#[test]
fn outcomes_on_a_sample_do_not_cover_all_of_them() {
    for (slot, opened) in [("sampled-symmetric", "symmetric"), ("sampled-leaky", "leaky")] {
        assert_eq!(cover(slot, opened, 1.0), None, "{opened} in {slot}");
        assert!(cover(opened, slot, 1.0).is_some(), "{slot} in {opened}");
    }
}
