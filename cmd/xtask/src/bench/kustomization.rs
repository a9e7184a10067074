//! Kustomizations of any size.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

/// Patches of every kustomization.
pub(super) const PATCHES: usize = 200;

/// Writes a base and an overlay of it, and returns the overlay.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn create_tree(folder: &Path, objects: usize) -> Result<PathBuf> {
    let (base, overlay) = (folder.join("base"), folder.join("overlay"));
    fs::create_dir_all(&base)?;
    fs::create_dir_all(&overlay)?;
    let mut resources = String::from("resources:\n");
    let apps: Vec<String> = (0..objects / 4).map(application).collect();
    for (at, apps) in apps.chunks(25).enumerate() {
        fs::write(base.join(format!("{at}.yaml")), apps.concat())?;
        writeln!(resources, "- {at}.yaml")?;
    }
    fs::write(base.join("kustomization.yaml"), resources)?;
    let mut text = String::from(
        "resources: [../base]\nnamePrefix: pre-\nlabels:\n- pairs: {team: a}\n  includeSelectors: true\npatches:\n",
    );
    for at in 0..PATCHES {
        text.push_str(&patch(at, at * (objects / 4) / PATCHES));
    }
    fs::write(overlay.join("kustomization.yaml"), text)?;
    Ok(overlay)
}

/// Four objects that refer to each other.
fn application(at: usize) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{at}\n  labels:\n    app: app-{at}\ndata:\n  key: \
         value-{at}\n  text: |\n    line one\n    line two of {at}\n  other: some longer text for configuration {at}\n\
         ---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: account-{at}\n\
         ---\napiVersion: v1\nkind: Service\nmetadata:\n  name: service-{at}\nspec:\n  selector:\n    app: app-{at}\n  \
         ports:\n  - name: http\n    port: 80\n    targetPort: 8080\n  - name: https\n    port: 443\n    targetPort: 8443\n\
         ---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: deploy-{at}\nspec:\n  replicas: 2\n  selector:\n    \
         matchLabels:\n      app: app-{at}\n  template:\n    metadata:\n      labels:\n        app: app-{at}\n    spec:\n      \
         serviceAccountName: account-{at}\n      containers:\n      - name: main\n        image: example.com/app:1.{at}\n        \
         args:\n        - --listen=:8080\n        - --config=/etc/config/key\n        env:\n        - name: A\n          \
         valueFrom:\n            configMapKeyRef:\n              name: config-{at}\n              key: key\n        \
         volumeMounts:\n        - name: config\n          mountPath: /etc/config\n      volumes:\n      - name: config\n        \
         configMap:\n          name: config-{at}\n"
    )
}

/// A patch of one application. Every other patch is a JSON patch.
fn patch(number: usize, of: usize) -> String {
    if number.is_multiple_of(2) {
        return format!(
            "- target: {{kind: ConfigMap, name: config-{of}}}\n  patch: '[{{op: add, path: /data/new, value: x}}]'\n"
        );
    }
    format!(
        "- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: deploy-{of}}}\n    spec: {{template: \
         {{spec: {{containers: [{{name: main, env: [{{name: B, value: x}}]}}]}}}}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_tree_has_the_stated_objects_and_patches() {
        let folder = tempfile::tempdir().unwrap();
        let overlay = create_tree(folder.path(), 400).unwrap();
        let text = fs::read_to_string(overlay.join("kustomization.yaml")).unwrap();
        assert_eq!(text.matches("patch: ").count(), PATCHES);
        let objects: usize = fs::read_dir(folder.path().join("base"))
            .unwrap()
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap().matches("\nkind: ").count())
            .sum();
        assert_eq!(objects, 400);
    }
}
