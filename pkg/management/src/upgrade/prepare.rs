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
    definitions::{is_definition, versions_lost},
    keep::{Keep, keep_user_fields},
};
use crate::{
    LifecycleError, ProviderPlan, Verb,
    applied::applied_for,
    provider_set::{marks, options, settle_policies},
    status::{explain_drifted, forget_drifted},
    upgrade::definitions::keep_used,
};

/// A provider and its planned state.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) installed: InstalledProvider,
    pub(crate) to: String,
    pub(crate) kustomization: Option<String>,
    pub(crate) objects: Vec<Object>,
}

/// The checks of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Reads only known objects and dry-runs nothing.
    Plain,
    /// Dry-runs everything and rejects lost versions.
    Tried {
        /// The user fields to keep.
        keep: Keep,
        /// The objects to read by name.
        by_name: ReadByName,
    },
}

/// The plan of a provider and its warnings.
pub(crate) type Prepared = (ProviderPlan, Vec<String>);

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
pub(crate) async fn prepare(
    cluster: &ManagementCluster,
    nexts: Vec<Next>,
    look: Look,
) -> Result<Vec<Prepared>, LifecycleError> {
    let installed: Vec<_> = nexts.iter().map(|next| next.installed.clone()).collect();
    let sets = applied_for(cluster, &installed).await?;
    let mut kinds = ServedKinds::clone(&*cluster.server.kinds().await?);
    // A provider may bring objects of kinds that another provider defines.
    nexts.iter().flat_map(|next| &next.objects).flat_map(defined_kinds).for_each(|kind| kinds.add(kind));
    let desired = all_or_problems(nexts.iter().map(|next| next.desire(next.objects.clone(), &kinds)))?;
    let marks: Vec<_> = installed.iter().map(|one| marks(&one.id)).collect();
    let sought = marks.iter().zip(&sets).zip(&desired);
    let sought =
        sought.map(|((marks, applied), desired)| ObservationTarget { marks, set: &applied.set, desired });
    let sought: Vec<_> = sought.collect();
    let lives = cluster.server.observe_all(&sought, look.by_name(), ReadDetail::Full).await?;
    let seen = desired.into_iter().zip(lives);
    let each = nexts.into_iter().zip(sets).zip(seen);
    let each =
        each.map(|((next, applied), seen)| prepare_one(cluster, next, applied.set, seen, &kinds, look));
    all_or_problems(join_all(each).await)
}

async fn prepare_one(
    cluster: &ManagementCluster,
    next: Next,
    mut set: ApplySet,
    (mut desired, live): (DesiredSet, LiveObjects),
    kinds: &ServedKinds,
    look: Look,
) -> Result<Prepared, LifecycleError> {
    let id = next.installed.id.clone();
    let (marks, options) = (marks(&id), options(&next.installed.namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let mut drifted = Vec::new();
    if let Look::Tried { keep, .. } = look {
        if let Some(objects) = with_kept_fields(&next.objects, &desired, &live, keep) {
            desired = next.desire(objects, kinds)?;
        }
        drifted = forget_drifted(&mut set, &live, &options.field_manager);
    }
    let warnings = keep_used(cluster, &mut set, &desired, &id).await?;
    let mut objects = engine
        .plan(set, desired, live)
        .map_err(|impossible| problems(&id, impossible.iter().map(ToString::to_string)))?;
    explain_drifted(&mut objects.plan, &drifted);
    if let Look::Tried { .. } = look {
        try_out(&engine, &id, &mut objects).await?;
    }
    if next.installed.version == next.to {
        objects.keep_unchanged();
    }
    let plan = ProviderPlan {
        namespace: next.installed.namespace,
        from: Some(next.installed.version),
        to: Some(next.to),
        kustomization: next.kustomization,
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

impl Next {
    fn desire(&self, objects: Vec<Object>, kinds: &ServedKinds) -> Result<DesiredSet, LifecycleError> {
        let InstalledProvider { id, namespace, .. } = &self.installed;
        let mut desired = build_desired_set(objects, kinds, &marks(id), &options(namespace))
            .map_err(|bad| problems(id, bad.iter().map(ToString::to_string)))?;
        settle_policies(&mut desired);
        Ok(desired)
    }
}

impl Look {
    fn by_name(self) -> ReadByName {
        match self {
            Self::Plain => ReadByName::Applied,
            Self::Tried { by_name, .. } => by_name,
        }
    }
}

/// Returns the objects with the fields that users set on live ones. `None` if no user set a field.
/// `objects` and `desired` have the same order and length.
pub(crate) fn with_kept_fields(
    objects: &[Object],
    desired: &DesiredSet,
    live: &LiveObjects,
    keep: Keep,
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
async fn try_out(
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
            failed.iter().map(|(_, error)| format!("would be refused: {}", api::with_causes(error))),
        )),
        Err(source) => Err(LifecycleError::objects(Verb::Upgrade, id.clone(), source)),
    }
}

fn lost_versions(id: &ProviderId, desired: &DesiredSet, live: &LiveObjects) -> Vec<PreflightProblem> {
    let mut found = Vec::new();
    for next in desired.objects.iter().filter(|next| is_definition(&next.object)) {
        let Some(live) = live.present(&next.key) else { continue };
        for version in versions_lost(live, &next.object) {
            let text = format!(
                "{} would no longer serve {version}, in which objects are still stored (status.storedVersions)",
                next.key
            );
            let hint = "write these objects anew, then take the version out of status.storedVersions; \
                        controllers of current releases do both by themselves";
            found.push(problem(id, &text, Some(hint.to_owned())));
        }
    }
    found
}

/// Returns the live objects of a set before a change.
pub(crate) fn live_objects<'a>(set: &'a ApplySet, live: &'a LiveObjects) -> impl Iterator<Item = &'a Object> {
    set.items.iter().filter_map(|item| live.present(&item.key))
}
