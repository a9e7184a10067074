//! The subset of HTTP/1.1 for GET requests and short POST requests.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;

use super::{ReceivedRequest, Reply, Script, lock, reply::ReplyEnding};

/// The first byte of every TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;

pub(super) async fn connection(
    mut socket: TcpStream,
    acceptor: TlsAcceptor,
    script: Arc<Mutex<Script>>,
) -> io::Result<()> {
    let script = &*script;
    if starts_with_tls(&socket).await? {
        return requests(acceptor.accept(socket).await?, None, true, script).await;
    }
    let Some(head) = read_head(&mut socket).await? else { return Ok(()) };
    if !head.starts_with("CONNECT ") {
        return requests(socket, Some(head), false, script).await;
    }
    lock(script).received.push(received(&head, false));
    socket.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    if starts_with_tls(&socket).await? {
        requests(acceptor.accept(socket).await?, None, true, script).await
    } else {
        requests(socket, None, false, script).await
    }
}

async fn starts_with_tls(socket: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    Ok(socket.peek(&mut first).await? == 1 && first[0] == TLS_HANDSHAKE)
}

/// Answers requests until the client closes the connection or a scripted fault ends it.
async fn requests(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    first: Option<String>,
    tls: bool,
    script: &Mutex<Script>,
) -> io::Result<()> {
    let mut first = first;
    loop {
        let head = match first.take() {
            Some(head) => head,
            None => match read_head(&mut stream).await? {
                Some(head) => head,
                None => return Ok(()),
            },
        };
        let mut received = received(&head, tls);
        let length = received.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        received.body = vec![0; length];
        stream.read_exact(&mut received.body).await?;
        let reply = answer(received, script);
        if !write_reply(&mut stream, &reply, head.starts_with("HEAD ")).await? {
            return Ok(());
        }
    }
}

pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    // Reads byte by byte, so that bytes after the head stay in the stream for the next reader.
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

fn received(head: &str, tls: bool) -> ReceivedRequest {
    let mut lines = head.lines();
    let mut start = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (start.next().unwrap_or_default().to_owned(), start.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let host =
        headers.iter().find(|(name, _)| name == "host").map(|(_, host)| host.clone()).unwrap_or_default();
    // A request through a proxy contains the full url.
    let target = target.strip_prefix(&format!("http://{host}")).unwrap_or(target);
    let target = if method == "CONNECT" { String::new() } else { target.to_owned() };
    let host = host.split(':').next().unwrap_or_default().to_owned();
    ReceivedRequest { method, host, target, headers, body: Vec::new(), tls }
}

fn answer(received: ReceivedRequest, script: &Mutex<Script>) -> Reply {
    let mut script = lock(script);
    let address = received.address();
    script.received.push(received);
    match script.replies.get_mut(&address) {
        Some(replies) if replies.len() > 1 => replies.pop_front(),
        Some(replies) => replies.front().cloned(),
        None => None,
    }
    .unwrap_or_else(|| Reply::json(404, r#"{"message":"Not Found"}"#))
}

/// Writes a reply, or only its head for HEAD requests. True if the connection stays open.
async fn write_reply(
    stream: &mut (impl AsyncWrite + AsyncRead + Unpin),
    reply: &Reply,
    is_head: bool,
) -> io::Result<bool> {
    if reply.ending == ReplyEnding::Close {
        return Ok(false);
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    if reply.ending != ReplyEnding::NoContentLength {
        head.push_str("content-length: ");
        head.push_str(&reply.body.len().to_string());
        head.push_str("\r\n");
    }
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    let sent = match reply.ending {
        _ if is_head => &[],
        ReplyEnding::CutAfter(bytes) | ReplyEnding::StallAfter(bytes) => {
            &reply.body[..bytes.min(reply.body.len())]
        }
        ReplyEnding::Trickle(every) => {
            for byte in &reply.body {
                stream.write_all(&[*byte]).await?;
                stream.flush().await?;
                tokio::time::sleep(every).await;
            }
            &[]
        }
        ReplyEnding::Complete | ReplyEnding::NoContentLength | ReplyEnding::Close => &reply.body,
    };
    stream.write_all(sent).await?;
    stream.flush().await?;
    if reply.ending == ReplyEnding::NoContentLength {
        stream.shutdown().await?;
    }
    if let ReplyEnding::StallAfter(_) = reply.ending {
        // Sends nothing until the client gives up.
        let mut rest = [0; 64];
        while stream.read(&mut rest).await? > 0 {}
    }
    Ok(reply.ending == ReplyEnding::Complete)
}
