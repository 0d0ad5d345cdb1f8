//! Writers of `export` and `responses`, which hold one item at a time.

use std::io::{self, Write};

use serde::Serialize;

use super::output::{HistoryEntry, Response};

/// Writes an object with lists of any length, item by item: the head, then entries, then responses.
#[derive(Debug)]
pub struct ExportWriter<W> {
    out: W,
    version: Option<u64>,
    lists: &'static [&'static str],
    /// The number of lists that were begun.
    begun: usize,
    /// True while the last list has no items.
    is_empty: bool,
}

impl<W: Write> ExportWriter<W> {
    /// A writer of `export`: the history with every stored response.
    pub fn export(out: W) -> Self {
        Self::new(out, Some(2), &["entries", "responses"])
    }

    /// A writer of `export --without-responses`.
    pub fn entries(out: W) -> Self {
        Self::new(out, Some(2), &["entries"])
    }

    /// A writer of `responses`.
    pub fn responses(out: W) -> Self {
        Self::new(out, None, &["responses"])
    }

    fn new(out: W, version: Option<u64>, lists: &'static [&'static str]) -> Self {
        Self { out, version, lists, begun: 0, is_empty: true }
    }

    /// Writes the number and hash of the last entry, which must come first.
    ///
    /// # Errors
    /// As the stream's.
    pub fn head(&mut self, head: &str) -> io::Result<()> {
        self.out.write_all(b"{")?;
        if let Some(version) = self.version {
            write!(self.out, "\"version\":{version},")?;
        }
        write!(self.out, "\"head\":\"{head}\"")
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// As the stream's.
    pub fn entry(&mut self, entry: &HistoryEntry) -> io::Result<()> {
        self.add("entries", entry)
    }

    /// Writes a response.
    ///
    /// # Errors
    /// As the stream's.
    pub fn response(&mut self, response: &Response) -> io::Result<()> {
        self.add("responses", response)
    }

    /// Ends the object. Lists without items are written as empty lists.
    ///
    /// # Errors
    /// As the stream's.
    pub fn end(mut self) -> io::Result<W> {
        while self.begun < self.lists.len() {
            self.begin()?;
        }
        self.out.write_all(b"]}")?;
        Ok(self.out)
    }

    fn add(&mut self, list: &str, one: &impl Serialize) -> io::Result<()> {
        while self.begun == 0 || self.lists.get(self.begun - 1) != Some(&list) {
            self.begin()?;
        }
        if !self.is_empty {
            self.out.write_all(b",")?;
        }
        self.is_empty = false;
        Ok(serde_json::to_writer(&mut self.out, one)?)
    }

    /// Begins the next list.
    fn begin(&mut self) -> io::Result<()> {
        let name = self.lists.get(self.begun).ok_or(io::ErrorKind::InvalidInput)?;
        let before = if self.begun == 0 { "," } else { "]," };
        write!(self.out, "{before}\"{name}\":[")?;
        (self.begun, self.is_empty) = (self.begun + 1, true);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Responses;

    #[test]
    fn what_is_written_one_by_one_is_the_whole_object() {
        let response = |key: &str| Response {
            account: "a".to_owned(),
            key: key.to_owned(),
            ask: None,
            analyst: None,
            bytes: b"42".to_vec(),
        };
        for keys in [&[][..], &["k"], &["k", "l", "m"]] {
            let responses: Vec<Response> = keys.iter().map(|key| response(key)).collect();
            let mut writer = ExportWriter::responses(Vec::new());
            writer.head("1:00").unwrap();
            responses.iter().for_each(|one| writer.response(one).unwrap());
            let text = String::from_utf8(writer.end().unwrap()).unwrap();
            assert_eq!(text, Responses { head: "1:00".to_owned(), responses }.json().unwrap());
        }
        let mut writer = ExportWriter::export(Vec::new());
        writer.head("1:00").unwrap();
        writer.response(&response("k")).unwrap();
        let text = String::from_utf8(writer.end().unwrap()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["version"], &value["entries"]), (&2.into(), &serde_json::json!([])));
        assert_eq!(value["responses"][0]["key"], "k");
    }
}
