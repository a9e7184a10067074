use std::{collections::BTreeMap, path::Path, process::Command};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The API description of a server.
#[derive(Default)]
pub(super) struct Documents {
    /// The groups and versions, in discovery order.
    pub(super) versions: Vec<GroupVersion>,
    /// The schemas of all versions, by name.
    pub(super) definitions: BTreeMap<String, Value>,
}

/// One version of a group.
pub(super) struct GroupVersion {
    /// The group. Empty for the core group.
    pub(super) group: String,
    pub(super) version: String,
    /// The `APIResourceList`.
    pub(super) resources: Value,
}

impl Documents {
    /// Fetches all documents from a server.
    pub(super) fn fetch(kubectl: &Path, kubeconfig: &Path) -> Result<Self> {
        let get = |path: &str| get(kubectl, kubeconfig, path);
        let mut documents = Self::default();
        documents.add(String::new(), "v1".to_owned(), &get)?;
        let groups = get("/apis")?;
        for group in array(&groups, "groups").iter().filter(|group| is_builtin(text(group, "name"))) {
            for version in array(group, "versions") {
                documents.add(text(group, "name").to_owned(), text(version, "version").to_owned(), &get)?;
            }
        }
        Ok(documents)
    }

    fn add(&mut self, group: String, version: String, get: &impl Fn(&str) -> Result<Value>) -> Result<()> {
        let path =
            if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
        let mut schemas = get(&format!("/openapi/v3/{path}"))?;
        if let Some(Value::Object(schemas)) = schemas.pointer_mut("/components/schemas").map(Value::take) {
            self.definitions.extend(schemas);
        }
        let resources = get(&format!("/{path}"))?;
        self.versions.push(GroupVersion { group, version, resources });
        Ok(())
    }

    /// The definition of a kind.
    pub(super) fn definition_of(&self, group: &str, version: &str, kind: &str) -> Option<&str> {
        let suffix = format!(".{kind}");
        let is_it = |gvk: &Value| {
            text(gvk, "group") == group && text(gvk, "version") == version && text(gvk, "kind") == kind
        };
        let found = self.definitions.iter().find(|(name, definition)| {
            name.ends_with(&suffix) && array(definition, "x-kubernetes-group-version-kind").iter().any(is_it)
        });
        found.map(|(name, _)| name.as_str())
    }
}

/// A list in an object. Empty if missing.
pub(super) fn array<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object[name].as_array().map_or(&[], Vec::as_slice)
}

/// A text in an object. Empty if missing.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

/// True unless the group contains custom resources.
fn is_builtin(group: &str) -> bool {
    group.ends_with(".k8s.io") || !group.contains('.')
}

fn get(kubectl: &Path, kubeconfig: &Path, path: &str) -> Result<Value> {
    let output = Command::new(kubectl)
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["get", "--raw", path])
        .output()
        .with_context(|| format!("cannot start `{}`", kubectl.display()))?;
    if !output.status.success() {
        bail!("cannot get `{path}`: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("`{path}` is not JSON"))
}
