//! The address of a server and the security of connections to it. Connections are encrypted and the server's
//! certificate is checked; only connections within one machine are not encrypted, unless the URL says otherwise.

use std::error::Error;
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::DatabaseError;
use super::replicas::Replicas;

const MODES: &str = "disable, or verify-full (require means the same)";

/// The address of a server, and how connections to it are encrypted.
pub struct Target {
    config: Config,
    /// The certificates that vouch for the server; `None` without TLS.
    roots: Option<TrustedRoots>,
    replicas: Replicas,
    schema: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum TrustedRoots {
    System,
    File(String),
}

/// Does not show the password.
impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}

impl Target {
    /// Reads a URL, with its settings `sslmode`, `sslrootcert`, `replicas` and `schema`.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if the text is not a URL, or a setting is not legal.
    pub fn read(url: &str) -> Result<Self, DatabaseError> {
        let (place, settings) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut file, mut rest) = (None, None, Vec::new());
        let (mut replicas, mut schema) = (Replicas::default(), None);
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => file = Some(decoded(value)?),
                Some(("replicas", value)) => replicas = Replicas::read(value)?,
                Some(("schema", value)) => schema = Some(value.to_owned()),
                _ => rest.push(setting),
            }
        }
        let url = match rest.as_slice() {
            [] => place.to_owned(),
            rest => format!("{place}?{}", rest.join("&")),
        };
        let mut config: Config = url.parse().map_err(|error| failed(&error))?;
        let encrypted = match mode {
            Some("require" | "verify-full") => true,
            Some("disable") if file.is_none() => false,
            Some("disable") => return Err(unusable("sslrootcert is given with sslmode=disable")),
            Some(other) => return Err(unusable(&format!("sslmode is {other:?}"))),
            None => file.is_some() || !is_local(&config),
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        let roots = encrypted.then(|| file.map_or(TrustedRoots::System, TrustedRoots::File));
        let schema = schema.or_else(|| first_searched(config.get_options()?));
        Ok(Self { config, roots, replicas, schema })
    }

    /// The schema of the ledger: `schema` in the URL, a search path among its options, or public.
    pub(super) fn schema(&self) -> Result<&str, DatabaseError> {
        let name = self.schema.as_deref().unwrap_or("public");
        if is_schema(name) {
            return Ok(name);
        }
        let problem =
            format!("schema is {name:?}; legal: 1 to 63 of a-z, 0-9 and _, no digit first");
        Err(DatabaseError::Unusable(problem))
    }

    /// The setting for replicas.
    pub(super) fn replicas(&self) -> Replicas {
        self.replicas
    }

    /// Chooses, of several servers, one that accepts writes.
    #[must_use]
    pub(super) fn writable(mut self) -> Self {
        if self.config.get_hosts().len().max(self.config.get_hostaddrs().len()) > 1 {
            self.config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        self
    }

    /// Connects, within a runtime that then carries the client's messages. `warned` gets every warning of the server
    /// before the reply that the warning is about.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] with the reason if there is no connection.
    pub async fn connect(
        &self,
        warned: impl FnMut(String) + Send + 'static,
    ) -> Result<(Client, JoinHandle<()>), DatabaseError> {
        let Some(roots) = &self.roots else {
            let connected = self.config.connect(NoTls).await;
            let (client, connection) = connected.map_err(|error| failed(&error))?;
            return Ok((client, tokio::spawn(carry_messages(connection, warned))));
        };
        let connected = self.config.connect(MakeRustlsConnect::new(roots.tls_config()?)).await;
        let (client, connection) = connected.map_err(|error| {
            let problem = described(&error);
            // The cause may be the server's TLS or something else; the legal modes are shown in both cases.
            DatabaseError::Unusable(format!("{problem} (with TLS; legal sslmode: {MODES})"))
        })?;
        Ok((client, tokio::spawn(carry_messages(connection, warned))))
    }
}

/// The schema of a search path among a URL's options, if they set one.
fn first_searched(options: &str) -> Option<String> {
    options.split_whitespace().find_map(|option| {
        let path = option.strip_prefix("-c").unwrap_or(option).strip_prefix("search_path=")?;
        Some(path.to_owned())
    })
}

fn is_schema(name: &str) -> bool {
    let legal =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
    (1..=63).contains(&name.len())
        && name.bytes().all(legal)
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Carries messages until the connection ends.
async fn carry_messages<S, T>(mut connection: Connection<S, T>, mut warned: impl FnMut(String))
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            AsyncMessage::Notice(notice) if is_warning(&notice) => warned(notice.to_string()),
            _ => {}
        }
    }
}

fn is_warning(notice: &DbError) -> bool {
    use Severity::{Debug, Info, Log, Notice};
    !matches!(notice.parsed_severity(), Some(Debug | Info | Log | Notice))
}

impl TrustedRoots {
    /// The TLS configuration that accepts servers whose certificates these roots vouch for.
    fn tls_config(&self) -> Result<ClientConfig, DatabaseError> {
        let mut store = RootCertStore::empty();
        let bad = |error: String| DatabaseError::Unusable(format!("sslrootcert: {error}"));
        match self {
            Self::System => {
                store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Self::File(path) => {
                let list = CertificateDer::pem_file_iter(path)
                    .map_err(|error| bad(format!("{path}: {error}")))?;
                for certificate in list {
                    let certificate = certificate.map_err(|error| bad(error.to_string()))?;
                    store.add(certificate).map_err(|error| bad(error.to_string()))?;
                }
            }
        }
        if store.is_empty() {
            return Err(bad(
                "it holds no certificate; legal: a PEM file with certificates".to_owned()
            ));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(error.to_string()))?;
        let mut config = builder.with_root_certificates(store).with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(config)
    }
}

/// True if the connection does not leave the machine.
fn is_local(config: &Config) -> bool {
    let local_name = |name: &str| {
        name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    };
    let local_host = |host: &Host| match host {
        Host::Tcp(name) => local_name(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(local_host),
        addresses => addresses.iter().all(IpAddr::is_loopback),
    }
}

/// Decodes a path from its spelling in a URL.
fn decoded(value: &str) -> Result<String, DatabaseError> {
    let path = percent_encoding::percent_decode_str(value).decode_utf8();
    let bad =
        |_| DatabaseError::Unusable("sslrootcert is not valid UTF-8; legal: a path".to_owned());
    path.map(std::borrow::Cow::into_owned).map_err(bad)
}

fn unusable(problem: &str) -> DatabaseError {
    DatabaseError::Unusable(format!("{problem}; legal: {MODES}"))
}

/// The error for a server that cannot be used, with the reason.
pub(super) fn failed(error: &tokio_postgres::Error) -> DatabaseError {
    DatabaseError::Unusable(described(error))
}

/// An error and its cause, in one line.
pub(super) fn described(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> Result<(SslMode, Option<TrustedRoots>), String> {
        let target = Target::read(url).map_err(|error| error.to_string())?;
        Ok((target.config.get_ssl_mode(), target.roots))
    }

    #[test]
    fn only_what_stays_on_the_machine_goes_without_tls() {
        for local in ["localhost", "127.0.0.1:5433", "127.9.9.9", "[::1]:5432", "%2Frun%2Fpostgres"]
        {
            let url = format!("postgres://u@{local}/d");
            assert_eq!(mode(&url), Ok((SslMode::Disable, None)), "{url}");
            let verified = Ok((SslMode::Require, Some(TrustedRoots::System)));
            assert_eq!(mode(&format!("{url}?sslmode=require")), verified);
            assert_eq!(mode(&format!("{url}?connect_timeout=3&sslmode=verify-full")), verified);
        }
        for remote in
            ["example.org", "10.0.0.1", "localhost,example.org", "localhost/d?hostaddr=10.0.0.1&x="]
        {
            let url = format!("postgres://u@{remote}");
            let Ok((mode, roots)) = mode(&url) else { continue };
            assert_eq!((mode, roots), (SslMode::Require, Some(TrustedRoots::System)), "{url}");
        }
        let url = "postgres://u@example.org/d?sslrootcert=%2Fetc%2Fca%20one.pem";
        let file = TrustedRoots::File("/etc/ca one.pem".to_owned());
        assert_eq!(mode(url), Ok((SslMode::Require, Some(file))));
        assert_eq!(
            mode("postgres://u@example.org/d?sslmode=disable"),
            Ok((SslMode::Disable, None))
        );
        for weak in ["prefer", "allow", "verify-ca", ""] {
            let error = mode(&format!("postgres://u@h/d?sslmode={weak}")).unwrap_err();
            let expected = format!("sslmode is {weak:?}; legal: {MODES}");
            assert_eq!(error, expected);
        }
        let both = "postgres://u@h/d?sslmode=disable&sslrootcert=x";
        assert!(mode(both).unwrap_err().starts_with("sslrootcert is given with sslmode=disable"));
    }
}
