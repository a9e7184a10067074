use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::{Context as _, Result};

use crate::{beside, rust_source::RustSource, say::say, workspace::Workspace};

/// List the rows of the contract with the tests that show them.
///
/// A test names its rows on the lines directly above it: `// Row: PRV-24, PRV-58`.
#[derive(clap::Args)]
pub(crate) struct Rows {
    /// The list of rows; also `CAPSTAN_ROWS`.
    #[arg(long)]
    rows: Option<PathBuf>,
    /// Only rows whose id starts so.
    #[arg(long, default_value = "")]
    only: String,
}

/// A row named by a comment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) row: String,
    /// Path and line of the comment.
    pub(crate) path: String,
    pub(crate) line: usize,
    /// The test it stands above.
    pub(crate) test: Option<String>,
}

/// Lists rows; `false` when a comment names no row of the list, or stands above no test.
pub(crate) fn run(args: &Rows, workspace: &Workspace) -> Result<bool> {
    let path = args.rows.clone().unwrap_or_else(list_path);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read the rows `{}`", path.display()))?;
    let rows = parse_list(&text);
    let marks = marks(workspace);
    let mut tests: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for mark in &marks {
        let test = mark.test.as_deref().unwrap_or("(no test below)");
        tests.entry(&mark.row).or_default().push(format!("{}:{} {test}", mark.path, mark.line));
    }
    let listed = || rows.iter().filter(|(row, _)| row.starts_with(&args.only));
    let (with, without): (Vec<_>, Vec<_>) = listed().partition(|(row, _)| tests.contains_key(row.as_str()));
    for (row, text) in &with {
        say(&format!("{row}  {text}"));
        for place in &tests[row.as_str()] {
            say(&format!("    {place}"));
        }
    }
    say("\nWithout a test:");
    for (row, text) in &without {
        say(&format!("{row}  {text}"));
    }
    say("");
    for (seed, (shown, all)) in counts(&with, listed()) {
        say(&format!("{seed}: {shown} of {all} rows have a test"));
    }
    let faults = faults(&marks, Some(&rows));
    for (mark, fault) in &faults {
        say(&format!("{}:{}: {fault}", mark.path, mark.line));
    }
    Ok(faults.is_empty())
}

/// Where the list of rows is when no flag says so.
pub(crate) fn list_path() -> PathBuf {
    beside("CAPSTAN_ROWS", "rows.md")
}

/// Shape: id and text by id, out of the table lines `| PRV-01 | text | check |`.
pub(crate) fn parse_list(text: &str) -> BTreeMap<String, String> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let id = cells.next().filter(|id| is_row_id(id))?;
        Some((id.to_owned(), cells.next()?.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// Every row named by a comment, in the order of the files.
pub(crate) fn marks(workspace: &Workspace) -> Vec<Mark> {
    workspace.rust().iter().flat_map(marks_of).collect()
}

/// What is wrong with a mark: no such row where the list is known, or no test below.
pub(crate) fn faults<'a>(
    marks: &'a [Mark],
    rows: Option<&BTreeMap<String, String>>,
) -> Vec<(&'a Mark, String)> {
    let mut faults = Vec::new();
    for mark in marks {
        if mark.test.is_none() {
            faults.push((mark, format!("`Row: {}` is not directly above a test", mark.row)));
        }
        if rows.is_some_and(|rows| !rows.contains_key(&mark.row)) {
            faults.push((mark, format!("there is no row `{}`", mark.row)));
        }
    }
    faults
}

fn marks_of(source: &RustSource<'_>) -> Vec<Mark> {
    let lines: Vec<&str> = source.text.lines().collect();
    // The second look, at code alone, keeps out what is written inside a literal.
    let code: Vec<&str> = source.code.lines().collect();
    let mut marks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_comment = code.get(at).is_none_or(|code| code.trim().is_empty());
        let Some(rows) = line.trim_start().strip_prefix("// Row:").filter(|_| is_comment) else { continue };
        let test = test_below(&lines[at + 1..]);
        marks.extend(rows.split(',').map(|row| Mark {
            row: row.trim().to_owned(),
            path: source.path.to_owned(),
            line: at + 1,
            test: test.map(str::to_owned),
        }));
    }
    marks
}

/// The name of the test function that the next lines of comments and attributes belong to.
fn test_below<'a>(lines: &[&'a str]) -> Option<&'a str> {
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
    text.split_once('-').is_some_and(|(seed, number)| {
        !seed.is_empty()
            && seed.bytes().all(|byte| byte.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn counts<'a>(
    with: &[(&String, &String)],
    all: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeMap<&'a str, (usize, usize)> {
    let shown: BTreeSet<&str> = with.iter().map(|(row, _)| row.as_str()).collect();
    let mut counts = BTreeMap::new();
    for (row, _) in all {
        let seed = row.split('-').next().unwrap_or_default();
        let count: &mut (usize, usize) = counts.entry(seed).or_default();
        count.0 += usize::from(shown.contains(row.as_str()));
        count.1 += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "| Id | Capability | Check |\n|---|---|---|\n| PRV-01 | One | x |\n| KUS-02 | Two | y |\n";

    fn marks_in(text: &str) -> Vec<Mark> {
        marks(&Workspace::of([("pkg/a/src/lib.rs", text)]))
    }

    #[test]
    fn rows_are_read_from_the_table_lines() {
        let rows = parse_list(LIST);
        assert_eq!(rows.keys().collect::<Vec<_>>(), ["KUS-02", "PRV-01"]);
        assert_eq!(rows["PRV-01"], "One");
    }

    #[test]
    fn every_comment_above_a_test_counts_for_it() {
        let marks = marks_in(
            "// Row: PRV-01\n// Row: KUS-02, PRV-01\n/// why\n#[tokio::test]\nasync fn shown() {}\n",
        );
        let rows: Vec<_> = marks.iter().map(|mark| (mark.row.as_str(), mark.test.as_deref())).collect();
        assert_eq!(rows, [("PRV-01", Some("shown")), ("KUS-02", Some("shown")), ("PRV-01", Some("shown"))]);
        assert!(faults(&marks, Some(&parse_list(LIST))).is_empty());
    }

    #[test]
    fn a_row_above_no_test_and_a_row_that_is_not_listed_are_faults() {
        let marks = marks_in("// Row: PRV-01\nfn helper() {}\n\n// Row: PRV-99\n#[test]\nfn shown() {}\n");
        let faults: Vec<_> =
            faults(&marks, Some(&parse_list(LIST))).into_iter().map(|(_, text)| text).collect();
        assert_eq!(faults, ["`Row: PRV-01` is not directly above a test", "there is no row `PRV-99`"]);
    }

    #[test]
    fn a_row_inside_a_literal_is_no_comment() {
        assert_eq!(marks_in("const TEXT: &str = \"\n// Row: PRV-01\n\";\n"), []);
    }

    #[test]
    fn every_row_of_the_project_stands_above_a_test_and_exists() {
        let workspace = Workspace::read().unwrap();
        let rows = fs::read_to_string(list_path()).ok().map(|text| parse_list(&text));
        if rows.is_none() {
            println!("skipped: no list of rows at {}; only places are checked", list_path().display());
        }
        let marks = marks(&workspace);
        let faults: Vec<_> = faults(&marks, rows.as_ref())
            .into_iter()
            .map(|(mark, fault)| format!("{}:{}: {fault}", mark.path, mark.line))
            .collect();
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }
}
