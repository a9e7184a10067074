//! The tour as a list of commands.

use api::ProviderType;

use super::{
    Quickstart, carried,
    command::Command,
    kubectl::Kubectl,
    stage::{SOURCE, Stage, TARGET},
};
use crate::{Failure, session::Session};

/// The workload cluster.
const CLUSTER: &str = "demo";

/// A command, and what it is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) heading: &'static str,
    pub(super) command: Command,
}

/// What is shown, and what may be typed after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tour {
    pub(super) steps: Vec<Step>,
    pub(super) next: Vec<Command>,
    /// Whether it needs the providers that the program carries.
    pub(super) is_carried: bool,
}

/// What differs from tour to tour.
struct Choice {
    /// As `init` takes them.
    providers: Vec<String>,
    /// The one whose template is taken.
    infrastructure: String,
    /// `--config` with its value, or nothing.
    config: Vec<String>,
    /// `--flavor` with its value, or nothing.
    flavor: Vec<String>,
    kubernetes_version: String,
}

impl Tour {
    /// Over the providers that are named, else over those that are carried.
    /// # Errors
    /// When a configuration is named and no infrastructure provider, or a reference to one cannot be read.
    pub(super) fn of(args: &Quickstart, stage: &Stage, session: &Session) -> Result<Self, Failure> {
        let config = session.globals().config.clone().filter(|path| !path.is_empty());
        let is_carried = config.is_none() && !args.providers.is_given();
        let choice = if is_carried { of_carried(args, stage) } else { of_named(args, config)? };
        let kubectl = |sandbox, task| {
            Ok::<_, Failure>(Command::Kubectl { sandbox, kubeconfig: stage.kubeconfig(sandbox)?, task })
        };
        let file = stage.cluster_file();
        let commands = [
            choice.init(SOURCE),
            choice.generate(&file.display().to_string()),
            kubectl(SOURCE, Kubectl::Apply(file))?,
            kubectl(SOURCE, Kubectl::WaitFor(CLUSTER))?,
            Command::own(["describe", "cluster", CLUSTER, "--sandbox", SOURCE]),
            choice.init(TARGET),
            Command::own(["move", "--sandbox", SOURCE, "--to-sandbox", TARGET]),
            kubectl(TARGET, Kubectl::WaitFor(CLUSTER))?,
            Command::own(["describe", "cluster", CLUSTER, "--sandbox", TARGET]),
        ];
        let next = vec![
            Command::own(["status", "--sandbox", TARGET]),
            Command::own(["move", "--sandbox", TARGET, "--to-sandbox", SOURCE, "--dry-run"]),
            kubectl(TARGET, Kubectl::Get("clusters,machines"))?,
        ];
        let steps = HEADINGS.into_iter().zip(commands).map(|(heading, command)| Step { heading, command });
        Ok(Self { steps: steps.collect(), next, is_carried })
    }
}

const HEADINGS: [&str; 9] = [
    "A management cluster: an API server on this machine, cert-manager, Cluster API and providers",
    "The objects of a workload cluster, rendered from a template of the infrastructure provider",
    "Applied like any others; the tour does this by itself, so kubectl need not be there",
    "Its machines come up",
    "What there is of it",
    "A second management cluster",
    "The workload cluster moves there; its machines go on running",
    "The second management cluster looks after it now",
    "The same cluster, on the other side",
];

fn of_carried(args: &Quickstart, stage: &Stage) -> Choice {
    Choice {
        providers: vec!["--infrastructure".to_owned(), carried::INFRASTRUCTURE.to_owned()],
        infrastructure: carried::INFRASTRUCTURE.to_owned(),
        config: flag("--config", Some(stage.config_file().display().to_string())),
        flavor: flag("--flavor", Some(args.flavor.clone().unwrap_or_else(|| carried::FLAVOR.to_owned()))),
        kubernetes_version: args.kubernetes_version.clone(),
    }
}

fn of_named(args: &Quickstart, config: Option<String>) -> Result<Choice, Failure> {
    let requested = args.providers.requested()?.providers;
    let infrastructure =
        requested.into_iter().find(|(id, _)| id.provider_type == ProviderType::Infrastructure);
    let (infrastructure, _) = infrastructure.ok_or_else(|| {
        Failure::user("no infrastructure provider is named")
            .hint("name one of the configuration with `--infrastructure`, as for `init`")
    })?;
    Ok(Choice {
        providers: args.providers.as_typed(),
        infrastructure: infrastructure.name,
        config: flag("--config", config),
        flavor: flag("--flavor", args.flavor.clone().filter(|flavor| !flavor.is_empty())),
        kubernetes_version: args.kubernetes_version.clone(),
    })
}

fn flag(name: &str, value: Option<String>) -> Vec<String> {
    value.map(|value| vec![name.to_owned(), value]).unwrap_or_default()
}

impl Choice {
    fn init(&self, sandbox: &str) -> Command {
        Command::own(["init", "--sandbox", sandbox]).with([&*self.providers, &*self.config].concat())
    }

    fn generate(&self, file: &str) -> Command {
        Command::own(["generate", "cluster", CLUSTER, "--sandbox", SOURCE])
            .with(flag("--infrastructure", Some(self.infrastructure.clone())))
            .with(self.flavor.clone())
            .with(flag("--kubernetes-version", Some(self.kubernetes_version.clone())))
            .with(["--control-plane-machine-count", "1", "--worker-machine-count", "2"].map(str::to_owned))
            .with(flag("--write-to", Some(file.to_owned())))
            .with(self.config.clone())
    }
}
