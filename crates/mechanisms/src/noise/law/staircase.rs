//! Probabilities of staircase noise.

/// The masses of a staircase: `scale` times e^(-epsilon level).
#[derive(Clone, Copy, Debug)]
pub(super) struct StaircaseLaw {
    epsilon: f64,
    period: f64,
    cut: f64,
    scale: f64,
}

impl StaircaseLaw {
    pub(super) fn new(epsilon: f64, period: f64, cut: f64) -> Self {
        let (decay, rest) = ((-epsilon).exp(), -(-epsilon).exp_m1());
        let scale = rest / ((2.0 * cut - 1.0) * rest + 2.0 * decay * period);
        Self { epsilon, period, cut, scale }
    }

    fn decay(&self) -> f64 {
        (-self.epsilon).exp()
    }

    fn rest(&self) -> f64 {
        -(-self.epsilon).exp_m1()
    }

    /// The level of k's period, and the position of k within the period.
    fn place(&self, k: f64) -> (f64, f64) {
        let level = (k / self.period).floor();
        (level, (k - level * self.period).clamp(0.0, self.period))
    }

    /// The sum of decay^level over the first period, whose second part is on level 1.
    fn one(&self) -> f64 {
        self.cut + (self.period - self.cut) * self.decay()
    }

    pub(super) fn at_least(&self, k: f64) -> f64 {
        let (level, place) = self.place(k);
        let left = (self.cut - place).max(0.0)
            + (self.period - place.max(self.cut)).max(0.0) * self.decay();
        let later = self.decay() * self.one() / self.rest();
        self.scale * (-self.epsilon * level).exp() * (left + later)
    }

    /// P(|x| <= h): twice the sum over 0 <= j <= h, minus the mass of zero.
    pub(super) fn within(&self, h: f64) -> f64 {
        let (level, place) = self.place(h + 1.0);
        let before = place.min(self.cut) + (place - self.cut).max(0.0) * self.decay();
        let earlier = self.one() * -(-self.epsilon * level).exp_m1() / self.rest();
        let sum = earlier + (-self.epsilon * level).exp() * before;
        self.scale * (2.0 * sum - 1.0)
    }

    /// E (x - k)_+: the sum of (j - k) decay^level over j > k, first over the rest of k's period, then over later
    /// periods.
    pub(super) fn excess(&self, k: f64) -> f64 {
        let (level, place) = self.place(k);
        let (decay, rest, period, cut) = (self.decay(), self.rest(), self.period, self.cut);
        // 0 + 1 + ... + (n - 1).
        let up_to = |n: f64| 0.5 * n * (n - 1.0).max(0.0);
        let high = up_to((cut - place).max(0.0));
        let first = high + decay * (up_to(period - place) - high).max(0.0);
        let moment = up_to(cut) + decay * (up_to(period) - up_to(cut));
        let one = self.one();
        let later = decay * (moment + one * (period / rest - place)) / rest;
        self.scale * (-self.epsilon * level).exp() * (first + later)
    }
}
