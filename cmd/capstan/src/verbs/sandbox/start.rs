use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use sandbox::{ControllerSwitches, Fault, ServiceWebhooks};

use super::{background, foreground};
use crate::{
    Environment, Failure,
    failure::Kind,
    sandboxes::{SandboxFolder, SandboxProcess, SandboxSettings, SandboxesFolder},
    session::Session,
    settings::merge_kubeconfig,
    ui::Messages,
};

/// The time limit for another process that starts the same sandbox.
const READY_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

const IGNORE: &str = "ignore";

/// Start a sandbox: a local Kubernetes API server with simulated controllers
///
/// The sandbox keeps its objects when it stops, unless `--in-memory` is given. Every Kubernetes client can use the kubeconfig
/// that `sandbox kubeconfig` prints.
#[derive(Default, Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox start lab
  export KUBECONFIG=$({bin} sandbox kubeconfig lab)
  {bin} sandbox start lab --in-memory --fault 429,times=3

  # With the controller of Components
  {bin} sandbox start lab --with controller")]
pub(crate) struct Start {
    /// Sandbox name
    #[arg(default_value = "capstan")]
    pub(super) name: String,

    /// Run in the foreground until Ctrl-C
    #[arg(long)]
    pub(super) foreground: bool,

    /// Folder for the objects [default: the folder of the last start, else a new one]
    #[arg(long, value_name = "DIR", conflicts_with = "in_memory")]
    pub(super) data_dir: Option<PathBuf>,

    /// Keep objects only in memory; they are lost when the sandbox stops
    #[arg(long)]
    pub(super) in_memory: bool,

    /// Port to listen on [default: the port of the last start, else a free one]
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<u16>,

    /// Fault to inject, such as 429:1,verb=create,times=3; repeatable. Effects: latency:20ms, a status code, cut-before,
    /// cut-after, drop-watch, forbid, kill. Filters: verb=, resource=, namespace=, name=, skip=, times=
    #[arg(long, value_name = "FAULT", value_delimiter = ';')]
    pub(super) fault: Vec<String>,

    /// Controllers not to simulate: workloads, api-services, cert-manager, cluster-api, garbage
    #[arg(long, value_name = "CONTROLLER", value_delimiter = ',')]
    pub(super) without: Vec<String>,

    /// Controllers to run in addition: controller, the controller of Components
    #[arg(long, value_name = "CONTROLLER", value_delimiter = ',')]
    pub(super) with: Vec<String>,

    /// Webhooks behind a Service: ignore them, or refuse requests because they are unreachable
    #[arg(long, value_name = "POLICY", default_value = IGNORE)]
    pub(super) service_webhooks: String,

    /// Add the sandbox to your kubeconfig as the current context
    #[arg(long)]
    pub(super) merge: bool,
}

#[derive(Clone, Debug)]
pub(super) struct StartPlan {
    pub(super) faults: Vec<Fault>,
    pub(super) switches: ControllerSwitches,
    pub(super) service_webhooks: ServiceWebhooks,
    pub(super) settings: SandboxSettings,
    /// True to run the controller of Components.
    pub(super) with_controller: bool,
    /// True if the user requested this port, so no other port may replace it.
    pub(super) is_port_requested: bool,
}

pub(crate) fn run(args: &Start, session: &mut Session) -> Result<(), Failure> {
    let folder = SandboxesFolder::of(session.environment())?.folder(&args.name)?;
    let plan = args.plan(&folder, session.environment())?;
    if folder.is_running()? {
        return handle_running(args, &folder, session);
    }
    let is_new = folder.create()?;
    let ended = if args.foreground {
        foreground::serve(args, &folder, plan, session)
    } else {
        start_in_background(args, &folder, session)
    };
    if is_new && ended.is_err() {
        folder.remove_unless_started();
    }
    ended
}

fn start_in_background(args: &Start, folder: &SandboxFolder, session: &mut Session) -> Result<(), Failure> {
    let Some(process) = background::start(args, folder, session)? else {
        return handle_running(args, folder, session);
    };
    report_running(folder, &process, session.messages());
    show_access(args, folder, session)?;
    session.show_result(format!("started sandbox `{}`", folder.name()));
    Ok(())
}

/// Starts a sandbox in the background like `sandbox start NAME`, unless the sandbox runs. True if the sandbox is new.
pub(crate) fn start_unless_running(name: &str, session: &Session) -> Result<bool, Failure> {
    let folder = SandboxesFolder::of(session.environment())?.folder(name)?;
    let mut is_new = false;
    if !folder.is_running()? {
        is_new = folder.create()?;
        let started = background::start(&Start::with_name(name), &folder, session);
        if is_new && started.is_err() {
            folder.remove_unless_started();
        }
        if let Some(process) = started? {
            report_running(&folder, &process, session.messages());
            return Ok(is_new);
        }
    }
    session.block_on(wait_until_ready(&folder)).map(|_| is_new)
}

fn report_running(folder: &SandboxFolder, process: &SandboxProcess, messages: &Messages) {
    messages.status(format!(
        "sandbox `{}` serves at {} (process {})",
        folder.name(),
        process.server,
        process.pid
    ));
}

/// Merges the kubeconfig if requested, or else prints the command that returns its path.
pub(super) fn show_access(
    args: &Start,
    folder: &SandboxFolder,
    session: &mut Session,
) -> Result<(), Failure> {
    if args.merge {
        let path = merge_kubeconfig(&folder.kubeconfig(), session.environment())?;
        session.messages().status(format!(
            "context `{}` is now the current context of `{}`",
            folder.name(),
            path.display()
        ));
    } else {
        let kubeconfig = session.complete_command(&format!("capstan sandbox kubeconfig {}", folder.name()));
        session.messages().status(format!("use the sandbox with: export KUBECONFIG=$({kubeconfig})"));
    }
    Ok(())
}

/// Succeeds if the command has no options that a running sandbox would ignore. Otherwise fails.
fn handle_running(args: &Start, folder: &SandboxFolder, session: &mut Session) -> Result<(), Failure> {
    let process = session.block_on(wait_until_ready(folder))?;
    let message = format!(
        "sandbox `{}` is already running at {} (process {})",
        folder.name(),
        process.server,
        process.pid
    );
    if args.has_default_options() {
        session.messages().status(message);
        show_access(args, folder, session)?;
        session.show_result(format!("nothing to start: sandbox `{}` is running", folder.name()));
        return Ok(());
    }
    Err(Failure::new(Kind::Conflict, message)
        .cause("the flags take effect only at the next start")
        .hint(format!("stop the sandbox first with `capstan sandbox stop {}`", folder.name())))
}

async fn wait_until_ready(folder: &SandboxFolder) -> Result<SandboxProcess, Failure> {
    let deadline = Instant::now() + READY_TIMEOUT;
    loop {
        if let Some(process) = folder.process()? {
            return Ok(process);
        }
        if !folder.is_running()? || Instant::now() > deadline {
            let message = format!(
                "another process is starting sandbox `{}`, and the sandbox is not ready",
                folder.name()
            );
            return Err(Failure::new(Kind::Conflict, message)
                .hint(format!("read the log of the sandbox in `{}`", folder.log().display())));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

impl Start {
    fn with_name(name: &str) -> Self {
        Self { name: name.to_owned(), service_webhooks: IGNORE.to_owned(), ..Self::default() }
    }

    fn has_default_options(&self) -> bool {
        !self.foreground
            && self.data_dir.is_none()
            && !self.in_memory
            && self.port.is_none()
            && self.fault.is_empty()
            && self.without.is_empty()
            && self.with.is_empty()
            && self.service_webhooks == IGNORE
    }

    /// Parses every flag, and adds the settings of the last start.
    fn plan(&self, folder: &SandboxFolder, environment: &Environment) -> Result<StartPlan, Failure> {
        let faults = self.fault.iter().map(|text| {
            Fault::parse(text)
                .map_err(|why| Failure::user(format!("cannot read the fault `{text}`")).cause(why))
        });
        let last = folder.settings()?;
        let data_dir = match (&self.data_dir, self.in_memory, &last) {
            (Some(dir), _, _) => Some(environment.resolve(dir)),
            (None, true, _) => None,
            (None, false, Some(last)) => last.data_dir.clone(),
            (None, false, None) => Some(folder.data()),
        };
        let port = self.port.or(last.and_then(|last| last.port));
        Ok(StartPlan {
            faults: faults.collect::<Result<_, _>>()?,
            switches: switches(&self.without)?,
            service_webhooks: service_webhooks(&self.service_webhooks)?,
            with_controller: with_controller(&self.with)?,
            settings: SandboxSettings { port, data_dir },
            is_port_requested: self.port.is_some(),
        })
    }
}

fn switches(without: &[String]) -> Result<ControllerSwitches, Failure> {
    let mut switches = ControllerSwitches::default();
    for name in without {
        let switch = match name.as_str() {
            "garbage" => &mut switches.garbage_collection,
            "workloads" => &mut switches.workloads,
            "api-services" => &mut switches.api_services,
            "cert-manager" => &mut switches.cert_manager,
            "cluster-api" => &mut switches.cluster_api,
            other => {
                return Err(Failure::user(format!("unknown controller `{other}`"))
                    .hint("use garbage, workloads, api-services, cert-manager or cluster-api"));
            }
        };
        *switch = false;
    }
    Ok(switches)
}

fn with_controller(with: &[String]) -> Result<bool, Failure> {
    match with.iter().find(|name| *name != "controller") {
        None => Ok(!with.is_empty()),
        Some(other) => Err(Failure::user(format!("unknown controller `{other}`"))
            .hint("use `--with controller` for the controller of Components; all others run unless `--without` names them")),
    }
}

fn service_webhooks(policy: &str) -> Result<ServiceWebhooks, Failure> {
    match policy {
        IGNORE => Ok(ServiceWebhooks::Ignore),
        "refuse" => Ok(ServiceWebhooks::Refuse),
        other => Err(Failure::user(format!("invalid value `{other}` for `--service-webhooks`"))
            .hint("use `--service-webhooks ignore` or `--service-webhooks refuse`")),
    }
}
