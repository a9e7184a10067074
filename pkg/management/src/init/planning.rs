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
    applied::applied_for,
    cert_manager::cert_manager_manifest,
    provider_set::{marks, options, recorded_set, settle_policies},
    status::{explain_drifted, forget_drifted},
    upgrade::{Keep, with_kept_fields},
};

/// Kinds of cert-manager whose objects providers bring.
const CERT_MANAGER_KINDS: [(&str, &str, bool); 3] = [
    ("Certificate", "certificates", true),
    ("ClusterIssuer", "clusterissuers", false),
    ("Issuer", "issuers", true),
];

/// The circumstances that decide how many objects the plan reads.
pub(super) struct Planning<'a> {
    pub(super) cluster: &'a ManagementCluster,
    pub(super) inventory: &'a ProviderInventory,
    /// True if Cluster API was never installed. Then every object is new, or its write reports that it exists.
    pub(super) is_fresh: bool,
    /// True if the user may do everything. Then no write of a new object lacks a permission.
    pub(super) is_admin: bool,
    pub(super) thorough: bool,
}

/// A provider with its desired objects.
struct Ready<'q> {
    provider: &'q RenderedProvider,
    desired: DesiredSet,
}

impl Planning<'_> {
    /// Plans all providers of the queue in order, and adds problems of any provider to `problems`.
    pub(super) async fn plan(
        &self,
        sources: &Sources<'_>,
        cert_manager: &CertManagerPlan,
        queue: &[RenderedProvider],
        problems: &mut Vec<PreflightProblem>,
    ) -> Result<Vec<ProviderPlan>, LifecycleError> {
        let kinds = self.kinds(sources, cert_manager).await?;
        let (ready, kinds) = make_ready(queue, kinds, problems);
        problems.extend(brought_twice(&ready));
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
                add_defined(&mut kinds, &manifest.objects);
            }
            CertManagerAction::External => kinds_of_cert_manager().for_each(|kind| kinds.add(kind)),
            CertManagerAction::None | CertManagerAction::Keep => {}
        }
        Ok(kinds)
    }

    async fn plan_one(
        &self,
        ready: Ready<'_>,
        kinds: &ServedKinds,
    ) -> Result<Result<ProviderPlan, Vec<PreflightProblem>>, ApiError> {
        let Ready { provider, mut desired } = ready;
        let (id, namespace) = (&provider.id, &provider.namespace);
        let there = self.inventory.entries_of(id).find(|installed| installed.namespace == *namespace);
        let mut set = self.applied(provider, there).await?;
        let (marks, options) = (marks(id), options(namespace));
        let engine = Engine { server: &self.cluster.server, marks: &marks, options: &options };
        let live = self.look(&engine, &set, &desired).await?;
        let mut drifted = Vec::new();
        if there.is_some() {
            drifted = forget_drifted(&mut set, &live, &options.field_manager);
            desired = with_kept(provider, desired, &live, kinds);
        }
        let mut objects = match engine.plan(set, desired, live) {
            Ok(planned) => planned,
            Err(impossible) => return Ok(Err(impossible.iter().map(|why| refused(provider, why)).collect())),
        };
        explain_drifted(&mut objects.plan, &drifted);
        match engine.dry_run(&mut objects, |step| self.is_tried(step)).await {
            Ok(()) => {}
            Err(EngineError::Api(error)) => return Err(error),
            Err(error) => return Ok(Err(refused_as_dry_run(provider, &error))),
        }
        let from = there.map(|installed| installed.version.clone());
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
    async fn look(
        &self,
        engine: &Engine<'_>,
        set: &ApplySet,
        desired: &DesiredSet,
    ) -> Result<LiveObjects, ApiError> {
        match (self.is_fresh, self.thorough) {
            (true, false) => Ok(LiveObjects::default()),
            (false, false) => engine.observe(set, desired, ReadByName::Applied).await,
            (_, true) => engine.observe(set, desired, ReadByName::All).await,
        }
    }

    /// Returns the applied objects of an installed provider, or those of an interrupted run.
    async fn applied(
        &self,
        provider: &RenderedProvider,
        there: Option<&InstalledProvider>,
    ) -> Result<ApplySet, ApiError> {
        if let Some(installed) = there {
            let mut applied = applied_for(self.cluster, std::slice::from_ref(installed)).await?;
            return Ok(applied.pop().map(|applied| applied.set).unwrap_or_default());
        }
        if self.is_fresh {
            return Ok(ApplySet::default());
        }
        let recorded = recorded_set(self.cluster, &provider.id, &provider.namespace).await?;
        Ok(recorded.map(|(set, _)| set).unwrap_or_default())
    }

    /// True if the step is dry-run first. This covers changes of existing objects, and cluster-scoped objects
    /// that a user without admin rights creates. The privilege escalation rules of RBAC cannot be checked as
    /// permissions.
    fn is_tried(&self, step: &PlanStep) -> bool {
        match step.action {
            StepAction::Update | StepAction::Adopt | StepAction::Recreate => true,
            StepAction::Create => self.thorough || (!self.is_admin && step.key.namespace.is_empty()),
            _ => false,
        }
    }
}

/// Prepares the objects of all providers. Each provider may use kinds that earlier providers define.
/// Returns the known kinds too.
fn make_ready<'q>(
    queue: &'q [RenderedProvider],
    mut kinds: ServedKinds,
    problems: &mut Vec<PreflightProblem>,
) -> (Vec<Ready<'q>>, ServedKinds) {
    let mut all = Vec::with_capacity(queue.len());
    for provider in queue {
        let (marks, options) = (marks(&provider.id), options(&provider.namespace));
        match build_desired_set(provider.objects.clone(), &kinds, &marks, &options) {
            Ok(mut desired) => {
                settle_policies(&mut desired);
                all.push(Ready { provider, desired });
            }
            Err(bad) => problems.extend(bad.iter().map(|why| refused(provider, why))),
        }
        add_defined(&mut kinds, &provider.objects);
    }
    (all, kinds)
}

/// Returns the desired objects with the fields that users set on live Deployments.
fn with_kept(
    provider: &RenderedProvider,
    desired: DesiredSet,
    live: &LiveObjects,
    kinds: &ServedKinds,
) -> DesiredSet {
    let Some(objects) = with_kept_fields(&provider.objects, &desired, live, Keep::ALL) else {
        return desired;
    };
    let (marks, options) = (marks(&provider.id), options(&provider.namespace));
    // Preparation succeeded before and only fields of Deployments changed, so it succeeds again.
    let Ok(mut kept) = build_desired_set(objects, kinds, &marks, &options) else { return desired };
    settle_policies(&mut kept);
    kept
}

/// Returns a problem for each object that several providers bring. Providers may share a Namespace.
fn brought_twice(ready: &[Ready<'_>]) -> Vec<PreflightProblem> {
    let mut first: BTreeMap<&ObjectKey, &RenderedProvider> = BTreeMap::new();
    let mut problems = Vec::new();
    for Ready { provider, desired } in ready {
        for key in desired.objects.iter().map(|object| &object.key).filter(|key| !key.is("", "Namespace")) {
            if let Some(other) = first.insert(key, provider) {
                let RenderedProvider { id, version, .. } = provider;
                problems.push(PreflightProblem::fatal(format!(
                    "cannot install `{id}` {version}: `{}` brings {key} too",
                    other.id
                )));
            }
        }
    }
    problems
}

fn add_defined(kinds: &mut ServedKinds, objects: &[Object]) {
    objects.iter().flat_map(defined_kinds).for_each(|kind| kinds.add(kind));
}

fn kinds_of_cert_manager() -> impl Iterator<Item = ApiKind> {
    CERT_MANAGER_KINDS
        .iter()
        .map(|(kind, plural, namespaced)| known_kind("cert-manager.io", "v1", kind, plural, *namespaced))
}

fn refused(provider: &RenderedProvider, why: &dyn std::error::Error) -> PreflightProblem {
    PreflightProblem::fatal(format!(
        "cannot install `{}` {}: {}",
        provider.id,
        provider.version,
        api::with_causes(why)
    ))
}

fn refused_as_dry_run(provider: &RenderedProvider, error: &EngineError) -> Vec<PreflightProblem> {
    match error {
        EngineError::Writes { failed } => failed.iter().map(|(_, why)| refused(provider, why)).collect(),
        EngineError::Plan { objects } => objects.iter().map(|why| refused(provider, why)).collect(),
        other => vec![refused(provider, other)],
    }
}
