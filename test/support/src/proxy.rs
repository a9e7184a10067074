//! A proxy on loopback: HTTP `CONNECT` and SOCKS5 on one port, with or without a password.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::TcpStream,
};

use crate::listener::Listener;

/// The first byte of every SOCKS5 message, and the first byte of a reply to a password.
const SOCKS5: u8 = 5;
const PASSWORD_ANSWER: u8 = 1;
/// The two authentication methods of SOCKS5.
const NO_PASSWORD: u8 = 0;
const PASSWORD: u8 = 2;

/// The routes and the credentials of a proxy.
#[derive(Debug)]
struct Rules {
    /// Requested `host:port` and its actual address.
    routes: BTreeMap<String, SocketAddr>,
    /// The required `user:password`.
    password: Option<&'static str>,
    requested: Mutex<Vec<String>>,
}

/// A running proxy. Dropping the value stops the proxy.
#[derive(Debug)]
pub struct FakeProxy {
    rules: Arc<Rules>,
    listener: Listener,
}

impl FakeProxy {
    /// Starts a proxy with routes for these `host:port`, open to everyone.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn start<'r>(routes: impl IntoIterator<Item = (&'r str, SocketAddr)>) -> Self {
        Self::with_password(routes, None)
    }

    /// Starts a proxy that requires `user:password`.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn with_password<'r>(
        routes: impl IntoIterator<Item = (&'r str, SocketAddr)>,
        password: Option<&'static str>,
    ) -> Self {
        let routes = routes.into_iter().map(|(name, address)| (name.to_owned(), address)).collect();
        let rules = Arc::new(Rules { routes, password, requested: Mutex::default() });
        let for_all = Arc::clone(&rules);
        let listener = Listener::start(move |socket| connection(socket, Arc::clone(&for_all)));
        Self { rules, listener }
    }

    /// The address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// All `host:port` requested by authorized clients.
    pub fn requested(&self) -> Vec<String> {
        self.rules.requested.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn connection(mut socket: TcpStream, rules: Arc<Rules>) -> io::Result<()> {
    let mut first = [0];
    let is_socks = socket.peek(&mut first).await? == 1 && first[0] == SOCKS5;
    let there =
        if is_socks { socks(&mut socket, &rules).await? } else { connect(&mut socket, &rules).await? };
    let Some(mut there) = there else { return Ok(()) };
    copy_bidirectional(&mut socket, &mut there).await.map(drop)
}

impl Rules {
    async fn connect_to(&self, name: &str) -> Option<TcpStream> {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        TcpStream::connect(self.routes.get(name)?).await.ok()
    }
}

async fn connect(socket: &mut TcpStream, rules: &Rules) -> io::Result<Option<TcpStream>> {
    let mut head = Vec::new();
    // Reads byte by byte, so that bytes after the head stay in the tunnel.
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let shown = head.lines().filter_map(|line| line.split_once(": "));
    let shown = shown.filter(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    let shown: Vec<String> = shown.map(|(_, value)| value.to_owned()).collect();
    let wanted = rules.password.map(|password| format!("Basic {}", STANDARD.encode(password)));
    if wanted.is_some_and(|wanted| shown != [wanted]) {
        socket.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").await?;
        return Ok(None);
    }
    let there = rules.connect_to(head.split(' ').nth(1).unwrap_or_default()).await;
    let answer: &[u8] = match &there {
        Some(_) => b"HTTP/1.1 200 Connection established\r\n\r\n",
        None => b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
    };
    socket.write_all(answer).await?;
    Ok(there)
}

/// Serves SOCKS5. Source: RFC 1928, RFC 1929.
async fn socks(socket: &mut TcpStream, rules: &Rules) -> io::Result<Option<TcpStream>> {
    let [_, count] = read_array::<2>(socket).await?;
    let mut offered = vec![0; usize::from(count)];
    socket.read_exact(&mut offered).await?;
    let wanted = if rules.password.is_some() { PASSWORD } else { NO_PASSWORD };
    if !offered.contains(&wanted) {
        socket.write_all(&[SOCKS5, 0xff]).await?;
        return Ok(None);
    }
    socket.write_all(&[SOCKS5, wanted]).await?;
    if let Some(password) = rules.password {
        let _ = socket.read_u8().await?;
        let shown = format!("{}:{}", text(socket).await?, text(socket).await?);
        let refused = u8::from(shown != password);
        socket.write_all(&[PASSWORD_ANSWER, refused]).await?;
        if refused != 0 {
            return Ok(None);
        }
    }
    let [_, _, _, kind] = read_array::<4>(socket).await?;
    let host = match kind {
        1 => std::net::Ipv4Addr::from(read_array::<4>(socket).await?).to_string(),
        _ => text(socket).await?,
    };
    let port = socket.read_u16().await?;
    let there = rules.connect_to(&format!("{host}:{port}")).await;
    let outcome = if there.is_some() { 0 } else { 4 };
    socket.write_all(&[SOCKS5, outcome, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    Ok(there)
}

async fn read_array<const BYTES: usize>(socket: &mut TcpStream) -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    socket.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Reads a length and this many bytes.
async fn text(socket: &mut TcpStream) -> io::Result<String> {
    let length = socket.read_u8().await?;
    let mut bytes = vec![0; usize::from(length)];
    socket.read_exact(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
