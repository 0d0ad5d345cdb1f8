//! Writes the statement: the choice of rows, and the sums over them.
//!
//! Several questions are asked in one statement by crossing the rows with the questions' indices. A CASE on the index
//! selects the expressions of each question. A single question needs neither.

use super::writer::Writer;
use super::{Origin, PersonRows};
use crate::engine::sql::view::{PERSON, ROW};
use crate::engine::sql::{SqlValue, Statement};
use crate::engine::tabulation::Tabulation;
use counterpoint_questions::public::Table;

/// The number of bits in the lower part of a sum that is returned in two parts, so that neither part overflows 64 bits.
pub(super) const LOWER_BITS: u32 = 21;

// Column names of the statement. No declared column can have such a name.
const QUESTION: &str = "\"~asked\"";
const QUESTION_OF_SERIES: &str = "\"~of\"";
const CELL: &str = "\"~cell\"";
const SERIES: &str = "\"~told\"";
const GAP: &str = "\"~place\"";
const ORDER: &str = "\"~order\"";
const GROUP: &str = "\"~group\"";
const GROUP_RANK: &str = "\"~group rank\"";
const RANK_WITHIN: &str = "\"~rank within\"";
const RANK: &str = "\"~rank\"";

/// The names of a row's units and gaps in a question.
fn names(question: &Tabulation) -> Vec<String> {
    let units = question.units().enumerate().map(|(number, _)| units(number));
    let gaps = (1..=question.counts.len()).map(gap);
    units.chain(gaps).collect()
}

/// One pass through a table for several questions.
pub(super) struct Pass<'a> {
    pub questions: &'a [&'a Tabulation],
    pub table: &'a Table,
    pub origin: Origin<'a>,
}

impl Pass<'_> {
    /// Writes the statement. For each group it returns the number of rows, the number of people if any question needs
    /// it, and the sums of units; for each binned column, the numbers of rows in the gaps. With several questions, each
    /// row starts with the question's index.
    pub(super) fn statement(&self) -> Option<Statement> {
        let mut writer =
            Writer { dialect: self.origin.dialect, table: self.table, values: Vec::new() };
        let units = self.units(&mut writer)?;
        let mut columns = vec!["COUNT(*)".to_owned()];
        if self.questions.iter().any(|question| question.counts_people()) {
            columns.push(self.people());
        }
        columns.extend(
            (0..self.most(|question| question.units().count()))
                .flat_map(|number| self.sum_columns(number)),
        );
        let rows = self.repeat_for_series(&self.rows(&mut writer, &units));
        let keys = format!("{}{SERIES}, {CELL}, {GAP}", self.question_key());
        let sql = format!("SELECT {keys}, {} FROM {rows} GROUP BY {keys}", columns.join(", "));
        Some(Statement { sql, values: writer.values })
    }

    /// The largest value of `of` over the questions.
    fn most(&self, of: impl Fn(&Tabulation) -> usize) -> usize {
        self.questions.iter().map(|question| of(question)).max().unwrap_or_default()
    }

    /// The column of the question's index, with a comma; empty if there is one question.
    fn question_key(&self) -> String {
        if self.questions.len() == 1 { String::new() } else { format!("{QUESTION}, ") }
    }

    /// An expression that selects each question's text; 0 for questions without one.
    fn by_question(&self, texts: &[Option<String>]) -> String {
        if let [Some(one)] = texts {
            return one.clone();
        }
        let own =
            texts.iter().enumerate().filter_map(|(number, text)| Some((number, text.as_ref()?)));
        let cases: Vec<String> =
            own.map(|(number, text)| format!("WHEN {number} THEN {text}")).collect();
        let rest = if cases.len() < texts.len() { " ELSE 0" } else { "" };
        format!("CASE {QUESTION} {}{rest} END", cases.join(" "))
    }

    /// An expression that selects the text that `of` returns for each question.
    fn by_each(&self, mut of: impl FnMut(&Tabulation) -> String) -> String {
        self.by_question(
            &self.questions.iter().map(|question| Some(of(question))).collect::<Vec<_>>(),
        )
    }

    /// The expressions for a row's units and gaps, with their column names.
    fn units(&self, writer: &mut Writer<'_>) -> Option<Vec<(String, String)>> {
        let mut list = Vec::new();
        for number in 0..self.most(|question| question.units().count()) {
            let mut texts = Vec::new();
            for question in self.questions {
                let one = question.units().nth(number);
                texts.push(match one {
                    Some(added) => Some(writer.units(added)?),
                    None => None,
                });
            }
            list.push((self.by_question(&texts), units(number)));
        }
        for number in 0..self.most(|question| question.counts.len()) {
            let texts = self.questions.iter();
            let texts = texts.map(|question| Some(writer.gap(question.counts.get(number)?)));
            let texts: Vec<Option<String>> = texts.collect();
            list.push((self.by_question(&texts), gap(number + 1)));
        }
        Some(list)
    }

    /// The exact sum of a column of whole numbers, in one part or in two.
    fn sum_columns(&self, number: usize) -> Vec<String> {
        let units = self.in_sum_series(&units(number));
        match self.origin.dialect.exact_sum {
            Some(exact_sum) => vec![exact_sum(&units)],
            None => {
                let lower = (1 << LOWER_BITS) - 1;
                vec![format!("SUM({units} >> {LOWER_BITS})"), format!("SUM({units} & {lower})")]
            }
        }
    }

    fn people(&self) -> String {
        match self.table.person() {
            Some(_) if self.origin.rows != PersonRows::One => {
                format!("COUNT(DISTINCT {})", self.in_sum_series(PERSON))
            }
            _ => "COUNT(*)".to_owned(),
        }
    }

    /// The column in series 0, which holds sums; NULL in the series that count rows.
    fn in_sum_series(&self, column: &str) -> String {
        if self.most(|question| question.counts.len()) == 0 {
            return column.to_owned();
        }
        format!("CASE WHEN {SERIES} = 0 THEN {column} END")
    }

    /// The rows that are used, with their group, units and gaps: rows that pass the filter, have a group and a person,
    /// and are within the limits for their person.
    ///
    /// A keyed hash of the person, the group and the units decides which rows of a person are used; rows with equal
    /// hashes are ordered by these values themselves. So the choice depends on that person's own rows alone, and rows
    /// that are still tied are equal for the question. If the rows of each person have distinct numbers, the rows with
    /// the lowest numbers are used, whatever the filter.
    fn rows(&self, writer: &mut Writer<'_>, units: &[(String, String)]) -> String {
        let cell = self.by_each(|question| writer.cell(question.checked.group_columns()));
        let mut chosen = format!("SELECT {}{cell} AS {CELL}", self.question_key());
        for (text, name) in units {
            chosen += &format!(", {text} AS {name}");
        }
        let (from, filter) = (self.repeat_for_questions(), self.filter(writer));
        if self.table.person().is_none() {
            let rows = format!("({chosen} FROM {from}{filter})");
            return format!("(SELECT * FROM {rows} AS chosen WHERE {CELL} IS NOT NULL) AS used");
        }
        let mut known = format!("{CELL} IS NOT NULL AND {PERSON} IS NOT NULL");
        let numbered = self.origin.rows == PersonRows::Numbered;
        if numbered {
            chosen += &format!(", {ROW}");
            known += &format!(" AND {ROW} BETWEEN 1 AND {}", self.most_rows());
        }
        let chosen = format!("({chosen}, {PERSON} FROM {from}{filter})");
        let limits_groups = self.questions.iter().any(|question| question.limits_groups());
        if self.origin.rows == PersonRows::One || numbered && !limits_groups {
            return format!("(SELECT * FROM {chosen} AS chosen WHERE {known}) AS used");
        }
        let order = self.by_each(|question| {
            let names = names(question);
            let names: Vec<&str> =
                [CELL].into_iter().chain(names.iter().map(String::as_str)).collect();
            self.hash(writer, &names)
        });
        let rows = format!("(SELECT *, {order} AS {ORDER} FROM {chosen} AS chosen WHERE {known})");
        let names = units.iter().map(|(_, name)| name.as_str());
        let order: Vec<&str> = [ORDER, CELL].into_iter().chain(names).collect();
        self.limit_rows(writer, &rows, &order.join(", "))
    }

    /// The table's rows, repeated for each question.
    fn repeat_for_questions(&self) -> String {
        if self.questions.len() == 1 {
            return self.origin.from.to_owned();
        }
        let more = (1..self.questions.len()).map(|number| format!(" UNION ALL SELECT {number}"));
        let more: String = more.collect();
        format!("{} CROSS JOIN (SELECT 0 AS {QUESTION}{more}) AS asked", self.origin.from)
    }

    fn filter(&self, writer: &mut Writer<'_>) -> String {
        if self.questions.iter().all(|question| question.checked.filter().is_none()) {
            return String::new();
        }
        let filter = self.by_each(|question| match question.checked.filter() {
            Some(filter) => writer.condition(filter),
            None => "(1 = 1)".to_owned(),
        });
        format!(" WHERE {filter}")
    }

    /// A keyed hash of whole numbers and the person.
    fn hash(&self, writer: &mut Writer<'_>, numbers: &[&str]) -> String {
        let key = writer.value(SqlValue::Whole(self.origin.key.get()));
        (self.origin.dialect.hash)(&key, numbers, PERSON)
    }

    /// Limits the rows of each person.
    fn limit_rows(&self, writer: &mut Writer<'_>, rows: &str, order: &str) -> String {
        let (mut rows, question) = (rows.to_owned(), self.question_key());
        if self.questions.iter().any(|question| question.limits_groups()) {
            let group = self.hash(writer, &[CELL]);
            rows = format!(
                "(SELECT *, DENSE_RANK() OVER (PARTITION BY {question}{PERSON} ORDER BY {GROUP}, {CELL}) AS {GROUP_RANK}, \
                 ROW_NUMBER() OVER (PARTITION BY {question}{PERSON}, {CELL} ORDER BY {order}) AS {RANK_WITHIN} \
                 FROM (SELECT *, {group} AS {GROUP} FROM {rows} AS known) AS placed)"
            );
            // Questions without limits on groups get the largest limit.
            let limit = |of: fn(&Tabulation) -> u64| {
                self.by_each(|question| {
                    if question.limits_groups() {
                        of(question).to_string()
                    } else {
                        i64::MAX.to_string()
                    }
                })
            };
            let groups = limit(|question| question.checked.contribution_limits().1);
            let each = limit(|question| question.checked.contribution_limits().2);
            rows = format!(
                "(SELECT * FROM {rows} AS ranked WHERE {GROUP_RANK} <= {groups} AND {RANK_WITHIN} <= {each})"
            );
        }
        let most = self.most_rows();
        format!(
            "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {question}{PERSON} ORDER BY {order}) AS {RANK} \
             FROM {rows} AS grouped) AS ordered WHERE {RANK} <= {most}) AS used"
        )
    }

    /// The largest number of rows that a person may contribute.
    fn most_rows(&self) -> String {
        self.by_each(|question| question.checked.contribution_limits().0.to_string())
    }

    /// Repeats every row: once for the sums, and once for each binned column.
    fn repeat_for_series(&self, rows: &str) -> String {
        let most = self.most(|question| question.counts.len());
        if most == 0 {
            return format!("(SELECT *, 0 AS {SERIES}, 0 AS {GAP} FROM {rows}) AS spread");
        }
        let cases = (1..=most).map(|series| format!("WHEN {series} THEN {}", gap(series)));
        let cases = cases.collect::<Vec<_>>().join(" ");
        let chosen = format!("SELECT *, CASE {SERIES} {cases} ELSE 0 END AS {GAP} FROM {rows}");
        let series = self.questions.iter().enumerate().flat_map(|(number, question)| {
            (0..=question.counts.len()).map(move |series| (number, series))
        });
        if self.questions.len() == 1 {
            let series = series.map(|(_, series)| format!("SELECT {series} AS {SERIES}"));
            let series = series.collect::<Vec<_>>().join(" UNION ALL ");
            return format!("({chosen} CROSS JOIN ({series}) AS told) AS spread");
        }
        let series = series.map(|(number, series)| {
            format!("SELECT {number} AS {QUESTION_OF_SERIES}, {series} AS {SERIES}")
        });
        let series = series.collect::<Vec<_>>().join(" UNION ALL ");
        format!(
            "({chosen} INNER JOIN ({series}) AS told ON {QUESTION_OF_SERIES} = {QUESTION}) AS spread"
        )
    }
}

/// The column name of a row's units in the sum with this index.
fn units(number: usize) -> String {
    format!("\"~units {number}\"")
}

/// The column name of a row's gap in a series.
fn gap(series: usize) -> String {
    format!("\"~place {series}\"")
}
