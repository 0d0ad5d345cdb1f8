//! Writes a canvas as a PDF document of one page with embedded fonts, as publishers require.
//!
//! The document contains no date and no machine name: the same data give the same bytes.

use pdf_writer::types::{LineJoinStyle, TextRenderingMode};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::canvas::{AXIS, Anchor, Canvas, Font, HALO, INK, Mark, RADIUS, RIM, WHITE, dashes, hex};
use super::clip::{Frame, Point};
use super::fonts::{FontError, FontSubset};

/// Points per pixel: an inch has 72 points and 96 pixels.
const POINTS: f64 = 0.75;

pub(super) fn pdf(drawing: &Canvas) -> Result<Vec<u8>, FontError> {
    let mut fonts_in_use = [FontSubset::plain()?, FontSubset::bold()?];
    let mut veils = Veils::default();
    let content = content(drawing, &mut fonts_in_use, &mut veils);

    let mut ids = Ref::new(1);
    let (catalog, pages, page, stream, info) =
        (ids.bump(), ids.bump(), ids.bump(), ids.bump(), ids.bump());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    pdf.document_info(info)
        .title(TextStr(&drawing.title))
        .subject(TextStr(&drawing.caption))
        .creator(TextStr("counterpoint"));
    let fonts = [ids.bump(), ids.bump()];
    let veil_ids: Vec<Ref> = veils.0.iter().map(|_| ids.bump()).collect();
    {
        let mut written = pdf.page(page);
        let (width, height) = (drawing.size.0 * POINTS, drawing.size.1 * POINTS);
        written.parent(pages).contents(stream);
        written.media_box(Rect::new(0.0, 0.0, width as f32, height as f32));
        let mut resources = written.resources();
        let mut named = resources.fonts();
        for (own, id) in std::iter::zip(&fonts_in_use, fonts) {
            named.pair(Name(own.key), id);
        }
        named.finish();
        let mut named = resources.ext_g_states();
        for (n, id) in veil_ids.iter().enumerate() {
            named.pair(Name(Veils::key(n).as_bytes()), *id);
        }
    }
    pdf.stream(stream, &content);
    for (opacity, id) in std::iter::zip(&veils.0, veil_ids) {
        pdf.ext_graphics(id).non_stroking_alpha(*opacity);
    }
    for (own, id) in std::iter::zip(fonts_in_use, fonts) {
        own.embed(&mut pdf, id, &mut ids)?;
    }
    Ok(pdf.finish())
}

/// The used opacities, each once.
#[derive(Default)]
struct Veils(Vec<f32>);

impl Veils {
    fn key(n: usize) -> String {
        format!("V{n}")
    }

    fn of(&mut self, opacity: f64) -> String {
        let opacity = opacity as f32;
        let known = self.0.iter().position(|own| own.to_bits() == opacity.to_bits());
        Self::key(known.unwrap_or_else(|| {
            self.0.push(opacity);
            self.0.len() - 1
        }))
    }
}

fn content(drawing: &Canvas, fonts_in_use: &mut [FontSubset; 2], veils: &mut Veils) -> Vec<u8> {
    let mut page = Content::new();
    // Changes to the coordinates of the marks: pixels from the top left corner.
    let (scale, height) = (POINTS as f32, (drawing.size.1 * POINTS) as f32);
    page.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
    page.set_line_join(LineJoinStyle::RoundJoin);
    for mark in &drawing.marks {
        draw(&mut page, mark, fonts_in_use, veils);
    }
    page.finish().into_vec()
}

fn draw(page: &mut Content, mark: &Mark, fonts_in_use: &mut [FontSubset; 2], veils: &mut Veils) {
    match mark {
        Mark::Open(_) | Mark::Close => {}
        Mark::Edge(frame) => {
            stroke(page, AXIS, 1.0);
            rectangle(page, frame);
            page.stroke();
        }
        Mark::Segment { from, to, color } => {
            stroke(page, color, 1.0);
            line(page, &[*from, *to]);
            page.stroke();
        }
        Mark::Curve { points, style } => {
            stroke(page, hex(style.color), style.width);
            page.set_dash_pattern(dashes(style.line).iter().map(|&length| length as f32), 0.0);
            line(page, points);
            page.stroke();
            page.set_dash_pattern([], 0.0);
        }
        Mark::Area { points, color, opacity } => {
            page.save_state();
            page.set_parameters(Name(veils.of(*opacity).as_bytes()));
            fill(page, hex(*color));
            line(page, points);
            page.close_path().fill_nonzero();
            page.restore_state();
        }
        Mark::Shape { corners, color } => {
            fill(page, WHITE);
            stroke(page, hex(*color), RIM);
            line(page, corners);
            page.close_fill_nonzero_and_stroke();
        }
        Mark::Ring { centre, color } => {
            fill(page, WHITE);
            stroke(page, hex(*color), RIM);
            ring(page, *centre);
            page.close_fill_nonzero_and_stroke();
        }
        Mark::Bar { frame, color } => {
            fill(page, hex(*color));
            rectangle(page, frame);
            page.fill_nonzero();
        }
        Mark::Text { at, text, font } => write(page, *at, text, *font, fonts_in_use, false),
        Mark::Upright { at, text, font } => write(page, *at, text, *font, fonts_in_use, true),
    }
}

fn write(
    page: &mut Content,
    (x, y): Point,
    text: &str,
    font: Font,
    fonts_in_use: &mut [FontSubset; 2],
    upright: bool,
) {
    let [plain, bold] = fonts_in_use;
    let own = if font.bold { bold } else { plain };
    let (bytes, ems) = own.written(text);
    let before = font.size
        * match font.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => ems / 2.0,
            Anchor::End => ems,
        };
    // The y axis of the page points downwards, so letters must be flipped.
    let matrix = if upright {
        [0.0, -1.0, -1.0, 0.0, x as f32, (y + before) as f32]
    } else {
        [1.0, 0.0, 0.0, -1.0, (x - before) as f32, y as f32]
    };
    let (name, size) = (Name(own.key), font.size as f32);
    let modes = if font.rim {
        &[TextRenderingMode::Stroke, TextRenderingMode::Fill][..]
    } else {
        &[TextRenderingMode::Fill]
    };
    fill(page, INK);
    stroke(page, WHITE, HALO);
    for mode in modes {
        page.begin_text().set_font(name, size).set_text_rendering_mode(*mode);
        page.set_text_matrix(matrix).show(Str(&bytes)).end_text();
    }
}

fn line(page: &mut Content, points: &[Point]) {
    for (n, &(x, y)) in points.iter().enumerate() {
        let (x, y) = (x as f32, y as f32);
        if n == 0 {
            page.move_to(x, y)
        } else {
            page.line_to(x, y)
        };
    }
}

fn rectangle(page: &mut Content, frame: &Frame) {
    let [x, y, w, h] =
        [frame.left, frame.top, frame.width(), frame.height()].map(|side| side as f32);
    page.rect(x, y, w, h);
}

/// Draws a circle as four curves; the deviation is below a thousandth of the radius.
fn ring(page: &mut Content, (x, y): Point) {
    let (x, y, r) = (x as f32, y as f32, RADIUS as f32);
    let h = 0.552_285 * r;
    page.move_to(x + r, y);
    page.cubic_to(x + r, y + h, x + h, y + r, x, y + r);
    page.cubic_to(x - h, y + r, x - r, y + h, x - r, y);
    page.cubic_to(x - r, y - h, x - h, y - r, x, y - r);
    page.cubic_to(x + h, y - r, x + r, y - h, x + r, y);
}

fn stroke(page: &mut Content, color: &str, width: f64) {
    let [r, g, b] = parts(color);
    page.set_stroke_rgb(r, g, b).set_line_width(width as f32);
}

fn fill(page: &mut Content, color: &str) {
    let [r, g, b] = parts(color);
    page.set_fill_rgb(r, g, b);
}

/// Parses red, green and blue of `#rrggbb`, from 0 to 1.
fn parts(color: &str) -> [f32; 3] {
    [1, 3, 5].map(|at| {
        let part = color.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        f32::from(part.unwrap_or_default()) / 255.0
    })
}
