//! HTTPS calls to webhooks: one request per connection, HTTP/1.1.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{Method, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;

use crate::identity;

/// The maximum size of an answer.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// Posts a review and returns the body of the answer.
pub(super) async fn post(
    url: &str,
    authorities: &[u8],
    timeout: Duration,
    body: Vec<u8>,
) -> Result<Bytes, String> {
    let trouble = |why: String| format!("Post \"{url}\": {why}");
    let exchanged = tokio::time::timeout(timeout, exchange(url, authorities, body)).await;
    let (status, is_text, body) =
        exchanged.map_err(|_| trouble("context deadline exceeded".to_owned()))?.map_err(trouble)?;
    if !status.is_success() {
        return Err(status_error(status, is_text, &body));
    }
    if body.is_empty() {
        let code = status.as_u16();
        return Err(format!("0-length response with status code: {code} and content type: application/json"));
    }
    Ok(body)
}

/// Returns the status, true if the content type is text or absent, and the body.
async fn exchange(url: &str, authorities: &[u8], body: Vec<u8>) -> Result<(StatusCode, bool, Bytes), String> {
    let uri: Uri = url.parse().map_err(|error| format!("invalid URL: {error}"))?;
    let host = uri.host().ok_or("no Host in request URL")?;
    let response = send(&uri, host, authorities, body).await?;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_text = kind.is_none_or(|kind| kind.starts_with("text/"));
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    Ok((status, is_text, body.map_err(|error| error.to_string())?.to_bytes()))
}

async fn send(
    uri: &Uri,
    host: &str,
    authorities: &[u8],
    body: Vec<u8>,
) -> Result<Response<Incoming>, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(443);
    let tcp = TcpStream::connect((bare, port)).await.map_err(|error| dial_error(&error, host, port))?;
    let name = ServerName::try_from(bare.to_owned()).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(authorities).flatten());
    let connector = identity::connector(roots).map_err(|error| error.to_string())?;
    let stream = connector.connect(name, tcp).await.map_err(|error| tls_error(&error))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = http::Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::HOST, uri.authority().map_or(host, |authority| authority.as_str()))
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())?;
    // The task ends soon after the answer, because the connection carries one request.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(|error| error.to_string())
}

fn dial_error(error: &io::Error, host: &str, port: u16) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => format!("dial tcp {host}:{port}: connect: connection refused"),
        // Resolver errors have no error kind of their own.
        _ if host.parse::<std::net::IpAddr>().is_err() => format!("dial tcp: lookup {host}: no such host"),
        _ => format!("dial tcp {host}:{port}: {error}"),
    }
}

fn tls_error(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(why)) = inner else {
        return error.to_string();
    };
    let words = match why {
        rustls::CertificateError::UnknownIssuer => "certificate signed by unknown authority".to_owned(),
        rustls::CertificateError::Expired | rustls::CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        why => why.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {words}")
}

/// The error message for an HTTP status. Source: apimachinery 1.36 `pkg/api/errors`, `NewGenericServerResponse`.
fn status_error(status: StatusCode, is_text: bool, body: &[u8]) -> String {
    let message =
        if is_text { String::from_utf8_lossy(body).trim().to_owned() } else { "unknown".to_owned() };
    match status.as_u16() {
        403 => message,
        404 => "the server could not find the requested resource".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the request"
            .to_owned(),
        500.. => format!("an error on the server (\"{message}\") has prevented the request from succeeding"),
        code => format!("the server responded with the status code {code} but did not return more information"),
    }
}
