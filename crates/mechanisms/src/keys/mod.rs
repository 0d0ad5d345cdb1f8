//! Counts of people by keys that only the data reveal: words that people searched for, places that they visited
//! (Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016).
//!
//! The occurrence of a key may identify a person. Noise is added to the count of every key that occurs, and keys whose
//! noisy count reaches a threshold are released, in the order of their bytes. The threshold is so high that a key of a
//! single person is released with a tiny probability, which is charged too.

mod data;
mod measurement;
#[cfg(test)]
mod tests;

pub use data::KeyedData;
pub use measurement::{KeyCount, KeyMeasurement, KeyQuery};
