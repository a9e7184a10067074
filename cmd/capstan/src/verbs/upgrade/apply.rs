use api::{
    Contract, ProviderId,
    plan::{SavedPlan, SavedReference, SavedRequest, UpgradeOptions},
};
use inventory::ManagementCluster;
use management::{LifecyclePlan, UpgradeItem, UpgradeRequest, UpgradeTarget};

use crate::{
    Failure,
    kustomizations::{KustomizationFlags, RunScope},
    session::Session,
    settings::{LeaseFlags, ServerFlags, UnfinishedFlags},
    verbs::{
        lifecycle::{self, ChangeResult, LifecycleChange, PlanFlags, ReleaseSources, ResultWords, WaitFlags},
        provider_flags::NamedProviders,
    },
};

/// Upgrade providers to the newest versions of a contract, or to named versions
///
/// The command first validates all new versions in a dry run, then upgrades the providers in place, one after the other.
/// `upgrade resume` completes an interrupted upgrade, and `upgrade rollback` restores the previous versions.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} upgrade apply --contract v1beta2
  {bin} upgrade apply --core cluster-api:v1.14.0 \\
    --infrastructure docker:v1.14.0

  # Review a plan, then execute it
  {bin} upgrade apply --contract v1beta2 --out plan.json
  {bin} upgrade apply --plan plan.json")]
pub(crate) struct Apply {
    /// Contract to upgrade all providers to
    #[arg(long, value_name = "CONTRACT")]
    contract: Option<String>,

    #[command(flatten)]
    providers: NamedProviders,

    #[command(flatten)]
    switches: UpgradeOptionFlags,

    #[command(flatten)]
    customisation: KustomizationFlags,

    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    plan: PlanFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,

    #[command(flatten)]
    unfinished: UnfinishedFlags,
}

#[derive(Clone, Copy, clap::Args)]
#[command(next_help_heading = "Upgrade")]
struct UpgradeOptionFlags {
    /// Allow lower versions
    #[arg(long)]
    allow_downgrade: bool,

    /// Allow skips of more than three minor versions
    #[arg(long)]
    allow_skip: bool,

    /// Keep replica counts that users set in Deployments
    #[arg(long)]
    keep_replicas: bool,

    /// Keep node selectors and the like that users set
    #[arg(long)]
    keep_placement: bool,

    /// Do not upgrade cert-manager
    #[arg(long)]
    skip_cert_manager: bool,
}

impl Apply {
    pub(crate) fn without_writing(mut self) -> Self {
        self.plan = self.plan.with_dry_run();
        self
    }

    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        let saved = self.plan.read_saved_plan("upgrade apply", session)?;
        let named = self.providers.upgrade_items(session)?;
        let ids: Vec<ProviderId> = named.iter().map(|item| item.provider.clone()).collect();
        let request = self.request(named, saved.as_ref())?;
        let planned = saved.as_ref().map_or(&[][..], |saved| saved.request.kustomizations());
        let around = RunScope { named_providers: &ids, saved_kustomizations: planned };
        let sources = ReleaseSources::with_kustomizations(&self.customisation, around, session)?;
        let change = Upgrade { sources, request };
        let server = (&self.server.kube, &self.server.pace);
        let done = lifecycle::run(&change, saved.as_ref(), &self.plan, server, &self.lease, session)?;
        change.sources.overlays().warn_unused(session.messages());
        if let Some(result) = &done.result {
            session.show_cluster_result(self.server.pace.progress, result);
        }
        Ok(())
    }

    fn request(&self, named: Vec<UpgradeItem>, saved: Option<&SavedPlan>) -> Result<UpgradeRequest, Failure> {
        let wait = self.wait.wait_for()?;
        let unfinished = self.unfinished.on_unfinished();
        let contract = self.contract.as_deref().filter(|text| !text.is_empty());
        if let Some(saved) = saved {
            let names_anything =
                contract.is_some() || !named.is_empty() || self.switches.saved() != UpgradeOptions::default();
            let flags = "`--contract`, provider flags or upgrade options";
            lifecycle::check_plan_alone(names_anything, flags)?;
            let (target, options) = saved_request(&saved.request)?;
            return Ok(UpgradeRequest { target, options, wait, server_dry_run: true, unfinished });
        }
        let target = match contract {
            Some(_) if !named.is_empty() => {
                return Err(Failure::user("`--contract` cannot be combined with provider flags"));
            }
            Some(Contract::CURRENT) => UpgradeTarget::Contract(Contract::new(Contract::CURRENT)),
            Some(other) => {
                return Err(Failure::user(format!("cannot upgrade to contract `{other}`"))
                    .hint(format!("use `--contract {}`", Contract::CURRENT)));
            }
            None if named.is_empty() => {
                return Err(Failure::user("the upgrade target is missing").hint(format!(
                    "use `--contract {}`, or name providers and versions, such as `--infrastructure aws:v2.11.1`",
                    Contract::CURRENT
                )));
            }
            None => UpgradeTarget::Providers(named),
        };
        let (options, server_dry_run) = (self.switches.saved(), self.plan.is_server_dry_run());
        Ok(UpgradeRequest { target, options, wait, server_dry_run, unfinished })
    }
}

impl UpgradeOptionFlags {
    fn saved(self) -> UpgradeOptions {
        UpgradeOptions {
            allow_downgrade: self.allow_downgrade,
            allow_skip: self.allow_skip,
            keep_replicas: self.keep_replicas,
            keep_placement: self.keep_placement,
            skip_cert_manager: self.skip_cert_manager,
        }
    }
}

/// Returns the target and the options of a saved plan.
fn saved_request(saved: &SavedRequest) -> Result<(UpgradeTarget, UpgradeOptions), Failure> {
    let SavedRequest::Upgrade { contract, providers, options, .. } = saved else {
        return Err(lifecycle::wrong_command(saved));
    };
    let target = match contract {
        Some(contract) => UpgradeTarget::Contract(Contract::new(contract)),
        None => UpgradeTarget::Providers(providers.iter().map(item).collect::<Result<_, _>>()?),
    };
    Ok((target, *options))
}

fn item(saved: &SavedReference) -> Result<UpgradeItem, Failure> {
    let SavedReference { provider, version } = saved.clone();
    let Some(version) = version else {
        return Err(Failure::user(format!("the plan has no version for `{provider}`")));
    };
    Ok(UpgradeItem { provider, namespace: None, version })
}

struct Upgrade {
    sources: ReleaseSources,
    request: UpgradeRequest,
}

impl LifecycleChange for Upgrade {
    async fn plan(&self, cluster: &ManagementCluster) -> Result<LifecyclePlan, Failure> {
        Ok(Box::pin(management::plan_upgrade(cluster, &self.sources.sources(), &self.request)).await?)
    }

    async fn execute(
        &self,
        cluster: &ManagementCluster,
        plan: &mut LifecyclePlan,
    ) -> Result<ChangeResult, Failure> {
        let not_ready =
            Box::pin(management::upgrade(cluster, &self.sources.sources(), &self.request, plan)).await?;
        Ok(ChangeResult { not_ready, ..ChangeResult::default() })
    }

    fn command(&self) -> &'static str {
        "upgrade apply"
    }

    /// Returns the request with pinned versions. If a contract leads to no new versions, the request keeps the
    /// contract.
    fn request(&self, plan: &LifecyclePlan) -> SavedRequest {
        let providers = lifecycle::planned_references(plan);
        let contract = match &self.request.target {
            UpgradeTarget::Contract(contract) if providers.is_empty() => Some(contract.to_string()),
            _ => None,
        };
        let kustomizations = self.sources.overlays().saved_kustomizations();
        SavedRequest::Upgrade { contract, providers, options: self.request.options, kustomizations }
    }

    fn resume_hint(&self) -> String {
        "run `capstan upgrade resume` to complete the upgrade, or `capstan upgrade rollback` to undo it"
            .to_owned()
    }

    fn result_words(&self) -> ResultWords {
        ResultWords { past_tense: "upgraded", no_changes: "nothing to upgrade" }
    }
}
