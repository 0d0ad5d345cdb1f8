//! Running a simulation.
use counterpoint_wire::PlanError;

use super::MOST_SAMPLES;
use super::file::{Simulation, Subject};
use super::laplace::simulate_laplace;
use super::pairs::simulate_pairs;
use super::profile::profile;
use super::result::{Divergences, SimulationError, SimulationResult};
use super::stages::simulate_stages;
use super::systems::simulate_systems;

impl SimulationResult {
    /// Computes the maps, checks them, and draws this many transcripts on each of the data sets.
    ///
    /// # Errors
    /// [`SimulationError::Refuted`] with an event if a claim does not hold.
    pub fn new(simulation: &Simulation, samples: u64, seed: u64) -> Result<Self, SimulationError> {
        if samples > MOST_SAMPLES {
            let problem = format!("is {samples}; legal: at most {MOST_SAMPLES}");
            return Err(SimulationError::Input(PlanError::field("samples", problem)));
        }
        let found = match &simulation.subject {
            Subject::Stages(stages) => simulate_stages(stages, samples, seed),
            Subject::Systems(systems) => simulate_systems(systems, samples, seed),
            Subject::Pairs(pairs) => simulate_pairs(pairs, samples, seed),
            Subject::Laplace(epsilon) => simulate_laplace(*epsilon, samples, seed),
        }?;
        Ok(Self { profile: profile(simulation)?, ..found })
    }

    /// A result without parts.
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

    /// Adds the Rényi divergences of an order, if one is given.
    ///
    /// # Errors
    /// See [`Divergences::new`].
    pub fn with_order(
        self,
        simulation: &Simulation,
        order: Option<f64>,
    ) -> Result<Self, SimulationError> {
        let divergences = order.map(|order| Divergences::new(simulation, order)).transpose()?;
        Ok(Self { divergences, ..self })
    }
}
