//! Bodies of requests and responses. A request body must arrive within a time limit. All request bodies together use a
//! limited amount of memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The longest time that a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The most kibibytes of request bodies in memory at once: two of the longest studies.
const MAX_KIBIBYTES: usize = 64 << 10;
const KIBIBYTE: usize = 1 << 10;

/// The memory for request bodies, shared by all clients.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory(Arc<Semaphore>);

/// A request body and the permit for its memory. Dropping the body releases the memory.
#[derive(Debug)]
pub(crate) struct BodyBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// The reason why a request body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The body is longer than the limit.
    TooLong,
    /// The body did not arrive within the time limit.
    TimedOut,
    /// The body ended early or is malformed.
    Incomplete,
    /// Other bodies use all the memory.
    NoMemory,
}

impl BodyMemory {
    pub(crate) fn new() -> Self {
        Self::with_kibibytes(MAX_KIBIBYTES)
    }

    pub(crate) fn with_kibibytes(kibibytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(kibibytes)))
    }

    /// Reads a body of at most `max_bytes`.
    pub(crate) async fn read(&self, body: Body, max_bytes: usize) -> Result<BodyBytes, BodyError> {
        if body.size_hint().lower() > max_bytes as u64 {
            return Err(BodyError::TooLong);
        }
        timeout(BODY_TIMEOUT, self.collect(body, max_bytes))
            .await
            .map_err(|_| BodyError::TimedOut)?
    }

    async fn collect(&self, mut body: Body, max_bytes: usize) -> Result<BodyBytes, BodyError> {
        let mut read = BodyBytes { bytes: Vec::new(), permit: None };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| BodyError::Incomplete)?;
            let Some(data) = frame.data_ref() else { continue };
            if read.bytes.len() + data.len() > max_bytes {
                return Err(BodyError::TooLong);
            }
            self.reserve(&mut read, data.len())?;
            read.bytes.extend_from_slice(data);
        }
        Ok(read)
    }

    /// Reserves memory for `more` bytes.
    fn reserve(&self, read: &mut BodyBytes, more: usize) -> Result<(), BodyError> {
        let has = read.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needs = (read.bytes.len() + more).div_ceil(KIBIBYTE).saturating_sub(has);
        let needs = u32::try_from(needs).map_err(|_| BodyError::TooLong)?;
        let permit = Arc::clone(&self.0).try_acquire_many_owned(needs);
        let permit = permit.map_err(|_| BodyError::NoMemory)?;
        match &mut read.permit {
            Some(all) => all.merge(permit),
            none => *none = Some(permit),
        }
        Ok(())
    }
}

/// Returns a response with a JSON body.
pub(crate) fn json_response(
    status: StatusCode,
    value: &impl Serialize,
) -> Result<Response, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    Ok((status, [(CONTENT_TYPE, "application/json")], text).into_response())
}

/// True if the headers declare a JSON body.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes as Chunk;
    use http_body_util::Full;
    use http_body_util::combinators::WithTrailers;
    use std::convert::Infallible;
    use std::future::pending;
    use tokio::task::yield_now;

    /// A body of this size whose sender never finishes it.
    fn without_end(kibibytes: usize) -> Body {
        let end = pending::<Option<Result<HeaderMap, Infallible>>>();
        let all: WithTrailers<Full<Chunk>, _> =
            Full::new(Chunk::from(vec![b' '; kibibytes * KIBIBYTE])).with_trailers(Box::pin(end));
        Body::new(all)
    }

    /// While two clients hold all memory but one kibibyte, a body of two kibibytes is refused and a body of one is
    /// read. When a client disconnects, its memory is free again.
    #[tokio::test]
    async fn bodies_share_the_memory() {
        let body_memory = BodyMemory::with_kibibytes(5);
        let max_bytes = 4 * KIBIBYTE;
        let hold = |_| {
            let body_memory = body_memory.clone();
            tokio::spawn(async move { body_memory.read(without_end(2), max_bytes).await })
        };
        let held = [(); 2].map(hold);
        // On a single thread, both tasks run until they wait.
        yield_now().await;
        let read = async |kibibytes| {
            let read =
                body_memory.read(Body::from(vec![b' '; kibibytes * KIBIBYTE]), max_bytes).await;
            read.map(|read| read.bytes.len())
        };
        assert_eq!(read(2).await, Err(BodyError::NoMemory));
        assert_eq!(read(1).await, Ok(KIBIBYTE), "the body releases its memory");
        assert_eq!(read(1).await, Ok(KIBIBYTE));
        held[0].abort();
        yield_now().await;
        assert_eq!(read(3).await, Ok(3 * KIBIBYTE));
        assert_eq!(read(4).await, Err(BodyError::NoMemory));
    }

    #[test]
    fn two_of_the_longest_studies_fit_into_the_memory() {
        let body_memory = BodyMemory::new().0.available_permits() * KIBIBYTE;
        assert!(
            (2 * crate::planning::MAX_BODY_BYTES..3 * crate::planning::MAX_BODY_BYTES)
                .contains(&body_memory)
        );
    }
}
