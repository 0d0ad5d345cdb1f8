//! Published statistics for their readers: a page in plain language, and a description for catalogues.

mod charts;
mod metadata;
mod numbers;
mod page;
mod shape;
mod tables;
mod words;

pub use charts::publication_chart;
pub use metadata::{Deposit, publication_metadata};
pub use page::publication_page;
