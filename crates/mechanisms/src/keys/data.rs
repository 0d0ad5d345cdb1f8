//! Keys, and the number of people who have each, with limited contributions.

use crate::data::Person;
use crate::error::Error;
use counterpoint::Relation;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The number of people who have each key, with the neighbouring relation that protects them. Each person is counted at
/// most once with each key, and with at most as many different keys as the relation allows records.
///
/// Keys are bytes, and are equal only if all bytes are: case, accents and white space are not normalized. Texts are
/// their UTF-8.
#[derive(Clone)]
pub struct KeyedData {
    relation: Relation,
    counts: Arc<BTreeMap<Arc<[u8]>, u64>>,
}

/// Prints neither the keys nor how many there are, since output may end up in a log.
impl fmt::Debug for KeyedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").field("relation", &self.relation).finish_non_exhaustive()
    }
}

impl KeyedData {
    /// From rows that each name a person and a key. If a person has more different keys than the relation allows
    /// records, only that many are used: those with the smallest HMACs under the secret of the person and the key. The
    /// choice depends on that person's own keys alone, not on their frequency or order.
    ///
    /// The owner keeps the secret, as for [`Data::of_people`](crate::Data::of_people). Privacy does not rest on the
    /// secret.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many keys as names of people.
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
        let order = KeyOrder::new(secret)?;
        let keys = keys.iter().map(AsRef::as_ref);
        let mut rows: Vec<(Person<'a>, &[u8])> = people.into_iter().zip(keys).collect();
        rows.sort_unstable();
        rows.dedup();
        let own = rows.chunk_by(|one, other| one.0 == other.0);
        let used = own.flat_map(|own| order.first(own, relation.records() as usize));
        Ok(Self::from_counts(relation, used.map(|key| (key, 1))))
    }

    /// From the number of people per key, counted elsewhere. Counts of equal keys are added, and keys with count zero
    /// are dropped. **Whoever counts vouches** that nobody is counted with more different keys than the relation allows
    /// records, nor twice with one key.
    #[must_use]
    pub fn from_counts(
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

    /// The neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The keys and their counts, in the order of their bytes.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&Arc<[u8]>, u64)> {
        self.counts.iter().map(|(key, people)| (key, *people))
    }
}

/// The pseudorandom order of a person's keys, of which the first are used.
struct KeyOrder {
    keyed: Hmac<Sha256>,
}

impl KeyOrder {
    fn new(secret: &[u8; 32]) -> Result<Self, Error> {
        let (what, length, legal) = ("the secret", secret.len(), "32 bytes");
        let keyed =
            Hmac::new_from_slice(secret).map_err(|_| Error::Length { what, length, legal })?;
        Ok(Self { keyed })
    }

    /// A person's first keys, at most `most`; the keys are different.
    fn first<'k>(&self, own: &[(Person<'_>, &'k [u8])], most: usize) -> Vec<&'k [u8]> {
        if own.len() <= most {
            return own.iter().map(|(_, key)| *key).collect();
        }
        let place = |&(person, key): &(Person<'_>, &'k [u8])| (self.place(person, key), key);
        let mut placed: Vec<([u8; 32], &[u8])> = own.iter().map(place).collect();
        placed.sort_unstable();
        placed.into_iter().take(most).map(|(_, key)| key).collect()
    }

    /// The HMAC of a person and a key. Different pairs give different input, since the person's part has a known
    /// length.
    fn place(&self, person: Person<'_>, key: &[u8]) -> [u8; 32] {
        let mut hash = self.keyed.clone();
        person.feed(&mut hash);
        hash.update(key);
        hash.finalize().into_bytes().into()
    }
}
