//! SVG elements, one line each.

use std::fmt::{Arguments, Write};

use super::clip::Point;
use super::layout::{LEADING, SMALL, Sheet};
use super::text::escaped;
use super::{Color, Figure, Line, Marker, Style};

/// Common fonts, narrow to wide; the layout has room for the last.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
const INK: &str = "#222222";

/// The document so far.
pub(super) struct Svg(pub(super) String);

/// How a text is set.
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) anchor: &'static str,
    pub(super) bold: bool,
    /// A white rim, where there may be lines beneath.
    pub(super) rim: bool,
}

/// Small, from the left.
pub(super) const PLAIN: Font = Font { size: SMALL, anchor: "start", bold: false, rim: false };

impl Svg {
    pub(super) fn open(sheet: &Sheet<'_>, figure: &Figure) -> Self {
        Self::sized((sheet.width, sheet.height), &figure.title, &figure.caption)
    }

    pub(super) fn sized((width, height): (f64, f64), title: &str, caption: &str) -> Self {
        let (width, height) = (number(width), number(height));
        let mut svg = Self(String::new());
        svg.line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="{FONTS}" fill="{INK}">"#
        ));
        svg.line(format_args!("<title>{}</title>", escaped(title)));
        svg.line(format_args!("<desc>{}</desc>", escaped(caption)));
        svg.line(format_args!(r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##));
        svg
    }

    /// Writing to a string does not fail.
    pub(super) fn line(&mut self, text: Arguments<'_>) {
        let _ = writeln!(self.0, "{text}");
    }

    /// The end of the document.
    pub(super) fn close(&mut self) {
        self.line(format_args!("</svg>"));
    }

    pub(super) fn open_group(&mut self, class: &str) {
        self.line(format_args!(r#"<g class="{class}">"#));
    }

    pub(super) fn close_group(&mut self) {
        self.line(format_args!("</g>"));
    }

    pub(super) fn text(&mut self, (x, y): Point, text: &str, font: Font) {
        if text.is_empty() {
            return;
        }
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

    pub(super) fn paragraph(
        &mut self,
        class: &str,
        (x, top): Point,
        lines: &[String],
        size: f64,
        bold: bool,
    ) {
        self.open_group(class);
        for (n, line) in lines.iter().enumerate() {
            let y = top + size * (1.0 + LEADING * n as f64);
            self.text((x, y), line, Font { size, bold, ..PLAIN });
        }
        self.close_group();
    }

    pub(super) fn segment(&mut self, from: Point, to: Point, color: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.line(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}"/>"#
        ));
    }

    pub(super) fn polyline(&mut self, points: &[Point], style: Style) {
        let dashes = dashes(style.line);
        let (color, width, points) = (hex(style.color), number(style.width), listed(points));
        self.line(format_args!(
            r#"<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}" stroke-linejoin="round"{dashes}/>"#
        ));
    }

    pub(super) fn polygon(&mut self, points: &[Point], color: Color, opacity: f64) {
        let (color, opacity, points) = (hex(color), opacity.clamp(0.0, 1.0), listed(points));
        self.line(format_args!(
            r#"<polygon points="{points}" fill="{color}" fill-opacity="{opacity}"/>"#
        ));
    }

    /// A shape of about the same area whichever it is, filled with white but for the rim.
    pub(super) fn marker(&mut self, (x, y): Point, marker: Marker, color: Color) {
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

/// Hundredths of a pixel are enough.
pub(super) fn number(x: f64) -> String {
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

pub(super) fn hex(color: Color) -> &'static str {
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
