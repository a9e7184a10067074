use std::io;

use futures::{FutureExt as _, channel::oneshot};
use sandbox::{ControlService, ListenError, Listener, OpenError, Options, Sandbox, StartError};

use super::{
    components::SandboxController,
    start::{Start, StartPlan, show_access},
};
use crate::{
    Failure,
    failure::Kind,
    sandboxes::{SandboxFolder, SandboxProcess, SandboxSettings},
    session::Session,
    ui::Messages,
};

/// The number of threads that answer requests. Waiting requests block no thread.
const WORKERS: usize = 2;

/// Serves in this process until Ctrl-C, a termination signal, or `sandbox stop`.
pub(super) fn serve(
    args: &Start,
    folder: &SandboxFolder,
    plan: StartPlan,
    session: &mut Session,
) -> Result<(), Failure> {
    let Some(lock) = folder.lock()? else {
        return Err(Failure::new(
            Kind::Conflict,
            format!("another process has just started sandbox `{}`", folder.name()),
        ));
    };
    // A leftover record of a killed process would look valid while the lock is held.
    folder.delete_process(&lock);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(
            |error| Failure::new(Kind::Environment, "cannot start the asynchronous runtime").because(&error),
        )?;
    let repositories = plan.with_controller.then(|| session.repositories()).transpose()?;
    let ended = runtime.block_on(async {
        let server = Server::start(folder, plan, session.messages()).await?;
        let termination = Termination::listen();
        let controller = match repositories {
            Some(context) => Some(SandboxController::prepare(&server.sandbox, context, session).await?),
            None => None,
        };
        server.announce(folder)?;
        session.printer().write(format!("{}\n", folder.kubeconfig().display()))?;
        session.printer().flush()?;
        session.messages().status(format!("sandbox `{}` serves at {}", folder.name(), server.listener.url()));
        show_access(args, folder, session)?;
        server.wait_until_stopped(termination, controller).await
    });
    folder.delete_process(&lock);
    ended?;
    session.show_result(format!("stopped sandbox `{}`", folder.name()));
    Ok(())
}

struct Server {
    sandbox: Sandbox,
    control: ControlService,
    listener: Listener,
    identity: sandbox::Identity,
}

impl Server {
    async fn start(folder: &SandboxFolder, plan: StartPlan, messages: &Messages) -> Result<Self, Failure> {
        let SandboxSettings { port, data_dir } = plan.settings;
        let options = Options {
            data_dir: data_dir.clone(),
            process_id: Some(std::process::id()),
            controllers: plan.switches,
            service_webhooks: plan.service_webhooks,
            faults: plan.faults,
            ..Options::default()
        };
        let identity = folder.ensure_identity()?;
        let sandbox = Sandbox::start(options).await.map_err(|error| start_failure(&error))?;
        if let Some(cut_off) = sandbox.journal_report().and_then(|report| report.truncated_end) {
            messages.warning(format!(
                "ignored an incomplete last change in `{}` ({} bytes); the previous process was killed",
                cut_off.file.display(),
                cut_off.bytes
            ));
        }
        let control = ControlService::new(sandbox.clone());
        let bound = match Listener::bind(control.clone(), &identity, port.unwrap_or(0)).await {
            // Another program uses the previous port. Only an explicitly requested port must not change.
            Err(ListenError::Bind { source, .. })
                if source.kind() == io::ErrorKind::AddrInUse && !plan.is_port_requested =>
            {
                Listener::bind(control.clone(), &identity, 0).await
            }
            bound => bound,
        };
        let listener = bound.map_err(|error| listen_failure(&error))?;
        let now = listener.address().port();
        if let Some(last) = port.filter(|last| *last != 0 && *last != now) {
            messages.warning(format!(
                "port {last} of the last start is in use; the new port is {now}, and copies of the old kubeconfig no longer work"
            ));
        }
        folder.write_settings(&SandboxSettings { port: Some(now), data_dir })?;
        Ok(Self { sandbox, control, listener, identity })
    }

    fn announce(&self, folder: &SandboxFolder) -> Result<(), Failure> {
        let process = SandboxProcess { pid: std::process::id(), server: self.listener.url() };
        folder.record_start(&process, &sandbox::kubeconfig(folder.name(), &process.server, &self.identity))
    }

    /// Serves until a request to stop. The controller ends before the sandbox.
    async fn wait_until_stopped(
        self,
        termination: Termination,
        controller: Option<SandboxController>,
    ) -> Result<(), Failure> {
        let (stop, stopped) = oneshot::channel::<()>();
        let controller = async {
            if let Some(controller) = controller {
                controller.run(stopped.map(drop)).await;
            }
        };
        let stop_requested = async {
            tokio::select! {
                () = self.control.wait_for_stop() => {}
                () = termination.requested() => {}
                () = self.sandbox.wait_until_killed() => {
                    return Err(Failure::new(Kind::Environment, "an injected fault killed the sandbox"));
                }
            }
            drop(stop);
            Ok(())
        };
        tokio::try_join!(stop_requested, controller.map(Ok))?;
        // Watches stop first, because the listener would wait for them.
        self.sandbox.stop().await;
        self.listener.stop().await;
        Ok(())
    }
}

fn start_failure(error: &StartError) -> Failure {
    let hint = match error {
        StartError::Open(OpenError::InUse { .. }) => {
            Some("stop the sandbox that uses the folder, or use another folder with `--data-dir DIR`")
        }
        StartError::Bootstrap(_) | StartError::Open(OpenError::Io { .. }) => Some(
            "use another folder with `--data-dir DIR`, or keep objects only in memory with `--in-memory`",
        ),
        // These errors already contain a hint.
        StartError::Open(
            OpenError::Foreign { .. } | OpenError::UnknownFormat { .. } | OpenError::Damaged { .. },
        )
        | StartError::Runtime(_) => None,
    };
    hint.into_iter().fold(Failure::foreign(error), Failure::hint)
}

fn listen_failure(error: &ListenError) -> Failure {
    let hint = match error {
        ListenError::Bind { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            Some("use a port above 1023 with `--port`, or omit `--port` for a free port")
        }
        ListenError::Bind { .. } => Some("use another port with `--port`, or omit `--port` for a free port"),
        ListenError::Identity(_) => None,
    };
    hint.into_iter().fold(Failure::foreign(error), Failure::hint)
}

/// The signals that end the process, caught from the start of listening. Closing a terminal does not end a sandbox.
struct Termination {
    #[cfg(unix)]
    signals: io::Result<[tokio::signal::unix::Signal; 3]>,
}

impl Termination {
    /// Requires a runtime.
    #[cfg(unix)]
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = || {
            Ok([
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ])
        };
        Self { signals: listen() }
    }

    #[cfg(not(unix))]
    fn listen() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn requested(self) {
        let Ok([mut interrupt, mut terminate, mut hangup]) = self.signals else {
            return std::future::pending().await;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => return,
                _ = terminate.recv() => return,
                _ = hangup.recv() => {}
            }
        }
    }

    #[cfg(not(unix))]
    async fn requested(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
