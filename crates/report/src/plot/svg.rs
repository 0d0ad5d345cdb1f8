//! Writes a canvas as an SVG document, one line per mark.

use std::fmt::Write;

use super::Style;
use super::canvas::{AXIS, Anchor, Canvas, Font, HALO, INK, Mark, RADIUS, RIM, WHITE, dashes, hex};
use super::clip::{Frame, Point};
use super::text::escaped;

/// Common fonts, from narrow to wide; the layout allows for the widest.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

pub(super) fn svg(drawing: &Canvas) -> String {
    let (width, height) = (number(drawing.size.0), number(drawing.size.1));
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="{FONTS}" fill="{INK}">"#
    );
    let (title, caption) = (escaped(&drawing.title), escaped(&drawing.caption));
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "\n<title>{title}</title>\n<desc>{caption}</desc>");
    let _ = writeln!(svg, r#"<rect width="{width}" height="{height}" fill="{WHITE}"/>"#);
    for mark in &drawing.marks {
        let _ = writeln!(svg, "{}", element(mark));
    }
    svg.push_str("</svg>\n");
    svg
}

fn element(mark: &Mark) -> String {
    match mark {
        Mark::Open(class) => format!(r#"<g class="{class}">"#),
        Mark::Close => "</g>".to_owned(),
        Mark::Edge(frame) => {
            let [x, y, w, h] = sides(frame);
            format!(
                r#"<rect class="frame" x="{x}" y="{y}" width="{w}" height="{h}" fill="none" stroke="{AXIS}"/>"#
            )
        }
        Mark::Segment { from, to, color } => {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
            format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}"/>"#)
        }
        Mark::Curve { points, style } => curve(points, *style),
        Mark::Area { points, color, opacity } => {
            let (color, points) = (hex(*color), aligned_rows(points));
            format!(r#"<polygon points="{points}" fill="{color}" fill-opacity="{opacity}"/>"#)
        }
        Mark::Shape { corners, color } => {
            let (points, color) = (aligned_rows(corners), hex(*color));
            format!(
                r#"<polygon points="{points}" fill="{WHITE}" stroke="{color}" stroke-width="{RIM}"/>"#
            )
        }
        Mark::Ring { centre, color } => {
            let (x, y, color) = (number(centre.0), number(centre.1), hex(*color));
            format!(
                r#"<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{WHITE}" stroke="{color}" stroke-width="{RIM}"/>"#
            )
        }
        Mark::Bar { frame, color } => {
            let ([x, y, w, h], color) = (sides(frame), hex(*color));
            format!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="1.5" fill="{color}"/>"#)
        }
        Mark::Text { at, text, font } => {
            let (x, y, text) = (number(at.0), number(at.1), escaped(text));
            format!(r#"<text x="{x}" y="{y}" {}>{text}</text>"#, set(*font))
        }
        Mark::Upright { at, text, font } => {
            let (x, y, text) = (number(at.0), number(at.1), escaped(text));
            let turned = format!(r#"transform="translate({x} {y}) rotate(-90)""#);
            format!(r#"<text {turned} {}>{text}</text>"#, set(*font))
        }
    }
}

fn curve(points: &[Point], style: Style) -> String {
    let mut dashed = String::new();
    let lengths: Vec<String> = dashes(style.line).iter().map(|&length| number(length)).collect();
    if !lengths.is_empty() {
        dashed = format!(r#" stroke-dasharray="{}""#, lengths.join(" "));
    }
    let (color, width, points) = (hex(style.color), number(style.width), aligned_rows(points));
    format!(
        r#"<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}" stroke-linejoin="round"{dashed}/>"#
    )
}

fn set(font: Font) -> String {
    let mut style = format!(r#"font-size="{}""#, font.size);
    match font.anchor {
        Anchor::Start => {}
        Anchor::Middle => style.push_str(r#" text-anchor="middle""#),
        Anchor::End => style.push_str(r#" text-anchor="end""#),
    }
    if font.bold {
        style.push_str(r#" font-weight="bold""#);
    }
    if font.rim {
        let _ = write!(
            style,
            r#" stroke="{WHITE}" stroke-width="{HALO}" paint-order="stroke" stroke-linejoin="round""#
        );
    }
    style
}

/// Left, top, width and height.
fn sides(frame: &Frame) -> [String; 4] {
    [frame.left, frame.top, frame.width(), frame.height()].map(number)
}

/// Formats a coordinate with hundredths of a pixel.
fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn aligned_rows(points: &[Point]) -> String {
    let mut list = String::new();
    for (n, (x, y)) in points.iter().enumerate() {
        let space = if n > 0 { " " } else { "" };
        let _ = write!(list, "{space}{},{}", number(*x), number(*y));
    }
    list
}
