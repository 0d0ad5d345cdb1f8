//! Sensitivities of matrix mechanisms against every pattern of participation, and against closed forms.
//!
//! | family | reference | cases |
//! | --- | --- | --- |
//! | coefficients that fall, banded ones, square roots, BLTs, any sign | all patterns of up to 11 steps | 600 |
//! | identity, prefix sums, square root | closed forms, mpmath | 40 |
//! | square roots, BLTs, up to 2,000 steps | jax-privacy | 30 |

use counterpoint::mechanism::{Participation, Strategy, StrategyError};
use counterpoint::quantity::StepCount;
use counterpoint_testing::Random;

fn steps(n: usize) -> StepCount {
    StepCount::new(n as u64).unwrap()
}

fn taking(most: usize, separation: usize) -> Participation {
    Participation { most: steps(most), separation: steps(separation) }
}

/// Every set of at most `most` of `n` steps, any two of them at least `separation` apart.
fn patterns(n: usize, most: usize, separation: usize) -> Vec<Vec<usize>> {
    let far = |set: &Vec<usize>| set.windows(2).all(|pair| pair[1] - pair[0] >= separation);
    (1_u32..1 << n)
        .map(|bits| (0..n).filter(|step| bits >> step & 1 == 1).collect())
        .filter(|set: &Vec<usize>| set.len() <= most && far(set))
        .collect()
}

fn entry(coefficients: &[f64], row: usize, column: usize) -> f64 {
    row.checked_sub(column).and_then(|gap| coefficients.get(gap)).copied().unwrap_or(0.0)
}

/// The largest norm of the sum of a pattern's columns, and the largest root of the sum of the sizes of their products,
/// which bounds what any vectors of length 1 can do.
fn brute_force(coefficients: &[f64], n: usize, most: usize, separation: usize) -> (f64, f64) {
    let product = |a: usize, b: usize| -> f64 {
        (0..n).map(|row| entry(coefficients, row, a) * entry(coefficients, row, b)).sum()
    };
    let all = patterns(n, most, separation);
    let largest = |size: fn(f64) -> f64| {
        let of = |set: &Vec<usize>| -> f64 {
            set.iter()
                .flat_map(|&a| set.iter().map(move |&b| (a, b)))
                .map(|(a, b)| size(product(a, b)))
                .sum()
        };
        all.iter().map(of).fold(0.0, f64::max).sqrt()
    };
    (largest(|x| x), largest(f64::abs))
}

#[test]
fn sensitivities_are_those_of_the_worst_pattern() {
    let mut random = Random::new(93);
    for case in 0..600 {
        let n = random.between(1, 11) as usize;
        let (most, separation) = (random.between(1, 5) as usize, random.between(1, 5) as usize);
        let length = random.between(1, n as u64) as usize;
        let mut coefficients: Vec<f64> = (0..length).map(|_| random.unit() + 1e-3).collect();
        match case % 3 {
            0 => coefficients.sort_by(|a, b| b.total_cmp(a)),
            1 => {
                coefficients.truncate(separation);
                for entry in coefficients.iter_mut().skip(1) {
                    *entry -= 0.5;
                }
            }
            _ => {
                for entry in coefficients.iter_mut().skip(1) {
                    *entry -= 0.5;
                }
            }
        }
        let strategy = Strategy::new(steps(n), &coefficients).unwrap();
        let found = strategy.sensitivity(taking(most, separation)).unwrap();
        let (equal, any) = brute_force(&coefficients, n, most, separation);
        assert!(
            found.upper >= any * (1.0 - 1e-14),
            "{coefficients:?} {n} {most} {separation}: {found}"
        );
        assert!(
            found.lower <= any * (1.0 + 1e-14),
            "{coefficients:?} {n} {most} {separation}: {found}"
        );
        if case % 3 < 2 {
            assert!((found.upper / any - 1.0).abs() < 1e-13, "{coefficients:?} {n}: {found} {any}");
            assert!((found.lower / equal - 1.0).abs() < 1e-13, "{coefficients:?} {n}: {found}");
        }
    }
}

#[test]
fn square_roots_and_blts_are_their_coefficients() {
    let mut random = Random::new(94);
    for _ in 0..60 {
        let n = random.between(2, 10) as usize;
        let (most, separation) = (random.between(1, 4) as usize, random.between(1, 4) as usize);
        let bands = random.between(1, n as u64) as usize;
        let root = Strategy::square_root(steps(n), Some(steps(bands))).unwrap();
        let mut coefficients = vec![1.0];
        for k in 1..bands {
            let last = coefficients[k - 1];
            coefficients.push(last * (2 * k - 1) as f64 / (2 * k) as f64);
        }
        let found = root.sensitivity(taking(most, separation)).unwrap();
        let (truth, _) = brute_force(&coefficients, n, most, separation);
        assert!((found.upper / truth - 1.0).abs() < 1e-13 && found.width() < 1e-13, "{found}");
        let (theta, omega) =
            ([random.unit(), random.unit()], [0.5 * random.unit(), 0.5 * random.unit()]);
        let blt = Strategy::blt(steps(n), &theta, &omega).unwrap();
        let mut coefficients = vec![1.0];
        for k in 1..n as i32 {
            let term = |j: usize| omega[j] * theta[j].powi(k - 1);
            coefficients.push(term(0) + term(1));
        }
        let found = blt.sensitivity(taking(most, separation)).unwrap();
        let (truth, _) = brute_force(&coefficients, n, most, separation);
        assert!((found.upper / truth - 1.0).abs() < 1e-13 && found.width() < 1e-13, "{found}");
    }
}

#[test]
fn known_strategies_have_known_sensitivities() {
    for (n, most, separation) in [(1, 1, 1), (10, 3, 2), (1000, 7, 100), (100_000, 1000, 100)] {
        // The identity: as many columns as there are participations.
        let identity = Strategy::new(steps(n), &[2.0]).unwrap();
        let taken = most.min(n.div_ceil(separation));
        let found = identity.sensitivity(taking(most, separation)).unwrap();
        assert!((found.upper - 2.0 * (taken as f64).sqrt()).abs() < 1e-12, "{found}");
        assert!((identity.column_norm().upper - 2.0).abs() < 1e-15);
    }
    for n in 1..=30_usize {
        // Prefix sums, every step: entry i of the sum of all columns is i.
        let ones = Strategy::new(steps(n), &vec![1.0; n]).unwrap();
        let squares: f64 = (1..=n).map(|i| (i * i) as f64).sum();
        let found = ones.sensitivity(taking(n, 1)).unwrap();
        assert!((found.upper / squares.sqrt() - 1.0).abs() < 1e-14, "{n} {found}");
    }
    // The root of the sum of (binomial(2k, k)/4^k)^2 for k below n, by mpmath.
    for (n, norm) in SQUARE_ROOT {
        let root = Strategy::square_root(steps(n), None).unwrap();
        let found = root.column_norm();
        assert!((found.upper / norm - 1.0).abs() < 1e-14 && found.width() < 1e-14, "{n} {found}");
        let once = root.sensitivity(taking(1, 1)).unwrap();
        assert!((once.upper / norm - 1.0).abs() < 1e-14, "{n} {once}");
    }
}

const SQUARE_ROOT: [(usize, f64); 7] = [
    (1, 1.0),
    (2, 1.118_033_988_749_895),
    (3, 1.1792476415070755),
    (10, 1.3384109763395144),
    (100, 1.5910223482514534),
    (1000, 1.8069319524189147),
    (10000, 1.9995025108917396),
];

/// Strategy, steps, bands, separation, participations; and the sensitivity by jax-privacy 2.0
/// (`toeplitz.minsep_sensitivity_squared`, in 64 bits). The BLT has theta 0.9 and 0.5, omega 0.1 and 0.3.
#[rustfmt::skip]
const JAX_PRIVACY: [(&str, usize, usize, usize, usize, f64); 30] = [
    ("root", 64, 64, 1, 5, 6.57581021195138),
    ("root", 64, 64, 10, 3, 3.5208200015945987),
    ("root", 64, 64, 12, 64, 5.209045407545069),
    ("root", 64, 16, 1, 5, 5.651668283118938),
    ("root", 64, 16, 10, 3, 2.759340741976138),
    ("root", 64, 16, 12, 64, 3.8218133101405036),
    ("root", 500, 500, 1, 5, 7.73631396006875),
    ("root", 500, 500, 10, 3, 4.330228446654752),
    ("root", 500, 500, 100, 500, 5.080191482950627),
    ("root", 500, 125, 1, 5, 6.9847952463545875),
    ("root", 500, 125, 10, 3, 3.8374870542478883),
    ("root", 500, 125, 100, 500, 3.9218535656611455),
    ("root", 2000, 2000, 1, 5, 8.420765270241352),
    ("root", 2000, 2000, 10, 3, 4.771500583317779),
    ("root", 2000, 2000, 400, 2000, 5.293481140859847),
    ("root", 2000, 500, 1, 5, 7.737552961888392),
    ("root", 2000, 500, 10, 3, 4.333971970009351),
    ("root", 2000, 500, 400, 2000, 4.195034800747776),
    ("blt", 64, 64, 1, 5, 3.835129826674031),
    ("blt", 64, 64, 10, 3, 2.050782354082114),
    ("blt", 64, 64, 12, 64, 2.9006700891780777),
    ("blt", 64, 64, 9, 2, 1.6539673471148764),
    ("blt", 500, 500, 1, 5, 3.8351302854296994),
    ("blt", 500, 500, 10, 3, 2.0507855746887858),
    ("blt", 500, 500, 100, 500, 2.5315329003150313),
    ("blt", 500, 500, 71, 2, 1.6011530753050656),
    ("blt", 2000, 2000, 1, 5, 3.8351302854296994),
    ("blt", 2000, 2000, 10, 3, 2.0507855746887858),
    ("blt", 2000, 2000, 400, 2000, 2.531523738816484),
    ("blt", 2000, 2000, 285, 2, 1.601076193089072),
];

#[test]
fn sensitivities_are_those_of_jax_privacy() {
    for (name, n, bands, separation, most, truth) in JAX_PRIVACY {
        let strategy = match name {
            "root" => Strategy::square_root(steps(n), Some(steps(bands))),
            _ => Strategy::blt(steps(n), &[0.9, 0.5], &[0.1, 0.3]),
        };
        let found = strategy.unwrap().sensitivity(taking(most, separation)).unwrap();
        assert!((found.upper / truth - 1.0).abs() < 1e-12, "{name} {n} {bands}: {found} {truth}");
        assert!(found.relative_width() < 1e-14, "{name} {n}: {found}");
    }
}

#[test]
fn illegal_strategies_are_refused() {
    let is_refused = |found: Result<Strategy, StrategyError>, words: &str| {
        let text = found.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    is_refused(Strategy::new(steps(2), &[]), "coefficients has 0 entries; legal: 1 to 2");
    is_refused(Strategy::new(steps(2), &[1.0; 3]), "coefficients has 3 entries");
    is_refused(Strategy::new(steps(2), &[0.0, 1.0]), "entry 1 0.0");
    is_refused(Strategy::new(steps(2), &[1.0, f64::NAN]), "entry 2 NaN");
    is_refused(Strategy::square_root(steps(4), Some(steps(5))), "bands is 5; legal: at most 4");
    is_refused(Strategy::blt(steps(4), &[0.5], &[]), "omega has 0 entries");
    is_refused(Strategy::blt(steps(4), &[1.5], &[0.1]), "theta has entry 1 1.5");
    let long = Strategy::square_root(steps(1_000_000), None).unwrap();
    assert!(long.sensitivity(taking(1_000_000, 1)).unwrap_err().to_string().contains("steps is"));
}
