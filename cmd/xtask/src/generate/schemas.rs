use std::fmt::Write as _;

use anyhow::Result;
use api::output;
use schemars::{JsonSchema, Schema, schema_for};

use super::{Page, REFERENCE, heading};

/// An output format, and the commands that print it.
struct Form {
    name: &'static str,
    printed_by: &'static str,
    schema: Schema,
}

/// One JSON schema per output format, and a list of all schemas.
pub(super) fn pages() -> Result<Vec<Page>> {
    let mut list = heading("Schemas");
    list.push_str(
        "What `-o json` prints, as JSON Schema; `-o yaml` prints the same as YAML, but objects as YAML documents. Fields are added, never renamed or removed.\n\n\
         | Schema | Printed by |\n|---|---|\n",
    );
    let mut pages = Vec::new();
    for form in forms() {
        let _ = writeln!(list, "| [{0}](schemas/{0}.json) | {1} |", form.name, form.printed_by);
        let text = serde_json::to_string_pretty(&form.schema)? + "\n";
        pages.push((format!("{REFERENCE}/schemas/{}.json", form.name), text));
    }
    pages.push((format!("{REFERENCE}/schemas.md"), list));
    Ok(pages)
}

fn forms() -> Vec<Form> {
    vec![
        form::<output::ObjectList>("object-list", "`generate cluster`, `generate provider`"),
        form::<output::VariableList>("variable-list", "`generate … --list-variables`"),
        form::<output::Explanation>("explanation", "`explain`"),
        form::<output::ProviderList>("provider-list", "`provider list`"),
        form::<output::ProviderRelease>("provider-release", "`provider show`"),
        form::<output::ImageList>("image-list", "`init list-images`"),
        form::<output::ProvenanceReport>(
            "provenance",
            "`kustomize build`, `generate provider`, `generate cluster`, `render` with `--provenance=json`",
        ),
        form::<output::KustomizationLint>("kustomization-lint", "`kustomize lint`"),
        form::<output::LockReport>("lock-report", "`lock`"),
        form::<output::BundleReport>("bundle-report", "`bundle create`, `bundle inspect`"),
        form::<output::BundleVerification>("bundle-verification", "`bundle verify`"),
        form::<output::BundleLoad>("bundle-load", "`bundle load`"),
        form::<output::Publication>("publication", "`publish`"),
        form::<output::LifecycleReport>(
            "lifecycle-report",
            "`plan`, `init`, `upgrade apply`, `upgrade resume`, `upgrade rollback`, `delete`",
        ),
        form::<output::UpgradePlan>("upgrade-plan", "`upgrade plan`"),
        form::<output::UpgradeAborted>("upgrade-aborted", "`upgrade abort`"),
        form::<output::StatusReport>("status-report", "`status`"),
        form::<output::ClusterDescription>("cluster-description", "`describe cluster`"),
        form::<output::ClusterList>("cluster-list", "`get clusters`"),
        form::<output::MovePlan>("move-plan", "`move --dry-run`"),
        form::<output::MoveReport>("move-report", "`move`, `move report`"),
        form::<output::MoveStatus>("move-status", "`move status`"),
        form::<output::MoveAborted>("move-aborted", "`move --abort`"),
        form::<output::BackupReport>("backup-report", "`backup`, `backup inspect`, `backup verify`"),
        form::<output::RestoreReport>("restore-report", "`restore`"),
        form::<output::OwnerGraph>("owner-graph", "`graph`"),
        form::<output::RolloutReport>("rollout-report", "`alpha rollout status`"),
        form::<output::RolloutChangeReport>(
            "rollout-change",
            "`alpha rollout restart`, `alpha rollout pause`, `alpha rollout resume`",
        ),
        form::<output::ProgressEvent>("progress-line", "`--progress json`, a line each, on standard error"),
        form::<output::ErrorReport>("error-report", "every command that fails, on standard error"),
        form::<output::CacheReport>("cache-report", "`cache info`"),
        form::<output::CachePruning>("cache-pruning", "`cache prune`"),
        form::<output::CacheVerification>("cache-verification", "`cache verify`"),
        form::<output::VersionReport>("version-report", "`version`"),
    ]
}

fn form<T: JsonSchema>(name: &'static str, printed_by: &'static str) -> Form {
    Form { name, printed_by, schema: schema_for!(T) }
}
