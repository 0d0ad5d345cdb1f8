//! The events of MV Lemma 3.3: the parts of two distributions that are within a factor of each other, and the parts
//! that are cut away.

use super::{MapError, Pair, Violation};
use counterpoint_numerics::fractions::{self, Ratio};

/// Events E = E(X) and F = F(Y), both of probability 1 - delta. Given these events, X and Y are within a factor x =
/// e^epsilon of each other: the (epsilon, delta) guarantee becomes an (epsilon, 0) guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Events {
    /// The likelihood ratio x = e^epsilon.
    pub ratio: Ratio,
    /// The probability of the complement of each event.
    pub delta: Ratio,
    /// MV's alpha and beta: the excess of the probability of S under X, and of T under Y.
    pub excess: [Ratio; 2],
    /// The masses of each outcome.
    pub outcomes: Vec<EventOutcome>,
}

/// The masses of an outcome, with and without the events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventOutcome {
    /// The probabilities of the outcome under X and under Y.
    pub masses: [Ratio; 2],
    /// MV's e and f: the probabilities of the outcome together with E, and together with F.
    pub kept: [Ratio; 2],
    /// Tells which of MV's sets contains the outcome.
    pub side: Side,
}

/// MV's sets of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In S: more than x times as likely under X.
    First,
    /// In T: more than x times as likely under Y.
    Second,
    /// In neither.
    Between,
}

/// An event that refutes a guarantee: its probability is larger than the guarantee allows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breach {
    /// The claimed likelihood ratio, e^epsilon.
    pub ratio: Ratio,
    /// The claimed delta.
    pub delta: Ratio,
    /// The distribution under which the event is too likely: 0 or 1.
    pub side: usize,
    /// The event: outcomes, counted from 0.
    pub event: Vec<usize>,
    /// The probabilities of the event.
    pub masses: [Ratio; 2],
}

impl Breach {
    /// The probability minus delta and minus ratio times the other probability.
    #[must_use]
    pub fn excess(&self) -> Ratio {
        &self.masses[self.side] - &self.ratio * &self.masses[1 - self.side] - &self.delta
    }

    /// True if the event refutes the claim for this pair.
    #[must_use]
    pub fn refutes(&self, pair: &Pair) -> bool {
        let chosen = || self.event.iter().filter_map(|&at| pair.outcomes().get(at));
        let mut event = self.event.clone();
        event.sort_unstable();
        event.dedup();
        let sums = [0, 1].map(|side: usize| fractions::sum(chosen().map(|masses| &masses[side])));
        event.len() == self.event.len() && sums == self.masses && self.excess() > Ratio::ZERO
    }
}

impl std::fmt::Display for Breach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [large, small] =
            [self.side, 1 - self.side].map(|side| fractions::format_ratio(&self.masses[side]));
        let outcomes: Vec<String> = self.event.iter().map(|at| (at + 1).to_string()).collect();
        write!(
            f,
            "the event of the outcomes {} has probability {large} under {} and {small} under {}; legal: at \
             most {} times that and {}",
            outcomes.join(", "),
            ["p", "q"][self.side],
            ["q", "p"][self.side],
            fractions::format_ratio(&self.ratio),
            fractions::format_ratio(&self.delta),
        )
    }
}

/// Returns the event that exceeds a guarantee most, MV's S or T; `None` if both keep to the guarantee.
#[must_use]
pub fn breach(pair: &Pair, ratio: &Ratio, delta: &Ratio) -> Option<Breach> {
    let of = |side: usize| {
        let above = |masses: &[Ratio; 2]| masses[side] > ratio * &masses[1 - side];
        let all = pair.outcomes().iter().enumerate();
        let event: Vec<usize> = all.filter(|(_, m)| above(m)).map(|(at, _)| at).collect();
        let chosen = || event.iter().filter_map(|&at| pair.outcomes().get(at));
        let masses = [0, 1].map(|side: usize| fractions::sum(chosen().map(|masses| &masses[side])));
        Breach { ratio: ratio.clone(), delta: delta.clone(), side, event, masses }
    };
    let [first, second] = [0, 1].map(of);
    let worse = if second.excess() > first.excess() { second } else { first };
    (worse.excess() > Ratio::ZERO).then_some(worse)
}

/// Computes the events of a pair that is (epsilon, delta)-indistinguishable, x = e^epsilon.
///
/// ```
/// use counterpoint_numerics::fractions::Ratio;
/// use counterpoint_papers::pair::{Pair, events};
///
/// let ratio = |text: &str| text.parse::<Ratio>();
/// let pair = Pair::new(vec![ratio("3/4")?, ratio("1/4")?], vec![ratio("1/4")?, ratio("3/4")?])?;
/// let events = events(&pair, &ratio("2")?, &ratio("1/4")?)?;
/// // Of its 3/4 under X, the first outcome keeps 1/2: that is 2 times its 1/4 under Y.
/// assert_eq!(events.outcomes[0].kept, [ratio("1/2")?, ratio("1/4")?]);
/// assert!(events.are_valid_for(&pair));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MapError::Violated`] if the pair does not have the guarantee; [`MapError::Input`] unless x is at least 1 and delta
/// is at least 0 and less than 1.
pub fn events(pair: &Pair, ratio: &Ratio, delta: &Ratio) -> Result<Events, MapError> {
    let source = Pair::response(ratio, delta)?;
    let entries = 4 * pair.outcomes().len() as u128;
    fractions::check_bits("bits of the map's entries", entries, 4 * pair.bits())?;
    let kept = EventMasses::new(pair, ratio);
    // MV (1), (2): alpha and beta are the profile at epsilon in both directions.
    let excess = [0, 1].map(|side| Ratio::ONE - kept.mass(side));
    let places = [ratio.clone(), Ratio::ONE / ratio];
    for (at, excess) in places.into_iter().zip(&excess) {
        if excess > delta {
            let (source, target) = (source.delta(&at), pair.delta(&at));
            let violation = Violation { ratio: at, source, target };
            return Err(MapError::Violated(Box::new(violation)));
        }
    }
    let kept = kept.evened(ratio).scaled(delta).0;
    let part = |(masses, kept): (&[Ratio; 2], [Ratio; 2])| EventOutcome {
        masses: masses.clone(),
        kept,
        side: Side::of(masses, ratio),
    };
    let outcomes = pair.outcomes().iter().zip(kept).map(part).collect();
    Ok(Events { ratio: ratio.clone(), delta: delta.clone(), excess, outcomes })
}

impl Side {
    fn of([p, q]: &[Ratio; 2], ratio: &Ratio) -> Self {
        if *p > ratio * q {
            Self::First
        } else if *q > ratio * p {
            Self::Second
        } else {
            Self::Between
        }
    }
}

impl EventOutcome {
    /// The probability of E given that X is this outcome, and that of F given that Y is this outcome; `None` for an
    /// impossible outcome.
    #[must_use]
    pub fn chances(&self) -> [Option<Ratio>; 2] {
        [0, 1].map(|side: usize| {
            let mass = &self.masses[side];
            (!mass.is_zero()).then(|| &self.kept[side] / mass)
        })
    }
}

impl Events {
    /// True if the three conditions of MV's proof hold exactly for this pair: 0 <= e <= P and 0 <= f <= Q; e <= xf and
    /// f <= xe; both sum to 1 - delta.
    #[must_use]
    pub fn are_valid_for(&self, pair: &Pair) -> bool {
        let within = |part: &EventOutcome| {
            let [e, f] = &part.kept;
            let parts = part.kept.iter().zip(&part.masses);
            let legal = parts.into_iter().all(|(kept, mass)| *kept >= Ratio::ZERO && kept <= mass);
            legal && *e <= &self.ratio * f && *f <= &self.ratio * e
        };
        let sum = |side: usize| fractions::sum(self.outcomes.iter().map(|part| &part.kept[side]));
        let same = self.outcomes.iter().map(|part| &part.masses).eq(pair.outcomes());
        let rest = Ratio::ONE - &self.delta;
        same && self.outcomes.iter().all(within) && sum(0) == rest && sum(1) == rest
    }
}

/// The masses e and f of each outcome without the events that are cut away. They are within a factor x of each other.
struct EventMasses(Vec<[Ratio; 2]>);

impl EventMasses {
    /// Computes e = min(P, xQ) and f = min(Q, xP).
    fn new(pair: &Pair, ratio: &Ratio) -> Self {
        let cut = |[p, q]: &[Ratio; 2]| {
            [fractions::smaller(p.clone(), ratio * q), fractions::smaller(q.clone(), ratio * p)]
        };
        Self(pair.outcomes().iter().map(cut).collect())
    }

    fn mass(&self, side: usize) -> Ratio {
        fractions::sum(self.0.iter().map(|kept| &kept[side]))
    }

    /// Reduces the larger of the two sums until both are equal. If f has the larger sum, it moves towards e/x at each
    /// outcome where it exceeds e, as far as needed. By the lemma, this suffices.
    fn evened(mut self, ratio: &Ratio) -> Self {
        let masses = [self.mass(0), self.mass(1)];
        let large = usize::from(masses[1] > masses[0]);
        let small = 1 - large;
        let surplus = &masses[large] - &masses[small];
        if surplus.is_zero() {
            return self;
        }
        let room = |kept: &[Ratio; 2]| {
            let above = kept[large] > kept[small];
            if above { &kept[large] - &kept[small] / ratio } else { Ratio::ZERO }
        };
        let share = surplus / fractions::sum(self.0.iter().map(room));
        for kept in &mut self.0 {
            let less = room(kept) * &share;
            kept[large] -= less;
        }
        self
    }

    /// Scales both to sum 1 - delta: by (1 - delta)/(1 - delta0), where delta0 is the mass that was cut.
    fn scaled(mut self, delta: &Ratio) -> Self {
        let factor = (Ratio::ONE - delta) / self.mass(0);
        for mass in self.0.iter_mut().flatten() {
            *mass *= &factor;
        }
        self
    }
}
