//! The targets of a cluster, and the class with its parameters.

use std::path::Path;

use manifest::{Map, Value, yaml};
use serde_json::json;

use super::Cluster;
use crate::compile::KUSTOMIZE_WRAPPER;
use crate::dependencies::parameters_key;
use crate::working_folder::CLUSTER_TARGET;

/// The component instance of a target.
pub(crate) struct TargetInstance<'a> {
    pub(crate) name: &'a str,
    pub(crate) component: &'a str,
    /// The folder of the component in the checkout of the instance.
    pub(crate) folder: &'a Path,
}

impl TargetInstance<'_> {
    /// Returns the parameters of the target.
    pub(crate) fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("_instance".to_owned(), self.name.into());
        parameters.insert("_base_directory".to_owned(), self.folder.display().to_string().into());
        parameters.insert("_kustomize_wrapper".to_owned(), KUSTOMIZE_WRAPPER.into());
        parameters.insert("_python3".to_owned(), "python3".into());
        parameters.insert("kapitan".to_owned(), json!({"vars": {"target": self.name}}));
        if self.name != self.component {
            let key = parameters_key(self.name);
            parameters.insert(parameters_key(self.component), format!("${{{key}}}").into());
            parameters.insert(key, json!({}));
        }
        parameters
    }
}

/// Returns the text of the class that describes a cluster.
pub(crate) fn parameters_text(cluster: &Cluster, dynamic_facts: &Value) -> String {
    yaml::write(&json!({"parameters": {
        CLUSTER_TARGET: {
            "name": cluster.id,
            "display_name": cluster.display_name,
            "catalog_url": cluster.catalog_url,
            "tenant": cluster.tenant,
            "tenant_display_name": cluster.tenant_display_name,
        },
        "facts": cluster.facts,
        "dynamic_facts": dynamic_facts,
    }}))
}

/// Returns the text of a target: of the cluster, or of an instance. `defaults` has the names of the classes with
/// defaults, in order.
pub(crate) fn target_text(defaults: &[String], instance: Option<&TargetInstance<'_>>) -> String {
    let mut classes = vec![format!("params.{CLUSTER_TARGET}")];
    classes.extend(defaults.iter().map(|name| format!("defaults.{name}")));
    classes.push("global.commodore".to_owned());
    classes.extend(instance.map(|instance| format!("components.{}", instance.name)));
    let of_cluster = || Map::from_iter([("_instance".to_owned(), CLUSTER_TARGET.into())]);
    let parameters = instance.map_or_else(of_cluster, TargetInstance::parameters);
    yaml::write(&json!({"classes": classes, "parameters": parameters}))
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    // Row: CAT-48
    // Row: CAT-49
    #[test]
    fn the_target_of_an_alias_merges_its_parameters_over_those_of_the_component() {
        let instance = TargetInstance {
            name: "nfs-2",
            component: "nfs-sub",
            folder: Path::new("/w/dependencies/nfs-2"),
        };
        assert_data_eq!(
            target_text(&["argocd".to_owned(), "nfs-2".to_owned()], Some(&instance)),
            str![[r#"
classes:
- params.cluster
- defaults.argocd
- defaults.nfs-2
- global.commodore
- components.nfs-2
parameters:
  _base_directory: /w/dependencies/nfs-2
  _instance: nfs-2
  _kustomize_wrapper: /capstan/kustomize
  _python3: python3
  kapitan:
    vars:
      target: nfs-2
  nfs_2: {}
  nfs_sub: ${nfs_2}

"#]]
        );
    }

    #[test]
    fn the_target_of_the_cluster_has_no_component() {
        assert_data_eq!(
            target_text(&[], None),
            str![[r#"
classes:
- params.cluster
- global.commodore
parameters:
  _instance: cluster

"#]]
        );
    }
}
