use std::fmt::Write as _;

use anyhow::Result;
use api::output;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use super::{Page, REFERENCE, heading};

/// An output format, and the commands that print it.
struct OutputSchema {
    name: &'static str,
    printed_by: &'static str,
    schema: Schema,
}

/// One JSON schema per output format, and a list of all schemas.
pub(super) fn pages() -> Result<Vec<Page>> {
    let mut list = heading("Schemas");
    list.push_str(
        "JSON Schemas of the output of `-o json`. `-o yaml` prints the same as YAML, except that objects become YAML documents. Until the next major version, fields are added, never renamed or removed.\n\n\
         | Schema | Printed by |\n|---|---|\n",
    );
    let mut pages = Vec::new();
    for form in output_schemas() {
        let _ = writeln!(list, "| [{0}](schemas/{0}.json) | {1} |", form.name, form.printed_by);
        let text = serde_json::to_string_pretty(&form.schema)? + "\n";
        pages.push((format!("{REFERENCE}/schemas/{}.json", form.name), text));
    }
    pages.push((format!("{REFERENCE}/schemas.md"), list));
    Ok(pages)
}

fn output_schemas() -> Vec<OutputSchema> {
    vec![
        output_schema::<output::ObjectList>("object-list", "`generate cluster`, `generate provider`"),
        output_schema::<output::VariableList>("variable-list", "`generate … --list-variables`"),
        output_schema::<output::Explanation>("explanation", "`explain`"),
        output_schema::<output::ProviderList>("provider-list", "`provider list`"),
        output_schema::<output::ProviderRelease>("provider-release", "`provider show`"),
        output_schema::<output::ImageList>("image-list", "`init list-images`"),
        output_schema::<output::SandboxList>("sandbox-list", "`sandbox list`"),
        output_schema::<output::ProvenanceReport>(
            "provenance",
            "`kustomize build`, `generate provider`, `generate cluster`, `render` with `--provenance=json`",
        ),
        output_schema::<output::FieldExplanation>("field-explanation", "`component explain`"),
        output_schema::<output::KustomizationLint>("kustomization-lint", "`kustomize lint`"),
        output_schema::<output::ChartObjects>("chart-objects", "`chart template`"),
        output_schema::<output::ChartLint>("chart-lint", "`chart lint`"),
        output_schema::<output::LockReport>("lock-report", "`lock`"),
        output_schema::<output::BundleReport>("bundle-report", "`bundle create`, `bundle inspect`"),
        output_schema::<output::BundleVerification>("bundle-verification", "`bundle verify`"),
        output_schema::<output::BundleLoad>("bundle-load", "`bundle load`"),
        output_schema::<output::Publication>("publication", "`publish`"),
        output_schema::<output::LifecycleReport>(
            "lifecycle-report",
            "`plan`, `init`, `upgrade apply`, `upgrade resume`, `upgrade rollback`, `delete`",
        ),
        output_schema::<output::ComponentRunReport>(
            "component-run",
            "`component plan`, `component diff`, `component apply`, `component delete`",
        ),
        output_schema::<output::ControllerRunReport>(
            "controller-run",
            "`controller install`, `controller uninstall`",
        ),
        output_schema::<output::CatalogLint>("catalog-lint", "`catalog lint`"),
        output_schema::<output::ParameterExplanation>("parameter-explanation", "`catalog explain`"),
        output_schema::<output::CatalogPlan>("catalog-plan", "`catalog plan`"),
        output_schema::<output::AppliedCatalogs>("applied-catalogs", "`catalog list --applied`"),
        output_schema::<output::CatalogRunReport>("catalog-run", "`catalog apply`, `catalog delete`"),
        output_schema::<output::ComponentList>(
            "component-list",
            "`component list`, `component status`, `component wait`",
        ),
        output_schema::<output::UpgradePlan>("upgrade-plan", "`upgrade plan`"),
        output_schema::<output::UpgradeAborted>("upgrade-aborted", "`upgrade abort`"),
        output_schema::<output::StatusReport>("status-report", "`status`"),
        output_schema::<output::ClusterDescription>("cluster-description", "`describe cluster`"),
        output_schema::<output::ClusterList>("cluster-list", "`get clusters`"),
        output_schema::<output::MovePlan>("move-plan", "`move --dry-run`"),
        output_schema::<output::MoveReport>("move-report", "`move`, `move report`"),
        output_schema::<output::MoveStatus>("move-status", "`move status`"),
        output_schema::<output::MoveAborted>("move-aborted", "`move --abort`"),
        output_schema::<output::BackupReport>("backup-report", "`backup`, `backup inspect`, `backup verify`"),
        output_schema::<output::RestoreReport>("restore-report", "`restore`"),
        output_schema::<output::OwnerGraph>("owner-graph", "`graph`"),
        output_schema::<output::RolloutReport>("rollout-report", "`alpha rollout status`"),
        output_schema::<output::RolloutChangeReport>(
            "rollout-change",
            "`alpha rollout restart`, `alpha rollout pause`, `alpha rollout resume`",
        ),
        output_schema::<output::ProgressEvent>(
            "progress-line",
            "`--progress json`, one line per event, on standard error",
        ),
        output_schema::<output::ErrorReport>("error-report", "every command that fails, on standard error"),
        output_schema::<output::CacheReport>("cache-report", "`cache info`"),
        output_schema::<output::CachePruning>("cache-pruning", "`cache prune`"),
        output_schema::<output::CacheVerification>("cache-verification", "`cache verify`"),
        output_schema::<output::SelfCheck>("self-check", "`self check`"),
        output_schema::<output::VersionReport>("version-report", "`version`"),
    ]
}

fn output_schema<T: JsonSchema>(name: &'static str, printed_by: &'static str) -> OutputSchema {
    // The schema of what is written: fields that are left out when empty are not required.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    OutputSchema { name, printed_by, schema: settings.into_generator().into_root_schema_for::<T>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_output_leaves_out_are_not_required() {
        let step = output_schema::<output::StepReport>("step", "`init`").schema;
        assert_eq!(step.as_value()["required"], serde_json::json!(["action", "object"]));
    }
}
