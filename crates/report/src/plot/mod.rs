//! Charts as plain data, drawn as SVG or PDF or listed as CSV.
//!
//! A [`Figure`] holds one or more [`Chart`]s, a title and a caption; [`Figure::svg`] draws it, [`Figure::csv`] lists
//! its points. The same data give the same bytes.
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
mod fonts;
mod pdf;
mod canvas;
mod svg;
mod text;
mod ticks;

pub use bars::{Bar, Bars, Group};
pub use fonts::FontError;
pub(crate) use text::escaped;
pub(crate) use ticks::{scientific, superscript};

/// Charts with a title, a caption and one legend.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The title, one line.
    pub title: String,
    /// The caption, which states what the figure shows, and its limits.
    pub caption: String,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// The number of charts in a row.
    pub columns: usize,
    /// True if title and caption are not drawn. They stay in the file as a text alternative.
    pub plain: bool,
}

/// One plot area with its axes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chart {
    /// The title above the plot area; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Areas, drawn below the curves, in this order.
    pub areas: Vec<Area>,
    /// Curves, in this order.
    pub series: Vec<Series>,
    /// Short texts within the plot area.
    pub notes: Vec<Note>,
    /// True if the plot area is a square.
    pub square: bool,
    /// The width and height of the plot area, in pixels; `None` for the default size.
    pub size: Option<(f64, f64)>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// The measured quantity.
    pub label: String,
    /// The unit; `None` for a pure number.
    pub unit: Option<String>,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The range; `None` to fit the data and end at round numbers.
    pub range: Option<(f64, f64)>,
    /// Names at positions of the axis instead of round numbers; empty for numbers.
    pub names: Vec<(f64, String)>,
}

/// The mapping of numbers to distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths; only positive numbers can be shown.
    Log,
}

/// A curve through points, or the points alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// The name in the legend. Curves of the same name share an entry.
    pub name: String,
    /// The points, in order. Numbers that the axis cannot show leave a gap.
    pub points: Vec<(f64, f64)>,
    /// The certified bounds of each point's y; empty if there are none.
    pub bounds: Vec<(f64, f64)>,
    /// The style of the curve.
    pub style: Style,
    /// The label beside the curve's end, outside the plot area; may be empty. A curve whose label is its name needs no
    /// legend.
    pub label: String,
    /// Distinguishes curves of the same name in the CSV; the label is used if this is empty.
    pub variant: String,
}

/// A filled polygon.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Area {
    /// The name in the legend; no entry if empty.
    pub name: String,
    /// The corners, in order.
    pub outline: Vec<(f64, f64)>,
    /// The colour of the area.
    pub color: Color,
    /// The opacity of the area, from 0 to 1.
    pub opacity: f64,
}

/// A short text within the plot area.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Note {
    /// The position where the text starts or ends.
    pub at: (f64, f64),
    /// The text.
    pub text: String,
    /// The side of the position on which the text is.
    pub side: Side,
}

/// The side of a position on which a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The text ends at the position.
    Left,
    /// The text starts at the position.
    Right,
}

/// The style of a curve. Colour, dashes and marker each distinguish curves, so that curves can be recognised in print
/// without colour.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Style {
    /// The colour of line and markers.
    pub color: Color,
    /// The dashes of the line.
    pub line: Line,
    /// The marker of points; dense points get only some markers.
    pub marker: Marker,
    /// The width of the line, in pixels.
    pub width: f64,
}

/// The colours of Okabe and Ito, which colour-blind readers can distinguish, and grey.
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

/// The dashes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Line {
    Solid,
    Dashed,
    Dotted,
    DashDot,
    LongDash,
    /// No line, only markers.
    None,
}

/// The shape of a marker.
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
    /// Creates a figure; two or more charts are placed in two columns.
    pub fn new(
        title: impl Into<String>,
        caption: impl Into<String>,
        charts: impl Into<Vec<Chart>>,
    ) -> Self {
        let charts = charts.into();
        let columns = charts.len().clamp(1, 2);
        Self { title: title.into(), caption: caption.into(), charts, columns, plain: false }
    }

    /// Draws the figure as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::svg(&draw::drawing(self))
    }

    /// Draws the figure as a PDF document with embedded fonts.
    ///
    /// # Errors
    /// [`FontError`] if a font cannot be embedded.
    pub fn pdf(&self) -> Result<Vec<u8>, FontError> {
        pdf::pdf(&draw::drawing(self))
    }

    /// Lists the points, one per line: the chart (from 1), the name, the two numbers and, if y is certified, its
    /// bounds. Digits suffice to read back the same doubles.
    #[must_use]
    pub fn csv(&self) -> String {
        csv::csv(self)
    }
}

impl Chart {
    /// Creates an empty chart.
    #[must_use]
    pub fn new(x: Axis, y: Axis) -> Self {
        let title = String::new();
        let (areas, series, notes) = (vec![], vec![], vec![]);
        Self { title, x, y, areas, series, notes, square: false, size: None }
    }

    /// Sets the title above the plot area.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Makes the plot area a square.
    #[must_use]
    pub fn square(self) -> Self {
        Self { square: true, ..self }
    }

    /// Sets the size of the plot area, in pixels.
    #[must_use]
    pub fn size(self, width: f64, height: f64) -> Self {
        Self { size: Some((width, height)), ..self }
    }
}

impl Axis {
    /// Creates a linear axis that fits the data.
    pub fn new(label: impl Into<String>) -> Self {
        let (unit, scale, range, names) = (None, Scale::Linear, None, Vec::new());
        Self { label: label.into(), unit, scale, range, names }
    }

    /// Sets the unit.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Self {
        Self { unit: Some(unit.into()), ..self }
    }

    /// Makes the axis logarithmic.
    #[must_use]
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }

    /// Sets the range.
    #[must_use]
    pub fn range(self, from: f64, to: f64) -> Self {
        Self { range: Some((from, to)), ..self }
    }

    /// Sets names at positions of the axis, instead of round numbers.
    #[must_use]
    pub fn names(self, names: impl IntoIterator<Item = (f64, String)>) -> Self {
        Self { names: names.into_iter().collect(), ..self }
    }
}

impl Series {
    /// Creates a curve with the first style.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().collect();
        let (name, style) = (name.into(), Style::nth(0));
        let (label, variant) = (String::new(), String::new());
        Self { name, points, bounds: Vec::new(), style, label, variant }
    }

    /// Sets the certified bounds of the points.
    #[must_use]
    pub fn bounds(self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { bounds: bounds.into_iter().collect(), ..self }
    }

    /// Sets the style.
    #[must_use]
    pub fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Uses the name as the label beside the end, without an entry in the legend.
    #[must_use]
    pub fn label_by_name(self) -> Self {
        Self { label: self.name.clone(), ..self }
    }

    /// Distinguishes the curve in the CSV from others of its name.
    #[must_use]
    pub fn variant(self, variant: impl Into<String>) -> Self {
        Self { variant: variant.into(), ..self }
    }

    /// Sets the label beside the end.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }
}

impl Area {
    /// Creates an area with a light filling.
    pub fn new(
        name: impl Into<String>,
        outline: impl IntoIterator<Item = (f64, f64)>,
        color: Color,
    ) -> Self {
        let outline = outline.into_iter().collect();
        Self { name: name.into(), outline, color, opacity: 0.15 }
    }

    /// Sets the opacity.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

impl Note {
    /// Creates a text that starts at a position.
    pub fn new(at: (f64, f64), text: impl Into<String>) -> Self {
        Self { at, text: text.into(), side: Side::Right }
    }

    /// Lets the text end at its position.
    #[must_use]
    pub fn left(self) -> Self {
        Self { side: Side::Left, ..self }
    }
}

impl Style {
    /// Creates the style of a line without markers.
    #[must_use]
    pub fn new(color: Color, line: Line) -> Self {
        Self { color, line, marker: Marker::None, width: 1.8 }
    }

    /// Sets the marker.
    #[must_use]
    pub fn marker(self, marker: Marker) -> Self {
        Self { marker, ..self }
    }

    /// Sets the width of the line.
    #[must_use]
    pub fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The style of the n-th curve, from 0. No two of the first five share a colour, dashes or a marker.
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
