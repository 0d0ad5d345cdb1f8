//! Connections: few, from this machine, and none for ever.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use counterpoint_curator::{Curator, Tls};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsAcceptor, rustls};

use crate::api::{self, Shared};
use crate::guard::{Open, guard};
use crate::page::FILES;
use crate::planning::{Places, bounded, nothing, planned, progress, study, wrong_method};

/// A browser opens six or so, an analyst's program one or two.
const MOST_CONNECTIONS: usize = 512;
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
        "{0} can be reached by other machines; legal: a loopback address and a port, such as 127.0.0.1:8000, or a certificate"
    )]
    NotLoopback(SocketAddr),
    /// Nobody can listen there.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The certificate or its key cannot be used.
    #[error("the certificate cannot be used: {0}")]
    Certificate(String),
    /// The system does not play along.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// The planner page, and a curator if there is one, ready to be served.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    curator: Option<Shared>,
    tls: Option<TlsAcceptor>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
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
        Self::listen(address)
    }

    /// Listens on any address, for those who have a certificate.
    ///
    /// # Errors
    /// [`ServeError`] if the certificate cannot be used, or nobody can listen there.
    pub fn bind_with_tls(address: SocketAddr, tls: &Tls) -> Result<Self, ServeError> {
        let acceptor = acceptor(tls)?;
        Ok(Self { tls: Some(acceptor), ..Self::listen(address)? })
    }

    fn listen(address: SocketAddr) -> Result<Self, ServeError> {
        let listener =
            TcpListener::bind(address).map_err(|error| ServeError::Listen(address, error))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, curator: None, tls: None })
    }

    /// Serves a curator, too.
    #[must_use]
    pub fn with(self, curator: Curator) -> Self {
        Self { curator: Some(Shared::new(curator)), ..self }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it speaks TLS.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Serves until the program is interrupted or told to end. What a curator has debited is answered and stored first.
    ///
    /// # Errors
    /// [`ServeError`] if the system gives no threads or no signals.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = runtime()?;
        let open = match &self.tls {
            Some(_) => Open::ToAll,
            None => Open::Here(self.address.port()),
        };
        runtime.block_on(async {
            let interrupted = interrupted()?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = router(open, self.curator.clone());
            tokio::select! {
                () = accept(listener, router, self.tls) => {}
                () = interrupted => {}
            }
            if let Some(curator) = &self.curator {
                curator.finish().await;
            }
            Ok::<(), io::Error>(())
        })?;
        // Plans that are still being made are for nobody.
        runtime.shutdown_background();
        Ok(())
    }
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let told = |error: String| ServeError::Certificate(error);
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| told(format!("{}: {error}", tls.certificate.display())))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|error| told(format!("{}: {error}", tls.key.display())))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| told(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
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

async fn accept(listener: tokio::net::TcpListener, router: Router, tls: Option<TlsAcceptor>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, from)) if tls.is_some() || from.ip().is_loopback() => {
                let (router, tls) = (router.clone(), tls.clone());
                tokio::spawn(async move {
                    let _place = place;
                    let _ = stream.set_nodelay(true);
                    match tls {
                        None => serve(stream, router).await,
                        Some(tls) => {
                            if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await {
                                serve(stream, router).await;
                            }
                        }
                    }
                });
            }
            Ok(_) => {}
            // Too many open files, say: some are closed soon.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Answers one client, for a while. What goes wrong with it is its own affair.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MOST_HEAD);
    let service = TowerToHyperService::new(router);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LIFE, connection).await;
    }
}

fn router(open: Open, curator: Option<Shared>) -> Router {
    let only = |route: MethodRouter<Places>| route.fallback(wrong_method);
    let mut router = Router::new();
    for file in &FILES {
        router = router.route(file.path, only(get(async || file.answer())));
    }
    let router = router
        .route("/plan", only(post(planned)))
        .route("/least", only(post(bounded)))
        .route("/progress", only(get(progress)))
        .route("/study", only(post(study)))
        .fallback(nothing)
        .with_state(Places::new());
    let router = match curator {
        Some(curator) => router.merge(api::router(curator)),
        None => router,
    };
    router.layer(from_fn_with_state(open, guard))
}
