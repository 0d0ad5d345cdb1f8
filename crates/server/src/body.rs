//! Bodies: of requests, read in time, and only as many bytes at once, from all clients together, as there is room for; and of
//! responses.

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

/// The longest that a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most kibibytes of bodies that are held at once: two of the longest studies.
const MOST_KIBIBYTES: usize = 64 << 10;
const KIBIBYTE: usize = 1 << 10;

/// The room that bodies have, for all clients together.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

/// A body, and the room that it takes until it is dropped.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) taken: Option<OwnedSemaphorePermit>,
}

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoBody {
    /// It is longer than is legal.
    TooLong,
    /// It did not come in time.
    Late,
    /// It ended before it was whole, or is malformed.
    CutOff,
    /// Other bodies take all the room.
    NoRoom,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self::of(MOST_KIBIBYTES)
    }

    pub(crate) fn of(kibibytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(kibibytes)))
    }

    /// Reads a body of at most so many bytes.
    pub(crate) async fn read(&self, body: Body, most: usize) -> Result<Bytes, NoBody> {
        if body.size_hint().lower() > most as u64 {
            return Err(NoBody::TooLong);
        }
        timeout(PATIENCE, self.collect(body, most)).await.map_err(|_| NoBody::Late)?
    }

    async fn collect(&self, mut body: Body, most: usize) -> Result<Bytes, NoBody> {
        let mut read = Bytes { bytes: Vec::new(), taken: None };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| NoBody::CutOff)?;
            let Some(data) = frame.data_ref() else { continue };
            if read.bytes.len() + data.len() > most {
                return Err(NoBody::TooLong);
            }
            self.take(&mut read, data.len())?;
            read.bytes.extend_from_slice(data);
        }
        Ok(read)
    }

    /// Takes room for more bytes.
    fn take(&self, read: &mut Bytes, more: usize) -> Result<(), NoBody> {
        let has = read.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needs = (read.bytes.len() + more).div_ceil(KIBIBYTE).saturating_sub(has);
        let needs = u32::try_from(needs).map_err(|_| NoBody::TooLong)?;
        let taken = Arc::clone(&self.0).try_acquire_many_owned(needs);
        let taken = taken.map_err(|_| NoBody::NoRoom)?;
        match &mut read.taken {
            Some(all) => all.merge(taken),
            none => *none = Some(taken),
        }
        Ok(())
    }
}

/// A response with a body of JSON.
pub(crate) fn json(
    status: StatusCode,
    value: &impl Serialize,
) -> Result<Response, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    Ok((status, [(CONTENT_TYPE, "application/json")], text).into_response())
}

/// Whether a head says that its body is JSON.
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

    /// A body of so many kibibytes whose sender never says that it has ended.
    fn without_end(kibibytes: usize) -> Body {
        let end = pending::<Option<Result<HeaderMap, Infallible>>>();
        let all: WithTrailers<Full<Chunk>, _> =
            Full::new(Chunk::from(vec![b' '; kibibytes * KIBIBYTE])).with_trailers(Box::pin(end));
        Body::new(all)
    }

    /// While two clients hold all room but a kibibyte, a body of two is refused and one of a kibibyte is read; when one of
    /// them goes away there is room again.
    #[tokio::test]
    async fn bodies_share_the_room() {
        let room = Room::of(5);
        let most = 4 * KIBIBYTE;
        let hold = |_| {
            let room = room.clone();
            tokio::spawn(async move { room.read(without_end(2), most).await })
        };
        let held = [(); 2].map(hold);
        // On one thread: both run until they wait.
        yield_now().await;
        let read = async |kibibytes| {
            let read = room.read(Body::from(vec![b' '; kibibytes * KIBIBYTE]), most).await;
            read.map(|read| read.bytes.len())
        };
        assert_eq!(read(2).await, Err(NoBody::NoRoom));
        assert_eq!(read(1).await, Ok(KIBIBYTE), "and it gives its room back");
        assert_eq!(read(1).await, Ok(KIBIBYTE));
        held[0].abort();
        yield_now().await;
        assert_eq!(read(3).await, Ok(3 * KIBIBYTE));
        assert_eq!(read(4).await, Err(NoBody::NoRoom));
    }

    #[test]
    fn two_of_the_longest_studies_have_room() {
        let room = Room::new().0.available_permits() * KIBIBYTE;
        assert!((2 * crate::planning::MOST_BYTES..3 * crate::planning::MOST_BYTES).contains(&room));
    }
}
