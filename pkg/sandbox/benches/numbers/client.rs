//! One client for all servers.

use std::{fs, path::Path, sync::Arc};

use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use manifest::{Limits, yaml};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use sandbox::Sandbox;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower_service::Service as _;

/// What a client talks to.
#[derive(Clone)]
pub(crate) enum Server {
    InProcess(Sandbox),
    Wire(Wire),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// An address with everything that is needed to be let in.
#[derive(Clone)]
pub(crate) struct Wire {
    /// `127.0.0.1:40000`.
    address: String,
    authorization: String,
    tls: Arc<ClientConfig>,
    protocol: Protocol,
}

/// One client with a connection of its own, which stays open.
pub(crate) enum Client {
    InProcess(Sandbox),
    Http1(http1::SendRequest<Full<Bytes>>, Wire),
    Http2(http2::SendRequest<Full<Bytes>>, Wire),
}

/// A body as it comes.
pub(crate) type Incoming = UnsyncBoxBody<Bytes, anyhow::Error>;

impl Server {
    pub(crate) async fn client(&self) -> Result<Client> {
        match self {
            Self::InProcess(sandbox) => Ok(Client::InProcess(sandbox.clone())),
            Self::Wire(wire) => wire.connect().await,
        }
    }
}

impl Wire {
    /// Reads the first cluster and the first user of a kubeconfig; the user has a token.
    pub(crate) fn read(path: &Path, protocol: Protocol) -> Result<Self> {
        let config = yaml::read_value(&fs::read_to_string(path)?, &Limits::default())?;
        let text =
            |pointer: &str| config.pointer(pointer).and_then(Value::as_str).context(pointer.to_owned());
        let address = text("/clusters/0/cluster/server")?.trim_start_matches("https://").to_owned();
        let authority = match text("/clusters/0/cluster/certificate-authority-data") {
            Ok(data) => BASE64_STANDARD.decode(data)?,
            Err(_) => fs::read(text("/clusters/0/cluster/certificate-authority")?)?,
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&authority) {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = match protocol {
            Protocol::Http1 => vec![b"http/1.1".to_vec()],
            Protocol::Http2 => vec![b"h2".to_vec()],
        };
        let authorization = format!("Bearer {}", text("/users/0/user/token")?);
        Ok(Self { address, authorization, tls: Arc::new(tls), protocol })
    }

    async fn connect(&self) -> Result<Client> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("127.0.0.1")?;
        let stream = TokioIo::new(TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await?);
        // A connection ends with its client; its errors reach whoever reads an answer.
        Ok(match self.protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(stream).await?;
                tokio::spawn(connection);
                Client::Http1(sender, self.clone())
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
                tokio::spawn(connection);
                Client::Http2(sender, self.clone())
            }
        })
    }
}

impl Client {
    pub(crate) async fn get(&mut self, path: &str) -> Result<Bytes> {
        self.ask(Method::GET, path, "", Bytes::new()).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: Bytes) -> Result<Bytes> {
        self.ask(Method::POST, path, "application/json", body).await
    }

    /// Server-side apply.
    pub(crate) async fn apply(&mut self, path: &str, body: Bytes) -> Result<Bytes> {
        let path = format!("{path}?fieldManager=bench&force=true");
        self.ask(Method::PATCH, &path, "application/apply-patch+yaml", body).await
    }

    async fn ask(&mut self, method: Method, path: &str, content_type: &str, body: Bytes) -> Result<Bytes> {
        Ok(self.send(method, path, content_type, body).await?.collect().await?.to_bytes())
    }

    /// Sends a request that must succeed.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<Incoming> {
        let asked = format!("{method} {path}");
        let request = |target: String, authorization: Option<&str>| {
            let mut request = Request::builder().method(method).uri(target);
            request =
                request.header(header::USER_AGENT, "bench/1").header(header::ACCEPT, "application/json");
            if !content_type.is_empty() {
                request = request.header(header::CONTENT_TYPE, content_type);
            }
            if let Some(authorization) = authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            request.body(Full::new(body))
        };
        let response: Response<Incoming> = match self {
            Self::InProcess(sandbox) => {
                let response = sandbox.call(request(path.to_owned(), None)?).await?;
                response.map(|body| body.map_err(anyhow::Error::from).boxed_unsync())
            }
            Self::Http1(sender, wire) => {
                sender.ready().await?;
                let mut request = request(path.to_owned(), Some(&wire.authorization))?;
                request.headers_mut().insert(header::HOST, wire.address.parse()?);
                let response = sender.send_request(request).await?;
                response.map(|body| body.map_err(anyhow::Error::from).boxed_unsync())
            }
            Self::Http2(sender, wire) => {
                sender.ready().await?;
                let request = request(format!("https://{}{path}", wire.address), Some(&wire.authorization))?;
                let response = sender.send_request(request).await?;
                response.map(|body| body.map_err(anyhow::Error::from).boxed_unsync())
            }
        };
        if !response.status().is_success() {
            let (parts, body) = response.into_parts();
            let text = body.collect().await?.to_bytes();
            ensure!(false, "{asked}: {}: {}", parts.status, String::from_utf8_lossy(&text));
            unreachable!("the line above returns");
        }
        Ok(response.into_body())
    }
}
