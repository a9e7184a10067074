//! A server on loopback: a thread of its own, and a task for each connection.

use std::{io, net::SocketAddr, thread};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

/// It ends with this value.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Listener {
    /// Listens on a free port, and has `serve` speak over each connection.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    pub(crate) fn start<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        listener.set_nonblocking(true).expect("a fresh listener can be set to non-blocking");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(accept(listener, serve, stopped));
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by a panic of its own; then the join says so.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept<F>(
    listener: std::net::TcpListener,
    serve: impl Fn(TcpStream) -> F,
    mut stopped: oneshot::Receiver<()>,
) where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::from_std(listener).expect("the listener is non-blocking");
    loop {
        let socket = tokio::select! {
            _ = &mut stopped => return,
            socket = listener.accept() => socket,
        };
        let Ok((socket, _)) = socket else { continue };
        // A client that hangs up, or does not trust the certificate, is part of many tests.
        tokio::spawn(serve(socket));
    }
}
