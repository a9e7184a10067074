//! Plans each object of each provider.

use std::collections::BTreeMap;

use api::output::{CertManagerAction, CertManagerPlan};
use apply::{
    ApiError, ApiKind, ApplySet, DesiredSet, Engine, EngineError, LiveObjects, ObjectKey, PlanStep,
    ReadByName, ServedKinds, StepAction, build_desired_set, defined_kinds,
};
use futures::future::try_join_all;
use inventory::{ManagementCluster, PreflightProblem, ProviderInventory, known_kind};
use manifest::Object;
use provider::InstalledProvider;

use crate::{
    CertManagerError, LifecycleError, ProviderPlan, RenderedProvider, Sources,
    applied::read_applied,
    cert_manager::cert_manager_manifest,
    provider_set::{marks, options, read_recorded_set, set_policies},
    status::{add_drift_reasons, clear_drifted_digests},
    upgrade::{KeptFields, with_kept_fields},
};

/// Kinds of cert-manager whose objects providers bring.
const CERT_MANAGER_KINDS: [(&str, &str, bool); 3] = [
    ("Certificate", "certificates", true),
    ("ClusterIssuer", "clusterissuers", false),
    ("Issuer", "issuers", true),
];

/// The circumstances that decide how many objects the plan reads.
pub(super) struct InitPlanner<'a> {
    pub(super) cluster: &'a ManagementCluster,
    pub(super) inventory: &'a ProviderInventory,
    /// True if Cluster API was never installed. Then every object is new, or its write reports that it exists.
    pub(super) is_fresh: bool,
    /// True if the user may do everything. Then no write of a new object lacks a permission.
    pub(super) is_admin: bool,
    pub(super) server_dry_run: bool,
}

/// A provider with its desired objects.
struct DesiredProvider<'q> {
    provider: &'q RenderedProvider,
    desired: DesiredSet,
}

impl InitPlanner<'_> {
    /// Plans all providers of the queue in order, and adds problems of any provider to `problems`.
    pub(super) async fn plan(
        &self,
        sources: &Sources<'_>,
        cert_manager: &CertManagerPlan,
        queue: &[RenderedProvider],
        problems: &mut Vec<PreflightProblem>,
    ) -> Result<Vec<ProviderPlan>, LifecycleError> {
        let kinds = self.kinds(sources, cert_manager).await?;
        let (ready, kinds) = build_desired(queue, kinds, problems);
        problems.extend(duplicate_objects(&ready));
        let planned = try_join_all(ready.into_iter().map(|ready| self.plan_one(ready, &kinds))).await?;
        let mut plans = Vec::with_capacity(planned.len());
        for result in planned {
            match result {
                Ok(plan) => plans.push(plan),
                Err(more) => problems.extend(more),
            }
        }
        Ok(plans)
    }

    /// Returns the served kinds and those that cert-manager will define.
    /// Reads the manifest of cert-manager early, so that an unreadable release does not stop the run halfway.
    async fn kinds(
        &self,
        sources: &Sources<'_>,
        cert_manager: &CertManagerPlan,
    ) -> Result<ServedKinds, LifecycleError> {
        let mut kinds = ServedKinds::clone(&*self.cluster.server.kinds().await?);
        match cert_manager.action {
            CertManagerAction::Install | CertManagerAction::Upgrade => {
                let manifest = cert_manager_manifest(sources).await.map_err(CertManagerError::from)?;
                add_defined_kinds(&mut kinds, &manifest.objects);
            }
            CertManagerAction::External => cert_manager_kinds().for_each(|kind| kinds.add(kind)),
            CertManagerAction::None | CertManagerAction::Keep => {}
        }
        Ok(kinds)
    }

    async fn plan_one(
        &self,
        ready: DesiredProvider<'_>,
        kinds: &ServedKinds,
    ) -> Result<Result<ProviderPlan, Vec<PreflightProblem>>, ApiError> {
        let DesiredProvider { provider, mut desired } = ready;
        let (id, namespace) = (&provider.id, &provider.namespace);
        let installed = self.inventory.entries_of(id).find(|installed| installed.namespace == *namespace);
        let mut set = self.applied_set(provider, installed).await?;
        let (marks, options) = (marks(id), options(namespace));
        let engine = Engine { server: &self.cluster.server, marks: &marks, options: &options };
        let live = self.observe(&engine, &set, &desired).await?;
        let mut drifted = Vec::new();
        if installed.is_some() {
            drifted = clear_drifted_digests(&mut set, &live, &options.field_manager);
            desired = with_user_fields(provider, desired, &live, kinds);
        }
        let mut objects = match engine.plan(set, desired, live) {
            Ok(planned) => planned,
            Err(impossible) => {
                return Ok(Err(impossible.iter().map(|why| install_problem(provider, why)).collect()));
            }
        };
        add_drift_reasons(&mut objects.plan, &drifted);
        match engine.dry_run(&mut objects, |step| self.needs_dry_run(step)).await {
            Ok(()) => {}
            Err(EngineError::Api(error)) => return Err(error),
            Err(error) => return Ok(Err(dry_run_problems(provider, &error))),
        }
        let from = installed.map(|installed| installed.version.clone());
        if from.as_ref() == Some(&provider.version) {
            objects.keep_unchanged();
        }
        Ok(Ok(ProviderPlan {
            id: id.clone(),
            namespace: namespace.clone(),
            from,
            to: Some(provider.version.clone()),
            kustomization: provider.kustomization.clone(),
            objects,
        }))
    }

    /// Reads the live objects. On a fresh cluster nothing is read unless every object is dry-run.
    async fn observe(
        &self,
        engine: &Engine<'_>,
        set: &ApplySet,
        desired: &DesiredSet,
    ) -> Result<LiveObjects, ApiError> {
        match (self.is_fresh, self.server_dry_run) {
            (true, false) => Ok(LiveObjects::default()),
            (false, false) => engine.observe(set, desired, ReadByName::Applied).await,
            (_, true) => engine.observe(set, desired, ReadByName::All).await,
        }
    }

    /// Returns the applied objects of an installed provider, or those of an interrupted run.
    async fn applied_set(
        &self,
        provider: &RenderedProvider,
        installed: Option<&InstalledProvider>,
    ) -> Result<ApplySet, ApiError> {
        if let Some(installed) = installed {
            let mut applied = read_applied(self.cluster, std::slice::from_ref(installed)).await?;
            return Ok(applied.pop().map(|applied| applied.set).unwrap_or_default());
        }
        if self.is_fresh {
            return Ok(ApplySet::default());
        }
        let recorded = read_recorded_set(self.cluster, &provider.id, &provider.namespace).await?;
        Ok(recorded.map(|(set, _)| set).unwrap_or_default())
    }

    /// True if the step is dry-run first. This covers changes of existing objects, and cluster-scoped objects
    /// that a user without admin rights creates. The privilege escalation rules of RBAC cannot be checked as
    /// permissions.
    fn needs_dry_run(&self, step: &PlanStep) -> bool {
        match step.action {
            StepAction::Update | StepAction::Adopt | StepAction::Recreate => true,
            StepAction::Create => self.server_dry_run || (!self.is_admin && step.key.namespace.is_empty()),
            _ => false,
        }
    }
}

/// Prepares the objects of all providers. Each provider may use kinds that earlier providers define.
/// Returns the known kinds too.
fn build_desired<'q>(
    queue: &'q [RenderedProvider],
    mut kinds: ServedKinds,
    problems: &mut Vec<PreflightProblem>,
) -> (Vec<DesiredProvider<'q>>, ServedKinds) {
    let mut all = Vec::with_capacity(queue.len());
    for provider in queue {
        let (marks, options) = (marks(&provider.id), options(&provider.namespace));
        match build_desired_set(provider.objects.clone(), &kinds, &marks, &options) {
            Ok(mut desired) => {
                set_policies(&mut desired);
                all.push(DesiredProvider { provider, desired });
            }
            Err(bad) => problems.extend(bad.iter().map(|why| install_problem(provider, why))),
        }
        add_defined_kinds(&mut kinds, &provider.objects);
    }
    (all, kinds)
}

/// Returns the desired objects with the fields that users set on live Deployments.
fn with_user_fields(
    provider: &RenderedProvider,
    desired: DesiredSet,
    live: &LiveObjects,
    kinds: &ServedKinds,
) -> DesiredSet {
    let Some(objects) = with_kept_fields(&provider.objects, &desired, live, KeptFields::ALL) else {
        return desired;
    };
    let (marks, options) = (marks(&provider.id), options(&provider.namespace));
    // Preparation succeeded before and only fields of Deployments changed, so it succeeds again.
    let Ok(mut kept) = build_desired_set(objects, kinds, &marks, &options) else { return desired };
    set_policies(&mut kept);
    kept
}

/// Returns a problem for each object that several providers bring. Providers may share a Namespace.
fn duplicate_objects(ready: &[DesiredProvider<'_>]) -> Vec<PreflightProblem> {
    let mut first: BTreeMap<&ObjectKey, &RenderedProvider> = BTreeMap::new();
    let mut problems = Vec::new();
    for DesiredProvider { provider, desired } in ready {
        for key in desired.objects.iter().map(|object| &object.key).filter(|key| !key.is("", "Namespace")) {
            if let Some(other) = first.insert(key, provider) {
                let RenderedProvider { id, version, .. } = provider;
                problems.push(PreflightProblem::fatal(format!(
                    "cannot install `{id}` {version}: `{}` also contains {key}",
                    other.id
                )));
            }
        }
    }
    problems
}

fn add_defined_kinds(kinds: &mut ServedKinds, objects: &[Object]) {
    objects.iter().flat_map(defined_kinds).for_each(|kind| kinds.add(kind));
}

fn cert_manager_kinds() -> impl Iterator<Item = ApiKind> {
    CERT_MANAGER_KINDS
        .iter()
        .map(|(kind, plural, namespaced)| known_kind("cert-manager.io", "v1", kind, plural, *namespaced))
}

fn install_problem(provider: &RenderedProvider, why: &dyn std::error::Error) -> PreflightProblem {
    PreflightProblem::fatal(format!(
        "cannot install `{}` {}: {}",
        provider.id,
        provider.version,
        api::with_causes(why)
    ))
}

fn dry_run_problems(provider: &RenderedProvider, error: &EngineError) -> Vec<PreflightProblem> {
    match error {
        EngineError::Writes { failed } => {
            failed.iter().map(|(_, why)| install_problem(provider, why)).collect()
        }
        EngineError::Plan { objects } => objects.iter().map(|why| install_problem(provider, why)).collect(),
        other => vec![install_problem(provider, other)],
    }
}
