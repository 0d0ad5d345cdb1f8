use std::path::Path;

use counterpoint::Bracket;
use counterpoint::quantity::format_number;
use counterpoint::region::{ErrorRates, Verdict};
use counterpoint_wire::{AtRate, Inclusion, PlanRegion, Regions, decimal, verdict_name};

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;
use crate::plot::{Area, Axis, Chart, Color, Figure, Line, Series, Style};
use crate::wording::{self, TABLE_DIGITS};

/// Shows the error rates that an attacker can reach for each plan, and which plans allow less.
#[must_use]
pub fn region(regions: &Regions) -> String {
    let mut blocks: Vec<String> = regions.plans.iter().map(one).collect();
    let inclusions = regions.inclusions();
    if !inclusions.is_empty() {
        let heading = ["region of", "within", "", ""].map(str::to_owned);
        let rows = inclusions.iter().map(|inclusion| compared(regions, inclusion));
        let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
        blocks.push(columns([Left, Left, Left, Left], &rows));
    }
    blocks.join("\n")
}

fn one(plan: &PlanRegion) -> String {
    let (region, theorem) = (&plan.region, plan.region.theorem());
    let head = aligned_rows([
        ("plan", plan.name.clone()),
        ("total variation", wording::certified(region.total_variation())),
        ("boundary", boundary(plan)),
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", wording::setting(theorem.setting())),
    ]);
    let heading = ["false alarms", "misses, at least", "reached by a test", "advantage, at most"];
    let rows = plan.at_rates().into_iter().map(row);
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
    format!("{head}\n{}", columns([Left, Right, Right, Right], &rows))
}

fn boundary(plan: &PlanRegion) -> String {
    let region = &plan.region;
    let (outer, inner) = (region.outer().len(), region.inner().len());
    if region.is_finite() {
        return format!("every vertex, {inner} of them");
    }
    let gap = decimal::up(region.gap(), 2);
    format!("between polygons of {outer} and {inner} vertices,\nmiss rates at most {gap} apart")
}

fn row(at: AtRate) -> [String; 4] {
    [
        format_number(at.false_alarm),
        decimal::down(at.miss.lower, TABLE_DIGITS),
        decimal::up(at.miss.upper, TABLE_DIGITS),
        decimal::up(at.advantage.upper, TABLE_DIGITS),
    ]
}

fn compared(regions: &Regions, inclusion: &Inclusion) -> [String; 4] {
    let name = |at: usize| regions.plans.get(at).map_or(String::new(), |plan| plan.name.clone());
    let Bracket { lower, upper } = inclusion.excess;
    let how = match inclusion.verdict {
        Verdict::Yes => "no test of it does better".to_owned(),
        Verdict::No => format!("a test of it misses at least {} less", decimal::down(lower, 3)),
        Verdict::Undecided => {
            format!("no test of it misses more than {} less", decimal::up(upper, 3))
        }
    };
    let verdict = verdict_name(inclusion.verdict).to_owned();
    [name(inclusion.plan), name(inclusion.within), verdict, how]
}

/// Draws the regions in one chart, with KOV's axes; each has the name of its plan's file.
#[must_use]
pub fn region_figure(regions: &Regions) -> Figure {
    let axis = |label: &str| Axis::new(label).range(0.0, 1.0);
    let (misses, alarms) =
        (axis("probability of a missed detection"), axis("probability of a false alarm"));
    let mut chart = Chart::new(misses, alarms).square();
    let names = short_names(regions);
    let blind = Style::new(Color::Grey, Line::Dashed).width(1.0);
    chart.series.push(Series::new("blind guessing", [(0.0, 1.0), (1.0, 0.0)]).style(blind));
    for (index, (plan, name)) in std::iter::zip(&regions.plans, names).enumerate() {
        let style = Style::nth(index);
        let outer = curve(plan.region.outer());
        let corners = [(0.0, 1.0), (1.0, 0.0)];
        let outline = outer.iter().copied().chain(corners);
        chart.areas.push(Area::new("", outline, style.color).opacity(0.08));
        chart.series.push(Series::new(name.clone(), outer).style(style));
        if plan.region.gap() > 0.004 {
            let name = format!("{name}, surely reached");
            let style = Style::new(style.color, Line::Dotted).width(1.2);
            chart.series.push(Series::new(name, curve(plan.region.inner())).style(style));
        }
    }
    let caption = "No test that tells whether a person's data were used has error rates below \
                   its plan's curve.";
    Figure::new("What an attacker can do", caption, [chart])
}

fn curve(points: &[ErrorRates]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (point.miss(), point.false_alarm())).collect()
}

/// The names of the plans' files without folders and extensions, or in full if they would be equal.
fn short_names(regions: &Regions) -> Vec<String> {
    let stem = |plan: &PlanRegion| {
        let stem = Path::new(&plan.name).file_stem().and_then(|stem| stem.to_str());
        stem.map_or_else(|| plan.name.clone(), str::to_owned)
    };
    let stems: Vec<String> = regions.plans.iter().map(stem).collect();
    let alone = |stem: &String| stems.iter().filter(|other| *other == stem).count() == 1;
    let named = std::iter::zip(&regions.plans, &stems);
    named.map(|(plan, stem)| if alone(stem) { stem } else { &plan.name }.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::{Count, Guarantee, Options, Plan};

    fn regions() -> Regions {
        let named = |name: &str, epsilon: f64| {
            let plan = Plan::new([(Guarantee::pure(epsilon).unwrap(), Count::ONE)]).unwrap();
            let region = plan.region(&[], &Options::default()).unwrap();
            PlanRegion { name: name.into(), region }
        };
        let plans = vec![named("some.toml", 3.0_f64.ln()), named("more.toml", 2.0)];
        Regions { plans, warnings: Vec::new() }
    }

    #[test]
    fn each_plan_has_its_table_and_all_are_compared() {
        // With e^epsilon = 3 a test with false alarms a misses at least 1 - 3a, or (1 - a)/3.
        let text = region(&regions());
        assert!(text.starts_with("plan             some.toml\ntotal variation  0.50000"), "{text}");
        assert!(text.contains("boundary         every vertex, 3 of them\n"), "{text}");
        let heading = "false alarms  misses, at least  reached by a test  advantage, at most\n";
        assert!(text.contains(heading), "{text}");
        // 0.7 and 0.2, rounded outward.
        let row = "0.1                  0.6999999          0.7000001           0.2000001\n";
        assert!(text.contains(row), "{text}");
        let start = "some.toml  more.toml  yes  no test of it does better\n\
                     more.toml  some.toml  no   a test of it misses at least ";
        assert!(text.contains(start), "{text}");
    }

    #[test]
    fn the_figure_overlays_the_plans() {
        let figure = region_figure(&regions());
        let names: Vec<_> = figure.charts[0].series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["blind guessing", "some", "more"]);
        assert_eq!(figure.charts[0].series[1].points.len(), 3);
        assert!(figure.svg().contains(">some<"));
        // Files of the same name in two folders have different labels.
        let mut twice = regions();
        twice.plans[0].name = "a/plan.toml".into();
        twice.plans[1].name = "b/plan.toml".into();
        let names: Vec<_> =
            region_figure(&twice).charts[0].series[1..].iter().map(|s| s.name.clone()).collect();
        assert_eq!(names, ["a/plan.toml", "b/plan.toml"]);
    }
}
