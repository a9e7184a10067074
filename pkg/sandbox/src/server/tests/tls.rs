//! Tests of the listener: authentication and shutdown.

use std::{net::SocketAddr, sync::Arc};

use http::StatusCode;
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::*;
use crate::{ControlService, Identity, Listener, control};

struct Port {
    control: ControlService,
    identity: Identity,
    listener: Listener,
}

impl Port {
    async fn open(sandbox: Sandbox) -> Self {
        let (control, identity) = (ControlService::new(sandbox), Identity::generate().unwrap());
        let listener = Listener::bind(control.clone(), &identity, 0).await.unwrap();
        Self { control, identity, listener }
    }

    async fn get(&self, path: &str, authorization: &str) -> Result<(StatusCode, Value), hyper::Error> {
        get_at(self.listener.address(), self.identity.clone(), path.to_owned(), authorization.to_owned())
            .await
    }
}

/// Sends a GET over a separate connection. Fails if the connection breaks.
async fn get_at(
    address: SocketAddr,
    identity: Identity,
    path: String,
    authorization: String,
) -> Result<(StatusCode, Value), hyper::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(identity.authority_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::get(path).header("host", "127.0.0.1");
    if !authorization.is_empty() {
        request = request.header("authorization", authorization);
    }
    let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

#[tokio::test]
async fn only_probes_are_served_without_the_token() {
    let port = Port::open(sandbox().await).await;
    let token = port.identity.token().to_owned();
    for (path, authorization, code) in [
        ("/api/v1/namespaces", format!("Bearer {token}"), 200),
        ("/api/v1/namespaces", format!("bearer  {token} "), 200),
        ("/api/v1/namespaces", format!("Bearer {token}x"), 401),
        ("/api/v1/namespaces", format!("Bearer {}", &token[1..]), 401),
        ("/api/v1/namespaces", "Bearer ".to_owned(), 403),
        ("/api/v1/namespaces", format!("Basic {token}"), 403),
        ("/api/v1/namespaces", String::new(), 403),
        ("/sandbox/requests", String::new(), 403),
        ("/sandbox/faults", "Bearer x".to_owned(), 401),
        ("/readyz", String::new(), 200),
        ("/version", String::new(), 200),
        ("/version", "Bearer x".to_owned(), 401),
    ] {
        let (status, body) = port.get(path, &authorization).await.unwrap();
        assert_eq!(status, code, "{path}: {body}");
        assert!(!body.to_string().contains(&token));
    }
}

#[tokio::test]
async fn audit_requests_can_be_read_from_a_position() {
    let port = Port::open(sandbox().await).await;
    let authorization = format!("Bearer {}", port.identity.token());
    for path in ["/version", "/api", "/apis"] {
        port.get(path, &authorization).await.unwrap();
    }
    let (_, log) = port.get("/sandbox/requests?since=1", &authorization).await.unwrap();
    let paths: Vec<_> =
        log["requests"].as_array().unwrap().iter().map(|request| request["path"].as_str().unwrap()).collect();
    assert_eq!((&log["answered"], paths), (&json!(3), vec!["/api", "/apis"]));
    assert_eq!(port.get("/sandbox/requests?since=x", &authorization).await.unwrap().0, 400);
}

#[tokio::test]
async fn an_identity_without_a_token_accepts_no_client() {
    let mut kept = serde_json::to_value(Identity::generate().unwrap()).unwrap();
    kept["token"] = "".into();
    let identity: Identity = serde_json::from_value(kept).unwrap();
    let control = ControlService::new(sandbox().await);
    let listener = Listener::bind(control.clone(), &identity, 0).await.unwrap();
    let port = Port { control, identity, listener };
    for authorization in ["", "Bearer", "Bearer ", "Bearer  "] {
        assert_eq!(port.get("/api/v1/namespaces", authorization).await.unwrap().0, 403);
    }
}

#[tokio::test]
async fn a_fault_cuts_the_connection_and_the_next_one_works() {
    let port = Port::open(with_faults(&["cut-before,times=1"]).await).await;
    let authorization = format!("Bearer {}", port.identity.token());
    assert!(port.get("/api/v1/namespaces", &authorization).await.is_err());
    assert_eq!(port.get("/api/v1/namespaces", &authorization).await.unwrap().0, 200);
}

#[tokio::test]
async fn only_the_identity_token_can_stop_a_sandbox() {
    let port = Port::open(sandbox().await).await;
    let url = port.listener.url();
    let stranger = Identity::generate().unwrap();
    assert!(control::stop(&url, &stranger).await.is_err());
    control::stop(&url, &port.identity).await.unwrap();
    port.control.wait_for_stop().await;
    let address = port.listener.address();
    port.listener.stop().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_open_watch_does_not_keep_a_listener_from_stopping() {
    let sandbox = sandbox().await;
    let Port { identity, listener, .. } = Port::open(sandbox.clone()).await;
    let authorization = format!("Bearer {}", identity.token());
    let watch = get_at(listener.address(), identity, "/api/v1/namespaces?watch=1".to_owned(), authorization);
    let watch = tokio::spawn(watch);
    while sandbox.audit().answered() == 0 {
        tokio::task::yield_now().await;
    }
    listener.stop().await;
    assert!(watch.await.unwrap().is_err());
}
