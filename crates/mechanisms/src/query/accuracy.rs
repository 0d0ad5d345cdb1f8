//! The distance between answers with and without noise (theory 11.12).

use super::chain::Chain;
use super::covariance::Covariance;
use super::mean::Mean;
use super::measurement::{Measurement, MeasurementBody};
use super::noisy_query::{LEAST_EPSILON, MOST_EPSILON, NoisyQuery, Style};
use super::simulation::{self, Trials};
use super::summand::Summand;
use super::variance::Variance;
use super::{Query, QueryKind, prefixes, tally};
use crate::choice::Exponential;
use crate::data::Data;
use crate::error::{Error, check};
use crate::noise::{Noise, NoiseLaw, SLACK, confident};
use counterpoint::Relation;

/// The components of an answer that determine its accuracy.
enum ErrorModel {
    /// A number with noise, or several with the same noise.
    Plain(NoiseLaw, usize),
    Mean(Mean),
    Variance(Variance),
    Covariance(Covariance),
    /// The root of a variance, and half the width of the bounds, which it does not exceed.
    Deviation(Variance, f64),
    /// A number from -1 to 1; no smaller bound holds for all data.
    Correlation,
    /// Several numbers; no finite bound holds for all data.
    Line,
    Choice(CandidateChoice),
    /// Sums of noisy nodes, for this number of edges.
    Prefixes(Chain, u64),
    Choices(Vec<CandidateChoice>),
}

/// A choice among candidates with whole-numbered scores. Each point of the score multiplies the weight by e^(1/scale).
struct CandidateChoice {
    scale: f64,
    candidates: u64,
    share: (u32, u32),
    rows: u64,
}

impl Measurement {
    fn error_model(&self, rows: u64) -> Result<ErrorModel, Error> {
        let no_sum = Error::Question { legal: "a count, sum, mean, proportion or variance" };
        match (&self.body, &self.query().kind) {
            (MeasurementBody::Bins(noise), _) => {
                Ok(ErrorModel::Plain(NoiseLaw::new(noise), self.query().answer_length()))
            }
            (MeasurementBody::Sums(sums), QueryKind::Mean(bounds)) => {
                Mean::new(sums, rows, bounds.half()).map(ErrorModel::Mean).ok_or(no_sum)
            }
            (MeasurementBody::Sums(sums), QueryKind::Proportion(_)) => {
                Mean::new(sums, rows, 0.5).map(ErrorModel::Mean).ok_or(no_sum)
            }
            (MeasurementBody::Nodes(noise), _) => Ok(ErrorModel::Prefixes(
                Chain::new(NoiseLaw::new(noise)),
                self.query().answer_length() as u64,
            )),
            (MeasurementBody::Sums(sums), QueryKind::Variance(bounds)) => {
                Variance::new(sums, rows, bounds.half()).map(ErrorModel::Variance).ok_or(no_sum)
            }
            (MeasurementBody::Sums(sums), QueryKind::Covariance(x, y)) => {
                let halves = [x.half(), y.half()];
                Covariance::new(sums, rows, halves).map(ErrorModel::Covariance).ok_or(no_sum)
            }
            (MeasurementBody::Sums(sums), QueryKind::Deviation(bounds)) => {
                let (half, variance) = (bounds.half(), Variance::new(sums, rows, bounds.half()));
                variance.map(|variance| ErrorModel::Deviation(variance, half)).ok_or(no_sum)
            }
            (MeasurementBody::Sums(_), QueryKind::Correlation(..)) => Ok(ErrorModel::Correlation),
            (MeasurementBody::Sums(_), QueryKind::Regression { .. }) => Ok(ErrorModel::Line),
            (MeasurementBody::Sums(sums), _) => {
                let (_, noise) = sums.first().ok_or(no_sum)?;
                Ok(ErrorModel::Plain(NoiseLaw::new(noise), 1))
            }
            (MeasurementBody::Choice(choice), QueryKind::Quantile { share, candidates }) => {
                Ok(ErrorModel::Choice(CandidateChoice::new(choice, *share, candidates.len(), rows)))
            }
            (MeasurementBody::Choices(choices) | MeasurementBody::Intervals(choices, _), _) => {
                let (shares, candidates) = self.query().choice().unwrap_or_default();
                let choice = |(choice, share): (&Exponential, &(u32, u32))| {
                    CandidateChoice::new(choice, *share, candidates.len(), rows)
                };
                Ok(ErrorModel::Choices(choices.iter().zip(shares.iter()).map(choice).collect()))
            }
            (MeasurementBody::Choice(_), _) => Err(Error::Question { legal: "a quantile" }),
        }
    }

    /// The largest relative amount by which *more* noise on the same query may give a smaller half-width: grids for
    /// Gaussian noise add a little to the requested noise, and searches are not exact.
    #[must_use]
    pub fn unevenness(&self) -> f64 {
        let gaussian = matches!(self.noisy_query().style(), Style::Gaussian { .. });
        let grid = match &self.query().kind {
            _ if !gaussian => 1e-6,
            QueryKind::Regression { .. } => 0.03,
            _ => 0.008,
        };
        grid + match &self.query().kind {
            QueryKind::Mean(_) | QueryKind::Proportion(_)
                if !self.relation().is_length_public() =>
            {
                0.004
            }
            QueryKind::Cumulative(_) => 0.01,
            QueryKind::Variance(_) | QueryKind::Covariance(..) | QueryKind::Regression { .. } => {
                0.05
            }
            QueryKind::Deviation(_) => 0.05,
            _ => 0.0,
        }
    }

    /// A bound on the distance between the answers with and without noise that holds with at least this confidence,
    /// **whatever the data are**, for `rows` rows. The bound holds for each bin of a histogram, each edge of a
    /// cumulative count and each of several quantiles; for quantiles it counts ranks.
    ///
    /// It is the least such bound for counts, sums, bins, quantiles, and means and proportions of a public number of
    /// records. For other means and proportions, and for edges if the mean absolute noise is above 16, it exceeds the
    /// least bound by some thousandths, and for variances by some hundredths. It is never less than the least bound.
    /// Clamping the data, and rounding to the grid and to doubles, are not counted. [`Measurement::half_width_on`] is a
    /// bound for data other than the worst.
    ///
    /// For a quantile the bound counts the ranks by which the choice is further from the requested rank than the best
    /// candidate. For a covariance it is a proven bound, which may be several times the half-width on the worst data
    /// where the noise is not small compared with the number of rows. For the coefficients of a regression it is
    /// infinite: no finite bound holds for all data.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, rows: u64, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        let alpha = 1.0 - confidence;
        Ok(match self.error_model(rows)? {
            ErrorModel::Plain(law, _) => law.half_width(confidence),
            ErrorModel::Mean(mean) => mean.half_width(alpha),
            ErrorModel::Variance(variance) => variance.half_width(alpha),
            ErrorModel::Covariance(covariance) => covariance.half_width(alpha),
            // |root a - root b| <= root |a - b|.
            ErrorModel::Deviation(variance, half) => variance.half_width(alpha).sqrt().min(half),
            ErrorModel::Correlation => 2.0,
            ErrorModel::Line => f64::INFINITY,
            ErrorModel::Choice(choice) => choice.half_width(alpha),
            ErrorModel::Prefixes(mut chain, edges) => {
                chain.half_width(prefixes::deepest(edges), alpha)
            }
            ErrorModel::Choices(choices) => most(&choices, |choice| choice.half_width(alpha)),
        })
    }

    /// As [`Measurement::half_width`] for all bins of a histogram, all edges of a cumulative count or all of several
    /// quantiles at once: with at least this confidence all errors are within the bound. Noises and choices are
    /// independent. It is the least such bound for bins; for edges as exact as [`Measurement::half_width`]; for
    /// quantiles as if each had its own worst data.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width_all(&self, rows: u64, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        match self.error_model(rows)? {
            // Each of k numbers is within it with probability (confidence)^(1/k).
            ErrorModel::Plain(law, numbers) if numbers > 1 => {
                let alpha = -((-(1.0 - confidence)).ln_1p() / numbers as f64).exp_m1();
                // For confidences near zero the root is accurate, and 1 minus the root is not small.
                Ok(if confidence < 1e-15 {
                    law.half_width(confidence.powf(1.0 / numbers as f64))
                } else {
                    law.furthest(alpha)
                })
            }
            ErrorModel::Prefixes(mut chain, edges) => {
                Ok(chain.half_width_all(edges, prefixes::deepest(edges), 1.0 - confidence))
            }
            ErrorModel::Choices(choices) => Ok(half_width_all(&choices, 1.0 - confidence)),
            _ => self.half_width(rows, confidence),
        }
    }

    /// An estimate of [`Measurement::half_width_all`] where computing that takes a search, in much less time. It guides
    /// a search and must never be reported: its accuracy is not bounded, and where noise is only some steps of its grid
    /// it was observed 15 % too large. `None` where the half-width itself takes no longer, and for cumulative counts.
    ///
    /// # Errors
    /// As for [`Measurement::half_width_all`].
    pub fn about_half_width_all(&self, rows: u64, confidence: f64) -> Result<Option<f64>, Error> {
        confident(confidence)?;
        let alpha = 1.0 - confidence;
        Ok(match self.error_model(rows)? {
            ErrorModel::Mean(mean) => mean.about_half_width(alpha),
            ErrorModel::Variance(variance) => Some(variance.about_half_width(alpha)),
            ErrorModel::Deviation(variance, half) => {
                Some(variance.about_half_width(alpha).sqrt().min(half))
            }
            ErrorModel::Covariance(covariance) => Some(covariance.about_half_width(alpha)),
            _ => None,
        })
    }

    /// The mean distance between the answers with and without noise, for `rows` rows and **the worst data** (and the
    /// worst of several edges or shares). It is exact for counts, sums, bins, quantiles (in ranks), and means and
    /// proportions of a public number of records. For other means and proportions, and for edges, it is at most a
    /// hundredth too large; for variances at most a fifth where the number of rows exceeds the noise on it. It is never
    /// too small.
    #[must_use]
    pub fn expected_error(&self, rows: u64) -> f64 {
        match self.error_model(rows) {
            Ok(ErrorModel::Plain(law, _)) => law.expected(),
            Ok(ErrorModel::Mean(mean)) => mean.expected(),
            Ok(ErrorModel::Variance(variance)) => variance.expected(),
            Ok(ErrorModel::Covariance(covariance)) => covariance.expected(),
            // The mean of the roots is at most the root of the mean.
            Ok(ErrorModel::Deviation(variance, half)) => variance.expected().sqrt().min(half),
            Ok(ErrorModel::Correlation) => 2.0,
            Ok(ErrorModel::Line) => f64::INFINITY,
            Ok(ErrorModel::Choice(choice)) => choice.expected(),
            Ok(ErrorModel::Prefixes(mut chain, edges)) => chain.expected(prefixes::deepest(edges)),
            Ok(ErrorModel::Choices(choices)) => most(&choices, CandidateChoice::expected),
            Err(_) => f64::INFINITY,
        }
    }

    /// As [`Measurement::half_width`], for these data instead of the worst.
    ///
    /// **The example must be public**: a past release, or simulated or invented data. The result depends on the example
    /// without noise; *for private data it would be a leak that is not charged*.
    ///
    /// It serves planning: the worst data are rare, and for quantiles and variances much worse than others. It is the
    /// least such bound for all queries but variances, for which it is some hundredths larger; it is never too small.
    ///
    /// Covariances, correlations, standard deviations and regressions are simulated as in
    /// [`Measurement::half_widths_on`]; the result is the largest half-width.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1, and at most 0.9998 where answers are simulated; as for
    /// [`Measurement::check_data`] if the example does not fit.
    pub fn half_width_on(&self, example: &Data, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        self.check_data(example)?;
        let (data, alpha) = (example.values(), 1.0 - confidence);
        Ok(match self.error_model(data.len() as u64)? {
            ErrorModel::Plain(law, _) => law.half_width(confidence),
            ErrorModel::Mean(mean) => mean.half_width_on(self.moments(data).0, alpha),
            ErrorModel::Variance(variance) => {
                let (mean, square) = self.moments(data);
                variance.half_width_on(mean, square, alpha)
            }
            ErrorModel::Covariance(_)
            | ErrorModel::Deviation(..)
            | ErrorModel::Correlation
            | ErrorModel::Line => {
                let trials =
                    self.trials(example, simulation::count(confidence, self.releases().len())?);
                trials.half_widths(confidence).into_iter().fold(0.0, f64::max)
            }
            ErrorModel::Choice(choice) => choice.half_width_on(&self.scores(data), alpha),
            ErrorModel::Prefixes(mut chain, edges) => {
                chain.half_width(prefixes::deepest(edges), alpha)
            }
            ErrorModel::Choices(choices) => {
                let gaps = self.gaps(data);
                most(&choices, |choice| {
                    choice.half_width_on(&tally::scores(choice.share, &gaps), alpha)
                })
            }
        })
    }

    /// As [`Measurement::half_width_on`] for each number of the answer, such as each coefficient of a regression.
    ///
    /// Covariances, correlations, standard deviations and regressions are simulated on the example 50,000 to 200,000
    /// times, with the laws of their noises and always the same draws. The result is an order statistic of the
    /// distances that is below the true quantile with a probability below 10^-9: it is some hundredths above the
    /// quantile.
    ///
    /// **The example must be public**, as for [`Measurement::half_width_on`].
    ///
    /// # Errors
    /// As for [`Measurement::half_width_on`].
    pub fn half_widths_on(&self, example: &Data, confidence: f64) -> Result<Vec<f64>, Error> {
        confident(confidence)?;
        self.check_data(example)?;
        match self.error_model(example.rows() as u64)? {
            ErrorModel::Covariance(_)
            | ErrorModel::Deviation(..)
            | ErrorModel::Correlation
            | ErrorModel::Line => {
                let trials =
                    self.trials(example, simulation::count(confidence, self.releases().len())?);
                Ok(trials.half_widths(confidence))
            }
            _ => Ok(vec![self.half_width_on(example, confidence)?; self.query().answer_length()]),
        }
    }

    /// Simulated distances between answers with and without noise on these data.
    fn trials(&self, example: &Data, count: usize) -> Trials {
        let MeasurementBody::Sums(sums) = &self.body else {
            return Trials::new(&[], &[], 0, <[f64]>::to_vec);
        };
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

    /// As [`Measurement::expected_error`], for these data instead of the worst.
    ///
    /// Covariances, correlations, standard deviations and regressions are simulated 50,000 times or more; for the
    /// coefficients of a regression the result is the largest of their errors.
    ///
    /// **The example must be public**, as for [`Measurement::half_width_on`].
    ///
    /// # Errors
    /// As for [`Measurement::check_data`].
    pub fn expected_error_on(&self, example: &Data) -> Result<f64, Error> {
        self.check_data(example)?;
        let data = example.values();
        Ok(match self.error_model(data.len() as u64)? {
            ErrorModel::Plain(law, _) => law.expected(),
            ErrorModel::Mean(mean) => mean.expected_on(self.moments(data).0),
            ErrorModel::Variance(variance) => {
                let (mean, square) = self.moments(data);
                variance.expected_on(mean, square)
            }
            ErrorModel::Covariance(_)
            | ErrorModel::Deviation(..)
            | ErrorModel::Correlation
            | ErrorModel::Line => {
                let trials = self.trials(example, simulation::count(0.5, self.releases().len())?);
                trials.expected().into_iter().fold(0.0, f64::max)
            }
            ErrorModel::Choice(choice) => choice.expected_on(&self.scores(data)),
            ErrorModel::Prefixes(mut chain, edges) => chain.expected(prefixes::deepest(edges)),
            ErrorModel::Choices(choices) => {
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
            QueryKind::Quantile { share, candidates } => {
                tally::scores(*share, &tally::gaps(candidates, data))
            }
            _ => Vec::new(),
        }
    }

    /// The mean offset, and the mean square of the offsets if the query adds squares; without noise.
    fn moments(&self, data: &[f64]) -> (f64, f64) {
        let rows = data.len().max(1) as f64;
        let mean = |(one, _): &(Summand, Noise)| one.grid().value(one.steps(data)) / rows;
        match (&self.body, &self.query().kind) {
            (MeasurementBody::Sums(sums), QueryKind::Variance(bounds)) => match sums.as_slice() {
                [.., offsets, squares] => {
                    let half = bounds.half();
                    let m = mean(offsets).clamp(-half, half);
                    (m, mean(squares).clamp(m * m, half * half))
                }
                _ => (0.0, 0.0),
            },
            // The mean amount by which a record exceeds one half.
            (MeasurementBody::Sums(sums), QueryKind::Proportion(_)) => {
                let middle = if sums.len() == 1 { 0.5 } else { 0.0 };
                (sums.last().map_or(0.0, mean) - middle, 0.0)
            }
            (MeasurementBody::Sums(sums), _) => (sums.last().map_or(0.0, mean), 0.0),
            _ => (0.0, 0.0),
        }
    }

    /// True if the half-width is at most `half_width`: one evaluation instead of a search, which would end less than a
    /// 2000th above the true half-width.
    fn keeps(&self, half_width: f64, rows: u64, confidence: f64) -> Result<bool, Error> {
        let (alpha, less) = (1.0 - confidence, half_width * (1.0 - 5e-4));
        match self.error_model(rows)? {
            ErrorModel::Mean(mean) => Ok(mean.keeps(less, alpha, 64.0)),
            ErrorModel::Variance(variance) => Ok(variance.keeps(less, alpha, 16.0)),
            ErrorModel::Covariance(covariance) => Ok(covariance.keeps(less, alpha, 16.0)),
            _ => Ok(self.half_width(rows, confidence)? <= half_width),
        }
    }
}

impl Query {
    /// Adds Laplace noise with the least epsilon, to three digits, whose half-width is at most `half_width` on this
    /// number of rows of data of this relation.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the confidence is not legal or no epsilon up to 500 suffices.
    pub fn laplace_within(
        &self,
        half_width: f64,
        confidence: f64,
        rows: u64,
        relation: Relation,
    ) -> Result<NoisyQuery, Error> {
        confident(confidence)?;
        let keeps = |noisy_query: &NoisyQuery| {
            noisy_query.under(relation)?.keeps(half_width, rows, confidence)
        };
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

/// The largest value over all choices.
fn most(choices: &[CandidateChoice], of: impl Fn(&CandidateChoice) -> f64) -> f64 {
    choices.iter().map(of).fold(0.0, f64::max)
}

/// The least half-width that holds for all of several independent choices with probability at least 1 - alpha, each on
/// its worst data: a product of probabilities.
fn half_width_all(choices: &[CandidateChoice], alpha: f64) -> f64 {
    let keeps = |h: f64| {
        let logarithm = |choice: &CandidateChoice| (-choice.beyond(h)).ln_1p();
        choices.iter().map(logarithm).sum::<f64>() * (1.0 + SLACK) >= (-alpha).ln_1p()
    };
    // A half-width at which each choice fails with at most its part of alpha suffices.
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
    // The probabilities change only at possible shortfalls. Few of these are left, unless ranks are huge.
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

impl CandidateChoice {
    fn new(choice: &Exponential, share: (u32, u32), candidates: usize, rows: u64) -> Self {
        Self { scale: choice.scale(), candidates: candidates as u64, share, rows }
    }

    /// The largest shortfalls of a chosen score below the best score; scores are -|whole below - part rows|. Shortfalls
    /// come in steps of `whole`, from above zero up to one of these three: both candidates on one side of the requested
    /// rank, the chosen one below it and the best above, or the chosen one above and the best below.
    fn furthest(&self) -> [u128; 3] {
        let [part, whole] = [self.share.0, self.share.1].map(u128::from);
        let (below, above) = (part * u128::from(self.rows), (whole - part) * u128::from(self.rows));
        // The distances of the nearest ranks below and above from the requested rank.
        let low = below % whole;
        let high = (whole - low) % whole;
        let one_side = (below - low).max(above - high);
        [one_side, below.saturating_sub(high), above.saturating_sub(low)]
    }

    fn most(&self) -> u128 {
        self.furthest().into_iter().fold(0, u128::max)
    }

    /// The next larger possible shortfall, if there is one.
    fn next(&self, shortfall: u128) -> Option<u128> {
        let whole = u128::from(self.share.1);
        let above = |most: u128| {
            let left = most.checked_sub(shortfall + 1)?;
            Some(most - left / whole * whole)
        };
        self.furthest().into_iter().filter_map(above).min()
    }

    /// The probability of a shortfall of at least this amount on the worst data, where one candidate is best and all
    /// others have the same shortfall.
    fn chance(&self, shortfall: u128) -> f64 {
        let weight = (self.candidates - 1) as f64 * (-(shortfall as f64) / self.scale).exp();
        weight / (1.0 + weight)
    }

    /// The least possible shortfall above this one, in ranks.
    fn above(&self, ranks: f64) -> Option<f64> {
        let whole = f64::from(self.share.1);
        // Rounding may have made a whole number smaller.
        let next = self.next((ranks * whole * (1.0 + SLACK)) as u128)?;
        Some(next as f64 / whole)
    }

    /// The probability of a larger shortfall, in ranks, on the worst data.
    fn beyond(&self, ranks: f64) -> f64 {
        let next = self.above(ranks).map(|next| (next * f64::from(self.share.1)).round());
        next.map_or(0.0, |next| self.chance(next as u128))
    }

    /// The least shortfall that is exceeded with probability at most alpha.
    fn half_width(&self, alpha: f64) -> f64 {
        let keeps = |shortfall: u128| match self.next(shortfall) {
            Some(next) => self.chance(next) * (1.0 + SLACK) <= alpha,
            None => true,
        };
        // An estimate by formula, then exact steps.
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

    /// The largest mean shortfall. With shortfalls g_i of the other candidates it is the sum of g w(g) divided by 1
    /// plus the sum of w(g), which is largest where all g_i are equal: x scales, with (x - 1) e^x equal to the number
    /// of other candidates, or a neighbouring possible shortfall.
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

    /// The shortfall and the probability of each candidate, by decreasing shortfall.
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
