//! A figure laid out, as SVG.

use std::fmt::Write;

use super::clip::{self, Frame, Point};
use super::layout::{
    BODY, Entry, GAP, HEADING, LEADING, Look, Placed, SAMPLE, SMALL, Sheet, TITLE, axis_label,
    sheet,
};
use super::text::{escaped, width};
use super::{Color, Figure, Line, Marker, Note, Series, Side, Style};

/// Common fonts, narrow to wide; the layout has room for the last.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
const INK: &str = "#222222";
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
    svg.0.push_str("</svg>\n");
    svg.0
}

/// The document so far.
struct Svg(String);

/// How a text is set.
#[derive(Clone, Copy)]
struct Font {
    size: f64,
    anchor: &'static str,
    bold: bool,
    /// A white rim, where there may be lines beneath.
    rim: bool,
}

const PLAIN: Font = Font { size: SMALL, anchor: "start", bold: false, rim: false };

impl Svg {
    fn open(sheet: &Sheet<'_>, figure: &Figure) -> Self {
        let (width, height) = (number(sheet.width), number(sheet.height));
        let mut svg = Self(String::new());
        svg.line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="{FONTS}" fill="{INK}">"#
        ));
        svg.line(format_args!("<title>{}</title>", escaped(&figure.title)));
        svg.line(format_args!("<desc>{}</desc>", escaped(&figure.caption)));
        svg.line(format_args!(r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##));
        svg
    }

    /// Writing to a string does not fail.
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{text}");
    }

    fn open_group(&mut self, class: &str) {
        self.line(format_args!(r#"<g class="{class}">"#));
    }

    fn close_group(&mut self) {
        self.line(format_args!("</g>"));
    }

    fn text(&mut self, (x, y): Point, text: &str, font: Font) {
        let mut style = format!(r#"font-size="{}""#, font.size);
        if font.anchor != "start" {
            let _ = write!(style, r#" text-anchor="{}""#, font.anchor);
        }
        if font.bold {
            style.push_str(r#" font-weight="bold""#);
        }
        if font.rim {
            style.push_str(r##" stroke="#ffffff" stroke-width="3" paint-order="stroke" stroke-linejoin="round""##);
        }
        let (x, y, text) = (number(x), number(y), escaped(text));
        self.line(format_args!(r#"<text x="{x}" y="{y}" {style}>{text}</text>"#));
    }

    fn paragraph(&mut self, class: &str, (x, top): Point, lines: &[String], size: f64, bold: bool) {
        self.open_group(class);
        for (n, line) in lines.iter().enumerate() {
            let y = top + size * (1.0 + LEADING * n as f64);
            self.text((x, y), line, Font { size, bold, ..PLAIN });
        }
        self.close_group();
    }

    fn segment(&mut self, from: Point, to: Point, color: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.line(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}"/>"#
        ));
    }

    fn polyline(&mut self, points: &[Point], style: Style) {
        let dashes = dashes(style.line);
        let (color, width, points) = (hex(style.color), number(style.width), listed(points));
        self.line(format_args!(
            r#"<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}" stroke-linejoin="round"{dashes}/>"#
        ));
    }

    fn polygon(&mut self, points: &[Point], color: Color, opacity: f64) {
        let (color, opacity, points) = (hex(color), opacity.clamp(0.0, 1.0), listed(points));
        self.line(format_args!(
            r#"<polygon points="{points}" fill="{color}" fill-opacity="{opacity}"/>"#
        ));
    }

    /// A shape of about the same area whichever it is, filled with white but for the rim.
    fn marker(&mut self, (x, y): Point, marker: Marker, color: Color) {
        let corners: &[Point] = match marker {
            Marker::None => return,
            Marker::Circle => {
                let (x, y, color) = (number(x), number(y), hex(color));
                let rim = format_args!(r#"stroke="{color}" stroke-width="1.3""#).to_string();
                self.line(format_args!(
                    r##"<circle cx="{x}" cy="{y}" r="3.2" fill="#ffffff" {rim}/>"##
                ));
                return;
            }
            Marker::Cross => {
                self.segment((x - 3.2, y - 3.2), (x + 3.2, y + 3.2), hex(color));
                self.segment((x - 3.2, y + 3.2), (x + 3.2, y - 3.2), hex(color));
                return;
            }
            Marker::Square => &[(-2.9, -2.9), (2.9, -2.9), (2.9, 2.9), (-2.9, 2.9)],
            Marker::Triangle => &[(0.0, -4.2), (3.8, 2.6), (-3.8, 2.6)],
            Marker::Diamond => &[(0.0, -4.4), (3.6, 0.0), (0.0, 4.4), (-3.6, 0.0)],
        };
        let corners: Vec<Point> =
            corners.iter().map(|corner| (x + corner.0, y + corner.1)).collect();
        let (points, color) = (listed(&corners), hex(color));
        self.line(format_args!(
            r##"<polygon points="{points}" fill="#ffffff" stroke="{color}" stroke-width="1.3"/>"##
        ));
    }
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
    let lift = if labelled { SMALL * LEADING } else { GAP };
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
    let Frame { top, right, bottom, .. } = placed.frame;
    let mut beside: Vec<(f64, &Series)> = Vec::new();
    for (series, end) in std::iter::zip(&placed.chart.series, ends) {
        let Some((x, y)) = end.filter(|_| !series.label.is_empty()) else { continue };
        if y <= top + 1e-6 && x < right - GAP {
            svg.text((x, top - 4.0), &series.label, Font { anchor: "middle", ..PLAIN });
        } else {
            beside.push((y, series));
        }
    }
    beside.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends: Vec<f64> = beside.iter().map(|(y, _)| *y).collect();
    for (y, (_, series)) in std::iter::zip(spread(&ends, SMALL * 1.2, top, bottom), &beside) {
        svg.text((right + 6.0, y + 0.36 * SMALL), &series.label, PLAIN);
    }
}

/// Moves sorted places at least a step apart, keeping them between two bounds if they fit.
fn spread(places: &[f64], step: f64, low: f64, high: f64) -> Vec<f64> {
    let mut places = places.to_vec();
    let mut least = low;
    for place in &mut places {
        *place = place.max(least);
        least = *place + step;
    }
    let mut most = high;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - step;
    }
    places
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

/// Hundredths of a pixel are enough.
fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn listed(points: &[Point]) -> String {
    let mut list = String::new();
    for (n, (x, y)) in points.iter().enumerate() {
        let space = if n > 0 { " " } else { "" };
        let _ = write!(list, "{space}{},{}", number(*x), number(*y));
    }
    list
}

fn dashes(line: Line) -> &'static str {
    match line {
        Line::Solid | Line::None => "",
        Line::Dashed => r#" stroke-dasharray="7 4""#,
        Line::Dotted => r#" stroke-dasharray="1.8 3.2""#,
        Line::DashDot => r#" stroke-dasharray="9 3 2 3""#,
        Line::LongDash => r#" stroke-dasharray="14 4""#,
    }
}

fn hex(color: Color) -> &'static str {
    match color {
        Color::Black => "#000000",
        Color::Orange => "#E69F00",
        Color::SkyBlue => "#56B4E9",
        Color::Green => "#009E73",
        Color::Yellow => "#F0E442",
        Color::Blue => "#0072B2",
        Color::Vermillion => "#D55E00",
        Color::Purple => "#CC79A7",
        Color::Grey => "#7F7F7F",
    }
}
