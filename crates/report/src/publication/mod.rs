//! Published statistics for their readers: a page in plain language, and metadata for catalogues.

mod charts;
mod metadata;
mod numbers;
mod page;
mod dimensions;
mod tables;
mod sentences;

pub use charts::publication_chart;
pub use metadata::{Deposit, publication_metadata};
pub use page::publication_page;

use counterpoint_wire::publication::Publication;

/// The files of a publication: their names and texts.
///
/// # Errors
/// [`serde_json::Error`] if a number is not finite.
pub fn publication_files(
    published: &Publication,
) -> Result<[(&'static str, String); 4], serde_json::Error> {
    Ok([
        ("release.csv", published.csv()),
        ("release.json", published.json()?),
        ("report.html", publication_page(published)),
        ("metadata.json", publication_metadata(published, &Deposit::default())),
    ])
}
