//! How far answers are from those without noise (theory 11.12).

use super::chain::Chain;
use super::covariance::Covariance;
use super::mean::Mean;
use super::measurement::{Body, Measurement};
use super::recipe::{LEAST_EPSILON, MOST_EPSILON, Recipe, Style};
use super::simulation::{self, Trials};
use super::summand::Summand;
use super::variance::Variance;
use super::{Kind, Query, prefixes, tally};
use crate::choice::Exponential;
use crate::data::Data;
use crate::error::{Error, check};
use crate::noise::{Law, Noise, SLACK, confident};
use counterpoint::Relation;

/// What an answer is made of, as far as its accuracy goes.
enum Answer {
    /// A number with noise, or several that have the same.
    Plain(Law, usize),
    Mean(Mean),
    Variance(Variance),
    Covariance(Covariance),
    /// The root of a variance, which is at most half the width of the bounds.
    Deviation(Variance, f64),
    /// A number from -1 to 1, of which nothing less holds for all data.
    Correlation,
    /// Several numbers, of which nothing finite holds for all data.
    Line,
    Choice(Choice),
    /// Sums of nodes with noise, for so many edges.
    Prefixes(Chain, u64),
    Choices(Vec<Choice>),
}

/// A choice among candidates, by whole-numbered scores of which the weights fall by e^(-1/scale) each.
struct Choice {
    scale: f64,
    candidates: u64,
    share: (u32, u32),
    rows: u64,
}

impl Measurement {
    fn answer(&self, rows: u64) -> Result<Answer, Error> {
        let no_sum = Error::Question { legal: "a count, sum, mean, proportion or variance" };
        match (&self.body, &self.query().kind) {
            (Body::Bins(noise), _) => Ok(Answer::Plain(Law::new(noise), self.query().numbers())),
            (Body::Sums(sums), Kind::Mean(bounds)) => {
                Mean::new(sums, rows, bounds.half()).map(Answer::Mean).ok_or(no_sum)
            }
            (Body::Sums(sums), Kind::Proportion(_)) => {
                Mean::new(sums, rows, 0.5).map(Answer::Mean).ok_or(no_sum)
            }
            (Body::Nodes(noise), _) => {
                Ok(Answer::Prefixes(Chain::new(Law::new(noise)), self.query().numbers() as u64))
            }
            (Body::Sums(sums), Kind::Variance(bounds)) => {
                Variance::new(sums, rows, bounds.half()).map(Answer::Variance).ok_or(no_sum)
            }
            (Body::Sums(sums), Kind::Covariance(x, y)) => {
                let halves = [x.half(), y.half()];
                Covariance::new(sums, rows, halves).map(Answer::Covariance).ok_or(no_sum)
            }
            (Body::Sums(sums), Kind::Deviation(bounds)) => {
                let (half, variance) = (bounds.half(), Variance::new(sums, rows, bounds.half()));
                variance.map(|variance| Answer::Deviation(variance, half)).ok_or(no_sum)
            }
            (Body::Sums(_), Kind::Correlation(..)) => Ok(Answer::Correlation),
            (Body::Sums(_), Kind::Regression { .. }) => Ok(Answer::Line),
            (Body::Sums(sums), _) => {
                let (_, noise) = sums.first().ok_or(no_sum)?;
                Ok(Answer::Plain(Law::new(noise), 1))
            }
            (Body::Choice(choice), Kind::Quantile { share, candidates }) => {
                Ok(Answer::Choice(Choice::new(choice, *share, candidates.len(), rows)))
            }
            (Body::Choices(choices) | Body::Intervals(choices, _), _) => {
                let (shares, candidates) = self.query().choice().unwrap_or_default();
                let choice = |(choice, share): (&Exponential, &(u32, u32))| {
                    Choice::new(choice, *share, candidates.len(), rows)
                };
                Ok(Answer::Choices(choices.iter().zip(shares.iter()).map(choice).collect()))
            }
            (Body::Choice(_), _) => Err(Error::Question { legal: "a quantile" }),
        }
    }

    /// By how much, relatively, the half-width of the same question with *more* noise may be below this one's: grids
    /// for Gaussian noise take a little more than is asked for, and searches leave a little.
    #[must_use]
    pub fn unevenness(&self) -> f64 {
        let gaussian = matches!(self.recipe().style(), Style::Gaussian { .. });
        let grid = match &self.query().kind {
            _ if !gaussian => 1e-6,
            Kind::Regression { .. } => 0.03,
            _ => 0.008,
        };
        grid + match &self.query().kind {
            Kind::Mean(_) | Kind::Proportion(_) if !self.relation().is_length_public() => 0.004,
            Kind::Cumulative(_) => 0.01,
            Kind::Variance(_) | Kind::Covariance(..) | Kind::Regression { .. } => 0.05,
            Kind::Deviation(_) => 0.05,
            _ => 0.0,
        }
    }

    /// The answer is within this of that without noise with at least this probability, **whatever the
    /// data are**, for so many rows: for each bin of a histogram, each edge of a cumulative count and each of
    /// several quantiles; in ranks for a quantile.
    ///
    /// It is the least such number for counts, sums, bins, means and proportions of publicly many and quantiles; for
    /// other means and proportions, and for edges if the mean distance of the noise is above 16, within some thousandth
    /// parts, and for variances some hundredth parts, of what holds for the worst data; never less. Clamping the data, and rounding to the grid and to doubles, are not
    /// counted. What holds for data that are *not* the worst is [`Measurement::half_width_on`]'s.
    ///
    /// For a quantile: how many ranks further from the one wanted than the best candidate. For a covariance it is a bound
    /// that is proved, and up to some times as wide as what the worst data have where the noise is not small beside the rows. For a regression's coefficients it is
    /// infinite: nothing less holds for all data.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, rows: u64, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        let alpha = 1.0 - confidence;
        Ok(match self.answer(rows)? {
            Answer::Plain(law, _) => law.half_width(confidence),
            Answer::Mean(mean) => mean.half_width(alpha),
            Answer::Variance(variance) => variance.half_width(alpha),
            Answer::Covariance(covariance) => covariance.half_width(alpha),
            // |root a - root b| <= root |a - b|.
            Answer::Deviation(variance, half) => variance.half_width(alpha).sqrt().min(half),
            Answer::Correlation => 2.0,
            Answer::Line => f64::INFINITY,
            Answer::Choice(choice) => choice.half_width(alpha),
            Answer::Prefixes(mut chain, edges) => chain.half_width(prefixes::deepest(edges), alpha),
            Answer::Choices(choices) => most(&choices, |choice| choice.half_width(alpha)),
        })
    }

    /// The same for all bins of a histogram, all edges of a cumulative count or all of several quantiles at once: with
    /// at least this probability none of them is further off. Noises and choices are independent. It is the least such
    /// number for bins; for edges as [`Measurement::half_width`] is; for quantiles as if each had its own worst data.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width_all(&self, rows: u64, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        match self.answer(rows)? {
            // Each of k within with the k-th root of the confidence.
            Answer::Plain(law, numbers) if numbers > 1 => {
                let alpha = -((-(1.0 - confidence)).ln_1p() / numbers as f64).exp_m1();
                // Of a confidence next to zero the root is known, and what it lacks to one is not small.
                Ok(if confidence < 1e-15 {
                    law.half_width(confidence.powf(1.0 / numbers as f64))
                } else {
                    law.furthest(alpha)
                })
            }
            Answer::Prefixes(mut chain, edges) => {
                Ok(chain.half_width_all(edges, prefixes::deepest(edges), 1.0 - confidence))
            }
            Answer::Choices(choices) => Ok(half_width_all(&choices, 1.0 - confidence)),
            _ => self.half_width(rows, confidence),
        }
    }

    /// About [`Measurement::half_width_all`] where that is searched for, in much less time: to look around with, never to promise.
    /// Nothing is promised of how near it is: where noise is only some steps of its grid it was seen 15 % too large. `None` where
    /// the half-width itself takes no longer, and for cumulative counts.
    ///
    /// # Errors
    /// As for [`Measurement::half_width_all`].
    pub fn about_half_width_all(&self, rows: u64, confidence: f64) -> Result<Option<f64>, Error> {
        confident(confidence)?;
        let alpha = 1.0 - confidence;
        Ok(match self.answer(rows)? {
            Answer::Mean(mean) => mean.about_half_width(alpha),
            Answer::Variance(variance) => Some(variance.about_half_width(alpha)),
            Answer::Deviation(variance, half) => {
                Some(variance.about_half_width(alpha).sqrt().min(half))
            }
            Answer::Covariance(covariance) => Some(covariance.about_half_width(alpha)),
            _ => None,
        })
    }

    /// The mean distance from the answer without noise, for so many rows and **the worst data** (and the worst edge, or
    /// share, of several): exact for counts, sums, bins, means and proportions of publicly many, and quantiles (in
    /// ranks); for other means and proportions, and for edges, within a hundredth part, and for variances within a fifth where rows outnumber the noise on them; never
    /// less.
    #[must_use]
    pub fn expected_error(&self, rows: u64) -> f64 {
        match self.answer(rows) {
            Ok(Answer::Plain(law, _)) => law.expected(),
            Ok(Answer::Mean(mean)) => mean.expected(),
            Ok(Answer::Variance(variance)) => variance.expected(),
            Ok(Answer::Covariance(covariance)) => covariance.expected(),
            // The mean of roots is at most the root of the mean.
            Ok(Answer::Deviation(variance, half)) => variance.expected().sqrt().min(half),
            Ok(Answer::Correlation) => 2.0,
            Ok(Answer::Line) => f64::INFINITY,
            Ok(Answer::Choice(choice)) => choice.expected(),
            Ok(Answer::Prefixes(mut chain, edges)) => chain.expected(prefixes::deepest(edges)),
            Ok(Answer::Choices(choices)) => most(&choices, Choice::expected),
            Err(_) => f64::INFINITY,
        }
    }

    /// The same as [`Measurement::half_width`] for these data rather than for the worst.
    ///
    /// **The example has to be public**: a past release, simulated or made-up data. What this returns
    /// depends on it, without noise; *of private data it would be a leak that nothing is charged for*.
    ///
    /// To plan with: worst data are rare, and for quantiles and variances much worse than others. It is
    /// the least such number for all but variances, for which it is within some hundredth parts; never less.
    ///
    /// Covariances and regressions are tried out: as for [`Measurement::half_widths_on`], of which it is the largest.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1, and at most 0.9998 where answers are tried out; as for
    /// [`Measurement::suits`] if the example does not suit.
    pub fn half_width_on(&self, example: &Data, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        self.suits(example)?;
        let (data, alpha) = (example.values(), 1.0 - confidence);
        Ok(match self.answer(data.len() as u64)? {
            Answer::Plain(law, _) => law.half_width(confidence),
            Answer::Mean(mean) => mean.half_width_on(self.moments(data).0, alpha),
            Answer::Variance(variance) => {
                let (mean, square) = self.moments(data);
                variance.half_width_on(mean, square, alpha)
            }
            Answer::Covariance(_) | Answer::Deviation(..) | Answer::Correlation | Answer::Line => {
                let trials =
                    self.trials(example, simulation::count(confidence, self.releases().len())?);
                trials.half_widths(confidence).into_iter().fold(0.0, f64::max)
            }
            Answer::Choice(choice) => choice.half_width_on(&self.scores(data), alpha),
            Answer::Prefixes(mut chain, edges) => chain.half_width(prefixes::deepest(edges), alpha),
            Answer::Choices(choices) => {
                let gaps = self.gaps(data);
                most(&choices, |choice| {
                    choice.half_width_on(&tally::scores(choice.share, &gaps), alpha)
                })
            }
        })
    }

    /// The same for each number of the answer: for each coefficient of a regression.
    ///
    /// Covariances and regressions are tried out on the example 50,000 to 200,000 times, with the laws of their noises and
    /// always the same draws. Of all distances that one is taken that is below the true quantile with a chance of less
    /// than 10^-9: some hundredth parts above it.
    ///
    /// **The example has to be public**, as for [`Measurement::half_width_on`].
    ///
    /// # Errors
    /// As for [`Measurement::half_width_on`].
    pub fn half_widths_on(&self, example: &Data, confidence: f64) -> Result<Vec<f64>, Error> {
        confident(confidence)?;
        self.suits(example)?;
        match self.answer(example.rows() as u64)? {
            Answer::Covariance(_) | Answer::Deviation(..) | Answer::Correlation | Answer::Line => {
                let trials =
                    self.trials(example, simulation::count(confidence, self.releases().len())?);
                Ok(trials.half_widths(confidence))
            }
            _ => Ok(vec![self.half_width_on(example, confidence)?; self.query().numbers()]),
        }
    }

    /// How far answers on these data are off when they are tried out.
    fn trials(&self, example: &Data, count: usize) -> Trials {
        let Body::Sums(sums) = &self.body else { return Trials::new(&[], &[], 0, <[f64]>::to_vec) };
        let summands: Vec<Summand> = sums.iter().map(|(summand, _)| *summand).collect();
        let exact = tally::sums(&summands, example);
        let value =
            |((one, _), units): (&(Summand, Noise), &i128)| one.grid().value(one.rounded(*units));
        let exact: Vec<f64> = sums.iter().zip(&exact).map(value).collect();
        let rows = example.rows() as f64;
        let line = self.line(rows);
        Trials::new(sums, &exact, count, |noisy| match &line {
            Some(line) => line.coefficients(noisy),
            None => vec![self.number(noisy, rows)],
        })
    }

    /// The same as [`Measurement::expected_error`] for these data rather than for the worst.
    ///
    /// Covariances and regressions are tried out, 50,000 times or more; of a regression's coefficients it is the largest.
    ///
    /// **The example has to be public**, as for [`Measurement::half_width_on`].
    ///
    /// # Errors
    /// As for [`Measurement::suits`].
    pub fn expected_error_on(&self, example: &Data) -> Result<f64, Error> {
        self.suits(example)?;
        let data = example.values();
        Ok(match self.answer(data.len() as u64)? {
            Answer::Plain(law, _) => law.expected(),
            Answer::Mean(mean) => mean.expected_on(self.moments(data).0),
            Answer::Variance(variance) => {
                let (mean, square) = self.moments(data);
                variance.expected_on(mean, square)
            }
            Answer::Covariance(_) | Answer::Deviation(..) | Answer::Correlation | Answer::Line => {
                let trials = self.trials(example, simulation::count(0.5, self.releases().len())?);
                trials.expected().into_iter().fold(0.0, f64::max)
            }
            Answer::Choice(choice) => choice.expected_on(&self.scores(data)),
            Answer::Prefixes(mut chain, edges) => chain.expected(prefixes::deepest(edges)),
            Answer::Choices(choices) => {
                let gaps = self.gaps(data);
                most(&choices, |choice| choice.expected_on(&tally::scores(choice.share, &gaps)))
            }
        })
    }

    /// The gaps between the candidates of several quantiles.
    fn gaps(&self, data: &[f64]) -> Vec<i128> {
        match self.query().choice() {
            Some((_, candidates)) => tally::gaps(candidates, data),
            None => Vec::new(),
        }
    }

    /// The scores of a quantile's candidates.
    fn scores(&self, data: &[f64]) -> Vec<i64> {
        match &self.query().kind {
            Kind::Quantile { share, candidates } => {
                tally::scores(*share, &tally::gaps(candidates, data))
            }
            _ => Vec::new(),
        }
    }

    /// The mean of the offsets, and that of their squares if they are added up: as they are without
    /// noise.
    fn moments(&self, data: &[f64]) -> (f64, f64) {
        let rows = data.len().max(1) as f64;
        let mean = |(one, _): &(Summand, Noise)| one.grid().value(one.steps(data)) / rows;
        match (&self.body, &self.query().kind) {
            (Body::Sums(sums), Kind::Variance(bounds)) => match sums.as_slice() {
                [.., offsets, squares] => {
                    let half = bounds.half();
                    let m = mean(offsets).clamp(-half, half);
                    (m, mean(squares).clamp(m * m, half * half))
                }
                _ => (0.0, 0.0),
            },
            // Where ones are added up, what they are more than half of.
            (Body::Sums(sums), Kind::Proportion(_)) => {
                let middle = if sums.len() == 1 { 0.5 } else { 0.0 };
                (sums.last().map_or(0.0, mean) - middle, 0.0)
            }
            (Body::Sums(sums), _) => (sums.last().map_or(0.0, mean), 0.0),
            _ => (0.0, 0.0),
        }
    }

    /// Whether it keeps to a half-width: one look instead of a search, which would end less than a
    /// 2000th part above what it finds.
    fn keeps(&self, half_width: f64, rows: u64, confidence: f64) -> Result<bool, Error> {
        let (alpha, less) = (1.0 - confidence, half_width * (1.0 - 5e-4));
        match self.answer(rows)? {
            Answer::Mean(mean) => Ok(mean.keeps(less, alpha, 64.0)),
            Answer::Variance(variance) => Ok(variance.keeps(less, alpha, 16.0)),
            Answer::Covariance(covariance) => Ok(covariance.keeps(less, alpha, 16.0)),
            _ => Ok(self.half_width(rows, confidence)? <= half_width),
        }
    }
}

impl Query {
    /// Answered with the least Laplace epsilon, to three digits, that keeps to a half-width on
    /// so many rows of data of this relation.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the confidence is not legal or no epsilon up to 500 will do.
    pub fn laplace_within(
        &self,
        half_width: f64,
        confidence: f64,
        rows: u64,
        relation: Relation,
    ) -> Result<Recipe, Error> {
        confident(confidence)?;
        let keeps = |recipe: &Recipe| recipe.under(relation)?.keeps(half_width, rows, confidence);
        let (mut low, mut high) = (LEAST_EPSILON, MOST_EPSILON);
        let mut best = self.laplace(high)?;
        let legal = "no less than what epsilon 500 gives";
        check(keeps(&best)?, "half-width", half_width, legal)?;
        while high / low > 1.001 {
            let middle = (low * high).sqrt();
            let trial = self.laplace(middle)?;
            if keeps(&trial)? {
                (high, best) = (middle, trial);
            } else {
                low = middle;
            }
        }
        Ok(best)
    }
}

/// The largest.
fn most(choices: &[Choice], of: impl Fn(&Choice) -> f64) -> f64 {
    choices.iter().map(of).fold(0.0, f64::max)
}

/// The least half-width that all of several independent choices keep to with at least 1 - alpha, each on its worst
/// data: the product of their chances.
fn half_width_all(choices: &[Choice], alpha: f64) -> f64 {
    let keeps = |h: f64| {
        let logarithm = |choice: &Choice| (-choice.beyond(h)).ln_1p();
        choices.iter().map(logarithm).sum::<f64>() * (1.0 + SLACK) >= (-alpha).ln_1p()
    };
    // All together need no more than if each had its part of alpha.
    let each = alpha / choices.len() as f64;
    let mut high = most(choices, |choice| choice.half_width(each));
    let mut low = most(choices, |choice| choice.half_width(alpha));
    if keeps(low) {
        return low;
    }
    let few = 1.0 / choices.len() as f64;
    while high - low > few.max(1e-9 * high) {
        let middle = 0.5 * (low + high);
        if keeps(middle) { high = middle } else { low = middle }
    }
    // Chances change only where something can be lacked: at few places that are left, unless ranks are huge.
    let next = |h: f64| choices.iter().filter_map(|choice| choice.above(h)).reduce(f64::min);
    let mut step = next(low);
    while let Some(h) = step.filter(|h| *h <= high) {
        if keeps(h) {
            return h;
        }
        step = if high < 1e8 { next(h) } else { None };
    }
    high * (1.0 + 1e-9)
}

impl Choice {
    fn new(choice: &Exponential, share: (u32, u32), candidates: usize, rows: u64) -> Self {
        Self { scale: choice.scale(), candidates: candidates as u64, share, rows }
    }

    /// What a chosen score can lack to the best: differences of |whole below - part rows|. They come in steps of
    /// the whole, from above zero up to these: both on one side of the rank wanted, or the chosen one below it
    /// and the best above, or the other way round.
    fn furthest(&self) -> [u128; 3] {
        let [part, whole] = [self.share.0, self.share.1].map(u128::from);
        let (below, above) = (part * u128::from(self.rows), (whole - part) * u128::from(self.rows));
        // The nearest ranks miss by this from below, and by that from above.
        let low = below % whole;
        let high = (whole - low) % whole;
        let one_side = (below - low).max(above - high);
        [one_side, below.saturating_sub(high), above.saturating_sub(low)]
    }

    fn most(&self) -> u128 {
        self.furthest().into_iter().fold(0, u128::max)
    }

    /// The next such number above this, if there is one.
    fn next(&self, shortfall: u128) -> Option<u128> {
        let whole = u128::from(self.share.1);
        let above = |most: u128| {
            let left = most.checked_sub(shortfall + 1)?;
            Some(most - left / whole * whole)
        };
        self.furthest().into_iter().filter_map(above).min()
    }

    /// The worst data have one best candidate, and all others lack the same: how often one of those
    /// is chosen.
    fn chance(&self, shortfall: u128) -> f64 {
        let weight = (self.candidates - 1) as f64 * (-(shortfall as f64) / self.scale).exp();
        weight / (1.0 + weight)
    }

    /// The least number of ranks above this that can be lacked.
    fn above(&self, ranks: f64) -> Option<f64> {
        let whole = f64::from(self.share.1);
        // A whole number may have become less by rounding.
        let next = self.next((ranks * whole * (1.0 + SLACK)) as u128)?;
        Some(next as f64 / whole)
    }

    /// How often more ranks are lacked, on the worst data.
    fn beyond(&self, ranks: f64) -> f64 {
        let next = self.above(ranks).map(|next| (next * f64::from(self.share.1)).round());
        next.map_or(0.0, |next| self.chance(next as u128))
    }

    /// The least shortfall above which none is chosen more often than that.
    fn half_width(&self, alpha: f64) -> f64 {
        let keeps = |shortfall: u128| match self.next(shortfall) {
            Some(next) => self.chance(next) * (1.0 + SLACK) <= alpha,
            None => true,
        };
        // The formula, and then the grid.
        let odds = (self.candidates - 1) as f64 * (1.0 - alpha) / alpha;
        let about = (self.scale * odds.ln()).max(0.0).min(self.most() as f64);
        let whole = u128::from(self.share.1);
        let mut shortfall = (about as u128 / whole * whole).saturating_sub(2 * whole);
        if keeps(0) {
            return 0.0;
        }
        while !keeps(shortfall) {
            match self.next(shortfall) {
                Some(next) => shortfall = next,
                None => break,
            }
        }
        shortfall as f64 / f64::from(self.share.1)
    }

    /// The largest mean shortfall. With others lacking g_i it is the sum of g w(g) over 1 plus that of
    /// w(g): largest, for given value, where all g_i are the same maximizer. That is x scales, (x - 1) e^x
    /// being how many others there are, or next to it on the grid.
    fn expected(&self) -> f64 {
        let others = (self.candidates - 1) as f64;
        let (mut low, mut high) = (1.0, 2.0 + others.max(1.0).ln());
        for _ in 0..60 {
            let x = 0.5 * (low + high);
            if (x - 1.0) * f64::exp(x) < others { low = x } else { high = x }
        }
        let whole = u128::from(self.share.1);
        let about = (self.scale * low).min(self.most() as f64) as u128;
        let start = (about / whole * whole).saturating_sub(whole);
        let mut best: f64 = 0.0;
        let mut shortfall = start;
        for _ in 0..16 {
            let Some(next) = self.next(shortfall) else { break };
            best = best.max(next as f64 * self.chance(next));
            shortfall = next;
        }
        best.max(start as f64 * self.chance(start)) / f64::from(self.share.1)
    }

    /// What each candidate lacks, and how often it is chosen, by falling shortfall.
    fn law(&self, scores: &[i64]) -> Vec<(f64, f64)> {
        let best = scores.iter().copied().max().unwrap_or(0);
        let lack = |&score: &i64| (i128::from(best) - i128::from(score)) as f64;
        let mut law: Vec<(f64, f64)> =
            scores.iter().map(|score| (lack(score), (-lack(score) / self.scale).exp())).collect();
        law.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total: f64 = law.iter().map(|(_, weight)| weight).sum();
        law.iter_mut().for_each(|(_, weight)| *weight /= total);
        law
    }

    fn half_width_on(&self, scores: &[i64], alpha: f64) -> f64 {
        let mut beyond = 0.0;
        for (shortfall, chance) in self.law(scores) {
            beyond += chance;
            if beyond * (1.0 + SLACK) > alpha {
                return shortfall / f64::from(self.share.1);
            }
        }
        0.0
    }

    fn expected_on(&self, scores: &[i64]) -> f64 {
        let law = self.law(scores);
        law.iter().map(|(lack, chance)| lack * chance).sum::<f64>() / f64::from(self.share.1)
    }
}
