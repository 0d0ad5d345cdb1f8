//! Published rules for noise, and their advice as JSON.

use counterpoint::{Count, Guarantee, Sensitivity};
use counterpoint_papers::noise::{self, Advice, AdviceError, Stairs};
use counterpoint_wire::document::{Decimal, Object, guarantee_object};

/// The advice of published rules for the noise that a target needs, each checked against the exact profile.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseRules {
    /// The guarantee that all queries together must have.
    pub target: Guarantee,
    /// The number of queries.
    pub count: Count,
    /// The sensitivity of each query.
    pub sensitivity: Sensitivity,
    /// The rules, each with its advice or the reason why it gives none.
    pub rules: Vec<(NoiseRule, Result<RuleAdvice, AdviceError>)>,
}

/// A published rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseRule {
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

impl NoiseRule {
    /// The name of the rule for users.
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

    /// The publication that has the rule.
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

/// The advice of a rule. Each rule gives some of these numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RuleAdvice {
    /// The guarantee that each query alone may have.
    pub each: Option<Guarantee>,
    /// The variance of each query's noise.
    pub variance: Option<f64>,
    /// The name and the value of the noise's parameter: scale, sigma, gamma or width.
    pub parameter: Option<(&'static str, f64)>,
    /// The delta that is certified at the target's epsilon.
    pub delta: Option<f64>,
}

impl NoiseRules {
    /// Applies the rules for this number of queries; for one query also the rules that are about one.
    #[must_use]
    pub fn new(target: Guarantee, count: Count, sensitivity: Sensitivity) -> Self {
        let Guarantee { epsilon, delta } = target;
        let noisy = |advice: Advice, name, parameter: f64| RuleAdvice {
            variance: Some(advice.variance),
            parameter: Some((name, parameter)),
            delta: Some(advice.delta),
            each: None,
        };
        // Rounded up: more noise than was certified does no harm.
        let up = |square: f64| square.sqrt().next_up();
        let laplace = |advice: Advice| noisy(advice, "scale", up(advice.variance / 2.0));
        let gaussian = |advice: Advice| noisy(advice, "sigma", up(advice.variance));
        let each = |each| RuleAdvice { each: Some(each), ..RuleAdvice::default() };
        let mut rules = vec![
            (NoiseRule::PerQuery, noise::per_query(epsilon, delta, count).map(each)),
            (NoiseRule::Laplace, noise::laplace(epsilon, delta, count, sensitivity).map(laplace)),
            (
                NoiseRule::Gaussian,
                noise::gaussian(epsilon, delta, count, sensitivity).map(gaussian),
            ),
        ];
        if count == Count::ONE {
            let once = noise::laplace_once(epsilon, sensitivity).map(laplace);
            rules.push((NoiseRule::LaplaceOnce, once));
            let once = noise::gaussian_once(epsilon, delta, sensitivity).map(gaussian);
            rules.push((NoiseRule::GaussianOnce, once));
            rules.push((NoiseRule::Staircase, noise::staircase(epsilon, sensitivity).map(stairs)));
            let either = noise::staircase_or_uniform(epsilon, delta, sensitivity).map(stairs);
            rules.push((NoiseRule::StaircaseOrUniform, either));
        }
        Self { target, count, sensitivity, rules }
    }

    /// The `noise --json` object.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let rules = self.rules.iter().map(|(rule, advised)| rule_object(*rule, advised));
        guarantee_object(self.target)
            .field("count", self.count.get())
            .field("sensitivity", Decimal::shortest(self.sensitivity.get()))
            .field("rules", rules.collect::<Vec<_>>())
            .json()
    }
}

fn stairs(stairs: Stairs) -> RuleAdvice {
    let parameter = match stairs {
        Stairs::Staircase { gamma, .. } => Some(("gamma", gamma)),
        Stairs::Uniform { width, .. } => Some(("width", width)),
        _ => None,
    };
    RuleAdvice { variance: Some(stairs.variance()), parameter, ..RuleAdvice::default() }
}

fn rule_object(rule: NoiseRule, advised: &Result<RuleAdvice, AdviceError>) -> Object {
    let up = |x: f64| Decimal::up(x).trimmed();
    let some = advised.as_ref().ok().copied().unwrap_or_default();
    let achieved = match advised {
        Err(AdviceError::NotConfirmed { achieved, .. }) => Some(*achieved),
        _ => None,
    };
    let object = Object::new()
        .field("rule", rule.name())
        .field("source", rule.source())
        .field("holds", advised.is_ok())
        .some("each", some.each.map(guarantee_object))
        .some("variance", some.variance.map(Decimal::shortest));
    let object = match some.parameter {
        Some((name, value)) => object.field(name, Decimal::shortest(value)),
        None => object,
    };
    object
        .some("delta", some.delta.or(achieved).map(up))
        .some("reason", advised.as_ref().err().map(ToString::to_string))
}
