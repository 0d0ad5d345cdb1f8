//! The page that accompanies published statistics: one file, in plain language for laypeople and exact for experts. It
//! is well-formed XML as well as HTML.

use counterpoint_wire::publication::{
    LedgerLocation, Publication, PublishedColumn, PublishedStatistic,
};

use super::charts::publication_chart;
use super::dimensions::measures_ranks;
use super::numbers::{half_width, lower_bound, percentage, percentage_at_most, upper_bound, whole};
use super::sentences::{
    best_guess, code, declared, hint, html, missing, name, noise, relation, secret, sentence, unit,
};
use super::tables::{confidence, in_a_line, table};
use crate::plot::escaped;

/// The mark on every page of made-up numbers.
pub(super) const MADE_UP: &str = "MADE-UP DATA - NOT A RELEASE";

const STYLE: &str = include_str!("page.css");
/// The same mark in the margins of printed pages, for browsers that support it.
const MADE_UP_STYLE: &str = include_str!("made_up.css");

/// Tables with more numbers may break between printed pages.
const MAX_UNBROKEN: usize = 24;

/// Returns the page of a publication as HTML.
#[must_use]
pub fn publication_page(publication: &Publication) -> String {
    let title = escaped(&publication.title);
    let (marked, style) = match publication.made_up {
        true => (format!("{MADE_UP}: {title}"), format!("{STYLE}{MADE_UP_STYLE}")),
        false => (title, STYLE.to_owned()),
    };
    let sections = [
        opening(publication),
        published(publication),
        promised(publication),
        assumed(publication),
        cost(publication),
        verification(publication),
    ];
    format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{marked}</title>\n\
         <style>\n{style}</style>\n</head>\n<body>\n{}<main>\n{}</main>\n</body>\n</html>\n",
        marks(publication.made_up),
        sections.concat()
    )
}

fn marks(made_up: bool) -> String {
    if !made_up {
        return String::new();
    }
    format!(
        "<p class=\"banner\" role=\"note\">{MADE_UP}</p>\n<div class=\"watermark\" aria-hidden=\"true\">{MADE_UP}</div>\n"
    )
}

fn opening(publication: &Publication) -> String {
    let title = name(&publication.title);
    let data = name(&publication.data.name);
    let count = match publication.statistics.len() {
        1 => "one statistic".to_owned(),
        count => format!("{} statistics", whole(count as u64)),
    };
    let what = match publication.made_up {
        true => format!(
            "This page shows what a release of {count} about {data} would look like. The numbers were computed from rows that a program \
             made up. They say nothing about anybody, and nobody’s data were read."
        ),
        false => format!(
            "This page publishes {count} about {data}. Random noise was added to the numbers before they were published, so that they \
             tell about the people in the data as a whole, and next to nothing about any one of them (<dfn>differential \
             privacy</dfn>). Each number has an interval that tells how much the noise may have changed it."
        ),
    };
    format!(
        "<header>\n<h1>{title}</h1>\n<p class=\"lede\">{what}</p>\n</header>\n{}",
        contents(publication)
    )
}

fn contents(publication: &Publication) -> String {
    let entry = |(at, statistic): (usize, &PublishedStatistic)| {
        let glance = in_a_line(statistic)
            .map(|line| format!(" <span class=\"glance\">{line}</span>"))
            .unwrap_or_default();
        let name = name(&statistic.name);
        format!("<li><a href=\"#statistic-{}\">{name}</a>{glance}</li>\n", at + 1)
    };
    let entries: String = publication.statistics.iter().enumerate().map(entry).collect();
    format!(
        "<nav aria-label=\"Contents\">\n<ol>\n{entries}</ol>\n<p><a href=\"#promise\">What is promised</a>, <a href=\"#assumed\">what \
         was assumed</a>, <a href=\"#cost\">what it cost</a>, <a href=\"#verify\">how to verify it</a></p>\n</nav>\n"
    )
}

fn published(publication: &Publication) -> String {
    let statistics = publication.statistics.iter().enumerate();
    let statistics: String =
        statistics.map(|(at, own)| statistic_section(at + 1, own, publication.made_up)).collect();
    format!(
        "<section aria-labelledby=\"published\">\n<h2 id=\"published\">What is published and how accurate it is</h2>\n{}{statistics}\
         </section>\n",
        how_to_read(publication)
    )
}

fn how_to_read(publication: &Publication) -> String {
    let mut all = publication.statistics.iter().filter(|own| own.noise != "none").map(confidence);
    let common = all
        .next()
        .flatten()
        .filter(|first| all.all(|own| own.is_some_and(|own| own.to_bits() == first.to_bits())));
    let coverage = match common {
        Some(confidence) => format!(
            "With probability {0} or more, an interval contains the number that would have been published without noise: of 100 \
             such intervals, about {1} or more do.",
            percentage(confidence),
            (100.0 * confidence).floor()
        ),
        None => "An interval contains the number that would have been published without noise with the probability that is written \
                 beside it, or a higher one."
            .to_owned(),
    };
    format!(
        "<p><strong>How to read an interval.</strong> Next to each number are the ends of its interval, <em>from</em> and <em>to</em>. \
         {coverage} Two numbers whose intervals overlap may differ only by noise.</p>\n<p>Intervals account for the noise that was \
         added for privacy, and for nothing else. They do not account for errors of sampling (the people in the data may differ from \
         those who are not in them), of measurement, of people who did not answer, or of values that were moved to their bounds.</p>\n\
         <p class=\"note\">Numbers are rounded to digits that the noise leaves meaningful, and ends of intervals are rounded outward. \
         All digits are in <code>release.csv</code>.</p>\n"
    )
}

fn statistic_section(place: usize, statistic: &PublishedStatistic, made_up: bool) -> String {
    let is_long = statistic.numbers.len() > MAX_UNBROKEN;
    let class = if is_long { "statistic long" } else { "statistic" };
    let hint = match hint(statistic) {
        Some(hint) => format!("<p class=\"note\">{}</p>\n", escaped(hint)),
        None => String::new(),
    };
    let own_name = name(&statistic.name);
    format!(
        "<section class=\"{class}\" aria-labelledby=\"statistic-{place}\">\n<h3 id=\"statistic-{place}\">{own_name}</h3>\n<p>{}</p>\n<div class=\"numbers\">\n{}{}</div>\n\
         {hint}<p class=\"note\">{}</p>\n</section>\n",
        html(&sentence(statistic)),
        table(statistic),
        chart(statistic, made_up),
        making(statistic)
    )
}

fn chart(statistic: &PublishedStatistic, made_up: bool) -> String {
    match publication_chart(statistic, made_up.then_some(MADE_UP)) {
        Some(figure) => {
            let class = if figure.charts.len() > 1 { " class=\"wide\"" } else { "" };
            format!("<figure{class}>\n{}</figure>\n", figure.svg())
        }
        None if statistic.numbers.len() > MAX_UNBROKEN => {
            "<p class=\"note\">There are too many numbers for a chart.</p>\n".to_owned()
        }
        None => String::new(),
    }
}

/// Describes how a statistic was computed: its noise and its planned error.
fn making(statistic: &PublishedStatistic) -> String {
    if statistic.noise == "none" {
        return "No noise was added: the number is public.".to_owned();
    }
    let noise = escaped(&noise(&statistic.noise));
    let unit = match measures_ranks(&statistic.kind) {
        true => " places in the order of the rows",
        false => "",
    };
    let made = match (statistic.planned_error, confidence(statistic)) {
        (Some(error), Some(confidence)) => format!(
            "Made with {noise}. Planned before the data were read: an error of at most {}{unit}, with probability {}.",
            half_width(error),
            percentage(confidence)
        ),
        _ => format!("Made with {noise}."),
    };
    match statistic.sampling_error {
        Some(error) => format!(
            "{made} The people are a sample of a population. As an estimate for the population, the number can be off by up to {}{unit} more.",
            half_width(error)
        ),
        None => made,
    }
}

fn promised(publication: &Publication) -> String {
    let (data, privacy) = (&publication.data, &publication.privacy);
    let (epsilon, delta) = (upper_bound(privacy.epsilon), upper_bound(privacy.delta));
    let guess = percentage_at_most(best_guess(privacy.epsilon, privacy.delta));
    let all = percentage_at_most(best_guess(privacy.budget.epsilon, privacy.budget.delta));
    let ratio = upper_bound(privacy.epsilon.exp());
    let would = if publication.made_up { "A release would promise this: s" } else { "S" };
    let sample = match data.sample_of {
        Some(people) => format!(
            "<p>The people in the data are a random sample of {}. The promise assumes that nobody outside knows who was \
             sampled. It does not hold for somebody who is known to be in the sample, for instance because they said so.</p>\n",
            whole(people)
        ),
        None => String::new(),
    };
    format!(
        "<section aria-labelledby=\"promise\">\n<h2 id=\"promise\">What is promised to the people in the data, and what is not</h2>\n\
         <p>{would}uppose that somebody knows all of the data except one fact: {secret}. To them both possibilities are equally likely, so \
         a guess is right with probability 50\u{a0}%. After reading all numbers on this page, and with any other knowledge and any amount of \
         computing, their best guess is right with probability <strong>at most {guess}</strong>. After all releases that the budget \
         of this data set allows, this one included, the best guess is right with probability at most {all}.</p>\n<dl>\n<dt>Who is protected</dt>\n<dd>{unit}.</dd>\n\
         <dt>From what</dt>\n<dd>Two data sets are hard to tell apart by these numbers if {relation}.</dd>\n<dt>How much</dt>\n<dd>\
         (ε, δ)-differential privacy with ε = {epsilon} and δ = {delta}, certified for all numbers of this release together: whatever the \
         numbers are used for, no result is more than {ratio} times as likely with one of the two data sets as with the other, apart from \
         a probability of {delta}. The bound was computed by this composition theorem: {theorem}.</dd>\n</dl>\n{sample}{not}</section>\n",
        secret = secret(data),
        unit = capitalised(&html(&unit(data))),
        relation = relation(data),
        theorem = code(&privacy.theorem),
        not = not_promised(publication),
    )
}

/// Makes the first letter a capital.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn not_promised(publication: &Publication) -> String {
    let number = match (publication.data.adjacency.as_str(), publication.data.people) {
        ("add-remove", _) => "",
        _ => "<li>The number of people in the data. It is not protected.</li>\n",
    };
    format!(
        "<h3>What is not promised</h3>\n<ul>\n<li>Facts that hold for whole groups. If the numbers show that a group earns little, they \
         suggest that a member of the group earns little, whether or not that person is in the data.</li>\n<li>Secrets that several \
         people share. What k people have in common, a family for instance, is protected less: k people have up to k times the ε of \
         one, and a larger δ.</li>\n<li>Other data about the same people, and what people tell about themselves.</li>\n<li>Releases from the same data \
         that are not recorded in the ledger of this data set. Their costs add to this one’s.</li>\n{number}<li>What was declared \
         before the data were read: names of columns, bounds, categories and conditions, as listed below. It is published as it \
         is.</li>\n</ul>\n"
    )
}

fn assumed(publication: &Publication) -> String {
    let data = &publication.data;
    let read = if publication.made_up { "would be" } else { "were" };
    let mut items = vec![format!("The rows {read} read from {}.", name(&data.source))];
    items.push(match (&data.person, data.rows) {
        (Some(column), rows) => {
            let used = match rows {
                1 => "one row of each person is".to_owned(),
                rows => format!("{} rows of each person are", whole(rows)),
            };
            format!(
                "Rows with the same value of {} belong to one person. At most {used} used.",
                name(column)
            )
        }
        (None, 1) => "Each row belongs to a different person. If somebody has k rows, their ε is up to k times as large.".to_owned(),
        (None, rows) => format!("Nobody has more than {} rows.", whole(rows)),
    });
    if let Some(people) = data.people {
        items.push(format!(
            "The number of people, {}, is public. It is published without noise.",
            whole(people)
        ));
    }
    if let Some(people) = data.sample_of {
        items.push(format!(
            "The people are a simple random sample of {}, drawn without looking at their data and kept secret.",
            whole(people)
        ));
    }
    items.push(
        "Bounds, categories and conditions were chosen without looking at the data. A choice that follows from the data can itself give \
         something away."
            .to_owned(),
    );
    if is_database(&data.source) {
        items.push(
            "If the rows come from a view or a query, each of its rows depends on the data of one person only. The owner of the view or \
             query vouches for this."
                .to_owned(),
        );
    }
    let items: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
    let columns: String = data.columns.iter().map(column_row).collect();
    let table = match columns.is_empty() {
        true => String::new(),
        false => format!(
            "<table>\n<caption>The columns, as they were declared</caption>\n<thead><tr><th scope=\"col\" class=\"words\">column</th><th scope=\"col\" class=\"words\">\
             values</th><th scope=\"col\" class=\"words\">missing values</th></tr></thead>\n<tbody>\n{columns}</tbody>\n</table>\n"
        ),
    };
    format!(
        "<section aria-labelledby=\"assumed\">\n<h2 id=\"assumed\">What was assumed</h2>\n<ul>\n{items}</ul>\n{table}</section>\n"
    )
}

/// True if the rows come from something other than a file.
fn is_database(source: &str) -> bool {
    ![".csv", ".parquet", ".jsonl"].iter().any(|end| source.to_lowercase().ends_with(end))
}

fn column_row(column: &PublishedColumn) -> String {
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td><td class=\"words\">{}</td></tr>\n",
        name(&column.name),
        html(&declared(column)),
        escaped(&missing(column))
    )
}

fn cost(publication: &Publication) -> String {
    let privacy = &publication.privacy;
    let budget = &privacy.budget;
    let row = |name: &str, epsilon: String, delta: String| {
        format!("<tr><th scope=\"row\">{name}</th><td>{epsilon}</td><td>{delta}</td></tr>\n")
    };
    let left = |whole: f64, spent: f64| lower_bound((whole - spent).max(0.0));
    let rows = [
        row("This release", upper_bound(privacy.epsilon), upper_bound(privacy.delta)),
        row(
            "Spent from the data set, this release included",
            upper_bound(budget.epsilon_spent),
            upper_bound(budget.delta_spent),
        ),
        row("Budget of the data set", lower_bound(budget.epsilon), lower_bound(budget.delta)),
        row(
            "Not spent",
            left(budget.epsilon, budget.epsilon_spent),
            left(budget.delta, budget.delta_spent),
        ),
    ];
    let start = match publication.made_up {
        true => "Made-up numbers cost nothing, and nothing was charged. A release would cost this:",
        false => {
            "Every release uses up some of a budget that was set for the data set. When the budget is spent, nothing more is released."
        }
    };
    format!(
        "<section aria-labelledby=\"cost\">\n<h2 id=\"cost\">What it cost</h2>\n<p>{start}</p>\n<table>\n<caption>Privacy budget; smaller \
         numbers protect more</caption>\n<thead><tr><th scope=\"col\"></th><th scope=\"col\">ε</th><th scope=\"col\">δ</th></tr></thead>\n\
         <tbody>\n{}</tbody>\n</table>\n{}</section>\n",
        rows.concat(),
        own_costs(publication)
    )
}

fn own_costs(publication: &Publication) -> String {
    let row = |statistic: &PublishedStatistic| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td><td>{}</td></tr>\n",
            name(&statistic.name),
            escaped(&noise(&statistic.noise)),
            upper_bound(statistic.epsilon)
        )
    };
    let rows: String = publication.statistics.iter().map(row).collect();
    format!(
        "<table>\n<caption>Each statistic alone, at δ = {}</caption>\n<thead><tr><th scope=\"col\" class=\"words\">statistic</th><th scope=\"col\" class=\"words\">noise</th>\
         <th scope=\"col\">ε alone</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n<p class=\"note\">The ε of the release was \
         computed for all statistics at once. It is usually smaller than the sum of these.</p>\n",
        upper_bound(publication.privacy.delta)
    )
}

fn verification(publication: &Publication) -> String {
    let ledger = match &publication.ledger {
        Some(place) => recorded(place),
        None => "<p>Nothing was recorded in a ledger.</p>\n".to_owned(),
    };
    format!(
        "<section aria-labelledby=\"verify\">\n<h2 id=\"verify\">How to verify it</h2>\n{ledger}<p>The numbers on this page are those of \
         <code>release.csv</code>, which has all their digits, one number in a line: statistic, group, part, value, lower, upper, \
         confidence. <code>release.json</code> has the same numbers with everything that this page says about them.</p>\n</section>\n"
    )
}

fn recorded(place: &LedgerLocation) -> String {
    let command =
        format!("counterpoint ledger --url sqlite:ledger.db verify --expect-head {}", place.head);
    format!(
        "<p>The cost was charged in a ledger before a number was drawn, and the numbers were stored in it before they were shown. Every \
         entry of the ledger contains the hash of the one before it. The account is {}; after this release the head of the ledger was \
         {}.</p>\n<p>Whoever has the ledger can check every charge, and that this release is in it. If the ledger is somewhere else, its \
         address stands in place of <code>sqlite:ledger.db</code>:</p>\n<pre>{}</pre>\n<p>The command fails if an entry was changed, \
         removed or added before that head.</p>\n",
        code(&place.account),
        code(&place.head),
        code(&command)
    )
}
