//! How far plans have come, for those who gave theirs a name.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;

/// The longest name.
const MOST_LETTERS: usize = 64;
const WHOLE: f64 = 1000.0;

/// The plans that are being made, by their names: no more than there are clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Going(Arc<Mutex<HashMap<String, Done>>>);

/// How far one of them has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done(Arc<AtomicU32>);

/// In the list until it is dropped.
pub(crate) struct Named {
    going: Going,
    name: Option<String>,
    pub(crate) done: Done,
}

/// The name that a head gives, `Plan-Name`: letters, digits and hyphens.
pub(crate) fn name(head: &HeaderMap) -> Option<&str> {
    let name = head.get("plan-name")?.to_str().ok()?;
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let legal = (1..=MOST_LETTERS).contains(&name.len()) && name.bytes().all(is_legal);
    legal.then_some(name)
}

impl Going {
    /// A plan begins. A name that another one has is none.
    pub(crate) fn begin(&self, name: Option<&str>) -> Named {
        let done = Done::default();
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = name.filter(|name| !list.contains_key(*name)).map(str::to_owned);
        if let Some(name) = &name {
            list.insert(name.clone(), done.clone());
        }
        Named { going: self.clone(), name, done }
    }

    /// How far a plan has come, from 0 to 1; `None` if there is none of that name.
    pub(crate) fn at(&self, name: &str) -> Option<f64> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(f64::from(list.get(name)?.0.load(Ordering::Relaxed)) / WHOLE)
    }
}

impl Done {
    pub(crate) fn set(&self, fraction: f64) {
        self.0.store((fraction * WHOLE) as u32, Ordering::Relaxed);
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.going.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_known_by_their_names_while_they_are_made() {
        let going = Going::default();
        let one = going.begin(Some("one"));
        one.done.set(0.25);
        assert_eq!(going.at("one"), Some(0.25));
        assert_eq!(going.at("two"), None);
        // The name is taken, and stays the first one's.
        let again = going.begin(Some("one"));
        again.done.set(0.75);
        drop(again);
        assert_eq!(going.at("one"), Some(0.25));
        drop(one);
        assert_eq!(going.at("one"), None);
    }

    #[test]
    fn names_are_letters_digits_and_hyphens() {
        let name_in = |text: &str| {
            let head =
                HeaderMap::from_iter([("plan-name".parse().unwrap(), text.parse().unwrap())]);
            name(&head).map(str::to_owned)
        };
        assert_eq!(name_in("a-1").as_deref(), Some("a-1"));
        for none in ["", "a b", "a/b", &"a".repeat(65)] {
            assert_eq!(name_in(none), None, "{none}");
        }
        assert_eq!(name(&HeaderMap::new()), None);
    }
}
