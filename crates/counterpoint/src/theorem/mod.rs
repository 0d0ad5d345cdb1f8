//! The named theorems: what each says a composition costs, where it was proved
//! and in which setting it holds.

/// A composition theorem from the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Theorem {
    /// Epsilons and deltas add up.
    Basic,
    /// Dwork, Rothblum and Vadhan's advanced composition.
    Advanced,
    /// Strong composition, as in Smith's lecture.
    Strong,
    /// Kairouz, Oh and Viswanath's closed form.
    KovClosedForm,
    /// The exact optimum: Kairouz, Oh and Viswanath for equal guarantees,
    /// Murtagh and Vadhan for different ones.
    Optimal,
}

/// The setting in which a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// When the privacy parameters are chosen.
    pub parameters: Parameters,
    /// Whether interactive mechanisms may be run side by side, their queries
    /// interleaved at will.
    pub concurrent: bool,
}

/// When privacy parameters are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Parameters {
    /// All of them before the first answer; mechanisms may still be chosen from
    /// earlier answers.
    Fixed,
    /// From earlier answers.
    Adaptive,
}

impl Theorem {
    /// The name users know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Advanced => "advanced",
            Self::Strong => "strong",
            Self::KovClosedForm => "kov-closed-form",
            Self::Optimal => "optimal",
        }
    }

    /// Where it was proved.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::Basic => "Murtagh and Vadhan 2018, Theorem 1.2; Kairouz, Oh and Viswanath 2017, Theorem III.1",
            Self::Advanced => "Dwork, Rothblum and Vadhan 2010; Murtagh and Vadhan 2018, Theorem 1.3",
            Self::Strong => "Smith, lecture on advanced composition, Theorem 1.1",
            Self::KovClosedForm => "Kairouz, Oh and Viswanath 2017, Theorems III.4 and III.5",
            Self::Optimal => "Murtagh and Vadhan 2018, Theorem 1.5; for interleaved queries Lyu 2022, Theorem 1",
        }
    }

    /// The setting it holds in. All of these allow mechanisms chosen from earlier
    /// answers (MV Theorem 3.5) and interactive ones run concurrently (Lyu 2022,
    /// Theorem 1), as long as the parameters are fixed up front.
    #[must_use]
    pub fn setting(self) -> Setting {
        Setting { parameters: Parameters::Fixed, concurrent: true }
    }
}
