//! Running the proofs forwards.

use super::MOST_SAMPLES;
use super::file::Simulation;
use super::found::{Divergences, NotSimulated, Simulated};
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
        match simulation {
            Simulation::Stages(stages) => of_stages(stages, samples, seed),
            Simulation::Systems(systems) => of_systems(systems, samples, seed),
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
