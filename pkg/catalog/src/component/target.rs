//! The target of a component, and the class with the facts of an invented cluster.

use std::path::Path;

use manifest::{Map, yaml};
use serde_json::json;

use crate::compile::KUSTOMIZE_WRAPPER;
use crate::dependencies::parameters_key;
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
pub(super) fn target_text(component: &str, instance: &str, folder: &Path, values: &[String]) -> String {
    let own = [
        format!("params.{CLUSTER_TARGET}"),
        format!("defaults.{component}"),
        format!("components.{component}"),
    ];
    let classes: Vec<_> = own.iter().chain(values).collect();
    let mut parameters = Map::new();
    parameters.insert("_instance".to_owned(), instance.into());
    parameters.insert("_base_directory".to_owned(), folder.display().to_string().into());
    parameters.insert("_kustomize_wrapper".to_owned(), KUSTOMIZE_WRAPPER.into());
    parameters.insert("_python3".to_owned(), "python3".into());
    parameters.insert("kapitan".to_owned(), json!({"vars": {"target": instance}}));
    if component != instance {
        let key = parameters_key(instance);
        parameters.insert(parameters_key(component), format!("${{{key}}}").into());
        parameters.insert(key, json!({}));
    }
    yaml::write(&json!({"classes": classes, "parameters": parameters}))
}
