use crate::{
    rust_source::RustSource,
    workspace::{TextFile, Workspace},
};

/// The page with the promises, a table for each area.
pub(crate) const CONTRACT: &str = "docs/contract.md";
/// The folder of the pages with the departures from clusterctl and kustomize.
pub(crate) const DEPARTURE_PAGES: &str = "docs/compatibility/";

/// A row named in a comment on the lines directly above its test: `// Row: PRV-24, D-58`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowMark<'a> {
    pub(crate) row: &'a str,
    pub(crate) path: &'a str,
    /// The line of the comment, from 1.
    pub(crate) line: usize,
    /// The test below the comment.
    pub(crate) test: Option<&'a str>,
}

/// A line of a page: `| PRV-01 | text |`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContractRow<'a> {
    pub(crate) id: &'a str,
    pub(crate) page: &'a str,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// Returns the rows of all pages, in the order of the pages.
pub(crate) fn rows(workspace: &Workspace) -> Vec<ContractRow<'_>> {
    let has_rows = |path: &str| path == CONTRACT || path.starts_with(DEPARTURE_PAGES);
    let pages = workspace.files().iter().filter(|file| file.has_extension("md") && has_rows(&file.path));
    pages.flat_map(rows_of).collect()
}

fn rows_of(page: &TextFile) -> impl Iterator<Item = ContractRow<'_>> {
    page.text.lines().enumerate().filter_map(|(at, line)| {
        let (id, _) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        is_row_id(id).then_some(ContractRow { id, page: &page.path, line: at + 1 })
    })
}

/// Every row named in a comment, in file order.
pub(crate) fn marks<'a>(rust: &'a [RustSource<'a>]) -> Vec<RowMark<'a>> {
    rust.iter().flat_map(marks_of).collect()
}

fn marks_of<'a>(source: &'a RustSource<'a>) -> Vec<RowMark<'a>> {
    let lines: Vec<&str> = source.text.lines().collect();
    // Comparing with the code alone excludes text inside literals.
    let code: Vec<&str> = source.code.lines().collect();
    let mut marks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_comment = code.get(at).is_none_or(|code| code.trim().is_empty());
        let Some(rows) = line.trim_start().strip_prefix("// Row:").filter(|_| is_comment) else { continue };
        let test = following_test(&lines[at + 1..]);
        marks.extend(rows.split(',').map(|row| RowMark {
            row: row.trim(),
            path: source.path,
            line: at + 1,
            test,
        }));
    }
    marks
}

/// The name of the test function below the following comments and attributes.
fn following_test<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut is_test = false;
    for line in lines.iter().map(|line| line.trim()) {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
        } else if !line.starts_with("//") {
            let (_, rest) = line.split_once("fn ").filter(|_| is_test)?;
            return rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        }
    }
    None
}

fn is_row_id(text: &str) -> bool {
    text.split_once('-').is_some_and(|(area, number)| {
        !area.is_empty()
            && area.bytes().all(|byte| byte.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks_in(text: &str) -> Vec<(String, Option<String>)> {
        let workspace = Workspace::of([("pkg/a/src/lib.rs", text)]);
        let rust = workspace.rust();
        let named = |mark: RowMark<'_>| (mark.row.to_owned(), mark.test.map(str::to_owned));
        marks(&rust).into_iter().map(named).collect()
    }

    #[test]
    fn rows_are_read_from_the_table_lines() {
        let contract = "| Id | Promise |\n|---|---|\n| PRV-01 | One. |\n";
        let workspace =
            Workspace::of([(CONTRACT, contract), ("docs/compatibility/a.md", "| D-2 | Fails. | Works. |\n")]);
        let [departure, promise] = &rows(&workspace)[..] else { panic!("two rows") };
        assert_eq!((departure.id, departure.line), ("D-2", 1));
        assert_eq!((promise.id, promise.line), ("PRV-01", 3));
    }

    #[test]
    fn every_comment_above_a_test_counts_for_it() {
        let text = "// Row: PRV-01\n// Row: KUS-02, PRV-01\n/// why\n#[tokio::test]\nasync fn shown() {}\n";
        let expected = ["PRV-01", "KUS-02", "PRV-01"].map(|row| (row.to_owned(), Some("shown".to_owned())));
        assert_eq!(marks_in(text), expected);
        assert_eq!(marks_in("// Row: PRV-01\nfn helper() {}\n"), [("PRV-01".to_owned(), None)]);
    }

    #[test]
    fn a_row_inside_a_literal_is_ignored() {
        assert_eq!(marks_in("const TEXT: &str = \"\n// Row: PRV-01\n\";\n"), []);
    }
}
