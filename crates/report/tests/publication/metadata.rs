//! The catalogue entry: what checkers require, what the table's columns mean, and what is not told.

use std::collections::BTreeSet;

use counterpoint_report::{Deposit, publication_metadata};
use counterpoint_wire::publication::Publication;
use serde_json::Value;

use super::{large, made_up, survey, wild};

fn entry(publication: &Publication, deposit: &Deposit) -> Value {
    serde_json::from_str(&publication_metadata(publication, deposit)).unwrap()
}

/// All strings and keys.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|own| texts(own, found)),
        Value::Object(object) => object.iter().for_each(|(key, own)| {
            found.push(key.clone());
            texts(own, found);
        }),
        _ => {}
    }
}

#[test]
fn a_dataset_has_what_catalogues_require() {
    for publication in [survey(), made_up(), wild(), large()] {
        let entry = entry(&publication, &Deposit::default());
        for dataset in [&entry, &entry["isBasedOn"]] {
            assert_eq!(dataset["@type"][0], "Dataset");
            assert!(!dataset["name"].as_str().unwrap().is_empty());
            let long = dataset["description"].as_str().unwrap().chars().count();
            assert!((50..=5000).contains(&long), "{long}");
        }
        let files = entry["distribution"].as_array().unwrap();
        let urls: Vec<_> = files.iter().map(|file| file["contentUrl"].as_str().unwrap()).collect();
        assert_eq!(urls, ["release.csv", "release.json", "report.html"]);
        assert_eq!(files[0]["encodingFormat"], "text/csv");
        let variables = entry["variableMeasured"].as_array().unwrap();
        assert_eq!(variables.len(), publication.statistics.len());
        for (variable, statistic) in std::iter::zip(variables, &publication.statistics) {
            assert_eq!(variable["@type"], "PropertyValue");
            assert_eq!(variable["name"], statistic.name.as_str());
            assert!(variable["measurementTechnique"].is_string());
        }
        for absent in ["dateModified", "license", "creator"] {
            assert!(entry.get(absent).is_none(), "{absent}");
        }
        assert_eq!(entry.get("creativeWorkStatus").is_some(), publication.made_up);
    }
}

#[test]
fn the_columns_are_those_of_the_csv_and_have_a_role() {
    let publication = survey();
    let entry = entry(&publication, &Deposit::default());
    let csv = &entry["distribution"][0];
    let columns = csv["csvw:tableSchema"]["csvw:column"].as_array().unwrap();
    let names: Vec<_> = columns.iter().map(|own| own["csvw:name"].as_str().unwrap()).collect();
    let lines = publication.csv();
    assert_eq!(names.join(","), lines.lines().next().unwrap());
    assert_eq!(csv["disco:caseQuantity"], (lines.lines().count() - 1).to_string());
    let components = entry["qb:structure"]["qb:component"].as_array().unwrap();
    assert_eq!(components.len(), columns.len());
    let measured: Vec<_> =
        components.iter().filter_map(|own| own["qb:measure"]["@id"].as_str()).collect();
    assert_eq!(measured, ["_:value"]);
}

#[test]
fn the_promise_is_there_and_the_source_is_not() {
    let mut publication = survey();
    publication.data.source = "/home/secret/path/survey.csv".to_owned();
    let deposit = Deposit {
        date: Some("2026-11-18".to_owned()),
        license: Some("https://creativecommons.org/licenses/by/4.0/".to_owned()),
        creator: Some("Office of Statistics".to_owned()),
    };
    let entry = entry(&publication, &deposit);
    assert_eq!(entry["dateModified"], "2026-11-18");
    assert_eq!(entry["license"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(entry["creator"]["name"], "Office of Statistics");
    let parameters = entry["dpv:hasTechnicalMeasure"]["itemListElement"].as_array().unwrap();
    let value = |name: &str| &parameters.iter().find(|own| own["name"] == name).unwrap()["value"];
    assert_eq!((value("epsilon"), value("delta")), (&0.9731.into(), &1e-6.into()));
    assert_eq!(value("neighbouring relation"), "replace");
    assert_eq!(value("theorem"), "optimal");
    assert_eq!(value("ledger head"), &publication.ledger.as_ref().unwrap().head);
    assert!(value("unit of protection").as_str().unwrap().starts_with("one person"));
    let mut found = Vec::new();
    texts(&entry, &mut found);
    assert!(!found.iter().any(|text| text.contains("secret/path") || text.contains("survey.csv")));
}

/// Every prefix that is used is declared, and every blank node that is referred to is described.
#[test]
fn the_document_is_complete_in_itself() {
    let entry = entry(&survey(), &Deposit::default());
    let prefixes: BTreeSet<&String> = entry["@context"].as_object().unwrap().keys().collect();
    let mut rest = entry.clone();
    rest.as_object_mut().unwrap().remove("@context");
    let mut found = Vec::new();
    texts(&rest, &mut found);
    for text in found.iter().filter(|text| !text.contains([' ', '\'']) && !text.starts_with("_:")) {
        if let Some((prefix, _)) =
            text.split_once(':').filter(|(own, _)| own.parse::<u64>().is_err())
        {
            assert!(prefixes.contains(&prefix.to_owned()), "{text}");
        }
    }
}
