use counterpoint::Bracket;
use counterpoint::quantity::plain;
use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_papers::pair::{Events, Map, Side as Set};
use counterpoint_wire::{
    Answered, Divergences, Left as MonitorLeft, Simulated, SimulatedStage, SimulatedSystem, written,
};

use crate::columns::Side::{Left, Right};
use crate::columns::columns;
use crate::compose::listed;
use crate::words;

/// Rows of a table that are shown; `--json` has all.
const MOST_ROWS: usize = 64;
/// Columns of the composed map that are shown.
const MOST_COLUMNS: usize = 16;

/// Maps, their checks and samples.
#[must_use]
pub fn simulate(simulated: &Simulated) -> String {
    let mut parts = vec![head(simulated)];
    let stages = simulated.stages.iter().enumerate();
    parts.extend(stages.flat_map(|(at, stage)| stage_parts(at + 1, stage)));
    parts.extend(simulated.systems.iter().map(system));
    parts.extend(composed(simulated));
    parts.push(samples(simulated));
    parts.extend(simulated.divergences.iter().flat_map(divergences));
    parts.join("\n")
}

/// The largest divergences, their sum, who reaches them, and what is left of them as one goes.
fn divergences(own: &Divergences) -> Vec<String> {
    let both = |[forth, back]: [Bracket; 2]| [forth, back].map(words::upper);
    let line = |name: &str, ends: [Bracket; 2]| {
        let [forth, back] = both(ends);
        [name.to_owned(), forth, back]
    };
    let mut rows = vec![["system", "of p from q", "of q from p"].map(str::to_owned)];
    rows.extend(own.systems.iter().map(|system| line(&system.name, system.largest)));
    rows.push(line("together, by the sum", own.sums));
    rows.extend(own.searched.map(|searched| line("all interleavings, searched", searched)));
    let order = plain(own.order);
    let title = format!(
        "Rényi divergence of order {order}, the largest over all adversaries (Lyu 2022, Theorem 2)"
    );
    let mut parts = vec![format!("{title}\n{}", columns([Left, Right, Right], &rows))];
    let heading = ["system", "after", "the best adversary asks"].map(str::to_owned);
    let asks = own.systems.iter().flat_map(|system| {
        let row = |(after, query): &(Vec<String>, String)| {
            [system.name.clone(), after.join(" "), query.clone()]
        };
        system.asks.iter().map(row)
    });
    let rows: Vec<_> = std::iter::once(heading).chain(asks).collect();
    parts.push(columns([Left, Left, Left], &rows));
    if !own.left.is_empty() {
        let heading = ["budget monitor", "spent", "left at most"].map(str::to_owned);
        let row = |left: &MonitorLeft| {
            let said = if left.said.is_empty() { "at first" } else { &left.said };
            [said.to_owned(), short(&left.weight), short(&left.left)]
        };
        let rows: Vec<_> = std::iter::once(heading).chain(own.left.iter().map(row)).collect();
        let note = format!(
            "p^{order} q^(1-{order}) of what was said, and the largest sum of it over all that can follow"
        );
        parts.push(format!("{}({note})\n", columns([Left, Right, Right], &rows)));
    }
    parts
}

fn head(simulated: &Simulated) -> String {
    let exactly = |agrees: bool| if agrees { "exactly" } else { "NO: this is a bug" };
    let mut rows = Vec::new();
    let stages = simulated.systems.is_empty();
    let word = if stages { "carries" } else { "makes up" };
    let each = if stages { "each response onto its mechanism" } else { "each system by N and E" };
    rows.push((word, format!("{} ({each})", exactly(simulated.parts_agree))));
    let (size, things) = (simulated.size, if stages { "transcripts" } else { "histories" });
    let whole = match (simulated.whole_agrees, size) {
        (Some(agrees), Some(size)) if stages => {
            format!("{} (all responses onto all {size} transcripts)", exactly(agrees))
        }
        (Some(agrees), size) => {
            let size = size.map_or(String::new(), |size| format!(" all {size}"));
            format!("{} (the same law at{size} interleaved histories)", exactly(agrees))
        }
        (None, Some(size)) => format!("{size} {things}: too many to list; part by part"),
        (None, None) => format!("too many {things} to list; part by part"),
    };
    rows.push(("together", whole));
    rows.push(("theorem", simulated.theorem().to_owned()));
    listed(rows)
}

/// A fraction in full if that is short, else a decimal near it.
fn short(exact: &Ratio) -> String {
    let full = written(exact);
    if full.len() <= 12 { full } else { format!("~{:.6}", nearest(exact)) }
}

fn stage_parts(number: usize, own: &SimulatedStage) -> Vec<String> {
    let each = own.stage.mechanisms.iter().zip(&own.maps);
    let several = own.stage.mechanisms.len() > 1;
    each.map(|(mechanism, (events, map))| {
        let which = if several { format!(", mechanism {}", mechanism.name) } else { String::new() };
        let named = own.stage.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        let title = format!(
            "stage {number}{named}{which}: e^epsilon {}, delta {}",
            short(&own.stage.ratio),
            short(&own.stage.delta)
        );
        format!("{title}\n{}", map_table(&mechanism.outcomes, events, map))
    })
    .collect()
}

/// The events of MV Lemma 3.3 and the four rows of the map, a line for each outcome.
fn map_table(outcomes: &[String], events: &Events, map: &Map) -> String {
    let heading = ["outcome", "p", "q", "set", "e", "f", "leak p", "+eps", "-eps", "leak q"]
        .map(str::to_owned);
    let row = |(at, (name, part)): (usize, (&String, &counterpoint_papers::pair::Part))| {
        let set = match part.side {
            Set::First => "S",
            Set::Second => "T",
            Set::Between => "",
        };
        let entry = |input: usize| {
            map.rows().get(input).and_then(|row| row.get(at)).map_or(String::new(), short)
        };
        let ([p, q], [e, f]) = (part.masses.each_ref().map(short), part.kept.each_ref().map(short));
        let [first, plus, minus, last] = [0, 1, 2, 3].map(entry);
        [name.clone(), p, q, set.to_owned(), e, f, first, plus, minus, last]
    };
    let rows = outcomes.iter().zip(&events.outcomes).enumerate().take(MOST_ROWS).map(row);
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let sides = [Left, Right, Right, Left, Right, Right, Right, Right, Right, Right];
    let [alpha, beta] = events.excess.each_ref().map(short);
    let left = outcomes.len().saturating_sub(MOST_ROWS);
    format!("{}{}alpha {alpha}, beta {beta}\n", columns(sides, &rows), more(left))
}

fn more(left: usize) -> String {
    if left == 0 { String::new() } else { format!("({left} more: --json)\n") }
}

fn system(own: &SimulatedSystem) -> String {
    let heading = ["after", "query", "answer", "p", "q", "E0", "N0", "N1", "E1"].map(str::to_owned);
    let row = |answered: &Answered| {
        let ([p, q], [e0, n0, n1, e1]) =
            (answered.real.each_ref().map(short), answered.voices.each_ref().map(short));
        let after = answered.after.join(" ");
        [after, answered.query.clone(), answered.answer.clone(), p, q, e0, n0, n1, e1]
    };
    let rows = own.answers.iter().take(MOST_ROWS).map(row);
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let sides = [Left, Left, Left, Right, Right, Right, Right, Right, Right];
    let left = own.answers.len().saturating_sub(MOST_ROWS);
    let table = if own.answers.is_empty() {
        "(too many answers to list)\n".to_owned()
    } else {
        format!("{}{}", columns(sides, &rows), more(left))
    };
    format!(
        "system {}: e^epsilon {}, delta {}\n{table}",
        own.system.name,
        short(&own.system.ratio),
        short(&own.system.delta)
    )
}

/// The composed map, if there are several stages and it fits.
fn composed(simulated: &Simulated) -> Option<String> {
    const INPUTS: [&str; 4] = ["p", "+", "-", "q"];
    let map = simulated.map.as_ref().filter(|_| simulated.stages.len() > 1)?;
    let outputs = map.rows().first().map_or(0, Vec::len);
    if outputs > MOST_COLUMNS || map.rows().len() > MOST_ROWS {
        return Some(format!(
            "composed map: {} responses onto {outputs} transcripts (--json has all entries)\n",
            map.rows().len()
        ));
    }
    let stages = simulated.stages.len();
    let responses = |input: usize| {
        let digit = |at: usize| INPUTS[(input >> (2 * (stages - 1 - at))) & 3];
        (0..stages).map(digit).collect::<Vec<_>>().join(" ")
    };
    let said: Vec<String> =
        simulated.transcripts.iter().map(|drawn| drawn.said.join(",")).collect();
    let entry = |text: String, width: usize| format!("{text:>width$}");
    let cells: Vec<Vec<String>> =
        map.rows().iter().map(|row| row.iter().map(short).collect()).collect();
    let width = |column: usize| {
        let entries = cells.iter().filter_map(|row| row.get(column)).chain(said.get(column));
        entries.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let line = |first: String, row: &[String]| {
        let row = row.iter().enumerate().map(|(at, text)| entry(text.clone(), width(at)));
        let first = format!("{first:<9}");
        std::iter::once(first).chain(row).collect::<Vec<_>>().join("  ")
    };
    let mut lines = vec![
        "composed map: from responses (p and q for the leaks) to transcripts".to_owned(),
        line("responses".to_owned(), &said),
    ];
    lines.extend(cells.iter().enumerate().map(|(input, row)| line(responses(input), row)));
    Some(lines.join("\n") + "\n")
}

fn samples(simulated: &Simulated) -> String {
    let title = format!(
        "transcripts, and {} drawn on each data set (seed {}) from responses alone",
        simulated.samples, simulated.seed
    );
    let heading = ["transcript", "p", "drawn", "q", "drawn"].map(str::to_owned);
    let shown = |count: u64| match simulated.samples {
        0 => "-".to_owned(),
        samples => format!("{:.4}", count as f64 / samples as f64),
    };
    let rows = simulated.transcripts.iter().take(MOST_ROWS).map(|drawn| {
        let ([p, q], [in_p, in_q]) = (drawn.law.each_ref().map(short), drawn.counts.map(shown));
        [drawn.said.join(" "), p, in_p, q, in_q]
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let left = simulated.transcripts.len().saturating_sub(MOST_ROWS);
    format!("{title}\n{}{}", columns([Left, Right, Right, Right, Right], &rows), more(left))
}
