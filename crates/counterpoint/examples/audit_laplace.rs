//! Audits two implementations of Laplace noise that both claim epsilon 1, one of which halves
//! the scale by mistake: `cargo run --release -p counterpoint --example audit_laplace`.
//!
//! The attack is fixed before it is run: raise an alarm if the answer is above 1, the
//! query's value with the person's data; without them it is 0.

use counterpoint::audit::{Attack, Tally, audit};
use counterpoint::quantity::{Confidence, NoiseScale, Sensitivity};
use counterpoint::{Count, Delta, Mechanism, Options, OutOfRangeError, Plan};
use std::error::Error;

const TRIALS: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let claimed =
        Mechanism::Laplace { scale: NoiseScale::new(1.0)?, sensitivity: Sensitivity::new(1.0)? };
    let claim = Plan::new([(claimed, Count::ONE)])?;
    for (name, scale) in [("correct", 1.0), ("broken", 0.5)] {
        let attack = attacked(|random| scale * laplace(random))?;
        let found = audit(&[attack], Delta::new(1e-6)?, Confidence::new(0.99)?);
        let refutation = found.refutes(&claim, &Options::default())?;
        println!(
            "{name}: {} false alarms, {} misses in {TRIALS} trials each: epsilon at least {:.4}; \
             the claim of 1 is {}",
            attack.false_alarms.count(),
            attack.misses.count(),
            found.epsilon,
            if refutation.refuted { "refuted" } else { "not refuted" }
        );
    }
    Ok(())
}

/// Runs the mechanism without and with the person's data, and counts the attack's errors.
fn attacked(noise: impl Fn(&mut Generator) -> f64) -> Result<Attack, OutOfRangeError> {
    let mut random = Generator(2024);
    let mut alarms = |value: f64| {
        let alarm = |random: &mut Generator| value + noise(random) > 1.0;
        (0..TRIALS).filter(|_| alarm(&mut random)).count() as u64
    };
    let (without, with) = (alarms(0.0), alarms(1.0));
    Ok(Attack {
        false_alarms: Tally::new(without, TRIALS)?,
        misses: Tally::new(TRIALS - with, TRIALS)?,
    })
}

/// Laplace noise of scale one, for this demonstration only: floating-point noise like this
/// must not protect real data.
fn laplace(random: &mut Generator) -> f64 {
    let u = random.unit() - 0.5;
    -u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln()
}

/// SplitMix64 (Steele, Lea and Flood 2014), so that every run shows the same.
struct Generator(u64);

impl Generator {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * 2.0_f64.powi(-53)
    }
}
