//! The page and the catalogue entry of published statistics: structure, numbers, escaping, marks and charts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod charts;
mod metadata;
mod page;

use counterpoint_wire::publication::{Publication, PublishedNumber, PublishedStatistic};

/// A survey with a statistic of every kind.
fn survey() -> Publication {
    serde_json::from_str(include_str!("survey.json")).unwrap()
}

/// The same survey from made-up rows.
fn made_up() -> Publication {
    Publication { made_up: true, ledger: None, ..survey() }
}

/// Texts that break what does not escape them.
const WILD: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"quotes\" & 'more' <b>",
    "two\nlines\r\nand\ta tab\u{0}\u{b}\u{fffe}",
    "שלום עולם \u{202e}abc",
    "]]> --> <!-- &nbsp; </style></svg>",
    "",
    "\" onload=\"alert(1)",
];

/// The survey with such a text, and a very long name, wherever the study gives a text.
fn wild() -> Publication {
    let mut own = survey();
    let mut turn = 0;
    let mut text = || {
        turn += 1;
        WILD[turn % WILD.len()].to_owned()
            + &"very long name ".repeat(turn % 3 * 20)
            + &turn.to_string()
    };
    own.title = text();
    own.data.name = text();
    own.data.source = text();
    own.data.person = Some(text());
    own.privacy.theorem = text();
    let place = own.ledger.as_mut().unwrap();
    (place.account, place.head) = (text(), text());
    for column in &mut own.data.columns {
        column.name = text();
        column.categories.iter_mut().flatten().for_each(|category| *category = text());
    }
    for statistic in &mut own.statistics {
        statistic.name = text();
        statistic.condition = Some(text());
        statistic.values = Some(text());
        statistic.by.iter_mut().for_each(|column| *column = text());
        statistic.columns.iter_mut().for_each(|column| *column = text());
        for number in &mut statistic.numbers {
            number.group.iter_mut().for_each(|key| *key = text());
            if statistic.kind == "regression" {
                number.part = text();
            }
        }
    }
    own
}

/// Many statistics, and one of very many cells.
fn large() -> Publication {
    let mut own = survey();
    let first = own.statistics[1].clone();
    own.statistics = (1..30)
        .map(|turn| PublishedStatistic { name: format!("income {turn}"), ..first.clone() })
        .collect();
    let cell = |at: u32| PublishedNumber {
        group: vec![format!("area {}", at / 25), format!("job {}", at % 25)],
        value: f64::from(at) + 0.25,
        lower: Some(f64::from(at) - 7.125),
        upper: Some(f64::from(at) + 7.625),
        ..first.numbers[0].clone()
    };
    let by = vec!["area".to_owned(), "job".to_owned()];
    let numbers = (0..1000).map(cell).collect();
    own.statistics.push(PublishedStatistic { by, numbers, ..first });
    own
}
