use super::finding::Finding;
use crate::workspace::Workspace;

/// This file, which contains the forbidden words.
const HERE: &str = "cmd/xtask/src/tidy/words.rs";

/// Text that is valid on one machine only, or that describes the origin of a file instead of its content.
const FOREIGN_TEXTS: [&str; 12] = [
    "/root/",
    "/work/main",
    "/work/shared",
    "/work/ref",
    "/home/runner",
    "/Users/",
    "index.crates.io",
    "static.crates.io",
    "registry.npmjs.org",
    "pypi.org",
    "language model",
    "shared folder",
];

const TODO_MARKERS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

/// Checks every text file except the lock file, which cargo writes.
pub(super) fn no_foreign_texts(workspace: &Workspace) -> Vec<Finding> {
    find(workspace, |line| {
        FOREIGN_TEXTS
            .iter()
            .find(|word| line.contains(**word))
            .map(|word| format!("`{word}` does not belong in the project"))
    })
}

/// Checks that every open task marker has a reference.
pub(super) fn todos_have_references(workspace: &Workspace) -> Vec<Finding> {
    find(workspace, |line| {
        TODO_MARKERS
            .iter()
            .find(|word| is_unreferenced_todo(line, word))
            .map(|word| format!("`{word}` without a reference: write `{word}(#123)`, or do it"))
    })
}

fn find(workspace: &Workspace, rule: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in
        workspace.files().iter().filter(|file| file.path != HERE && !file.path.ends_with("Cargo.lock"))
    {
        for (at, line) in file.text.lines().enumerate() {
            findings.extend(rule(line).map(|text| Finding::fault(&file.path, at + 1, text)));
        }
    }
    findings
}

/// True if the word stands alone without a reference.
fn is_unreferenced_todo(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let alone = !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
        let rest = &line[at + word.len()..];
        alone
            && !rest.starts_with("(#")
            && !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_a_fault_in_any_file() {
        let workspace =
            Workspace::of([("docs/a.md", "fine\nsee /root/notes\n"), ("Cargo.lock", "index.crates.io\n")]);
        let texts: Vec<_> = no_foreign_texts(&workspace).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["docs/a.md:2: `/root/` does not belong in the project"]);
    }

    #[test]
    fn a_todo_needs_a_reference() {
        let found = |text: &str| !todos_have_references(&Workspace::of([("a.rs", text)])).is_empty();
        assert!(found("// TODO: later"));
        assert!(found("// fixme FIXME"));
        assert!(!found("// TODO(#12): later"));
        assert!(!found("TODO_LIST, mktemp XXXXXX"));
    }
}
