//! Listening, TLS and the limits of a connection: its header, idle and total time.

use std::error::Error;
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

use crate::api::{self, AnyRole, Authenticator, Caller, SharedState};
use crate::assets::ASSETS;
use crate::body::BodyMemory;
use crate::connection_limits::{ConnectionLimits, ConnectionPermit};
use crate::guard::{Access, guard};
use crate::planning::{
    PlanningLimits, bound_study, convert_study, not_found, plan_progress, plan_study, wrong_method,
};
use crate::record::{Metrics, record};
use crate::release::{self, ReleaseService, Releaser};

/// The longest time for a request's header, a TLS handshake or an idle connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time that a client may leave a response unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest wait for open connections when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time that a connection may stay open.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(600);
const MAX_HEADER_BYTES: usize = 32 << 10;

/// The reason why the server cannot start or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is not a loopback address.
    #[error(
        "{0} can be reached by other machines; legal: a loopback address and a port, such as 127.0.0.1:8000, or tls in the configuration"
    )]
    NotLoopback(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The certificate or its key is unusable.
    #[error("the TLS certificate cannot be used: {0}")]
    Certificate(String),
    /// Operating-system I/O error.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// Reads the configuration again. The log shows its errors.
type Reload = Box<dyn Fn() -> Result<Config, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// A server that listens: the planner page and, if configured, a curator.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    curator: Option<SharedState>,
    /// Replaced when the certificate is read again.
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
    reload: Option<Reload>,
    releases: Option<ReleaseService>,
    metrics: Arc<Metrics>,
    body_memory: BodyMemory,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens on a loopback address. Port 0 chooses a free port.
    ///
    /// # Errors
    /// [`ServeError`] if the address is not a loopback address or cannot be listened on.
    pub fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address));
        }
        Self::listen(address)
    }

    /// Listens on any address, with TLS.
    ///
    /// # Errors
    /// [`ServeError`] if the certificate is unusable or the address cannot be listened on.
    pub fn bind_with_tls(address: SocketAddr, tls: &Tls) -> Result<Self, ServeError> {
        let acceptor = acceptor(tls)?;
        Ok(Self { tls: Some(Arc::new(RwLock::new(acceptor))), ..Self::listen(address)? })
    }

    fn listen(address: SocketAddr) -> Result<Self, ServeError> {
        let listener =
            TcpListener::bind(address).map_err(|error| ServeError::Listen(address, error))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (metrics, body_memory) = (Arc::default(), BodyMemory::new());
        let (curator, tls, reload, releases) = (None, None, None, None);
        Ok(Self { listener, address, curator, tls, reload, releases, metrics, body_memory })
    }

    /// Serves a curator as well.
    #[must_use]
    pub fn with_curator(self, curator: Curator) -> Self {
        let shared = SharedState::new(curator, Arc::clone(&self.metrics), self.body_memory.clone());
        Self { curator: Some(shared), ..self }
    }

    /// Reads the configuration and the certificate again at SIGHUP. Unusable files are logged and change nothing.
    #[must_use]
    pub fn with_reload(
        self,
        read: impl Fn() -> Result<Config, Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Self {
        Self { reload: Some(Box::new(read)), ..self }
    }

    /// Lets the page release studies of one data source. Also returns the key that authorizes releases: the program
    /// appends it to the page's address as `#key=`.
    ///
    /// # Errors
    /// [`ServeError`] if other machines can reach the page, or the system gives no random bytes.
    pub fn with_releaser(self, releaser: impl Releaser) -> Result<(Self, String), ServeError> {
        if self.tls.is_some() {
            return Err(ServeError::NotLoopback(self.address));
        }
        let (releases, key) = ReleaseService::new(releaser)?;
        Ok((Self { releases: Some(releases), ..self }, key))
    }

    /// The address that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// True if the server speaks TLS.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Serves until the program is interrupted or terminated. Before it returns, every charged question is answered and
    /// stored, and waiting clients receive their answers.
    ///
    /// # Errors
    /// [`ServeError`] if the system gives no threads or no signals.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = runtime()?;
        let access = match &self.tls {
            Some(_) => Access::Network,
            None => Access::Loopback(self.address.port()),
        };
        runtime.block_on(async {
            let (termination, hangups) = (termination()?, hangups()?);
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let limits = PlanningLimits::new(self.body_memory);
            let curator = self.curator.clone().map(Authenticator::new);
            let router = router(access, curator, self.releases, limits, &self.metrics);
            let (stop, stopped) = watch::channel(false);
            let clients = TaskTracker::new();
            let reloader =
                Reloader { read: self.reload, curator: self.curator.clone(), tls: self.tls };
            tokio::select! {
                () = accept(listener, router, reloader.tls.clone(), &clients, stopped) => {}
                () = reloader.run_forever(hangups) => {}
                () = termination => {}
            }
            let _ = stop.send(true);
            if let Some(curator) = &self.curator {
                curator.finish().await;
            }
            clients.close();
            let _ = timeout(SHUTDOWN_TIMEOUT, clients.wait()).await;
            Ok::<(), io::Error>(())
        })?;
        // Clients have disconnected, so nobody receives the plans that are still being computed.
        runtime.shutdown_background();
        Ok(())
    }
}

/// Replaces the curator and the certificate at SIGHUP.
struct Reloader {
    read: Option<Reload>,
    curator: Option<SharedState>,
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
}

impl Reloader {
    /// Reloads at each signal and never returns.
    async fn run_forever(&self, mut signals: impl AsyncFnMut()) {
        loop {
            signals().await;
            match tokio::task::block_in_place(|| self.reload()) {
                Ok(()) => tracing::info!("the configuration was read again"),
                Err(why) => tracing::error!(
                    why,
                    "the configuration cannot be read; the old one stays in use"
                ),
            }
        }
    }

    /// Replaces both the curator and the certificate, or neither.
    fn reload(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (Some(read), Some(shared)) = (&self.read, &self.curator) else { return Ok(()) };
        let config = read()?;
        let curator = Curator::open(&config)?;
        match (&self.tls, &config.tls) {
            (Some(tls), Some(files)) => {
                let new = acceptor(files)?;
                *tls.write().unwrap_or_else(PoisonError::into_inner) = new;
            }
            (None, None) => {}
            _ => return Err("tls was added or removed; legal: restart the program".into()),
        }
        shared.replace(curator);
        Ok(())
    }
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let certificate_error = |error: String| ServeError::Certificate(error);
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| certificate_error(format!("{}: {error}", tls.certificate.display())))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|error| certificate_error(format!("{}: {error}", tls.key.display())))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| certificate_error(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Waits for a signal that ends the program.
fn termination() -> io::Result<impl Future<Output = ()>> {
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

/// Returns a function that waits for the next SIGHUP.
fn hangups() -> io::Result<impl AsyncFnMut()> {
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
    let connection_limits = Arc::new(ConnectionLimits::default());
    loop {
        match listener.accept().await {
            Ok((stream, from)) if tls.is_some() || from.ip().is_loopback() => {
                let (permit, stop) = (Arc::new(connection_limits.admit()), stop.clone());
                let router = router.clone();
                let _ = stream.set_nodelay(true);
                let now = |tls: &Arc<RwLock<TlsAcceptor>>| {
                    tls.read().unwrap_or_else(PoisonError::into_inner).clone()
                };
                match tls.as_ref().map(now) {
                    None => drop(clients.spawn(serve(stream, router, permit, stop))),
                    Some(tls) => drop(clients.spawn(async move {
                        tokio::select! {
                            () = permit.evicted() => {}
                            handshake = timeout(HEADER_TIMEOUT, tls.accept(stream)) => {
                                if let Ok(Ok(stream)) = handshake {
                                    serve(stream, router, Arc::clone(&permit), stop).await;
                                }
                            }
                        }
                    })),
                }
            }
            Ok(_) => {}
            // For instance, too many files are open. Other connections will be closed soon.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Serves one client until its connection ends. Errors of a connection are not logged.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    permit: Arc<ConnectionPermit>,
    mut stop: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES);
    let (router, own) = (TowerToHyperService::new(router), Arc::clone(&permit));
    let service = service_fn(move |mut request| {
        request.extensions_mut().insert(Arc::clone(&own));
        router.call(request)
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = permit.evicted() => return,
        () = sleep(MAX_CONNECTION_AGE) => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(MAX_CONNECTION_AGE, connection).await;
}

/// Refuses requests without a valid token.
async fn require_token(
    State(authenticator): State<Authenticator>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    match Caller::<AnyRole>::from_request_parts(&mut head, &authenticator).await {
        Ok(_) => next.run(Request::from_parts(head, body)).await,
        Err(problem) => problem.into_response(),
    }
}

fn router(
    access: Access,
    curator: Option<Authenticator>,
    releases: Option<ReleaseService>,
    limits: PlanningLimits,
    metrics: &Arc<Metrics>,
) -> Router {
    let only = |route: MethodRouter<PlanningLimits>| route.fallback(wrong_method);
    let mut planner = Router::new()
        .route("/plan", only(post(plan_study)))
        .route("/least", only(post(bound_study)))
        .route("/progress", only(get(plan_progress)))
        .route("/study", only(post(convert_study)));
    // Other machines may plan only with a token.
    if let (Access::Network, Some(authenticator)) = (access, &curator) {
        planner = planner.layer(from_fn_with_state(authenticator.clone(), require_token));
    }
    let mut router = planner.fallback(not_found);
    for asset in &ASSETS {
        router = router.route(asset.path, only(get(async || asset.response())));
    }
    let router = match releases {
        Some(releases) => {
            router.with_state(limits.clone()).merge(release::router(releases, limits))
        }
        None => router.with_state(limits),
    };
    let router = match curator {
        Some(curator) => router.merge(api::router(curator)),
        None => router,
    };
    let router = router.layer(from_fn_with_state(access, guard));
    router.layer(from_fn_with_state(Arc::clone(metrics), record))
}
