//! Optimal composition is hard, because it can count.
//!
//! Murtagh and Vadhan (2018, section 4) show that computing optimal composition is #P-complete by turning it into a
//! counter of partitions: in how many ways does a list of integers split in two parts of equal product? This program
//! runs the reduction forwards, with Counterpoint's arbitrary precision as the oracle.
//!
//! ```text
//! cargo run --release -p counterpoint --example partitions -- 2 3 6 4 9 36
//! ```

use counterpoint::AskError;
use counterpoint::ask::{Bits, PreciseGuarantee, PrecisePlan};
use counterpoint::watch::Watch;
use counterpoint_numerics::fractions::Ratio;
use dashu_float::round::mode::HalfEven;
use dashu_float::{DBig, FBig};

type Big = FBig<HalfEven, 2>;

/// The number of subsets P of the list with `prod_{i in P} z_i = prod_{i not in P} z_i`,
/// found by asking an oracle for optimal composition at four epsilons.
///
/// # Errors
/// Those of the oracle.
pub(crate) fn count(list: &[u64]) -> Result<u64, AskError> {
    // Lemma 4.11's special case, with its count corrected: every split of ones is equal.
    if list.iter().all(|&z| z == 1) {
        return Ok(1 << list.len());
    }
    let instance = Instance::new(list);
    // Lemma 4.13: equal products need an integer square root of the whole product.
    let Some(root) = instance.root.clone() else { return Ok(0) };
    // The partitions of gap at least T, minus those of gap above T, each summed up.
    let threshold = &instance.product * &root;
    let at_least = instance.gaps(&(threshold.clone() - Big::ONE), &threshold)?;
    let above = instance.gaps(&threshold, &(threshold.clone() + Big::ONE))?;
    let gap =
        instance.root_of(&threshold) - instance.product_of_weights() / instance.root_of(&threshold);
    let count = ((at_least - above) / gap).to_f64().value();
    Ok(count.round() as u64)
}

/// Integers z_1, ..., z_k and their product, as weights w_i = z_i^(1/D).
struct Instance {
    list: Vec<u64>,
    product: Big,
    root: Option<Big>,
    /// D, large enough for all weights to multiply to at most e.
    degree: u64,
    precision: usize,
}

impl Instance {
    fn new(list: &[u64]) -> Self {
        let bits: f64 = list.iter().map(|&z| (z as f64).log2()).sum();
        // Gaps between thresholds are about 2^(-1.5 bits) / D; four such factors are ample.
        let precision = (8.0 * bits) as usize + 256;
        let product = list.iter().fold(number(1, precision), |p, &z| p * number(z, precision));
        let root = exact_root(&product, precision);
        // The product of all weights is the list's, squared, to the power 1/D.
        let degree = (2.0 * bits * std::f64::consts::LN_2).ceil().max(1.0) as u64;
        Self { list: list.to_vec(), product, root, degree, precision }
    }

    /// x^(1/D).
    fn root_of(&self, x: &Big) -> Big {
        (x.ln() / number(self.degree, self.precision)).exp()
    }

    /// The weights' logarithms, Lemma 4.11's extra one (the product) included: epsilons.
    fn epsilons(&self) -> Vec<Big> {
        let integers = self.list.iter().map(|&z| number(z, self.precision));
        let all = integers.chain([self.product.clone()]);
        all.map(|z| z.ln() / number(self.degree, self.precision)).collect()
    }

    fn product_of_weights(&self) -> Big {
        self.root_of(&(&self.product * &self.product))
    }

    /// `sum (prod_P w - prod_{not P} w)` over the partitions whose larger product, as an
    /// integer, is above `low`: from the oracle at two ratios between the thresholds that
    /// belong to the integers `low` and `high` (Lemma 4.13).
    fn gaps(&self, low: &Big, high: &Big) -> Result<Big, AskError> {
        let whole = self.product_of_weights();
        let ratio = |v: Big| &v * &v / &whole;
        let (bottom, top) = (ratio(self.root_of(low)), ratio(self.root_of(high)));
        let step = (&top - &bottom) / number(3, self.precision);
        let (r, s) = (&bottom + &step, &top - &step);
        let (at_r, at_s) = (self.sum(&r)?, self.sum(&s)?);
        let one = number(1, self.precision);
        Ok((&s - &one) / (&s - &r) * at_r - (&r - &one) / (&s - &r) * at_s)
    }

    /// `sum_P max(prod_P w - r prod_{not P} w, 0)`: optimal composition's delta at epsilon
    /// ln r, times `prod(1 + w)` (the proof of Theorem 1.6).
    fn sum(&self, r: &Big) -> Result<Big, AskError> {
        let epsilons = self.epsilons();
        let guarantees: Vec<_> = epsilons
            .iter()
            .map(|epsilon| PreciseGuarantee {
                epsilon: fraction(epsilon),
                delta: Ratio::ZERO,
                count: 1,
            })
            .collect();
        let bits = Bits::new((self.precision - 64) as u64).map_err(|_| AskError::Stopped)?;
        let plan = PrecisePlan::new(guarantees)?;
        let delta = plan.delta(&fraction(&r.ln()), bits, Watch::none())?.lower;
        let delta: DBig = delta.parse().map_err(|_| AskError::Stopped)?;
        let delta = delta.with_base_and_precision::<2>(self.precision).value();
        let one = number(1, self.precision);
        let norm = epsilons.iter().fold(one.clone(), |n, epsilon| n * (&one + epsilon.exp()));
        Ok(delta.with_rounding() * norm)
    }
}

/// A finite number, exactly.
fn fraction(x: &Big) -> Ratio {
    Ratio::from_raw(dashu_ratio::RBig::try_from(x.clone()).unwrap_or_default())
}

fn number(x: u64, precision: usize) -> Big {
    Big::from(x).with_precision(precision).value()
}

/// The square root, if it is an integer.
fn exact_root(x: &Big, precision: usize) -> Option<Big> {
    let half = number(1, precision) / number(2, precision);
    let near = (x.ln() * half).exp().to_int().value();
    [near.clone() - 1, near.clone(), near + 1]
        .into_iter()
        .map(|candidate| Big::from(candidate).with_precision(precision).value())
        .find(|candidate| &(candidate * candidate) == x)
}

#[allow(dead_code)]
fn main() {
    let given: Result<Vec<u64>, _> = std::env::args().skip(1).map(|z| z.parse()).collect();
    let list = match given {
        Ok(list) if list.contains(&0) => {
            eprintln!("positive integers, please");
            std::process::exit(2);
        }
        Ok(list) if list.is_empty() => vec![2, 3, 6, 4, 9, 36, 5, 5],
        Ok(list) => list,
        Err(error) => {
            eprintln!("positive integers, please: {error}");
            std::process::exit(2);
        }
    };
    match count(&list) {
        Ok(count) => println!(
            "{count} of the {} splits of {list:?} have equal products",
            1_u64 << list.len()
        ),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
