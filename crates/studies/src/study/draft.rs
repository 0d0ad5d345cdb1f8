//! Drafts of studies: a study file with every column of a data file, and comments that say what must be declared.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use counterpoint_questions::public::{
    ColumnText, Key, LEGAL_NAME, MOST_COLUMNS, Table, TableText, is_name,
};
use counterpoint_wire::document::{finite_number, open_file, quoted, whole_number};
use counterpoint_wire::{
    Category, Codebook, CodebookColumn, CodebookFormat, ColumnContent, DataFormat, Header,
    PlanError,
};

/// The longest codebook, in bytes.
const MOST_BYTES: u64 = 1 << 28;
/// The number of characters of a label that are shown.
const LONGEST: usize = 200;

/// A study file that a person must complete.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyDraft {
    /// The study file, as TOML.
    pub text: String,
    /// Warnings for the person who completes it, a line each.
    pub warnings: Vec<String>,
}

/// Drafts a study of a data file, of which only the header is read. Declarations are taken from the codebook, if there
/// is one.
///
/// # Errors
/// [`PlanError`], one line that names the file, the problem and the legal contents.
pub fn draft_study_of_files(data: &str, codebook: Option<&str>) -> Result<StudyDraft, PlanError> {
    let within = |path: &str| {
        let path = path.to_owned();
        move |error: PlanError| PlanError::plan(format!("{path}: {error}"))
    };
    let path = Path::new(data);
    let format = DataFormat::from_path(path).map_err(within(data))?;
    let file = open_file(path).map_err(within(data))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(data);
    let read = |codebook: &str| read_codebook(codebook, name).map_err(within(codebook));
    let described = codebook.map(read).transpose()?;
    let header = match &described {
        // The keys of the first record reveal something about one person; the names in a codebook do not.
        Some(described) if format == DataFormat::JsonLines => named_by(described),
        _ => Header::read(format, file).map_err(within(data))?,
    };
    let described = codebook.zip(described.as_ref());
    draft_study(data, &header, described).map_err(within(data))
}

fn read_codebook(path: &str, data: &str) -> Result<Codebook, PlanError> {
    let mut bytes = Vec::new();
    let read = open_file(Path::new(path))?.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| PlanError::plan(format!("cannot be read: {error}; legal: a codebook")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(PlanError::plan(format!(
            "is longer than {MOST_BYTES} bytes; legal: at most that"
        )));
    }
    Codebook::parse(&bytes, data)
}

fn named_by(codebook: &Codebook) -> Header {
    let names = codebook.columns.iter().filter_map(|column| column.names.first());
    let columns = names.map(|name| (name.clone(), ColumnContent::Unknown)).collect();
    Header { format: DataFormat::JsonLines, columns }
}

/// Drafts a study of a header and a codebook, which comes with its file's name. `source` is the address of the data.
///
/// # Errors
/// [`PlanError`] if the names of the columns cannot be used, or do not look like names.
pub fn draft_study(
    source: &str,
    header: &Header,
    codebook: Option<(&str, &Codebook)>,
) -> Result<StudyDraft, PlanError> {
    let known = by_name(codebook.map(|(_, codebook)| codebook));
    check_names(header, &known)?;
    let drafts = drafts(header, &known);
    let is_long = drafts.len() > MOST_COLUMNS;
    let mut text = beginning(source, header.format, codebook);
    if is_long {
        let count = drafts.len();
        let _ = writeln!(
            text,
            "# The file has {count} columns, and a study declares at most {MOST_COLUMNS}: remove the # before those that it uses."
        );
    }
    for draft in &drafts {
        text.push('\n');
        text.push_str(&draft.text(is_long));
    }
    text.push_str(&examples(&drafts));
    Ok(StudyDraft { text, warnings: warnings(header, codebook, &known) })
}

type ColumnsByName<'a> = HashMap<&'a str, &'a CodebookColumn>;

fn by_name(codebook: Option<&Codebook>) -> ColumnsByName<'_> {
    let mut known = ColumnsByName::new();
    for column in codebook.iter().flat_map(|codebook| &codebook.columns) {
        for name in &column.names {
            known.entry(name).or_insert(column);
        }
    }
    known
}

/// Refuses names that are empty or equal, and a first line that seems to hold data. A name that looks like data is not
/// shown.
fn check_names(header: &Header, known: &ColumnsByName<'_>) -> Result<(), PlanError> {
    if header.columns.is_empty() {
        return Err(PlanError::plan("has no columns; legal: at least one"));
    }
    let mut places = HashMap::new();
    for (index, (name, _)) in header.columns.iter().enumerate() {
        let place = index + 1;
        if name.trim().is_empty() {
            let problem = format!("has no name for column {place}");
            return Err(PlanError::plan(format!("{problem}; legal: a name for every column")));
        }
        let may_be_data = header.format != DataFormat::Parquet && finite_number(name).is_some();
        if may_be_data && !known.contains_key(name.as_str()) {
            let problem = format!("has a number as the name of column {place}");
            let legal = "a first line with the names of the columns; a line with numbers is probably a person's record";
            return Err(PlanError::plan(format!("{problem}; legal: {legal}")));
        }
        if let Some(first) = places.insert(name, place) {
            let problem = format!("has the name {} for columns {first} and {place}", quoted(name));
            return Err(PlanError::plan(format!("{problem}; legal: different names")));
        }
    }
    Ok(())
}

fn warnings(
    header: &Header,
    codebook: Option<(&str, &Codebook)>,
    known: &ColumnsByName<'_>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some((name, codebook)) = codebook else {
        if header.format == DataFormat::JsonLines {
            warnings.push(format!("{FIRST_RECORD} A codebook (--codebook) avoids it."));
        }
        return warnings;
    };
    let names: HashSet<&str> = header.columns.iter().map(|(name, _)| name.as_str()).collect();
    let is_absent =
        |column: &&CodebookColumn| !column.names.iter().any(|name| names.contains(name.as_str()));
    let absent = codebook.columns.iter().filter(is_absent);
    let absent: Vec<&str> =
        absent.filter_map(|column| column.names.first()).map(String::as_str).collect();
    if !absent.is_empty() {
        warnings.push(format!(
            "{name} describes columns that the data file does not have: {}",
            listed(&absent)
        ));
    }
    let all = header.columns.iter().map(|(name, _)| name.as_str());
    let unknown: Vec<&str> = all.filter(|name| !known.contains_key(name)).collect();
    if !unknown.is_empty() {
        warnings.push(format!(
            "{name} does not describe these columns of the data file: {}",
            listed(&unknown)
        ));
    }
    warnings
}

/// Lists the first few names, and the number of further names.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 10;
    let few: Vec<String> = names.iter().take(MOST).map(|name| quoted(name)).collect();
    match names.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} and {more} more", few.join(", ")),
        _ => few.join(", "),
    }
}

const FIRST_RECORD: &str =
    "The names are the keys of the first record: they tell which fields that person has.";

fn beginning(source: &str, format: DataFormat, codebook: Option<(&str, &Codebook)>) -> String {
    let read = match (format, codebook) {
        (DataFormat::Csv, _) => {
            "Only its first line was read, for the names of its columns: no data value was read."
        }
        (DataFormat::JsonLines, Some(_)) => {
            "The names of its columns are from the codebook: the file was not read."
        }
        (DataFormat::JsonLines, None) => {
            "Only the keys of its first line were read, for the names of its columns: no data value was used."
        }
        (DataFormat::Parquet, _) => {
            "Only the schema in its footer was read, for its columns: no data value was read."
        }
    };
    let mut text = format!("# A study of {}, to be completed.\n# {read}\n", shown(source));
    if format == DataFormat::JsonLines && codebook.is_none() {
        let advice = "Compare them with the file's documentation before you publish anything.";
        let _ = writeln!(text, "# {FIRST_RECORD} {advice}");
    }
    if let Some((name, codebook)) = codebook {
        let kind = codebook.format.name();
        let _ = writeln!(
            text,
            "# Bounds, categories and missing codes are from {}, {kind}.",
            shown(name)
        );
        if codebook.format == CodebookFormat::Ddi {
            text.push_str(DDI);
        }
    }
    let _ = write!(text, "{BEGINNING}source = {}\n{DATA}", toml_text(source));
    text
}

const DDI: &str = "# Its summary statistics (sumStat, catStat) are computed from the data and were not used. Some programs write the
# ranges that they find in the data as valrng, too: check that the bounds below are those of the questionnaire.
";

const BEGINNING: &str = r#"#
# Choose bounds and categories without looking at the data, for instance from the questionnaire: the guarantee does not cover
# what such a look reveals. A number outside the bounds counts as the nearer bound. A value that is not declared (a text in a
# column of numbers, or a category that is not listed) stops the release, unless the column has others = "skip".

delta = 1e-6                  # well below 1 / the number of people
epsilon = 1.0                 # the privacy budget of everything that is published

[data]
"#;

const DATA: &str = r#"adjacency = "replace"         # hides what one person's data say; "add-remove" hides whether a person is in the data
# people = 12000              # the number of people, if it is public; without it, means need expected = the number of rows
# person = "COLUMN"           # the column that identifies people; without it each row is one person
# rows = 1                    # with person: at most this many rows of each person are used

# The columns. Declare those that statistics use, by bounds or by categories; the person's column needs neither.
# Further fields of a column: missing = "skip" (the default) leaves out rows without a value, and missing = 0 puts 0 in the place of
# each missing value; missing_codes = [-99, "NA"] lists values that mean "missing"; others = "skip" treats undeclared values as missing.
"#;

/// The draft of a column.
struct ColumnDraft<'a> {
    /// The column's name in the file.
    original: &'a str,
    /// The column's name in the study.
    name: String,
    holds: &'a ColumnContent,
    described: Option<&'a CodebookColumn>,
    /// The line that declares the content, if the content is known.
    declaration: Option<String>,
}

fn drafts<'a>(header: &'a Header, known: &ColumnsByName<'a>) -> Vec<ColumnDraft<'a>> {
    let mut taken = BTreeSet::new();
    let columns = header.columns.iter();
    let legal = columns.clone().filter(|(name, _)| is_name(name));
    // Of several names that differ in case alone, the first one is kept.
    let mut owners = HashMap::new();
    for (name, _) in legal {
        owners.entry(name.to_ascii_lowercase()).or_insert(name.as_str());
        taken.insert(name.to_ascii_lowercase());
    }
    columns
        .map(|(original, schema)| {
            let is_own = owners.get(&original.to_ascii_lowercase()) == Some(&original.as_str());
            let name = if is_own { original.clone() } else { renamed(original, &mut taken) };
            let described = known.get(original.as_str()).copied();
            let holds = match described {
                Some(column) if column.holds != ColumnContent::Unknown => &column.holds,
                _ => schema,
            };
            let declaration = declaration(&name, holds);
            ColumnDraft { original, name, holds, described, declaration }
        })
        .collect()
}

/// Returns a legal name that is not taken yet and resembles the original.
fn renamed(original: &str, taken: &mut BTreeSet<String>) -> String {
    let part = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let plain: String = original.trim().chars().map(part).collect();
    let words: Vec<&str> = plain.split('_').filter(|word| !word.is_empty()).collect();
    let mut base = words.join("_");
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base = format!("column_{base}");
    }
    base.truncate(50);
    let mut name = base.trim_end_matches('_').to_owned();
    let mut number = 1_u64;
    while !taken.insert(name.clone()) {
        number += 1;
        name = format!("{}_{number}", base.trim_end_matches('_'));
    }
    name
}

/// Returns the line that declares the content of a column, if the content is known and legal.
fn declaration(name: &str, holds: &ColumnContent) -> Option<String> {
    let (bounds, categories, line) = match holds {
        ColumnContent::Numbers { low: Some(low), high: Some(high) } => {
            let line = format!("bounds = [{}, {}]", toml_number(*low), toml_number(*high));
            (Some((*low, *high)), None, line)
        }
        ColumnContent::Categories(list) => {
            let keys: Vec<Key> = list.iter().map(|category| category.key.clone()).collect();
            let written: Vec<String> = keys.iter().map(toml_key).collect();
            (None, Some(keys), format!("categories = [{}]", written.join(", ")))
        }
        _ => return None,
    };
    let column = ColumnText { bounds, categories, ..ColumnText::named(name) };
    let table = TableText {
        name: "data".to_owned(),
        person: None,
        rows: 1,
        row_number: None,
        groups: None,
        adjacency: "replace".to_owned(),
        people: None,
        columns: vec![column],
    };
    Table::new(table).is_ok().then_some(line)
}

impl ColumnDraft<'_> {
    /// True if the column can be used without changes. A person must decide about a column that is renamed.
    fn is_declared(&self) -> bool {
        self.declaration.is_some() && self.name == self.original
    }

    /// Writes the column's part of the study, as a comment if the column is not declared.
    fn text(&self, is_comment: bool) -> String {
        let mut text = String::new();
        self.remarks(&mut text);
        let prefix = if self.is_declared() && !is_comment { "" } else { "# " };
        let _ = writeln!(text, "{prefix}[[data.column]]\n{prefix}name = {}", toml_text(&self.name));
        if self.name != self.original {
            let _ = writeln!(text, "{prefix}from = {}", toml_text(self.original));
        }
        match &self.declaration {
            Some(line) => drop(writeln!(text, "{prefix}{line}")),
            None => text.push_str(&wanted(self.holds)),
        }
        if let Some(codes) = self.missing_codes() {
            let _ = writeln!(text, "{prefix}missing_codes = [{codes}]");
        }
        text
    }

    /// Writes the remarks that a person should read before declaring the column.
    fn remarks(&self, text: &mut String) {
        if let Some(label) = self.described.and_then(|column| column.label.as_ref()) {
            let _ = writeln!(text, "# {}", shown(label));
        }
        if let ColumnContent::Categories(list) = self.holds
            && let Some(meanings) = meanings(list)
        {
            let _ = writeln!(text, "# {}", shown(&meanings));
        }
        if let Some(note) = self.described.and_then(|column| column.note.as_ref()) {
            let _ = writeln!(text, "# Note: {}", shown(note));
        }
        if self.name == self.original {
            return;
        }
        let original = shown(&toml_text(self.original));
        let problem = if is_name(self.original) {
            format!("The name {original} differs from another one in capitals alone")
        } else {
            format!("The name {original} is not legal in a study ({LEGAL_NAME})")
        };
        let _ = writeln!(
            text,
            "# {problem}. Rename the column in the file, or declare it under another name:"
        );
    }

    fn missing_codes(&self) -> Option<String> {
        let codes = &self.described?.missing;
        let are_numbers =
            matches!(self.holds, ColumnContent::Numbers { .. } | ColumnContent::Unknown);
        let are_whole = match self.holds {
            ColumnContent::Categories(list) => {
                list.iter().all(|category| matches!(category.key, Key::Whole(_)))
            }
            _ => are_numbers,
        };
        let code = |code: &String| match (whole_number(code), finite_number(code)) {
            (Some(whole), _) if are_whole => whole.to_string(),
            (_, Some(number)) if are_numbers => toml_number(number),
            _ => toml_text(code),
        };
        let codes: Vec<String> = codes.iter().map(code).collect();
        (!codes.is_empty()).then(|| codes.join(", "))
    }
}

/// The meanings of the categories, as far as they are known.
fn meanings(list: &[Category]) -> Option<String> {
    let meaning = |category: &Category| {
        let label = category.label.as_ref()?;
        (*label != category.key.to_string()).then(|| format!("{} = {label}", category.key))
    };
    let meanings: Vec<String> = list.iter().take(LONGEST).filter_map(meaning).collect();
    (!meanings.is_empty()).then(|| meanings.join(", "))
}

/// Comments that say what must be declared.
fn wanted(holds: &ColumnContent) -> String {
    let end = |end: &Option<f64>, word: &str| end.map_or(word.to_owned(), toml_number);
    const LISTED: &str =
        "# categories = [\"FIRST\", \"SECOND\"]   # to declare: every answer that is possible\n";
    match holds {
        ColumnContent::Numbers { low: Some(low), high: Some(high) } => format!(
            "# bounds = [LOWEST, HIGHEST]   # to declare: those of the codebook are not legal bounds ({}, {})\n",
            toml_number(*low),
            toml_number(*high)
        ),
        ColumnContent::Numbers { low, high } => format!(
            "# bounds = [{}, {}]   # to declare: the smallest and the largest value that count\n",
            end(low, "LOWEST"),
            end(high, "HIGHEST")
        ),
        ColumnContent::Categories(_) => format!(
            "# The codebook's list is not legal: 1 to 10000 different categories of up to 200 characters.\n{LISTED}"
        ),
        ColumnContent::Texts => LISTED.to_owned(),
        ColumnContent::Truths => {
            "# categories = [\"false\", \"true\"]   # to declare: as the file spells them\n"
                .to_owned()
        }
        ColumnContent::Dates => {
            "# Dates cannot be declared as they are. A column with the year, as a number, can.\n"
                .to_owned()
        }
        ColumnContent::Nested => {
            "# Lists and tables cannot be declared. A column of numbers or texts can.\n".to_owned()
        }
        ColumnContent::Unknown => format!(
            "# bounds = [LOWEST, HIGHEST]           # to declare if it holds numbers\n{}",
            LISTED.replace("to declare:", "to declare if it holds categories:")
        ),
    }
}

/// A few statistics, as comments.
fn examples(drafts: &[ColumnDraft<'_>]) -> String {
    let first = |is: fn(&ColumnContent) -> bool, other: &str| {
        let found = drafts.iter().find(|draft| draft.is_declared() && is(draft.holds));
        found.map_or(other.to_owned(), |draft| draft.name.clone())
    };
    let number = first(|holds| matches!(holds, ColumnContent::Numbers { .. }), "income");
    let group = first(|holds| matches!(holds, ColumnContent::Categories(_)), "region");
    format!(
        r#"
# The statistics. Remove the # and put your own in their place; `counterpoint plan` computes their errors.
# The kinds: count, proportion, sum, mean, variance, standard-deviation, quantiles, histogram, cdf, covariance, correlation, regression.

# [[statistic]]
# name = "people by {group}"
# kind = "histogram"
# column = "{group}"
# weight = 1                    # how much the accuracy of this statistic matters; or error = the requested half-width of the 95 % interval

# [[statistic]]
# name = "mean {number} by {group}"
# kind = "mean"
# column = "{number}"
# by = ["{group}"]
# where = "{number} IS NOT NULL"  # a condition, if only some rows count

# [[statistic]]
# name = "quartiles of {number}"
# kind = "quantiles"
# column = "{number}"
# shares = [0.25, 0.5, 0.75]
"#
    )
}

/// Writes a text for a comment: on one line, and cut if it is long.
fn shown(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}

/// Writes a text as TOML, on one line.
fn toml_text(text: &str) -> String {
    let mut written = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            c if c.is_control() => drop(write!(written, "\\u{:04X}", u32::from(c))),
            c => written.push(c),
        }
    }
    written.push('"');
    written
}

fn toml_key(key: &Key) -> String {
    match key {
        Key::Whole(whole) => whole.to_string(),
        Key::Text(text) => toml_text(text),
    }
}

/// Writes a number as TOML that is read as the same double: as a whole number if it is one.
fn toml_number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{number:.0}")
    } else {
        format!("{number:?}")
    }
}
