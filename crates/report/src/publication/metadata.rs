//! Catalogue metadata of published statistics: one JSON-LD document with the terms of schema.org, DDI's Discovery
//! Vocabulary and CSV on the Web.

use counterpoint_wire::publication::{Publication, PublishedColumn, PublishedStatistic};
use serde_json::{Map, Value, json};

use super::page::MADE_UP;
use super::sentences::{declared, noise, relation, sentence, text, unit};

/// Facts that only the depositor knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deposit {
    /// The date of the release, such as `2026-11-18`.
    pub date: Option<String>,
    /// The URL of the license of the published numbers.
    pub license: Option<String>,
    /// The organisation that publishes.
    pub creator: Option<String>,
}

/// The longest description that catalogues accept.
const MAX_LENGTH: usize = 4900;

/// Describes `release.csv` and the files next to it for catalogues, as JSON-LD. The document is self-contained and does
/// not name the source of the rows.
#[must_use]
pub fn publication_metadata(publication: &Publication, deposit: &Deposit) -> String {
    let mut root = json!({
        "@context": context(),
        "@id": "_:release",
        "@type": ["Dataset", "qb:DataSet"],
        "name": title(publication),
        "description": description(publication),
        "keywords": keywords(publication),
        "inLanguage": "en",
        "isAccessibleForFree": true,
        "measurementTechnique": technique(publication),
        "variableMeasured": publication.statistics.iter().map(variable).collect::<Vec<_>>(),
        "distribution": distribution(publication),
        "isBasedOn": microdata(publication),
        "disco:inputVariable": input_references(publication),
        "qb:structure": structure(),
        "dpv:hasTechnicalMeasure": promise(publication),
    });
    if let Value::Object(root) = &mut root {
        add(root, "dateModified", deposit.date.as_ref().map(|date| json!(date)));
        add(root, "license", deposit.license.as_ref().map(|license| json!(license)));
        let creator = |name| json!({ "@type": "Organization", "name": name });
        add(root, "creator", deposit.creator.as_ref().map(creator));
        add(root, "creativeWorkStatus", publication.made_up.then(|| json!(MADE_UP)));
    }
    format!("{root:#}\n")
}

fn add(object: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(name.to_owned(), value);
    }
}

fn context() -> Value {
    let integer = json!({ "@type": "xsd:nonNegativeInteger" });
    json!({
        "@vocab": "https://schema.org/",
        "csvw": "http://www.w3.org/ns/csvw#",
        "dcterms": "http://purl.org/dc/terms/",
        "disco": "http://rdf-vocabulary.ddialliance.org/discovery#",
        "dpv": "https://w3id.org/dpv#",
        "qb": "http://purl.org/linked-data/cube#",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "csvw:column": { "@container": "@list" },
        "disco:caseQuantity": integer,
        "disco:variableQuantity": integer,
    })
}

fn title(publication: &Publication) -> String {
    let title = match publication.title.trim() {
        "" => format!("Statistics about {}", publication.data.name),
        title => title.to_owned(),
    };
    if publication.made_up { format!("{MADE_UP}: {title}") } else { title }
}

fn description(publication: &Publication) -> String {
    let mut whole = String::new();
    if publication.made_up {
        whole += MADE_UP;
        whole += ". The numbers were computed from made-up rows. ";
    }
    whole += &format!(
        "Statistics about {}, published with differential privacy: random noise was added to every number, and each has an interval \
         that accounts for the noise, but not for errors of sampling or measurement.",
        publication.data.name
    );
    for statistic in &publication.statistics {
        whole += &format!(" {}: {}", statistic.name, text(&sentence(statistic)));
    }
    shortened(&whole)
}

/// Shortens a text to the length that catalogues accept.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn keywords(publication: &Publication) -> Vec<&str> {
    let mut all = vec!["differential privacy", "statistical disclosure control"];
    let columns = publication.data.columns.iter().map(|column| column.name.as_str());
    all.extend(columns);
    all
}

fn technique(publication: &Publication) -> String {
    let privacy = &publication.privacy;
    format!(
        "Differential privacy with epsilon {} and delta {}; composed by the theorem {}",
        privacy.epsilon, privacy.delta, privacy.theorem
    )
}

fn property(name: &str, description: &str, value: Value) -> Value {
    json!({ "@type": "PropertyValue", "name": name, "description": description, "value": value })
}

/// Describes a statistic and its accuracy.
fn variable(statistic: &PublishedStatistic) -> Value {
    let mut accuracy = vec![property(
        "epsilon",
        "An upper bound on the epsilon of this statistic alone, at the delta of the release",
        json!(statistic.epsilon),
    )];
    if let Some(number) = statistic.numbers.first().filter(|_| statistic.noise != "none") {
        accuracy.push(property(
            "confidence",
            "The probability with which the interval from lower to upper holds the number without noise, at least",
            json!(number.confidence),
        ));
    }
    if let Some(error) = statistic.planned_error {
        accuracy.push(property(
            "planned error",
            "The half-width of the interval that was planned before the data were read, whatever they are",
            json!(error),
        ));
    }
    if let Some(error) = statistic.sampling_error {
        accuracy.push(property(
            "sampling error",
            "How far the sample may be off from the population it was drawn from; it comes on top of the intervals",
            json!(error),
        ));
    }
    json!({
        "@type": "PropertyValue",
        "name": statistic.name,
        "description": text(&sentence(statistic)),
        "measurementTechnique": format!("{}, with {}", statistic.kind, noise(&statistic.noise)),
        "valueReference": accuracy,
    })
}

/// The columns of `release.csv`: name, type and meaning.
const COLUMNS: [(&str, &str, &str); 7] = [
    ("statistic", "string", "The name of the statistic"),
    (
        "group",
        "string",
        "The group that the number is about, as column=category, several separated by commas; empty for all rows",
    ),
    (
        "part",
        "string",
        "The bin, the share of a quantile, or the coefficient; empty if the statistic is one number",
    ),
    ("value", "double", "The published number, with noise"),
    ("lower", "double", "The lower end of the interval; empty if there is none"),
    ("upper", "double", "The upper end of the interval; empty if there is none"),
    (
        "confidence",
        "double",
        "The probability with which the interval holds the number without noise, at least; the interval accounts for the noise, not for \
         errors of sampling or measurement",
    ),
];

fn distribution(publication: &Publication) -> Value {
    let rows: usize = publication.statistics.iter().map(|own| own.numbers.len()).sum();
    let column = |(name, datatype, meaning): &(&str, &str, &str)| {
        json!({
            "@id": format!("_:{name}"),
            "@type": ["csvw:Column", "disco:Variable"],
            "csvw:name": name,
            "csvw:datatype": datatype,
            "skos:notation": name,
            "dcterms:description": meaning,
        })
    };
    let file = |name: &str, format: &str, description: &str| {
        json!({
            "@type": "DataDownload",
            "name": name,
            "contentUrl": name,
            "encodingFormat": format,
            "description": description,
        })
    };
    let mut csv = file("release.csv", "text/csv", "The published numbers, one in a line");
    csv["@type"] = json!(["DataDownload", "disco:DataFile"]);
    csv["disco:caseQuantity"] = json!(rows.to_string());
    csv["disco:variableQuantity"] = json!(COLUMNS.len().to_string());
    csv["csvw:tableSchema"] = json!({
        "@type": "csvw:Schema",
        "csvw:column": COLUMNS.iter().map(column).collect::<Vec<_>>(),
    });
    json!([
        csv,
        file("release.json", "application/json", "The published numbers, and how they were made"),
        file("report.html", "text/html", "The published numbers explained, with charts"),
    ])
}

/// The roles of the columns of `release.csv`: dimensions, the number and its accuracy.
fn structure() -> Value {
    let component = |(name, datatype, _): &(&str, &str, &str)| {
        let (role, class) = match *name {
            "statistic" | "group" | "part" => ("qb:dimension", "qb:DimensionProperty"),
            "value" => ("qb:measure", "qb:MeasureProperty"),
            _ => ("qb:attribute", "qb:AttributeProperty"),
        };
        json!({
            "@type": "qb:ComponentSpecification",
            role: {
                "@id": format!("_:{name}"),
                "@type": ["rdf:Property", class],
                "rdfs:range": { "@id": format!("xsd:{datatype}") },
            },
        })
    };
    let components: Vec<Value> = COLUMNS.iter().map(component).collect();
    json!({ "@type": "qb:DataStructureDefinition", "qb:component": components })
}

/// The confidential rows that the numbers were computed from.
fn microdata(publication: &Publication) -> Value {
    let data = &publication.data;
    let mut rows = json!({
        "@id": "_:microdata",
        "@type": ["Dataset", "disco:LogicalDataSet"],
        "name": data.name,
        "description": format!(
            "The confidential rows of {} that the statistics were computed from. They are not published.",
            data.name
        ),
        "isAccessibleForFree": false,
        "disco:isPublic": false,
        "disco:aggregation": { "@id": "_:release" },
        "disco:universe": {
            "@type": "disco:Universe",
            "skos:prefLabel": format!("The people in {}", data.name),
        },
        "disco:variable": input_variables(publication),
    });
    if let (Some(people), Value::Object(rows)) = (data.people, &mut rows) {
        let size =
            property("people", "The number of people in the data, which is public", json!(people));
        rows.insert("variableMeasured".to_owned(), size);
    }
    rows
}

/// References to the columns of the confidential rows.
fn input_references(publication: &Publication) -> Vec<Value> {
    let columns = 1..=publication.data.columns.len();
    columns.map(|place| json!({ "@id": format!("_:input{place}") })).collect()
}

/// The public descriptions of the columns of the confidential rows.
fn input_variables(publication: &Publication) -> Vec<Value> {
    publication.data.columns.iter().enumerate().map(input_variable).collect()
}

fn input_variable((place, column): (usize, &PublishedColumn)) -> Value {
    json!({
        "@id": format!("_:input{}", place + 1),
        "@type": "disco:Variable",
        "skos:notation": column.name,
        "skos:prefLabel": column.name,
        "dcterms:description": text(&declared(column)),
    })
}

/// The guarantee: the parameters of differential privacy.
fn promise(publication: &Publication) -> Value {
    let (data, privacy) = (&publication.data, &publication.privacy);
    let mut parameters = vec![
        property(
            "epsilon",
            "An upper bound on epsilon, all numbers together",
            json!(privacy.epsilon),
        ),
        property("delta", "The delta at which epsilon holds", json!(privacy.delta)),
        property("unit of protection", "Whom the promise protects", json!(text(&unit(data)))),
        property("neighbouring relation", relation(data), json!(data.adjacency)),
        property("rows", "The rows of a person that are used, at most", json!(data.rows)),
        property("theorem", "The composition theorem", json!(privacy.theorem)),
        property(
            "budget epsilon",
            "Of all releases from the data set",
            json!(privacy.budget.epsilon),
        ),
        property("budget delta", "Of all releases from the data set", json!(privacy.budget.delta)),
    ];
    if let Some(people) = data.sample_of {
        let what = "The people are a secret simple random sample of so many";
        parameters.push(property("sample of", what, json!(people)));
    }
    if let Some(place) = &publication.ledger {
        let what = "The head of the ledger after the release, as SEQUENCE:HASH";
        parameters.push(property("ledger head", what, json!(place.head)));
        let what = "The account of the ledger that was charged";
        parameters.push(property("ledger account", what, json!(place.account)));
    }
    json!({
        "@type": ["dpv:DifferentialPrivacy", "ItemList"],
        "name": "Privacy parameters",
        "itemListElement": parameters,
    })
}
