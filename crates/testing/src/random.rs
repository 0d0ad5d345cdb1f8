//! A small generator with a fixed seed, and the distributions of test inputs.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// A whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True with probability 1/n.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number from 0 up to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// A number between two numbers.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A log-uniform number.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp().clamp(low, high)
    }

    /// A log-uniform whole number.
    pub fn log_whole(&mut self, low: u64, high: u64) -> u64 {
        (self.log_uniform(low as f64, high as f64 + 1.0) as u64).clamp(low, high)
    }

    /// An element of a list.
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// The number, or one up to three doubles away.
    pub fn beside(&mut self, x: f64) -> f64 {
        let bits = x.to_bits() as i64 + self.below(7) as i64 - 3;
        if bits < 0 { 0.0 } else { f64::from_bits(bits as u64) }
    }

    fn any_epsilon(&mut self) -> f64 {
        match self.below(6) {
            0 => self.log_uniform(1e-9, 1e-3),
            1 => 2.0_f64.powi(self.below(35) as i32 - 29),
            2 => self.log_uniform(5.0, 50.0),
            _ => self.log_uniform(1e-3, 5.0),
        }
    }

    /// `count` epsilons between 1e-9 and 50: unrelated, repeated, neighbouring doubles, nearly equal, tiny and huge
    /// together, or powers of two.
    pub fn epsilons(&mut self, count: usize) -> Vec<f64> {
        let base = self.any_epsilon();
        let kind = self.below(9);
        let mut list: Vec<f64> = Vec::new();
        for index in 0..count {
            let next = match kind {
                0 => self.log_uniform(1e-9, 50.0),
                1 => self.log_uniform(0.01, 1.0),
                2 => f64::from_bits(base.to_bits() + index as u64),
                3 => base * (1.0 + 1e-15 * self.below(20) as f64),
                4 => base * (1.0 + 1e-12 * self.unit()),
                5 if self.once_in(2) => self.log_uniform(1e-9, 1e-7),
                5 => self.log_uniform(10.0, 50.0),
                6 => 2.0_f64.powi(self.below(35) as i32 - 29),
                7 if index > 0 && !self.once_in(3) => self.of(&list),
                _ => self.any_epsilon(),
            };
            list.push(next.clamp(1e-9, 50.0));
        }
        list
    }

    /// The delta of one release, for a list of which a share leaks.
    pub fn leak(&mut self) -> f64 {
        match self.below(5) {
            0 => self.log_uniform(1e-300, 0.4),
            1 => self.log_uniform(1e-12, 1e-4),
            2 => 2.0_f64.powi(-(self.between(2, 60) as i32)),
            3 => self.log_uniform(1e-300, 1e-30),
            _ => self.log_uniform(1e-9, 0.05),
        }
    }

    /// The deltas of a list: usually none, else all, equal, or some.
    pub fn leaks(&mut self, count: usize) -> Vec<f64> {
        let shared = self.leak();
        let kind = self.below(8);
        let one = |random: &mut Self| match kind {
            0 => shared,
            1 => random.leak(),
            2 if random.once_in(3) => random.leak(),
            _ => 0.0,
        };
        (0..count).map(|_| one(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // Vigna's splitmix64.c with state 1234567.
        let mut random = Random::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected.map(|_| random.bits()), expected);
    }
}
