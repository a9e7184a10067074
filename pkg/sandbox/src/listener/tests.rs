use hyper::client::conn::http1::{SendRequest, handshake};
use rustls::{RootCertStore, pki_types::ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::client::TlsStream;

use super::*;
use crate::{ControlService, Options, Sandbox, identity};

const LONG: Duration = Duration::from_mins(10);

async fn listen(connections: usize, headers: Duration) -> (Listener, Identity) {
    let identity = Identity::generate().unwrap();
    let control = ControlService::new(Sandbox::start(Options::default()).await.unwrap());
    let limits = ClientLimits { connections, headers };
    (Listener::bind_within(limits, control, &identity, 0).await.unwrap(), identity)
}

async fn connect(address: SocketAddr, identity: &Identity) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(identity.authority_der()).unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = identity::connector(roots).unwrap();
    connector.connect(ServerName::from(address.ip()), stream).await.unwrap()
}

async fn client(address: SocketAddr, identity: &Identity) -> SendRequest<String> {
    let (sender, connection) = handshake(TokioIo::new(connect(address, identity).await)).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn is_alive(sender: &mut SendRequest<String>) -> bool {
    let request = Request::get("/livez").header("host", "sandbox").body(String::new()).unwrap();
    sender.send_request(request).await.unwrap().status().is_success()
}

#[tokio::test]
async fn a_client_that_sends_no_headers_is_disconnected() {
    let (listener, identity) = listen(10, Duration::from_millis(20)).await;
    for start in ["", "GET /livez HTTP/1.1\r\nhost: "] {
        let mut stream = connect(listener.address(), &identity).await;
        stream.write_all(start.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        // Without the limit, the response never ends. The cut may come with a response or without a shutdown message.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}

#[tokio::test]
async fn a_client_beyond_the_limit_waits_for_another_to_leave() {
    let (listener, identity) = listen(1, LONG).await;
    let address = listener.address();
    let mut first = client(address, &identity).await;
    assert!(is_alive(&mut first).await);
    let second = tokio::spawn(async move { is_alive(&mut client(address, &identity).await).await });
    for _ in 0..20 {
        assert!(is_alive(&mut first).await);
    }
    assert!(!second.is_finished());
    drop(first);
    assert!(second.await.unwrap());
}
