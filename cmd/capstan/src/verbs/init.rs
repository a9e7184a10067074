//! `init`, and the preview of `plan init`.

mod list_images;

use api::{
    ProviderId, ProviderType,
    labels::parse_label,
    plan::{SavedPlan, SavedRequest},
};
use inventory::ManagementCluster;
use management::{InitRequest, LifecyclePlan, UnfinishedPolicy, WaitOptions};

use crate::{
    Failure, cli,
    kustomizations::{KustomizationFlags, RunScope},
    session::Session,
    settings::{KubeFlags, LeaseFlags, PaceFlags, UnfinishedFlags},
    verbs::{
        lifecycle::{self, ChangeResult, LifecycleChange, PlanFlags, ReleaseSources, ResultWords, WaitFlags},
        provider_flags::SeveralProviders,
        sandbox,
    },
};

/// Install Cluster API and providers on a management cluster
///
/// A first installation also adds cluster-api, the kubeadm providers and cert-manager. The command validates everything
/// before the first write, and waits until the providers are ready. Re-run the same command to complete an interrupted
/// installation.
#[derive(clap::Args)]
#[command(
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  {bin} init --infrastructure docker
  {bin} init --infrastructure aws:v2.11.1,docker --wait-providers

  # Review a plan, then execute it
  {bin} init --infrastructure docker --diff
  {bin} init --infrastructure docker --out plan.json
  {bin} init --plan plan.json"
)]
pub(crate) struct Init {
    #[command(subcommand)]
    verb: Option<InitVerb>,

    #[command(flatten)]
    flags: InitFlags,
}

#[derive(clap::Subcommand)]
enum InitVerb {
    ListImages(list_images::ListImages),
}

pub(crate) fn run(args: Init, session: &mut Session) -> Result<(), Failure> {
    match args.verb {
        Some(InitVerb::ListImages(list)) => list_images::run(&list, &args.flags.providers, session),
        None => args.flags.run(session),
    }
}

/// The flags of `init` and of `plan init`.
#[derive(clap::Args)]
pub(crate) struct InitFlags {
    #[command(flatten)]
    providers: SeveralProviders,

    #[command(flatten)]
    kube: KubeFlags,

    #[command(flatten)]
    install: InstallFlags,
}

/// The flags of `init` that nothing below it takes.
#[derive(clap::Args)]
#[command(next_help_heading = "Installation")]
struct InstallFlags {
    /// Namespace of all providers [default: one each]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    target_namespace: Option<String>,

    /// Labels of every object, which upgrades keep
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', value_parser = parse_label)]
    labels: Vec<(String, String)>,

    /// Fail on incompatible providers [default: true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = cli::switch
    )]
    validate: Option<bool>,

    #[command(flatten)]
    customisation: KustomizationFlags,

    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    plan: PlanFlags,

    #[command(flatten)]
    pace: PaceFlags,

    #[command(flatten)]
    lease: LeaseFlags,

    #[command(flatten)]
    unfinished: UnfinishedFlags,
}

impl InitFlags {
    pub(crate) fn without_writing(mut self) -> Self {
        self.install.plan = self.install.plan.with_dry_run();
        self
    }

    pub(crate) fn run(&self, session: &mut Session) -> Result<(), Failure> {
        let saved = self.install.plan.read_saved_plan("init", session)?;
        let request = self.install.request(&self.providers, saved.as_ref())?;
        let requested = self.providers.requested()?;
        let named: Vec<ProviderId> = requested.providers.into_iter().map(|(id, _)| id).collect();
        // An unknown name fails before any cluster access or sandbox start.
        for id in &named {
            session.config()?.provider(id)??;
        }
        let sandbox = self.kube.sandbox.as_deref().filter(|_| !self.install.plan.is_plan_only());
        let Some(name) = sandbox else { return self.execute(request, &named, saved.as_ref(), session) };
        let is_new = sandbox::start_unless_running(name, session)?;
        self.execute(request, &named, saved.as_ref(), session).map_err(|failure| {
            if !is_new {
                return failure;
            }
            failure.hint(format!(
                "the new sandbox `{name}` is running; delete it with `capstan sandbox delete {name}` if you do not need it"
            ))
        })
    }

    fn execute(
        &self,
        request: InitRequest,
        named: &[ProviderId],
        saved: Option<&SavedPlan>,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let flags = &self.install;
        let planned = saved.map_or(&[][..], |saved| saved.request.kustomizations());
        let around = RunScope { named_providers: named, saved_kustomizations: planned };
        let sources = ReleaseSources::with_kustomizations(&flags.customisation, around, session)?;
        let install = Install { sources, request };
        let server = (&self.kube, &flags.pace);
        let done = lifecycle::run(&install, saved, &flags.plan, server, &flags.lease, session)?;
        install.sources.overlays().warn_unused(session.messages());
        if let Some(infrastructures) = &done.first_infrastructure {
            let events = session.cluster_events(flags.pace.progress);
            events.show_closing_text(closing_text(session, infrastructures));
        }
        if let Some(result) = &done.result {
            session.show_cluster_result(flags.pace.progress, result);
        }
        Ok(())
    }
}

impl InstallFlags {
    fn request(
        &self,
        providers: &SeveralProviders,
        saved: Option<&SavedPlan>,
    ) -> Result<InitRequest, Failure> {
        let wait = self.wait.wait_for()?;
        let Some(saved) = saved else {
            return Ok(InitRequest {
                providers: providers.requested()?,
                declined: providers.declined(),
                target_namespace: self.target_namespace.clone().filter(|text| !text.is_empty()),
                labels: self.labels.iter().cloned().collect(),
                validate: self.validate.unwrap_or(true),
                wait,
                server_dry_run: self.plan.is_server_dry_run(),
                unfinished: self.unfinished.on_unfinished(),
            });
        };
        let names_anything = providers.is_given()
            || self.target_namespace.is_some()
            || !self.labels.is_empty()
            || self.validate.is_some();
        let flags = "providers, `--target-namespace`, `--labels` or `--validate`";
        lifecycle::check_plan_alone(names_anything, flags)?;
        Ok(InitRequest {
            unfinished: self.unfinished.on_unfinished(),
            ..request_from_saved(&saved.request, wait)?
        })
    }
}

fn request_from_saved(saved: &SavedRequest, wait: WaitOptions) -> Result<InitRequest, Failure> {
    let SavedRequest::Init { providers, declined, target_namespace, labels, validate, .. } = saved else {
        return Err(lifecycle::wrong_command(saved));
    };
    Ok(InitRequest {
        providers: lifecycle::providers_request(providers),
        declined: declined.clone(),
        target_namespace: target_namespace.clone(),
        labels: labels.clone(),
        validate: *validate,
        wait,
        server_dry_run: true,
        unfinished: UnfinishedPolicy::Refuse,
    })
}

struct Install {
    sources: ReleaseSources,
    request: InitRequest,
}

impl LifecycleChange for Install {
    async fn plan(&self, cluster: &ManagementCluster) -> Result<LifecyclePlan, Failure> {
        Ok(Box::pin(management::plan_init(cluster, &self.sources.sources(), &self.request)).await?)
    }

    async fn execute(
        &self,
        cluster: &ManagementCluster,
        plan: &mut LifecyclePlan,
    ) -> Result<ChangeResult, Failure> {
        let sources = self.sources.sources();
        let (is_first, not_ready) =
            Box::pin(management::init(cluster, &sources, &self.request, plan)).await?;
        let installed = plan.providers.iter().map(|provider| provider.id.clone());
        let infrastructures: Vec<ProviderId> =
            installed.filter(|id| id.provider_type == ProviderType::Infrastructure).collect();
        Ok(ChangeResult {
            not_ready,
            first_infrastructure: is_first.then_some(infrastructures),
            result: None,
        })
    }

    fn command(&self) -> &'static str {
        "init"
    }

    fn request(&self, plan: &LifecyclePlan) -> SavedRequest {
        SavedRequest::Init {
            providers: lifecycle::planned_references(plan),
            declined: self.request.declined.clone(),
            target_namespace: self.request.target_namespace.clone(),
            labels: self.request.labels.clone(),
            validate: self.request.validate,
            kustomizations: self.sources.overlays().saved_kustomizations(),
        }
    }

    fn resume_hint(&self) -> String {
        "re-run the same command to complete the installation".to_owned()
    }

    fn result_words(&self) -> ResultWords {
        ResultWords { past_tense: "installed", no_changes: "nothing to install" }
    }
}

/// Returns the suggested next command. With several infrastructure providers, the command names the first, because
/// none is the default.
/// Source: clusterctl v1.14 client/init.go, which prints the command to stderr too, and names no provider.
fn closing_text(session: &Session, infrastructures: &[ProviderId]) -> String {
    format!(
        "\nYour management cluster has been initialized successfully!\n\n\
         You can now create your first workload cluster by running the following:\n\n  {}\n",
        session.complete_command(&first_cluster(infrastructures))
    )
}

fn first_cluster(infrastructures: &[ProviderId]) -> String {
    let named = match infrastructures {
        [first, _, ..] => format!(" --infrastructure {}", first.name),
        _ => String::new(),
    };
    format!("capstan generate cluster [name]{named} --kubernetes-version [version] | kubectl apply -f -")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Row: D-173
    #[test]
    fn the_suggested_command_names_a_provider_if_there_are_several() {
        let ids = ["docker", "aws"].map(|name| ProviderId::new(ProviderType::Infrastructure, name));
        for (count, command) in [
            (0, "capstan generate cluster [name] --kubernetes-version "),
            (1, "capstan generate cluster [name] --kubernetes-version "),
            (2, "capstan generate cluster [name] --infrastructure docker --kubernetes-version "),
        ] {
            let text = first_cluster(&ids[..count]);
            assert!(text.starts_with(command), "{count}: {text}");
        }
    }
}
