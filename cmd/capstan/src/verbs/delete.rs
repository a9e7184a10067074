use api::plan::{SavedPlan, SavedRequest};
use inventory::ManagementCluster;
use management::{DeleteRequest, LifecyclePlan, ProvidersRequest};

use crate::{
    Failure,
    session::Session,
    settings::{LeaseFlags, ServerFlags, UnfinishedFlags},
    verbs::{
        lifecycle::{self, ChangeResult, LifecycleChange, PlanFlags, ResultWords, wait_until_done},
        provider_flags::NamedProviders,
    },
};

/// Delete providers from a management cluster
///
/// The command deletes only the applied objects of the providers. CRDs and namespaces are kept unless you include them. A CRD
/// with remaining objects and cert-manager are always kept.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} delete --infrastructure aws
  {bin} delete --all --include-crd --include-namespace

  # Preview the deletion
  {bin} delete --all --dry-run")]
pub(crate) struct Delete {
    #[command(flatten)]
    providers: NamedProviders,

    #[command(flatten)]
    scope: DeleteScopeFlags,

    #[command(flatten)]
    plan: PlanFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,

    #[command(flatten)]
    unfinished: UnfinishedFlags,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Deletion")]
struct DeleteScopeFlags {
    /// Delete all providers
    #[arg(long)]
    all: bool,

    /// Also delete the namespaces of the providers, with all their objects
    #[arg(long)]
    include_namespace: bool,

    /// Also delete the CRDs of the providers
    #[arg(long)]
    include_crd: bool,

    /// Maximum time to wait until all objects are deleted [default: 5m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// Do not wait until all objects are deleted
    #[arg(long)]
    no_wait: bool,
}

impl Delete {
    pub(crate) fn without_writing(mut self) -> Self {
        self.plan = self.plan.with_dry_run();
        self
    }

    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        let saved = self.plan.read_saved_plan("delete", session)?;
        let change = Deletion(self.request(saved.as_ref())?);
        let server = (&self.server.kube, &self.server.pace);
        let done = lifecycle::run(&change, saved.as_ref(), &self.plan, server, &self.lease, session)?;
        if let Some(result) = &done.result {
            session.show_cluster_result(self.server.pace.progress, result);
        }
        Ok(())
    }

    fn request(&self, saved: Option<&SavedPlan>) -> Result<DeleteRequest, Failure> {
        let wait = wait_until_done(self.scope.timeout.as_deref(), self.scope.no_wait)?;
        let named = self.providers.requested()?;
        let DeleteScopeFlags { all, include_crd, include_namespace, .. } = self.scope;
        if let Some(saved) = saved {
            let names_anything = all || include_crd || include_namespace || !named.providers.is_empty();
            lifecycle::check_plan_alone(
                names_anything,
                "provider flags, `--include-crd` or `--include-namespace`",
            )?;
            let SavedRequest::Delete { providers, include_crds, include_namespaces } = &saved.request else {
                return Err(lifecycle::wrong_command(&saved.request));
            };
            return Ok(DeleteRequest {
                providers: providers.as_deref().map(lifecycle::providers_request),
                include_crds: *include_crds,
                include_namespaces: *include_namespaces,
                wait,
                full_objects: self.plan.is_server_dry_run(),
                unfinished: self.unfinished.on_unfinished(),
            });
        }
        Ok(DeleteRequest {
            providers: selected_providers(all, named)?,
            include_crds: include_crd,
            include_namespaces: include_namespace,
            wait,
            full_objects: self.plan.is_server_dry_run(),
            unfinished: self.unfinished.on_unfinished(),
        })
    }
}

/// Returns the named providers, or `None` for all. A typing error must not delete more than intended.
fn selected_providers(all: bool, named: ProvidersRequest) -> Result<Option<ProvidersRequest>, Failure> {
    match (all, named.providers.is_empty()) {
        (true, true) => Ok(None),
        (false, false) => Ok(Some(named)),
        (true, false) => Err(Failure::user("`--all` cannot be combined with provider flags")),
        (false, true) => Err(Failure::user("the providers to delete are missing")
            .hint("use `--all`, or name providers, such as `--infrastructure aws`")),
    }
}

struct Deletion(DeleteRequest);

impl LifecycleChange for Deletion {
    async fn plan(&self, cluster: &ManagementCluster) -> Result<LifecyclePlan, Failure> {
        Ok(management::plan_delete(cluster, &self.0).await?)
    }

    async fn execute(
        &self,
        cluster: &ManagementCluster,
        plan: &mut LifecyclePlan,
    ) -> Result<ChangeResult, Failure> {
        let not_ready = management::delete_providers(cluster, &self.0, plan).await?;
        Ok(ChangeResult { not_ready, ..ChangeResult::default() })
    }

    fn command(&self) -> &'static str {
        "delete"
    }

    fn request(&self, _plan: &LifecyclePlan) -> SavedRequest {
        let named = self.0.providers.as_ref().map(|named| {
            lifecycle::saved_references(named.providers.iter().map(|(id, version)| (id, version.as_ref())))
        });
        SavedRequest::Delete {
            providers: named,
            include_crds: self.0.include_crds,
            include_namespaces: self.0.include_namespaces,
        }
    }

    fn resume_hint(&self) -> String {
        "re-run the same command to delete the remaining objects".to_owned()
    }

    fn result_words(&self) -> ResultWords {
        ResultWords { past_tense: "deleted", no_changes: "nothing to delete" }
    }
}
