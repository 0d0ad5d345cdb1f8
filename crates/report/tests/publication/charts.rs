//! The charts: whiskers end where intervals end, in the picture itself.

use counterpoint_report::plot::Figure;
use counterpoint_report::publication_chart;
use roxmltree::{Document, Node};

use super::{large, survey};

/// A number beside an axis, and where its tick is.
type Tick = (f64, f64);

fn attribute(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The ticks of the picture's axes that are numbers: across and down. A label is next to its tick.
fn ticks(document: &Document<'_>) -> (Vec<Tick>, Vec<Tick>) {
    let (mut across, mut down) = (Vec::new(), Vec::new());
    let elements: Vec<Node<'_, '_>> = document.descendants().filter(Node::is_element).collect();
    for two in elements.windows(2) {
        if two[0].tag_name().name() != "line" || two[1].tag_name().name() != "text" {
            continue;
        }
        let label: String =
            two[1].text().unwrap().chars().filter(|own| !own.is_whitespace()).collect();
        let Ok(number) = label.replace('−', "-").parse::<f64>() else { continue };
        let [x1, x2, y1] = ["x1", "x2", "y1"].map(|name| attribute(two[0], name));
        match (x1 - x2).abs() < 1e-9 {
            true => across.push((number, x1)),
            false => down.push((number, y1)),
        }
    }
    (across, down)
}

/// The number at a place of an axis.
fn read(ticks: &[Tick], place: f64) -> f64 {
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    first.0 + (place - first.1) / (last.1 - first.1) * (last.0 - first.0)
}

/// The points of the lines of a colour, line by line.
fn lines(document: &Document<'_>, color: &str) -> Vec<Vec<(f64, f64)>> {
    let own = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "polyline")));
    let own = own.filter(|node| node.attribute("stroke") == Some(color));
    let point = |text: &str| {
        let (x, y) = text.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    own.map(|node| node.attribute("points").unwrap().split(' ').map(point).collect()).collect()
}

fn chart(name: &str) -> (Figure, Vec<[f64; 3]>) {
    let survey = survey();
    let own = survey.statistics.iter().find(|own| own.name == name).unwrap();
    let numbers = own.numbers.iter();
    let ends = |end: Option<f64>| end.unwrap_or(f64::NAN);
    let numbers = numbers.map(|own| [ends(own.lower), own.value, ends(own.upper)]).collect();
    (publication_chart(own, None).unwrap(), numbers)
}

const BLACK: &str = "#000000";

#[test]
fn whiskers_of_rows_reach_from_the_lower_to_the_upper_ends() {
    for name in ["mean income", "income quartiles", "regions", "region and sex", "hours by sex"] {
        let (figure, numbers) = chart(name);
        let svg = figure.svg();
        let document = Document::parse(&svg).unwrap();
        let (across, _) = ticks(&document);
        // A hundredth of a pixel.
        let near = (read(&across, 0.011) - read(&across, 0.0)).abs();
        // The first black line of the legend's entry is not a whisker.
        let whiskers: Vec<_> =
            lines(&document, BLACK).into_iter().filter(|own| own.len() == 6).collect();
        assert_eq!(whiskers.len(), numbers.len(), "{name}");
        let circles: Vec<f64> = document
            .descendants()
            .filter(|node| node.tag_name().name() == "circle")
            .map(|node| attribute(node, "cx"))
            .collect();
        for (row, (whisker, own)) in std::iter::zip(&whiskers, &numbers).enumerate() {
            let (from, to) = (read(&across, whisker[2].0), read(&across, whisker[3].0));
            assert!(
                (from - own[0]).abs() <= near && (to - own[2]).abs() <= near,
                "{name} {own:?} {from} {to}"
            );
            if let Some(x) = circles.get(row) {
                assert!((read(&across, *x) - own[1]).abs() <= near, "{name} {own:?}");
            }
        }
        // Each row's whisker is beside its own name.
        assert!(whiskers.windows(2).all(|two| two[1][2].1 > two[0][2].1 + 10.0), "{name}");
    }
}

#[test]
fn bars_have_the_width_of_their_bins_and_whiskers_on_top() {
    let (figure, numbers) = chart("ages");
    let svg = figure.svg();
    let document = Document::parse(&svg).unwrap();
    let (across, down) = ticks(&document);
    let near = (read(&down, 0.011) - read(&down, 0.0)).abs();
    let whiskers: Vec<_> =
        lines(&document, BLACK).into_iter().filter(|own| own.len() == 6).collect();
    assert_eq!(whiskers.len(), 10);
    let bars: Vec<Node<'_, '_>> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "polygon")
        .take(10)
        .collect();
    for (place, own) in numbers.iter().enumerate() {
        let whisker = &whiskers[place];
        let (from, to) = (read(&down, whisker[2].1), read(&down, whisker[3].1));
        assert!((from - own[0]).abs() <= near && (to - own[2]).abs() <= near, "{own:?}");
        assert!((read(&across, whisker[2].0) - (10.0 * place as f64 + 5.0)).abs() < 0.01);
        let points = bars[place].attribute("points").unwrap();
        let xs =
            points.split(' ').map(|point| point.split_once(',').unwrap().0.parse::<f64>().unwrap());
        let (least, most) = xs.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
        assert!((read(&across, least) - 10.0 * place as f64).abs() < 0.01);
        assert!((read(&across, most) - 10.0 * (place as f64 + 1.0)).abs() < 0.01);
    }
}

#[test]
fn the_band_of_steps_reaches_from_the_lower_to_the_upper_ends() {
    let (figure, numbers) = chart("income below");
    let chart = &figure.charts[0];
    let (band, line) = (&chart.areas[0].outline, &chart.series[0].points);
    assert_eq!(line.len(), 2 * numbers.len() - 1);
    assert_eq!(band.len(), 2 * line.len());
    for (place, own) in numbers.iter().enumerate() {
        let x = 20_000.0 * place as f64;
        assert_eq!(line[2 * place], (x, own[1]));
        assert_eq!(band[2 * place], (x, own[0]));
        assert_eq!(band[band.len() - 1 - 2 * place], (x, own[2]));
    }
}

#[test]
fn each_group_of_a_histogram_has_a_chart() {
    let mut own = survey().statistics[6].clone();
    own.by = vec!["sex".to_owned()];
    let group = |key: &str| {
        let mut numbers = own.numbers.clone();
        numbers.iter_mut().for_each(|number| number.group = vec![key.to_owned()]);
        numbers
    };
    own.numbers = [group("f"), group("m"), group("x")].concat();
    let figure = publication_chart(&own, Some("a mark")).unwrap();
    let titles: Vec<&str> = figure.charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(titles, ["a mark: f", "a mark: m", "a mark: x"]);
    assert!(figure.charts.iter().all(|chart| chart.areas.len() == 10 && chart.series.len() == 10));
}

#[test]
fn one_number_and_a_thousand_have_no_chart() {
    let one = survey().statistics[0].clone();
    assert!(publication_chart(&one, None).is_none());
    let many = large().statistics.pop().unwrap();
    assert!(publication_chart(&many, None).is_none());
}
