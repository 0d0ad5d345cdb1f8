//! Connections: few, from this machine, and none for ever.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use counterpoint_curator::{Config, Curator, Tls};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::{TlsAcceptor, rustls};
use tokio_util::task::TaskTracker;

use crate::api::{self, Anybody, Gate, Known, Shared};
use crate::body::Room;
use crate::guard::{Open, guard};
use crate::page::FILES;
use crate::planning::{Places, bounded, nothing, planned, progress, study, wrong_method};
use crate::record::{Metrics, record};
use crate::release::{self, Releaser, Releases};
use crate::seats::{Seat, Seats};

/// How long a head may take, a connection be idle, and a client leave an answer unread.
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
    /// Operating-system I/O error.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// Reads the configuration again; an error says what is wrong.
type Reload = Box<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// The planner page, and a curator if there is one, ready to be served.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    curator: Option<Shared>,
    /// Replaced when certificates are read again.
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
    reload: Option<Reload>,
    releases: Option<Releases>,
    metrics: Arc<Metrics>,
    room: Room,
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
        Ok(Self { tls: Some(Arc::new(RwLock::new(acceptor))), ..Self::listen(address)? })
    }

    fn listen(address: SocketAddr) -> Result<Self, ServeError> {
        let listener =
            TcpListener::bind(address).map_err(|error| ServeError::Listen(address, error))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (metrics, room) = (Arc::default(), Room::new());
        let (curator, tls, reload, releases) = (None, None, None, None);
        Ok(Self { listener, address, curator, tls, reload, releases, metrics, room })
    }

    /// Serves a curator, too.
    #[must_use]
    pub fn with(self, curator: Curator) -> Self {
        let shared = Shared::new(curator, Arc::clone(&self.metrics), self.room.clone());
        Self { curator: Some(shared), ..self }
    }

    /// Reads the configuration and the certificates again at SIGHUP. What cannot be used is logged, and changes nothing.
    #[must_use]
    pub fn reloading(
        self,
        read: impl Fn() -> Result<Config, String> + Send + Sync + 'static,
    ) -> Self {
        Self { reload: Some(Box::new(read)), ..self }
    }

    /// Releases studies of one source, too, for those who have the key: it belongs behind the `#key=` of the page's address.
    ///
    /// # Errors
    /// [`ServeError`] if other machines can reach the page, or there is no randomness to be had.
    pub fn releasing(self, releaser: impl Releaser) -> Result<(Self, String), ServeError> {
        if self.tls.is_some() {
            return Err(ServeError::NotLoopback(self.address));
        }
        let (releases, key) = Releases::new(releaser)?;
        Ok((Self { releases: Some(releases), ..self }, key))
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

    /// Serves until the program is interrupted or told to end. What a curator has debited is answered and stored first, and
    /// whoever waits for an answer has it.
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
            let (interrupted, reloaded) = (interrupted()?, hung_up()?);
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let places = Places::new(self.room);
            let curator = self.curator.clone().map(Gate::new);
            let router = router(open, curator, self.releases, places, &self.metrics);
            let (stop, stopped) = watch::channel(false);
            let clients = TaskTracker::new();
            let again = Again { read: self.reload, curator: self.curator.clone(), tls: self.tls };
            tokio::select! {
                () = accept(listener, router, again.tls.clone(), &clients, stopped) => {}
                () = again.and_again(reloaded) => {}
                () = interrupted => {}
            }
            let _ = stop.send(true);
            if let Some(curator) = &self.curator {
                curator.finish().await;
            }
            clients.close();
            let _ = timeout(PATIENCE, clients.wait()).await;
            Ok::<(), io::Error>(())
        })?;
        // Plans that are still being made are for nobody.
        runtime.shutdown_background();
        Ok(())
    }
}

/// What is read again at SIGHUP.
struct Again {
    read: Option<Reload>,
    curator: Option<Shared>,
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
}

impl Again {
    /// Reads it at each signal, for ever.
    async fn and_again(&self, mut signals: impl AsyncFnMut()) {
        loop {
            signals().await;
            match tokio::task::block_in_place(|| self.once()) {
                Ok(()) => tracing::info!("the configuration was read again"),
                Err(why) => tracing::error!(why, "the configuration stays as it was"),
            }
        }
    }

    /// All of it, or nothing.
    fn once(&self) -> Result<(), String> {
        let (Some(read), Some(shared)) = (&self.read, &self.curator) else { return Ok(()) };
        let config = read()?;
        let curator = Curator::open(&config).map_err(|error| error.to_string())?;
        match (&self.tls, &config.tls) {
            (Some(tls), Some(files)) => {
                let new = acceptor(files).map_err(|error| error.to_string())?;
                *tls.write().unwrap_or_else(PoisonError::into_inner) = new;
            }
            (None, None) => {}
            _ => return Err("tls came or went; legal: a restart".to_owned()),
        }
        shared.replace(curator);
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

/// Waits for SIGHUP, again and again.
fn hung_up() -> io::Result<impl AsyncFnMut()> {
    #[cfg(unix)]
    let mut hup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?;
    Ok(async move || {
        #[cfg(unix)]
        let _ = hup.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    })
}

async fn accept(
    listener: tokio::net::TcpListener,
    router: Router,
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
    clients: &TaskTracker,
    stop: watch::Receiver<bool>,
) {
    let seats = Arc::new(Seats::default());
    loop {
        match listener.accept().await {
            Ok((stream, from)) if tls.is_some() || from.ip().is_loopback() => {
                let (seat, stop) = (Arc::new(seats.sit()), stop.clone());
                let router = router.clone();
                let _ = stream.set_nodelay(true);
                let now = |tls: &Arc<RwLock<TlsAcceptor>>| {
                    tls.read().unwrap_or_else(PoisonError::into_inner).clone()
                };
                match tls.as_ref().map(now) {
                    None => drop(clients.spawn(serve(stream, router, seat, stop))),
                    Some(tls) => drop(clients.spawn(async move {
                        tokio::select! {
                            () = seat.lost() => {}
                            shaken = timeout(PATIENCE, tls.accept(stream)) => {
                                if let Ok(Ok(stream)) = shaken {
                                    serve(stream, router, Arc::clone(&seat), stop).await;
                                }
                            }
                        }
                    })),
                }
            }
            Ok(_) => {}
            // Too many open files, say: some are closed soon.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Answers one client, for a while. What goes wrong with it is its own affair.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    seat: Arc<Seat>,
    mut stop: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(PATIENCE));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MOST_HEAD);
    let (router, own) = (TowerToHyperService::new(router), Arc::clone(&seat));
    let service = service_fn(move |mut request| {
        request.extensions_mut().insert(Arc::clone(&own));
        router.call(request)
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = seat.lost() => return,
        () = sleep(LIFE) => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(LIFE, connection).await;
}

/// Lets nobody through without a valid token.
async fn token_first(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    match Known::<Anybody>::from_request_parts(&mut head, &gate).await {
        Ok(_) => next.run(Request::from_parts(head, body)).await,
        Err(problem) => problem.into_response(),
    }
}

fn router(
    open: Open,
    curator: Option<Gate>,
    releases: Option<Releases>,
    places: Places,
    metrics: &Arc<Metrics>,
) -> Router {
    let only = |route: MethodRouter<Places>| route.fallback(wrong_method);
    let mut planner = Router::new()
        .route("/plan", only(post(planned)))
        .route("/least", only(post(bounded)))
        .route("/progress", only(get(progress)))
        .route("/study", only(post(study)));
    // Beyond this machine planning is for those who have a token.
    if let (Open::ToAll, Some(gate)) = (open, &curator) {
        planner = planner.layer(from_fn_with_state(gate.clone(), token_first));
    }
    let mut router = planner.fallback(nothing);
    for file in &FILES {
        router = router.route(file.path, only(get(async || file.answer())));
    }
    let router = match releases {
        Some(releases) => {
            router.with_state(places.clone()).merge(release::router(releases, places))
        }
        None => router.with_state(places),
    };
    let router = match curator {
        Some(curator) => router.merge(api::router(curator)),
        None => router,
    };
    let router = router.layer(from_fn_with_state(open, guard));
    router.layer(from_fn_with_state(Arc::clone(metrics), record))
}
