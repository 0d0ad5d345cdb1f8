use counterpoint::quantity::format_number;
use counterpoint_studies::{IDEALISED, SketchAnswer, SketchResult};

use crate::columns::Align::Right;
use crate::columns::columns;
use crate::compose::aligned_rows;

/// Shows a sketch's numbers and answers, and says that they are idealised.
#[must_use]
pub fn sketch(sketched: &SketchResult) -> String {
    let (own, [epsilon, delta]) = (&sketched.sketching, sketched.claim.map(format_number));
    let (each_epsilon, each_delta) = own.each();
    let mut rows = vec![
        ("NOTE", IDEALISED.to_owned()),
        ("claim", format!("epsilon {epsilon}, delta {delta}, for real numbers")),
        (
            "directions",
            format!(
                "{}, each of epsilon {each_epsilon:e} and delta {each_delta:e}",
                own.directions()
            ),
        ),
        (
            "weights",
            format!("{:.3} (cuts), {:.3} (variances)", own.cut_weight(), own.variance_weight()),
        ),
    ];
    if let Some(proof) = sketched.proof {
        rows.push(("neighbours", proof.neighbours.to_owned()));
        rows.push(("source", proof.source.to_owned()));
    }
    let head = aligned_rows(rows);
    if sketched.answers.is_empty() {
        return head;
    }
    let heading = ["question", "answer", "off by at most"].map(str::to_owned);
    let row = |(number, answer): (usize, &SketchAnswer)| {
        let off = format!("{} times the truth, and {:.3}", format_number(own.eta()), answer.tau);
        [number.to_string(), format!("{:.3}", answer.value), off]
    };
    let rows = std::iter::once(heading).chain((1..).zip(&sketched.answers).map(row));
    let note = format!("(with probability at least {})", format_number(1.0 - own.nu()));
    format!("{head}\n{}{note}\n", columns([Right; 3], &rows.collect::<Vec<_>>()))
}
