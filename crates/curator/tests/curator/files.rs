//! Tables in files and in memory: what SQLite adds up, bit for bit, the choice among the rows of a person included.

use crate::engines::{Types, counted, counted_together, row, types};
use crate::tables::{Row, condition, held, public, question, write};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, StringViewArray};
use counterpoint_curator::public::{Table, TableText};
use counterpoint_curator::{
    Config, Format, OpenTable, PreparedQuestion, RowSource, Spend, examine,
};
use counterpoint_testing::{Random, tries};
use rusqlite::types::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Case does not matter in names of columns.
const NAMES: [&str; 5] = ["nr", "AGE", "pay", "region", "Year"];

fn later() -> Instant {
    Instant::now() + Duration::from_secs(300)
}

/// A field of a CSV file. Nothing and an empty text are the same there.
fn field(value: &Value, random: &mut Random) -> String {
    let text = match value {
        Value::Integer(whole) => whole.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => text.clone(),
        _ => String::new(),
    };
    let is_plain = !text.contains(['"', ',', '\n', '\r']);
    if is_plain && random.below(3) > 0 {
        text
    } else {
        format!("\"{}\"", text.replace('"', "\"\""))
    }
}

fn csv(rows: &[Row], random: &mut Random) -> String {
    let end = ["\n", "\r\n"][random.below(2) as usize];
    let mark = ["", "\u{feff}"][random.below(2) as usize];
    // A column that nobody has declared, with whatever in it.
    let mut text = format!("{mark}\"a note, \",{}{end}", NAMES.join(","));
    for row in rows {
        let fields: Vec<String> = row.iter().map(|value| field(value, random)).collect();
        let note = ["", "\"one\nand \"\"two\"\",\"", "x"][random.below(3) as usize];
        let blank = if random.below(10) == 0 { end } else { "" };
        text += &format!("{note},{}{end}{blank}", fields.join(","));
    }
    // The last line may end with the file.
    if random.below(2) == 0 { text.trim_end_matches(['\r', '\n']).to_owned() } else { text }
}

fn json(rows: &[Row], random: &mut Random) -> String {
    let mut text = String::new();
    for row in rows {
        let mut object = serde_json::Map::new();
        object.insert("note".to_owned(), serde_json::json!({"of": [1, null]}));
        for (name, value) in NAMES.iter().zip(row) {
            let value = match value {
                Value::Integer(whole) => (*whole).into(),
                Value::Real(real) => (*real).into(),
                Value::Text(text) => text.clone().into(),
                _ if random.below(2) == 0 => continue,
                _ => serde_json::Value::Null,
            };
            object.insert((*name).to_owned(), value);
        }
        text += &serde_json::Value::Object(object).to_string();
        text += if random.below(10) == 0 { "\n\n" } else { "\n" };
    }
    text
}

fn whole(value: &Value) -> Option<i64> {
    if let Value::Integer(whole) = value { Some(*whole) } else { None }
}

fn real(value: &Value) -> Option<f64> {
    if let Value::Real(real) = value { Some(*real) } else { None }
}

fn text(value: &Value) -> Option<&str> {
    if let Value::Text(text) = value { Some(text) } else { None }
}

/// Rows in batches of different sizes, and texts in different encodings.
fn batches(types: &Types, rows: &[Row], random: &mut Random) -> RowSource {
    let batch = |rows: &[Row], random: &mut Random| {
        let column = |(place, name): (usize, &&str)| -> (String, ArrayRef) {
            let values = rows.iter().map(|row| &row[place]);
            let array: ArrayRef = match types[place] {
                "bigint" | "integer" => Arc::new(values.map(whole).collect::<Int64Array>()),
                "text" | "character varying" => match random.below(3) {
                    0 => Arc::new(values.map(text).collect::<StringArray>()),
                    1 => Arc::new(values.map(text).collect::<StringViewArray>()),
                    _ => {
                        let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
                        dictionary.extend(values.map(text));
                        Arc::new(dictionary.finish())
                    }
                },
                _ => Arc::new(values.map(real).collect::<Float64Array>()),
            };
            ((*name).to_owned(), array)
        };
        RecordBatch::try_from_iter(NAMES.iter().enumerate().map(column)).unwrap()
    };
    let (first, rest) = rows.split_at(random.below(rows.len() as u64 + 1) as usize);
    RowSource::Batches([batch(first, random), batch(rest, random)].into())
}

/// A file of two groups of rows.
#[cfg(feature = "parquet")]
fn write_parquet(file: &Path, types: &Types, rows: &[Row]) {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::parser::parse_message_type;
    let kind = |kind: &str| match kind {
        "bigint" | "integer" => "INT64",
        "text" | "character varying" => "BYTE_ARRAY",
        _ => "DOUBLE",
    };
    let column = |(name, own): (&&str, &&str)| {
        let text = if kind(own) == "BYTE_ARRAY" { " (UTF8)" } else { "" };
        format!("optional {} {name}{text};", kind(own))
    };
    let columns: String = NAMES.iter().zip(types).map(column).collect();
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {columns} }}")).unwrap());
    let compression = [Compression::SNAPPY, Compression::ZSTD(Default::default())][rows.len() % 2];
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let file = std::fs::File::create(file).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let (first, rest) = rows.split_at(rows.len() / 3);
    for rows in [first, rest] {
        let mut group: SerializedRowGroupWriter<'_, _> = writer.next_row_group().unwrap();
        for (place, own) in types.iter().enumerate() {
            let values = || rows.iter().map(|row| &row[place]);
            let levels: Vec<i16> = values().map(|value| (*value != Value::Null).into()).collect();
            let mut column = group.next_column().unwrap().unwrap();
            match kind(own) {
                "INT64" => {
                    let values: Vec<i64> = values().filter_map(whole).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).unwrap();
                }
                "DOUBLE" => {
                    let values: Vec<f64> = values().filter_map(real).collect();
                    column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
                }
                _ => {
                    let values: Vec<ByteArray> =
                        values().filter_map(text).map(ByteArray::from).collect();
                    let written = column.typed::<ByteArrayType>();
                    written.write_batch(&values, Some(&levels), None).unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// What each format has of rows, as SQLite has it.
fn stored(rows: &[Row], format: Option<Format>) -> Vec<Row> {
    let one = |row: &Row| {
        let mut row = row.clone();
        match format {
            Some(Format::Csv) => {
                if text(&row[0]) == Some("") {
                    row[0] = Value::Null;
                }
                // An empty text is a declared category.
                if row[3] == Value::Null {
                    row[3] = Value::Text(String::new());
                }
            }
            Some(Format::JsonLines) => {
                let is_finite = |value: &Value| real(value).is_none_or(f64::is_finite);
                row.iter_mut()
                    .filter(|value| !is_finite(value))
                    .for_each(|value| *value = Value::Null);
            }
            _ => (),
        }
        row
    };
    rows.iter().map(one).collect()
}

/// Random questions with filters, groups and several rows of a person, of which some are used, about random tables full of extremes:
/// each alone, and together.
#[test]
fn files_are_counted_as_sqlite_counts() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data.db");
    let mut random = Random::new(3_301);
    let mut formats = vec![Some(Format::Csv), Some(Format::JsonLines), None];
    if cfg!(feature = "parquet") {
        formats.push(Some(Format::Parquet));
    }
    for round in 0..tries(400, 0.06) {
        let types = types(&mut random);
        let many = random.between(1, 120);
        let rows: Vec<Row> = (0..many).map(|_| row(&types, &mut random)).collect();
        let format = formats[round as usize % formats.len()];
        let rows = stored(&rows, format);
        let file = |ending: &str| folder.path().join(format!("data.{ending}"));
        let source = match format {
            Some(Format::Csv) => {
                std::fs::write(file("csv"), csv(&rows, &mut random)).unwrap();
                RowSource::of_file(&file("csv")).unwrap()
            }
            Some(Format::JsonLines) => {
                std::fs::write(file("jsonl"), json(&rows, &mut random)).unwrap();
                RowSource::of_file(&file("jsonl")).unwrap()
            }
            #[cfg(feature = "parquet")]
            Some(Format::Parquet) => {
                write_parquet(&file("parquet"), &types, &rows);
                RowSource::of_file(&file("parquet")).unwrap()
            }
            _ => batches(&types, &rows, &mut random),
        };
        write(&data, &rows);
        let person = random.below(5) > 0;
        let kept = if person { random.between(1, 5) } else { 1 };
        let public = public(person, kept, random.between(1, 5), "add-remove");
        let here = held(public.clone(), &data);
        // JSON lines may say nothing of a column.
        let there = match OpenTable::of_rows(public, source, [7; 32]) {
            Err(_) if format == Some(Format::JsonLines) => continue,
            other => other.unwrap(),
        };
        let mut all = Vec::new();
        for number in 0..6 {
            let mut question = question(&mut random);
            question.rows_in_group = Some(random.between(1, kept));
            if number == 0 {
                question.filter = Some(condition(&mut random, 4));
            }
            let spend = [Spend::Epsilon(1.0), Spend::Rho(0.5)][random.below(2) as usize];
            let [one, other] = [&here, &there].map(|held| {
                counted(held, &PreparedQuestion::new(held, &question, spend, None).unwrap())
            });
            assert!(one == other, "{round}, {number}: {format:?} {types:?} {question:?} {rows:?}");
            all.push((question, spend, one));
        }
        let asked = all.iter().map(|(question, spend, _)| (question, *spend));
        let alone: Vec<_> = all.iter().map(|(_, _, one)| one.clone()).collect();
        assert!(counted_together(&there, asked) == alone, "{round}: {format:?} {all:?}");
    }
}

fn survey(columns: &str) -> Table {
    let text = format!("name = \"survey\"\nadjacency = \"replace\"\n{columns}");
    Table::new(toml::from_str::<TableText>(&text).unwrap()).unwrap()
}

const AGE: &str = "[[column]]\nname = \"age\"\nbounds = [0, 100]\n";
const REGION: &str = "[[column]]\nname = \"region\"\ncategories = [\"north\", \"south\", 3]\n";

/// Whatever is wrong with a file is told in one line that names it, before anything is asked.
#[test]
fn bad_files_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let wide = (0..100_000).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "no column.csv",
            b"name,place\nann,here\n".to_vec(),
            "no column \"age\"; the source has no column \"region\"",
        ),
        ("twice.csv", b"age,region,Age\n1,north,2\n".to_vec(), "the column \"age\" twice"),
        ("empty.csv", b"".to_vec(), "the file is empty"),
        ("mark.csv", b"\xef\xbb\xbf".to_vec(), "the file is empty"),
        ("header.csv", b"\n1,north\n".to_vec(), "the header is empty"),
        ("wide.csv", wide.into_bytes(), "100000 columns; legal: at most 10000"),
        ("quote.csv", b"age,\"region\n1,north\n".to_vec(), "a quoted field is not closed"),
        ("text.jsonl", b"hello\n".to_vec(), "begins with no object"),
        ("text.parquet", b"hello, hello, hello\n".to_vec(), "text.parquet: "),
        (
            "short.csv",
            b"age,region\n1,north\n2\n3,south\n".to_vec(),
            "line 3: the row has 1 fields, and the header 2",
        ),
        (
            "long.csv",
            b"age,region\r\n\"1\n\",north\r\n2,south,5\r\n".to_vec(),
            "line 4: the row has 3 fields",
        ),
        ("stray.csv", b"age,region\n1,nor\"th\n".to_vec(), "line 2: a quote is inside a field"),
        (
            "after.csv",
            b"age,region\n1,\"nor\"th\n".to_vec(),
            "line 2: text follows the closing quote",
        ),
        (
            "open.csv",
            b"age,region\n1,\"north\n2,south\n".to_vec(),
            "line 2: a quoted field is not closed",
        ),
        ("bytes.csv", b"age,region\n1,nor\xff\n".to_vec(), "line 2: a field is not in UTF-8"),
        ("none.csv", b"age,region\n\n".to_vec(), "there are no rows"),
        ("bad.jsonl", b"{\"age\": 1, \"region\": 3}\n{\"age\": 1\n".to_vec(), "line 2: EOF"),
        ("list.jsonl", b"{\"age\": 1, \"region\": 3}\n[1]\n".to_vec(), "line 2: invalid type"),
    ];
    let check = |path: &Path| {
        let held = OpenTable::of_rows(
            survey(&(AGE.to_owned() + REGION)),
            RowSource::of_file(path)?,
            [7; 32],
        );
        held.and_then(|held| held.check(later()))
    };
    for (name, bytes, said) in cases {
        if name.ends_with("parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        std::fs::write(path(name), bytes).unwrap();
        let why = check(&path(name)).unwrap_err().why;
        assert!(why.contains(said) && why.contains(name) && !why.contains('\n'), "{name}: {why}");
    }
    std::fs::create_dir(path("folder.csv")).unwrap();
    for (name, said) in
        [("folder.csv", "is a folder"), ("absent.csv", "No such file"), ("data.xlsx", "legal: ")]
    {
        let why = check(&path(name)).unwrap_err().why;
        assert!(why.contains(said) && why.contains(name) && !why.contains('\n'), "{name}: {why}");
    }
    // What types hold is known without a row being read.
    let dates = RecordBatch::try_from_iter([(
        "age",
        Arc::new(arrow_array::Date32Array::from(vec![1])) as ArrayRef,
    )]);
    let source = RowSource::Batches([dates.unwrap()].into());
    let why = OpenTable::of_rows(survey(AGE), source, [7; 32]).unwrap_err().why;
    assert!(why.contains("is of type Date32, which is not a number"), "{why}");
}

/// Rows that cannot be read count as rows whose values are missing: an answer never fails because of what a row holds.
#[test]
fn answers_do_not_fail_where_rows_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("survey.csv");
    let text = b"region,age,more\nnorth, 20 ,\nnorth,x,\nnorth\n\"south,30,\n3,1e1,\n3.0,,\nnor\xff,40,\n,50,\n";
    std::fs::write(&file, text).unwrap();
    let public = survey(&(AGE.to_owned() + REGION));
    let held = OpenTable::of_rows(public, RowSource::of_file(&file).unwrap(), [7; 32]).unwrap();
    let rows = |text: &str| {
        let question = counterpoint_curator::question::sql::read(text, |_| Some(&held.public));
        let ready =
            PreparedQuestion::new(&held, &question.unwrap(), Spend::Epsilon(1.0), None).unwrap();
        counted(&held, &ready).iter().map(|cell| cell.rows).collect::<Vec<u64>>()
    };
    assert_eq!(rows("SELECT COUNT(*) FROM survey"), [8]);
    assert_eq!(rows("SELECT region, COUNT(*) FROM survey GROUP BY region"), [2, 0, 2]);
    assert_eq!(rows("SELECT COUNT(*) FROM survey WHERE age IS NULL"), [4]);
    assert_eq!(rows("SELECT COUNT(*) FROM survey WHERE region IS NULL"), [3]);
    assert_eq!(rows("SELECT COUNT(*) FROM survey WHERE region <> 'north'"), [3]);
    held.check(later()).unwrap_err();
}

/// The owner is told what is missing or cannot be read.
#[test]
fn files_are_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("survey.csv");
    std::fs::write(&file, "region,age\nnorth,20\nnrth,x\n,\n").unwrap();
    let public = survey(&(AGE.to_owned() + REGION));
    let source = RowSource::of_file(&file).unwrap();
    let first = source.fingerprint().unwrap();
    let held = OpenTable::of_rows(public.clone(), source.clone(), [7; 32]).unwrap();
    let found = held.check(later()).unwrap().unwrap();
    assert_eq!(found.rows, 3);
    let [age, region] = found.columns.as_slice() else { panic!("{found:?}") };
    assert_eq!((age.missing, age.unreadable), (1, 1));
    assert_eq!(age.example, Some((2, "x".to_owned())));
    assert_eq!((region.missing, region.unreadable), (1, 1));
    assert_eq!(region.example, Some((2, "nrth".to_owned())));
    std::fs::write(&file, "region,age\nnorth,21\n").unwrap();
    assert_ne!(first, source.fingerprint().unwrap());
    // However batches are cut and encoded.
    let rows: Vec<Row> = (0..20)
        .map(|nr| {
            let region = Value::Text(["north", "south"][nr % 2].to_owned());
            [Value::Integer(1), Value::Real(nr as f64), Value::Null, region, Value::Null]
        })
        .collect();
    let types = ["bigint", "double precision", "double precision", "text", "bigint"];
    let mut random = Random::new(7);
    let mut print = |rows: &[Row]| batches(&types, rows, &mut random).fingerprint().unwrap();
    let one = print(&rows);
    assert!((0..5).all(|_| print(&rows) == one));
    assert_ne!(one, print(&rows[1..]));
}

/// An engine that is late gives up.
#[test]
fn late_counts_are_cut_off() {
    let source = RowSource::MadeUp(1_000_000_000);
    let held = OpenTable::of_rows(survey(AGE), source, [7; 32]).unwrap();
    let question = "SELECT AVG(age) FROM survey";
    let question =
        counterpoint_curator::question::sql::read(question, |_| Some(&held.public)).unwrap();
    let ready = PreparedQuestion::new(&held, &question, Spend::Epsilon(1.0), None).unwrap();
    let deadline = Instant::now() + Duration::from_millis(50);
    let failed = held.count(&[ready.tabulation()], deadline).unwrap_err();
    assert!(failed.why.contains("time is up"), "{}", failed.why);
}

/// A service may serve a file; it is examined like any other table.
#[test]
fn files_are_configured_and_examined() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("ledger.db").display()).parse().unwrap();
    let one = counterpoint::Relation::single_record(counterpoint::Adjacency::AddRemove);
    let mut ledger = counterpoint_ledger::Ledger::init(&url).unwrap();
    ledger.add_dataset("survey", one, &crate::sums("1")).unwrap();
    std::fs::write(folder.path().join("survey.csv"), "age\n1\n2\n").unwrap();
    let config = |source: &str| {
        let text = format!(
            "ledger = \"sqlite:ledger.db\"\nstate = \"sqlite:state.db\"\n[timing]\nlimit = 600\n[[table]]\nname = \"survey\"\n\
             source = \"{source}\"\nadjacency = \"add-remove\"\n[[table.column]]\nname = \"age\"\nbounds = [0, 10]\n"
        );
        Config::parse(&text, folder.path())
    };
    let found = examine(&config("survey.csv").unwrap()).remove(0);
    assert!(found.problems.is_empty(), "{found:?}");
    assert_eq!((found.rows, found.times.len()), (Some(2), 4));
    assert_eq!(found.columns, [("age".to_owned(), "text".to_owned())]);
    counterpoint_curator::Curator::open(&config("survey.csv").unwrap()).unwrap();
    std::fs::write(folder.path().join("survey.csv"), "age\n1\n2,3\n").unwrap();
    let found = examine(&config("survey.csv").unwrap()).remove(0);
    assert!(found.problems.join("\n").contains("line 3"), "{found:?}");
    let error = counterpoint_curator::Curator::open(&config("survey.csv").unwrap()).unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    let error = config("survey.doc").unwrap_err().to_string();
    assert!(error.contains("FILE.csv"), "{error}");
}
