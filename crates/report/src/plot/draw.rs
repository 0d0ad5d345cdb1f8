//! A figure laid out, as SVG.

use super::clip::{self, Frame, Point};
use super::layout::{
    BODY, Entry, GAP, HEADING, LEADER, LEADING, LIFT, Look, Placed, SAMPLE, SMALL, TITLE,
    axis_label, sheet,
};
use super::pen::{Font, PLAIN, Svg, hex, number};
use super::text::{escaped, width};
use super::{Figure, Line, Note, Series, Side};

const AXIS: &str = "#444444";
const MAJOR_GRID: &str = "#d4d4d4";
const MINOR_GRID: &str = "#efefef";

/// Markers on a curve are at least this far apart.
const MARKER_SPACING: f64 = 34.0;

pub(super) fn svg(figure: &Figure) -> String {
    let sheet = sheet(figure);
    let mut svg = Svg::open(&sheet, figure);
    svg.paragraph("title", sheet.title.0, &sheet.title.1, TITLE, true);
    sheet.charts.iter().for_each(|placed| chart(&mut svg, placed));
    svg.open_group("legend");
    sheet.legend.iter().for_each(|entry| legend_entry(&mut svg, entry));
    svg.close_group();
    svg.paragraph("caption", sheet.caption.0, &sheet.caption.1, BODY, false);
    svg.close();
    svg.0
}

fn chart(svg: &mut Svg, placed: &Placed<'_>) {
    svg.open_group("chart");
    grid(svg, placed);
    for area in &placed.chart.areas {
        let corners: Vec<Point> =
            area.outline.iter().filter_map(|&point| placed.position(point)).collect();
        svg.polygon(&clip::polygon(&corners, &placed.frame), area.color, area.opacity);
    }
    let leads = (1..).map(|n| f64::from(n) * 0.382 % 1.0 * MARKER_SPACING);
    let ends: Vec<Option<Point>> = std::iter::zip(&placed.chart.series, leads)
        .map(|(series, lead)| curve(svg, placed, series, lead))
        .collect();
    frame(svg, placed);
    end_labels(svg, placed, &ends);
    placed.chart.notes.iter().for_each(|note| write_note(svg, placed, note));
    svg.close_group();
}

impl Placed<'_> {
    /// Where a point of the data is in the picture, inside the plot area or not.
    fn position(&self, (x, y): Point) -> Option<Point> {
        let Frame { left, bottom, .. } = self.frame;
        let (x, y) = (self.x.share(x)?, self.y.share(y)?);
        Some((left + x * self.frame.width(), bottom - y * self.frame.height()))
    }

    fn across(&self, x: f64) -> Option<f64> {
        self.x.share(x).map(|share| self.frame.left + share * self.frame.width())
    }

    fn down(&self, y: f64) -> Option<f64> {
        self.y.share(y).map(|share| self.frame.bottom - share * self.frame.height())
    }
}

fn grid(svg: &mut Svg, placed: &Placed<'_>) {
    let Frame { left, top, right, bottom } = placed.frame;
    let major = |ticks: &[(f64, String)]| ticks.iter().map(|tick| tick.0).collect::<Vec<_>>();
    let (x_major, y_major) = (major(&placed.x.major), major(&placed.y.major));
    for (xs, ys, color) in
        [(&placed.x.minor, &placed.y.minor, MINOR_GRID), (&x_major, &y_major, MAJOR_GRID)]
    {
        for x in xs.iter().filter_map(|&x| placed.across(x)) {
            svg.segment((x, top), (x, bottom), color);
        }
        for y in ys.iter().filter_map(|&y| placed.down(y)) {
            svg.segment((left, y), (right, y), color);
        }
    }
}

/// The edge of the plot area, the numbers beside it and what they are.
fn frame(svg: &mut Svg, placed: &Placed<'_>) {
    let Frame { left, top, right, bottom } = placed.frame;
    let [x, y, w, h] = [left, top, right - left, bottom - top].map(number);
    svg.line(format_args!(
        r#"<rect class="frame" x="{x}" y="{y}" width="{w}" height="{h}" fill="none" stroke="{AXIS}"/>"#
    ));
    let mut widest = 0.0_f64;
    for (value, label) in &placed.x.major {
        let Some(x) = placed.across(*value) else { continue };
        svg.segment((x, bottom), (x, bottom + 4.0), AXIS);
        svg.text((x, bottom + GAP + SMALL), label, Font { anchor: "middle", ..PLAIN });
    }
    for (value, label) in &placed.y.major {
        let Some(y) = placed.down(*value) else { continue };
        svg.segment((left - 4.0, y), (left, y), AXIS);
        svg.text((left - GAP, y + 0.36 * SMALL), label, Font { anchor: "end", ..PLAIN });
        widest = widest.max(width(label, SMALL));
    }
    let centred = Font { size: BODY, anchor: "middle", ..PLAIN };
    let middle = (left + right) / 2.0;
    let below = bottom + GAP + SMALL * LEADING + BODY;
    svg.text((middle, below), &axis_label(&placed.chart.x), centred);
    upright(svg, (left - 2.0 * GAP - widest, (top + bottom) / 2.0), &axis_label(&placed.chart.y));
    let heading = Font { size: HEADING, bold: true, ..PLAIN };
    let labelled = placed.chart.series.iter().any(|series| !series.label.is_empty());
    let lift = if labelled { LIFT } else { GAP };
    svg.text((left, top - lift), &placed.chart.title, heading);
}

/// A text that reads upward, ending at this distance from the left.
fn upright(svg: &mut Svg, (x, y): Point, text: &str) {
    let (x, y, text) = (number(x), number(y), escaped(text));
    svg.line(format_args!(
        r#"<text transform="translate({x} {y}) rotate(-90)" font-size="{BODY}" text-anchor="middle">{text}</text>"#
    ));
}

/// Draws a curve; where it ends or leaves the plot area for good.
fn curve(svg: &mut Svg, placed: &Placed<'_>, series: &Series, lead: f64) -> Option<Point> {
    let points: Vec<Option<Point>> =
        series.points.iter().map(|&point| placed.position(point)).collect();
    let pieces = clip::line(&points, &placed.frame);
    if series.style.line != Line::None {
        pieces.iter().for_each(|piece| svg.polyline(piece, series.style));
    }
    let visible: Vec<Point> =
        points.into_iter().flatten().filter(|&point| placed.frame.holds(point)).collect();
    for &point in &marked(&visible, lead) {
        svg.marker(point, series.style.marker, series.style.color);
    }
    let end = pieces.last().and_then(|piece| piece.last());
    end.or(visible.last()).copied()
}

/// The points that get a marker: all of them, or where they are dense some, far enough apart.
/// The first of those is a lead away from the start, so that those of neighbouring curves do
/// not cover each other.
fn marked(points: &[Point], lead: f64) -> Vec<Point> {
    let dense = points.windows(2).any(|two| apart(two[0], two[1]) < MARKER_SPACING / 2.0);
    if !dense {
        return points.to_vec();
    }
    let mut way = MARKER_SPACING - lead;
    let mut marked = Vec::new();
    for two in points.windows(2) {
        way += apart(two[0], two[1]);
        if way >= MARKER_SPACING {
            marked.push(two[1]);
            way = 0.0;
        }
    }
    marked
}

fn apart(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Labels beside the ends of the curves: to the right of the plot area, moved apart where ends
/// are close, or above it where a curve leaves at the top.
fn end_labels(svg: &mut Svg, placed: &Placed<'_>, ends: &[Option<Point>]) {
    let Frame { left, top, right, bottom } = placed.frame;
    let (mut above, mut beside) = (Vec::new(), Vec::new());
    for (series, end) in std::iter::zip(&placed.chart.series, ends) {
        let Some((x, y)) = end.filter(|_| !series.label.is_empty()) else { continue };
        if y <= top + 1e-6 && x < right - GAP {
            above.push((x, series));
        } else {
            beside.push((y, series));
        }
    }
    let widest = above.iter().map(|(_, series)| width(&series.label, SMALL)).fold(0.0, f64::max);
    let (low, high) = (left + widest / 2.0, right - widest / 2.0);
    for (x, _, series) in spread_labels(above, widest + GAP, low, high) {
        svg.text((x, top - 4.0), &series.label, Font { anchor: "middle", ..PLAIN });
    }
    for (y, end, series) in spread_labels(beside, SMALL * 1.2, top, bottom) {
        let color = hex(series.style.color);
        svg.segment((right + 2.0, end), (right + LEADER - 3.0, y), color);
        svg.text((right + LEADER, y + 0.36 * SMALL), &series.label, PLAIN);
    }
}

/// Where each label goes, where its curve ends, and whose it is.
fn spread_labels(
    mut ends: Vec<(f64, &Series)>,
    step: f64,
    low: f64,
    high: f64,
) -> impl Iterator<Item = (f64, f64, &Series)> {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places: Vec<f64> = ends.iter().map(|end| end.0).collect();
    let moved = spread(&places, step, low, high);
    std::iter::zip(moved, ends).map(|(place, (end, series))| (place, end, series))
}

/// Moves sorted places at least a step apart, no farther than needed, and between two bounds if
/// they fit. Neighbours that are too close become a block, centred where they were.
fn spread(places: &[f64], step: f64, low: f64, high: f64) -> Vec<f64> {
    // Each block: the mean of its places less their offsets in it, and how many there are.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (n, place) in places.iter().enumerate() {
        let mut block = (place - n as f64 * step, 1);
        while let Some(&(mean, count)) = blocks.last() {
            if mean <= block.0 {
                break;
            }
            let both = count + block.1;
            let sum = mean * count as f64 + block.0 * block.1 as f64;
            block = (sum / both as f64, both);
            blocks.pop();
        }
        blocks.push(block);
    }
    let most = high - places.len().saturating_sub(1) as f64 * step;
    let means = blocks.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    means.enumerate().map(|(n, mean)| mean.min(most).max(low) + n as f64 * step).collect()
}

fn write_note(svg: &mut Svg, placed: &Placed<'_>, note: &Note) {
    let Some((x, y)) = placed.position(note.at).filter(|&at| placed.frame.holds(at)) else {
        return;
    };
    let (x, anchor) = match note.side {
        Side::Right => (x + 6.0, "start"),
        Side::Left => (x - 6.0, "end"),
    };
    svg.text((x, y + 0.36 * SMALL), &note.text, Font { anchor, rim: true, ..PLAIN });
}

fn legend_entry(svg: &mut Svg, entry: &Entry<'_>) {
    let (x, y) = entry.at;
    match entry.look {
        Look::Curve(style) => {
            if style.line != Line::None {
                svg.polyline(&[(x, y), (x + SAMPLE, y)], style);
            }
            svg.marker((x + SAMPLE / 2.0, y), style.marker, style.color);
        }
        Look::Area(color, opacity) => {
            let (low, high) = (y + 5.0, y - 5.0);
            svg.polygon(
                &[(x, low), (x + SAMPLE, low), (x + SAMPLE, high), (x, high)],
                color,
                opacity,
            );
        }
    }
    let name = Font { size: BODY, ..PLAIN };
    svg.text((x + SAMPLE + GAP, y + 0.36 * BODY), entry.name, name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_apart_and_no_farther() {
        assert_eq!(spread(&[10.0, 30.0], 5.0, 0.0, 100.0), [10.0, 30.0]);
        assert_eq!(spread(&[10.0, 10.0, 50.0], 6.0, 0.0, 100.0), [7.0, 13.0, 50.0]);
        assert_eq!(spread(&[0.0, 0.0], 6.0, 0.0, 100.0), [0.0, 6.0]);
        assert_eq!(spread(&[99.0, 100.0], 6.0, 0.0, 100.0), [94.0, 100.0]);
    }

    #[test]
    fn markers_are_spread_out_where_points_are_dense() {
        let dense: Vec<Point> = (0..=200).map(|n| (f64::from(n), 0.0)).collect();
        let marked = marked(&dense, 10.0);
        assert!((marked[0].0 - 10.0).abs() < 1e-9 && marked.len() == 6);
        let sparse = [(0.0, 0.0), (50.0, 0.0), (100.0, 0.0)];
        assert_eq!(super::marked(&sparse, 10.0), sparse);
    }
}
