//! A server on loopback with a separate thread, and a task per connection.

use std::{io, net::SocketAddr, thread};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

/// A listening server. Dropping the value stops the server.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Listener {
    /// Listens on a free port and runs `serve` for each connection.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
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
            runtime.expect("a runtime can be created").block_on(accept(listener, serve, stopped));
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// The address of the server.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have panicked already; joining it reports the panic.
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
        // Many tests use clients that close the connection or reject the certificate.
        tokio::spawn(serve(socket));
    }
}
