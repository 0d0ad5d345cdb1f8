//! A reader that reads the header of a file and nothing after it.

use std::io::{ErrorKind, Read};

use crate::text::error::PlanError;

/// The number of bytes that are read one at a time, so that nothing after the header is read.
const SINGLE: u64 = 1 << 14;
/// The size of the blocks that are read after these, for headers of ten thousand columns. The bytes after the header's
/// end are dropped.
const BLOCK: usize = 1 << 12;

/// The bytes of a file, one by one, up to a limit.
pub(super) struct Bytes<R> {
    source: R,
    limit: u64,
    taken: u64,
    block: Vec<u8>,
    at: usize,
}

impl<R: Read> Bytes<R> {
    pub(super) fn new(source: R, limit: u64) -> Self {
        Self { source, limit, taken: 0, block: Vec::new(), at: 0 }
    }

    /// Returns the next byte, or `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<u8>, PlanError> {
        if self.at == self.block.len() {
            self.fill()?;
        }
        let byte = self.block.get(self.at).copied();
        if byte.is_some() {
            self.at += 1;
            self.taken += 1;
        }
        if self.taken > self.limit {
            let problem = format!("has a header of more than {} bytes", self.limit);
            return Err(PlanError::plan(format!("{problem}; legal: at most that")));
        }
        Ok(byte)
    }

    fn fill(&mut self) -> Result<(), PlanError> {
        self.block.resize(if self.taken < SINGLE { 1 } else { BLOCK }, 0);
        self.at = 0;
        let count = loop {
            match self.source.read(&mut self.block) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(|error| unreadable(&error))?,
            }
        };
        self.block.truncate(count);
        Ok(())
    }
}

/// The error of a file that the operating system cannot read.
pub(super) fn unreadable(error: &std::io::Error) -> PlanError {
    PlanError::plan(format!("cannot be read: {error}; legal: a file that can be read"))
}
