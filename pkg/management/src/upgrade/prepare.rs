//! Plans the change of one provider with all checks that need no write.

use api::ProviderId;
use apply::{
    ApplySet, DesiredSet, Engine, EngineError, LiveObjects, ObservationTarget, PlannedSet, ReadByName,
    ReadDetail, ServedKinds, build_desired_set, defined_kinds,
};
use futures::future::join_all;
use inventory::{ManagementCluster, PreflightProblem, PreflightProblems};
use manifest::Object;
use provider::InstalledProvider;

use super::{
    definitions::versions_lost,
    user_fields::{KeptFields, keep_user_fields},
};
use crate::{
    LifecycleError, LifecycleVerb, ProviderPlan,
    applied::read_applied,
    provider_set::{marks, options, set_policies},
    status::{add_drift_reasons, clear_drifted_digests},
    upgrade::definitions::keep_used_definitions,
};

/// A provider and its planned state.
#[derive(Debug)]
pub(crate) struct ProviderTarget {
    pub(crate) installed: InstalledProvider,
    pub(crate) to: String,
    pub(crate) kustomization: Option<String>,
    pub(crate) objects: Vec<Object>,
}

/// The checks of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrepareMode {
    /// Reads only known objects and dry-runs nothing.
    Minimal,
    /// Dry-runs everything and rejects lost versions.
    DryRun {
        /// The user fields to keep.
        keep: KeptFields,
        /// The objects to read by name.
        by_name: ReadByName,
    },
}

/// The plan of a provider and its warnings.
pub(crate) type PreparedProvider = (ProviderPlan, Vec<String>);

fn problem(id: &ProviderId, text: &str, hint: Option<String>) -> PreflightProblem {
    PreflightProblem { hint, ..PreflightProblem::fatal(format!("`{id}`: {text}")) }
}

fn problems(id: &ProviderId, texts: impl IntoIterator<Item = String>) -> LifecycleError {
    let problems = texts.into_iter().map(|text| problem(id, &text, None)).collect();
    LifecycleError::Problems(PreflightProblems { problems })
}

/// Plans providers in the given order. Writes nothing.
/// # Errors
/// `Problems` with all problems of all providers. Objects that can never be applied come first.
pub(crate) async fn prepare_providers(
    cluster: &ManagementCluster,
    targets: Vec<ProviderTarget>,
    mode: PrepareMode,
) -> Result<Vec<PreparedProvider>, LifecycleError> {
    let installed: Vec<_> = targets.iter().map(|next| next.installed.clone()).collect();
    let sets = read_applied(cluster, &installed).await?;
    let mut kinds = ServedKinds::clone(&*cluster.server.kinds().await?);
    // A provider may bring objects of kinds that another provider defines.
    targets.iter().flat_map(|next| &next.objects).flat_map(defined_kinds).for_each(|kind| kinds.add(kind));
    let desired =
        all_or_problems(targets.iter().map(|next| next.build_desired(next.objects.clone(), &kinds)))?;
    let marks: Vec<_> = installed.iter().map(|one| marks(&one.id)).collect();
    let observed = marks.iter().zip(&sets).zip(&desired);
    let sought =
        observed.map(|((marks, applied), desired)| ObservationTarget { marks, set: &applied.set, desired });
    let sought: Vec<_> = sought.collect();
    let lives = cluster.server.observe_all(&sought, mode.by_name(), ReadDetail::Full).await?;
    let desired_and_live = desired.into_iter().zip(lives);
    let each = targets.into_iter().zip(sets).zip(desired_and_live);
    let each =
        each.map(|((next, applied), seen)| prepare_provider(cluster, next, applied.set, seen, &kinds, mode));
    all_or_problems(join_all(each).await)
}

async fn prepare_provider(
    cluster: &ManagementCluster,
    target: ProviderTarget,
    mut set: ApplySet,
    (mut desired, live): (DesiredSet, LiveObjects),
    kinds: &ServedKinds,
    mode: PrepareMode,
) -> Result<PreparedProvider, LifecycleError> {
    let id = target.installed.id.clone();
    let (marks, options) = (marks(&id), options(&target.installed.namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let mut drifted = Vec::new();
    if let PrepareMode::DryRun { keep, .. } = mode {
        if let Some(objects) = with_kept_fields(&target.objects, &desired, &live, keep) {
            desired = target.build_desired(objects, kinds)?;
        }
        drifted = clear_drifted_digests(&mut set, &live, &marks);
    }
    let warnings = keep_used_definitions(cluster, &mut set, &desired, &id).await?;
    let mut objects = engine
        .plan(set, desired, live)
        .map_err(|impossible| problems(&id, impossible.iter().map(ToString::to_string)))?;
    add_drift_reasons(&mut objects.plan, &drifted);
    if let PrepareMode::DryRun { .. } = mode {
        dry_run(&engine, &id, &mut objects).await?;
    }
    if target.installed.version == target.to {
        objects.keep_unchanged();
    }
    let plan = ProviderPlan {
        namespace: target.installed.namespace,
        from: Some(target.installed.version),
        to: Some(target.to),
        kustomization: target.kustomization,
        id,
        objects,
    };
    Ok((plan, warnings))
}

/// Returns all results, or all problems.
fn all_or_problems<T>(
    results: impl IntoIterator<Item = Result<T, LifecycleError>>,
) -> Result<Vec<T>, LifecycleError> {
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(one) => all.push(one),
            Err(LifecycleError::Problems(more)) => problems.extend(more.problems),
            Err(error) => return Err(error),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(PreflightProblems { problems }.into()) }
}

impl ProviderTarget {
    fn build_desired(&self, objects: Vec<Object>, kinds: &ServedKinds) -> Result<DesiredSet, LifecycleError> {
        let InstalledProvider { id, namespace, .. } = &self.installed;
        let mut desired = build_desired_set(objects, kinds, &marks(id), &options(namespace))
            .map_err(|bad| problems(id, bad.iter().map(ToString::to_string)))?;
        set_policies(&mut desired);
        Ok(desired)
    }
}

impl PrepareMode {
    fn by_name(self) -> ReadByName {
        match self {
            Self::Minimal => ReadByName::Applied,
            Self::DryRun { by_name, .. } => by_name,
        }
    }
}

/// Returns the objects with the fields that users set on live ones. `None` if no user set a field.
/// `objects` and `desired` have the same order and length.
pub(crate) fn with_kept_fields(
    objects: &[Object],
    desired: &DesiredSet,
    live: &LiveObjects,
    keep: KeptFields,
) -> Option<Vec<Object>> {
    let mut objects = objects.to_vec();
    let mut is_changed = false;
    for (object, desired) in objects.iter_mut().zip(&desired.objects) {
        if let Some(live) = live.present(&desired.key) {
            is_changed |= keep_user_fields(object, live, keep);
        }
    }
    is_changed.then_some(objects)
}

/// Detects versions that would be lost, and dry-runs all objects.
async fn dry_run(
    engine: &Engine<'_>,
    id: &ProviderId,
    objects: &mut PlannedSet,
) -> Result<(), LifecycleError> {
    let lost = lost_versions(id, &objects.desired, &objects.live);
    if !lost.is_empty() {
        return Err(LifecycleError::Problems(PreflightProblems { problems: lost }));
    }
    match engine.dry_run(objects, |_| true).await {
        Ok(()) => Ok(()),
        Err(EngineError::Writes { failed }) => Err(problems(
            id,
            failed.iter().map(|(_, error)| format!("dry run failed: {}", api::with_causes(error))),
        )),
        Err(source) => Err(LifecycleError::apply_error(LifecycleVerb::Upgrade, id.clone(), source)),
    }
}

fn lost_versions(id: &ProviderId, desired: &DesiredSet, live: &LiveObjects) -> Vec<PreflightProblem> {
    let mut found = Vec::new();
    for next in desired.objects.iter().filter(|next| next.object.is_crd()) {
        let Some(live) = live.present(&next.key) else { continue };
        for version in versions_lost(live, &next.object) {
            let text = format!(
                "{} would no longer serve {version}, in which objects are still stored (status.storedVersions)",
                next.key
            );
            let hint = "rewrite these objects, then remove the version from status.storedVersions; recent controllers do both automatically";
            found.push(problem(id, &text, Some(hint.to_owned())));
        }
    }
    found
}

/// Returns the live objects of a set before a change.
pub(crate) fn live_objects<'a>(set: &'a ApplySet, live: &'a LiveObjects) -> impl Iterator<Item = &'a Object> {
    set.items.iter().filter_map(|item| live.present(&item.key))
}
