//! Figures as PDF: read back by the rules of the format, and compared with the SVG.

use std::collections::BTreeMap;

use counterpoint_report::figures::{FigureError, FigureSpec, Parameters};
use counterpoint_report::plot::{Axis, Chart, Figure, Series};
use roxmltree::Document;

use super::figures;

/// The objects of a document, each found where the table at its end says it is.
fn objects(pdf: &[u8]) -> Vec<Vec<u8>> {
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"));
    let tail = String::from_utf8_lossy(&pdf[pdf.len() - 200..]).into_owned();
    let table: usize = tail.lines().rev().nth(1).unwrap().trim().parse().unwrap();
    let table = String::from_utf8_lossy(&pdf[table..]).into_owned();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let count: usize = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let object = |(n, line): (usize, &str)| {
        let at: usize = line.split(' ').next().unwrap().parse().unwrap();
        let head = format!("{n} 0 obj\n");
        assert!(pdf[at..].starts_with(head.as_bytes()), "object {n}");
        let rest = &pdf[at + head.len()..];
        let end = position(rest, b"\nendobj").unwrap();
        rest[..end].to_vec()
    };
    lines.take(count).enumerate().skip(1).map(object).collect()
}

fn position(within: &[u8], wanted: &[u8]) -> Option<usize> {
    within.windows(wanted.len()).position(|own| own == wanted)
}

/// What an object's stream holds, as long as it says it is.
fn stream(object: &[u8]) -> Option<&[u8]> {
    let at = position(object, b"stream\n")? + 7;
    let text = String::from_utf8_lossy(&object[..at]).into_owned();
    let long = text.split("/Length ").nth(1)?;
    let long: usize = long.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    assert_eq!(&object[at + long..], b"\nendstream");
    Some(&object[at..at + long])
}

/// What the numbers of a font's letters stand for, by the maps in the document: one for each font, in order.
fn letters(objects: &[Vec<u8>]) -> Vec<BTreeMap<u16, char>> {
    let maps = objects.iter().filter_map(|object| stream(object));
    let maps = maps.filter(|own| position(own, b"beginbfchar").is_some());
    let number = |text: &str| u16::from_str_radix(text.trim_matches(['<', '>']), 16).unwrap();
    let read = |map: &[u8]| {
        let text = String::from_utf8(map.to_vec()).unwrap();
        let mut pairs = BTreeMap::new();
        for part in text.split("beginbfchar\n").skip(1) {
            for line in part.split("endbfchar").next().unwrap().lines() {
                let (own, letter) = line.split_once(' ').unwrap();
                pairs.insert(number(own), char::from_u32(number(letter).into()).unwrap());
            }
        }
        pairs
    };
    maps.map(read).collect()
}

/// The bytes of a string of the page, written in digits or in letters.
fn unescaped(page: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if page[0] == b'<' {
        let digits = page[1..].iter().take_while(|byte| **byte != b'>').copied();
        let digits = String::from_utf8(digits.collect()).unwrap();
        return (0..digits.len() / 2)
            .map(|n| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).unwrap())
            .collect();
    }
    let (mut at, mut depth) = (1, 0);
    loop {
        let byte = page[at];
        at += 1;
        match byte {
            b')' if depth == 0 => return bytes,
            b'\\' => {
                let octal = page[at..at + 3].iter().all(u8::is_ascii_digit);
                let digit = |n: usize| u16::from(page[at + n] - b'0');
                bytes.push(match page[at] {
                    _ if octal => u8::try_from(64 * digit(0) + 8 * digit(1) + digit(2)).unwrap(),
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'f' => 12,
                    other => other,
                });
                at += if octal { 3 } else { 1 };
            }
            other => {
                depth += i32::from(other == b'(') - i32::from(other == b')');
                bytes.push(other);
            }
        }
    }
}

/// Every text of a page in order, each once even if its rim is drawn first.
fn texts(objects: &[Vec<u8>]) -> Vec<String> {
    let letters = letters(objects);
    let page = objects.iter().filter_map(|object| stream(object));
    let page = page.into_iter().find(|own| position(own, b" cm\n").is_some()).unwrap();
    let (mut texts, mut at): (Vec<String>, usize) = (Vec::new(), 0);
    while let Some(begin) = position(&page[at..], b"BT\n") {
        let text = &page[at + begin..];
        let font = usize::from(text[5] - b'0');
        let shown = position(text, b" Tm\n").unwrap() + 4;
        let bytes = unescaped(&text[shown..]);
        let letter = |two: &[u8]| letters[font][&u16::from_be_bytes([two[0], two[1]])];
        let is_filled = position(&text[..shown], b"\n0 Tr\n").is_some();
        if is_filled {
            texts.push(bytes.chunks(2).map(letter).collect());
        }
        at += begin + shown;
    }
    texts
}

#[test]
fn a_document_says_what_the_picture_says() {
    for (name, figure) in figures() {
        let pdf = figure.pdf().unwrap();
        let objects = objects(&pdf);
        let svg = figure.svg();
        let svg = Document::parse(&svg).unwrap();
        let picture = svg.descendants().filter(|node| node.has_tag_name("text"));
        let picture: Vec<String> = picture.map(|node| node.text().unwrap().to_owned()).collect();
        assert_eq!(texts(&objects), picture, "{name}");
        // Both fonts are inside.
        let inside = objects.iter().filter(|object| position(object, b"/FontFile2").is_some());
        assert_eq!(inside.count(), 2, "{name}");
        assert!(pdf == figure.pdf().unwrap(), "{name} differs");
    }
}

#[test]
fn odd_figures_are_documents_too() {
    let wild = [0.0, -1.0, 1e-320, 1e300, f64::NAN, f64::INFINITY, 3.0];
    let mut chart = Chart::new(Axis::new("字 (not in the font)").log(), Axis::new("y\u{1}"));
    chart.series.push(Series::new("a \\ (b) <c>", wild.map(|x| (x, x))).label_by_name());
    for figure in [Figure::new("(a\\", "", [chart]), Figure::new("", "", [])] {
        let pdf = figure.pdf().unwrap();
        let numbers = String::from_utf8_lossy(&pdf).into_owned();
        assert!(!objects(&pdf).is_empty() && !numbers.contains("inf ") && !numbers.contains("NaN"));
    }
}

fn made(name: &str, given: Parameters) -> Result<Figure, FigureError> {
    FigureSpec::ALL.iter().find(|recipe| recipe.name == name).unwrap().make(&given)
}

/// With numbers of one's own the curves are those of the formulas, and no claim about the paper's is made.
#[test]
fn figures_are_drawn_for_numbers_of_ones_own() {
    use counterpoint::{Count, Delta, Epsilon};
    let given = |epsilon: f64, delta: f64, releases: u64| {
        let [epsilon, delta] = [epsilon, delta].map(Some);
        let epsilon = epsilon.map(|e| Epsilon::new(e).unwrap());
        let delta = delta.map(|d| Delta::new(d).unwrap());
        Parameters::new(epsilon, delta, Some(Count::new(releases).unwrap()))
    };
    let (e, d) = (0.1, 1e-5);
    for name in ["cost", "smith-figure-1", "mv-figure-2"] {
        let figure = made(name, given(e, d, 200)).unwrap();
        let basic = figure.charts[0].series.iter().filter(|s| s.name == "basic (summing)");
        let best = figure.charts[0].series.iter().filter(|s| s.name == "optimal");
        let end = |series: &Series| *series.points.last().unwrap();
        assert!(
            basic
                .clone()
                .any(|s| (end(s).0 - 200.0).abs() < 1e-9 && (end(s).1 - 20.0).abs() < 1e-9),
            "{name}"
        );
        // Known from elsewhere: 200 times 0.1 at 1e-5 lies between the mean loss and strong composition.
        let strong = e * (400.0 * (1.0 / d).ln()).sqrt() + 200.0 * e * (e / 2.0).tanh();
        assert!(best.clone().any(|s| end(s).1 < strong && end(s).1 > 0.75 * strong), "{name}");
        for series in best {
            let pairs = std::iter::zip(&series.points, &series.bounds);
            assert!(pairs.clone().all(|(point, ends)| ends.0 <= point.1 && point.1 <= ends.1));
            assert_eq!(series.bounds.len(), series.points.len(), "{name}");
        }
        assert!(!figure.caption.contains("NaN") && !figure.caption.contains("10⁹"), "{name}");
    }
    let figure = made("kov-figure-2", given(1.0, 0.25, 3)).unwrap();
    assert!(figure.charts[1].title.ends_with("ε = 1, δ = 0.25"));
    let third = figure.charts[1].series.last().unwrap();
    // Nothing but leaks can be found out without a false alarm: 1 - (3/4)^3.
    assert!(third.name == "k = 3" && (third.points[0].1 - 0.421_875).abs() < 1e-12);
    let figure = made("kov-figure-1", given(0.0, 0.25, 1)).unwrap();
    assert!(figure.caption.contains("= 0.7500, so total variation is at most 0.2500"));

    let refused = [
        ("time", given(e, d, 10), "time has no parameters; legal: without"),
        ("kov-figure-2", given(e, d, 6), "for up to 6 releases; legal: 1 to 5"),
        ("cost", given(e, d, 9), "for up to 9 releases; legal: 10 to 1000000000"),
        ("kov-figure-3", given(e, 0.1, 10), "leak 1 together; legal: less than 1"),
    ];
    for (name, given, why) in refused {
        let error = made(name, given).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
