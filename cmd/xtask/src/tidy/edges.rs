use super::Finding;
use crate::workspace::Workspace;

/// What a crate of the workspace may depend on.
struct Permitted {
    folder: &'static str,
    /// Crates of the workspace.
    ours: &'static [&'static str],
    /// Crates from elsewhere it must do without.
    never: &'static [&'static str],
}

/// Crates for terminals and for programs; a library returns values.
const PROGRAM: [&str; 6] = ["clap", "clap_complete", "anstream", "anstyle", "anyhow", "indicatif"];
const NETWORK: &[&str] = &["kube", "octocrab", "reqwest", "rustls", "tokio"];
const PURE: &[&str] = &["futures", "kube", "octocrab", "reqwest", "rustls", "tokio"];

/// Arrows go down, never up and never sideways. A new edge needs a decision record (`docs/adr`) and a line here.
const TABLE: [Permitted; 13] = [
    Permitted { folder: "pkg/api", ours: &[], never: PURE },
    Permitted { folder: "pkg/manifest", ours: &[], never: PURE },
    Permitted { folder: "pkg/kustomize", ours: &["api", "manifest"], never: PURE },
    Permitted { folder: "pkg/repository", ours: &["api", "manifest"], never: &["kube", "k8s-openapi"] },
    Permitted { folder: "pkg/provider", ours: &["api", "manifest", "repository"], never: NETWORK },
    Permitted { folder: "pkg/apply", ours: &["api", "manifest"], never: &["octocrab"] },
    Permitted {
        folder: "pkg/management",
        ours: &["api", "apply", "manifest", "provider", "repository"],
        never: &["kube", "octocrab", "reqwest"],
    },
    Permitted {
        folder: "pkg/component",
        ours: &["api", "apply", "kustomize", "management", "manifest", "repository"],
        never: &["octocrab", "reqwest"],
    },
    Permitted {
        folder: "pkg/catalog",
        ours: &["api", "kustomize", "manifest", "repository"],
        never: &["kube"],
    },
    Permitted { folder: "pkg/sandbox", ours: &["api", "manifest"], never: &["octocrab", "reqwest"] },
    Permitted { folder: "test/support", ours: &["api", "manifest", "sandbox"], never: &["octocrab"] },
    Permitted { folder: "test/conformance", ours: &["manifest"], never: &["kube", "octocrab", "reqwest"] },
    Permitted { folder: "cmd/capstan", ours: EVERY_LIBRARY, never: &["octocrab", "reqwest"] },
];

const EVERY_LIBRARY: &[&str] = &[
    "api",
    "apply",
    "catalog",
    "component",
    "kustomize",
    "management",
    "manifest",
    "provider",
    "repository",
    "sandbox",
];
const FOR_TESTS: &[&str] = &["conformance", "support"];

/// Checks what each manifest depends on. What tests alone use may be anything but a program.
pub(super) fn dependencies_point_down(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, manifest) in workspace.crates().filter(|(folder, _)| *folder != "cmd/xtask") {
        let path = format!("{folder}/Cargo.toml");
        let Some(permitted) = TABLE.iter().find(|permitted| permitted.folder == folder) else {
            findings.push(Finding::fault(
                &path,
                None,
                "this crate has no place in the table of who may depend on whom",
            ));
            continue;
        };
        for name in dependencies(manifest) {
            let is_ours = EVERY_LIBRARY.contains(&name.as_str()) || FOR_TESTS.contains(&name.as_str());
            let is_library = folder.starts_with("pkg/");
            if is_ours && !permitted.ours.contains(&name.as_str()) {
                findings.push(Finding::fault(&path, None, format!("`{folder}` may not depend on `{name}`")));
            } else if permitted.never.contains(&name.as_str())
                || is_library && PROGRAM.contains(&name.as_str())
            {
                findings.push(Finding::fault(&path, None, format!("`{folder}` must do without `{name}`")));
            }
        }
    }
    findings
}

/// Names under `[dependencies]` and its forms for single platforms.
fn dependencies(manifest: &str) -> Vec<String> {
    let Ok(table) = manifest.parse::<toml::Table>() else { return Vec::new() };
    let of_platforms =
        table.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    std::iter::once(table.get("dependencies"))
        .chain(of_platforms.map(|platform| platform.get("dependencies")))
        .filter_map(|dependencies| dependencies?.as_table())
        .flat_map(|dependencies| dependencies.keys().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_upwards_and_a_client_in_a_pure_crate_are_faults() {
        let workspace = Workspace::of([
            (
                "pkg/manifest/Cargo.toml",
                "[dependencies]\napi.workspace = true\ntokio = \"1\"\nserde = \"1\"\n",
            ),
            (
                "pkg/provider/Cargo.toml",
                "[dependencies]\napi.workspace = true\n[dev-dependencies]\ntokio = \"1\"\n",
            ),
        ]);
        let texts: Vec<_> =
            dependencies_point_down(&workspace).into_iter().map(|finding| finding.text).collect();
        assert_eq!(
            texts,
            ["`pkg/manifest` may not depend on `api`", "`pkg/manifest` must do without `tokio`"]
        );
    }

    #[test]
    fn a_dependency_of_one_platform_counts() {
        let manifest = "[target.'cfg(unix)'.dependencies]\nprovider.workspace = true\n";
        let workspace = Workspace::of([("pkg/repository/Cargo.toml", manifest)]);
        assert_eq!(dependencies_point_down(&workspace).len(), 1);
    }

    #[test]
    fn a_crate_nobody_placed_is_a_fault() {
        let workspace = Workspace::of([("pkg/extra/Cargo.toml", "[package]\n")]);
        assert_eq!(dependencies_point_down(&workspace).len(), 1);
    }
}
