use counterpoint::quantity::plain;
use counterpoint_wire::{IDEALISED, SketchAnswer, Sketched};

use crate::columns::Side::Right;
use crate::columns::columns;
use crate::compose::listed;

/// A sketch's numbers and answers, with what they are not.
#[must_use]
pub fn sketch(sketched: &Sketched) -> String {
    let (own, [epsilon, delta]) = (&sketched.sketching, sketched.claim.map(plain));
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
    let head = listed(rows);
    if sketched.answers.is_empty() {
        return head;
    }
    let heading = ["question", "answer", "off by at most"].map(str::to_owned);
    let row = |(number, answer): (usize, &SketchAnswer)| {
        let off = format!("{} times the truth, and {:.3}", plain(own.eta()), answer.tau);
        [number.to_string(), format!("{:.3}", answer.value), off]
    };
    let rows = std::iter::once(heading).chain((1..).zip(&sketched.answers).map(row));
    let note = format!("(with probability at least {})", plain(1.0 - own.nu()));
    format!("{head}\n{}{note}\n", columns([Right; 3], &rows.collect::<Vec<_>>()))
}
