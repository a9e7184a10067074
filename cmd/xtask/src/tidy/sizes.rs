use super::finding::Finding;
use crate::{rust_source::RustSource, workspace::Workspace};

/// The number of lines at which a file is reported as long.
const LONG_FILE: usize = 600;
/// The maximum number of lines of a file.
const LONGEST_FILE: usize = 1000;
const LONG_FUNCTION: usize = 100;

/// The maximum number of non-test lines, and the goal.
const MAX_LINES: usize = 206_850;
const LINES_GOAL: usize = 126_000;

/// The folder of the sandbox, and the maximum number of its non-test lines, which is also the goal.
const SANDBOX: &str = "pkg/sandbox/";
const MAX_SANDBOX_LINES: usize = 32_000;

/// Checks the number of non-test lines of all crates, and of the sandbox.
pub(super) fn product_size_is_limited(workspace: &Workspace) -> Vec<Finding> {
    let budgets = [("", MAX_LINES, LINES_GOAL), (SANDBOX, MAX_SANDBOX_LINES, MAX_SANDBOX_LINES)];
    let sources = workspace.rust();
    let check = |(folder, limit, goal): (&str, usize, usize)| {
        let counted = sources.iter().filter(|source| source.path.starts_with(folder));
        let lines = counted.map(RustSource::product_lines).sum();
        let path = if folder.is_empty() { "product" } else { folder.trim_end_matches('/') };
        check_size(path, "lines that are not tests", lines, limit, goal)
    };
    budgets.into_iter().filter_map(check).collect()
}

/// Compares a number with a maximum, which gives a fault, and with a goal, which gives a remark.
pub(super) fn check_size(path: &str, what: &str, size: usize, limit: usize, goal: usize) -> Option<Finding> {
    let text = format!("{size} {what}; the maximum is {limit}, the goal {goal}");
    if size > limit {
        Some(Finding::fault(path, None, text))
    } else if size > goal {
        Some(Finding::remark(path, None, text))
    } else {
        None
    }
}

/// Checks the size of Rust files and functions.
pub(super) fn files_and_functions_stay_readable(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &workspace.rust() {
        let lines = source.text.lines().count();
        if lines > LONGEST_FILE {
            findings.push(Finding::fault(
                source.path,
                None,
                format!("{lines} lines; the maximum is {LONGEST_FILE}"),
            ));
        } else if lines > LONG_FILE {
            findings.push(Finding::remark(
                source.path,
                None,
                format!("{lines} lines: consider splitting it"),
            ));
        }
        for function in source.functions().iter().filter(|function| function.lines > LONG_FUNCTION) {
            let text = format!("`fn {}` has {} lines", function.name, function.lines);
            findings.push(Finding::remark(source.path, function.line, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_has_a_budget_of_its_own() {
        let text = "fn a() {}\n".repeat(MAX_SANDBOX_LINES + 1);
        for (path, expected) in [("pkg/sandbox/src/a.rs", 1), ("pkg/sandboxes/src/a.rs", 0)] {
            let findings = product_size_is_limited(&Workspace::of([(path, text.as_str())]));
            assert_eq!(findings.iter().filter(|finding| finding.is_fault).count(), expected, "{path}");
        }
    }

    #[test]
    fn a_file_over_the_limit_is_a_fault_and_a_long_one_a_note() {
        let (long, longest) = ("// x\n".repeat(700), "// x\n".repeat(1001));
        let function = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(120));
        let workspace = Workspace::of([
            ("cmd/a/src/a.rs", &long),
            ("cmd/a/src/b.rs", &longest),
            ("cmd/a/src/c.rs", &function),
        ]);
        let findings = files_and_functions_stay_readable(&workspace);
        assert_eq!(findings.iter().map(|finding| finding.is_fault).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(findings[2].text, "`fn a` has 122 lines");
    }
}
