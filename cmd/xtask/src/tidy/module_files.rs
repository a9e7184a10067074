use super::finding::Finding;
use crate::{rust_source::RustSource, workspace::Workspace};

const VERBS: &str = "cmd/capstan/src/verbs/";

/// Checks that `mod.rs` and a library's `lib.rs` contain only lists. A list of verbs may also contain `run`, which
/// dispatches.
pub(super) fn module_files_contain_no_code(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &workspace.rust() {
        let is_library = source.path.starts_with("pkg/") && source.path.ends_with("/src/lib.rs");
        let is_list = is_library || source.path.ends_with("/mod.rs");
        let may_run = source.path.starts_with(VERBS);
        for function in source.functions().iter().filter(|f| is_list && !(may_run && f.name == "run")) {
            let text = format!("`fn {}` in a list of modules: move it to its own file", function.name);
            findings.push(Finding::fault(source.path, function.line, text));
        }
        if let Some(name) = ["util", "utils", "helpers", "misc"].iter().find(|name| {
            source.path.ends_with(&format!("/{name}.rs")) || source.path.ends_with(&format!("/{name}/mod.rs"))
        }) {
            findings.push(Finding::fault(
                source.path,
                None,
                format!("`{name}` is a generic name: name the file after its content"),
            ));
        }
    }
    findings
}

/// Checks that no file below `verbs` contains two verbs.
pub(super) fn one_verb_per_file(workspace: &Workspace) -> Vec<Finding> {
    let in_verbs = |source: &RustSource<'_>| source.path.starts_with(VERBS) && !source.product.is_empty();
    let mut findings = Vec::new();
    for source in workspace.rust().iter().filter(|source| in_verbs(source)) {
        if source.path.ends_with("/mod.rs") {
            continue;
        }
        let runs: Vec<_> = top_level_runs(source);
        if let [_, second, ..] = runs.as_slice() {
            findings.push(Finding::fault(
                source.path,
                *second,
                "a second verb in one file: move it to its own file",
            ));
        }
    }
    findings
}

/// The lines of free functions named `run`.
fn top_level_runs(source: &RustSource<'_>) -> Vec<usize> {
    let is_run = |line: &str| {
        let rest = ["pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .find_map(|visible| line.strip_prefix(visible))
            .unwrap_or(line);
        let rest = rest.strip_prefix("async ").unwrap_or(rest);
        rest.starts_with("fn run(") || rest.starts_with("fn run<")
    };
    source.product.lines().enumerate().filter(|(_, line)| is_run(line)).map(|(at, _)| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_a_list_of_modules_is_a_fault() {
        let workspace = Workspace::of([
            ("pkg/a/src/lib.rs", "mod b;\npub use b::c;\n"),
            ("pkg/a/src/b/mod.rs", "mod c;\nfn helper() {}\n"),
            ("cmd/capstan/src/verbs/mod.rs", "impl Verb {\n    fn run(self) {}\n}\n"),
            ("pkg/a/src/util.rs", ""),
        ]);
        let texts: Vec<_> =
            module_files_contain_no_code(&workspace).iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "pkg/a/src/b/mod.rs:2: `fn helper` in a list of modules: move it to its own file",
                "pkg/a/src/util.rs: `util` is a generic name: name the file after its content",
            ]
        );
    }

    #[test]
    fn two_verbs_in_one_file_are_a_fault() {
        let text = "pub(crate) fn run(args: A) {}\n\nimpl B {\n    fn run(self) {}\n}\npub(crate) fn run(args: C) {}\n";
        let workspace = Workspace::of([("cmd/capstan/src/verbs/a.rs", text)]);
        assert_eq!(one_verb_per_file(&workspace).len(), 1);
    }
}
