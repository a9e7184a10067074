//! The fence between requests that write and the network: no byte passes unless the lease was confirmed recently.
//!
//! A check before a request does not cover a process that is stopped during the request or while it connects. When the
//! process continues, the rest of the request would follow, perhaps long after another run has taken over.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures::{FutureExt as _, TryFutureExt as _, future::BoxFuture};
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection, HttpConnector},
    rt::TokioIo,
};
use tokio::net::TcpStream;
use tower::Service;

use crate::lease::{LeaseConfirmation, MAX_CONFIRMATION_AGE};

/// The leases that each write needs. Without leases, all bytes pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fence(Arc<Mutex<Vec<Arc<LeaseConfirmation>>>>);

impl Fence {
    /// Replaces the required leases.
    pub(crate) fn set_leases(&self, leases: impl Iterator<Item = Arc<LeaseConfirmation>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = leases.collect();
    }

    fn check(&self) -> io::Result<()> {
        let leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if leases.iter().all(|lease| lease.is_confirmed_within(MAX_CONFIRMATION_AGE)) {
            return Ok(());
        }
        Err(io::Error::other("the lease was not confirmed while the request was sent"))
    }
}

/// A connector for TCP connections behind a fence.
#[derive(Clone)]
pub(super) struct FencedConnector {
    tcp: HttpConnector,
    fence: Fence,
}

/// A TCP connection behind a fence.
pub(super) struct FencedStream {
    tcp: TokioIo<TcpStream>,
    fence: Fence,
}

impl FencedConnector {
    pub(super) fn new(fence: &Fence) -> Self {
        let mut tcp = HttpConnector::new();
        // The caller adds TLS on top, so `https` URLs must be accepted.
        tcp.enforce_http(false);
        Self { tcp, fence: fence.clone() }
    }
}

impl Service<Uri> for FencedConnector {
    type Response = FencedStream;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = BoxFuture<'static, Result<FencedStream, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let fence = self.fence.clone();
        self.tcp.call(to).map_ok(|tcp| FencedStream { tcp, fence }).boxed()
    }
}

impl Read for FencedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buffer)
    }
}

impl Write for FencedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.fence.check()?;
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.fence.check()?;
        Pin::new(&mut self.tcp).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

impl Connection for FencedStream {
    fn connected(&self) -> Connected {
        self.tcp.connected()
    }
}
