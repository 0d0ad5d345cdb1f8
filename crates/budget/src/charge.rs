//! The charge of one query in each currency: exact where it is a decimal fraction, else rounded up to the grid.

use crate::amount::{Amount, GRID_PLACES, MOST_PLACES};
use crate::error::FilterError;
use crate::query::{Description, Query};
use crate::terms::{Charge, Concurrency, Currency, Terms};
use counterpoint::ask::ReleaseLoss;
use counterpoint::loss::Direction;
use counterpoint::mechanism::{Adjacency, Mechanism, Release};
use counterpoint::quantity::Order;
use counterpoint_numerics::{Dd, STEP, Wide, normal_tail};

/// An amount of the account's currency, and a delta.
type Cost = (Amount, Amount);

/// The charge for one run of a query. Every charge can be written down and read back.
pub(super) fn charge_once(
    query: &Query,
    currency: Currency,
    terms: Terms,
) -> Result<Charge, FilterError> {
    let losses = chargeable(query, terms)?;
    let guarantee = own_guarantee(query, terms, &losses);
    let pure = guarantee.clone().filter(|(_, leak)| leak.is_zero()).map(|(epsilon, _)| epsilon);
    let cost = match currency {
        Currency::Sums => guarantee.ok_or(("epsilon of its own", LEGAL_SUMS)),
        Currency::Renyi { order } => Ok(renyi_cost(query, terms, &losses, order)?),
        Currency::Zcdp => zcdp_cost(query, terms, &losses).ok_or(("rho of its own", LEGAL_ZCDP)),
        Currency::Gdp => gdp_cost(query, terms, &losses).ok_or(("mu of its own", LEGAL_GDP)),
    };
    let missing = |(needs, legal)| {
        let what = name(query);
        FilterError::NoCharge { what, needs, currency, legal }
    };
    let (main, delta) = cost.map_err(missing)?;
    let written = |amount: Amount| amount.ceil(MOST_PLACES);
    Ok(Charge { main: written(main), delta: written(delta), pure: pure.map(written) })
}

const LEGAL_SUMS: &str = "mechanisms with a largest loss, such as approx-dp or laplace";
const LEGAL_ZCDP: &str =
    "zcdp, gaussian, gdp, discrete-gaussian, and mechanisms with an epsilon of their own";
const LEGAL_GDP: &str = "gaussian, gdp, and mechanisms with a largest loss and no delta";

/// The name of a query in error messages.
pub(super) fn name(query: &Query) -> String {
    let sampled = if query.is_sampled() { " on a sample" } else { "" };
    format!("{}{sampled}", query.release().mechanism.kind())
}

/// The losses of a query in both directions. It is an error if the query has no meaning under the terms, or no theorem
/// covers the query: no theorem is known for interleaved queries that have a Rényi curve and also a leak.
pub(super) fn losses(query: &Query, terms: Terms) -> Result<[ReleaseLoss; 2], FilterError> {
    let release = query.once();
    // (A sample without replacement is not refused here: it has a pair of its own, which a slot of a plan may cover.)
    if matches!(
        release.mechanism,
        Mechanism::GaussianAllocation { .. }
            | Mechanism::GaussianBatch { .. }
            | Mechanism::GaussianDraws { .. }
            | Mechanism::PrivateSelection(_)
            | Mechanism::TruncatedLaplace { .. }
            | Mechanism::ShuffledReports { .. }
    ) {
        return Err(plans_only(query, terms));
    }
    let one = |direction| ReleaseLoss::new(&release, direction, terms.adjacency, terms.group);
    let both = [one(Direction::Remove)?, one(Direction::Add)?];
    let uncovered = both.iter().any(|loss| loss.is_curve() && loss.leak() > 0.0);
    if uncovered && terms.concurrency == Concurrency::Concurrent {
        return Err(FilterError::NotConcurrent { delta: own_delta(query, terms, &both) });
    }
    Ok(both)
}

/// The losses of a query that an account can charge. Refuses samples of a fixed size: they have a pair, but neither a
/// largest loss nor a curve.
pub(super) fn chargeable(query: &Query, terms: Terms) -> Result<[ReleaseLoss; 2], FilterError> {
    let both = losses(query, terms)?;
    if both.iter().any(ReleaseLoss::is_of_fixed_sample) {
        return Err(plans_only(query, terms));
    }
    Ok(both)
}

fn plans_only(query: &Query, terms: Terms) -> FilterError {
    let legal = match terms.adjacency {
        _ if matches!(query.release().mechanism, Mechanism::PrivateSelection(_)) => {
            "each run by itself, as the releases that it makes"
        }
        _ if matches!(query.release().mechanism, Mechanism::ShuffledReports { .. }) => {
            "approx-dp, with the epsilon of one report"
        }
        _ if matches!(query.release().mechanism, Mechanism::TruncatedLaplace { .. }) => {
            "laplace, without bounds"
        }
        Adjacency::AddRemove => "one step, as gaussian with a rate",
        Adjacency::Replace => "gaussian, on all of the data",
    };
    FilterError::PlansOnly { what: name(query), legal }
}

/// The query's own delta: as stated, or the larger of both directions.
fn own_delta(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Amount {
    match query.description() {
        Description::ApproxDp { delta, .. } | Description::Zcdp { delta, .. }
            if terms.group.get() == 1 =>
        {
            delta.clone()
        }
        _ => losses.iter().map(leak_of_loss).max().unwrap_or_default(),
    }
}

/// The query's own (epsilon, delta): its largest loss and its leak.
fn own_guarantee(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Option<Cost> {
    if let Some(whole) = amplified_loss(query, terms) {
        return Some((largest_loss(&whole)?, leak_of_loss(&whole)));
    }
    let epsilon = match exact_epsilon(query, terms) {
        Some(epsilon) => epsilon,
        None => {
            let [a, b] = losses.each_ref().map(largest_loss);
            a?.max(b?)
        }
    };
    Some((epsilon, own_delta(query, terms, losses)))
}

/// The epsilon that is stated, or is a quotient of stated numbers; it grows in proportion to the group.
fn exact_epsilon(query: &Query, terms: Terms) -> Option<Amount> {
    let exact = |value: f64| Amount::from_f64(value);
    let one = match query.description() {
        Description::ApproxDp { epsilon, .. } => epsilon.clone(),
        Description::Laplace { scale, sensitivity } => {
            return sensitivity.times(terms.group.get()).div_up(scale);
        }
        Description::Other(_) if query.is_sampled() => return None,
        Description::Other(mechanism) => match mechanism {
            Mechanism::Geometric { scale, sensitivity } => {
                let steps = Amount::from(sensitivity.get()).times(terms.group.get());
                return steps.div_up(&exact(scale.get())?);
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

/// The largest loss, rounded up to the grid; `None` if losses are unbounded.
fn largest_loss(loss: &ReleaseLoss) -> Option<Amount> {
    on_grid(loss.largest()?)
}

/// Rounds up to the next multiple of 10^-24.
fn on_grid(value: Dd) -> Option<Amount> {
    Some(Amount::from_dd(value)?.ceil(GRID_PLACES))
}

/// The Rényi divergence at one order, the larger of both directions, and the leak.
fn renyi_cost(
    query: &Query,
    terms: Terms,
    losses: &[ReleaseLoss; 2],
    order: Order,
) -> Result<Cost, FilterError> {
    let none = || FilterError::NoDivergence { what: name(query), order: order.get() };
    let t = order.get() - 1.0;
    let stated = || if terms.group.get() == 1 { stated_divergence(query, order) } else { None };
    let line = curve_slope(query, terms).map(|rho| slope_at(&rho, order)).or_else(stated);
    let curves: Option<Vec<Amount>> = match line {
        // The line bounds the divergence of discrete Gaussian noise at every order, and equals it at whole orders.
        // Unlike the cumulants, the line leaves out no mass.
        Some(line) if is_discrete_gaussian(query) => Some(vec![line]),
        line => losses.iter().map(|loss| lesser(loss_divergence(loss, t), line.clone())).collect(),
    };
    let main = curves.and_then(|list| list.into_iter().max());
    let by_pair = main.map(|main| (main, total_leak(query, terms, losses)));
    let by_guarantee = amplified_loss(query, terms)
        .and_then(|whole| Some((loss_divergence(&whole, t)?, leak_of_loss(&whole))));
    by_guarantee.into_iter().chain(by_pair).min_by(|a, b| a.0.cmp(&b.0)).ok_or_else(none)
}

/// The loss of the amplified guarantee, if the query is a guarantee on a sample. The pair of the sample leaks in one
/// direction and may have its largest loss in the other. An epsilon and a delta that hold in both directions can then
/// be larger than those of the amplified guarantee.
fn amplified_loss(query: &Query, terms: Terms) -> Option<ReleaseLoss> {
    let release = query.once();
    let Mechanism::ApproxDp(guarantee) = release.mechanism else { return None };
    let release = Release { mechanism: Mechanism::AmplifiedDp(guarantee), ..release };
    query.is_sampled().then_some(())?;
    ReleaseLoss::new(&release, Direction::Remove, terms.adjacency, terms.group).ok()
}

fn leak_of_loss(loss: &ReleaseLoss) -> Amount {
    Amount::from_f64(loss.leak()).unwrap_or_default()
}

/// The exact divergence that is stated for an order and one person. A Rényi statement also bounds lower orders, because
/// divergences do not decrease with the order.
fn stated_divergence(query: &Query, order: Order) -> Option<Amount> {
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

/// The query's own delta, plus the mass that the cumulants leave out.
fn total_leak(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Amount {
    let own = own_delta(query, terms, losses);
    if is_discrete_gaussian(query) { own } else { &own + &left_out_mass(losses) }
}

/// The mass that cumulants leave out, which counts as leaked.
fn left_out_mass(losses: &[ReleaseLoss; 2]) -> Amount {
    let most = losses.iter().map(ReleaseLoss::omitted_mass).fold(0.0, f64::max);
    // A few significant digits are enough; this is the number of zeros before them.
    let zeros = format!("{most:e}").split_once("e-").and_then(|(_, text)| text.parse().ok());
    Amount::from_f64(most).unwrap_or_default().ceil(6 + zeros.unwrap_or(0))
}

/// The lesser of two amounts, or the only one.
fn lesser(a: Option<Amount>, b: Option<Amount>) -> Option<Amount> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The Rényi divergence at order 1 + t, rounded up: the cumulant of a loss divided by t, or what a curve states.
fn loss_divergence(loss: &ReleaseLoss, t: f64) -> Option<Amount> {
    let (total, error) = loss.cumulant(t)?;
    let upper = (total + error.into()) / t;
    if !upper.hi.is_finite() {
        return None;
    }
    on_grid(upper * Dd::sum(1.0, 8.0 * STEP))
}

/// The order times rho, rounded up to the grid.
fn slope_at(rho: &Amount, order: Order) -> Amount {
    let order = Amount::from_f64(order.get()).unwrap_or_default();
    (rho * &order).ceil(GRID_PLACES)
}

/// The slope of a mechanism's Rényi curve where it is a decimal or a quotient: for the discrete Gaussian see Canonne,
/// Kamath and Steinke 2020, for the exponential mechanism Cesar and Rogers 2021, Lemma 3.2.
fn curve_slope(query: &Query, terms: Terms) -> Option<Amount> {
    let square = |x: &Amount| x * x;
    let people = terms.group.get();
    match query.description() {
        Description::Zcdp { rho, .. } => Some(rho.times(people).times(people)),
        Description::Gdp { mu } => Some(square(&mu.times(people)).half()),
        Description::Gaussian { sigma, sensitivity } => {
            square(&sensitivity.times(people)).div_up(&square(sigma).times(2))
        }
        Description::Other(_) if query.is_sampled() => None,
        Description::Other(Mechanism::DiscreteGaussian { sigma, sensitivity }) => {
            let steps = Amount::from(sensitivity.get()).times(people);
            square(&steps).div_up(&square(&Amount::from_f64(sigma.get())?).times(2))
        }
        Description::Other(Mechanism::Exponential { epsilon }) => {
            let range = Amount::from_f64(epsilon.get())?.times(people);
            Some(square(&range).half().half().half())
        }
        _ => None,
    }
}

/// The rho of concentrated privacy: the slope of the Rényi curve, or `e tanh(e/2)` for a query with an epsilon.
fn zcdp_cost(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Option<Cost> {
    let pure = || on_grid(pure_rho(own_guarantee(query, terms, losses)?.0.to_dd(true)));
    let main = lesser(curve_slope(query, terms), pure())?;
    Some((main, own_delta(query, terms, losses)))
}

/// `e tanh(e/2)`, rounded up. For randomized response this is the mean loss. It is also the largest value, over all
/// orders, of the Rényi divergence divided by the order.
fn pure_rho(epsilon: Dd) -> Dd {
    if epsilon.hi > 300.0 || !epsilon.is_positive() {
        return epsilon;
    }
    let fall = (-epsilon).expm1();
    epsilon * (-fall / (Dd::from(2.0) + fall)) * Dd::sum(1.0, 16.0 * STEP)
}

/// The square of Gaussian privacy's mu. The mu of a pure query is the least for which every mechanism with the query's
/// epsilon is mu-GDP: with this mu, N(0, 1) and N(mu, 1) are as far apart in total variation as the two distributions
/// of randomized response (theory 8.12).
fn gdp_cost(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Option<Cost> {
    let people = terms.group.get();
    let square = |x: &Amount| x * x;
    let main = match query.description() {
        Description::Gdp { mu } => square(&mu.times(people)),
        Description::Gaussian { sigma, sensitivity } => {
            square(&sensitivity.times(people)).div_up(&square(sigma))?
        }
        _ => {
            let (epsilon, _) =
                own_guarantee(query, terms, losses).filter(|(_, leak)| leak.is_zero())?;
            square(&pure_mu(&epsilon)?).ceil(GRID_PLACES)
        }
    };
    Some((main, Amount::ZERO))
}

/// A mu with `P(N(0, 1) > mu/2) <= 1/(1 + exp(epsilon))`, nearly the least, found by bisection.
fn pure_mu(epsilon: &Amount) -> Option<Amount> {
    let size = epsilon.upper();
    if size < 1e-6 {
        // With x = mu/2 and e = epsilon, the condition is Phi(x) - 1/2 >= tanh(e/2)/2. The right side is below e/4. The
        // left side is at least x exp(-x^2/2)/sqrt(2 pi), which is above e/4 at x = 0.6267 e.
        return Amount::from(12534).div_up(&Amount::from(10_000)).map(|slope| &slope * epsilon);
    }
    let corner = (Wide::ONE + Wide::exp(epsilon.to_dd(true))).recip();
    let corner = corner * Wide::from(Dd::sum(1.0, -16.0 * STEP));
    let is_enough = |half: f64| normal_tail(half).1 <= corner;
    // mu is below 2 epsilon. It is also below 2 sqrt(2 epsilon), because P(N(0, 1) > x) is at most exp(-x^2/2)/2.
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

/// An estimate of the Rényi divergence of a query at order 1 + t, count included. It only helps to choose an order.
pub(super) fn estimate(losses: &[ReleaseLoss; 2], query: &Query, terms: Terms, t: f64) -> f64 {
    let count = query.count().get() as f64;
    let line = curve_slope(query, terms).map(|rho| rho.upper() * (1.0 + t));
    let one = |loss: &ReleaseLoss| {
        // The cumulant of a long list takes long to compute, and the line is as good an estimate.
        let whole = if loss.is_listed() && line.is_some() { None } else { loss.cumulant(t) };
        let by_loss = whole.map_or(f64::INFINITY, |(value, error)| (value.hi + error) / t);
        by_loss.min(line.unwrap_or(f64::INFINITY))
    };
    count * losses.iter().map(one).fold(0.0, f64::max)
}

/// The queries' own deltas, count included.
pub(super) fn leaks(query: &Query, terms: Terms, losses: &[ReleaseLoss; 2]) -> Amount {
    total_leak(query, terms, losses).times(query.count().get())
}
