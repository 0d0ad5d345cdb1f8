//! A canvas: a list of marks as plain data, which is written as SVG or PDF.

use super::clip::{Frame, Point};
use super::layout::{LEADING, SMALL};
use super::{Color, Line, Marker, Style};

/// A page and its marks, from bottom to top. Lengths are pixels; y points downwards.
pub(super) struct Canvas {
    pub(super) size: (f64, f64),
    /// The title, for text alternatives and catalogues.
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) marks: Vec<Mark>,
}

/// A mark on the canvas.
pub(super) enum Mark {
    /// Begins a group of marks.
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
    /// A filled, transparent polygon.
    Area {
        points: Vec<Point>,
        color: Color,
        opacity: f64,
    },
    /// A marker: white with a rim.
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
    /// A text that reads upwards, centred at its position.
    Upright {
        at: Point,
        text: String,
        font: Font,
    },
}

/// The font of a text.
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) bold: bool,
    /// True for a white rim, for texts above lines.
    pub(super) rim: bool,
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A small text that starts at its position.
pub(super) const PLAIN: Font = Font { size: SMALL, anchor: Anchor::Start, bold: false, rim: false };

pub(super) const INK: &str = "#222222";
pub(super) const WHITE: &str = "#ffffff";
pub(super) const AXIS: &str = "#444444";
/// The radius of a round marker.
pub(super) const RADIUS: f64 = 3.2;
/// The width of a marker's rim.
pub(super) const RIM: f64 = 1.3;
/// The width of the white rim of a text.
pub(super) const HALO: f64 = 3.0;

impl Canvas {
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

    /// Draws a marker. All shapes have about the same area and are white inside.
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

/// The lengths of dashes and gaps, alternating.
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
