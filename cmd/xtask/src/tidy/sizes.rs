use super::Finding;
use crate::workspace::Workspace;

/// At this many lines a file is asked for its second idea.
const LONG_FILE: usize = 600;
/// Past this many lines a file is a table, or too long.
const LONGEST_FILE: usize = 1000;
const LONG_FUNCTION: usize = 100;

/// Tables, which are read by looking up and not from top to bottom.
const TABLES: [(&str, &str); 1] = [(
    "pkg/manifest/src/typed/table.rs",
    "the fields of the Kubernetes kinds that take the typed round trip",
)];

/// Measures files and functions of Rust code.
pub(super) fn files_and_functions_stay_readable(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (table, _) in
        TABLES.iter().filter(|(path, _)| workspace.exists("pkg") && workspace.text(path).is_none())
    {
        findings.push(Finding::fault(table, None, "this table is gone: take it off the list in tidy"));
    }
    for source in &workspace.rust() {
        let lines = source.text.lines().count();
        let is_table = TABLES.iter().any(|(path, _)| *path == source.path);
        if lines > LONGEST_FILE && !is_table {
            findings.push(Finding::fault(
                source.path,
                None,
                format!("{lines} lines; {LONGEST_FILE} is the most"),
            ));
        } else if lines > LONG_FILE && !is_table {
            findings.push(Finding::remark(
                source.path,
                None,
                format!("{lines} lines: is there a second idea in it?"),
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
    fn a_file_past_the_limit_is_a_fault_and_a_long_one_a_remark() {
        let (long, longest) = ("// x\n".repeat(700), "// x\n".repeat(1001));
        let function = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(120));
        let workspace = Workspace::of([
            ("cmd/a/src/a.rs", &long),
            ("cmd/a/src/b.rs", &longest),
            ("cmd/a/src/c.rs", &function),
        ]);
        let findings = files_and_functions_stay_readable(&workspace);
        assert_eq!(findings.iter().map(|finding| finding.grave).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(findings[2].text, "`fn a` has 122 lines");
    }
}
