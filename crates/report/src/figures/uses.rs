//! The papers' applications: noise for many queries (KOV V-A), sketches of graphs (KOV, appendix), and the running time
//! of Murtagh and Vadhan's algorithm (MV 1.7).

use counterpoint::ask::{Search, Unknown, calibrate};
use counterpoint::quantity::{GroupSize, NoiseScale, Sensitivity};
use counterpoint::theorem::eta::{self, Eta};
use counterpoint::watch::Watch;
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism, Options, Release};
use counterpoint_papers::noise;

use super::costs::at;
use super::time::{measured, shown};
use super::width::different;
use super::{FigureError, Parameters};
use crate::plot::{Axis, Chart, Figure, Series, Style, scientific};

/// KOV V-A: the Laplace and Gaussian noise that k queries need, by the paper's rules and at least.
pub(super) fn noise(given: &Parameters) -> Result<Figure, FigureError> {
    let (epsilon, delta) = (Epsilon::new(given.epsilon(1.0))?, Delta::new(given.delta(1e-5))?);
    let counts = counts(given.releases(10_000));
    let one = Sensitivity::new(1.0)?;
    let curve = |deviation: &dyn Fn(Count) -> Result<f64, FigureError>| {
        let point = |&count: &u64| Ok((count as f64, deviation(Count::new(count)?)?));
        counts.iter().map(point).collect::<Result<Vec<(f64, f64)>, FigureError>>()
    };
    let laplace = curve(&|count| {
        let noisy = Mechanism::Laplace { scale: NoiseScale::new(1.0)?, sensitivity: one };
        least((noisy, count).into(), Unknown::Scale, epsilon, delta)
    })?;
    let gaussian = curve(&|count| {
        let noisy = Mechanism::Gaussian { sigma: NoiseScale::new(1.0)?, sensitivity: one };
        least((noisy, count).into(), Unknown::Sigma, epsilon, delta)
    })?;
    let rule = curve(&|count| Ok(noise::laplace(epsilon, delta, count, one)?.variance.sqrt()))?;
    // The variance of Laplace noise is twice its squared scale.
    let spread = |scales: &[(f64, f64)]| -> Vec<(f64, f64)> {
        scales.iter().map(|&(k, scale)| (k, std::f64::consts::SQRT_2 * scale)).collect()
    };
    let over = |own: &[(f64, f64)]| -> Vec<(f64, f64)> {
        std::iter::zip(own, &gaussian).map(|(own, least)| (own.0, own.1 / least.1)).collect()
    };
    let k = || Axis::new("number of queries k").log();
    let axis = Axis::new("standard deviation of the noise").unit("sensitivities").log();
    let mut noises = Chart::new(k(), axis).title("(a) noise on each answer");
    let mut ratios = Chart::new(k(), Axis::new("deviation ÷ least Gaussian").range(0.0, 4.0))
        .title("(b) relative to the least Gaussian noise");
    let curves = [
        ("Gaussian, least", gaussian.clone()),
        ("Laplace, least", spread(&laplace)),
        ("both, KOV's rule", rule),
    ];
    for (n, (name, points)) in curves.into_iter().enumerate() {
        ratios.series.push(Series::new(name, over(&points)).style(Style::nth(n)).label_by_name());
        noises.series.push(Series::new(name, points).style(Style::nth(n)).label_by_name());
    }
    let caption = if given.is_papers() {
        format!(
            "Claim: nothing is special about Gaussian noise: by KOV V.2 and V.3 Laplace noise of the same variance will do. At ε = 1 and \
             δ = 10⁻⁵ the least Laplace scale for 100 queries is {:.3} sensitivities where the least Gaussian σ is {:.3}, and at 10⁴ \
             queries {:.1} and {:.1}: the scale is about the σ, so that the least variances differ by a factor of two \
             after all. For few queries Laplace noise is the better one ({:.2} and {:.2} for one). Both need far less than the paper's rule.",
            at(&laplace, 100.0),
            at(&gaussian, 100.0),
            at(&laplace, 1e4),
            at(&gaussian, 1e4),
            at(&laplace, 1.0),
            at(&gaussian, 1.0),
        )
    } else {
        let (epsilon, delta) = (epsilon.get(), scientific(delta.get()));
        format!("Claim: both kinds of noise grow alike. For ε = {epsilon} and δ = {delta} in all.")
    };
    let title = "Laplace and Gaussian noise for many queries (Kairouz et al. 2017, section V-A)";
    Ok(Figure::new(title, caption, [noises, ratios]))
}

/// The least scale, or the largest epsilon, of a release that keeps all releases within (epsilon, delta).
fn least(
    release: Release,
    unknown: Unknown,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<f64, FigureError> {
    let (releases, varying) = (&[release][..], &[][..]);
    let search = Search { releases, varying, unknown, adjacency: None, group: GroupSize::ONE };
    Ok(calibrate(&search, epsilon, delta, &Options::default())?.value)
}

/// Two counts per decade, from 1 to `most`.
fn counts(most: u64) -> Vec<u64> {
    let counts = (0..).map(|n| 10_f64.powf(f64::from(n) / 2.0).round() as u64);
    let mut counts: Vec<u64> = counts.take_while(|count| *count < most).collect();
    counts.push(most);
    counts
}

/// The relative error, and the probability of a larger error.
const ETA: f64 = 0.5;
const NU: f64 = 0.05;

/// KOV's appendix: the additive error of cuts by the Johnson-Lindenstrauss mechanism, per node of the smaller side.
pub(super) fn sketch(given: &Parameters) -> Result<Figure, FigureError> {
    let delta = given.delta(1e-6);
    let directions = (8.0 * (2.0 / NU).ln() / (ETA * ETA)).ceil();
    let each_delta = delta / (2.0 * directions);
    // Lemma 1: w = 4 ln(2/delta0)/eps0, and tau = 2 |S| eta w.
    let error = |each_epsilon: f64| 8.0 * ETA * (2.0 / each_delta).ln() / each_epsilon;
    let epsilons: Vec<f64> = (-12..=0).map(|n| 10_f64.powf(f64::from(n) / 2.0)).collect();
    let by = |each: &dyn Fn(f64) -> Result<f64, FigureError>| {
        let point = |&epsilon: &f64| Ok((epsilon, error(each(epsilon)?)));
        epsilons.iter().map(point).collect::<Result<Vec<(f64, f64)>, FigureError>>()
    };
    let shared = |epsilon: f64, log: f64| epsilon / (4.0 * directions * log).sqrt();
    let drv = by(&|epsilon| Ok(shared(epsilon, (2.0 / delta).ln())))?;
    let kov = by(&|epsilon| Ok(shared(epsilon, (1_f64.exp() + 2.0 * epsilon / delta).ln())))?;
    let optimal = by(&|epsilon| {
        let guarantee = Guarantee::new(epsilon / directions, each_delta)?;
        let row: Release = (guarantee, Count::new(directions as u64)?).into();
        least(row, Unknown::Epsilon, Epsilon::new(epsilon)?, Delta::new(delta)?)
    })?;
    let over = |own: &[(f64, f64)]| -> Vec<(f64, f64)> {
        std::iter::zip(own, &optimal).map(|(own, least)| (own.0, own.1 / least.1)).collect()
    };
    let (drv_ratio, kov_ratio) = (over(&drv), over(&kov));
    let epsilon = || Axis::new("ε in all").log();
    let mut errors = Chart::new(epsilon(), Axis::new("additive error for each node").log())
        .title("(a) error of a cut");
    let mut ratios = Chart::new(epsilon(), Axis::new("error ÷ error by optimal composition"))
        .title("(b) relative to optimal composition");
    let names = ["(23), by III.2", "(24), by III.4", "optimal composition"];
    let ratio = [drv_ratio.clone(), kov_ratio.clone(), over(&optimal)];
    for (n, (name, points)) in std::iter::zip(names, [drv, kov, optimal]).enumerate() {
        errors.series.push(Series::new(name, points).style(Style::nth(2 - n)).label_by_name());
        let points = ratio[n].clone();
        ratios.series.push(Series::new(name, points).style(Style::nth(2 - n)).label_by_name());
    }
    let first = |points: &[(f64, f64)]| points.first().map_or(f64::NAN, |point| point.1);
    let last = |points: &[(f64, f64)]| points.last().map_or(f64::NAN, |point| point.1);
    let delta = scientific(delta);
    let caption = format!(
        "Claim: a better composition theorem makes the Johnson-Lindenstrauss mechanism more accurate. Error (24) is much smaller than (23) only \
         where ε is about as small as δ = {delta}: {:.2} and {:.2} times what optimal composition gives at ε = 10⁻⁶, but {:.2} and {:.2} at \
         ε = 1, where the two are alike. Relative error {ETA}, kept with probability {}; {directions} directions, weights by Lemma 1. (Half \
         of that weight suffices, by the proof in the documentation, for all three.) Where the claim ends: it is about real numbers, and \
         programs have doubles.",
        first(&kov_ratio),
        first(&drv_ratio),
        last(&kov_ratio),
        last(&drv_ratio),
        1.0 - NU,
    );
    let title = "Cuts of graphs by sketches (Kairouz et al. 2017, appendix)";
    Ok(Figure::new(title, caption, [errors, ratios]))
}

/// MV 1.7: the running time of the paper's algorithm beside the certified answer's, measured now.
pub(super) fn theorem_1_7(_: &Parameters) -> Result<Figure, FigureError> {
    let delta = Delta::new(1e-6)?;
    let ours = |count: u64| {
        let plan = different(u32::try_from(count).unwrap_or(u32::MAX))?;
        Ok(move || plan.epsilon(delta, &Options::default()).map(drop))
    };
    let theirs = |precision: f64| {
        move |count: u64| {
            let (plan, eta) =
                (different(u32::try_from(count).unwrap_or(u32::MAX))?, Eta::new(precision)?);
            Ok(move || eta::epsilon(&plan, delta, eta, Watch::default()).map(drop))
        }
    };
    let counts = [4, 8, 16, 32, 64, 128];
    let axis = |label: &str| Axis::new(label).log();
    let seconds = || axis("time of one answer").unit("s");
    let mut over_k =
        Chart::new(axis("number of different releases k"), seconds()).title("(a) over k");
    let precisions = [1.0 / 2.0, 1.0 / 8.0, 1.0 / 32.0];
    let mut slowest = Vec::new();
    for (n, precision) in precisions.into_iter().enumerate() {
        let points = measured(&counts, theirs(precision))?;
        slowest.push(at(&points, 128.0));
        let name = format!("MV 1.7, η = {precision}");
        over_k.series.push(Series::new(name, points).style(Style::nth(n + 1)).label_by_name());
    }
    let points = measured(&counts, ours)?;
    let certified = at(&points, 128.0);
    over_k
        .series
        .push(Series::new("certified to 10⁻⁶", points).style(Style::nth(0)).label_by_name());
    let mut over_eta = Chart::new(axis("η"), seconds()).title("(b) over η, k = 32");
    let mut points = Vec::new();
    for n in 1..=7 {
        let precision = 0.5_f64.powi(n);
        let time = measured(&[32], theirs(precision))?;
        points.push((precision, at(&time, 32.0)));
    }
    over_eta.series.push(Series::new("MV 1.7", points).style(Style::nth(1)).label_by_name());
    let caption = format!(
        "Claim: the approximation algorithm of Murtagh and Vadhan takes time polynomial in k and 1/η, where exact computation is \
         #P-complete. 128 releases with different ε take it {} at η = 1/2 and {} at η = 1/32; a bracket of relative width 10⁻⁶ takes {}. \
         Where the claim ends: the table is filled once here and not for every step of the search, as the paper has it. Medians, on the machine \
         and at the moment that drew this figure.",
        shown(slowest.first().copied().unwrap_or(f64::NAN)),
        shown(slowest.last().copied().unwrap_or(f64::NAN)),
        shown(certified),
    );
    let title = "How long an approximation takes (Murtagh and Vadhan 2018, Theorem 1.7)";
    Ok(Figure::new(title, caption, [over_k, over_eta]))
}
