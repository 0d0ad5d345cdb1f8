//! Mechanisms, releases and plans in a few letters, for tests that ask about many.

use super::Question;
use counterpoint::mechanism::{BatchCap, CellPair, FinitePair, RenyiCurve, Shifts};
use counterpoint::mechanism::{PrivateSelection, RunLaw};
use counterpoint::quantity::{
    Buckets, Gamma, GroupSize, MeanRuns, Mu, NoiseScale, Rate, Rho, RunShape, StepCount,
    WholeSensitivity,
};
use counterpoint::{
    Adjacency, Answer, AskError, Bracket, Count, Delta, Epsilon, Guarantee, Mechanism, Options,
    Plan, Release, Sensitivity, Tolerance,
};

pub(crate) fn approximate(epsilon: f64, delta: f64) -> Mechanism {
    Guarantee::new(epsilon, delta).unwrap().into()
}

pub(crate) fn laplace(scale: f64, sensitivity: f64) -> Mechanism {
    let sensitivity = Sensitivity::new(sensitivity).unwrap();
    Mechanism::Laplace { scale: NoiseScale::new(scale).unwrap(), sensitivity }
}

pub(crate) fn gaussian(sigma: f64, sensitivity: f64) -> Mechanism {
    let sensitivity = Sensitivity::new(sensitivity).unwrap();
    Mechanism::Gaussian { sigma: NoiseScale::new(sigma).unwrap(), sensitivity }
}

pub(crate) fn geometric(scale: f64, steps: u64) -> Mechanism {
    let sensitivity = WholeSensitivity::new(steps).unwrap();
    Mechanism::Geometric { scale: NoiseScale::new(scale).unwrap(), sensitivity }
}

pub(crate) fn discrete_gaussian(sigma: f64, steps: u64) -> Mechanism {
    let sensitivity = WholeSensitivity::new(steps).unwrap();
    Mechanism::DiscreteGaussian { sigma: NoiseScale::new(sigma).unwrap(), sensitivity }
}

pub(crate) fn response(epsilon: f64, buckets: u64) -> Mechanism {
    let buckets = Buckets::new(buckets).unwrap();
    Mechanism::RandomizedResponse { epsilon: Epsilon::new(epsilon).unwrap(), buckets }
}

pub(crate) fn exponential(epsilon: f64) -> Mechanism {
    Mechanism::Exponential { epsilon: Epsilon::new(epsilon).unwrap() }
}

pub(crate) fn staircase(epsilon: f64, gamma: Option<f64>) -> Mechanism {
    let gamma = gamma.map(|gamma| Gamma::new(gamma).unwrap());
    Mechanism::Staircase { epsilon: Epsilon::new(epsilon).unwrap(), gamma }
}

pub(crate) fn finite(p: &[f64], q: &[f64]) -> Mechanism {
    Mechanism::Finite(FinitePair::new(p, q).unwrap())
}

pub(crate) fn subset(sigma: f64, sensitivity: f64, share: f64) -> Mechanism {
    let sensitivity = Sensitivity::new(sensitivity).unwrap();
    let share = Rate::new(share).unwrap();
    Mechanism::GaussianSubset { sigma: NoiseScale::new(sigma).unwrap(), sensitivity, share }
}

/// In `each` of `steps`.
pub(crate) fn allocation(sigma: f64, sensitivity: f64, steps: u64, each: u64) -> Mechanism {
    let sensitivity = Sensitivity::new(sensitivity).unwrap();
    let [steps, each] = [steps, each].map(|number| StepCount::new(number).unwrap());
    Mechanism::GaussianAllocation {
        sigma: NoiseScale::new(sigma).unwrap(),
        sensitivity,
        steps,
        each,
    }
}

/// `number` draws, with replacement.
pub(crate) fn draws(sigma: f64, sensitivity: f64, number: u64, records: u64) -> Mechanism {
    let sensitivity = Sensitivity::new(sensitivity).unwrap();
    let [draws, records] = [number, records].map(|number| Count::new(number).unwrap());
    Mechanism::GaussianDraws { sigma: NoiseScale::new(sigma).unwrap(), sensitivity, records, draws }
}

/// Cut, if so, of so many people to so many.
pub(crate) fn batch(sigma: f64, norm: f64, share: f64, cap: Option<(u64, u64)>) -> Mechanism {
    let (sigma, norm) = (NoiseScale::new(sigma).unwrap(), Sensitivity::new(norm).unwrap());
    let count = |number| Count::new(number).unwrap();
    let cap = cap.map(|(people, most)| BatchCap { people: count(people), most: count(most) });
    Mechanism::GaussianBatch { sigma, norm, share: Rate::new(share).unwrap(), cap }
}

/// Cells: p, q, and the least and largest loss.
pub(crate) fn cells(list: &[[f64; 4]]) -> Mechanism {
    let column = |at: usize| list.iter().map(|cell| cell[at]).collect::<Vec<_>>();
    Mechanism::Cells(CellPair::new(&column(0), &column(1), &column(2), &column(3)).unwrap())
}

/// Sensitivities with their probabilities.
pub(crate) fn mixture(sigma: f64, shifts: &[(f64, f64)]) -> Mechanism {
    let (sensitivities, probabilities): (Vec<f64>, Vec<f64>) = shifts.iter().copied().unzip();
    let shifts = Shifts::new(&sensitivities, &probabilities).unwrap();
    Mechanism::GaussianMixture { sigma: NoiseScale::new(sigma).unwrap(), shifts }
}

pub(crate) fn name_and_shame(delta: f64) -> Mechanism {
    Mechanism::NameAndShame { delta: Delta::new(delta).unwrap() }
}

pub(crate) fn gdp(mu: f64) -> Mechanism {
    Mechanism::Gdp { mu: Mu::new(mu).unwrap() }
}

pub(crate) fn zcdp(rho: f64) -> Mechanism {
    Mechanism::Zcdp { rho: Rho::new(rho).unwrap(), delta: Delta::new(0.0).unwrap() }
}

pub(crate) fn rdp(orders: &[f64], epsilons: &[f64]) -> Mechanism {
    Mechanism::Rdp(RenyiCurve::new(orders, epsilons).unwrap())
}

pub(crate) fn sparse_vector(threshold: f64, queries: f64) -> Mechanism {
    let [threshold, queries] = [threshold, queries].map(|x| Epsilon::new(x).unwrap());
    Mechanism::SparseVector { threshold, queries }
}

pub(crate) fn above_threshold(threshold: f64, queries: f64) -> Mechanism {
    let [threshold, queries] = [threshold, queries].map(|x| Epsilon::new(x).unwrap());
    Mechanism::AboveThreshold { threshold, queries }
}

/// The best of a number of runs that has a truncated negative binomial law or, without an eta, a Poisson law.
pub(crate) fn selection(mean: f64, eta: Option<f64>, inner: &[Release]) -> Mechanism {
    let runs =
        eta.map_or(RunLaw::Poisson, |eta| RunLaw::NegativeBinomial(RunShape::new(eta).unwrap()));
    let selection = PrivateSelection::new(runs, MeanRuns::new(mean).unwrap(), inner.to_vec());
    Mechanism::PrivateSelection(selection.unwrap())
}

pub(crate) fn times(count: u64, mechanism: Mechanism) -> Release {
    (mechanism, Count::new(count).unwrap()).into()
}

pub(crate) fn sampled(count: u64, mechanism: Mechanism, rate: f64) -> Release {
    Release { rate: Some(Rate::new(rate).unwrap()), ..times(count, mechanism) }
}

pub(crate) fn on(part: &str, release: Release) -> Release {
    Release { part: Some(part.into()), ..release }
}

pub(crate) fn plan(releases: &[Release]) -> Plan {
    for_group(releases, 1)
}

pub(crate) fn for_group(releases: &[Release], people: u64) -> Plan {
    let group = GroupSize::new(people).unwrap();
    Plan::for_neighbours(releases.to_vec(), Some(Adjacency::AddRemove), group).unwrap()
}

/// The plan's answer by the best route.
pub(crate) fn ask(plan: &Plan, question: Question, tolerance: f64) -> Result<Answer, AskError> {
    ask_with(plan, question, &options(tolerance))
}

/// The same where descriptions say too little for any tolerance to be kept.
pub(crate) fn ask_best(plan: &Plan, question: Question, aim: f64) -> Result<Answer, AskError> {
    let tolerance = Tolerance::new(aim).unwrap().as_aim();
    ask_with(plan, question, &Options { tolerance, ..Options::default() })
}

pub(crate) fn options(tolerance: f64) -> Options<'static> {
    Options { tolerance: Tolerance::new(tolerance).unwrap(), ..Options::default() }
}

pub(crate) fn ask_with(
    plan: &Plan,
    question: Question,
    options: &Options<'_>,
) -> Result<Answer, AskError> {
    match question {
        Question::Epsilon(delta) => plan.epsilon(Delta::new(delta).unwrap(), options),
        Question::Delta(epsilon) => plan.delta(Epsilon::new(epsilon).unwrap(), options),
    }
}

/// True if the bracket is as narrow as promised.
pub(crate) fn is_narrow(bracket: &Bracket, tolerance: f64) -> bool {
    bracket.relative_width() <= tolerance || bracket.width() <= 1e-12
}
