//! The statement: which rows are used, and what is added up over them.
//!
//! Several questions are asked in one by crossing the rows with the questions' numbers; what differs between them is a choice by
//! that number. A question alone has neither.

use super::writer::Writer;
use super::{Origin, PersonRows};
use crate::engine::sql::view::{PERSON, ROW};
use crate::engine::sql::{Statement, Value};
use crate::engine::tabulation::Tabulation;
use counterpoint_questions::public::Table;

/// A sum of units has so many bits in its lower part, where it is in two: so that none of 64 bits overflows.
pub(super) const LOWER_BITS: u32 = 21;

// Names of our own, which no declared column can have.
const ASKED: &str = "\"~asked\"";
const OF: &str = "\"~of\"";
const CELL: &str = "\"~cell\"";
const TOLD: &str = "\"~told\"";
const PLACE: &str = "\"~place\"";
const ORDER: &str = "\"~order\"";
const GROUP: &str = "\"~group\"";
const GROUP_RANK: &str = "\"~group rank\"";
const RANK_WITHIN: &str = "\"~rank within\"";
const RANK: &str = "\"~rank\"";

/// The names of what a row counts for in a question: units, then places.
fn names(question: &Tabulation) -> Vec<String> {
    let units = question.units().enumerate().map(|(number, _)| units(number));
    let places = (1..=question.counts.len()).map(place);
    units.chain(places).collect()
}

/// One pass through a table, for questions about it.
pub(super) struct Pass<'a> {
    pub questions: &'a [&'a Tabulation],
    pub table: &'a Table,
    pub origin: Origin<'a>,
}

impl Pass<'_> {
    /// For each group the number of rows, of people if any question wants it, and the sums of units; and for each of the
    /// columns how many rows there are between its places. Of several questions each row says first which it is of.
    pub(super) fn statement(&self) -> Option<Statement> {
        let mut writer =
            Writer { dialect: self.origin.dialect, table: self.table, values: Vec::new() };
        let units = self.units(&mut writer)?;
        let mut columns = vec!["COUNT(*)".to_owned()];
        if self.questions.iter().any(|asked| asked.counts_people()) {
            columns.push(self.people());
        }
        columns.extend(
            (0..self.most(|asked| asked.units().count())).flat_map(|number| self.summed(number)),
        );
        let rows = self.spread(&self.rows(&mut writer, &units));
        let keys = format!("{}{TOLD}, {CELL}, {PLACE}", self.asked());
        let sql = format!("SELECT {keys}, {} FROM {rows} GROUP BY {keys}", columns.join(", "));
        Some(Statement { sql, values: writer.values })
    }

    /// The most that a question has of something.
    fn most(&self, of: impl Fn(&Tabulation) -> usize) -> usize {
        self.questions.iter().map(|asked| of(asked)).max().unwrap_or_default()
    }

    /// The number of the question, before other keys; nothing where there is one alone.
    fn asked(&self) -> String {
        if self.questions.len() == 1 { String::new() } else { format!("{ASKED}, ") }
    }

    /// What is each question's own; 0 for those that have nothing.
    fn by_question(&self, texts: &[Option<String>]) -> String {
        if let [Some(one)] = texts {
            return one.clone();
        }
        let own =
            texts.iter().enumerate().filter_map(|(number, text)| Some((number, text.as_ref()?)));
        let cases: Vec<String> =
            own.map(|(number, text)| format!("WHEN {number} THEN {text}")).collect();
        let rest = if cases.len() < texts.len() { " ELSE 0" } else { "" };
        format!("CASE {ASKED} {}{rest} END", cases.join(" "))
    }

    /// The same for what every question has.
    fn by_each(&self, mut of: impl FnMut(&Tabulation) -> String) -> String {
        self.by_question(&self.questions.iter().map(|asked| Some(of(asked))).collect::<Vec<_>>())
    }

    /// What a row counts for, and what that is called.
    fn units(&self, writer: &mut Writer<'_>) -> Option<Vec<(String, String)>> {
        let mut list = Vec::new();
        for number in 0..self.most(|asked| asked.units().count()) {
            let mut texts = Vec::new();
            for asked in self.questions {
                let one = asked.units().nth(number);
                texts.push(match one {
                    Some(added) => Some(writer.units(added)?),
                    None => None,
                });
            }
            list.push((self.by_question(&texts), units(number)));
        }
        for number in 0..self.most(|asked| asked.counts.len()) {
            let texts = self.questions.iter();
            let texts = texts.map(|asked| Some(writer.place(asked.counts.get(number)?)));
            let texts: Vec<Option<String>> = texts.collect();
            list.push((self.by_question(&texts), place(number + 1)));
        }
        Some(list)
    }

    /// The sum of whole numbers, exactly: in one part or in two.
    fn summed(&self, number: usize) -> Vec<String> {
        let units = self.sums_alone(&units(number));
        match self.origin.dialect.summed {
            Some(summed) => vec![summed(&units)],
            None => {
                let lower = (1 << LOWER_BITS) - 1;
                vec![format!("SUM({units} >> {LOWER_BITS})"), format!("SUM({units} & {lower})")]
            }
        }
    }

    fn people(&self) -> String {
        match self.table.person() {
            Some(_) if self.origin.rows != PersonRows::One => {
                format!("COUNT(DISTINCT {})", self.sums_alone(PERSON))
            }
            _ => "COUNT(*)".to_owned(),
        }
    }

    /// A column where sums are told, and nothing where rows are counted.
    fn sums_alone(&self, column: &str) -> String {
        if self.most(|asked| asked.counts.len()) == 0 {
            return column.to_owned();
        }
        format!("CASE WHEN {TOLD} = 0 THEN {column} END")
    }

    /// The rows that are used, with their group and units: those that pass the filter and have a group and a person, and of each
    /// person no more than is allowed.
    ///
    /// Which ones are is decided by a keyed hash of the person, the group and the units, and where hashes are equal by those
    /// themselves: it depends on that person's own rows alone, and rows that are tied are the same to the question. Where the
    /// rows of each person are numbered, no two alike, they are those with the first numbers, whatever the filter.
    fn rows(&self, writer: &mut Writer<'_>, units: &[(String, String)]) -> String {
        let cell = self.by_each(|asked| writer.cell(asked.checked.groupings()));
        let mut chosen = format!("SELECT {}{cell} AS {CELL}", self.asked());
        for (text, name) in units {
            chosen += &format!(", {text} AS {name}");
        }
        let (from, filter) = (self.crossed(), self.filter(writer));
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
        let limits_groups = self.questions.iter().any(|asked| asked.limits_groups());
        if self.origin.rows == PersonRows::One || numbered && !limits_groups {
            return format!("(SELECT * FROM {chosen} AS chosen WHERE {known}) AS used");
        }
        let order = self.by_each(|asked| {
            let names = names(asked);
            let names: Vec<&str> =
                [CELL].into_iter().chain(names.iter().map(String::as_str)).collect();
            self.hash(writer, &names)
        });
        let rows = format!("(SELECT *, {order} AS {ORDER} FROM {chosen} AS chosen WHERE {known})");
        let names = units.iter().map(|(_, name)| name.as_str());
        let order: Vec<&str> = [ORDER, CELL].into_iter().chain(names).collect();
        self.bounded(writer, &rows, &order.join(", "))
    }

    /// Every row once for each question.
    fn crossed(&self) -> String {
        if self.questions.len() == 1 {
            return self.origin.from.to_owned();
        }
        let more = (1..self.questions.len()).map(|number| format!(" UNION ALL SELECT {number}"));
        let more: String = more.collect();
        format!("{} CROSS JOIN (SELECT 0 AS {ASKED}{more}) AS asked", self.origin.from)
    }

    fn filter(&self, writer: &mut Writer<'_>) -> String {
        if self.questions.iter().all(|asked| asked.checked.filter().is_none()) {
            return String::new();
        }
        let filter = self.by_each(|asked| match asked.checked.filter() {
            Some(filter) => writer.condition(filter),
            None => "(1 = 1)".to_owned(),
        });
        format!(" WHERE {filter}")
    }

    /// A keyed hash of whole numbers and the person.
    fn hash(&self, writer: &mut Writer<'_>, numbers: &[&str]) -> String {
        let key = writer.value(Value::Whole(self.origin.key.get()));
        (self.origin.dialect.hash)(&key, numbers, PERSON)
    }

    /// Of each person no more rows than are allowed.
    fn bounded(&self, writer: &mut Writer<'_>, rows: &str, order: &str) -> String {
        let (mut rows, asked) = (rows.to_owned(), self.asked());
        if self.questions.iter().any(|asked| asked.limits_groups()) {
            let group = self.hash(writer, &[CELL]);
            rows = format!(
                "(SELECT *, DENSE_RANK() OVER (PARTITION BY {asked}{PERSON} ORDER BY {GROUP}, {CELL}) AS {GROUP_RANK}, \
                 ROW_NUMBER() OVER (PARTITION BY {asked}{PERSON}, {CELL} ORDER BY {order}) AS {RANK_WITHIN} \
                 FROM (SELECT *, {group} AS {GROUP} FROM {rows} AS known) AS placed)"
            );
            // Where nothing is said of groups, any number will do.
            let limit = |of: fn(&Tabulation) -> u64| {
                self.by_each(|asked| {
                    if asked.limits_groups() { of(asked).to_string() } else { i64::MAX.to_string() }
                })
            };
            let groups = limit(|asked| asked.checked.contribution().1);
            let each = limit(|asked| asked.checked.contribution().2);
            rows = format!(
                "(SELECT * FROM {rows} AS ranked WHERE {GROUP_RANK} <= {groups} AND {RANK_WITHIN} <= {each})"
            );
        }
        let most = self.most_rows();
        format!(
            "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {asked}{PERSON} ORDER BY {order}) AS {RANK} \
             FROM {rows} AS grouped) AS ordered WHERE {RANK} <= {most}) AS used"
        )
    }

    /// How many rows a person may contribute.
    fn most_rows(&self) -> String {
        self.by_each(|asked| asked.checked.contribution().0.to_string())
    }

    /// Every row once for the sums, and once for each column whose places are counted.
    fn spread(&self, rows: &str) -> String {
        let most = self.most(|asked| asked.counts.len());
        if most == 0 {
            return format!("(SELECT *, 0 AS {TOLD}, 0 AS {PLACE} FROM {rows}) AS spread");
        }
        let cases = (1..=most).map(|told| format!("WHEN {told} THEN {}", place(told)));
        let cases = cases.collect::<Vec<_>>().join(" ");
        let chosen = format!("SELECT *, CASE {TOLD} {cases} ELSE 0 END AS {PLACE} FROM {rows}");
        let told =
            self.questions.iter().enumerate().flat_map(|(number, asked)| {
                (0..=asked.counts.len()).map(move |told| (number, told))
            });
        if self.questions.len() == 1 {
            let told = told.map(|(_, told)| format!("SELECT {told} AS {TOLD}"));
            let told = told.collect::<Vec<_>>().join(" UNION ALL ");
            return format!("({chosen} CROSS JOIN ({told}) AS told) AS spread");
        }
        let told = told.map(|(number, told)| format!("SELECT {number} AS {OF}, {told} AS {TOLD}"));
        let told = told.collect::<Vec<_>>().join(" UNION ALL ");
        format!("({chosen} INNER JOIN ({told}) AS told ON {OF} = {ASKED}) AS spread")
    }
}

/// What a row counts for in the sum with this number.
fn units(number: usize) -> String {
    format!("\"~units {number}\"")
}

/// The place of a row in what is told under a number.
fn place(told: usize) -> String {
    format!("\"~place {told}\"")
}
