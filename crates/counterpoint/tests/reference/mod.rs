//! The judge: the composed profile by its definition, in arbitrary precision.
//!
//! It shares no code and no number library with the product. Inputs are doubles, taken
//! exactly. By MV Theorem 1.5
//!
//! `delta(e) = 1 - prod (1 - d_i) (1 - pure(e))`,
//! `pure(e) = sum over sign patterns of P(pattern) max(0, 1 - e^(e - L(pattern)))`,
//!
//! where a pattern's loss L is the sum of the signed epsilons and P its probability. With
//! Q = P e^-L that is the P mass less e^e times the Q mass of the losses above e. Losses
//! are whole numbers of 2^-90, so which losses are above e is decided exactly.
//!
//! *Error.* Masses are products of at most 10^5 correctly rounded factors and sums of at
//! most 2^21 positive terms at 448 bits: relative error below 2^-400, for P and for
//! e^e Q <= P alike. The difference is therefore right to 2^-399 P. A loss above e is so
//! by at least 2^-90 or so, hence the pure delta is at least 2^-91 of its largest term,
//! and some 300 bits of it are right whatever cancels. Leaks are kept at 2432 bits, right
//! to 2^-2380 absolutely. Both errors are part of the result, an interval.

pub(crate) mod real;
pub(crate) mod table;

use real::Real;

/// Masses.
pub(crate) type Mass = Real<448>;
/// Numbers between zero and one that may differ by 10^-300 from one.
pub(crate) type Fine = Real<2432>;

/// Far more digits than any rounding in the tests of mechanisms can take away.
pub(crate) type Wide = Real<320>;

/// Losses are counted in units of 2^-90: the last bit of any double above 2^-37.
const UNIT_BITS: i32 = 90;

/// A non-negative double in units of a loss, rounded down, and whether that was exact.
fn in_units(x: f64) -> (i128, bool) {
    assert!((0.0..1e9).contains(&x), "{x:e} is not a loss");
    let field = (x.to_bits() >> 52) as i32;
    let fraction = i128::from(x.to_bits() & ((1 << 52) - 1));
    let mantissa = if field == 0 { fraction } else { fraction | (1 << 52) };
    match field.max(1) - 1075 + UNIT_BITS {
        shift @ 0.. => (mantissa << shift, true),
        shift @ -60..0 => (mantissa >> -shift, mantissa & ((1 << -shift) - 1) == 0),
        _ => (0, mantissa == 0),
    }
}

/// A loss in units; it must be exact.
pub(crate) fn loss(epsilon: f64) -> i128 {
    let (units, exact) = in_units(epsilon);
    assert!(exact, "{epsilon:e} has bits below 2^-{UNIT_BITS}");
    units
}

/// A double near a loss.
pub(crate) fn near_loss(loss: i128) -> f64 {
    loss as f64 * 2.0_f64.powi(-UNIT_BITS)
}

/// The P mass and the Q mass of a set of outcomes.
#[derive(Clone)]
struct Masses {
    p: Mass,
    q: Mass,
}

impl Masses {
    fn both(x: f64) -> Self {
        Self { p: Mass::new(x), q: Mass::new(x) }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { p: &self.p + &other.p, q: &self.q + &other.q }
    }

    fn times(&self, other: &Self) -> Self {
        Self { p: &self.p * &other.p, q: &self.q * &other.q }
    }

    /// Q's view is P's with the roles exchanged.
    fn mirrored(&self) -> Self {
        Self { p: self.q.clone(), q: self.p.clone() }
    }
}

/// The masses of the plus atom of one randomized response: e^eps/(1+e^eps) under P,
/// 1/(1+e^eps) under Q.
fn plus_atom(epsilon: f64) -> Masses {
    let power = Mass::new(epsilon).exp();
    let whole = &Mass::new(1.0) + &power;
    Masses { p: &power / &whole, q: &Mass::new(1.0) / &whole }
}

/// Every atom of a composition, by increasing loss.
pub(crate) struct Staircase {
    losses: Vec<i128>,
    /// The masses of the atoms from each on, and of none.
    from: Vec<Masses>,
}

impl Staircase {
    fn new(mut atoms: Vec<(i128, Masses)>) -> Self {
        atoms.sort_by_key(|atom| atom.0);
        let losses = atoms.iter().map(|atom| atom.0).collect();
        let mut from = vec![Masses::both(0.0)];
        for (_, masses) in atoms.iter().rev() {
            from.push(from[from.len() - 1].plus(masses));
        }
        from.reverse();
        Self { losses, from }
    }

    /// All 2^k sign patterns, one by one.
    pub(crate) fn of_patterns(epsilons: &[f64]) -> Self {
        let mut atoms = vec![(0, Masses::both(1.0))];
        for &epsilon in epsilons {
            let (step, plus) = (loss(epsilon), plus_atom(epsilon));
            let minus = plus.mirrored();
            let both = |(at, masses): &(i128, Masses)| {
                [(at + step, masses.times(&plus)), (at - step, masses.times(&minus))]
            };
            atoms = atoms.iter().flat_map(both).collect();
        }
        Self::new(atoms)
    }

    /// Epsilons that are whole multiples of one step: the textbook dynamic program over
    /// how many steps the minuses take down. Q is P upside down.
    pub(crate) fn of_multiples(step: f64, multiples: &[usize]) -> Self {
        let total: usize = multiples.iter().sum();
        let mut p = vec![Mass::new(0.0); total + 1];
        p[0] = Mass::new(1.0);
        let mut reach = 0;
        let mut sorted = multiples.to_vec();
        sorted.sort_unstable();
        let mut last = (0, Masses::both(0.0));
        for multiple in sorted {
            if multiple != last.0 {
                let epsilon = multiple as f64 * step;
                assert!(loss(epsilon) == multiple as i128 * loss(step), "inexact multiple");
                last = (multiple, plus_atom(epsilon));
            }
            let Masses { p: plus, q: minus } = &last.1;
            reach += multiple;
            for y in (0..=reach).rev() {
                let stay = &p[y] * plus;
                p[y] = if y < multiple { stay } else { &stay + &(&p[y - multiple] * minus) };
            }
        }
        let top = total as i128;
        let atom = |y: usize| {
            let masses = Masses { p: p[y].clone(), q: p[total - y].clone() };
            ((top - 2 * y as i128) * loss(step), masses)
        };
        Self::new((0..=total).map(atom).collect())
    }

    fn above(&self, bound: i128) -> Masses {
        self.from[self.losses.partition_point(|&loss| loss <= bound)].clone()
    }
}

/// Few distinct epsilons with multiplicities: nested sums over binomial terms, the
/// innermost of them, the longest, by adding up beforehand.
pub(crate) struct Nested {
    outer: Vec<(i128, Masses)>,
    step: i128,
    count: i128,
    /// The masses of at most y minuses, for y = 0, 1, ...
    at_most: Vec<Masses>,
}

impl Nested {
    pub(crate) fn new(groups: &[(f64, u64)]) -> Self {
        let mut groups = groups.to_vec();
        groups.sort_by_key(|group| group.1);
        let (epsilon, count) = groups.pop().expect("at least one group");
        let mut outer = vec![(0, Masses::both(1.0))];
        for (epsilon, count) in groups {
            let terms = binomial(epsilon, count);
            let times = |(at, masses): &(i128, Masses)| {
                let (at, masses) = (*at, masses.clone());
                terms.iter().map(move |(shift, term)| (at + shift, masses.times(term)))
            };
            outer = outer.iter().flat_map(times).collect();
        }
        let mut at_most: Vec<Masses> = Vec::new();
        for (_, term) in binomial(epsilon, count) {
            let sum = at_most.last().map_or(term.clone(), |sum| sum.plus(&term));
            at_most.push(sum);
        }
        Self { outer, step: loss(epsilon), count: i128::from(count), at_most }
    }

    fn above(&self, bound: i128) -> Masses {
        let mut sum = Masses::both(0.0);
        for (at, masses) in &self.outer {
            // y minuses leave the loss above the bound iff 2 y step < room.
            let room = at + self.count * self.step - bound;
            if room > 0 {
                let y = ((room - 1) / (2 * self.step)).min(self.count) as usize;
                sum = sum.plus(&masses.times(&self.at_most[y]));
            }
        }
        sum
    }
}

/// Loss and masses of 0, 1, ... minuses among equal randomized responses.
fn binomial(epsilon: f64, count: u64) -> Vec<(i128, Masses)> {
    let plus = plus_atom(epsilon);
    let ratio = &plus.q / &plus.p;
    let mut p = vec![plus.p.powi(count)];
    for y in 0..count {
        let chosen = &Mass::new((count - y) as f64) / &Mass::new((y + 1) as f64);
        p.push(&(&p[y as usize] * &chosen) * &ratio);
    }
    let count = count as usize;
    let atom = |y: usize| {
        let masses = Masses { p: p[y].clone(), q: p[count - y].clone() };
        ((count as i128 - 2 * y as i128) * loss(epsilon), masses)
    };
    (0..=count).map(atom).collect()
}

/// The finite losses of a composition, in one of the two forms.
pub(crate) enum Losses {
    Staircase(Staircase),
    Nested(Nested),
}

impl Losses {
    fn above(&self, bound: i128) -> Masses {
        match self {
            Self::Staircase(staircase) => staircase.above(bound),
            Self::Nested(nested) => nested.above(bound),
        }
    }
}

/// Two numbers with the truth between them.
#[derive(Clone, Debug)]
pub(crate) struct Interval {
    pub(crate) low: Fine,
    pub(crate) high: Fine,
}

/// The exact profile of a composition.
pub(crate) struct Reference {
    losses: Losses,
    /// The sum of all epsilons.
    pub(crate) largest: i128,
    /// The probability that nothing leaks, and whether it is exact; `None` if nothing
    /// can leak.
    kept: Option<(Fine, bool)>,
}

impl Reference {
    /// `releases` are (epsilon, delta, count); `losses` must be made of the same epsilons.
    pub(crate) fn new(losses: Losses, releases: &[(f64, f64, u64)]) -> Self {
        let largest = releases.iter().map(|r| loss(r.0) * i128::from(r.2)).sum();
        let leaky = || releases.iter().filter(|r| r.1 > 0.0);
        let kept = leaky().fold(Fine::new(1.0), |kept, &(_, delta, count)| {
            &kept * &(&Fine::new(1.0) - &Fine::new(delta)).powi(count)
        });
        let bits: u64 = leaky().map(|r| r.2 * last_bit(r.1)).sum();
        Self { losses, largest, kept: leaky().next().map(|_| (kept, bits <= 2400)) }
    }

    /// The least delta at an epsilon.
    pub(crate) fn delta(&self, epsilon: f64) -> Interval {
        let Masses { p, q } = self.losses.above(in_units(epsilon).0);
        let pure: Fine = (&p - &(&Mass::new(epsilon).exp() * &q)).with_bits();
        let error: Fine = p.scaled(-399).with_bits();
        let low = &pure - &error;
        let low = if low.is_positive() { low } else { Fine::new(0.0) };
        self.with_leaks(Interval { low, high: &pure + &error })
    }

    fn with_leaks(&self, pure: Interval) -> Interval {
        let Some((kept, exact)) = &self.kept else { return pure };
        let leak = &Fine::new(1.0) - kept;
        let nothing_rounded = *exact && !pure.high.is_positive();
        let error = if nothing_rounded { Fine::new(0.0) } else { Fine::new(1.0).scaled(-2380) };
        let low = &(&leak + &(kept * &pure.low)) - &error;
        let high = &(&leak + &(kept * &pure.high)) + &error;
        Interval { low, high }
    }

    /// The delta that no epsilon can undercut.
    pub(crate) fn leak(&self) -> Interval {
        self.with_leaks(Interval { low: Fine::new(0.0), high: Fine::new(0.0) })
    }

    /// True if a number is above the largest loss.
    pub(crate) fn is_above_all(&self, epsilon: f64) -> bool {
        let (units, exact) = in_units(epsilon);
        units > self.largest || (units == self.largest && !exact)
    }
}

/// s such that a number between zero and one is a whole number of 2^-s.
fn last_bit(x: f64) -> u64 {
    let field = (x.to_bits() >> 52).max(1);
    let mantissa = x.to_bits() | (1 << 52);
    1075 - field - u64::from(mantissa.trailing_zeros())
}
