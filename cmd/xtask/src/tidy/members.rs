use std::collections::BTreeSet;

use super::finding::Finding;
use crate::workspace::Workspace;

/// Checks that every folder of `cmd`, `pkg` and `test` is a crate of the workspace, with its lints and licence.
pub(super) fn crates_are_members(workspace: &Workspace) -> Vec<Finding> {
    let root =
        workspace.text("Cargo.toml").and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let members =
        root.get("workspace").and_then(|table| table.get("members")).and_then(toml::Value::as_array);
    let is_member = |folder: &str| {
        let home = format!("{}/*", folder.split('/').next().unwrap_or_default());
        members.is_some_and(|members| {
            members
                .iter()
                .any(|member| member.as_str().is_some_and(|member| member == folder || member == home))
        })
    };
    let mut findings = Vec::new();
    for folder in crate_folders(workspace) {
        let path = format!("{folder}/Cargo.toml");
        let Some(manifest) = workspace.text(&path).and_then(|text| text.parse::<toml::Table>().ok()) else {
            findings.push(Finding::fault(
                folder,
                None,
                "this folder is not a crate: it has no readable `Cargo.toml`",
            ));
            continue;
        };
        if !is_member(folder) {
            findings.push(Finding::fault(&path, None, "this crate is not a member of the workspace"));
        }
        for (table, key) in [("lints", "workspace"), ("package", "license"), ("package", "publish")] {
            if !is_inherited(&manifest, table, key) {
                findings.push(Finding::fault(
                    &path,
                    None,
                    format!("`{table}.{key}` is not inherited from the workspace"),
                ));
            }
        }
    }
    findings
}

fn is_inherited(manifest: &toml::Table, table: &str, key: &str) -> bool {
    let value = manifest.get(table).and_then(|table| table.get(key));
    let flag = if key == "workspace" { value } else { value.and_then(|value| value.get("workspace")) };
    flag.and_then(toml::Value::as_bool) == Some(true)
}

fn crate_folders(workspace: &Workspace) -> BTreeSet<&str> {
    let folder = |path: &'_ str| -> Option<usize> {
        let mut slashes = path.match_indices('/').map(|(at, _)| at);
        let home = slashes.next().map(|at| &path[..at])?;
        slashes.next().filter(|_| matches!(home, "cmd" | "pkg" | "test"))
    };
    workspace.files().iter().filter_map(|file| folder(&file.path).map(|end| &file.path[..end])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "[package]\nlicense.workspace = true\npublish.workspace = true\n[lints]\nworkspace = true\n";

    #[test]
    fn a_crate_with_its_own_lints_is_a_fault() {
        let workspace = Workspace::of([
            ("Cargo.toml", "[workspace]\nmembers = [\"pkg/*\"]\n"),
            ("pkg/a/Cargo.toml", GOOD),
            ("pkg/b/Cargo.toml", "[package]\nlicense.workspace = true\npublish.workspace = true\n"),
            ("pkg/c/src/lib.rs", ""),
            ("test/d/Cargo.toml", GOOD),
        ]);
        let texts: Vec<_> = crates_are_members(&workspace).iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "pkg/b/Cargo.toml: `lints.workspace` is not inherited from the workspace",
                "pkg/c: this folder is not a crate: it has no readable `Cargo.toml`",
                "test/d/Cargo.toml: this crate is not a member of the workspace",
            ]
        );
    }
}
