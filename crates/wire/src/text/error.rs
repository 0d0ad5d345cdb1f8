use std::fmt;

/// The error of a file that cannot be read: the place, the problem and the legal values, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanError {
    /// The number of the entry that the error is about, from 1: a release of a plan, or another kind of entry (`of`).
    pub index: Option<usize>,
    /// The kind of entry: release, statistic, or stage or system of a simulation.
    pub entry: &'static str,
    /// The name of the entry, if it has a name.
    pub name: Option<String>,
    /// The field that the error is about, if it is about one field.
    pub field: Option<String>,
    /// The problem and the legal values.
    pub problem: String,
}

impl PlanError {
    /// An error about the file as a whole.
    pub fn plan(problem: impl Into<String>) -> Self {
        Self {
            index: None,
            entry: "release",
            name: None,
            field: None,
            problem: one_line(&problem.into()),
        }
    }

    /// An error about a field. The reader of the entry adds the entry's number and name.
    pub fn field(field: &str, problem: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), ..Self::plan(problem) }
    }

    /// An error about a field, from a text that may begin with the name of the field.
    pub fn from_text(field: &str, text: &str) -> Self {
        match text.strip_prefix(field) {
            Some(problem) => Self::field(field, problem.trim_start()),
            None => Self::field(field, text),
        }
    }

    /// Adds the number and the name of a statistic of a study.
    pub fn in_statistic(self, index: usize, name: Option<&str>) -> Self {
        self.in_entry("statistic", index, name)
    }

    /// Adds the kind, the number and the name of an entry.
    pub fn in_entry(self, entry: &'static str, index: usize, name: Option<&str>) -> Self {
        Self { entry, ..self.in_release(index, name) }
    }

    /// Adds the number and the name of a release.
    pub fn in_release(self, index: usize, name: Option<&str>) -> Self {
        Self { index: Some(index), name: name.map(str::to_owned), ..self }
    }
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.index {
            write!(f, "{} {index}", self.entry)?;
            if let Some(name) = &self.name {
                write!(f, " ({})", quoted(name))?;
            }
            f.write_str(": ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "{} ", key(field))?;
        }
        f.write_str(&self.problem)
    }
}

/// Quotes text from a file for an error message: escaped, and cut if it is long.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}...", &text[..end]),
    }
}

/// Writes a key from a file for an error message: without quotes if it is an ordinary word.
fn key(text: &str) -> String {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=40).contains(&text.len()) && text.chars().all(ordinary) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Escapes control characters, line breaks included.
fn one_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    text.chars().fold(String::new(), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}
