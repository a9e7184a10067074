//! A catalog on a cluster: the set of its objects, and the report of a run.

use std::fmt::Write as _;

use api::labels::{CAPSTAN_DOMAIN, FIELD_MANAGER};
use api::output::{AppliedCatalog, AppliedCatalogs, CatalogRunReport, UnresolvedObject};
use apply::{
    ApplyOptions, FormerTool, OwnershipMarks, PlannedSet, RecordedSet, SaveAt, SetRecordSummary, key_of,
};
use catalog::manifests::ManifestObject;
use inventory::ManagementCluster;
use management::DiffDetail;

use crate::{Failure, session::Session, verbs::lifecycle::steps_text};

/// The namespace of the records. It exists on every cluster.
pub(super) const RECORD_NAMESPACE: &str = "kube-system";
/// The start of the names of records.
const RECORD_PREFIX: &str = "capstan.catalog.";
/// Prefixes of the field managers of other tools that may have applied the catalog.
const FORMER_TOOLS: [FormerTool; 3] =
    [FormerTool::new("kubectl"), FormerTool::new("helm"), FormerTool::new("argocd")];

/// Returns the applied objects of a catalog. Objects without a namespace are in the given one.
pub(super) fn applied_set(cluster: &ManagementCluster, name: &str, namespace: &str) -> RecordedSet {
    RecordedSet {
        server: cluster.server().clone(),
        namespace: RECORD_NAMESPACE.to_owned(),
        record: format!("{RECORD_PREFIX}{name}"),
        source: None,
        save_at: SaveAt::Start,
        marks: OwnershipMarks {
            // `kubectl delete` of a definition must not wait for this program.
            finalizer: None,
            // The record has the digests.
            digest_annotation: None,
            ..OwnershipMarks::of_component(CAPSTAN_DOMAIN, &format!("catalog/{name}"))
        },
        options: ApplyOptions {
            take_over: FORMER_TOOLS.to_vec(),
            release_orphans: true,
            ..ApplyOptions::new(FIELD_MANAGER, CAPSTAN_DOMAIN, namespace)
        },
    }
}

/// Lists the applied catalogs of a cluster. A record that cannot be read is a warning.
pub(super) fn applied_catalogs(
    cluster: &ManagementCluster,
    session: &Session,
) -> Result<AppliedCatalogs, Failure> {
    let records = session.block_on(RecordedSet::list(cluster.server(), RECORD_NAMESPACE, RECORD_PREFIX))?;
    let mut catalogs = Vec::new();
    for SetRecordSummary { record, objects } in records {
        if let Err(error) = &objects {
            session.messages().warning(error.to_string());
        }
        let name = record.strip_prefix(RECORD_PREFIX).unwrap_or(&record).to_owned();
        catalogs.push(AppliedCatalog { name, objects: objects.ok() });
    }
    catalogs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(AppliedCatalogs { catalogs })
}

/// Returns the report of a plan.
pub(super) fn report(
    command: &str,
    name: &str,
    plan: &PlannedSet,
    left_out: &[ManifestObject],
    diffs: DiffDetail,
    carried_out: bool,
) -> CatalogRunReport {
    let steps = management::report_steps(plan, diffs);
    let unresolved = |one: &ManifestObject| UnresolvedObject {
        object: key_of(&one.object),
        file: one.file.clone(),
        references: one.references.clone(),
    };
    CatalogRunReport {
        command: command.to_owned(),
        carried_out,
        changes: steps.iter().any(|step| step.action.is_change()),
        name: name.to_owned(),
        steps,
        left_out: left_out.iter().map(unresolved).collect(),
    }
}

/// Returns a plan as text.
pub(super) fn plan_text(
    report: &CatalogRunReport,
    left_out: &[ManifestObject],
    diffs: DiffDetail,
    width: Option<usize>,
) -> String {
    let mut text = format!("{}\n", steps_text(&report.steps, diffs, width).trim_end());
    for one in left_out {
        let _ = writeln!(text, "  left out: {} in {}", key_of(&one.object), one.file);
    }
    if !report.changes {
        text.push_str("nothing would change\n");
    }
    text
}
