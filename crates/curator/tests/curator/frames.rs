//! Data frames: what makes two of them the same rows, and whose the rows are.

use crate::engines::counted;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    UInt64Array,
};
use counterpoint_curator::public::{Table, TableText};
use counterpoint_curator::question::sql;
use counterpoint_curator::{OpenTable, PreparedQuestion, RowSource, Spend};
use std::sync::Arc;

type Columns = Vec<(&'static str, ArrayRef)>;

fn print(batches: impl IntoIterator<Item = Columns>) -> [u8; 32] {
    let batch = |columns| RecordBatch::try_from_iter_with_nullable(nullable(columns)).unwrap();
    let batches: Vec<RecordBatch> = batches.into_iter().map(batch).collect();
    let source = RowSource::Batches(batches.clone().into());
    let copied = RowSource::of_frame(&batches, &batches[0].schema()).unwrap();
    assert_eq!(source.fingerprint().unwrap(), copied.fingerprint().unwrap());
    source.fingerprint().unwrap()
}

fn nullable(columns: Columns) -> impl Iterator<Item = (&'static str, ArrayRef, bool)> {
    columns.into_iter().map(|(name, array)| (name, array, true))
}

fn array(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// What libraries of data frames make of the same numbers: whole or not, short or long, missing or NaN.
#[test]
fn equal_values_of_any_type_are_the_same_rows() {
    let of = |column: ArrayRef| print([vec![("x", column)]]);
    let whole = of(array(Int64Array::from(vec![Some(1), None, Some(0), Some(100)])));
    let same: [ArrayRef; 6] = [
        array(Int8Array::from(vec![Some(1), None, Some(0), Some(100)])),
        array(UInt64Array::from(vec![Some(1), None, Some(0), Some(100)])),
        array(Float64Array::from(vec![1.0, f64::NAN, -0.0, 100.0])),
        array(Float64Array::from(vec![Some(1.0), None, Some(0.0), Some(100.0)])),
        array(Float32Array::from(vec![Some(1.0), None, Some(0.0), Some(100.0)])),
        array(
            Decimal128Array::from(vec![Some(100), None, Some(0), Some(10_000)])
                .with_precision_and_scale(10, 2)
                .unwrap(),
        ),
    ];
    assert!(same.into_iter().all(|column| of(column) == whole));
    let truth = of(array(BooleanArray::from(vec![true, false])));
    assert_eq!(truth, of(array(Int64Array::from(vec![1, 0]))));
    assert_eq!(
        of(array(NullArray::new(2))),
        of(array(StringArray::from(vec![None::<&str>, None])))
    );

    let text = ["a", "b", "a"];
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    dictionary.extend(text.map(Some));
    let texts = of(array(StringArray::from(text.to_vec())));
    assert_eq!(texts, of(array(StringViewArray::from(text.to_vec()))));
    assert_eq!(texts, of(array(LargeStringArray::from(text.to_vec()))));
    assert_eq!(texts, of(array(dictionary.finish())));
}

/// However they are cut, whatever order columns are in, and whatever is beside them that is never read.
#[test]
fn cuts_and_columns_that_are_not_read_do_not_matter() {
    let x = array(Int64Array::from(vec![1, 2, 3]));
    let y = array(StringArray::from(vec!["a", "b", "c"]));
    let whole = print([vec![("x", Arc::clone(&x)), ("y", Arc::clone(&y))]]);
    for cut in 0..=3 {
        let part =
            |from, to| vec![("x", x.slice(from, to - from)), ("y", y.slice(from, to - from))];
        assert_eq!(whole, print([part(0, cut), part(cut, 3)]), "{cut}");
    }
    let day = array(Date32Array::from(vec![1, 2, 3]));
    let index = array(Int64Array::from(vec![7, 8, 9]));
    let more = vec![("__index_level_0__", index), ("y", y), ("day", day), ("x", x)];
    assert_eq!(whole, print([more]));
}

/// No two of these are the same rows.
#[test]
fn other_values_are_other_rows() {
    let wholes = |name, values: &[i64]| vec![(name, array(Int64Array::from(values.to_vec())))];
    let texts = |values: &[&str]| vec![("x", array(StringArray::from(values.to_vec())))];
    let big = |value| vec![("x", array(UInt64Array::from(vec![value])))];
    let two = |left: &[i64], right: &[i64]| {
        let column = |values: &[i64]| array(Int64Array::from(values.to_vec()));
        vec![("x", column(left)), ("y", column(right))]
    };
    let all = [
        wholes("x", &[1, 2]),
        wholes("x", &[2, 1]),
        wholes("x", &[1]),
        wholes("x", &[1, 2, 2]),
        wholes("z", &[1, 2]),
        two(&[1, 2], &[3, 4]),
        two(&[3, 4], &[1, 2]),
        texts(&["1", "2"]),
        texts(&["12", ""]),
        texts(&["", "12"]),
        vec![("x", array(StringArray::from(vec![None, Some("12")])))],
        vec![("x", array(NullArray::new(2)))],
        vec![("x", array(Float64Array::from(vec![1.0, 2.0_f64.next_up()])))],
        // All of these are one double.
        big(u64::MAX),
        big(u64::MAX - 1),
        vec![("x", array(Float64Array::from(vec![u64::MAX as f64])))],
    ];
    let prints: std::collections::BTreeSet<[u8; 32]> =
        all.clone().into_iter().map(|one| print([one])).collect();
    assert_eq!(prints.len(), all.len());
}

/// People whose numbers are one double are two: as one they would have the rows of one, and the other's answer would depend on who
/// is there.
#[test]
fn people_with_long_numbers_are_not_mixed_up() {
    let text = "name = \"t\"\nperson = \"nr\"\nrows = 1\nadjacency = \"add-remove\"\n\
                [[column]]\nname = \"x\"\nbounds = [0, 10]\n";
    let table = Table::new(toml::from_str::<TableText>(text).unwrap()).unwrap();
    let long = u64::MAX - 3;
    let nr: [ArrayRef; 3] = [
        array(UInt64Array::from(vec![long, long + 1, long + 2, long])),
        array(Decimal128Array::from([0, 1, 2, 0].map(|more| i128::from(long) + more).to_vec())),
        array(
            Decimal128Array::from(
                [1, 2, 3, 1].map(|more| i128::from(u64::MAX) * 10 + more).to_vec(),
            )
            .with_precision_and_scale(38, 3)
            .unwrap(),
        ),
    ];
    let frame = |nr| {
        let x: ArrayRef = array(Float64Array::from(vec![1.0; 4]));
        RowSource::Batches([RecordBatch::try_from_iter([("nr", nr), ("x", x)]).unwrap()].into())
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.jsonl");
    let lines = [0, 1, 2, 0].map(|more| format!("{{\"nr\": {}, \"x\": 1}}\n", long + more));
    std::fs::write(&file, lines.concat()).unwrap();
    let lines = RowSource::of_file(&file).unwrap();
    for source in nr.map(frame).into_iter().chain([lines]) {
        let held = OpenTable::of_rows(table.clone(), source, [7; 32]).unwrap();
        let asked = sql::read("SELECT COUNT(*) FROM t", |_| Some(&table)).unwrap();
        let ready = PreparedQuestion::new(&held, &asked, Spend::Epsilon(1.0), None).unwrap();
        // One row of each of three people.
        let counted: Vec<u64> = counted(&held, &ready).iter().map(|one| one.rows).collect();
        assert_eq!(counted, [3]);
    }
}

/// A frame without rows has columns all the same.
#[test]
fn frames_without_rows_have_columns() {
    let batch = RecordBatch::try_from_iter([("age", array(Int64Array::from(vec![1])))]).unwrap();
    let none = RowSource::of_frame(&[], &batch.schema()).unwrap();
    assert_eq!(none.columns().unwrap()[0].name, "age");
    let text =
        "name = \"t\"\nadjacency = \"replace\"\n[[column]]\nname = \"age\"\nbounds = [0, 10]\n";
    let table = Table::new(toml::from_str::<TableText>(text).unwrap()).unwrap();
    let held = OpenTable::of_rows(table, none, [7; 32]).unwrap();
    let later = std::time::Instant::now() + std::time::Duration::from_secs(60);
    assert!(held.check(later).unwrap_err().why.contains("no rows"));
}
