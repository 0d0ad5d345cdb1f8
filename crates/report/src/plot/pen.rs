//! What is drawn, as plain data: one list of marks, which becomes SVG or PDF.

use super::clip::{Frame, Point};
use super::layout::{LEADING, SMALL};
use super::{Color, Line, Marker, Style};

/// A page and what is on it, from the bottom up. Lengths are pixels, and y grows downwards.
pub(super) struct Drawing {
    pub(super) size: (f64, f64),
    /// For those who cannot see it, and for catalogues.
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) marks: Vec<Mark>,
}

/// Something drawn.
pub(super) enum Mark {
    /// What follows belongs together, until the group is closed.
    Open(&'static str),
    Close,
    /// The edge of a plot area.
    Edge(Frame),
    /// A thin straight line.
    Segment {
        from: Point,
        to: Point,
        color: &'static str,
    },
    Curve {
        points: Vec<Point>,
        style: Style,
    },
    /// Filled, and let through what is beneath.
    Area {
        points: Vec<Point>,
        color: Color,
        opacity: f64,
    },
    /// A marker: white, with a rim.
    Shape {
        corners: Vec<Point>,
        color: Color,
    },
    Ring {
        centre: Point,
        color: Color,
    },
    Bar {
        frame: Frame,
        color: Color,
    },
    Text {
        at: Point,
        text: String,
        font: Font,
    },
    /// Reads upward, around its middle.
    Upright {
        at: Point,
        text: String,
        font: Font,
    },
}

/// How a text is set.
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) bold: bool,
    /// A white rim, where there may be lines beneath.
    pub(super) rim: bool,
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Small, from the left.
pub(super) const PLAIN: Font = Font { size: SMALL, anchor: Anchor::Start, bold: false, rim: false };

pub(super) const INK: &str = "#222222";
pub(super) const WHITE: &str = "#ffffff";
pub(super) const AXIS: &str = "#444444";
/// Of a ring.
pub(super) const RADIUS: f64 = 3.2;
/// Of a marker's rim.
pub(super) const RIM: f64 = 1.3;
/// Around a text that stands on lines.
pub(super) const HALO: f64 = 3.0;

impl Drawing {
    pub(super) fn new(size: (f64, f64), title: &str, caption: &str) -> Self {
        Self { size, title: title.to_owned(), caption: caption.to_owned(), marks: Vec::new() }
    }

    pub(super) fn open(&mut self, class: &'static str) {
        self.marks.push(Mark::Open(class));
    }

    pub(super) fn close(&mut self) {
        self.marks.push(Mark::Close);
    }

    pub(super) fn edge(&mut self, frame: Frame) {
        self.marks.push(Mark::Edge(frame));
    }

    pub(super) fn bar(&mut self, frame: Frame, color: Color) {
        self.marks.push(Mark::Bar { frame, color });
    }

    pub(super) fn text(&mut self, at: Point, text: &str, font: Font) {
        if !text.is_empty() {
            self.marks.push(Mark::Text { at, text: text.to_owned(), font });
        }
    }

    pub(super) fn upright(&mut self, at: Point, text: &str, font: Font) {
        let font = Font { anchor: Anchor::Middle, ..font };
        if !text.is_empty() {
            self.marks.push(Mark::Upright { at, text: text.to_owned(), font });
        }
    }

    pub(super) fn paragraph(
        &mut self,
        class: &'static str,
        (x, top): Point,
        lines: &[String],
        size: f64,
        bold: bool,
    ) {
        self.open(class);
        for (n, line) in lines.iter().enumerate() {
            let y = top + size * (1.0 + LEADING * n as f64);
            self.text((x, y), line, Font { size, bold, ..PLAIN });
        }
        self.close();
    }

    pub(super) fn segment(&mut self, from: Point, to: Point, color: &'static str) {
        self.marks.push(Mark::Segment { from, to, color });
    }

    pub(super) fn curve(&mut self, points: &[Point], style: Style) {
        self.marks.push(Mark::Curve { points: points.to_vec(), style });
    }

    pub(super) fn area(&mut self, points: &[Point], color: Color, opacity: f64) {
        let opacity = opacity.clamp(0.0, 1.0);
        self.marks.push(Mark::Area { points: points.to_vec(), color, opacity });
    }

    /// A shape of about the same area whichever it is, filled with white but for the rim.
    pub(super) fn marker(&mut self, (x, y): Point, marker: Marker, color: Color) {
        let corners: &[Point] = match marker {
            Marker::None => return,
            Marker::Circle => {
                self.marks.push(Mark::Ring { centre: (x, y), color });
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
        let corners = corners.iter().map(|corner| (x + corner.0, y + corner.1)).collect();
        self.marks.push(Mark::Shape { corners, color });
    }
}

/// Lengths of dashes and of the gaps between them, in turns.
pub(super) fn dashes(line: Line) -> &'static [f64] {
    match line {
        Line::Solid | Line::None => &[],
        Line::Dashed => &[7.0, 4.0],
        Line::Dotted => &[1.8, 3.2],
        Line::DashDot => &[9.0, 3.0, 2.0, 3.0],
        Line::LongDash => &[14.0, 4.0],
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
