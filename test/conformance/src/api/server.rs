//! The server under test: any server with a kubeconfig, or a service in this process.

use std::{fs, path::Path, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper_util::rt::TokioIo;
use manifest::{Value, YamlLimits, yaml};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Any error before an answer arrives.
pub type ServerError = Box<dyn std::error::Error + Send + Sync>;

/// An answer with a streaming body.
pub type Reply = Response<UnsyncBoxBody<Bytes, ServerError>>;

/// A server under test.
pub trait Server: Send + Sync {
    /// Sends a request. Its URI is path and query.
    fn send(&self, request: Request<Full<Bytes>>) -> BoxFuture<'_, Result<Reply, ServerError>>;
}

/// A server on the network, with one connection per request, HTTP/1.1 over TLS, and a bearer token.
#[derive(Debug)]
pub struct Https {
    host: String,
    port: u16,
    authorization: HeaderValue,
    tls: Arc<ClientConfig>,
}

impl Https {
    /// Uses the first cluster and the first user of a kubeconfig. The user must have a token.
    pub fn from_kubeconfig(path: &Path) -> Result<Self, ServerError> {
        let config = yaml::read_value(&fs::read_to_string(path)?, &YamlLimits::default())?;
        let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str);
        let server = text("/clusters/0/cluster/server").and_then(|url| url.strip_prefix("https://"));
        let (host, port) = server
            .and_then(|address| address.trim_end_matches('/').rsplit_once(':'))
            .ok_or("the kubeconfig names no https address with a port")?;
        let token = text("/users/0/user/token").ok_or("the kubeconfig has no token")?;
        let authority = match text("/clusters/0/cluster/certificate-authority-data") {
            Some(data) => BASE64_STANDARD.decode(data)?,
            None => fs::read(
                text("/clusters/0/cluster/certificate-authority").ok_or("the kubeconfig has no authority")?,
            )?,
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&authority) {
            roots.add(certificate?)?;
        }
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))?;
        authorization.set_sensitive(true);
        Ok(Self { host: host.to_owned(), port: port.parse()?, authorization, tls: Arc::new(tls) })
    }

    async fn send_over_tls(&self, mut request: Request<Full<Bytes>>) -> Result<Reply, ServerError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from(self.host.clone())?;
        let stream = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // The task ends when the answer is read or dropped. Its errors reach the reader of the body.
        tokio::spawn(connection);
        let headers = request.headers_mut();
        headers.insert(header::HOST, HeaderValue::from_str(&format!("{}:{}", self.host, self.port))?);
        headers.entry(header::AUTHORIZATION).or_insert_with(|| self.authorization.clone());
        let reply = sender.send_request(request).await?;
        Ok(reply.map(|body| body.map_err(ServerError::from).boxed_unsync()))
    }
}

impl Server for Https {
    fn send(&self, request: Request<Full<Bytes>>) -> BoxFuture<'_, Result<Reply, ServerError>> {
        self.send_over_tls(request).boxed()
    }
}

/// A service in this process.
#[derive(Clone, Debug)]
pub struct InProcess<S>(pub S);

impl<S, B> Server for InProcess<S>
where
    S: tower_service::Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync,
    S::Future: Send + 'static,
    S::Error: Into<ServerError> + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<ServerError>,
{
    fn send(&self, request: Request<Full<Bytes>>) -> BoxFuture<'_, Result<Reply, ServerError>> {
        let answer = self.0.clone().call(request);
        async { Ok(answer.await.map_err(Into::into)?.map(|body| body.map_err(Into::into).boxed_unsync())) }
            .boxed()
    }
}
