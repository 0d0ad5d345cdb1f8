//! Pages of long lists: `?after=CURSOR&limit=N`.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::{IntoParams, ToSchema};

use super::caller::Authenticator;
use super::problem::{Problem, UNREADABLE};

/// The longest page.
const MAX_LIMIT: u64 = 10_000;
/// The length of a page by default.
const DEFAULT_LIMIT: u64 = 1000;
/// The number of characters of an illegal value that an error repeats.
const MAX_SHOWN: usize = 100;

/// A position in a list: responses return it as `next`, requests send it as `after`.
pub(super) trait Cursor: Clone + Default + ToSchema {
    /// Says which values are legal.
    const LEGAL: &'static str;

    /// Parses a cursor. The default cursor is before the first entry.
    fn read(text: &str) -> Option<Self>;
}

/// The number of a ledger entry or a token.
impl Cursor for u64 {
    const LEGAL: &'static str = "a whole number from 0 to 9223372036854775807";

    fn read(text: &str) -> Option<Self> {
        whole_number(text).filter(|number| i64::try_from(*number).is_ok())
    }
}

/// The key of a question.
impl Cursor for String {
    const LEGAL: &'static str = "1 to 200 letters, digits and . _ -";

    fn read(text: &str) -> Option<Self> {
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        ((1..=200).contains(&text.len()) && text.bytes().all(is_legal)).then(|| text.to_owned())
    }
}

/// The requested page of a list.
#[derive(Clone, Debug, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageRequest<C: Cursor> {
    /// The cursor after which the page begins: the `next` of the previous page. By default, the page is the first.
    #[param(required = false)]
    pub(super) after: C,
    /// The most entries of the page, up to 10000; 1000 by default.
    #[param(required = false, minimum = 1, maximum = 10_000)]
    limit: u64,
}

impl<C: Cursor> FromRequestParts<Authenticator> for PageRequest<C> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Authenticator) -> Result<Self, Problem> {
        Self::read(parts.uri.query().unwrap_or_default())
    }
}

impl<C: Cursor> PageRequest<C> {
    /// The first page.
    pub(super) fn first() -> Self {
        Self { after: C::default(), limit: DEFAULT_LIMIT }
    }

    fn read(query: &str) -> Result<Self, Problem> {
        let (mut after, mut limit) = (None, None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let is_new = match name {
                "after" => {
                    after.replace(parameter(name, value, C::LEGAL, C::read(value))?).is_none()
                }
                "limit" => {
                    let number =
                        whole_number(value).filter(|number| (1..=MAX_LIMIT).contains(number));
                    let number = parameter(name, value, "a whole number from 1 to 10000", number)?;
                    limit.replace(number).is_none()
                }
                _ => false,
            };
            if !is_new {
                let name: String = name.chars().take(MAX_SHOWN).collect();
                let legal = "legal: after and limit, each at most once";
                return Err(UNREADABLE
                    .problem(format!("parameter {name:?} is unknown or repeated; {legal}")));
            }
        }
        let first = Self::first();
        Ok(Self { after: after.unwrap_or(first.after), limit: limit.unwrap_or(first.limit) })
    }

    /// The number of entries to read: one more than the page has, to find out if another page follows.
    pub(super) fn read_limit(&self) -> u64 {
        self.limit + 1
    }

    /// Cuts the page from the entries that were read; also returns the `next` cursor if another page follows.
    pub(super) fn cut<T>(&self, mut read: Vec<T>, cursor: impl Fn(&T) -> C) -> (Vec<T>, Option<C>) {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if read.len() <= limit {
            return (read, None);
        }
        read.truncate(limit);
        let next = read.last().map(cursor);
        (read, next)
    }
}

/// Parses a whole number in digits.
fn whole_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Returns a parameter's value, or a problem that says what is legal.
fn parameter<T>(name: &str, value: &str, legal: &str, read: Option<T>) -> Result<T, Problem> {
    read.ok_or_else(|| {
        let value: String = value.chars().take(MAX_SHOWN).collect();
        UNREADABLE.problem(format!("{name} is {value:?}; legal: {legal}"))
    })
}

#[cfg(test)]
mod tests {
    use super::{Cursor, PageRequest, Problem};

    fn read<C: Cursor>(query: &str) -> Result<PageRequest<C>, Problem> {
        PageRequest::read(query)
    }

    #[test]
    fn parameters_have_defaults_and_ranges() {
        let page = |after: u64, limit| PageRequest { after, limit };
        for (query, expected) in [
            ("", page(0, 1000)),
            ("after=7", page(7, 1000)),
            ("limit=1&after=9223372036854775807", page(i64::MAX as u64, 1)),
            ("limit=10000", page(0, 10_000)),
        ] {
            assert_eq!(read(query).unwrap(), expected, "{query}");
        }
        assert_eq!(read::<String>("after=q-0a").unwrap().after, "q-0a");
        for (query, detail) in [
            ("limit=0", "limit is \"0\"; legal: a whole number from 1 to 10000"),
            ("limit=10001", "limit is \"10001\"; legal: a whole number from 1 to 10000"),
            ("limit=", "limit is \"\"; legal: a whole number from 1 to 10000"),
            ("limit", "limit is \"\"; legal: a whole number from 1 to 10000"),
            ("limit=+1", "limit is \"+1\"; legal: a whole number from 1 to 10000"),
            ("after=-1", "after is \"-1\"; legal: a whole number from 0 to 9223372036854775807"),
            (
                "after=9223372036854775808",
                "after is \"9223372036854775808\"; legal: a whole number from 0 to 9223372036854775807",
            ),
            (
                "after=1&after=1",
                "parameter \"after\" is unknown or repeated; legal: after and limit, each at most once",
            ),
            (
                "before=1",
                "parameter \"before\" is unknown or repeated; legal: after and limit, each at most once",
            ),
        ] {
            let problem = read::<u64>(query).unwrap_err();
            assert_eq!((problem.status, problem.detail.as_str()), (400, detail), "{query}");
        }
        for query in ["after=", "after=a%20b", &format!("after={}", "x".repeat(201))] {
            assert_eq!(read::<String>(query).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn a_page_names_the_next_if_one_follows() {
        let page = PageRequest { after: 0, limit: 2 };
        let cut = |read: &[u64]| page.cut(read.to_vec(), |number| *number);
        assert_eq!(page.read_limit(), 3);
        assert_eq!(cut(&[4, 6, 9]), (vec![4, 6], Some(6)));
        assert_eq!((cut(&[4, 6]), cut(&[])), ((vec![4, 6], None), (vec![], None)));
    }
}
