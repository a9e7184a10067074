use super::{finding::Finding, map::PURE};
use crate::workspace::Workspace;

/// Modules reserved for the program: environment and processes.
const PROGRAM_ONLY: [(&str, &str, &str); 2] = [
    ("std", "env", "a library receives the environment as a value"),
    ("std", "process", "a library starts and ends no process"),
];
const PROGRAM_WORDS: [&str; 8] =
    ["println!", "print!", "eprintln!", "eprint!", "dbg!", "stdin()", "stdout()", "stderr()"];

/// Files that may start a program: Git, as described in docs/adr/0012, and credential helpers for registries.
const MAY_START_PROGRAMS: [&str; 2] =
    ["pkg/repository/src/git/program.rs", "pkg/transport/src/credential/helper.rs"];

const IMPURE_MODULES: [(&str, &str, &str); 3] = [
    ("std", "fs", "a pure crate reads no disk"),
    ("std", "net", "a pure crate opens no connection"),
    ("std", "thread", "a pure crate starts no thread"),
];
const IMPURE_WORDS: [&str; 5] = ["async", ".await", "Instant", "SystemTime", "tokio"];

/// Checks that libraries only return values, and that pure crates perform no I/O.
pub(super) fn libraries_respect_permissions(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in
        workspace.rust().iter().filter(|source| source.path.starts_with("pkg/") && !source.product.is_empty())
    {
        let is_pure = PURE.iter().any(|folder| source.path.starts_with(&format!("{folder}/")));
        let (modules, words): (&[_], &[_]) =
            if is_pure { (&IMPURE_MODULES, &IMPURE_WORDS) } else { (&[], &[]) };
        // A fuzz target is a separate program.
        if source.path.contains("/fuzz/") {
            continue;
        }
        for (root, module, reason) in PROGRAM_ONLY.iter().chain(modules) {
            if *module == "process" && MAY_START_PROGRAMS.contains(&source.path) {
                continue;
            }
            let fault = |line| Finding::fault(source.path, line, format!("`{root}::{module}`: {reason}"));
            findings.extend(source.uses_of(root, module).into_iter().map(fault));
        }
        for word in PROGRAM_WORDS.iter().chain(words) {
            let fault =
                |line| Finding::fault(source.path, line, format!("`{word}` is not allowed in this crate"));
            findings.extend(source.lines_with(word).into_iter().map(fault));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        libraries_respect_permissions(&Workspace::of([(path, text)]))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_library_that_prints_or_reads_the_environment_is_a_fault() {
        let text = "use std::{env, fs};\nfn a() {\n    println!(\"{}\", env::var(\"A\"));\n}\n";
        assert_eq!(
            findings("pkg/repository/src/lib.rs", text),
            [
                "pkg/repository/src/lib.rs:1: `std::env`: a library receives the environment as a value",
                "pkg/repository/src/lib.rs:3: `println!` is not allowed in this crate",
            ]
        );
    }

    #[test]
    fn only_pure_crates_must_not_be_async() {
        let text = "async fn a() { b().await }\nuse std::time::Duration;\n";
        assert_eq!(findings("pkg/api/src/a.rs", text).len(), 2);
        assert_eq!(findings("pkg/repository/src/a.rs", text).len(), 0);
    }

    #[test]
    fn only_the_git_crate_may_start_processes() {
        let text = "use std::process::Command;\n";
        assert_eq!(findings("pkg/repository/src/git/program.rs", text).len(), 0);
        assert_eq!(findings("pkg/catalog/src/git.rs", text).len(), 1);
    }

    #[test]
    fn tests_and_programs_may_print() {
        assert_eq!(findings("pkg/api/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n").len(), 0);
        assert_eq!(findings("cmd/capstan/src/a.rs", "use std::env;\n").len(), 0);
    }
}
