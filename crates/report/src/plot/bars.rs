//! Bar charts of named amounts.

use super::Color;
use super::clip::Frame;
use super::layout::{BODY, GAP, HEADING, LEADING, SMALL, TITLE};

use super::canvas::{Anchor, Canvas, Font, PLAIN};
use super::text::{width, wrapped};

/// Groups of bars with a title and a caption.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bars {
    /// The title, one line.
    pub title: String,
    /// The caption, which states what the chart shows.
    pub caption: String,
    /// The groups, from top to bottom; each has its own scale.
    pub groups: Vec<Group>,
}

/// Bars with a common scale.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The title above the bars.
    pub title: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bar {
    /// The text to the left of the bar.
    pub name: String,
    /// The length of the bar.
    pub value: f64,
    /// The text to the right of the bar.
    pub text: String,
    /// The colour of the bar.
    pub color: Color,
}

impl Bars {
    /// Creates a chart from its title, caption and groups.
    pub fn new(
        title: impl Into<String>,
        caption: impl Into<String>,
        groups: impl Into<Vec<Group>>,
    ) -> Self {
        Self { title: title.into(), caption: caption.into(), groups: groups.into() }
    }

    /// Draws the chart as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        super::svg::svg(&drawing(self))
    }
}

impl Group {
    /// Creates a group of bars.
    pub fn new(title: impl Into<String>, bars: impl Into<Vec<Bar>>) -> Self {
        Self { title: title.into(), bars: bars.into() }
    }
}

impl Bar {
    /// Creates a bar.
    pub fn new(name: impl Into<String>, value: f64, text: impl Into<String>, color: Color) -> Self {
        Self { name: name.into(), value, text: text.into(), color }
    }
}

const WIDTH: f64 = 720.0;
const MARGIN: f64 = 20.0;
const ROW: f64 = 20.0;
const THICK: f64 = 12.0;
/// The width of the names, in pixels.
const NAMES: f64 = 220.0;
const TEXTS: f64 = 130.0;

fn drawing(bars: &Bars) -> Canvas {
    let caption = wrapped(&bars.caption, WIDTH - 2.0 * MARGIN, |text| width(text, BODY));
    let rows: usize = bars.groups.iter().map(|group| group.bars.len()).sum();
    let heads = bars.groups.len() as f64 * (HEADING * LEADING + 3.0 * GAP);
    let top = MARGIN + TITLE * LEADING + caption.len() as f64 * BODY * LEADING;
    let height = top + heads + rows as f64 * ROW + MARGIN;
    let mut page = Canvas::new((WIDTH, height), &bars.title, &bars.caption);
    page.paragraph("title", (MARGIN, MARGIN), std::slice::from_ref(&bars.title), TITLE, true);
    page.paragraph("caption", (MARGIN, MARGIN + TITLE * LEADING), &caption, BODY, false);
    let names = bars.groups.iter().flat_map(|group| &group.bars);
    let names = names.map(|bar| width(&shortened(&bar.name), SMALL)).fold(0.0, f64::max);
    let mut y = top;
    for group in &bars.groups {
        y += 2.0 * GAP + HEADING;
        page.text((MARGIN, y), &group.title, Font { size: HEADING, bold: true, ..PLAIN });
        y += GAP + HEADING * (LEADING - 1.0);
        draw(&mut page, group, (MARGIN + names + GAP, y));
        y += group.bars.len() as f64 * ROW;
    }
    page
}

fn draw(page: &mut Canvas, group: &Group, (left, top): (f64, f64)) {
    let most = group.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite());
    let most = most.fold(f64::MIN_POSITIVE, f64::max);
    let room = WIDTH - MARGIN - TEXTS - left;
    for (place, bar) in group.bars.iter().enumerate() {
        let middle = top + (place as f64 + 0.5) * ROW;
        let base = middle + 0.35 * SMALL;
        page.text((left - GAP, base), &shortened(&bar.name), Font { anchor: Anchor::End, ..PLAIN });
        let long = (room * bar.value / most).clamp(0.5, room);
        let (top, right) = (middle - 0.5 * THICK, left + long);
        page.bar(Frame { left, top, right, bottom: top + THICK }, bar.color);
        page.text((right + GAP, base), &bar.text, PLAIN);
    }
}

/// Shortens a name to the available width.
fn shortened(name: &str) -> String {
    if width(name, SMALL) <= NAMES {
        return name.to_owned();
    }
    let mut short = String::new();
    for letter in name.chars() {
        short.push(letter);
        if width(&short, SMALL) > NAMES - SMALL {
            short.pop();
            break;
        }
    }
    short + "…"
}
