//! `/v1/sessions`.

pub(super) mod ask;
pub(super) mod list;
pub(super) mod open;

use counterpoint_curator::Spend;

use super::problem::{ILLEGAL, Problem};

fn spend(epsilon: Option<f64>, rho: Option<f64>) -> Result<Option<Spend>, Problem> {
    match (epsilon, rho) {
        (None, None) => Ok(None),
        (Some(epsilon), None) => Ok(Some(Spend::Epsilon(epsilon))),
        (None, Some(rho)) => Ok(Some(Spend::Rho(rho))),
        _ => Err(ILLEGAL.problem("epsilon and rho are both given; legal: one of them")),
    }
}
