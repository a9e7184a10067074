//! The target of a component, and the class with the facts of an invented cluster.

use manifest::yaml;
use serde_json::json;

use crate::cluster::TargetInstance;
use crate::working_folder::CLUSTER_TARGET;

/// A library that stands for that of the component argocd, which most components import.
pub(crate) const ARGOCD_LIBRARY: &str = "// Stands for the library of the component argocd.
{
  App(component, namespace, project='', secrets=true, base=null):: {},
  Project(name):: {},
}
";

/// Returns the class of an invented cluster. Components know its values from their tests.
pub(super) fn parameters_text(component: &str, instance: &str) -> String {
    yaml::write(&json!({"parameters": {
        CLUSTER_TARGET: {
            "catalog_url": "ssh://git@git.example.com/org/repo.git",
            "display_name": "Test Cluster 1234",
            "name": "c-green-test-1234",
            "tenant": "t-silent-test-1234",
            "tenant_display_name": "Test Tenant 1234",
        },
        "facts": {"cloud": "cloudscale", "distribution": "test-distribution", "region": "rma1"},
        "argocd": {"namespace": "test"},
        "components": {
            component: {"url": format!("https://example.com/{component}.git"), "version": "master"},
        },
        "kapitan": {"namespace": "test", "vars": {"target": instance}},
    }}))
}

/// Returns the target of an instance. `values` has the names of additional classes.
pub(super) fn target_text(instance: &TargetInstance<'_>, values: &[String]) -> String {
    let own = [
        format!("params.{CLUSTER_TARGET}"),
        format!("defaults.{}", instance.component),
        format!("components.{}", instance.component),
    ];
    let classes: Vec<_> = own.iter().chain(values).collect();
    yaml::write(&json!({"classes": classes, "parameters": instance.parameters()}))
}
