use counterpoint::Bracket;
use counterpoint::quantity::format_number;
use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_papers::pair::{Events, Map, Side as Set};
use counterpoint_studies::{
    AnswerLaw, DeltaPoint, Divergences, FilePair, LaplaceResult, LaplaceRow, LeastDelta,
    LeastDeltas, MonitorState, SimulationResult, StageResult, SystemResult,
};
use counterpoint_wire::fraction_text;

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;
use crate::wording;

/// The most rows of a table; `--json` shows all.
const MAX_ROWS: usize = 64;
/// The most columns of the composed map.
const MAX_COLUMNS: usize = 16;

/// Shows the maps, their checks and the samples.
#[must_use]
pub fn simulate(simulated: &SimulationResult) -> String {
    let mut parts = vec![head(simulated)];
    let stages = simulated.stages.iter().enumerate();
    parts.extend(stages.flat_map(|(at, stage)| stage_parts(at + 1, stage)));
    parts.extend(simulated.systems.iter().map(system));
    parts.extend(composed(simulated));
    parts.extend(simulated.pairs.iter().map(|pairs| blackwell(pairs, simulated.map.as_ref())));
    match &simulated.laplace {
        Some(noise) => parts.push(laplace(noise, simulated)),
        None => parts.push(samples(simulated)),
    }
    parts.extend(simulated.divergences.iter().flat_map(divergences));
    parts.extend((!simulated.profile.is_empty()).then(|| profile(&simulated.profile)));
    parts.join("\n")
}

/// The least deltas: short fractions if they are known, otherwise certified upper bounds.
fn profile(profile: &[LeastDeltas]) -> String {
    let shown = |delta: &LeastDelta| match delta.exact().map(fraction_text) {
        Some(exact) if exact.len() <= 20 => exact,
        _ => wording::upper(delta.bracket()),
    };
    let heading = ["at", "least delta", "of p from q", "of q from p"].map(str::to_owned);
    let mut rows = vec![heading];
    for own in profile {
        let place = match &own.point {
            DeltaPoint::Ratio(ratio) => format!("e^epsilon {}", fraction_text(ratio)),
            DeltaPoint::Epsilon(epsilon) => format!("epsilon {}", fraction_text(epsilon)),
        };
        let row = |name: &str, deltas: &[LeastDelta; 2]| {
            let [forth, back] = deltas.each_ref().map(shown);
            [place.clone(), name.to_owned(), forth, back]
        };
        rows.extend(own.parts.iter().map(|(name, deltas)| row(name, deltas)));
        rows.extend(own.composition.as_ref().map(|deltas| row("together", deltas)));
    }
    let title = "the least delta, against every adversary and interleaving (Lyu 2022, (19); decimals that do not end: rounded up)";
    format!("{title}\n{}", columns([Left, Left, Right, Right], &rows))
}

/// The distribution that each outcome of the source is mapped to.
fn blackwell([source, target]: &[FilePair; 2], map: Option<&Map>) -> String {
    let title = format!(
        "{} becomes {}: each outcome of the one, the other's by columns",
        source.name, target.name
    );
    let shown = target.outcomes.len().min(MAX_COLUMNS);
    let heading = target.outcomes.iter().take(shown).cloned().collect();
    let rows = map.map_or(&[][..], Map::rows).iter().zip(&source.outcomes).take(MAX_ROWS);
    let rows = rows.map(|(row, name)| (name.clone(), row.iter().take(shown).map(short).collect()));
    let lines = std::iter::once(("outcome".to_owned(), heading)).chain(rows);
    let lines: Vec<(String, Vec<String>)> = lines.collect();
    let left = (source.outcomes.len() - source.outcomes.len().min(MAX_ROWS))
        .max(target.outcomes.len() - shown);
    format!("{title}\n{}{}", aligned(&lines), more(left))
}

/// Laplace noise and the image of the responses, at a few numbers.
fn laplace(own: &LaplaceResult, simulated: &SimulationResult) -> String {
    let heading = ["at most", "plus", "minus", "p", "around 0", "drawn", "q", "around 1", "drawn"];
    let row = |row: &LaplaceRow| {
        let share = row.drawn.map(|count| frequency(count, simulated.samples));
        let number = |x: f64| format!("{x:.6}");
        let [[plus, minus], [p, q], [zero, one]] =
            [row.responses, row.mixed, row.laplace].map(|both| both.map(number));
        let [in_p, in_q] = share;
        [format!("{:.4}", row.at), plus, minus, p, zero, in_p, q, one, in_q]
    };
    let rows = std::iter::once(heading.map(str::to_owned)).chain(own.rows.iter().map(row));
    let title = format!(
        "Laplace noise of scale 1/{}: {} drawn on each data set (seed {}) from responses alone",
        format_number(own.epsilon),
        simulated.samples,
        simulated.seed
    );
    let note = "(for study: doubles, which protect nothing)";
    format!("{title}\n{}{note}\n", columns([Right; 9], &rows.collect::<Vec<_>>()))
}

/// The relative frequency of an outcome.
fn frequency(count: u64, samples: u64) -> String {
    if samples == 0 { "-".to_owned() } else { format!("{:.4}", count as f64 / samples as f64) }
}

/// The largest divergences, their sum, the systems that reach them, and the remaining divergences step by step.
fn divergences(own: &Divergences) -> Vec<String> {
    let both = |[forth, back]: [Bracket; 2]| [forth, back].map(wording::upper);
    let line = |name: &str, ends: [Bracket; 2]| {
        let [forth, back] = both(ends);
        [name.to_owned(), forth, back]
    };
    let mut rows = vec![["system", "of p from q", "of q from p"].map(str::to_owned)];
    rows.extend(own.systems.iter().map(|system| line(&system.name, system.largest)));
    rows.push(line("together, by the sum", own.sums));
    rows.extend(own.searched.map(|searched| line("all interleavings, searched", searched)));
    let order = format_number(own.order);
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
    if !own.monitor.is_empty() {
        let heading = ["budget monitor", "spent", "left at most"].map(str::to_owned);
        let row = |left: &MonitorState| {
            let said = if left.step.is_empty() { "at first" } else { &left.step };
            [said.to_owned(), short(&left.weight), short(&left.remaining)]
        };
        let rows: Vec<_> = std::iter::once(heading).chain(own.monitor.iter().map(row)).collect();
        let note = format!(
            "p^{order} q^(1-{order}) of what was said, and the largest sum of it over all that can follow"
        );
        parts.push(format!("{}({note})\n", columns([Left, Right, Right], &rows)));
    }
    parts
}

fn head(simulated: &SimulationResult) -> String {
    let exactly = |agrees: bool| if agrees { "exactly" } else { "NO: this is a bug" };
    let agrees = exactly(simulated.parts_agree);
    if simulated.pairs.is_some() || simulated.laplace.is_some() {
        let carried = match &simulated.laplace {
            None => format!("{agrees} (the source onto the target)"),
            Some(_) if simulated.parts_agree => {
                "to a double's precision (randomized response onto Laplace noise)".to_owned()
            }
            Some(_) => agrees.to_owned(),
        };
        return aligned_rows(vec![
            ("carries", carried),
            ("theorem", simulated.theorem().to_owned()),
        ]);
    }
    let stages = simulated.systems.is_empty();
    let word = if stages { "carries" } else { "makes up" };
    let each = if stages { "each response onto its mechanism" } else { "each system by N and E" };
    let mut rows = vec![(word, format!("{agrees} ({each})"))];
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
    aligned_rows(rows)
}

/// A short fraction in full, or a decimal near it.
fn short(exact: &Ratio) -> String {
    let full = fraction_text(exact);
    if full.len() <= 12 { full } else { format!("~{:.6}", nearest(exact)) }
}

fn stage_parts(number: usize, own: &StageResult) -> Vec<String> {
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
    let row = |(at, (name, part)): (usize, (&String, &counterpoint_papers::pair::EventOutcome))| {
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
    let rows = outcomes.iter().zip(&events.outcomes).enumerate().take(MAX_ROWS).map(row);
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let sides = [Left, Right, Right, Left, Right, Right, Right, Right, Right, Right];
    let [alpha, beta] = events.excess.each_ref().map(short);
    let left = outcomes.len().saturating_sub(MAX_ROWS);
    format!("{}{}alpha {alpha}, beta {beta}\n", columns(sides, &rows), more(left))
}

fn more(left: usize) -> String {
    if left == 0 { String::new() } else { format!("({left} more: --json)\n") }
}

fn system(own: &SystemResult) -> String {
    let heading = ["after", "query", "answer", "p", "q", "E0", "N0", "N1", "E1"].map(str::to_owned);
    let row = |answered: &AnswerLaw| {
        let ([p, q], [e0, n0, n1, e1]) =
            (answered.real.each_ref().map(short), answered.voices.each_ref().map(short));
        let after = answered.history.join(" ");
        [after, answered.query.clone(), answered.answer.clone(), p, q, e0, n0, n1, e1]
    };
    let rows = own.answers.iter().take(MAX_ROWS).map(row);
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let sides = [Left, Left, Left, Right, Right, Right, Right, Right, Right];
    let left = own.answers.len().saturating_sub(MAX_ROWS);
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
fn composed(simulated: &SimulationResult) -> Option<String> {
    const INPUTS: [&str; 4] = ["p", "+", "-", "q"];
    let map = simulated.map.as_ref().filter(|_| simulated.stages.len() > 1)?;
    let outputs = map.rows().first().map_or(0, Vec::len);
    if outputs > MAX_COLUMNS || map.rows().len() > MAX_ROWS {
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
        simulated.transcripts.iter().map(|drawn| drawn.steps.join(",")).collect();
    let rows = map.rows().iter().enumerate();
    let rows = rows.map(|(input, row)| (responses(input), row.iter().map(short).collect()));
    let lines = std::iter::once(("responses".to_owned(), said)).chain(rows);
    let title = "composed map: from responses (p and q for the leaks) to transcripts";
    Some(format!("{title}\n{}", aligned(&lines.collect::<Vec<_>>())))
}

/// Lines of a name and the same number of entries each, in columns.
fn aligned(lines: &[(String, Vec<String>)]) -> String {
    let wide = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let first = wide(&mut lines.iter().map(|(name, _)| name));
    let columns = lines.first().map_or(0, |(_, row)| row.len());
    let width = |at: usize| wide(&mut lines.iter().filter_map(|(_, row)| row.get(at)));
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |(name, row): &(String, Vec<String>)| {
        let entries = row.iter().zip(&widths).map(|(text, &width)| format!("  {text:>width$}"));
        format!("{name:<first$}{}\n", entries.collect::<String>())
    };
    lines.iter().map(line).collect()
}

fn samples(simulated: &SimulationResult) -> String {
    let title = format!(
        "transcripts, and {} drawn on each data set (seed {}) from responses alone",
        simulated.samples, simulated.seed
    );
    let heading = ["transcript", "p", "drawn", "q", "drawn"].map(str::to_owned);
    let shown = |count: u64| frequency(count, simulated.samples);
    let rows = simulated.transcripts.iter().take(MAX_ROWS).map(|drawn| {
        let ([p, q], [in_p, in_q]) = (drawn.law.each_ref().map(short), drawn.counts.map(shown));
        [drawn.steps.join(" "), p, in_p, q, in_q]
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let left = simulated.transcripts.len().saturating_sub(MAX_ROWS);
    format!("{title}\n{}{}", columns([Left, Right, Right, Right, Right], &rows), more(left))
}
