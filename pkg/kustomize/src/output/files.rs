//! File names for one file per object.

use std::collections::BTreeSet;

use manifest::write_traced_stream;

use super::BuildOutput;
use crate::{Gvk, ResId};

impl BuildOutput {
    /// Returns one file per object, as name and text, in the order of the objects.
    ///
    /// A name is `[GROUP_]VERSION_KIND_NAME.yaml` in lower case. If the objects have several namespaces, `NAMESPACE_`
    /// comes first for namespaced objects. Names come from the objects and may contain characters that are invalid in
    /// file names.
    /// Source: kustomize v5.8.1 kustomize/commands/build (writer).
    pub fn files(&self) -> Vec<(String, String)> {
        let ids: Vec<ResId> = self.objects.iter().map(ResId::of).collect();
        let namespaces: BTreeSet<&str> =
            ids.iter().filter(|id| !id.gvk.is_cluster_scoped()).map(ResId::namespace).collect();
        let name = |id: &ResId| {
            let Gvk { group, version, kind } = &id.gvk;
            let namespace = if namespaces.len() > 1 { id.namespace() } else { "" };
            let parts = [namespace, group, version, kind, &id.name];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join("_").to_lowercase() + ".yaml"
        };
        let text = |object| write_traced_stream(std::slice::from_ref(object)) + "\n";
        ids.iter().map(name).zip(self.objects.iter().map(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use manifest::read_resources;

    use super::*;

    fn names(namespace_of_second: &str) -> Vec<String> {
        let text = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: A}}}}\n---\n\
             {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: b, namespace: {namespace_of_second}}}}}\n---\n\
             {{apiVersion: v1, kind: Namespace, metadata: {{name: c}}}}\n"
        );
        let objects = read_resources(text.as_bytes()).unwrap().objects;
        let output = BuildOutput { objects, warnings: Vec::new() };
        output.files().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn file_names_contain_the_namespace_if_there_are_several() {
        let one = ["v1_configmap_a.yaml", "apps_v1_deployment_b.yaml", "v1_namespace_c.yaml"];
        assert_eq!(names("default"), one);
        let two = ["default_v1_configmap_a.yaml", "x_apps_v1_deployment_b.yaml", "v1_namespace_c.yaml"];
        assert_eq!(names("x"), two);
    }
}
