//! Connections: few, from this machine, and none for ever.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::guard::guard;
use crate::page::FILES;
use crate::planning::{Places, nothing, planned, progress, study, wrong_method};

/// A browser opens six or so.
const MOST_CONNECTIONS: usize = 64;
/// How long a head may take, and a connection be idle.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection may last.
const LIFE: Duration = Duration::from_secs(600);
const MOST_HEAD: usize = 32 << 10;

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other machines could reach it.
    #[error(
        "{0} can be reached by other machines; legal: a loopback address, such as 127.0.0.1:8000"
    )]
    NotLoopback(SocketAddr),
    /// Nobody can listen there.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The system does not play along.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// The planner page, ready to be served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on a loopback address. Port 0 is any that is free.
    ///
    /// # Errors
    /// [`ServeError`] if other machines could reach the address, or nobody can listen there.
    pub fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address));
        }
        let listener =
            TcpListener::bind(address).map_err(|error| ServeError::Listen(address, error))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the program is interrupted or told to end.
    ///
    /// # Errors
    /// [`ServeError`] if the system gives no threads or no signals.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = runtime()?;
        runtime.block_on(async {
            let interrupted = interrupted()?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            tokio::select! {
                () = accept(listener, router(self.address.port())) => Ok(()),
                () = interrupted => Ok::<(), io::Error>(()),
            }
        })?;
        // Plans that are still being made are for nobody.
        runtime.shutdown_background();
        Ok(())
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Waits for the signals that end a program.
fn interrupted() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut end = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = end.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}

async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, from)) if from.ip().is_loopback() => {
                let router = router.clone();
                tokio::spawn(async move {
                    let _place = place;
                    serve(stream, router).await;
                });
            }
            Ok(_) => {}
            // Too many open files, say: some are closed soon.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Answers one client, for a while. What goes wrong with it is its own affair.
async fn serve(stream: TcpStream, router: Router) {
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MOST_HEAD);
    let service = TowerToHyperService::new(router);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LIFE, connection).await;
    }
}

fn router(port: u16) -> Router {
    let only = |route: MethodRouter<Places>| route.fallback(wrong_method);
    let mut router = Router::new();
    for file in &FILES {
        router = router.route(file.path, only(get(async || file.answer())));
    }
    router
        .route("/plan", only(post(planned)))
        .route("/progress", only(get(progress)))
        .route("/study", only(post(study)))
        .fallback(nothing)
        .with_state(Places::new())
        .layer(from_fn_with_state(port, guard))
}
