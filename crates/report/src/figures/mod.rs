//! The figures of the papers, and our own, from certified numbers.
//!
//! Every number comes from the library when the figure is made. A caption says what its figure
//! shows to be true and where that ends; what it quotes is taken from the plotted points.

mod cost;
mod costs;
mod events;
mod kov;
mod mv;
mod region;
mod smith;
mod time;
mod width;

use counterpoint::ask::AskError;
use counterpoint::composition::CompositionError;
use counterpoint::pair::MapError;
use counterpoint::theorem::Inapplicable;
use counterpoint::{OutOfRange, PlanError};

use crate::plot::Figure;

/// Why a figure could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum FigureError {
    #[error(transparent)]
    Quantity(#[from] OutOfRange),
    #[error(transparent)]
    Composition(#[from] CompositionError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Theorem(#[from] Inapplicable),
    #[error(transparent)]
    Map(#[from] MapError),
}

/// A figure still to be made.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// What to call its files.
    pub name: &'static str,
    make: fn() -> Result<Figure, FigureError>,
}

impl Recipe {
    /// Every figure, in reading order. `time` measures as it is made; the others are always the
    /// same.
    pub const ALL: [Self; 10] = [
        Self { name: "mv-figure-1", make: events::mv_figure_1 },
        Self { name: "mv-figure-2", make: mv::figure_2 },
        Self { name: "kov-figure-1", make: kov::figure_1 },
        Self { name: "kov-figure-2", make: kov::figure_2 },
        Self { name: "kov-figure-3", make: kov::figure_3 },
        Self { name: "smith-figure-1", make: smith::figure_1 },
        Self { name: "smith-figure-2", make: events::smith_figure_2 },
        Self { name: "cost", make: cost::figure },
        Self { name: "width", make: width::figure },
        Self { name: "time", make: time::figure },
    ];

    /// Whether it is one of the papers' or of what they are about. The others are about this library, and are made when they are
    /// asked for.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        !matches!(self.name, "width" | "time")
    }

    /// Makes the figure.
    ///
    /// ```
    /// use counterpoint_report::figures::Recipe;
    ///
    /// let smith = Recipe::ALL.iter().find(|recipe| recipe.name == "smith-figure-1");
    /// let figure = smith.unwrap().make()?;
    /// assert!(figure.caption.contains("strong composition"));
    /// # Ok::<(), counterpoint_report::figures::FigureError>(())
    /// ```
    ///
    /// # Errors
    /// [`FigureError`] if the library has no answer to one of the figure's questions.
    pub fn make(&self) -> Result<Figure, FigureError> {
        (self.make)()
    }
}
