//! Training at small rates: layers against lattices, which share neither transforms nor bounds with them.

use crate::common::mechanisms::*;
use counterpoint::Route;
use counterpoint::{Delta, Epsilon, Options, Plan};
use counterpoint_testing::{Random, tries};

/// Steps of private training in which few samples hold a person.
fn training(random: &mut Random) -> Plan {
    let count = random.log_whole(2, 3000);
    let rate = random.log_uniform(1e-6, (3.0 / count as f64).min(0.2));
    let noise = gaussian(random.log_uniform(0.35, 4.0), 1.0);
    plan(&[sampled(count, noise, rate)])
}

/// Both certify, at a tolerance that lattices keep: what they say must have a number in common.
#[test]
fn layers_and_lattices_agree() {
    let mut random = Random::new(0x1a7e5);
    let all = tries(400, 0.01);
    let (mut compared, mut narrow) = (0, 0);
    for _ in 0..all {
        let plan = training(&mut random);
        let delta = Delta::new(random.log_uniform(1e-11, 1e-4)).unwrap();
        let lattice = Options { route: Some(Route::Lattice), ..options(1e-2) };
        let contour = Options { route: Some(Route::Contour), ..options(1e-6) };
        let Ok(layers) = plan.epsilon(delta, &contour) else { continue };
        narrow += 1;
        let Ok(lattice) = plan.epsilon(delta, &lattice) else { continue };
        let both = (layers.bracket, lattice.bracket);
        assert!(layers.bracket.overlaps(&lattice.bracket), "{plan:?} {delta:?}: {both:?}");
        compared += 1;
    }
    assert!(10 * narrow >= 9 * all && 4 * compared >= all, "{compared} and {narrow} of {all}");
}

/// Epsilon and delta are found by different searches: what one certifies the other must not contradict.
#[test]
fn epsilon_and_delta_fit_together() {
    let mut random = Random::new(0xde17a);
    let (mut asked, mut refused) = (0, 0);
    for _ in 0..tries(200, 0.03) {
        let plan = training(&mut random);
        let delta = random.log_uniform(1e-11, 1e-4);
        let Ok(found) = plan.epsilon(Delta::new(delta).unwrap(), &options(1e-6)) else { continue };
        if found.bracket.upper < 1e-9 {
            continue;
        }
        asked += 1;
        let at = |epsilon: f64| plan.delta(Epsilon::new(epsilon).unwrap(), &options(1e-4));
        let (Ok(above), Ok(below)) = (at(found.bracket.upper), at(found.bracket.lower)) else {
            refused += 1;
            continue;
        };
        assert!(above.bracket.lower <= delta, "{plan:?}: {above:?} at {found:?}");
        assert!(below.bracket.upper >= delta, "{plan:?}: {below:?} at {found:?}");
        // A percent more delta is another epsilon.
        let more = plan.epsilon(Delta::new(1.01 * delta).unwrap(), &options(1e-6)).unwrap();
        assert!(more.bracket.upper < found.bracket.lower, "{plan:?}: {more:?} and {found:?}");
    }
    assert!(asked >= 5 && 20 * refused <= asked, "{refused} of {asked}");
}

/// Two steps: their transform hardly falls, and the search for its end must have one. The value is that of the nested
/// quadrature (tests/reference).
#[test]
fn what_hardly_falls_is_given_up() {
    if !counterpoint_testing::is_full() {
        return;
    }
    let plan = plan(&[sampled(2, gaussian(4.0, 1.0), 1e-4)]);
    let exact = 0.000_231_498_241_859_431;
    if let Ok(found) = plan.epsilon(Delta::new(1e-10).unwrap(), &options(1e-6)) {
        assert!(found.bracket.lower <= exact && exact <= found.bracket.upper, "{found:?}");
    }
}
