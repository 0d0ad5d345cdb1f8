//! Charts of published numbers with their intervals.

use counterpoint_wire::publication::{PublishedNumber, PublishedStatistic};

use super::dimensions::{bin, keys, place};
use super::numbers::percentage;
use super::sentences::{sentence, text};
use crate::plot::{Area, Axis, Chart, Color, Figure, Line, Marker, Series, Style};

/// With more rows there is only a table.
const MAX_ROWS: usize = 36;
/// With more groups there is only a table.
const MAX_CHARTS: usize = 6;
/// The most bins or steps of a chart.
const MAX_BINS: usize = 400;
/// The width of a plot area, in pixels, which leaves room for a table.
const WIDTH: f64 = 320.0;
/// The height of a plot area for numbers.
const HEIGHT: f64 = 220.0;
/// The height of a row of categories.
const ROW: f64 = 18.0;
/// Half the height of a whisker's cap, in rows.
const CAP: f64 = 0.22;
/// Longer texts are shortened.
const MAX_LENGTH: usize = 30;

/// Draws a statistic with several numbers: bars or dots with whiskers for the intervals, or steps with a band. Returns
/// `None` for a single number, for coefficients, and for more numbers than a chart can show.
#[must_use]
pub fn publication_chart(statistic: &PublishedStatistic, mark: Option<&str>) -> Option<Figure> {
    // Coefficients have no common scale.
    if statistic.numbers.len() < 2 || statistic.kind == "regression" {
        return None;
    }
    let charts = match binned(statistic) {
        Some(charts) => charts,
        None => vec![rows(statistic)?],
    };
    let charts: Vec<Chart> = charts.into_iter().map(|chart| marked(chart, mark)).collect();
    let title = format!("Chart of {}", statistic.name);
    let caption = format!(
        "{} Lines or bands reach from the lower to the upper end of each interval. The table has the same numbers.",
        text(&sentence(statistic))
    );
    let mut figure = Figure::new(title, caption, charts);
    figure.plain = true;
    Some(figure)
}

/// Puts a mark, such as "made-up data", into the chart, so that copies show it as well.
fn marked(chart: Chart, mark: Option<&str>) -> Chart {
    match mark {
        Some(mark) if chart.title.is_empty() => chart.title(mark),
        Some(mark) => {
            let title = format!("{mark}: {}", chart.title);
            chart.title(title)
        }
        None => chart,
    }
}

/// A chart for each group of a histogram or cumulative distribution over numbers; `None` for other statistics.
fn binned(statistic: &PublishedStatistic) -> Option<Vec<Chart>> {
    let make = match statistic.kind.as_str() {
        "histogram" => bars,
        "cdf" => steps,
        _ => return None,
    };
    let mut groups: Vec<(&[String], Vec<&PublishedNumber>)> = Vec::new();
    for number in &statistic.numbers {
        match groups.last_mut() {
            Some((group, own)) if *group == number.group.as_slice() => own.push(number),
            _ => groups.push((&number.group, vec![number])),
        }
    }
    if groups.len() > MAX_CHARTS || groups.iter().any(|(_, own)| own.len() > MAX_BINS) {
        return None;
    }
    let chart = |(group, own): (&[String], Vec<&PublishedNumber>)| {
        let title = short(&group.join(", "));
        Some(make(statistic, &own)?.title(title).size(WIDTH, HEIGHT))
    };
    groups.into_iter().map(chart).collect()
}

fn column_axis(statistic: &PublishedStatistic) -> Axis {
    Axis::new(short(statistic.columns.first().map_or("", String::as_str)))
}

/// Bars over their bins, with whiskers.
fn bars(statistic: &PublishedStatistic, numbers: &[&PublishedNumber]) -> Option<Chart> {
    let mut chart = Chart::new(column_axis(statistic), fitted("rows", numbers, true));
    for number in numbers {
        let (from, to) = bin(&number.part)?;
        let (middle, wide) = ((from + to) / 2.0, to - from);
        let top = number.value;
        let corners = [(from, 0.0), (from, top), (to, top), (to, 0.0)];
        chart.areas.push(Area::new("number of rows", corners, Color::SkyBlue).opacity(0.55));
        let cap = 0.15 * wide;
        let across = |along: f64, aside: f64| (middle + cap * aside, along);
        chart.series.extend(whisker(number, across));
    }
    Some(chart)
}

/// A step at each value, with a band from the lower to the upper ends.
fn steps(statistic: &PublishedStatistic, numbers: &[&PublishedNumber]) -> Option<Chart> {
    let places = numbers.iter().map(|number| place(&number.part)).collect::<Option<Vec<f64>>>()?;
    if !places.is_sorted() {
        return None;
    }
    let stair = |end: &dyn Fn(&PublishedNumber) -> f64| {
        let mut points = Vec::new();
        for (at, number) in numbers.iter().enumerate() {
            points.push((places[at], end(number)));
            if let Some(next) = places.get(at + 1) {
                points.push((*next, end(number)));
            }
        }
        points
    };
    let mut chart = Chart::new(column_axis(statistic), fitted("rows below", numbers, true));
    let mut band = stair(&|number| number.lower.unwrap_or(number.value));
    band.extend(stair(&|number| number.upper.unwrap_or(number.value)).into_iter().rev());
    chart.areas.push(Area::new(interval_name(numbers[0]), band, Color::SkyBlue).opacity(0.45));
    // The line is thin, so that a narrow band stays visible.
    let line = Style::new(Color::Blue, Line::Solid).width(0.8);
    chart
        .series
        .push(Series::new("number of rows below", stair(&|number| number.value)).style(line));
    Some(chart)
}

/// A row for each number: a dot, or a bar where numbers are counts of categories, with a whisker.
fn rows(statistic: &PublishedStatistic) -> Option<Chart> {
    let count = statistic.numbers.len();
    if count > MAX_ROWS {
        return None;
    }
    let height = |row: usize| (count - 1 - row) as f64;
    let label = |number| short(&keys(statistic, number).join(", "));
    let names = statistic.numbers.iter().enumerate();
    let names = names.map(|(row, number)| (height(row), label(number)));
    let is_counts = matches!(statistic.kind.as_str(), "histogram" | "count");
    let numbers: Vec<&PublishedNumber> = statistic.numbers.iter().collect();
    let x = fitted(&short(&quantity(statistic)), &numbers, is_counts);
    let y = Axis::new("").range(-0.6, count as f64 - 0.4).names(names);
    let mut chart = Chart::new(x, y).size(WIDTH, ROW * (count as f64 + 0.2));
    let dot = Style::new(Color::Blue, Line::None).marker(Marker::Circle);
    for (row, number) in statistic.numbers.iter().enumerate() {
        let (middle, value) = (height(row), number.value);
        if is_counts {
            let (low, high) = (middle - 0.36, middle + 0.36);
            let corners = [(0.0, low), (value, low), (value, high), (0.0, high)];
            chart.areas.push(Area::new("number of rows", corners, Color::SkyBlue).opacity(0.55));
        }
        chart.series.extend(whisker(number, |along, aside| (along, middle + CAP * aside)));
        if !is_counts {
            chart.series.push(Series::new("published number", [(value, middle)]).style(dot));
        }
    }
    Some(chart)
}

/// An axis for numbers and intervals with a small margin; bars start at zero.
fn fitted(label: &str, numbers: &[&PublishedNumber], from_zero: bool) -> Axis {
    let ends = numbers.iter().flat_map(|own| [Some(own.value), own.lower, own.upper]);
    let all = ends.flatten().chain(from_zero.then_some(0.0));
    let (least, most) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), end| {
        (least.min(end), most.max(end))
    });
    let room = 0.03 * (most - least);
    let start = if least.abs() > 0.0 || !from_zero { least - room } else { least };
    Axis::new(label).range(start, most + room)
}

/// The quantity that a statistic measures.
fn quantity(statistic: &PublishedStatistic) -> String {
    let kind = statistic.kind.replace(['-', '_'], " ");
    match (statistic.kind.as_str(), &statistic.columns[..]) {
        ("histogram" | "count" | "cdf", _) => "rows".to_owned(),
        ("quantiles" | "median", [column, ..]) => column.clone(),
        ("proportion", _) | (_, []) => kind,
        (_, columns) => format!("{kind} of {}", columns.join(" and ")),
    }
}

/// The interval as a line with a cap at each end; `None` without an interval. `placed` maps a position along the axis
/// and an offset of the cap to a point.
fn whisker(number: &PublishedNumber, placed: impl Fn(f64, f64) -> (f64, f64)) -> Option<Series> {
    let (lower, upper) = (number.lower?, number.upper?);
    let ends =
        [(lower, -1.0), (lower, 1.0), (lower, 0.0), (upper, 0.0), (upper, -1.0), (upper, 1.0)];
    let points = ends.map(|(along, aside)| placed(along, aside));
    let style = Style::new(Color::Black, Line::Solid).width(1.3);
    Some(Series::new(interval_name(number), points).style(style))
}

fn interval_name(number: &PublishedNumber) -> String {
    format!("{} interval", percentage(number.confidence))
}

/// Shortens a text to fit beside an axis.
fn short(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(MAX_LENGTH).collect();
    if letters.next().is_some() { start.trim_end().to_owned() + "…" } else { start }
}
