//! The theorems that license answers: their names, where they were proved, and the settings in which they hold.

/// A composition theorem from the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Theorem {
    /// Basic composition: epsilons and deltas add up.
    Basic,
    /// Dwork, Rothblum and Vadhan's advanced composition:
    /// `sqrt(2 ln(1/d') sum e^2) + sum e (exp(e) - 1)`, delta `sum d + d'`.
    Advanced,
    /// Strong composition, as in Smith's lecture:
    /// `sqrt(2 ln(1/d') sum e^2) + sum e tanh(e/2)`, delta `sum d + d'`.
    Strong,
    /// Kairouz, Oh and Viswanath's closed form: the smallest of three terms, delta
    /// `1 - (1 - d~) prod(1 - d)`.
    KovClosedForm,
    /// The closed form with `sum e^2` in place of `sum e tanh(e/2)`, as the paper simplifies it.
    KovSimplified,
    /// Murtagh and Vadhan's own approximation algorithm. Its epsilon lies between the optimum at delta and the optimum
    /// at `e^(-eta/2) delta` plus eta.
    Approximation,
    /// The exact optimum: Kairouz, Oh and Viswanath for equal guarantees, Murtagh and
    /// Vadhan for different ones.
    Optimal,
    /// The product of the pairs that dominate each mechanism dominates their composition.
    DominatingPairs,
    /// Rényi divergences of one order add up, and convert to epsilon and delta.
    Renyi,
    /// Two groups of releases, each bounded by its own theorem; their epsilons and deltas add up.
    Split,
    /// A filter for adaptively chosen guarantees: epsilons and deltas add up.
    SumsFilter,
    /// A filter: Rényi divergences add up at one order, which is fixed first.
    RenyiFilter,
    /// A filter: the rhos of concentrated privacy add up.
    ZcdpFilter,
    /// A filter: the squares of the mus of Gaussian privacy add up.
    GdpFilter,
    /// An odometer: filters with rising budgets that hold at the same time.
    RenyiOdometer,
}

/// The setting in which a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The time at which the privacy parameters are chosen.
    pub parameters: ParameterChoice,
    /// True if interactive mechanisms may run concurrently, with their queries interleaved in any order.
    pub concurrent: bool,
}

/// The time at which privacy parameters are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParameterChoice {
    /// Before the first answer; mechanisms may still be chosen from earlier answers.
    Fixed,
    /// Adaptively, from earlier answers.
    Adaptive,
}

impl Theorem {
    /// The theorems that are closed formulas, weakest first.
    pub const FORMULAS: [Self; 4] =
        [Self::Basic, Self::Advanced, Self::Strong, Self::KovClosedForm];

    /// All theorems.
    pub const ALL: [Self; 15] = [
        Self::Basic,
        Self::Advanced,
        Self::Strong,
        Self::KovClosedForm,
        Self::KovSimplified,
        Self::Approximation,
        Self::Optimal,
        Self::DominatingPairs,
        Self::Renyi,
        Self::Split,
        Self::SumsFilter,
        Self::RenyiFilter,
        Self::ZcdpFilter,
        Self::GdpFilter,
        Self::RenyiOdometer,
    ];

    /// The theorem's name in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Advanced => "advanced",
            Self::Strong => "strong",
            Self::KovClosedForm => "kov-closed-form",
            Self::KovSimplified => "kov-simplified",
            Self::Approximation => "mv-approximation",
            Self::Optimal => "optimal",
            Self::DominatingPairs => "dominating-pairs",
            Self::Renyi => "renyi",
            Self::Split => "split",
            Self::SumsFilter => "sums-filter",
            Self::RenyiFilter => "renyi-filter",
            Self::ZcdpFilter => "zcdp-filter",
            Self::GdpFilter => "gdp-filter",
            Self::RenyiOdometer => "renyi-odometer",
        }
    }

    /// Cites the proof. The advanced and strong theorems are stated for equal guarantees; for sums they follow from
    /// KOV's Theorem III.5, whose second term and whose delta are at most theirs.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::Basic => "Murtagh and Vadhan 2018, Theorem 1.2",
            Self::Advanced => {
                "Dwork, Rothblum and Vadhan 2010; Murtagh and Vadhan 2018, Theorem 1.3"
            }
            Self::Strong => "Smith, lecture on advanced composition, Theorem 1.1",
            Self::KovClosedForm => "Kairouz, Oh and Viswanath 2017, Theorems III.4 and III.5",
            Self::KovSimplified => {
                "Kairouz, Oh and Viswanath 2017, Theorem III.4, simplified below equation (7)"
            }
            Self::Approximation => "Murtagh and Vadhan 2018, Theorem 1.7",
            Self::Optimal => {
                "Murtagh and Vadhan 2018, Theorem 1.5; interleaved queries: Lyu 2022, Theorem 1"
            }
            Self::DominatingPairs => {
                "Zhu, Dong and Wang 2022, Theorem 10; exact for the pairs of docs/theory"
            }
            Self::Renyi => {
                "Lyu 2022, Theorem 2 and Corollary 1; Canonne, Kamath and Steinke 2020, Proposition 12"
            }
            Self::Split => {
                "Murtagh and Vadhan 2018, Theorem 1.2, on loss distributions and Rényi curves"
            }
            Self::SumsFilter => {
                "Rogers, Roth, Ullman and Vadhan 2016; interleaved queries: Haney and others 2023"
            }
            Self::RenyiFilter => {
                "Feldman and Zrnic 2021; interleaved queries: Haney and others 2023"
            }
            Self::ZcdpFilter => {
                "Feldman and Zrnic 2021, at every order; interleaved queries: Haney and others 2023"
            }
            Self::GdpFilter => {
                "Smith and Thakurta 2022; interleaved queries: Haney and others 2023"
            }
            Self::RenyiOdometer => {
                "Feldman and Zrnic 2021, for every level at once; interleaved queries: Haney and others 2023"
            }
        }
    }

    /// The setting in which the theorem holds. All theorems allow mechanisms that are chosen from earlier answers (MV
    /// Theorem 3.5) and interactive mechanisms that run concurrently (Lyu 2022, Theorem 1, as each bound is at least
    /// the optimum). Filters and odometers also allow parameters that are chosen from earlier answers (Haney and others
    /// 2023).
    #[must_use]
    pub fn setting(self) -> Setting {
        let parameters = match self {
            Self::SumsFilter
            | Self::RenyiFilter
            | Self::ZcdpFilter
            | Self::GdpFilter
            | Self::RenyiOdometer => ParameterChoice::Adaptive,
            _ => ParameterChoice::Fixed,
        };
        Setting { parameters, concurrent: true }
    }
}
