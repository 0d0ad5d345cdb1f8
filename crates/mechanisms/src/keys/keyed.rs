//! Keys, and how many people have each: as far as a person may be counted.

use crate::data::Person;
use crate::error::Error;
use counterpoint::Relation;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How many people have each key that occurs, with the relation they are protected under. Each person is counted with
/// at most as many different keys as the relation says records, once with each.
///
/// Keys are bytes, and are the same if all of these are: no case is folded, no accent composed, nothing trimmed. Texts
/// are their UTF-8.
#[derive(Clone)]
pub struct Keyed {
    relation: Relation,
    counts: Arc<BTreeMap<Arc<[u8]>, u64>>,
}

/// Without the keys, and without how many there are: what is printed may end up in a log.
impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").field("relation", &self.relation).finish_non_exhaustive()
    }
}

impl Keyed {
    /// Of rows that say who has which key. Of whoever has more different keys than the relation allows records, only
    /// so many are used: those whose HMAC under the secret comes first, of the person and the key. The choice depends on
    /// that person's own keys alone, not on how often or in which order they come.
    ///
    /// The secret is for the custodian to keep, as for [`Data::of_people`](crate::Data::of_people). Privacy does not
    /// rest on it.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a key for each row in which somebody is named.
    pub fn of_people<'a>(
        relation: Relation,
        people: impl IntoIterator<Item = impl Into<Person<'a>>>,
        keys: &[impl AsRef<[u8]>],
        secret: &[u8; 32],
    ) -> Result<Self, Error> {
        let people: Vec<Person<'a>> = people.into_iter().map(Into::into).collect();
        if people.len() != keys.len() {
            let (what, legal) = ("keys", "as many as there are people named, row by row");
            return Err(Error::Length { what, length: keys.len(), legal });
        }
        let order = Order::new(secret)?;
        let keys = keys.iter().map(AsRef::as_ref);
        let mut rows: Vec<(Person<'a>, &[u8])> = people.into_iter().zip(keys).collect();
        rows.sort_unstable();
        rows.dedup();
        let own = rows.chunk_by(|one, other| one.0 == other.0);
        let used = own.flat_map(|own| order.first(own, relation.records() as usize));
        Ok(Self::counted(relation, used.map(|key| (key, 1))))
    }

    /// Of keys with how many people have each, counted elsewhere; those of one key are added up, and what nobody has
    /// does not occur. **Whoever counts vouches** that nobody is counted with more different keys than the relation says
    /// records, nor twice with one.
    #[must_use]
    pub fn counted(
        relation: Relation,
        counts: impl IntoIterator<Item = (impl AsRef<[u8]>, u64)>,
    ) -> Self {
        let mut sums: BTreeMap<Arc<[u8]>, u64> = BTreeMap::new();
        for (key, people) in counts.into_iter().filter(|(_, people)| *people > 0) {
            match sums.get_mut(key.as_ref()) {
                Some(sum) => *sum = sum.saturating_add(people),
                None => {
                    sums.insert(key.as_ref().into(), people);
                }
            }
        }
        Self { relation, counts: Arc::new(sums) }
    }

    /// Which data sets are its neighbours.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// In the order of their bytes.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&Arc<[u8]>, u64)> {
        self.counts.iter().map(|(key, people)| (key, *people))
    }
}

/// Which of a person's keys come first.
struct Order {
    keyed: Hmac<Sha256>,
}

impl Order {
    fn new(secret: &[u8; 32]) -> Result<Self, Error> {
        let (what, length, legal) = ("the secret", secret.len(), "32 bytes");
        let keyed =
            Hmac::new_from_slice(secret).map_err(|_| Error::Length { what, length, legal })?;
        Ok(Self { keyed })
    }

    /// At most so many of a person's keys, which are different.
    fn first<'k>(&self, own: &[(Person<'_>, &'k [u8])], most: usize) -> Vec<&'k [u8]> {
        if own.len() <= most {
            return own.iter().map(|(_, key)| *key).collect();
        }
        let place = |&(person, key): &(Person<'_>, &'k [u8])| (self.place(person, key), key);
        let mut placed: Vec<([u8; 32], &[u8])> = own.iter().map(place).collect();
        placed.sort_unstable();
        placed.into_iter().take(most).map(|(_, key)| key).collect()
    }

    /// Different for different people and keys: what is fed of a person has a length of its own.
    fn place(&self, person: Person<'_>, key: &[u8]) -> [u8; 32] {
        let mut hash = self.keyed.clone();
        person.feed(&mut hash);
        hash.update(key);
        hash.finalize().into_bytes().into()
    }
}
