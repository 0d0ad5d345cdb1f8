//! Draws a laid-out figure as marks.

use super::canvas::{AXIS, Anchor, Canvas, Font, PLAIN, hex};
use super::clip::{self, Frame, Point};
use super::layout::{
    BODY, ChartLayout, Entry, GAP, HEADING, LEADER, LEADING, LIFT, Look, SAMPLE, SMALL, TITLE,
    axis_label, sheet,
};
use super::text::width;
use super::{Figure, Line, Note, Series, Side};

const MAJOR_GRID: &str = "#d4d4d4";
const MINOR_GRID: &str = "#efefef";

/// The least distance of markers on a curve.
const MARKER_SPACING: f64 = 34.0;

pub(super) fn drawing(figure: &Figure) -> Canvas {
    let sheet = sheet(figure);
    let mut page = Canvas::new((sheet.width, sheet.height), &figure.title, &figure.caption);
    page.paragraph("title", sheet.title.0, &sheet.title.1, TITLE, true);
    sheet.charts.iter().for_each(|placed| chart(&mut page, placed));
    page.open("legend");
    sheet.legend.iter().for_each(|entry| legend_entry(&mut page, entry));
    page.close();
    page.paragraph("caption", sheet.caption.0, &sheet.caption.1, BODY, false);
    page
}

fn chart(page: &mut Canvas, placed: &ChartLayout<'_>) {
    page.open("chart");
    grid(page, placed);
    for area in &placed.chart.areas {
        let corners: Vec<Point> =
            area.outline.iter().filter_map(|&point| placed.position(point)).collect();
        page.area(&clip::polygon(&corners, &placed.frame), area.color, area.opacity);
    }
    let leads = (1..).map(|n| f64::from(n) * 0.382 % 1.0 * MARKER_SPACING);
    let ends: Vec<Option<Point>> = std::iter::zip(&placed.chart.series, leads)
        .map(|(series, lead)| curve(page, placed, series, lead))
        .collect();
    frame(page, placed);
    end_labels(page, placed, &ends);
    placed.chart.notes.iter().for_each(|note| write_note(page, placed, note));
    page.close();
}

impl ChartLayout<'_> {
    /// The position of a data point in the picture, inside the plot area or not.
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

fn grid(page: &mut Canvas, placed: &ChartLayout<'_>) {
    let Frame { left, top, right, bottom } = placed.frame;
    let major = |ticks: &[(f64, String)]| ticks.iter().map(|tick| tick.0).collect::<Vec<_>>();
    let (x_major, y_major) = (major(&placed.x.major), major(&placed.y.major));
    for (xs, ys, color) in
        [(&placed.x.minor, &placed.y.minor, MINOR_GRID), (&x_major, &y_major, MAJOR_GRID)]
    {
        for x in xs.iter().filter_map(|&x| placed.across(x)) {
            page.segment((x, top), (x, bottom), color);
        }
        for y in ys.iter().filter_map(|&y| placed.down(y)) {
            page.segment((left, y), (right, y), color);
        }
    }
}

/// Draws the edge of the plot area, the ticks and the axis labels.
fn frame(page: &mut Canvas, placed: &ChartLayout<'_>) {
    let Frame { left, top, right, bottom } = placed.frame;
    page.edge(placed.frame);
    let mut widest = 0.0_f64;
    for (value, label) in &placed.x.major {
        let Some(x) = placed.across(*value) else { continue };
        page.segment((x, bottom), (x, bottom + 4.0), AXIS);
        page.text((x, bottom + GAP + SMALL), label, Font { anchor: Anchor::Middle, ..PLAIN });
    }
    for (value, label) in &placed.y.major {
        let Some(y) = placed.down(*value) else { continue };
        page.segment((left - 4.0, y), (left, y), AXIS);
        page.text((left - GAP, y + 0.36 * SMALL), label, Font { anchor: Anchor::End, ..PLAIN });
        widest = widest.max(width(label, SMALL));
    }
    let centred = Font { size: BODY, anchor: Anchor::Middle, ..PLAIN };
    let middle = (left + right) / 2.0;
    let below = bottom + GAP + SMALL * LEADING + BODY;
    page.text((middle, below), &axis_label(&placed.chart.x), centred);
    let beside = (left - 2.0 * GAP - widest, (top + bottom) / 2.0);
    page.upright(beside, &axis_label(&placed.chart.y), centred);
    let heading = Font { size: HEADING, bold: true, ..PLAIN };
    let labelled = placed.chart.series.iter().any(|series| !series.label.is_empty());
    let lift = if labelled { LIFT } else { GAP };
    page.text((left, top - lift), &placed.chart.title, heading);
}

/// Draws a curve; returns the position of its end, or of the point where it leaves the plot area for good.
fn curve(page: &mut Canvas, placed: &ChartLayout<'_>, series: &Series, lead: f64) -> Option<Point> {
    let points: Vec<Option<Point>> =
        series.points.iter().map(|&point| placed.position(point)).collect();
    let pieces = clip::line(&points, &placed.frame);
    if series.style.line != Line::None {
        pieces.iter().for_each(|piece| page.curve(piece, series.style));
    }
    let visible: Vec<Point> =
        points.into_iter().flatten().filter(|&point| placed.frame.holds(point)).collect();
    for &point in &marked(&visible, lead) {
        page.marker(point, series.style.marker, series.style.color);
    }
    let end = pieces.last().and_then(|piece| piece.last());
    end.or(visible.last()).copied()
}

/// The points that get a marker: all of them, or a part of dense points, evenly spaced. The first marker is `lead` away
/// from the start, so that the markers of neighbouring curves do not cover each other.
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

/// Draws labels beside the ends of curves: to the right of the plot area, spread where ends are close, or above the
/// plot area where a curve leaves at the top.
fn end_labels(page: &mut Canvas, placed: &ChartLayout<'_>, ends: &[Option<Point>]) {
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
        page.text((x, top - 4.0), &series.label, Font { anchor: Anchor::Middle, ..PLAIN });
    }
    for (y, end, series) in spread_labels(beside, SMALL * 1.2, top, bottom) {
        let color = hex(series.style.color);
        page.segment((right + 2.0, end), (right + LEADER - 3.0, y), color);
        page.text((right + LEADER, y + 0.36 * SMALL), &series.label, PLAIN);
    }
}

/// The position of each label, the end of its curve, and the curve.
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

/// Spreads sorted positions so that they are at least a step apart, with the least movement, between two bounds if they
/// fit. Positions that are too close form a block centred at their mean.
fn spread(places: &[f64], step: f64, low: f64, high: f64) -> Vec<f64> {
    // For each block, the mean of its positions less their offsets in the block, and its size.
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

fn write_note(page: &mut Canvas, placed: &ChartLayout<'_>, note: &Note) {
    let Some((x, y)) = placed.position(note.at).filter(|&at| placed.frame.holds(at)) else {
        return;
    };
    let (x, anchor) = match note.side {
        Side::Right => (x + 6.0, Anchor::Start),
        Side::Left => (x - 6.0, Anchor::End),
    };
    page.text((x, y + 0.36 * SMALL), &note.text, Font { anchor, rim: true, ..PLAIN });
}

fn legend_entry(page: &mut Canvas, entry: &Entry<'_>) {
    let (x, y) = entry.at;
    match entry.look {
        Look::Curve(style) => {
            if style.line != Line::None {
                page.curve(&[(x, y), (x + SAMPLE, y)], style);
            }
            page.marker((x + SAMPLE / 2.0, y), style.marker, style.color);
        }
        Look::Area(color, opacity) => {
            let (low, high) = (y + 5.0, y - 5.0);
            page.area(
                &[(x, low), (x + SAMPLE, low), (x + SAMPLE, high), (x, high)],
                color,
                opacity,
            );
        }
    }
    let name = Font { size: BODY, ..PLAIN };
    page.text((x + SAMPLE + GAP, y + 0.36 * BODY), entry.name, name);
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
