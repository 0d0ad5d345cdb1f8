//! What one query costs, in each currency. Exact where the cost is a decimal fraction,
//! rounded up to the grid where it is not.

use crate::amount::{Amount, GRID_PLACES, MOST_PLACES};
use crate::error::FilterError;
use crate::query::{Description, Query};
use crate::terms::{Charge, Currency, Interleaving, Terms};
use counterpoint::ask::ReleaseLoss;
use counterpoint::loss::Direction;
use counterpoint::mechanism::{Adjacency, Mechanism, Release};
use counterpoint::quantity::Order;
use counterpoint_numerics::{Dd, STEP, Wide, normal_tail};

/// An amount of a currency, and a delta.
type Cost = (Amount, Amount);

/// The charge of a query, once. Whatever is charged can be written down and read back.
pub(super) fn of(query: &Query, currency: Currency, terms: Terms) -> Result<Charge, FilterError> {
    let losses = chargeable(query, terms)?;
    let label = label(query, terms, &losses);
    let pure = label.clone().filter(|(_, leak)| leak.is_zero()).map(|(epsilon, _)| epsilon);
    let cost = match currency {
        Currency::Sums => label.ok_or(("epsilon of its own", PURE)),
        Currency::Renyi { order } => Ok(divergence(query, terms, &losses, order)?),
        Currency::Zcdp => concentrated(query, terms, &losses).ok_or(("rho of its own", RHO)),
        Currency::Gdp => gaussian(query, terms, &losses).ok_or(("mu of its own", MU)),
    };
    let missing = |(needs, legal)| {
        let what = name(query);
        FilterError::NoCharge { what, needs, currency, legal }
    };
    let (main, delta) = cost.map_err(missing)?;
    let written = |amount: Amount| amount.ceil(MOST_PLACES);
    Ok(Charge { main: written(main), delta: written(delta), pure: pure.map(written) })
}

const PURE: &str = "mechanisms with a largest loss, such as approx-dp or laplace";
const RHO: &str = "zcdp, gaussian, gdp, discrete-gaussian and what has an epsilon of its own";
const MU: &str = "gaussian, gdp, and mechanisms with a largest loss and no delta";

/// What to call a query in an error.
pub(super) fn name(query: &Query) -> String {
    let sampled = if query.is_sampled() { " on a sample" } else { "" };
    format!("{}{sampled}", query.release().mechanism.kind())
}

/// What the query means in both directions, if it means anything, and if a theorem covers
/// it: for Rényi curves with a leak beside them, none is known for interleaved queries.
pub(super) fn losses(query: &Query, terms: Terms) -> Result<[ReleaseLoss; 2], FilterError> {
    let release = query.once();
    // (A sample without replacement has a pair of its own, which slots of a plan may cover.)
    if matches!(
        release.mechanism,
        Mechanism::GaussianAllocation { .. }
            | Mechanism::GaussianBatch { .. }
            | Mechanism::GaussianDraws { .. }
    ) {
        return Err(plans_only(query, terms));
    }
    let one = |direction| ReleaseLoss::new(&release, direction, terms.adjacency, terms.group);
    let both = [one(Direction::Remove)?, one(Direction::Add)?];
    let uncovered = both.iter().any(|loss| loss.is_curve() && loss.leak() > 0.0);
    if uncovered && terms.interleaving == Interleaving::Concurrent {
        return Err(FilterError::NotConcurrent { delta: leak(query, terms, &both) });
    }
    Ok(both)
}

/// The same, if an account can charge it: a sample of a fixed size has a pair, and neither a largest loss nor a curve.
pub(super) fn chargeable(query: &Query, terms: Terms) -> Result<[ReleaseLoss; 2], FilterError> {
    let both = losses(query, terms)?;
    if both.iter().any(ReleaseLoss::is_of_fixed_sample) {
        return Err(plans_only(query, terms));
    }
    Ok(both)
}

fn plans_only(query: &Query, terms: Terms) -> FilterError {
    let legal = match terms.adjacency {
        Adjacency::AddRemove => "one step, as gaussian with a rate",
        Adjacency::Replace => "gaussian, on all of the data",
    };
    FilterError::PlansOnly { what: name(query), legal }
}

/// The query's own delta: exactly, or the larger of both directions.
fn leak(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Amount {
    match query.description() {
        Description::ApproxDp { delta, .. } | Description::Zcdp { delta, .. }
            if terms.group.get() == 1 =>
        {
            delta.clone()
        }
        _ => losses.iter().map(leaked_by).max().unwrap_or_default(),
    }
}

/// A mechanism's own (epsilon, delta): its largest loss and its leak.
fn label(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Option<Cost> {
    if let Some(whole) = amplified(query, terms) {
        return Some((largest(&whole)?, leaked_by(&whole)));
    }
    let epsilon = match exact_epsilon(query, terms) {
        Some(epsilon) => epsilon,
        None => {
            let [a, b] = losses.each_ref().map(largest);
            a?.max(b?)
        }
    };
    Some((epsilon, leak(query, terms, losses)))
}

/// The epsilons that are stated, or are quotients of what is stated; pure ones grow with
/// the group.
fn exact_epsilon(query: &Query, terms: Terms) -> Option<Amount> {
    let exact = |value: f64| Amount::from_f64(value);
    let one = match query.description() {
        Description::ApproxDp { epsilon, .. } => epsilon.clone(),
        Description::Laplace { scale, sensitivity } => {
            return sensitivity.times(terms.group.get()).over(scale);
        }
        Description::Other(_) if query.is_sampled() => return None,
        Description::Other(mechanism) => match mechanism {
            Mechanism::Geometric { scale, sensitivity } => {
                let steps = Amount::from(sensitivity.get()).times(terms.group.get());
                return steps.over(&exact(scale.get())?);
            }
            Mechanism::RandomizedResponse { epsilon, .. }
            | Mechanism::Exponential { epsilon }
            | Mechanism::Staircase { epsilon, .. } => exact(epsilon.get())?,
            Mechanism::SparseVector { threshold, queries }
            | Mechanism::AboveThreshold { threshold, queries } => {
                &exact(threshold.get())? + &exact(queries.get())?
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(one.times(terms.group.get()))
}

/// The largest loss, rounded up; `None` if there is none.
fn largest(loss: &ReleaseLoss) -> Option<Amount> {
    on_grid(loss.largest()?)
}

/// Up to the next multiple of 10^-24.
fn on_grid(value: Dd) -> Option<Amount> {
    Some(Amount::from_dd(value)?.ceil(GRID_PLACES))
}

/// The Rényi divergence of one order, the larger of both directions, and the leak.
fn divergence(
    query: &Query,
    terms: Terms,
    losses: &[ReleaseLoss; 2],
    order: Order,
) -> Result<Cost, FilterError> {
    let none = || FilterError::NoDivergence { what: name(query), order: order.get() };
    let t = order.get() - 1.0;
    let stated = || if terms.group.get() == 1 { listed(query, order) } else { None };
    let line = line(query, terms).map(|rho| slope_at(&rho, order)).or_else(stated);
    let curves: Option<Vec<Amount>> = match line {
        // At whole orders exactly what its loss says, and nothing is cut off.
        Some(line) if is_discrete_gaussian(query) => Some(vec![line]),
        line => losses.iter().map(|loss| least(tau(loss, t), line.clone())).collect(),
    };
    let main = curves.and_then(|list| list.into_iter().max());
    let by_pair = main.map(|main| (main, leaked(query, terms, losses)));
    let by_guarantee =
        amplified(query, terms).and_then(|whole| Some((tau(&whole, t)?, leaked_by(&whole))));
    by_guarantee.into_iter().chain(by_pair).min_by(|a, b| a.0.cmp(&b.0)).ok_or_else(none)
}

/// The guarantee of a guarantee on a sample. Its pair leaks in one direction and may lose more in the other, so that sums
/// of epsilons and deltas are better off with the guarantee.
fn amplified(query: &Query, terms: Terms) -> Option<ReleaseLoss> {
    let release = query.once();
    let Mechanism::ApproxDp(guarantee) = release.mechanism else { return None };
    let release = Release { mechanism: Mechanism::AmplifiedDp(guarantee), ..release };
    query.is_sampled().then_some(())?;
    ReleaseLoss::new(&release, Direction::Remove, terms.adjacency, terms.group).ok()
}

fn leaked_by(loss: &ReleaseLoss) -> Amount {
    Amount::from_f64(loss.leak()).unwrap_or_default()
}

/// What is stated about an order and one person, exactly; about a lower one too, as divergences do not fall
/// with the order.
fn listed(query: &Query, order: Order) -> Option<Amount> {
    match query.description() {
        Description::Renyi { order: stated, tau } => (order <= *stated).then(|| tau.clone()),
        Description::Other(Mechanism::Rdp(curve)) => {
            let point = curve.points().iter().find(|point| Order::new(point.0) == Ok(order))?;
            Amount::from_f64(point.1)
        }
        _ => None,
    }
}

fn is_discrete_gaussian(query: &Query) -> bool {
    matches!(query.description(), Description::Other(Mechanism::DiscreteGaussian { .. }))
        && !query.is_sampled()
}

/// The query's own delta, and what a cumulant leaves out.
fn leaked(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Amount {
    let own = leak(query, terms, losses);
    if is_discrete_gaussian(query) { own } else { &own + &cut(losses) }
}

/// Mass that cumulants know nothing of counts as leaked.
fn cut(losses: &[ReleaseLoss; 2]) -> Amount {
    let most = losses.iter().map(ReleaseLoss::left_out).fold(0.0, f64::max);
    // A few digits of it are enough; so many zeros come first.
    let zeros = format!("{most:e}").split_once("e-").and_then(|(_, text)| text.parse().ok());
    Amount::from_f64(most).unwrap_or_default().ceil(6 + zeros.unwrap_or(0))
}

fn least(a: Option<Amount>, b: Option<Amount>) -> Option<Amount> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// K(t)/t of a loss, or what a curve says, rounded up.
fn tau(loss: &ReleaseLoss, t: f64) -> Option<Amount> {
    let (total, error) = loss.cumulant(t)?;
    let upper = (total + error.into()) / t;
    if !upper.hi.is_finite() {
        return None;
    }
    on_grid(upper * Dd::sum(1.0, 8.0 * STEP))
}

/// Order times rho, on the grid.
fn slope_at(rho: &Amount, order: Order) -> Amount {
    let order = Amount::from_f64(order.get()).unwrap_or_default();
    (rho * &order).ceil(GRID_PLACES)
}

/// The slope of a mechanism's Rényi curve where it is a decimal or a quotient:
/// discrete Gaussian (Canonne, Kamath and Steinke 2020), exponential (Cesar and Rogers
/// 2021, Lemma 3.2).
fn line(query: &Query, terms: Terms) -> Option<Amount> {
    let square = |x: &Amount| x * x;
    let people = terms.group.get();
    match query.description() {
        Description::Zcdp { rho, .. } => Some(rho.times(people).times(people)),
        Description::Gdp { mu } => Some(square(&mu.times(people)).half()),
        Description::Gaussian { sigma, sensitivity } => {
            square(&sensitivity.times(people)).over(&square(sigma).times(2))
        }
        Description::Other(_) if query.is_sampled() => None,
        Description::Other(Mechanism::DiscreteGaussian { sigma, sensitivity }) => {
            let steps = Amount::from(sensitivity.get()).times(people);
            square(&steps).over(&square(&Amount::from_f64(sigma.get())?).times(2))
        }
        Description::Other(Mechanism::Exponential { epsilon }) => {
            let range = Amount::from_f64(epsilon.get())?.times(people);
            Some(square(&range).half().half().half())
        }
        _ => None,
    }
}

/// The rho of concentrated privacy: a line, or `e tanh(e/2)` for what has an epsilon.
fn concentrated(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Option<Cost> {
    let pure = || on_grid(drift(label(query, terms, losses)?.0.to_dd(true)));
    let main = least(line(query, terms), pure())?;
    Some((main, leak(query, terms, losses)))
}

/// `e tanh(e/2)`, rounded up: the mean loss of randomized response, and the largest of its
/// Rényi divergences over their orders.
fn drift(epsilon: Dd) -> Dd {
    if epsilon.hi > 300.0 || !epsilon.is_positive() {
        return epsilon;
    }
    let fall = (-epsilon).expm1();
    epsilon * (-fall / (Dd::from(2.0) + fall)) * Dd::sum(1.0, 16.0 * STEP)
}

/// The square of Gaussian privacy's mu; of what is pure, the least with which every mechanism
/// of its epsilon is private: N(0, 1) and N(mu, 1) are then as far apart in total variation as
/// randomized response (theory 8.12).
fn gaussian(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Option<Cost> {
    let people = terms.group.get();
    let square = |x: &Amount| x * x;
    let main = match query.description() {
        Description::Gdp { mu } => square(&mu.times(people)),
        Description::Gaussian { sigma, sensitivity } => {
            square(&sensitivity.times(people)).over(&square(sigma))?
        }
        _ => {
            let (epsilon, _) = label(query, terms, losses).filter(|(_, leak)| leak.is_zero())?;
            square(&pure_mu(&epsilon)?).ceil(GRID_PLACES)
        }
    };
    Some((main, Amount::ZERO))
}

/// A mu with `P(N(0, 1) > mu/2) <= 1/(1 + e^e)`: nearly the least, by halving an interval.
fn pure_mu(epsilon: &Amount) -> Option<Amount> {
    let size = epsilon.upper();
    if size < 1e-6 {
        // Phi(x) - 1/2 >= x exp(-x^2/2)/sqrt(2 pi), which is above e/4 at x = 0.6267 e, and
        // tanh(e/2)/2 is below it.
        return Amount::from(12534).over(&Amount::from(10_000)).map(|slope| &slope * epsilon);
    }
    let corner = (Wide::ONE + Wide::exp(epsilon.to_dd(true))).recip();
    let corner = corner * Wide::from(Dd::sum(1.0, -16.0 * STEP));
    let is_enough = |half: f64| normal_tail(half).1 <= corner;
    // mu is below 2 e, and below 2 sqrt(2 e) by the bound e^(-x^2/2)/2 on the tail.
    let (mut low, mut high) = (0.0, size.min((2.0 * size).sqrt()));
    if !is_enough(high) {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(Amount::from_f64(high)?.times(2))
}

/// Estimates of the Rényi divergence of a query at an order, count included, for choosing
/// one.
pub(super) fn estimate(losses: &[ReleaseLoss; 2], query: &Query, terms: Terms, t: f64) -> f64 {
    let count = query.count().get() as f64;
    let line = line(query, terms).map(|rho| rho.upper() * (1.0 + t));
    let one = |loss: &ReleaseLoss| {
        // A list is long, and its line is as good.
        let whole = if loss.is_listed() && line.is_some() { None } else { loss.cumulant(t) };
        let by_loss = whole.map_or(f64::INFINITY, |(value, error)| (value.hi + error) / t);
        by_loss.min(line.unwrap_or(f64::INFINITY))
    };
    count * losses.iter().map(one).fold(0.0, f64::max)
}

/// The queries' own deltas, count included.
pub(super) fn leaks(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Amount {
    leaked(query, terms, losses).times(query.count().get())
}
