//! The catalogue against what is made of it.

use std::collections::BTreeSet;

use counterpoint::Mechanism;
use counterpoint_wire::catalogue::{KINDS, kind, table};

/// Every line of the table in the documentation, and no other.
#[test]
fn the_documentation_has_the_catalogue() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/program.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(&format!("\n\n{}\n", table())), "docs/program.md wants:\n{}", table());
}

#[test]
fn kinds_are_those_of_the_core_and_their_names_are_their_own() {
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let known: BTreeSet<&str> = Mechanism::KINDS.iter().copied().collect();
    assert_eq!(names, known);
    assert_eq!(names.len(), KINDS.len());
    let classes: BTreeSet<&str> = KINDS.iter().map(|kind| kind.class).collect();
    assert_eq!(classes.len(), KINDS.len());
    for one in KINDS {
        let fields = one.fields.iter().chain(one.alternatives);
        let own: BTreeSet<&str> = fields.clone().map(|field| field.name).collect();
        assert_eq!(own.len(), one.fields.len() + one.alternatives.len(), "{}", one.name);
        assert!(
            fields
                .clone()
                .all(|field| !field.meaning.is_empty() && !field.field_type.legal.is_empty())
        );
        assert_eq!(kind(one.name).unwrap().class, one.class);
    }
}
