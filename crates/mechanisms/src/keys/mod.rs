//! Counts of people by keys that are known from the data alone: words they searched for, places they were at
//! (Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016).
//!
//! That a key occurs may itself give somebody away. Noise is added to the count of every key that occurs, and those
//! that are at a threshold or above are released, in the order of their bytes. The threshold is so high that a key
//! which one person alone has is released with a chance of hardly anything, which is charged too.

mod keyed;
mod recipe;
#[cfg(test)]
mod tests;

pub use keyed::Keyed;
pub use recipe::{KeyCount, KeyMeasurement, KeyRecipe};
