//! The layout of a figure. Plot areas have a fixed size; margins grow with their texts, so that nothing is cut and
//! nothing covers a curve.

use super::clip::{Frame, Point};
use super::text::{bold_width, width, wrapped};
use super::ticks::Ruler;
use super::{Axis, Chart, Figure, Style};

/// Font sizes, in pixels.
pub(super) const TITLE: f64 = 16.0;
pub(super) const HEADING: f64 = 13.0;
pub(super) const BODY: f64 = 12.0;
pub(super) const SMALL: f64 = 11.0;

/// The line height, in font sizes.
pub(super) const LEADING: f64 = 1.4;
/// The gap between neighbouring elements.
pub(super) const GAP: f64 = 8.0;
/// The margin around the figure.
const MARGIN: f64 = 16.0;
/// The distance from a curve's end to its label.
pub(super) const LEADER: f64 = 16.0;
/// The distance from the plot area to the chart's title; labels may be between them.
pub(super) const LIFT: f64 = SMALL * LEADING + 5.0;
/// The width of a line or box in the legend.
pub(super) const SAMPLE: f64 = 36.0;

/// A chart and its position.
pub(super) struct ChartLayout<'a> {
    pub(super) chart: &'a Chart,
    pub(super) x: Ruler,
    pub(super) y: Ruler,
    pub(super) frame: Frame,
}

/// An entry of the legend.
pub(super) struct Entry<'a> {
    pub(super) at: Point,
    pub(super) name: &'a str,
    pub(super) look: Look,
}

/// The sample before a name in the legend.
#[derive(Clone, Copy)]
pub(super) enum Look {
    Curve(Style),
    Area(super::Color, f64),
}

/// A laid-out figure.
pub(super) struct Sheet<'a> {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: (Point, Vec<String>),
    pub(super) charts: Vec<ChartLayout<'a>>,
    pub(super) legend: Vec<Entry<'a>>,
    pub(super) caption: (Point, Vec<String>),
}

/// The space around a plot area.
#[derive(Clone, Copy, Default)]
struct Margins {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

pub(super) fn sheet<'a>(figure: &'a Figure) -> Sheet<'a> {
    let columns = figure.columns.max(1);
    let rulers: Vec<(Ruler, Ruler)> = figure.charts.iter().map(rulers).collect();
    let margins = std::iter::zip(&figure.charts, &rulers)
        .map(|(chart, rulers)| margins(chart, rulers))
        .fold(Margins::default(), Margins::max);
    let (across, down) = plot_size(figure);
    let cell = (margins.left + across + margins.right, margins.top + down + margins.bottom);
    let used = columns.min(figure.charts.len()).max(1);
    let inner = cell.0 * used as f64 + 2.0 * GAP * (used - 1) as f64;

    let drawn = |text: &'a str| if figure.plain { "" } else { text };
    let title = wrapped(drawn(&figure.title), inner, |text| bold_width(text, TITLE));
    let title_bottom = MARGIN + title.len() as f64 * TITLE * LEADING;
    let place = |n: usize| {
        let left = MARGIN + (n % columns) as f64 * (cell.0 + 2.0 * GAP) + margins.left;
        let top = title_bottom + GAP + (n / columns) as f64 * (cell.1 + GAP) + margins.top;
        Frame { left, top, right: left + across, bottom: top + down }
    };
    let charts: Vec<ChartLayout<'_>> = std::iter::zip(&figure.charts, rulers)
        .enumerate()
        .map(|(n, (chart, (x, y)))| ChartLayout { chart, x, y, frame: place(n) })
        .collect();
    let charts_bottom = charts
        .iter()
        .map(|placed| placed.frame.bottom + margins.bottom)
        .fold(title_bottom, f64::max);
    let (legend, legend_bottom) = legend(figure, charts_bottom + GAP, inner);
    let caption = wrapped(drawn(&figure.caption), inner, |text| width(text, BODY));
    let caption_top = legend_bottom + GAP;
    Sheet {
        width: inner + 2.0 * MARGIN,
        height: caption_top + caption.len() as f64 * BODY * LEADING + MARGIN,
        title: ((MARGIN, MARGIN), title),
        charts,
        legend,
        caption: ((MARGIN, caption_top), caption),
    }
}

/// The common size of a figure's plot areas.
fn plot_size(figure: &Figure) -> (f64, f64) {
    let square = figure.charts.iter().any(|chart| chart.square);
    let usual = match (figure.charts.len(), square) {
        (..=1, false) => (500.0, 320.0),
        (..=1, true) => (400.0, 400.0),
        (_, false) => (350.0, 260.0),
        (_, true) => (320.0, 320.0),
    };
    let sizes = figure.charts.iter().filter_map(|chart| chart.size);
    sizes.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))).unwrap_or(usual)
}

fn rulers(chart: &Chart) -> (Ruler, Ruler) {
    let points = || {
        let curves = chart.series.iter().flat_map(|series| &series.points);
        curves.chain(chart.areas.iter().flat_map(|area| &area.outline))
    };
    (
        Ruler::new(&chart.x, points().map(|point| point.0)),
        Ruler::new(&chart.y, points().map(|point| point.1)),
    )
}

impl Margins {
    fn max(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

fn margins(chart: &Chart, (x, y): &(Ruler, Ruler)) -> Margins {
    let widest = |ruler: &Ruler| {
        ruler.major.iter().map(|(_, label)| width(label, SMALL)).fold(0.0, f64::max)
    };
    let labels = chart.series.iter().map(|series| width(&series.label, SMALL)).fold(0.0, f64::max);
    let beside = if labels > 0.0 { LEADER + labels } else { 0.0 };
    let labelled = if labels > 0.0 { LIFT } else { GAP };
    let titled = if chart.title.is_empty() { 0.0 } else { HEADING * LEADING };
    Margins {
        left: BODY * LEADING + GAP + widest(y) + GAP,
        // Half of a tick's label may extend beyond the plot area.
        right: beside.max(widest(x) / 2.0) + 2.0,
        top: titled + labelled,
        bottom: GAP + SMALL * LEADING + BODY * LEADING,
    }
}

/// The label of an axis with its unit.
pub(super) fn axis_label(axis: &Axis) -> String {
    match &axis.unit {
        Some(unit) => format!("{} ({unit})", axis.label),
        None => axis.label.clone(),
    }
}

/// The legend's entries in rows, each name once, and the bottom of the legend.
fn legend(figure: &Figure, top: f64, inner: f64) -> (Vec<Entry<'_>>, f64) {
    let mut names: Vec<(&str, Look)> = Vec::new();
    for chart in &figure.charts {
        let unnamed = chart.series.iter().filter(|series| series.label != series.name);
        let curves = unnamed.map(|s| (s.name.as_str(), Look::Curve(s.style)));
        let areas = chart.areas.iter().map(|a| (a.name.as_str(), Look::Area(a.color, a.opacity)));
        for (name, look) in curves.chain(areas) {
            if !name.is_empty() && !names.iter().any(|(known, _)| *known == name) {
                names.push((name, look));
            }
        }
    }
    let row = BODY * LEADING + 2.0;
    let (mut left, mut middle) = (MARGIN, top + row / 2.0);
    let mut entries = Vec::new();
    for &(name, look) in &names {
        let wide = SAMPLE + GAP + width(name, BODY);
        if left > MARGIN && left + wide > MARGIN + inner {
            (left, middle) = (MARGIN, middle + row);
        }
        entries.push(Entry { at: (left, middle), name, look });
        left += wide + 3.0 * GAP;
    }
    let bottom = if entries.is_empty() { top } else { middle + row / 2.0 };
    (entries, bottom)
}
