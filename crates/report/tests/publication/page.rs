//! The page: well-formed, complete, escaped, marked.

use std::collections::BTreeSet;

use counterpoint_report::publication_page;
use counterpoint_wire::publication::Publication;
use roxmltree::{Document, Node, ParsingOptions};

use super::{large, made_up, survey, wild};

fn parse(page: &str) -> Document<'_> {
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: u32::MAX, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap()
}

fn all<'a>(document: &'a Document<'_>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| node.tag_name().name() == name)
}

/// All text of a node.
fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|own| own.text()).collect()
}

/// Text as it is read: spaces of any width are gone.
fn number(shown: &str) -> f64 {
    let plain: String = shown.chars().filter(|letter| !letter.is_whitespace()).collect();
    plain.replace('−', "-").parse().unwrap_or_else(|_| panic!("{shown}"))
}

#[test]
fn the_page_is_well_formed_self_contained_and_in_order() {
    for publication in [survey(), made_up(), wild(), large()] {
        let page = publication_page(&publication);
        assert!(page.starts_with("<!DOCTYPE html>\n"));
        let document = parse(&page);
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("lang")), ("html", Some("en")));
        for name in ["script", "link", "img", "iframe", "object", "embed", "base", "form"] {
            assert_eq!(all(&document, name).count(), 0, "{name}");
        }
        for node in document.descendants() {
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(!name.starts_with("on") && name != "style", "{name}");
                assert!(!matches!(name, "href" | "src") || value.starts_with('#'), "{value}");
            }
        }
        let style = text(all(&document, "style").next().unwrap());
        assert!(!style.contains("url(") && !style.contains("@import"));
        // Ids are there once, and links lead to them.
        let ids: Vec<&str> =
            document.descendants().filter_map(|node| node.attribute("id")).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        let linked = |node: Node<'_, '_>| ids.contains(&&node.attribute("href").unwrap()[1..]);
        assert!(all(&document, "a").all(linked));
        // Headings descend one by one, and the parts are in order.
        let levels: Vec<u32> = document
            .descendants()
            .filter_map(|node| node.tag_name().name().strip_prefix('h')?.parse().ok())
            .collect();
        assert!(levels[0] == 1 && levels.iter().filter(|level| **level == 1).count() == 1);
        assert!(levels.windows(2).all(|two| two[1] <= two[0] + 1));
        let parts: Vec<&str> =
            all(&document, "h2").map(|node| node.attribute("id").unwrap()).collect();
        assert_eq!(parts, ["published", "promise", "assumed", "cost", "verify"]);
    }
}

#[test]
fn tables_and_charts_can_be_heard() {
    let page = publication_page(&survey());
    let document = parse(&page);
    for table in all(&document, "table") {
        assert_eq!(table.children().find(Node::is_element).unwrap().tag_name().name(), "caption");
        let heads = table.descendants().filter(|node| node.tag_name().name() == "th");
        assert!(heads.clone().count() > 1 && heads.clone().all(|head| head.has_attribute("scope")));
    }
    for svg in all(&document, "svg") {
        assert_eq!(svg.attribute("role"), Some("img"));
        let said = |name| text(svg.children().find(|node| node.tag_name().name() == name).unwrap());
        assert!(said("title").starts_with("Chart of ") && said("desc").len() > 40);
    }
    assert_eq!(all(&document, "svg").count(), 8);
}

/// Every number is in a table of its statistic with all its digits, and what is shown is no farther away than a twentieth of its
/// interval; ends are rounded outward.
#[test]
fn every_number_is_in_a_table_and_no_end_is_rounded_inward() {
    for publication in [survey(), made_up(), wild(), large()] {
        let page = publication_page(&publication);
        let document = parse(&page);
        let sections = all(&document, "section").filter(|own| {
            own.attribute("class").is_some_and(|class| class.starts_with("statistic"))
        });
        let sections: Vec<Node<'_, '_>> = sections.collect();
        assert_eq!(sections.len(), publication.statistics.len());
        for (section, statistic) in std::iter::zip(sections, &publication.statistics) {
            let cells = section.descendants().filter(|node| node.tag_name().name() == "data");
            let inside =
                |node: &Node<'_, '_>| node.ancestors().any(|own| own.tag_name().name() == "td");
            assert!(cells.clone().all(|node| inside(&node)));
            let mut cells: Vec<(f64, f64)> = cells
                .map(|node| {
                    (node.attribute("value").unwrap().parse().unwrap(), number(&text(node)))
                })
                .collect();
            let mut take = |wanted: f64| {
                let same = |cell: &(f64, f64)| cell.0.to_bits() == wanted.to_bits();
                let at = cells.iter().position(same).unwrap_or_else(|| panic!("{wanted}"));
                cells.remove(at).1
            };
            for own in &statistic.numbers {
                let shown = take(own.value);
                let lower = own.lower.map(&mut take);
                let upper = own.upper.map(&mut take);
                let (Some(lower), Some(upper)) = (lower, upper) else { continue };
                let (least, most) = (own.lower.unwrap(), own.upper.unwrap());
                let near = 0.05 * (most - least);
                assert!((shown - own.value).abs() <= near, "{shown} {own:?}");
                assert!(lower <= least && least - lower <= 2.0 * near, "{lower} {own:?}");
                assert!(upper >= most && upper - most <= 2.0 * near, "{upper} {own:?}");
            }
            assert!(cells.is_empty(), "{cells:?}");
        }
    }
}

#[test]
fn two_directions_are_a_table_with_rows_and_columns() {
    let page = publication_page(&survey());
    let document = parse(&page);
    let crossed: Vec<Node<'_, '_>> =
        all(&document, "table").filter(|own| own.attribute("class") == Some("crossed")).collect();
    assert_eq!(crossed.len(), 2);
    let heads = |table: Node<'_, '_>, scope: &str| {
        let own = table.descendants().filter(|node| node.attribute("scope") == Some(scope));
        own.map(text).collect::<Vec<_>>()
    };
    assert_eq!(heads(crossed[0], "row"), ["north", "east", "south", "west"]);
    assert_eq!(heads(crossed[0], "col"), ["region", "f", "m", "x"]);
    assert_eq!(heads(crossed[0], "colgroup"), ["sex"]);
    assert_eq!(heads(crossed[1], "col"), ["sex", "0.25", "0.5", "0.75"]);
    let rows = crossed[0].descendants().filter(|node| node.tag_name().name() == "tr");
    let east = rows.map(text).find(|row| row.starts_with("east")).unwrap();
    assert_eq!(east, "east1422 (1396 to 1448)1402 (1376 to 1428)17 (−9 to 43)");
    // A cell that is missing is said to be.
    let mut fewer = survey();
    fewer.statistics[9].numbers.remove(4);
    assert!(publication_page(&fewer).contains("not published"));
    // Two numbers for one cell are both there.
    let mut twice = survey();
    twice.statistics[9].numbers[1].group = twice.statistics[9].numbers[0].group.clone();
    let page = publication_page(&twice);
    assert!(page.contains(r#"<data value="1500.0""#) && page.contains(r#"<data value="1490.0""#));
}

#[test]
fn texts_of_the_study_are_shown_as_they_are_and_do_nothing() {
    let publication = wild();
    let page = publication_page(&publication);
    for broken in ["<script", "alert(1)</", "<b>", "<!--", "\u{0}", "\u{b}", "onload=\"alert"] {
        assert!(!page.contains(broken), "{broken}");
    }
    let document = parse(&page);
    let seen = |wanted: &str| {
        let flat: String = wanted
            .chars()
            .map(|own| if own.is_control() || own == '\u{fffe}' { ' ' } else { own })
            .collect();
        let holds = |node: Node<'_, '_>| {
            node.is_text() && node.text().is_some_and(|own| own.contains(&flat))
        };
        assert!(document.descendants().any(holds), "{wanted}");
    };
    seen(&publication.title);
    seen(&publication.data.name);
    seen(&publication.privacy.theorem);
    let place = publication.ledger.as_ref().unwrap();
    seen(&place.account);
    seen(&place.head);
    for column in &publication.data.columns {
        seen(&column.name);
        column.categories.iter().flatten().for_each(|category| seen(category));
    }
    for statistic in &publication.statistics {
        seen(&statistic.name);
        seen(statistic.condition.as_ref().unwrap());
        statistic.by.iter().for_each(|column| seen(column));
        statistic.numbers.iter().flat_map(|number| &number.group).for_each(|key| seen(key));
    }
    // Names from right to left are kept apart from their neighbours.
    let hebrew =
        document.descendants().filter(|node| node.is_text() && node.text().unwrap().contains('ש'));
    for node in hebrew {
        let parent = node.parent().unwrap().tag_name().name();
        assert!(matches!(parent, "bdi" | "code" | "title" | "desc" | "text"), "{parent}");
    }
}

#[test]
fn made_up_numbers_are_marked_everywhere_and_others_nowhere() {
    const MARK: &str = "MADE-UP DATA - NOT A RELEASE";
    let page = publication_page(&made_up());
    let document = parse(&page);
    let classes =
        |class| document.descendants().filter(move |own| own.attribute("class") == Some(class));
    for class in ["banner", "watermark"] {
        assert_eq!(classes(class).map(text).collect::<Vec<_>>(), [MARK], "{class}");
    }
    let style = text(all(&document, "style").next().unwrap());
    // What is fixed is printed on every page, and so are the margins.
    assert!(style.contains(".watermark { position: fixed;"));
    assert_eq!(style.matches(MARK).count(), 2);
    assert!(text(all(&document, "title").next().unwrap()).starts_with(MARK));
    assert!(all(&document, "svg").all(|svg| text(svg).contains(MARK)));
    assert!(page.contains("nothing was charged") && !page.contains("--expect-head"));
    assert!(page.contains("The rows would be read from"));
    let real = publication_page(&survey());
    assert!(!real.contains("MADE-UP") && !real.contains("made up"));
}

fn says(publication: &Publication, wanted: &str) {
    let page = publication_page(publication);
    let document = parse(&page);
    let body = text(all(&document, "body").next().unwrap());
    let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(body.contains(wanted), "{wanted}\nis not in\n{body}");
}

#[test]
fn the_page_says_what_is_promised_assumed_paid_and_verified() {
    let survey = survey();
    says(&survey, "The mean of income, for rows where age BETWEEN 18 AND 65, by region.");
    says(&survey, "The proportion of rows with status IN ('employed').");
    says(&survey, "The coefficients of a linear regression of income on age and hours.");
    says(&survey, "The number of rows in each bin of age.");
    says(&survey, "The number of rows in each category of region.");
    says(&survey, "No noise was added: the number is public.");
    says(&survey, "The number of rows, by region, sex and status.");
    says(&survey, "With probability 95 % or more");
    says(&survey, "They do not account for errors of sampling");
    // (e^0.9731 + 1e-6) / (1 + e^0.9731) = 0.72573..., and (e^2 + 1e-5) / (1 + e^2) = 0.88079...
    says(&survey, "their best guess is right with probability at most 72.6 %.");
    says(&survey, "this one included, the best guess is right with probability at most 88.1 %.");
    says(&survey, "which of two possible versions of one person’s data is the true one");
    says(
        &survey,
        "One person: all rows with the same value of respondent, of which at most one row is used.",
    );
    says(&survey, "ε = 0.9731 and δ = 10⁻⁶");
    says(&survey, "The number of people, 12 000, is public.");
    says(&survey, "Numbers from 0 to 200 000. Values outside are moved to the nearer bound.");
    says(&survey, "Categories: north, east, south and west. Other values are not counted.");
    says(&survey, "This release0.973110⁻⁶");
    says(&survey, "Not spent1.0269×10⁻⁶");
    says(&survey, "The ε of the release was computed for all statistics at once.");
    let head = &survey.ledger.as_ref().unwrap().head;
    let command = format!("counterpoint ledger --url sqlite:ledger.db verify --expect-head {head}");
    says(&survey, &command);

    let mut rows = survey.clone();
    (rows.data.person, rows.data.people) = (None, None);
    rows.data.adjacency = "add-remove".to_owned();
    rows.data.sample_of = Some(4_000_000);
    rows.data.source = "PostgreSQL".to_owned();
    says(&rows, "whether a particular person is in the data");
    says(&rows, "One row: each row is taken to be a different person.");
    says(&rows, "a random sample of 4 000 000");
    says(&rows, "The owner of the view or query vouches for this.");
    rows.data.person = Some("household".to_owned());
    rows.data.rows = 3;
    says(&rows, "of which at most 3 rows are used");
}
