//! An HTTP client that keeps its connection open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A client with a persistent connection.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    /// A client for this address, not yet connected.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    /// The server's address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Posts a question, a JSON object, to a curator.
    pub fn question(&mut self, token: &str, body: &str) -> (u16, String) {
        let (address, length) = (self.address, body.len());
        let head = format!(
            "POST /v1/questions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}"
        );
        let kind = "Content-Type: application/json";
        self.send(format!("{head}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes())
    }

    /// Sends a request, on a new connection if the old one was closed. Returns status 0 if there is no response.
    pub fn send(&mut self, bytes: &[u8]) -> (u16, String) {
        for _ in 0..3 {
            if self.stream.is_none() {
                self.stream = connect(self.address);
            }
            if let Some(answer) = self.exchange(bytes) {
                return answer;
            }
            self.stream = None;
        }
        (0, String::new())
    }

    fn exchange(&mut self, bytes: &[u8]) -> Option<(u16, String)> {
        let stream = self.stream.as_mut()?;
        stream.get_mut().write_all(bytes).ok()?;
        let (mut status, mut length, mut stays) = (None, 0, true);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if status.is_none() {
                status = Some(line.split(' ').nth(1)?.parse().ok()?);
            }
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().ok()?;
            }
            stays &= line != "connection: close";
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        if !stays {
            self.stream = None;
        }
        Some((status?, String::from_utf8_lossy(&body).into_owned()))
    }
}

fn connect(address: SocketAddr) -> Option<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    stream.set_nodelay(true).ok()?;
    Some(BufReader::new(stream))
}
