//! Conversions and noise rules, and the JSON objects that carry them.

use counterpoint::ask::{AskError, Options};
use counterpoint::theorem::convert;
use counterpoint::{Bracket, Count, Delta, Epsilon, Guarantee, Plan, Sensitivity};
use counterpoint_papers::noise::{self, Advice, NoAdvice, Stairs};

use crate::text::object::{Decimal, Object, ends};

/// What a guarantee is worth in other words (KOV Remark A.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Converted {
    /// The guarantee.
    pub from: Guarantee,
    /// The largest total variation distance it allows.
    pub total_variation: Bracket,
    /// The least delta at another epsilon, if one was asked about.
    pub delta: Option<(Epsilon, Bracket)>,
    /// The least epsilon at another delta, if one was asked about; `None` if there is none, the delta being below the
    /// guarantee's own.
    pub epsilon: Option<(Delta, Option<Bracket>)>,
    /// Whether every mechanism with the guarantee has another one, if one was asked about.
    pub implied: Option<(Guarantee, bool)>,
}

impl Converted {
    /// Converts a guarantee: to an epsilon, to a delta, or to both, which is a question.
    ///
    /// # Errors
    /// [`AskError`] if the least epsilon cannot be told.
    pub fn new(
        from: Guarantee,
        epsilon: Option<Epsilon>,
        delta: Option<Delta>,
    ) -> Result<Self, AskError> {
        let total_variation = convert::total_variation(from);
        let mut converted =
            Self { from, total_variation, delta: None, epsilon: None, implied: None };
        match (epsilon, delta) {
            (None, None) => {}
            (Some(at), None) => converted.delta = Some((at, convert::delta_at(from, at))),
            (None, Some(at)) => converted.epsilon = Some((at, epsilon_at(from, at)?)),
            (Some(epsilon), Some(delta)) => {
                let to = Guarantee { epsilon, delta };
                converted.implied = Some((to, convert::implies(from, to)));
            }
        }
        Ok(converted)
    }

    /// The `convert --json` object.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let at = |epsilon: Option<Object>, delta: Object| {
            Object::new().field("epsilon", epsilon).field("delta", delta)
        };
        let point = |number: f64| ends(Bracket::exact(number));
        let to = match (self.delta, self.epsilon, self.implied) {
            (Some((epsilon, delta)), ..) => Some(at(Some(point(epsilon.get())), ends(delta))),
            (_, Some((delta, epsilon)), _) => Some(at(epsilon.map(ends), point(delta.get()))),
            (_, _, Some((Guarantee { epsilon, delta }, implied))) => {
                let to = at(Some(point(epsilon.get())), point(delta.get()));
                Some(to.field("implied", implied))
            }
            _ => None,
        };
        each(self.from)
            .field("total_variation", ends(self.total_variation))
            .some("to", to)
            .field("theorem", Self::SOURCE)
            .json()
    }

    /// Where it was proved.
    pub const SOURCE: &'static str = "Kairouz, Oh and Viswanath 2017, Remark A.1";
}

/// The corner of the guarantee's own region is the worst: the least epsilon is that of composing it once.
fn epsilon_at(from: Guarantee, delta: Delta) -> Result<Option<Bracket>, AskError> {
    let Ok(one) = Plan::new([(from, Count::ONE)]) else { return Ok(None) };
    match one.epsilon(delta, &Options::default()) {
        Ok(answer) => Ok(Some(answer.bracket)),
        Err(AskError::BelowLeak { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A guarantee that was given.
fn each(guarantee: Guarantee) -> Object {
    Object::new()
        .field("epsilon", Decimal::shortest(guarantee.epsilon.get()))
        .field("delta", Decimal::shortest(guarantee.delta.get()))
}

/// What published rules say about the noise that a target needs, each with what the exact profile says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseRules {
    /// What all queries together are to have.
    pub target: Guarantee,
    /// How many queries there are.
    pub count: Count,
    /// How far one person moves each.
    pub sensitivity: Sensitivity,
    /// The rules, each with its advice or why it gives none.
    pub rules: Vec<(Rule, Result<Advised, NoAdvice>)>,
}

/// A published rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// KOV Corollary V.1.
    PerQuery,
    /// KOV Corollary V.2.
    Laplace,
    /// KOV Theorem V.3.
    Gaussian,
    /// One query with Laplace noise.
    LaplaceOnce,
    /// One query with Gaussian noise.
    GaussianOnce,
    /// One query by the staircase.
    Staircase,
    /// One query by the staircase or uniform noise.
    StaircaseOrUniform,
}

impl Rule {
    /// The name users know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PerQuery => "per-query",
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
            Self::LaplaceOnce => "laplace-once",
            Self::GaussianOnce => "gaussian-once",
            Self::Staircase => "staircase",
            Self::StaircaseOrUniform => "staircase-or-uniform",
        }
    }

    /// Where it was published.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::PerQuery => "Kairouz, Oh and Viswanath 2017, Corollary V.1",
            Self::Laplace => "Kairouz, Oh and Viswanath 2017, Corollary V.2",
            Self::Gaussian => "Kairouz, Oh and Viswanath 2017, Theorem V.3",
            Self::LaplaceOnce => "Dwork, McSherry, Nissim and Smith 2006",
            Self::GaussianOnce => "quoted by Kairouz, Oh and Viswanath 2017, section V-A",
            Self::Staircase => "Geng and Viswanath 2012",
            Self::StaircaseOrUniform => "Geng and Viswanath 2013",
        }
    }
}

/// A rule's advice: some of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advised {
    /// What each query may have by itself.
    pub each: Option<Guarantee>,
    /// The variance of each query's noise.
    pub variance: Option<f64>,
    /// Its parameter by name: scale, sigma, gamma or width.
    pub parameter: Option<(&'static str, f64)>,
    /// The delta at the target's epsilon that it certainly keeps.
    pub delta: Option<f64>,
}

impl NoiseRules {
    /// Asks every rule: those for k queries, and for a single one those for one.
    #[must_use]
    pub fn new(target: Guarantee, count: Count, sensitivity: Sensitivity) -> Self {
        let Guarantee { epsilon, delta } = target;
        let noisy = |advice: Advice, name, parameter: f64| Advised {
            variance: Some(advice.variance),
            parameter: Some((name, parameter)),
            delta: Some(advice.delta),
            each: None,
        };
        // More noise than was confirmed is no harm; less would be.
        let up = |square: f64| square.sqrt().next_up();
        let laplace = |advice: Advice| noisy(advice, "scale", up(advice.variance / 2.0));
        let gaussian = |advice: Advice| noisy(advice, "sigma", up(advice.variance));
        let each = |each| Advised { each: Some(each), ..Advised::default() };
        let mut rules = vec![
            (Rule::PerQuery, noise::per_query(epsilon, delta, count).map(each)),
            (Rule::Laplace, noise::laplace(epsilon, delta, count, sensitivity).map(laplace)),
            (Rule::Gaussian, noise::gaussian(epsilon, delta, count, sensitivity).map(gaussian)),
        ];
        if count == Count::ONE {
            let once = noise::laplace_once(epsilon, sensitivity).map(laplace);
            rules.push((Rule::LaplaceOnce, once));
            let once = noise::gaussian_once(epsilon, delta, sensitivity).map(gaussian);
            rules.push((Rule::GaussianOnce, once));
            rules.push((Rule::Staircase, noise::staircase(epsilon, sensitivity).map(stairs)));
            let either = noise::staircase_or_uniform(epsilon, delta, sensitivity).map(stairs);
            rules.push((Rule::StaircaseOrUniform, either));
        }
        Self { target, count, sensitivity, rules }
    }

    /// The `noise --json` object.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let rules = self.rules.iter().map(|(rule, advised)| rule_object(*rule, advised));
        each(self.target)
            .field("count", self.count.get())
            .field("sensitivity", Decimal::shortest(self.sensitivity.get()))
            .field("rules", rules.collect::<Vec<_>>())
            .json()
    }
}

fn stairs(stairs: Stairs) -> Advised {
    let parameter = match stairs {
        Stairs::Staircase { gamma, .. } => Some(("gamma", gamma)),
        Stairs::Uniform { width, .. } => Some(("width", width)),
        _ => None,
    };
    Advised { variance: Some(stairs.variance()), parameter, ..Advised::default() }
}

fn rule_object(rule: Rule, advised: &Result<Advised, NoAdvice>) -> Object {
    let up = |x: f64| Decimal::up(x).trimmed();
    let some = advised.as_ref().ok().copied().unwrap_or_default();
    let achieved = match advised {
        Err(NoAdvice::NotConfirmed { achieved, .. }) => Some(*achieved),
        _ => None,
    };
    let object = Object::new()
        .field("rule", rule.name())
        .field("source", rule.source())
        .field("holds", advised.is_ok())
        .some("each", some.each.map(each))
        .some("variance", some.variance.map(Decimal::shortest));
    let object = match some.parameter {
        Some((name, value)) => object.field(name, Decimal::shortest(value)),
        None => object,
    };
    object
        .some("delta", some.delta.or(achieved).map(up))
        .some("reason", advised.as_ref().err().map(ToString::to_string))
}
