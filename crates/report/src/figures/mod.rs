//! The figures of the papers, and further ones, from certified numbers.
//!
//! Every number is computed when the figure is drawn. A caption states what its figure shows, and the limits of that;
//! numbers in captions are taken from the plotted points.

mod cost;
mod costs;
mod events;
mod kov;
mod mv;
mod region;
mod smith;
mod time;
mod uses;
mod width;

use counterpoint::ask::{AskError, CalibrateError};
use counterpoint::composition::CompositionError;
use counterpoint::theorem::InapplicableError;
use counterpoint::{Count, Delta, Epsilon, OutOfRangeError, PlanError};
use counterpoint_papers::noise::AdviceError;
use counterpoint_papers::pair::MapError;

use crate::plot::Figure;

/// Why a figure could not be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum FigureError {
    #[error(transparent)]
    Quantity(#[from] OutOfRangeError),
    #[error(transparent)]
    Composition(#[from] CompositionError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Theorem(#[from] InapplicableError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Calibrate(#[from] CalibrateError),
    #[error(transparent)]
    Noise(#[from] AdviceError),
    #[error("{0} has no parameters; legal: without epsilon, delta and releases")]
    Fixed(&'static str),
    #[error("the releases leak {leaks} together; legal: less than 1")]
    Leaks { leaks: f64 },
    #[error("{name} for up to {releases} releases; legal: {least} to {most}")]
    Releases { name: &'static str, releases: u64, least: u64, most: u64 },
}

/// Parameters of a figure that replace those of its paper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    /// The epsilon of each release.
    pub epsilon: Option<Epsilon>,
    /// The total delta, or the delta of each release in figures that compose leaks.
    pub delta: Option<Delta>,
    /// The largest number of releases.
    pub releases: Option<Count>,
}

impl Parameters {
    /// Creates parameters that replace a paper's.
    #[must_use]
    pub fn new(epsilon: Option<Epsilon>, delta: Option<Delta>, releases: Option<Count>) -> Self {
        Self { epsilon, delta, releases }
    }

    /// True if all parameters are the paper's. Captions make claims only for these.
    fn is_papers(&self) -> bool {
        *self == Self::default()
    }

    fn epsilon(&self, papers: f64) -> f64 {
        self.epsilon.map_or(papers, Epsilon::get)
    }

    fn delta(&self, papers: f64) -> f64 {
        self.delta.map_or(papers, Delta::get)
    }

    fn releases(&self, papers: u64) -> u64 {
        self.releases.map_or(papers, Count::get)
    }
}

/// The description of a figure, from which it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct FigureSpec {
    /// The name of its files.
    pub name: &'static str,
    /// The least and the largest number of releases, if parameters can be replaced.
    pub free: Option<(u64, u64)>,
    make: fn(&Parameters) -> Result<Figure, FigureError>,
}

impl FigureSpec {
    /// Every figure, in reading order. `time` and `mv-theorem-1.7` measure times when they are drawn; the others never
    /// change.
    pub const ALL: [Self; 13] = [
        Self { name: "mv-figure-1", free: None, make: events::mv_figure_1 },
        Self { name: "mv-figure-2", free: Some((100, 1_000_000)), make: mv::figure_2 },
        Self { name: "kov-figure-1", free: Some((1, 1)), make: kov::figure_1 },
        Self { name: "kov-figure-2", free: Some((1, 5)), make: kov::figure_2 },
        Self { name: "kov-figure-3", free: Some((2, 10_000)), make: kov::figure_3 },
        Self { name: "smith-figure-1", free: Some((100, 1_000_000)), make: smith::figure_1 },
        Self { name: "smith-figure-2", free: None, make: events::smith_figure_2 },
        Self { name: "cost", free: Some((10, 1_000_000_000)), make: cost::figure },
        Self { name: "kov-noise", free: Some((1, 100_000)), make: uses::noise },
        Self { name: "kov-sketch", free: Some((1, 1)), make: uses::sketch },
        Self { name: "mv-theorem-1.7", free: None, make: uses::theorem_1_7 },
        Self { name: "width", free: None, make: width::figure },
        Self { name: "time", free: None, make: time::figure },
    ];

    /// True for figures about the papers, which are drawn by default. The others are about this library and drawn on
    /// request.
    #[must_use]
    pub fn is_default(&self) -> bool {
        !matches!(self.name, "mv-theorem-1.7" | "width" | "time")
    }

    /// Draws the figure.
    ///
    /// ```
    /// use counterpoint_report::figures::{FigureSpec, Parameters};
    ///
    /// let smith = FigureSpec::ALL.iter().find(|figure| figure.name == "smith-figure-1");
    /// let figure = smith.unwrap().make(&Parameters::default())?;
    /// assert!(figure.caption.contains("strong composition"));
    /// # Ok::<(), counterpoint_report::figures::FigureError>(())
    /// ```
    ///
    /// # Errors
    /// [`FigureError`] if a number cannot be computed, or the figure cannot be drawn for these parameters.
    pub fn make(&self, given: &Parameters) -> Result<Figure, FigureError> {
        if !given.is_papers() {
            let (least, most) = self.free.ok_or(FigureError::Fixed(self.name))?;
            let releases = given.releases.map_or(least, Count::get);
            if !(least..=most).contains(&releases) {
                return Err(FigureError::Releases { name: self.name, releases, least, most });
            }
        }
        (self.make)(given)
    }
}
