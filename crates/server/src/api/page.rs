//! Pages of the lists that grow for ever: `?after=PLACE&limit=N`.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::{IntoParams, ToSchema};

use super::known::Gate;
use super::problem::{Problem, UNREADABLE};

/// The longest page.
const MOST: u64 = 10_000;
/// The longest page if the caller does not say.
const USUAL: u64 = 1000;
/// As much of a wrong value is told.
const MOST_TOLD: usize = 100;

/// A place in a list, which `next` tells and `after` takes.
pub(super) trait Place: Clone + Default + ToSchema {
    /// What is legal.
    const LEGAL: &'static str;

    /// Reads a place; the default is before the first.
    fn read(text: &str) -> Option<Self>;
}

/// The number of an entry of the ledger, or of a token.
impl Place for u64 {
    const LEGAL: &'static str = "a whole number from 0 to 9223372036854775807";

    fn read(text: &str) -> Option<Self> {
        whole(text).filter(|number| i64::try_from(*number).is_ok())
    }
}

/// The key of a question.
impl Place for String {
    const LEGAL: &'static str = "1 to 200 letters, digits and . _ -";

    fn read(text: &str) -> Option<Self> {
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        ((1..=200).contains(&text.len()) && text.bytes().all(is_legal)).then(|| text.to_owned())
    }
}

/// The part of a list that is asked for.
#[derive(Clone, Debug, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Page<P: Place> {
    /// The page begins after this place: the `next` of the page before. The first page if nothing is said.
    #[param(required = false)]
    pub(super) after: P,
    /// At most so many, up to 10000; 1000 if nothing is said.
    #[param(required = false, minimum = 1, maximum = 10_000)]
    limit: u64,
}

impl<P: Place> FromRequestParts<Gate> for Page<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Gate) -> Result<Self, Problem> {
        Self::read(parts.uri.query().unwrap_or_default())
    }
}

impl<P: Place> Page<P> {
    /// The first page.
    pub(super) fn first() -> Self {
        Self { after: P::default(), limit: USUAL }
    }

    fn read(query: &str) -> Result<Self, Problem> {
        let (mut after, mut limit) = (None, None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let is_new = match name {
                "after" => after.replace(legal(name, value, P::LEGAL, P::read(value))?).is_none(),
                "limit" => {
                    let number = whole(value).filter(|number| (1..=MOST).contains(number));
                    let number = legal(name, value, "a whole number from 1 to 10000", number)?;
                    limit.replace(number).is_none()
                }
                _ => false,
            };
            if !is_new {
                let name: String = name.chars().take(MOST_TOLD).collect();
                let legal = "legal: after and limit, each at most once";
                return Err(UNREADABLE.of(format!("parameter {name:?} is one too many; {legal}")));
            }
        }
        let first = Self::first();
        Ok(Self { after: after.unwrap_or(first.after), limit: limit.unwrap_or(first.limit) })
    }

    /// So many are read from the list: one more than the page has shows whether another page follows.
    pub(super) fn read_limit(&self) -> u64 {
        self.limit + 1
    }

    /// The page of what was read, and the place after which the next page begins if one follows.
    pub(super) fn cut<T>(&self, mut read: Vec<T>, place: impl Fn(&T) -> P) -> (Vec<T>, Option<P>) {
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if read.len() <= most {
            return (read, None);
        }
        read.truncate(most);
        let next = read.last().map(place);
        (read, next)
    }
}

/// A whole number in digits.
fn whole(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// A parameter's value, or what would be legal.
fn legal<T>(name: &str, value: &str, legal: &str, read: Option<T>) -> Result<T, Problem> {
    read.ok_or_else(|| {
        let value: String = value.chars().take(MOST_TOLD).collect();
        UNREADABLE.of(format!("{name} is {value:?}; legal: {legal}"))
    })
}

#[cfg(test)]
mod tests {
    use super::{Page, Place, Problem};

    fn read<P: Place>(query: &str) -> Result<Page<P>, Problem> {
        Page::read(query)
    }

    #[test]
    fn parameters_have_defaults_and_ranges() {
        let page = |after: u64, limit| Page { after, limit };
        for (query, expected) in [
            ("", page(0, 1000)),
            ("after=7", page(7, 1000)),
            ("limit=1&after=9223372036854775807", page(i64::MAX as u64, 1)),
            ("limit=10000", page(0, 10_000)),
        ] {
            assert_eq!(read(query).unwrap(), expected, "{query}");
        }
        assert_eq!(read::<String>("after=q-0a").unwrap().after, "q-0a");
        for (query, told) in [
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
                "parameter \"after\" is one too many; legal: after and limit, each at most once",
            ),
            (
                "before=1",
                "parameter \"before\" is one too many; legal: after and limit, each at most once",
            ),
        ] {
            let problem = read::<u64>(query).unwrap_err();
            assert_eq!((problem.status, problem.detail.as_str()), (400, told), "{query}");
        }
        for query in ["after=", "after=a%20b", &format!("after={}", "x".repeat(201))] {
            assert_eq!(read::<String>(query).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn a_page_names_the_next_if_one_follows() {
        let page = Page { after: 0, limit: 2 };
        let cut = |read: &[u64]| page.cut(read.to_vec(), |number| *number);
        assert_eq!(page.read_limit(), 3);
        assert_eq!(cut(&[4, 6, 9]), (vec![4, 6], Some(6)));
        assert_eq!((cut(&[4, 6]), cut(&[])), ((vec![4, 6], None), (vec![], None)));
    }
}
