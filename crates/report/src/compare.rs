use counterpoint::theorem::Bound;
use counterpoint_wire::PlanAnswer;

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::answer;
use crate::wording;

/// Shows the certified optimum beside the costs by the named theorems.
#[must_use]
pub fn compare(composed: &PlanAnswer) -> String {
    let heading = ["theorem", wording::asked_name(composed.question), "times optimal", "source"];
    let upper = composed.value.upper();
    let optimal = Bound { theorem: composed.theorem, value: Ok(upper) };
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned))
        .chain(
            std::iter::once(&optimal).chain(&composed.others).map(|charge| row(composed, charge)),
        )
        .collect();
    let table = columns([Left, Right, Right, Left], &rows);
    let pairs = if composed.pairs.is_empty() { String::new() } else { pairs(composed) };
    format!("{}\n{table}{pairs}", answer(composed))
}

/// The pairs of KOV Theorem III.3, their deltas rounded up.
fn pairs(composed: &PlanAnswer) -> String {
    let heading = ["epsilon", "delta"].map(str::to_owned);
    let rows = composed.pairs.iter().map(|pair| {
        let [epsilon, delta] = [pair.epsilon, pair.delta.upper];
        [epsilon, delta].map(wording::round)
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let source = "together (epsilon, delta)-private, and no more (Kairouz, Oh and Viswanath 2017, Theorem III.3):";
    format!("\n{source}\n{}", columns([Right, Right], &rows))
}

fn row(composed: &PlanAnswer, charge: &Bound) -> [String; 4] {
    let ratio = composed.ratio(charge).map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
    let (value, last) = match &charge.value {
        Ok(value) => (wording::charge(charge.theorem, *value), charge.theorem.source().to_owned()),
        Err(reason) => ("-".to_owned(), format!("does not apply: {reason}")),
    };
    [charge.theorem.name().to_owned(), value, ratio, last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::Route;
    use counterpoint::theorem::Theorem;
    use counterpoint::{Bracket, Delta};
    use counterpoint_wire::{AnswerValue, Question};

    #[test]
    fn each_theorem_is_measured_against_the_optimum() {
        let composed = PlanAnswer {
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
                Bound { theorem: Theorem::Strong, value: Err("the epsilons differ".into()) },
            ],
            warnings: Vec::new(),
        };
        let text = compare(&composed);
        let (_, table) = text.split_once("\n\n").unwrap();
        // The f64 nearest to 4.774568 is a little more than that.
        let expected = format!(
            "\
theorem   epsilon  times optimal  source
optimal  4.774569          1.000  {}
basic    10.00000          2.094  {}
strong          -              -  does not apply: the epsilons differ
",
            Theorem::Optimal.source(),
            Theorem::Basic.source()
        );
        assert_eq!(table, expected);
    }
}
