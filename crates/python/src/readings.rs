//! What a plan means for people.

use pyo3::prelude::*;

use crate::bracket::Bracket;

/// The success of attacks, and the plan as Gaussian privacy.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Readings {
    pub(crate) inner: counterpoint::region::Readings,
}

#[pymethods]
impl Readings {
    /// The largest advantage of any test.
    #[getter]
    fn advantage(&self) -> Bracket {
        self.inner.advantage.into()
    }

    /// The largest probability of a correct guess.
    #[getter]
    fn accuracy(&self) -> Bracket {
        self.inner.accuracy.into()
    }

    /// False-alarm rates, each with the largest rate of true alarms.
    #[getter]
    fn detection(&self) -> Vec<(f64, Bracket)> {
        self.inner.detection.iter().map(|&(rate, alarms)| (rate.get(), alarms.into())).collect()
    }

    /// The largest probability of a successful reconstruction.
    #[getter]
    fn reconstruction(&self) -> Bracket {
        self.inner.reconstruction.into()
    }

    /// The least mu of Gaussian privacy at the floor.
    #[getter]
    fn mu(&self) -> Bracket {
        self.inner.gdp.mu.into()
    }

    /// The least mu without a floor.
    #[getter]
    fn mu_everywhere(&self) -> Bracket {
        self.inner.gdp.everywhere.into()
    }

    /// The distance of the trade-off curves of mu and of the plan.
    #[getter]
    fn regret(&self) -> Bracket {
        self.inner.gdp.regret.into()
    }

    /// The prior, the chance and the floor.
    #[getter]
    fn assumptions(&self) -> (f64, f64, f64) {
        let given = &self.inner.assumptions;
        (given.prior.get(), given.chance.get(), given.floor.get())
    }
}
