//! Running the proofs forwards.

use super::MOST_SAMPLES;
use super::file::{Simulation, Subject};
use super::found::{Divergences, NotSimulated, Simulated};
use super::laplace::of_laplace;
use super::pairs::of_pairs;
use super::profile::profile;
use super::stages::of_stages;
use super::systems::of_systems;
use crate::text::error::PlanError;

impl Simulated {
    /// Finds the maps, checks them, and draws so many transcripts for each of the data sets.
    ///
    /// # Errors
    /// [`NotSimulated::Refuted`] with an event if a claim does not hold.
    pub fn new(simulation: &Simulation, samples: u64, seed: u64) -> Result<Self, NotSimulated> {
        if samples > MOST_SAMPLES {
            let problem = format!("is {samples}; legal: at most {MOST_SAMPLES}");
            return Err(NotSimulated::Input(PlanError::field("samples", problem)));
        }
        let found = match &simulation.of {
            Subject::Stages(stages) => of_stages(stages, samples, seed),
            Subject::Systems(systems) => of_systems(systems, samples, seed),
            Subject::Pairs(pairs) => of_pairs(pairs, samples, seed),
            Subject::Laplace(epsilon) => of_laplace(*epsilon, samples, seed),
        }?;
        Ok(Self { profile: profile(simulation)?, ..found })
    }

    /// Nothing found yet.
    pub(super) fn empty(samples: u64, seed: u64) -> Self {
        Self {
            stages: Vec::new(),
            systems: Vec::new(),
            pairs: None,
            laplace: None,
            map: None,
            parts_agree: false,
            whole_agrees: None,
            size: None,
            transcripts: Vec::new(),
            samples,
            seed,
            divergences: None,
            profile: Vec::new(),
        }
    }

    /// With the divergences of an order, if one is given.
    ///
    /// # Errors
    /// See [`Divergences::new`].
    pub fn with_order(
        self,
        simulation: &Simulation,
        order: Option<f64>,
    ) -> Result<Self, NotSimulated> {
        let divergences = order.map(|order| Divergences::new(simulation, order)).transpose()?;
        Ok(Self { divergences, ..self })
    }
}
