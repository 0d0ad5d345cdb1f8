//! The choice of rows of people who have more than allowed.

use super::*;
use counterpoint_testing::{Random, size, tries};
use sha2::Digest;
use std::collections::BTreeMap;

/// The person and the values of a row.
type Row = (u64, Vec<f64>);

/// A choice of the used rows of a table.
type Choice = fn(&[Row], u64, &[u8; 32]) -> Vec<Row>;

fn relation(records: u64) -> Relation {
    Relation::new(Adjacency::AddRemove, records).unwrap()
}

/// The implemented choice; an additional column identifies the person of each used row.
fn ours(rows: &[Row], records: u64, key: &[u8; 32]) -> Vec<Row> {
    let width = rows.first().map_or(0, |(_, values)| values.len());
    let mut columns: Vec<Vec<f64>> =
        (0..width).map(|place| rows.iter().map(|(_, values)| values[place]).collect()).collect();
    columns.push(rows.iter().map(|(person, _)| *person as f64).collect());
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let people = rows.iter().map(|(person, _)| person);
    let chosen = Data::of_people(relation(records), people, &columns, key).unwrap();
    let (owners, columns) = chosen.split_last().unwrap();
    let row = |place: usize| columns.iter().map(|column| column.values()[place]).collect();
    owners.values().iter().enumerate().map(|(place, &owner)| (owner as u64, row(place))).collect()
}

/// Few people with few different values: equal rows, and special values of doubles.
fn table(random: &mut Random) -> Vec<Row> {
    let values = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, 1e-300];
    let (people, width) = (random.between(1, 5), random.between(1, 3));
    let row = |random: &mut Random| (0..width).map(|_| random.of(&values)).collect();
    (0..random.below(30)).map(|_| (random.below(people), row(random))).collect()
}

fn key(random: &mut Random) -> [u8; 32] {
    std::array::from_fn(|_| random.bits() as u8)
}

/// The number of times that each row occurs, bit by bit.
fn census(rows: &[Row]) -> BTreeMap<(u64, Vec<u64>), usize> {
    let mut census = BTreeMap::new();
    for (person, values) in rows {
        let bits = values.iter().map(|x| x.to_bits()).collect();
        *census.entry((*person, bits)).or_insert(0) += 1;
    }
    census
}

fn shuffle(random: &mut Random, rows: &mut [Row]) {
    for place in (1..rows.len()).rev() {
        rows.swap(place, random.below(place as u64 + 1) as usize);
    }
}

fn of_others(rows: &[Row], person: u64) -> Vec<Row> {
    rows.iter().filter(|(owner, _)| *owner != person).cloned().collect()
}

/// The property that a choice violates on some of many tables, if any.
fn fault(choose: Choice) -> Option<&'static str> {
    let mut random = Random::new(20_100_601);
    for _ in 0..tries(3_000, 0.2) {
        let (mut rows, key, records) = (table(&mut random), key(&mut random), random.between(1, 4));
        let chosen = choose(&rows, records, &key);
        let (all, used) = (census(&rows), census(&chosen));
        if used.iter().any(|(row, count)| all.get(row).is_none_or(|most| most < count)) {
            return Some("makes rows up");
        }
        for person in 0..5 {
            let of = |rows: &[Row]| rows.iter().filter(|(owner, _)| *owner == person).count();
            if of(&chosen) != of(&rows).min(records as usize) {
                return Some("uses too many or too few of a person's rows");
            }
            let without = choose(&of_others(&rows, person), records, &key);
            if census(&without) != census(&of_others(&chosen, person)) {
                return Some("looks at other people");
            }
        }
        shuffle(&mut random, &mut rows);
        if census(&choose(&rows, records, &key)) != used {
            return Some("looks at the order of rows");
        }
    }
    None
}

/// A wrong choice: the first rows of the table.
fn by_order(rows: &[Row], records: u64, _: &[u8; 32]) -> Vec<Row> {
    let mut used = BTreeMap::new();
    let mut is_first = |person| {
        let count = used.entry(person).or_insert(0);
        *count += 1;
        *count <= records
    };
    rows.iter().filter(|(person, _)| is_first(*person)).cloned().collect()
}

/// A wrong choice: by a key that depends on the number of rows.
fn by_size(rows: &[Row], records: u64, key: &[u8; 32]) -> Vec<Row> {
    let mut key = *key;
    key[0] ^= rows.len() as u8;
    ours(rows, records, &key)
}

/// A wrong choice: all rows.
fn unlimited(rows: &[Row], _: u64, _: &[u8; 32]) -> Vec<Row> {
    rows.to_vec()
}

#[test]
fn the_choice_depends_on_a_persons_own_rows_alone() {
    assert_eq!(fault(ours), None);
    assert_eq!(fault(by_order), Some("looks at the order of rows"));
    assert_eq!(fault(by_size), Some("looks at other people"));
    assert_eq!(fault(unlimited), Some("uses too many or too few of a person's rows"));
}

/// The number of rows of one list that are missing in the other.
fn beyond(one: &[Row], other: &[Row]) -> usize {
    let other = census(other);
    census(one)
        .into_iter()
        .map(|(row, count)| count.saturating_sub(*other.get(&row).unwrap_or(&0)))
        .sum()
}

/// A change of one person's rows, of any number, changes at most the allowed number of used rows.
#[test]
fn neighbouring_tables_differ_in_as_many_rows_as_a_person_may_have() {
    let mut random = Random::new(7);
    let mut most = 0;
    for _ in 0..size(3_000, 600) {
        let (rows, key, records) = (table(&mut random), key(&mut random), random.between(1, 4));
        let others = of_others(&rows, 0);
        let width = rows.first().map_or(1, |(_, values)| values.len());
        // Another person in their place, with any number of rows.
        let own = (0..random.below(1000)).map(|_| (9, vec![random.unit(); width]));
        let mut replaced = [own.collect(), others.clone()].concat();
        shuffle(&mut random, &mut replaced);
        let [with, without, replaced] =
            [rows, others, replaced].map(|rows| ours(&rows, records, &key));
        assert_eq!(beyond(&without, &with), 0);
        assert!(beyond(&with, &without) <= records as usize);
        let (gone, come) = (beyond(&with, &replaced), beyond(&replaced, &with));
        assert!(gone <= records as usize && come <= records as usize, "{gone} {come}");
        most = most.max(gone + come);
    }
    assert_eq!(most, 8);
}

/// By the definition of HMAC (RFC 2104) and of its input.
fn place(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let pad = |with: u8| -> Vec<u8> {
        (0..64).map(|i| key.get(i).copied().unwrap_or(0) ^ with).collect()
    };
    let inner = Sha256::digest([&pad(0x36), message].concat());
    Sha256::digest([&pad(0x5c), inner.as_slice()].concat()).into()
}

#[test]
fn those_are_used_whose_hmac_comes_first() {
    let key = std::array::from_fn(|i| i as u8);
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i / 3)).collect();
    for (person, kind, bytes) in [
        (Person::from(77), 0_u8, 77_u64.to_be_bytes().to_vec()),
        (Person::from("Ada"), 1, b"Ada".to_vec()),
        (Person::from(&b"\x00\xff"[..]), 2, vec![0, 255]),
    ] {
        let hashed = |row: usize| {
            let (length, copy) = (bytes.len() as u64, row as u64 % 3);
            let head = [&[kind][..], &length.to_be_bytes(), &bytes, &copy.to_be_bytes()].concat();
            place(&key, &[head, values[row].to_bits().to_be_bytes().to_vec()].concat())
        };
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&row| hashed(row));
        let mut expected: Vec<f64> = order.iter().take(40).map(|&row| values[row]).collect();
        expected.sort_by(f64::total_cmp);
        let found = Data::of_people(relation(40), vec![person; 1000], &[&values], &key).unwrap();
        let mut found = found[0].values().to_vec();
        found.sort_by(f64::total_cmp);
        assert_eq!(found, expected);
    }
}

/// Half of a thousand rows are equal: approximately half of the used rows are. (If equal rows had one place in the
/// order, all or none would be.) The number is hypergeometric, with standard deviation 2.2.
#[test]
fn equal_rows_are_used_as_often_as_others() {
    let rows: Vec<Row> =
        (0..1000).map(|i| (1, vec![if i < 500 { 0.0 } else { f64::from(i) }])).collect();
    let mut random = Random::new(3);
    let equal = |random: &mut Random| {
        let chosen = ours(&rows, 20, &key(random));
        chosen.iter().filter(|(_, values)| values[0] < 1.0).count()
    };
    let counts: Vec<usize> = (0..400).map(|_| equal(&mut random)).collect();
    let mean = counts.iter().sum::<usize>() as f64 / 400.0;
    assert!((mean - 10.0).abs() < 6.0 * 2.2 / 20.0, "{mean}");
    assert!(counts.iter().all(|count| (1..20).contains(count)));
}

#[test]
fn people_are_the_same_if_their_names_are() {
    let values = [1.0, 2.0, 3.0];
    let used = |people: [Person<'_>; 3]| {
        Data::of_people(relation(1), people, &[&values], &[0; 32]).unwrap()[0].values().len()
    };
    let name = String::from("7");
    assert_eq!(used([7.into(), (&7).into(), 7.into()]), 1);
    assert_eq!(used(["7".into(), (&name).into(), "7".into()]), 1);
    assert_eq!(used([7.into(), "7".into(), (&b"7"[..]).into()]), 3);
    assert_eq!(used(["".into(), " ".into(), "".into()]), 2);
}

#[test]
fn columns_have_a_value_for_each_row() {
    let short = Data::of_people(relation(1), [1, 2], &[&[1.0, 2.0], &[1.0]], &[0; 32]);
    assert!(matches!(short, Err(Error::Length { length: 1, .. })));
    let none = Data::of_people(relation(1), [0_u64; 0], &[&[]], &[0; 32]).unwrap();
    assert!(none[0].values().is_empty());
    assert!(Data::of_people(relation(1), [1], &[], &[0; 32]).unwrap().is_empty());
}

/// A person who is replaced may leave a part: the part's length is then no longer public, and its sums change by a
/// whole record instead of the difference of two.
#[test]
fn data_whose_people_are_replaced_have_no_parts() {
    for records in [1, 2] {
        let of = |adjacency| Data::new(Relation::new(adjacency, records).unwrap(), [1.0, 2.0]);
        let north = of(Adjacency::AddRemove).about("north").unwrap();
        assert_eq!(north.part().map(|part| &**part), Some("north"));
        let error = of(Adjacency::Replace).about("north").unwrap_err().to_string();
        assert!(
            error.starts_with("part \"north\" of data whose relation is \"replace, "),
            "{error}"
        );
        assert!(error.ends_with("; legal: parts under add-remove"), "{error}");
    }
}
