//! Kustomization builds, compared with `kubectl kustomize`.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::{
    figures::Figures,
    judge::Target,
    sample,
    table::{self, Row},
};

/// The kustomizations of a Cluster API release.
const TREES: [&str; 3] =
    ["core/config/default", "bootstrap/kubeadm/config/default", "controlplane/kubeadm/config/default"];

/// The number of objects in the smaller generated tree. The larger tree has ten times as many.
const OBJECTS: usize = 4_000;

/// The number of patches in both generated trees.
const PATCHES: usize = 200;

/// The programs and the input.
pub(super) struct Setup<'a> {
    pub(super) ours: &'a Path,
    /// A kubectl for comparison.
    pub(super) kubectl: Option<&'a Path>,
    /// A checkout of Cluster API.
    pub(super) trees: Option<&'a Path>,
    pub(super) runs: usize,
}

/// Builds the trees of Cluster API with both programs, and the generated trees with capstan only, because kubectl takes
/// minutes for them.
///
/// # Errors
/// Fails if a build fails, or if the trees cannot be written.
pub(super) fn run(setup: &Setup<'_>, folder: &Path) -> Result<String> {
    let mut rows = Vec::new();
    for name in setup.trees.map_or(&[][..], |_| &TREES) {
        let tree = setup.trees.unwrap_or(Path::new("")).join(name);
        rows.push(setup.beside(format!("Cluster API, {name}"), &tree, folder)?);
    }
    let mut alone = None;
    for (count, flag, target) in [
        (OBJECTS, None, Target::Within { millis: 300 }),
        (OBJECTS, Some("--provenance"), Target::TimesAlone(3)),
        (OBJECTS * 10, None, Target::TimesAlone(12)),
    ] {
        let tree = make(&folder.join(format!("objects-{count}")), count)?;
        let with = flag.map(|flag| format!(", `{flag}`")).unwrap_or_default();
        let name = format!("{count} objects, {PATCHES} patches, a prefix, labels{with}");
        let words: Vec<&str> = ["kustomize", "build"].into_iter().chain(flag).collect();
        let ours = setup.measured(setup.ours, &words, &tree, folder)?;
        rows.push(Row { name, ours, theirs: None, alone, targets: vec![target] });
        alone.get_or_insert(ours);
    }
    Ok(table::render(&rows))
}

impl Setup<'_> {
    /// Measures a tree with both programs.
    fn beside(&self, name: String, tree: &Path, folder: &Path) -> Result<Row> {
        Ok(Row {
            name,
            ours: self.measured(self.ours, &["kustomize", "build"], tree, folder)?,
            theirs: self
                .kubectl
                .map(|kubectl| self.measured(kubectl, &["kustomize"], tree, folder))
                .transpose()?,
            alone: None,
            targets: vec![Target::CpuShare(10), Target::MemoryShare(4)],
        })
    }

    fn measured(&self, program: &Path, words: &[&str], tree: &Path, folder: &Path) -> Result<Figures> {
        let tree = tree.display().to_string();
        let arguments: Vec<String> = words.iter().copied().chain([&*tree]).map(str::to_owned).collect();
        sample::median_of(program, &arguments, folder, self.runs).with_context(|| format!("`{tree}`"))
    }
}

/// Writes a base and an overlay. Returns the folder of the overlay.
fn make(folder: &Path, objects: usize) -> Result<PathBuf> {
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
    fn a_made_up_tree_has_the_objects_and_patches_it_is_named_for() {
        let folder = tempfile::tempdir().unwrap();
        let overlay = make(folder.path(), 400).unwrap();
        let text = fs::read_to_string(overlay.join("kustomization.yaml")).unwrap();
        assert_eq!(text.matches("patch: ").count(), PATCHES);
        let objects: usize = fs::read_dir(folder.path().join("base"))
            .unwrap()
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap().matches("\nkind: ").count())
            .sum();
        assert_eq!(objects, 400);
    }
}
