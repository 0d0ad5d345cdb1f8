//! The fonts of PDF documents and the glyphs that a document uses.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Finish, Name, Pdf, Rect, Ref, Str};
use subsetter::GlyphRemapper;
use ttf_parser::Face;

/// A font that cannot be read. The built-in fonts can be read; a test draws every figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the font {0} cannot be put into a document")]
pub struct FontError(&'static str);

/// A font and the glyphs that a document uses.
pub(super) struct FontSubset {
    pub(super) key: &'static [u8],
    /// The name of the font's subset: six letters and the font's name.
    name: &'static str,
    data: &'static [u8],
    face: Face<'static>,
    kept: GlyphRemapper,
    /// The used glyphs by their number in the document: the character and its width in thousandths of an em.
    used: BTreeMap<u16, (char, f64)>,
}

impl FontSubset {
    pub(super) fn plain() -> Result<Self, FontError> {
        Self::new(b"F0", "CPOINT+DejaVuSans", dejavu::sans::regular())
    }

    pub(super) fn bold() -> Result<Self, FontError> {
        Self::new(b"F1", "CPOINT+DejaVuSans-Bold", dejavu::sans::bold())
    }

    fn new(key: &'static [u8], name: &'static str, data: &'static [u8]) -> Result<Self, FontError> {
        let face = Face::parse(data, 0).map_err(|_| FontError(name))?;
        Ok(Self { key, name, data, face, kept: GlyphRemapper::new(), used: BTreeMap::new() })
    }

    /// Converts font units to thousandths of an em.
    fn scaled(&self, length: f64) -> f64 {
        1000.0 * length / f64::from(self.face.units_per_em().max(1))
    }

    /// Encodes a text for the document; also returns its width in ems.
    pub(super) fn written(&mut self, text: &str) -> (Vec<u8>, f64) {
        let (mut bytes, mut width) = (Vec::new(), 0.0);
        for letter in text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }) {
            let glyph = self.face.glyph_index(letter).unwrap_or_default();
            let number = self.kept.remap(glyph.0);
            let advance = self.face.glyph_hor_advance(glyph).map_or(0.0, f64::from);
            let advance = self.scaled(advance);
            self.used.entry(number).or_insert((letter, advance));
            bytes.extend(number.to_be_bytes());
            width += advance / 1000.0;
        }
        (bytes, width)
    }

    /// Embeds the font as a composite font, whose glyphs are addressed by number.
    pub(super) fn embed(self, pdf: &mut Pdf, id: Ref, ids: &mut Ref) -> Result<(), FontError> {
        let subset = subsetter::subset(self.data, 0, &self.kept);
        let subset = subset.map_err(|_| FontError(self.name))?;
        let (descendant, descriptor, names, file) =
            (ids.bump(), ids.bump(), ids.bump(), ids.bump());
        let name = Name(self.name.as_bytes());
        let system =
            SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        pdf.type0_font(id)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(names);
        let mut font = pdf.cid_font(descendant);
        font.subtype(CidFontType::Type2).base_font(name).system_info(system);
        font.font_descriptor(descriptor).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = font.widths();
        for (number, (_, width)) in &self.used {
            widths.consecutive(*number, [*width as f32]);
        }
        widths.finish();
        font.finish();
        let up = |length: i16| self.scaled(f64::from(length)) as f32;
        let around = self.face.global_bounding_box();
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(up(around.x_min), up(around.y_min), up(around.x_max), up(around.y_max)))
            .italic_angle(0.0)
            .ascent(up(self.face.ascender()))
            .descent(up(self.face.descender()))
            .cap_height(up(self.face.capital_height().unwrap_or_default()))
            .stem_v(95.0)
            .font_file2(file);
        let mut texts: UnicodeCmap = UnicodeCmap::new(Name(b"letters"), system);
        self.used.iter().for_each(|(number, (letter, _))| texts.pair(*number, *letter));
        pdf.cmap(names, &texts.finish());
        pdf.stream(file, &subset);
        Ok(())
    }
}
