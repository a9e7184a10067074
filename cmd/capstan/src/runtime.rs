use std::{
    cell::OnceCell,
    convert::Infallible,
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use api::ExitStatus;
use futures::FutureExt as _;
use tokio::{
    runtime::{Builder, Runtime as Tokio},
    sync::Notify,
};

use crate::{
    failure::{Failure, Kind},
    ui::{Progress, TICK, restore_terminal},
};

/// Runs futures on one thread, created on first use. Handles Ctrl-C, SIGTERM and the live line.
pub(crate) struct Runtime {
    tokio: OnceCell<Tokio>,
    progress: Progress,
    interrupts: Arc<Interrupts>,
}

/// The state of Ctrl-C since the first wait. SIGTERM counts as Ctrl-C, with another exit status.
#[derive(Default)]
struct Interrupts {
    is_installed: AtomicBool,
    /// True if a wait listens to `received`. Otherwise Ctrl-C ends the process at once, as without a handler.
    is_waiting: AtomicBool,
    /// True if one Ctrl-C outside of a wait is kept for the next wait.
    is_deferred: AtomicBool,
    received: Notify,
    /// True after a Ctrl-C that did not end the process.
    was_received: Arc<AtomicBool>,
    /// True if the last signal was SIGTERM.
    is_terminated: AtomicBool,
}

impl Runtime {
    pub(crate) fn new(progress: Progress) -> Self {
        Self { tokio: OnceCell::new(), progress, interrupts: Arc::default() }
    }

    /// Keeps one Ctrl-C outside of a wait for the next wait. A second one ends the process.
    /// Returns a flag that becomes true at the first Ctrl-C.
    pub(crate) fn defer_interrupts(&self) -> Arc<AtomicBool> {
        self.interrupts.is_deferred.store(true, Ordering::SeqCst);
        Interrupts::install_handler(&self.interrupts, &self.progress);
        Arc::clone(&self.interrupts.was_received)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupts.was_received.load(Ordering::SeqCst)
    }

    /// Returns the status of an interrupted process.
    pub(crate) fn interrupted_status(&self) -> ExitStatus {
        self.interrupts.status()
    }

    /// Runs a future to its end. Ctrl-C drops the future.
    pub(crate) fn block_on<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        self.run(future, pin!(self.interrupts.received.notified()))
    }

    /// Runs a future that ends by itself after a Ctrl-C. The future receives another one, which ends at that Ctrl-C. A
    /// second Ctrl-C ends the process.
    pub(crate) fn block_on_to_end<T, E: Into<Failure>, F: Future<Output = Result<T, E>>>(
        &self,
        make: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>) -> F,
    ) -> Result<T, Failure> {
        let interrupts = Arc::clone(&self.interrupts);
        let future = make(Box::pin(async move { interrupts.received.notified().await }));
        let result = self.run(future, pin!(std::future::pending()));
        // The interruption of this future is none of a later one.
        let _ = self.interrupts.received.notified().now_or_never();
        result
    }

    fn run<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
        stop: Pin<&mut dyn Future<Output = ()>>,
    ) -> Result<T, Failure> {
        let mut result = None;
        self.drive(self.tokio()?, pin!(async { result = Some(future.await) }), stop);
        result.map_or_else(|| Err(Failure::interrupted()), |result| result.map_err(Into::into))
    }

    /// Runs a future to its end or until `stop`. Trait objects keep this code from being compiled more than once.
    fn drive(
        &self,
        tokio: &Tokio,
        mut future: Pin<&mut dyn Future<Output = ()>>,
        stop: Pin<&mut dyn Future<Output = ()>>,
    ) {
        // A future that only reads files ends at the first poll and needs neither a signal handler nor a timer.
        let context = tokio.enter();
        if future.as_mut().now_or_never().is_some() {
            return;
        }
        drop(context);
        self.interrupts.is_waiting.store(true, Ordering::SeqCst);
        Interrupts::install_handler(&self.interrupts, &self.progress);
        tokio.block_on(async {
            tokio::select! {
                biased;
                () = future => {}
                () = stop => {}
                never = draw(&self.progress), if self.progress.is_live() => match never {},
            }
        });
        self.interrupts.is_waiting.store(false, Ordering::SeqCst);
        self.progress.end();
    }

    fn tokio(&self) -> Result<&Tokio, Failure> {
        if let Some(tokio) = self.tokio.get() {
            return Ok(tokio);
        }
        let tokio = Builder::new_current_thread().enable_all().build().map_err(|error| {
            Failure::new(Kind::Environment, "cannot start the asynchronous runtime").because(&error)
        })?;
        Ok(self.tokio.get_or_init(|| tokio))
    }
}

async fn draw(progress: &Progress) -> Infallible {
    loop {
        tokio::time::sleep(TICK).await;
        progress.tick();
    }
}

impl Interrupts {
    /// Installs the handler once, before this call returns. The handler stays for the rest of the process, so it also
    /// handles Ctrl-C outside of a wait. Otherwise a read from a terminal could not be interrupted.
    fn install_handler(this: &Arc<Self>, progress: &Progress) {
        if this.is_installed.swap(true, Ordering::SeqCst) {
            return;
        }
        // Without the runtime, the signals or the thread, a signal ends the process, as before the first wait.
        let Ok(tokio) = Builder::new_current_thread().enable_io().build() else { return };
        let Ok(mut signals) = tokio.block_on(async { Signals::listen() }) else { return };
        let (this, progress) = (Arc::clone(this), progress.clone());
        let watch = move || {
            tokio.block_on(async {
                while let Some(is_terminated) = signals.next().await {
                    this.is_terminated.store(is_terminated, Ordering::SeqCst);
                    this.handle(&progress);
                }
            });
        };
        let _ = std::thread::Builder::new().name("interrupts".to_owned()).spawn(watch);
    }

    fn status(&self) -> ExitStatus {
        if self.is_terminated.load(Ordering::SeqCst) {
            ExitStatus::Terminated
        } else {
            ExitStatus::Interrupted
        }
    }

    fn handle(&self, progress: &Progress) {
        if self.is_waiting.swap(false, Ordering::SeqCst) || self.is_deferred.swap(false, Ordering::SeqCst) {
            self.was_received.store(true, Ordering::SeqCst);
            self.received.notify_one();
        } else {
            progress.end();
            restore_terminal();
            // No wait can be notified. Files are written completely or not at all.
            std::process::exit(i32::from(self.status().code()));
        }
    }
}

/// The signals that ask the process to end.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Requires a runtime.
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal. True for SIGTERM.
    async fn next(&mut self) -> Option<bool> {
        tokio::select! {
            received = self.interrupt.recv() => received.map(|()| false),
            received = self.terminate.recv() => received.map(|()| true),
        }
    }
}

#[cfg(not(unix))]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Signals {
    /// Requires a runtime.
    fn listen() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next Ctrl-C.
    async fn next(&mut self) -> Option<bool> {
        self.0.recv().await.map(|()| false)
    }
}
