use counterpoint::theorem::Bound;
use counterpoint_wire::{AnswerValue, PlanAnswer};

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::wording;

/// Shows the certified answer and the costs by the named theorems.
#[must_use]
pub fn compose(composed: &PlanAnswer) -> String {
    let mut text = answer(composed);
    if !composed.others.is_empty() {
        text.push('\n');
        text.push_str(&charges(composed));
    }
    text
}

/// The answer, its route and the theorem that licenses it.
pub(crate) fn answer(composed: &PlanAnswer) -> String {
    let (given_name, given) = wording::given(composed.question);
    let given = composed.given.as_ref().map_or(given, ToString::to_string);
    let mut certified = match &composed.value {
        AnswerValue::Bracket(bracket) => wording::certified(*bracket),
        // All requested digits are shown.
        AnswerValue::Digits { lower, upper } => format!("{upper}\n(certified: at least {lower})"),
    };
    certified.extend(composed.wide.map(wider));
    certified.extend(composed.share.map(met_by));
    let theorem = composed.theorem;
    let rows = [
        (wording::asked_name(composed.question), certified),
        (given_name, format!("{given} (given)")),
        ("route", wording::route(composed.route)),
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", wording::setting(theorem.setting())),
    ];
    aligned_rows(rows)
}

/// A line about a bracket that is wider than the tolerance aims at.
pub(crate) fn wider(width: f64) -> String {
    format!("\n(wider than was aimed at: {width:.1e} of its upper end)")
}

/// A line about the exponential mechanisms that attain the lower bound.
fn met_by(share: f64) -> String {
    let (above, below) = (share, 1.0 - share);
    format!("\n(lower end: two outcomes, losses of {above:.4} and -{below:.4} of each range)")
}

/// Names with their texts in columns. Further lines of a text are aligned under its first line.
pub(crate) fn aligned_rows<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows = rows.into_iter().map(|(name, text)| [name.to_owned(), text]);
    let rows: Vec<_> = rows.flat_map(continued).collect();
    columns([Left, Left], &rows)
}

/// One row for each line of the text.
fn continued([name, text]: [String; 2]) -> Vec<[String; 2]> {
    let names = std::iter::once(name).chain(std::iter::repeat(String::new()));
    names.zip(text.lines().map(str::to_owned)).map(Into::into).collect()
}

fn charges(composed: &PlanAnswer) -> String {
    let heading = ["theorem", wording::asked_name(composed.question), "saving", ""];
    let rows = composed.others.iter().map(|charge| match &charge.value {
        Ok(value) => [
            charge.theorem.name().to_owned(),
            wording::charge(charge.theorem, *value),
            saving(composed, *value),
            String::new(),
        ],
        Err(none) => silent(charge, &none.reason),
    });
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
    columns([Left, Right, Right, Left], &rows)
}

/// The row of a theorem that does not apply.
fn silent(charge: &Bound, reason: &str) -> [String; 4] {
    let name = charge.theorem.name().to_owned();
    [name, "-".to_owned(), "-".to_owned(), format!("does not apply: {reason}")]
}

/// The saving of the certified answer compared with a theorem's cost, rounded toward zero.
fn saving(composed: &PlanAnswer, charge: f64) -> String {
    let percent = 100.0 * (1.0 - composed.value.upper() / charge);
    if percent.is_nan() {
        return "-".to_owned();
    }
    // Adding zero turns a negative zero into zero.
    let percent = (percent * 10.0).trunc() / 10.0 + 0.0;
    format!("{percent:.1} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::Route;
    use counterpoint::theorem::Theorem;
    use counterpoint::{Bracket, Delta, Epsilon};
    use counterpoint_wire::Question;

    fn composed() -> PlanAnswer {
        PlanAnswer {
            question: Question::EpsilonAt(Delta::new(1e-6).unwrap()),
            value: AnswerValue::Bracket(Bracket { lower: 4.774_567, upper: 4.774_568 }),
            route: Route::Equal,
            theorem: Theorem::Optimal,
            wide: None,
            share: None,
            given: None,
            pairs: Vec::new(),
            others: vec![
                Bound { theorem: Theorem::Basic, value: Ok(10.0) },
                Bound { theorem: Theorem::Advanced, value: Ok(6.308_123_456) },
                Bound { theorem: Theorem::Strong, value: Err("the epsilons differ".into()) },
                Bound { theorem: Theorem::KovClosedForm, value: Ok(4.774_567) },
            ],
            warnings: Vec::new(),
        }
    }

    #[test]
    fn the_bracket_comes_first_and_the_savings_last() {
        let source = Theorem::Optimal.source();
        let expected = format!(
            "\
epsilon  4.77456801 (certified; the exact value is at most 1.1e-6 less)
delta    1e-6 (given)
route    equal (one binomial sum, exact)
theorem  optimal
         ({source})
setting  parameters fixed before the first answer, mechanisms chosen as you go;
         sequentially or concurrently, queries interleaved at will

theorem           epsilon  saving
basic            10.00000  52.2 %
advanced         6.308124  24.3 %
strong                  -       -  does not apply: the epsilons differ
kov-closed-form  4.774567   0.0 %
"
        );
        assert_eq!(compose(&composed()), expected);
    }

    #[test]
    fn a_delta_may_be_asked_and_be_zero() {
        let question = Question::DeltaAt(Epsilon::new(1.0).unwrap());
        let value = AnswerValue::Bracket(Bracket::exact(0.0));
        let others = vec![Bound { theorem: Theorem::Basic, value: Ok(0.0) }];
        let text = compose(&PlanAnswer { question, value, others, ..composed() });
        assert!(text.starts_with("delta    0 (certified, exact)\nepsilon  1 (given)"));
        assert!(text.ends_with("basic        0       -\n"), "{text}");
    }

    #[test]
    fn a_wide_bracket_says_so() {
        let text = compose(&PlanAnswer { wide: Some(0.05), ..composed() });
        let second = "\n         (wider than was aimed at: 5.0e-2 of its upper end)\ndelta ";
        assert!(text.contains(second), "{text}");
    }

    #[test]
    fn many_digits_are_said_once_each() {
        let value = AnswerValue::Digits { lower: "1.25".into(), upper: "1.26".into() };
        let text = compose(&PlanAnswer { value, others: Vec::new(), ..composed() });
        let start = "epsilon  1.26\n         (certified: at least 1.25)\ndelta    1e-6 (given)\n";
        assert!(text.starts_with(start), "{text}");
    }
}
