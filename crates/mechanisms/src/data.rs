//! Data with their neighbouring relation, which the owner declares once.

use crate::error::Error;
use counterpoint::{Adjacency, Relation};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// One or several columns of numbers with the neighbouring relation that protects them. Every query about the data is
/// scaled and charged for this relation; no query can state another.
///
/// Cloning is cheap.
#[derive(Clone)]
pub struct Data {
    relation: Relation,
    /// The part of the data set that these data are, if any.
    part: Option<Arc<str>>,
    /// At least one column, all of the same length.
    columns: Vec<Arc<[f64]>>,
}

/// Prints neither the numbers nor how many there are, since output may end up in a log.
impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data").field("relation", &self.relation).finish_non_exhaustive()
    }
}

/// The identity of the person whom a record belongs to. Equal values are the same person.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Person<'a> {
    /// A number.
    Number(u64),
    /// A name.
    Text(&'a str),
    /// Any other identifier.
    Bytes(&'a [u8]),
}

impl Data {
    /// One column of numbers. **The owner vouches** that nobody has more of these records than the relation allows, and
    /// that everybody has exactly one where the relation replaces one record by one.
    #[must_use]
    pub fn new(relation: Relation, values: impl Into<Arc<[f64]>>) -> Self {
        Self { relation, part: None, columns: vec![values.into()] }
    }

    /// Several columns, each of which has a number for each record. **The owner vouches** for the same facts about
    /// records as in [`Data::new`].
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a column, and all columns have the same length.
    pub fn table<C: Into<Arc<[f64]>>>(
        relation: Relation,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Self, Error> {
        let columns: Vec<Arc<[f64]>> = columns.into_iter().map(Into::into).collect();
        let (what, legal) = ("a table's list of columns", "at least one");
        let first = columns.first().ok_or(Error::Length { what, length: 0, legal })?;
        let (what, legal) = ("a column", "as many as the others");
        match columns.iter().find(|column| column.len() != first.len()) {
            Some(other) => Err(Error::Length { what, length: other.len(), legal }),
            None => Ok(Self { relation, part: None, columns }),
        }
    }

    /// Declares that the data are one part of the data set: queries are charged as releases about that part. **The
    /// owner vouches** that nobody with records here has records in another part.
    ///
    /// # Errors
    /// [`Error::Part`] if the relation replaces people. The replacement may be in another part, so that neighbours
    /// would differ in a part's number of records, and in two parts at once.
    pub fn about(self, part: &str) -> Result<Self, Error> {
        match self.relation.adjacency() {
            Adjacency::AddRemove => Ok(Self { part: Some(part.into()), ..self }),
            Adjacency::Replace => Err(Error::Part { part: part.to_owned(), data: self.relation }),
        }
    }

    /// The part of the data set that these data are, if any.
    #[must_use]
    pub fn part(&self) -> Option<&Arc<str>> {
        self.part.as_ref()
    }

    /// The columns of a table that names the person of each row. If a person has more rows than the relation allows,
    /// only the allowed number is used: those with the smallest HMACs under the key of the person, the row, and the
    /// row's index among equal rows. The choice depends on that person's own rows only, not on their order, and is the
    /// same for all columns.
    ///
    /// The owner keeps the key secret: a person who knows the key could influence which of their rows are used. Privacy
    /// does not rest on the key.
    ///
    /// ```
    /// use counterpoint::{Adjacency, Relation};
    /// use counterpoint_mechanisms::{Bounds, Data, Query};
    ///
    /// let customers = ["ann", "bob", "ann", "cleo", "ann"];
    /// let (prices, weights) = ([3.0, 8.5, 2.0, 4.0, 99.0], [1.0, 0.5, 2.0, 2.0, 9.0]);
    /// let relation = Relation::new(Adjacency::AddRemove, 2)?;
    /// let key = counterpoint_mechanisms::secret()?; // once, and kept
    /// let columns = Data::of_people(relation, customers, &[&prices, &weights], &key)?;
    /// let total = Query::sum(Bounds::new(0.0, 10.0)?).laplace(0.5)?.under(relation)?;
    /// println!("{:?}", total.run(&columns[0])?); // of two of Ann's purchases
    /// # Ok::<(), counterpoint_mechanisms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] unless each column has as many rows as there are names of people.
    pub fn of_people<'a>(
        relation: Relation,
        people: impl IntoIterator<Item = impl Into<Person<'a>>>,
        columns: &[&[f64]],
        key: &[u8; 32],
    ) -> Result<Vec<Self>, Error> {
        let used = used_of_people(relation, people, columns, key)?;
        Ok(used.into_iter().map(|values| Self::new(relation, values)).collect())
    }

    /// As [`Data::of_people`], as one [`Data::table`] of all columns, for queries about several columns.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a column, and each has as many rows as there are names of people.
    pub fn table_of_people<'a>(
        relation: Relation,
        people: impl IntoIterator<Item = impl Into<Person<'a>>>,
        columns: &[&[f64]],
        key: &[u8; 32],
    ) -> Result<Self, Error> {
        Self::table(relation, used_of_people(relation, people, columns, key)?)
    }

    /// The neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn columns(&self) -> &[Arc<[f64]>] {
        &self.columns
    }

    /// The number of records.
    pub(crate) fn rows(&self) -> usize {
        self.values().len()
    }

    /// The first column, which is the only one unless these data are a table.
    pub(crate) fn values(&self) -> &[f64] {
        self.columns.first().map_or(&[], |column| column)
    }

    /// Returns an error unless the relation of a measurement is that of the data.
    pub(crate) fn check_relation(&self, made: Relation) -> Result<(), Error> {
        same(made, self.relation)
    }

    /// The same numbers under another relation, for attacks.
    #[cfg(test)]
    pub(crate) fn with_relation(self, relation: Relation) -> Self {
        Self { relation, ..self }
    }

    /// Returns an error unless the data have this number of columns. Nothing else about the data is read.
    pub(crate) fn check_columns(&self, asked: usize) -> Result<(), Error> {
        let data = self.width();
        if asked == data { Ok(()) } else { Err(Error::Columns { asked, data }) }
    }

    /// Returns an error unless both can be columns of one table.
    pub(crate) fn check_alignment(&self, other: &Self) -> Result<(), Error> {
        same(other.relation, self.relation)?;
        if self.rows() == other.rows() {
            return Ok(());
        }
        let (what, legal) = ("a column", "as many as the others");
        Err(Error::Length { what, length: self.rows(), legal })
    }
}

/// The used rows of each column.
fn used_of_people<'a>(
    relation: Relation,
    people: impl IntoIterator<Item = impl Into<Person<'a>>>,
    columns: &[&[f64]],
    key: &[u8; 32],
) -> Result<Vec<Vec<f64>>, Error> {
    let mut rows: Vec<(Person<'a>, usize)> =
        people.into_iter().enumerate().map(|(row, person)| (person.into(), row)).collect();
    if let Some(other) = columns.iter().find(|column| column.len() != rows.len()) {
        let (what, legal) = ("a column", "as many as there are people named, row by row");
        return Err(Error::Length { what, length: other.len(), legal });
    }
    let order = RowOrder::new(columns, key)?;
    rows.sort_unstable();
    let own = rows.chunk_by(|one, other| one.0 == other.0);
    let mut kept: Vec<usize> =
        own.flat_map(|own| order.first(own, relation.records() as usize)).collect();
    kept.sort_unstable();
    let used = |values: &&[f64]| kept.iter().filter_map(|&row| values.get(row).copied()).collect();
    Ok(columns.iter().map(used).collect())
}

/// Returns an [`Error::Relation`] unless both relations are equal.
pub(crate) fn same(made: Relation, data: Relation) -> Result<(), Error> {
    if made == data { Ok(()) } else { Err(Error::Relation { made, data }) }
}

/// The pseudorandom order of a person's rows, of which the first are used.
struct RowOrder<'a> {
    columns: &'a [&'a [f64]],
    keyed: Hmac<Sha256>,
}

impl<'a> RowOrder<'a> {
    fn new(columns: &'a [&'a [f64]], key: &[u8; 32]) -> Result<Self, Error> {
        let (what, length, legal) = ("the key", key.len(), "32 bytes");
        let keyed = Hmac::new_from_slice(key).map_err(|_| Error::Length { what, length, legal })?;
        Ok(Self { columns, keyed })
    }

    /// The content of a row as bits.
    fn row(&self, row: usize) -> impl Iterator<Item = u64> {
        self.columns.iter().map(move |column| column.get(row).map_or(0, |x| x.to_bits()))
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        self.row(one).cmp(self.row(other))
    }

    /// A person's first rows, at most `most`.
    fn first(&self, own: &[(Person<'_>, usize)], most: usize) -> Vec<usize> {
        let mut rows: Vec<usize> = own.iter().map(|(_, row)| *row).collect();
        let Some(&(person, _)) = own.first().filter(|_| own.len() > most) else { return rows };
        // Equal rows are numbered, so that each has its own place in the order. Which of them has which number does not
        // matter.
        rows.sort_unstable_by(|&one, &other| self.compare(one, other));
        let equal = rows.chunk_by(|&one, &other| self.compare(one, other).is_eq());
        let mut placed: Vec<([u8; 32], usize)> = equal
            .flat_map(|equal| (0_u64..).zip(equal))
            .map(|(copy, &row)| (self.place(person, copy, row), row))
            .collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().take(most).map(|(_, row)| row).collect()
    }

    /// The HMAC of a row's identity. Different people, rows and copies give different input, as every component has a
    /// fixed length or is preceded by its length.
    fn place(&self, person: Person<'_>, copy: u64, row: usize) -> [u8; 32] {
        let mut hash = self.keyed.clone();
        person.feed(&mut hash);
        hash.update(&copy.to_be_bytes());
        self.row(row).for_each(|bits| hash.update(&bits.to_be_bytes()));
        hash.finalize().into_bytes().into()
    }
}

impl Person<'_> {
    /// Feeds the identity to a hash, such that different people give different input whatever follows.
    pub(crate) fn feed(self, hash: &mut Hmac<Sha256>) {
        let number = match self {
            Self::Number(number) => number.to_be_bytes(),
            _ => [0; 8],
        };
        let (kind, bytes) = match self {
            Self::Number(_) => (0, number.as_slice()),
            Self::Text(text) => (1, text.as_bytes()),
            Self::Bytes(bytes) => (2, bytes),
        };
        hash.update(&[kind]);
        hash.update(&(bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    }
}

impl From<u64> for Person<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&u64> for Person<'_> {
    fn from(number: &u64) -> Self {
        Self::Number(*number)
    }
}

impl<'a> From<&'a str> for Person<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Person<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Person<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}
