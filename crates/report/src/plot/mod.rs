//! Charts as plain data, and what they look like as SVG and as CSV.
//!
//! A [`Figure`] holds one or more [`Chart`]s, a title and a caption; [`Figure::svg`] draws it,
//! [`Figure::csv`] lists its points. The same data give the same bytes.
//!
//! ```
//! use counterpoint_report::plot::{Axis, Chart, Color, Figure, Line, Series, Style};
//!
//! let squares = (0..=10).map(|n| (f64::from(n), f64::from(n * n)));
//! let mut chart = Chart::new(Axis::new("number"), Axis::new("area").unit("m²"));
//! chart.series.push(Series::new("square", squares).style(Style::new(Color::Blue, Line::Solid)));
//! let figure = Figure::new("Squares", "The area grows faster than the side.", [chart]);
//! assert!(figure.svg().starts_with("<svg "));
//! assert!(figure.csv().contains("square,3.0,9.0,,\n"));
//! ```

mod bars;
mod clip;
mod csv;
mod draw;
mod layout;
mod letters;
mod pdf;
mod pen;
mod svg;
mod text;
mod ticks;

pub use bars::{Bar, Bars, Group};
pub use letters::FontError;
pub(crate) use text::escaped;
pub(crate) use ticks::{scientific, superscript};

/// Charts with a title, a caption and one legend.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// What is shown, in a line.
    pub title: String,
    /// What it shows to be true, and where that ends.
    pub caption: String,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// How many charts stand beside each other.
    pub columns: usize,
    /// Whether title and caption are left to the text around it. They stay in the file for those who cannot see it.
    pub plain: bool,
}

/// One plot area with its axes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chart {
    /// Above the plot area; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Regions, drawn beneath the curves, in this order.
    pub areas: Vec<Area>,
    /// Curves, in this order.
    pub series: Vec<Series>,
    /// Short texts within the plot area.
    pub notes: Vec<Note>,
    /// Whether the plot area is a square.
    pub square: bool,
    /// How wide and tall the plot area is, in pixels; none for the usual size.
    pub size: Option<(f64, f64)>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// In what; none for a pure number.
    pub unit: Option<String>,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// From where to where; none to fit the data, ending at round numbers.
    pub range: Option<(f64, f64)>,
    /// Names that stand at places of the axis instead of round numbers; empty for numbers.
    pub names: Vec<(f64, String)>,
}

/// How numbers become distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long; only positive numbers have a place.
    Log,
}

/// A curve through points, or the points alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// In the legend. Curves of the same name share an entry.
    pub name: String,
    /// In order along the curve. Numbers without a place on their axis leave a gap.
    pub points: Vec<(f64, f64)>,
    /// Between which two numbers each point's y is certified to be; empty where no such thing is known.
    pub ends: Vec<(f64, f64)>,
    /// How it is drawn.
    pub style: Style,
    /// Written beside the curve's end, outside the plot area; may be empty. A curve whose label is its name needs no legend.
    pub label: String,
    /// In the CSV, what tells the curve from others of its name; the label if empty.
    pub of: String,
}

/// A filled polygon.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Area {
    /// In the legend; not there if empty.
    pub name: String,
    /// Its corners, in order.
    pub outline: Vec<(f64, f64)>,
    /// Of the filling.
    pub color: Color,
    /// Of the filling: from 0, invisible, to 1.
    pub opacity: f64,
}

/// A short text within the plot area.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Note {
    /// Where the text starts, or ends.
    pub at: (f64, f64),
    /// What it says.
    pub text: String,
    /// On which side of its place the text is.
    pub side: Side,
}

/// On which side of its place a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It ends there.
    Left,
    /// It starts there.
    Right,
}

/// How a curve is drawn. Colour, dashes and marker each tell curves apart, so that a curve
/// is known by its name in print without colour too.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Style {
    /// Of line and markers.
    pub color: Color,
    /// Dashes.
    pub line: Line,
    /// The shape that marks points, spread out where they are dense.
    pub marker: Marker,
    /// Of the line, in pixels.
    pub width: f64,
}

/// The colours of Okabe and Ito, which colour-blind readers tell apart, and grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Color {
    Black,
    Orange,
    SkyBlue,
    Green,
    Yellow,
    Blue,
    Vermillion,
    Purple,
    Grey,
}

/// Dashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Line {
    Solid,
    Dashed,
    Dotted,
    DashDot,
    LongDash,
    /// No line: markers alone.
    None,
}

/// The shape that marks points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Marker {
    None,
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

impl Figure {
    /// Charts under a title; two or more stand in two columns.
    pub fn new(
        title: impl Into<String>,
        caption: impl Into<String>,
        charts: impl Into<Vec<Chart>>,
    ) -> Self {
        let charts = charts.into();
        let columns = charts.len().clamp(1, 2);
        Self { title: title.into(), caption: caption.into(), charts, columns, plain: false }
    }

    /// The picture, as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::svg(&draw::drawing(self))
    }

    /// The same picture, as a PDF document with its fonts inside.
    ///
    /// # Errors
    /// [`FontError`] if a font cannot be put into it.
    pub fn pdf(&self) -> Result<Vec<u8>, FontError> {
        pdf::pdf(&draw::drawing(self))
    }

    /// The points: a line for each, with the chart (from 1), the name, the two numbers and, where y is certified, the ends that it
    /// is between, in digits that give back the same double.
    #[must_use]
    pub fn csv(&self) -> String {
        csv::csv(self)
    }
}

impl Chart {
    /// Nothing yet, between two axes.
    #[must_use]
    pub fn new(x: Axis, y: Axis) -> Self {
        let title = String::new();
        let (areas, series, notes) = (vec![], vec![], vec![]);
        Self { title, x, y, areas, series, notes, square: false, size: None }
    }

    /// With a title above the plot area.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// On a square plot area.
    #[must_use]
    pub fn square(self) -> Self {
        Self { square: true, ..self }
    }

    /// On a plot area this wide and tall, in pixels.
    #[must_use]
    pub fn size(self, width: f64, height: f64) -> Self {
        Self { size: Some((width, height)), ..self }
    }
}

impl Axis {
    /// A linear axis that fits the data.
    pub fn new(label: impl Into<String>) -> Self {
        let (unit, scale, range, names) = (None, Scale::Linear, None, Vec::new());
        Self { label: label.into(), unit, scale, range, names }
    }

    /// In a unit.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Self {
        Self { unit: Some(unit.into()), ..self }
    }

    /// Logarithmic.
    #[must_use]
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }

    /// From one number to another.
    #[must_use]
    pub fn range(self, from: f64, to: f64) -> Self {
        Self { range: Some((from, to)), ..self }
    }

    /// With names at places instead of round numbers.
    #[must_use]
    pub fn names(self, names: impl IntoIterator<Item = (f64, String)>) -> Self {
        Self { names: names.into_iter().collect(), ..self }
    }
}

impl Series {
    /// A curve with the first style.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().collect();
        let (name, style) = (name.into(), Style::nth(0));
        let (label, of) = (String::new(), String::new());
        Self { name, points, ends: Vec::new(), style, label, of }
    }

    /// Certified to lie between these, point by point.
    #[must_use]
    pub fn between(self, ends: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { ends: ends.into_iter().collect(), ..self }
    }

    /// Drawn like this.
    #[must_use]
    pub fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// With its name beside its end, and no entry in the legend.
    #[must_use]
    pub fn named(self) -> Self {
        Self { label: self.name.clone(), ..self }
    }

    /// Told in the CSV from others of its name.
    #[must_use]
    pub fn of(self, of: impl Into<String>) -> Self {
        Self { of: of.into(), ..self }
    }

    /// With a label beside its end.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }
}

impl Area {
    /// A polygon, lightly filled.
    pub fn new(
        name: impl Into<String>,
        outline: impl IntoIterator<Item = (f64, f64)>,
        color: Color,
    ) -> Self {
        let outline = outline.into_iter().collect();
        Self { name: name.into(), outline, color, opacity: 0.15 }
    }

    /// Filled with this opacity.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

impl Note {
    /// A text that starts at a place.
    pub fn new(at: (f64, f64), text: impl Into<String>) -> Self {
        Self { at, text: text.into(), side: Side::Right }
    }

    /// The same text, ending there.
    #[must_use]
    pub fn ending(self) -> Self {
        Self { side: Side::Left, ..self }
    }
}

impl Style {
    /// A line without markers.
    #[must_use]
    pub fn new(color: Color, line: Line) -> Self {
        Self { color, line, marker: Marker::None, width: 1.8 }
    }

    /// With markers.
    #[must_use]
    pub fn marker(self, marker: Marker) -> Self {
        Self { marker, ..self }
    }

    /// With a line this wide.
    #[must_use]
    pub fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The style of the n-th curve, from 0; no two of the first five have a colour, dashes or a
    /// marker in common.
    #[must_use]
    pub fn nth(n: usize) -> Self {
        const STYLES: [(Color, Line, Marker); 5] = [
            (Color::Blue, Line::Solid, Marker::None),
            (Color::Vermillion, Line::Dashed, Marker::Circle),
            (Color::Green, Line::DashDot, Marker::Triangle),
            (Color::Purple, Line::Dotted, Marker::Diamond),
            (Color::Black, Line::LongDash, Marker::Square),
        ];
        let (color, line, marker) = STYLES[n % STYLES.len()];
        Self::new(color, line).marker(marker)
    }
}
