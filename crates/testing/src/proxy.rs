//! A slow network between a client and its server, which counts round trips.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A listener that forwards bytes in both directions with a delay.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    turns: Arc<AtomicU64>,
    clients: Arc<Mutex<Vec<TcpStream>>>,
    is_cut: Arc<AtomicBool>,
}

impl Proxy {
    /// Listens on a free port for a server, and delays all bytes by `delay` in each direction. The proxy lasts as long
    /// as the process.
    ///
    /// # Panics
    /// If no port is free.
    #[allow(clippy::unwrap_used)]
    #[must_use]
    pub fn start(server: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, is_cut) = (listener.local_addr().unwrap(), Arc::default());
        let proxy = Self { address, turns: Arc::default(), clients: Arc::default(), is_cut };
        let (turns, clients) = (Arc::clone(&proxy.turns), Arc::clone(&proxy.clients));
        let is_cut = Arc::clone(&proxy.is_cut);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = TcpStream::connect(server) {
                    connect(&client, &server, delay, &turns, &is_cut);
                    clients.lock().unwrap().push(client);
                }
            }
        });
        proxy
    }

    /// Closes the clients' connections without telling the server.
    ///
    /// # Panics
    /// If a thread of the proxy has panicked.
    #[allow(clippy::unwrap_used)]
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for client in &*self.clients.lock().unwrap() {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// The address that the proxy listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of round trips: of times that a client sent bytes first or after receiving some. (A client is assumed
    /// to send everything it has at once.)
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::SeqCst)
    }
}

/// Forwards bytes between both sides.
#[allow(clippy::unwrap_used)]
fn connect(
    client: &TcpStream,
    server: &TcpStream,
    delay: Duration,
    turns: &Arc<AtomicU64>,
    is_cut: &Arc<AtomicBool>,
) {
    let is_told = Arc::new(AtomicBool::new(true));
    let (turns, spoken, told) = (Arc::clone(turns), Arc::clone(&is_told), is_told);
    let speaks = move || {
        if spoken.swap(false, Ordering::SeqCst) {
            turns.fetch_add(1, Ordering::SeqCst);
        }
    };
    let hears = move || told.store(true, Ordering::SeqCst);
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let both = || (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (from, to) = both();
    pass(from, to, delay, is_cut, speaks, || ());
    let (to, from) = both();
    pass(from, to, delay, is_cut, || (), hears);
}

/// Forwards bytes in one direction, until the sender closes the connection.
fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    delay: Duration,
    is_cut: &Arc<AtomicBool>,
    on_read: impl Fn() + Send + 'static,
    before_write: impl Fn() + Send + 'static,
) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            on_read();
            let due = Instant::now() + delay;
            if sender.send((due, buffer[..length].to_vec())).is_err() {
                break;
            }
        }
    });
    let is_cut = Arc::clone(is_cut);
    std::thread::spawn(move || {
        for (due, bytes) in receiver {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            before_write();
            if to.write_all(&bytes).is_err() && !is_cut.load(Ordering::SeqCst) {
                break;
            }
        }
        if is_cut.load(Ordering::SeqCst) {
            // The connection stays open until the process ends.
            std::mem::forget(to);
        } else {
            let _ = to.shutdown(Shutdown::Both);
        }
    });
}
