//! The beginning of a study, from a header and a codebook.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Seek, SeekFrom};

use counterpoint_studies::{StudyDraft, draft_study};
use counterpoint_testing::Random;
use counterpoint_wire::{Codebook, CodebookFormat, DataFormat, Header};

const FRICTIONLESS: &str = r#"{
  "name": "household-survey",
  "resources": [
    {"name": "weights", "path": "weights.csv", "schema": {"fields": [{"name": "w", "type": "number"}]}},
    {"name": "survey", "path": "data/survey.csv", "schema": {
      "missingValues": ["", "NA", "-99"],
      "fields": [
        {"name": "respondent", "type": "integer", "title": "Number of the respondent"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": "99"}},
        {"name": "height", "type": "number", "constraints": {"exclusiveMinimum": 0.5, "maximum": 2.5}},
        {"name": "region", "type": "string", "title": "Region\nof residence", "constraints": {"enum": ["north", "the \"east\"", "NA"]}},
        {"name": "education", "type": "integer", "missingValues": ["9"],
         "categories": [{"value": 1, "label": "primary"}, {"value": 2, "label": "secondary"}]},
        {"name": "income", "type": "number", "constraints": {"minimum": 0}},
        {"name": "employed", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
        {"name": "moved", "type": "boolean"},
        {"name": "rate", "type": "number", "constraints": {"enum": [0.5, 1, 2.5]}},
        {"name": "born", "type": "date", "constraints": {"minimum": "1900-01-01"}},
        {"name": "remarks", "type": "string"},
        {"name": "wrong", "type": "integer", "constraints": {"minimum": 5, "maximum": 1}}
      ]}}
  ]}"#;

const CSVW: &str = r#"{
  "@context": "http://www.w3.org/ns/csvw",
  "tables": [
    {"url": "other.csv", "tableSchema": {"columns": [{"name": "x"}]}},
    {"url": "https://example.org/survey.csv", "null": ["NA", "-1"],
     "tableSchema": {"columns": [
        {"name": "age", "titles": {"en": ["Age in years", "Age"]}, "datatype": {"base": "integer", "minimum": 0, "maxInclusive": 120}},
        {"name": "children", "datatype": {"base": "nonNegativeInteger", "maximum": "20"}, "null": "99"},
        {"name": "region", "titles": "Region", "dc:description": "Where they live", "datatype": {"base": "string", "format": "^(north|south west)$"}},
        {"name": "insured", "datatype": {"base": "boolean", "format": "1|0"}},
        {"name": "code", "datatype": {"base": "string", "format": "[A-Z]+|x"}},
        {"name": "interviewed", "datatype": "dateTime"},
        {"name": "income", "datatype": "decimal"},
        {"name": "made", "virtual": true}
     ]}}
  ]}"#;

const DDI: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="ddi:codebook:2_5" version="2.5">
  <stdyDscr><citation><titlStmt><titl>Household survey</titl></titlStmt></citation></stdyDscr>
  <fileDscr ID="F1"><fileTxt><fileName>survey.sav</fileName></fileTxt></fileDscr>
  <fileDscr ID="F2"><fileTxt><fileName>weights.sav</fileName></fileTxt></fileDscr>
  <dataDscr>
    <var ID="V1" name="age" files="F1" intrvl="contin">
      <labl>Age at
        interview</labl>
      <valrng><range UNITS="INT" min="18" max="99"/></valrng>
      <invalrng><range min="997" max="999"/><item VALUE="-1"/></invalrng>
      <sumStat type="min">19</sumStat><sumStat type="max">87</sumStat><sumStat type="mean">44.25</sumStat>
      <varFormat type="numeric"/>
    </var>
    <var ID="V2" name="sex" files="F1" intrvl="discrete">
      <labl>Sex</labl>
      <valrng><range min="1" max="2"/></valrng>
      <catgry><catValu>1</catValu><labl>male</labl><catStat type="freq">5127</catStat></catgry>
      <catgry><catValu>2</catValu><labl>female</labl><catStat type="freq">6873</catStat></catgry>
      <catgry missing="Y"><catValu>9</catValu><labl>no answer</labl><catStat type="freq">31</catStat></catgry>
      <varFormat type="numeric"/>
    </var>
    <var ID="V3" name="trust" files="F1" intrvl="discrete">
      <valrng><range min="0" max="10"/></valrng>
      <catgry><catValu>0</catValu><labl>none at all</labl></catgry>
      <catgry><catValu>10</catValu><labl>complete</labl></catgry>
    </var>
    <var ID="V4" name="region" files="F1">
      <catgry><catValu>01</catValu><labl>North</labl></catgry>
      <catgry><catValu>02</catValu><labl>South</labl></catgry>
      <varFormat type="character"/>
    </var>
    <var ID="V5" name="income" files="F1" intrvl="contin">
      <invalrng><range max="-1"/></invalrng>
      <sumStat type="min">12</sumStat><sumStat type="max">98765</sumStat>
    </var>
    <var ID="V6" name="age" files="F2"/>
  </dataDscr>
</codeBook>"#;

fn header(line: &str) -> Header {
    Header::read(DataFormat::Csv, Cursor::new(line.as_bytes())).unwrap()
}

fn begun(line: &str, codebook: Option<&str>) -> StudyDraft {
    let codebook = codebook.map(|text| Codebook::parse(text.as_bytes(), "survey.csv").unwrap());
    draft_study("survey.csv", &header(line), codebook.as_ref().map(|codebook| ("book", codebook)))
        .unwrap()
}

/// The columns that are declared, by name, as the text of their TOML.
fn declared(study: &StudyDraft) -> BTreeMap<String, String> {
    let table: toml::Table =
        study.text.parse().unwrap_or_else(|error| panic!("{error}\n{}", study.text));
    let Some(columns) = table["data"].get("column") else { return BTreeMap::new() };
    let column = |column: &toml::Value| {
        let mut fields = column.as_table().unwrap().clone();
        let name = fields.remove("name").unwrap().as_str().unwrap().to_owned();
        (name, toml::Value::Table(fields).to_string())
    };
    columns.as_array().unwrap().iter().map(column).collect()
}

#[track_caller]
fn assert_declared(study: &StudyDraft, expected: &[(&str, &str)]) {
    let found = declared(study);
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(name, text)| {
            let fields: toml::Table = text.parse().unwrap();
            ((*name).to_owned(), toml::Value::Table(fields).to_string())
        })
        .collect();
    assert_eq!(found, expected, "{}", study.text);
}

#[test]
fn every_column_is_listed_with_what_has_to_be_declared() {
    let study = begun("\u{feff}id,age,\"region, of \"\"four\"\"\"\r\n1,2,3\r\n", None);
    assert_declared(&study, &[]);
    assert_eq!(study.warnings, Vec::<String>::new());
    let table: toml::Table = study.text.parse().unwrap();
    assert_eq!(table["data"]["source"].as_str(), Some("survey.csv"));
    assert_eq!(table["data"]["adjacency"].as_str(), Some("replace"));
    assert_eq!(table["delta"].as_float(), Some(1e-6));
    for line in [
        "# Only its first line was read, for the names of its columns: no data value was read.",
        "# name = \"id\"",
        "# name = \"age\"",
        "# name = \"region_of_four\"",
        "# from = \"region, of \\\"four\\\"\"",
        "# people = 12000",
    ] {
        assert!(study.text.lines().any(|found| found.starts_with(line)), "{line}\n{}", study.text);
    }
    // With the capitals filled in and the # removed, columns and statistics are legal TOML.
    let (_, columns) = study.text.split_once("\n# [[data.column]]").unwrap();
    let uncommented: String = format!("# [[data.column]]{columns}")
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| {
            line.starts_with('[')
                || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
        })
        .filter(|line| !line.starts_with("categories"))
        .map(|line| format!("{}\n", line.replace("LOWEST", "0").replace("HIGHEST", "1")))
        .collect();
    let table: toml::Table =
        uncommented.parse().unwrap_or_else(|error| panic!("{error}\n{uncommented}"));
    assert_eq!(table["data"]["column"].as_array().unwrap().len(), 3);
    assert_eq!(table["statistic"].as_array().unwrap().len(), 3);
}

#[test]
fn declarations_come_from_a_frictionless_package() {
    let line =
        "respondent,age,height,region,education,income,employed,moved,rate,born,remarks,wrong\n";
    let study = begun(line, Some(FRICTIONLESS));
    assert_declared(
        &study,
        &[
            ("age", "bounds = [18, 99]\nmissing_codes = [\"NA\", -99]"),
            ("height", "bounds = [0.5, 2.5]\nmissing_codes = [\"NA\", -99]"),
            (
                "region",
                "categories = [\"north\", 'the \"east\"']\nmissing_codes = [\"NA\", \"-99\"]",
            ),
            ("education", "categories = [1, 2]\nmissing_codes = [9]"),
            ("employed", "categories = [\"no\", \"yes\"]\nmissing_codes = [\"NA\", \"-99\"]"),
            ("rate", "bounds = [0.5, 2.5]\nmissing_codes = [\"NA\", -99]"),
        ],
    );
    assert_eq!(study.warnings, Vec::<String>::new());
    for part in [
        "# Bounds, categories and missing codes are from book, a Frictionless table schema.",
        "# Region of residence\n",
        "# 1 = primary, 2 = secondary\n",
        "# bounds = [0, HIGHEST]   # to declare",
        "# those of the codebook are not legal bounds (5, 1)",
        "# Dates cannot be declared",
        "# name = \"mean age by region\"\n",
    ] {
        let part = part.trim_start_matches("# those");
        assert!(study.text.contains(part), "{part}\n{}", study.text);
    }
    // A schema alone, and in a resource, says the same.
    let package: serde_json::Value = serde_json::from_str(FRICTIONLESS).unwrap();
    let resource = &package["resources"][1];
    for alone in [resource, &resource["schema"]] {
        assert_eq!(begun(line, Some(&alone.to_string())), study);
    }
}

#[test]
fn declarations_come_from_csvw_metadata() {
    let line = "Age,children,Region,insured,code,interviewed,income\n";
    let study = begun(line, Some(CSVW));
    assert_declared(
        &study,
        &[
            ("Age", "bounds = [0, 120]\nmissing_codes = [\"NA\", -1]"),
            ("children", "bounds = [0, 20]\nmissing_codes = [99]"),
            (
                "Region",
                "categories = [\"north\", \"south west\"]\nmissing_codes = [\"NA\", \"-1\"]",
            ),
            ("insured", "categories = [0, 1]\nmissing_codes = [\"NA\", -1]"),
        ],
    );
    assert!(study.text.contains("# Where they live\n"), "{}", study.text);
    assert_eq!(study.warnings, Vec::<String>::new());
}

#[test]
fn declarations_come_from_a_ddi_codebook() {
    let study = begun("age,sex,trust,region,income\n", Some(DDI));
    assert_declared(
        &study,
        &[
            ("age", "bounds = [18, 99]\nmissing_codes = [-1, 997, 998, 999]"),
            ("sex", "categories = [1, 2]\nmissing_codes = [9]"),
            ("trust", "bounds = [0, 10]"),
            ("region", "categories = [\"01\", \"02\"]"),
        ],
    );
    for part in [
        "# Age at interview\n",
        "# 1 = male, 2 = female\n",
        "# Note: some of its numbers have labels: 0 = none at all, 10 = complete\n",
        "# Note: values from any to -1 stand for missing ones",
        "# bounds = [LOWEST, HIGHEST]",
        "(sumStat, catStat) are computed from the data and were not used",
    ] {
        assert!(study.text.contains(part), "{part}\n{}", study.text);
    }
}

/// Whatever a DDI codebook says of the data, the study is the same.
#[test]
fn statistics_of_the_data_in_a_codebook_change_nothing() {
    let line = "age,sex,trust,region,income\n";
    let study = begun(line, Some(DDI));
    let mut without = String::new();
    let mut rest = DDI;
    while let Some(start) = rest.find("<sumStat").into_iter().chain(rest.find("<catStat")).min() {
        without.push_str(&rest[..start]);
        let end = rest[start..].find("Stat>").unwrap() + start + "Stat>".len();
        rest = &rest[end..];
    }
    without.push_str(rest);
    assert!(!without.contains("<sumStat") && !without.contains("<catStat"));
    assert_eq!(begun(line, Some(&without)), study);
    let other = DDI.replace(">19<", ">-5<").replace(">98765<", ">7<").replace(">5127<", ">0<");
    assert_ne!(other, DDI);
    assert_eq!(begun(line, Some(&other)), study);
    for value in ["44.25", "5127", "6873", "98765", "19", "87"] {
        let is_number =
            |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit() && c != '.') == value;
        assert!(!study.text.split_whitespace().any(is_number), "{value}\n{}", study.text);
    }
}

#[test]
fn columns_that_only_one_side_has_are_warned_about() {
    let study = begun("age,sex,extra,\"more, still\"\n", Some(DDI));
    assert_eq!(
        study.warnings,
        [
            "book describes columns that the data file does not have: \"trust\", \"region\", \"income\"",
            "book does not describe these columns of the data file: \"extra\", \"more, still\"",
        ]
    );
    let line: Vec<String> = (0..30).map(|index| format!("c{index}")).collect();
    let study = begun(&line.join(","), Some(DDI));
    assert!(study.warnings[1].ends_with("\"c9\" and 20 more"), "{:?}", study.warnings);
}

#[test]
fn names_that_are_not_legal_get_others_that_are() {
    let study = begun("Age,age,AGE,q 1,q_1,Q-1,2nd name,größe,\"a\"\"b\\c\",\u{7f}\u{7}x\n", None);
    let names: Vec<&str> =
        study.text.lines().filter_map(|line| line.strip_prefix("# name = ")).take(10).collect();
    assert_eq!(
        names,
        [
            "\"Age\"",
            "\"age_2\"",
            "\"age_3\"",
            "\"q_1_2\"",
            "\"q_1\"",
            "\"q_1_3\"",
            "\"column_2nd_name\"",
            "\"gr_e\"",
            "\"a_b_c\"",
            "\"x\""
        ]
    );
    let from: Vec<&str> =
        study.text.lines().filter_map(|line| line.strip_prefix("# from = ")).collect();
    assert_eq!(
        from,
        [
            "\"age\"",
            "\"AGE\"",
            "\"q 1\"",
            "\"Q-1\"",
            "\"2nd name\"",
            "\"größe\"",
            "\"a\\\"b\\\\c\"",
            "\"\\u007F\\u0007x\""
        ]
    );
    assert_declared(&study, &[]);
}

#[test]
fn bad_headers_are_refused_in_one_line() {
    let cases: [(&[u8], &str); 14] = [
        (b"", "is empty; legal: a first line with the name of every column"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\nage\n", "has an empty first line"),
        (b"\r\nage\n", "has an empty first line"),
        (b"a,,b\n", "has no name for column 2; legal: a name for every column"),
        (b",a\n", "has no name for column 1"),
        (b"a,b,\n", "has no name for column 3"),
        (b"a,b,a\n", "has the name \"a\" for columns 1 and 3; legal: different names"),
        (b"a,b\xff\n", "has a name that is not UTF-8, of column 2; legal: UTF-8"),
        (b"\xff\xfea\0,\0", "has a name that is not UTF-8, of column 1"),
        (b"a,\"b\nsecret,1\n", "has a quote that is not closed in the name of column 2"),
        (b"a,\"b\" c\n", "has text behind a closing quote in the name of column 2"),
        (b"a;b;c\n", "has no comma in its first line"),
        (b"name,41,b\n", "has a number as the name of column 2; legal: a first line"),
    ];
    for (bytes, problem) in cases {
        let read = Header::read(DataFormat::Csv, Cursor::new(bytes));
        let error =
            read.and_then(|header| draft_study("x.csv", &header, None)).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{problem}: {error}");
        assert!(!error.contains("secret") && !error.contains("41"), "{error}");
    }
    let long = vec![b'x'; 2 << 20];
    let error = Header::read(DataFormat::Csv, Cursor::new(long)).unwrap_err().to_string();
    assert_eq!(error, "has a header of more than 1048576 bytes; legal: at most that");
}

#[test]
fn bad_codebooks_are_refused_in_one_line() {
    let deep = "<a>".repeat(100_000);
    let nested = "[".repeat(100_000);
    let object = format!("{{\"fields\": {nested}");
    let cases: [(&[u8], &str); 19] = [
        (b"", "is empty; legal: a Frictionless table schema"),
        (b"name,type\n", "is not a codebook"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"{\"a\": 1}", "is JSON, but not a codebook"),
        (b"{\"fields\": ", "is not legal JSON: EOF"),
        (object.as_bytes(), "is not legal JSON: recursion limit"),
        (b"{\"fields\": []}", "describes no column"),
        (b"{\"fields\": [{\"type\": \"integer\"}]}", "field 1 has no name"),
        (b"{\"fields\": [7]}", "field 1 has no name"),
        (b"{\"schema\": \"schema.json\"}", "has no list of fields"),
        (b"{\"resources\": []}", "has no resource with the path \"survey.csv\""),
        (b"{\"tables\": []}", "has no table with the url \"survey.csv\""),
        (b"{\"tableSchema\": \"x.json\"}", "has no list of columns"),
        (b"{\"tableSchema\": {\"columns\": [{}]}}", "column 1 has neither a name nor titles"),
        (b"<DDIInstance xmlns=\"ddi:instance:3_3\"/>", "is DDI Lifecycle; legal: DDI Codebook"),
        (b"<html/>", "is XML with the root \"html\""),
        (b"<codeBook><var/></codeBook>", "variable 1 has no name"),
        (
            b"<codeBook><var name=\"a\"/><var name=\"a\"/></codeBook>",
            "describes the variable \"a\" twice",
        ),
        (deep.as_bytes(), "is not legal XML"),
    ];
    for (bytes, problem) in cases {
        let error = Codebook::parse(bytes, "survey.csv").unwrap_err().to_string();
        assert!(error.starts_with(problem), "{problem}: {error}");
        assert!(error.contains("legal: ") && !error.contains('\n'), "{error}");
    }
    let laughs = r#"<!DOCTYPE codeBook [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]><codeBook><var name="x"><labl>&d;</labl></var></codeBook>"#;
    let _ = Codebook::parse(laughs.as_bytes(), "survey.csv");
    let old = "<!DOCTYPE codeBook SYSTEM \"http://www.icpsr.umich.edu/DDI/Version1-2.dtd\"><codeBook><var name=\"x\"/></codeBook>";
    let old = Codebook::parse(old.as_bytes(), "survey.csv").unwrap();
    assert_eq!((old.format, old.columns.len()), (CodebookFormat::Ddi, 1));
}

/// A file that counts how far it is read.
struct Observed {
    bytes: Cursor<Vec<u8>>,
    furthest: u64,
}

impl Read for Observed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.furthest = self.furthest.max(self.bytes.position());
        Ok(count)
    }
}

impl Seek for Observed {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// Reads a header in front of some bytes: what comes of it, and how many bytes were read.
fn observed(format: DataFormat, first: &[u8], rest: &[u8]) -> (Result<Header, String>, u64) {
    let mut file = Observed { bytes: Cursor::new([first, rest].concat()), furthest: 0 };
    let header = Header::read(format, ByRef(&mut file)).map_err(|error| error.to_string());
    (header, file.furthest)
}

struct ByRef<'a>(&'a mut Observed);

impl Read for ByRef<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for ByRef<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// Whatever stands behind the header, it is not read and nothing depends on it; also where the header is wrong.
#[test]
fn nothing_behind_the_header_is_read() {
    let mut random = Random::new(38);
    let pieces: [&[u8]; 12] = [
        b"age",
        b"\"in,come\"",
        b"\"",
        b"\"\"",
        b",",
        b",",
        b" ",
        b"\xff",
        b"3",
        b"\xef\xbb\xbf",
        b"{\"a\": [1, \"}\"]",
        b"}",
    ];
    for round in 0..3000 {
        let (format, end): (_, &[u8]) = if random.once_in(3) {
            (DataFormat::JsonLines, b"\n")
        } else {
            (DataFormat::Csv, random.of(&[b"\n", b"\r"]))
        };
        let mut first: Vec<u8> = match round % 3 {
            0 if format == DataFormat::Csv => b"id,age,region".to_vec(),
            0 => b"{\"id\": 7, \"a\\\"ge\": {\"x\": \"}\"}}".to_vec(),
            _ => (0..random.between(1, 9)).flat_map(|_| random.of(&pieces).to_vec()).collect(),
        };
        first.extend(end);
        let mut rests = [Vec::new(), b"7,\"secret\",2\n\"".to_vec(), Vec::new()];
        rests[2] = (0..random.below(100)).map(|_| random.bits() as u8).collect();
        let found = rests.map(|rest| observed(format, &first, &rest));
        assert_eq!(found[0], found[1], "{first:?}");
        assert_eq!(found[0], found[2], "{first:?}");
        assert!(found[0].1 <= first.len() as u64, "{first:?}");
    }
}

/// A header of a hundred thousand columns is read in blocks: at most one reaches behind it, and nothing depends on that.
#[test]
fn headers_of_many_columns_are_read() {
    let line: Vec<String> = (0..100_000).map(|index| format!("c{index}")).collect();
    let first = line.join(",") + "\n";
    let (bare, _) = observed(DataFormat::Csv, first.as_bytes(), b"");
    let (header, furthest) = observed(DataFormat::Csv, first.as_bytes(), &vec![b'7'; 1 << 16]);
    assert_eq!(bare, header);
    assert!(furthest < first.len() as u64 + 4096, "{furthest}");
    let header = header.unwrap();
    assert_eq!(header.columns.len(), 100_000);
    let fields: Vec<serde_json::Value> = line
        .iter()
        .map(|name| serde_json::json!({"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}))
        .collect();
    let book = serde_json::json!({ "fields": fields }).to_string();
    let book = Codebook::parse(book.as_bytes(), "survey.csv").unwrap();
    let study = draft_study("survey.csv", &header, Some(("book", &book))).unwrap();
    assert!(study.text.contains("# The file has 100000 columns, and a study declares at most 500"));
    assert!(study.text.contains("\n# name = \"c99999\"\n# bounds = [0, 9]\n"));
}

#[test]
fn json_lines_give_the_keys_of_the_first_record() {
    let read = |text: &str| Header::read(DataFormat::JsonLines, Cursor::new(text.as_bytes()));
    let text = "\u{feff} {\"id\": 1, \"a\\u0067e\" : \"x,\\\"}\", \"list\":[{\"inner\": 2}, \"]\"], \"n\":null}\n{\"other\": 3}\n";
    let header = read(text).unwrap();
    let names: Vec<&str> = header.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["id", "age", "list", "n"]);
    let study = draft_study("x.jsonl", &header, None).unwrap();
    assert!(
        study.text.contains("the keys of the first record: they tell which fields that person has")
    );
    assert_eq!(study.warnings.len(), 1);
    for bad in [
        "[1]\n",
        "{\"a\": 1\n}",
        "{\"a\" 1}",
        "{a: 1}",
        "{\"a\": 1]}",
        "{\"a\": \"",
        "7",
        "\n",
        "{\"a\": 1, }",
    ] {
        let error = read(bad).unwrap_err().to_string();
        assert_eq!(
            error, "has no JSON object as its first line; legal: an object on each line",
            "{bad}"
        );
    }
    assert!(draft_study("x.jsonl", &read("{}").unwrap(), None).is_err());
}

/// A Parquet footer by hand, in Thrift's compact protocol.
mod parquet {
    fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    /// An element: physical type, repetition, name, children, converted type.
    pub(super) fn element(
        physical: Option<u64>,
        repetition: Option<u64>,
        name: &str,
        children: Option<u64>,
        converted: Option<u64>,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut last = 0;
        let mut whole = |bytes: &mut Vec<u8>, field: u8, value: Option<u64>| {
            if let Some(value) = value {
                bytes.push((field - last) << 4 | 5);
                bytes.extend(varint(value << 1));
                last = field;
            }
        };
        whole(&mut bytes, 1, physical);
        whole(&mut bytes, 3, repetition);
        let before = if repetition.is_some() { 3 } else { u8::from(physical.is_some()) };
        bytes.push((4 - before) << 4 | 8);
        bytes.extend(varint(name.len() as u64));
        bytes.extend(name.as_bytes());
        let mut last = 4;
        for (field, value) in [(5, children), (6, converted)] {
            if let Some(value) = value {
                bytes.push((field - last) << 4 | 5);
                bytes.extend(varint(value << 1));
                last = field;
            }
        }
        // A logical type, which is passed over: a union with one empty structure.
        bytes.extend([(10 - last) << 4 | 12, 0x1c, 0, 0]);
        bytes.push(0);
        bytes
    }

    /// A file with these elements, and with something behind the schema.
    pub(super) fn file(elements: &[Vec<u8>], behind: &[u8]) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19];
        let count = elements.len();
        if count < 15 {
            footer.push((count as u8) << 4 | 12);
        } else {
            footer.push(0xfc);
            footer.extend(varint(count as u64));
        }
        footer.extend(elements.concat());
        footer.extend(behind);
        let length = (footer.len() as u32).to_le_bytes();
        [b"PAR1secret values".as_slice(), &footer, &length, b"PAR1"].concat()
    }
}

#[test]
fn parquet_gives_the_columns_of_its_schema() {
    use parquet::{element, file};
    let elements = [
        element(None, None, "schema", Some(6), None),
        element(Some(2), Some(1), "id", None, None),
        element(Some(5), Some(1), "income", None, None),
        element(Some(6), Some(1), "region", None, Some(0)),
        element(None, Some(1), "list", Some(1), Some(3)),
        element(None, Some(2), "list", Some(1), None),
        element(Some(1), Some(1), "element", None, None),
        element(Some(0), Some(0), "insured", None, None),
        element(Some(1), Some(1), "born", None, Some(6)),
    ];
    // Behind the schema are the number of rows and statistics; here is nothing that could be read.
    let bytes = file(&elements, &[0xff; 64]);
    let header = Header::read(DataFormat::Parquet, Cursor::new(&bytes)).unwrap();
    let study = draft_study("x.parquet", &header, None).unwrap();
    let names: Vec<&str> =
        study.text.lines().filter_map(|line| line.strip_prefix("# name = ")).take(6).collect();
    assert_eq!(
        names,
        ["\"id\"", "\"income\"", "\"region\"", "\"list\"", "\"insured\"", "\"born\""]
    );
    for part in [
        "# Only the schema in its footer was read",
        "# name = \"income\"\n# bounds = [LOWEST, HIGHEST]   # to declare",
        "# name = \"region\"\n# categories = [\"FIRST\", \"SECOND\"]   # to declare",
        "# name = \"list\"\n# Lists and tables cannot be declared",
        "# name = \"born\"\n# Dates cannot be declared",
    ] {
        assert!(study.text.contains(part), "{part}\n{}", study.text);
    }
    // What is read of the footer ends with the schema.
    let schema_end = bytes.len() - 8 - 64;
    struct NotBehind(Cursor<Vec<u8>>, u64);
    impl Read for NotBehind {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let is_tail = self.0.position() + 8 == self.0.get_ref().len() as u64;
            let count = self.0.read(buffer)?;
            assert!(is_tail || self.0.position() <= self.1, "read to {}", self.0.position());
            Ok(count)
        }
    }
    impl Seek for NotBehind {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }
    let guarded = NotBehind(Cursor::new(bytes.clone()), schema_end as u64);
    assert_eq!(Header::read(DataFormat::Parquet, guarded).unwrap(), header);
    // Every file that is cut, and files of any bytes, are read or refused.
    let mut random = Random::new(7);
    for _ in 0..3000 {
        let mut broken = bytes.clone();
        for _ in 0..random.between(1, 4) {
            let place = random.below(broken.len() as u64) as usize;
            broken[place] = random.bits() as u8;
        }
        let _ = Header::read(DataFormat::Parquet, Cursor::new(broken));
    }
    for bad in [&b""[..], b"PAR1", b"12345678", &[0, 1, 0, 0, b'P', b'A', b'R', b'1']] {
        let error = Header::read(DataFormat::Parquet, Cursor::new(bad)).unwrap_err().to_string();
        assert!(error.starts_with("is not a Parquet file; legal: "), "{error}");
    }
    let error = Header::read(DataFormat::Parquet, Cursor::new(b"\0\0\0\0PARE")).unwrap_err();
    assert!(error.to_string().starts_with("has an encrypted footer"), "{error}");
}

/// Whatever a codebook says, what is written is legal TOML.
#[test]
fn odd_codebooks_make_legal_files() {
    let long = "x".repeat(300);
    let many: Vec<serde_json::Value> = (0..10_001).map(serde_json::Value::from).collect();
    let fields = serde_json::json!([
        {"name": "a", "type": "integer", "constraints": {"minimum": -1e17, "maximum": 12345.678}, "title": "tab\tbell\u{7}\u{2028}end"},
        {"name": "b", "type": "string", "constraints": {"enum": ["\u{7}", "\n"]}},
        {"name": "c", "type": "string", "constraints": {"enum": [long]}},
        {"name": "d", "type": "integer", "constraints": {"enum": many}},
        {"name": "e", "type": "integer", "constraints": {"enum": []}},
        {"name": "f", "type": "integer", "constraints": {"minimum": 3, "maximum": 3}},
        {"name": "g", "type": "integer", "constraints": {"enum": [1, 1, 2, 99999999999999999999_u128 as f64]}},
        {"name": "h", "type": "integer", "constraints": {"minimum": "nan", "maximum": "inf"}},
        {"name": "i", "type": 7, "constraints": [], "missingValues": {"a": 1}},
        {"name": "j", "type": "number", "constraints": {"enum": [null, {}, []]}, "missingValues": ["-99.5", "\u{1}", "1e400"]},
    ]);
    let book = serde_json::json!({ "fields": fields }).to_string();
    let study = begun("a,b,c,d,e,f,g,h,i,j\n", Some(&book));
    let declared = declared(&study);
    assert!(study.text.contains("\nbounds = [-1e17, 12345.678]\n"), "{}", study.text);
    assert!(declared.contains_key("a") && declared.contains_key("g"), "{}", study.text);
    for name in ["b", "c", "d", "e", "h", "i", "j"] {
        assert!(!declared.contains_key(name), "{name}\n{}", study.text);
    }
}
