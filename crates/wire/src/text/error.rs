use std::fmt;

/// Why a plan could not be read: where, what, and what would be legal. Always
/// one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanError {
    /// The release it is about, counted from one, if it is about one; the statistic in a study.
    pub release: Option<usize>,
    /// What is counted: releases, statistics, or stages and systems of a simulation.
    pub of: &'static str,
    /// That release's name, if it has one and it is known.
    pub name: Option<String>,
    /// The field it is about, if it is about one.
    pub field: Option<String>,
    /// What is wrong, and what would be legal.
    pub problem: String,
}

impl PlanError {
    /// About the plan as a whole.
    pub(crate) fn plan(problem: impl Into<String>) -> Self {
        Self {
            release: None,
            of: "release",
            name: None,
            field: None,
            problem: one_line(&problem.into()),
        }
    }

    /// About a field; the release, if any, is added where it is known.
    pub(crate) fn field(field: &str, problem: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), ..Self::plan(problem) }
    }

    /// About the field a text begins with.
    pub(crate) fn starting(field: &str, text: &str) -> Self {
        match text.strip_prefix(field) {
            Some(problem) => Self::field(field, problem.trim_start()),
            None => Self::field(field, text),
        }
    }

    /// Places the error in a statistic of a study.
    pub(crate) fn in_statistic(self, index: usize, name: Option<&str>) -> Self {
        self.placed("statistic", index, name)
    }

    /// Places the error in one of something else.
    pub(crate) fn placed(self, of: &'static str, index: usize, name: Option<&str>) -> Self {
        Self { of, ..self.in_release(index, name) }
    }

    /// Places the error in a release.
    pub(crate) fn in_release(self, index: usize, name: Option<&str>) -> Self {
        Self { release: Some(index), name: name.map(str::to_owned), ..self }
    }
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.release {
            write!(f, "{} {index}", self.of)?;
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

/// Text from a file as it may be shown: quoted, escaped, and cut if long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}...", &text[..end]),
    }
}

/// A key from a file as it may be shown: bare if it is an ordinary word.
fn key(text: &str) -> String {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=40).contains(&text.len()) && text.chars().all(ordinary) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Control characters, line breaks among them, are escaped.
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
