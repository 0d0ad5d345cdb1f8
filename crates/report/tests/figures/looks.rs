//! The pictures: legal XML, nothing cut, nothing covered, and the points that the CSV lists.

use std::collections::BTreeSet;

use counterpoint_report::plot::{Area, Axis, Chart, Color, Figure, Note, Scale, Series, Style};
use roxmltree::{Document, Node};

use super::{figure, figures};

/// The widths of DejaVu Sans's letters from space to tilde, and of its bold ones, in thousandths
/// of an em: the widest of the fonts that the pictures name.
#[rustfmt::skip]
const PLAIN: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
#[rustfmt::skip]
const BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];

fn width(text: &str, size: f64, bold: bool) -> f64 {
    let letter = |letter: char| {
        let ascii = (letter as usize).checked_sub(32).filter(|n| *n < 95);
        match (ascii, letter) {
            (Some(n), _) => f64::from(if bold { BOLD[n] } else { PLAIN[n] }),
            (None, '\u{a0}' | '\u{2009}') => 348.0,
            (None, '⁰'..='⁻' | '²' | '³' | '¹') => 528.0,
            (None, 'ε' | 'δ' | 'σ' | 'µ' | '–') => 640.0,
            _ => 838.0,
        }
    };
    size * text.chars().map(letter).sum::<f64>() / 1000.0
}

/// A box: left, top, right, bottom.
#[derive(Clone, Debug)]
struct Box {
    /// For messages.
    #[allow(dead_code)]
    what: String,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Box {
    /// Whether two boxes have more than an edge in common.
    fn covers(&self, other: &Self) -> bool {
        let slack = 0.5;
        self.left < other.right - slack
            && other.left < self.right - slack
            && self.top < other.bottom - slack
            && other.top < self.bottom - slack
    }
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}")).parse().unwrap()
}

/// The box of a text, upright ones included.
fn text_box(node: Node<'_, '_>) -> Box {
    let what = node.text().unwrap_or_default().to_owned();
    let size = number(node, "font-size");
    let wide = width(&what, size, node.attribute("font-weight") == Some("bold"));
    let before = match node.attribute("text-anchor") {
        None => 0.0,
        Some("middle") => wide / 2.0,
        Some("end") => wide,
        Some(other) => panic!("{other}"),
    };
    if let Some(turned) = node.attribute("transform") {
        let inner =
            turned.strip_prefix("translate(").unwrap().strip_suffix(") rotate(-90)").unwrap();
        let (x, y) = inner.split_once(' ').unwrap();
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        let bottom = y + before;
        return Box {
            what,
            left: x - 0.8 * size,
            top: bottom - wide,
            right: x + 0.25 * size,
            bottom,
        };
    }
    let (left, y) = (number(node, "x") - before, number(node, "y"));
    Box { what, left, top: y - 0.8 * size, right: left + wide, bottom: y + 0.25 * size }
}

fn frame_box(node: Node<'_, '_>) -> Box {
    let (left, top) = (number(node, "x"), number(node, "y"));
    let (right, bottom) = (left + number(node, "width"), top + number(node, "height"));
    Box { what: "frame".into(), left, top, right, bottom }
}

fn points(text: &str) -> Vec<(f64, f64)> {
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    text.split(' ').map(point).collect()
}

fn is_note(node: &Node<'_, '_>) -> bool {
    node.attribute("paint-order").is_some()
}

/// Everything that must hold of any picture.
#[track_caller]
fn check(name: &str, figure: &Figure) {
    let svg = figure.svg();
    let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = document.root_element();
    let view: Vec<f64> =
        root.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    let page = Box { what: name.into(), left: 0.0, top: 0.0, right: view[2], bottom: view[3] };
    let of = |tag: &'static str| root.descendants().filter(move |node| node.has_tag_name(tag));

    let texts: Vec<Box> = of("text").filter(|node| !is_note(node)).map(text_box).collect();
    let frames: Vec<Box> =
        of("rect").filter(|node| node.attribute("class") == Some("frame")).map(frame_box).collect();
    assert_eq!(frames.len(), figure.charts.len());
    for text in of("text").map(text_box).collect::<Vec<_>>().iter().chain(&frames) {
        let inside = text.left >= page.left
            && text.top >= page.top
            && text.right <= page.right
            && text.bottom <= page.bottom;
        assert!(inside, "{name}: {text:?} is not inside {page:?}");
    }
    for (n, text) in texts.iter().enumerate() {
        for other in texts[n + 1..].iter().chain(&frames) {
            assert!(!text.covers(other), "{name}: {text:?} covers {other:?}");
        }
    }
    let legend = of("g").find(|node| node.attribute("class") == Some("legend")).unwrap();
    for node in legend.descendants().filter(|node| node.attribute("points").is_some()) {
        for (x, y) in points(node.attribute("points").unwrap()) {
            let apart = |f: &Box| x < f.left || x > f.right || y < f.top || y > f.bottom;
            assert!(frames.iter().all(apart), "{name}: the legend covers a chart");
        }
    }
    // Curves stay within their plot areas.
    let charts = of("g").filter(|node| node.attribute("class") == Some("chart"));
    for (chart, frame) in std::iter::zip(charts, &frames) {
        for line in chart.children().filter(|node| node.has_tag_name("polyline")) {
            for (x, y) in points(line.attribute("points").unwrap()) {
                let inside = (frame.left - 0.01..=frame.right + 0.01).contains(&x)
                    && (frame.top - 0.01..=frame.bottom + 0.01).contains(&y);
                assert!(inside, "{name}: ({x}, {y}) is outside {frame:?}");
            }
        }
    }
}

#[test]
fn every_figure_is_legal_and_nothing_is_cut_or_covered() {
    for (name, figure) in figures() {
        check(name, figure);
        assert!(figure.caption.starts_with("Claim: "), "{name}");
        assert!(!figure.svg().contains("NaN"), "{name}");
    }
}

#[test]
fn odd_charts_are_legal_too() {
    let axis = || Axis::new("a rather long label <&> for an axis");
    let mut full = Chart::new(axis().unit("\"s\""), axis().log()).title("\u{1}control");
    let wild = [0.0, -1.0, 1e-320, 1e300, f64::NAN, f64::INFINITY, 3.0];
    for (n, x) in wild.into_iter().enumerate() {
        let points = wild.map(|y| (x, y));
        full.series
            .push(Series::new(format!("curve {n}"), points).style(Style::nth(n)).label("end"));
        full.areas.push(Area::new("", points, Color::Yellow).opacity(2.0));
    }
    full.notes.push(Note::new((1.0, 1.0), "note"));
    let empty = Chart::new(axis(), axis());
    let mut one = empty.clone();
    one.series.push(Series::new("one", [(2.0, 2.0)]));
    let words = "word ".repeat(200);
    check("full", &Figure::new("a & b", words.clone(), [full]));
    check("empty", &Figure::new("", "", [empty.clone()]));
    check("none", &Figure::new(words, "", []));
    check("three", &Figure::new("three", "", [one.clone(), empty, one]));
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

/// How far along an axis whose ends are known a number is.
fn share(axis: &Axis, x: f64) -> Option<f64> {
    let (from, to) = axis.range?;
    assert_eq!(axis.scale, Scale::Linear);
    Some((x - from) / (to - from)).filter(|share| (-1e-9..=1.0 + 1e-9).contains(share))
}

/// Whoever reads the CSV can tell a theorem's curve for one epsilon, or delta, from those for the others.
#[test]
fn the_csv_names_curves_of_different_parameters_apart() {
    let figure = figure("mv-figure-2");
    let csv = figure.csv();
    let name = |line: &str| line.rsplitn(5, ',').last().map(str::to_owned);
    let names: BTreeSet<_> = csv.lines().skip(1).filter_map(name).collect();
    let drawn: usize = figure.charts.iter().map(|chart| chart.series.len()).sum();
    assert_eq!(names.len(), drawn, "{names:?}");
}

#[test]
fn the_csv_lists_the_points_that_are_drawn() {
    let mut drawn = 0;
    for (name, figure) in figures() {
        let csv = figure.csv();
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some("chart,kind,name,x,y,lower,upper"));
        let rows: Vec<Vec<String>> = lines.map(fields).collect();
        let count = |chart: &Chart| {
            let corners: usize = chart.areas.iter().map(|area| area.outline.len()).sum();
            corners + chart.series.iter().map(|series| series.points.len()).sum::<usize>()
        };
        assert_eq!(rows.len(), figure.charts.iter().map(count).sum::<usize>(), "{name}");

        let svg = figure.svg();
        let document = Document::parse(&svg).unwrap();
        let charts: Vec<Node<'_, '_>> = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("chart"))
            .collect();
        for row in rows {
            let [chart, kind, curve, x, y, ..] = &row[..] else { panic!("{row:?}") };
            let number: usize = chart.parse().unwrap();
            let (chart, x, y) =
                (&figure.charts[number - 1], x.parse().unwrap(), y.parse().unwrap());
            let own = chart.series.iter().flat_map(|series| &series.points);
            let own = own.chain(chart.areas.iter().flat_map(|area| &area.outline));
            let bits = |(a, b): (f64, f64)| (a.to_bits(), b.to_bits());
            assert!(
                own.copied().any(|point| bits(point) == bits((x, y))),
                "{name} {curve} {x} {y}"
            );
            // Where it must be in the picture, if the axes are linear from and to known numbers.
            if kind != "curve" || chart.x.scale == Scale::Log || chart.y.scale == Scale::Log {
                continue;
            }
            let (Some(across), Some(up)) = (share(&chart.x, x), share(&chart.y, y)) else {
                continue;
            };
            let group = charts[number - 1];
            let frame = group.children().find(|node| node.attribute("class") == Some("frame"));
            let frame = frame_box(frame.unwrap());
            let place = (
                frame.left + across * (frame.right - frame.left),
                frame.bottom - up * (frame.bottom - frame.top),
            );
            let lines = group.children().filter(|node| node.has_tag_name("polyline"));
            let mut corners = lines.flat_map(|line| points(line.attribute("points").unwrap()));
            let near = |p: (f64, f64)| (p.0 - place.0).abs() < 0.02 && (p.1 - place.1).abs() < 0.02;
            assert!(corners.any(near), "{name} {curve}: {place:?} is not drawn");
            drawn += 1;
        }
    }
    assert!(drawn > 2000, "{drawn}");
}

#[test]
fn the_same_data_give_the_same_bytes() {
    for (name, figure) in figures() {
        assert_eq!(figure.svg(), figure.clone().svg(), "{name}");
    }
}
