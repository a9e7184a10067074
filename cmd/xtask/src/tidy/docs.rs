use std::collections::BTreeSet;

use super::finding::Finding;
use crate::{golden::DEPARTURES, rows, workspace::Workspace};

const COMPATIBILITY: &str = "docs/compatibility.md";
const SUMMARY: &str = "docs/SUMMARY.md";
const CHANGELOG: &str = "CHANGELOG.md";

/// Checks links between pages, and from pages to files of the project.
pub(super) fn links_lead_somewhere(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in workspace.files().iter().filter(|file| file.is("md")) {
        for (line, target) in links(&file.text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some(path) = resolve(&file.path, path) else {
                findings.push(Finding::fault(
                    &file.path,
                    line,
                    format!("`{target}` leads out of the project"),
                ));
                continue;
            };
            if !workspace.exists(&path) {
                findings.push(Finding::fault(&file.path, line, format!("`{target}` leads to no file")));
            } else if !anchor.is_empty()
                && !workspace.text(&path).is_some_and(|text| has_anchor(text, anchor))
            {
                findings.push(Finding::fault(&file.path, line, format!("`{target}` leads to no heading")));
            }
        }
    }
    findings
}

/// Checks that every page of the book is in its summary, because mdBook omits other pages.
pub(super) fn every_page_is_in_the_summary(workspace: &Workspace) -> Vec<Finding> {
    let listed: BTreeSet<String> = links(workspace.text(SUMMARY).unwrap_or_default())
        .into_iter()
        .filter_map(|(_, target)| resolve(SUMMARY, target))
        .collect();
    let is_page = |path: &str| path.starts_with("docs/") && path != SUMMARY && !listed.contains(path);
    let pages = workspace.files().iter().filter(|file| file.is("md") && is_page(&file.path));
    pages.map(|file| Finding::fault(&file.path, None, format!("this page is not in `{SUMMARY}`"))).collect()
}

/// Checks that every row of the contract has a test, and that every row named by a test exists.
pub(super) fn the_contract_and_its_tests_agree(workspace: &Workspace) -> Vec<Finding> {
    let (rows, rust) = (rows::rows(workspace), workspace.rust());
    let marks = rows::marks(&rust);
    let mut findings = Vec::new();
    for rows::Mark { row, path, line, test } in &marks {
        if test.is_none() {
            findings.push(Finding::fault(path, *line, format!("`Row: {row}` is not directly above a test")));
        }
        if !rows.contains_key(row) {
            findings.push(Finding::fault(path, *line, format!("`{}` has no row `{row}`", rows::PAGE)));
        }
    }
    for (id, row) in rows.iter().filter(|(id, _)| !marks.iter().any(|mark| mark.row == **id)) {
        findings.push(Finding::fault(rows::PAGE, row.line, format!("no test holds the row `{id}`")));
    }
    findings
}

/// Checks the compatibility page: every intended difference has a row, every row names its tests, and every excluded
/// golden case has a row.
pub(super) fn departures_are_documented_and_tested(workspace: &Workspace) -> Vec<Finding> {
    let Some(page) = workspace.text(COMPATIBILITY) else {
        return vec![Finding::fault(COMPATIBILITY, None, "this page is missing")];
    };
    let tests = test_names(workspace);
    let mut findings = Vec::new();
    let mut ids = BTreeSet::new();
    for (line, cells) in table_rows(page) {
        let named = tests_named(cells.last().copied().unwrap_or_default());
        if named.is_empty() {
            findings.push(Finding::fault(COMPATIBILITY, line, "this row names no test"));
        }
        for (path, name) in
            named.into_iter().filter(|(path, name)| !tests.contains(&format!("{path}::{name}")))
        {
            findings.push(Finding::fault(
                COMPATIBILITY,
                line,
                format!("there is no test `{name}` in `{path}`"),
            ));
        }
        if let Some(id) = cells.first().filter(|id| !ids.insert(**id)) {
            findings.push(Finding::fault(COMPATIBILITY, line, format!("`{id}` is given twice")));
        }
    }
    let departures = workspace.text(DEPARTURES).unwrap_or_default().lines().enumerate();
    for (at, line) in departures.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
        let case = line.split(':').next().unwrap_or_default().trim();
        if !page.contains(&format!("`{case}`")) {
            findings.push(Finding::fault(
                DEPARTURES,
                at + 1,
                format!("`{case}` has no row in {COMPATIBILITY}"),
            ));
        }
    }
    findings
}

/// Checks that the first section of the changelog is `Unreleased`.
pub(super) fn the_changelog_is_open(workspace: &Workspace) -> Vec<Finding> {
    let first = workspace.text(CHANGELOG).and_then(|text| text.lines().find(|line| line.starts_with("## ")));
    let is_open = first.is_some_and(|heading| heading.to_lowercase().contains("unreleased"));
    if is_open {
        Vec::new()
    } else {
        vec![Finding::fault(CHANGELOG, None, "the first section is not `Unreleased`")]
    }
}

/// The line and target of every link into the project, outside code.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (line, text) in lines_outside_code(text) {
        for (at, _) in text.match_indices("](") {
            let rest = &text[at + 2..];
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let in_span = text[..at].matches('`').count() % 2 == 1;
            if !in_span && !target.contains("://") && !target.starts_with("mailto:") {
                links.push((line, target));
            }
        }
    }
    links
}

/// Lines, from 1, outside fenced blocks.
fn lines_outside_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((at + 1, line))
    })
}

/// The path of a link from a page. `None` if it leaves the project.
fn resolve(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// True if a heading has this anchor, by the rule of mdBook: lower case, spaces to `-`, other punctuation removed.
fn has_anchor(text: &str, anchor: &str) -> bool {
    let slug = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        kept.chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
                _ => None,
            })
            .collect()
    };
    lines_outside_code(text).any(|(_, line)| line.starts_with('#') && slug(line) == anchor)
}

/// The line and cells of every table row, without headings.
fn table_rows(text: &str) -> Vec<(usize, Vec<&str>)> {
    let lines: Vec<_> = lines_outside_code(text).collect();
    let is_rule =
        |line: &str| line.starts_with('|') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let mut rows = Vec::new();
    for (index, (at, line)) in lines.iter().enumerate() {
        let is_heading = lines.get(index + 1).is_some_and(|(_, next)| is_rule(next));
        if line.starts_with('|') && !is_rule(line) && !is_heading {
            rows.push((*at, line.trim().trim_matches('|').split('|').map(str::trim).collect()));
        }
    }
    rows
}

/// The file and name of every test in a cell, written as path::`name`. The file is empty if it is not given.
fn tests_named(cell: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = cell.split('`').collect();
    let named = |at: usize| {
        let path = parts[at].strip_suffix("::").and_then(|path| path.rsplit([' ', ',']).next());
        (path.unwrap_or_default(), parts[at + 1])
    };
    (0..parts.len().saturating_sub(1)).step_by(2).map(named).collect()
}

/// All test functions, as path::name.
fn test_names(workspace: &Workspace) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in &workspace.rust() {
        let lines: Vec<&str> = source.code.lines().collect();
        for function in source.functions() {
            let above = lines[..function.line - 1].iter().rev().map(|line| line.trim());
            let mut attributes = above.take_while(|line| line.is_empty() || line.starts_with("#["));
            if attributes.any(|line| line.contains("test]") || line.contains("test(")) {
                names.insert(format!("{}::{}", source.path, function.name));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn contract_row_without_test_and_test_without_row_are_faults() {
        let code = "// Row: PRV-01\nfn helper() {}\n\n// Row: PRV-99\n#[test]\nfn shown() {}\n";
        let page = "| PRV-01 | One. |\n| PRV-02 | Two. |\n";
        let workspace = Workspace::of([("pkg/a/src/lib.rs", code), (rows::PAGE, page)]);
        assert_eq!(
            texts(&the_contract_and_its_tests_agree(&workspace)),
            [
                "pkg/a/src/lib.rs:1: `Row: PRV-01` is not directly above a test",
                "pkg/a/src/lib.rs:4: `docs/contract.md` has no row `PRV-99`",
                "docs/contract.md:2: no test holds the row `PRV-02`",
            ]
        );
    }

    #[test]
    fn a_link_to_nothing_is_a_fault() {
        let page = "# A page: one\n[a](../b.md#two-words) [b](gone.md) [c](#a-page-one) [d](#gone) [e](https://example.com)\n\
                    ```\n[f](in-code.md)\n```\n`[g](in-span.md)` [h](../../out.md) [i](guide)\n";
        let workspace =
            Workspace::of([("docs/a.md", page), ("b.md", "## Two words\n"), ("docs/guide/c.md", "")]);
        assert_eq!(
            texts(&links_lead_somewhere(&workspace)),
            [
                "docs/a.md:2: `gone.md` leads to no file",
                "docs/a.md:2: `#gone` leads to no heading",
                "docs/a.md:6: `../../out.md` leads out of the project",
            ]
        );
    }

    #[test]
    fn a_page_the_book_does_not_list_is_a_fault() {
        let workspace = Workspace::of([(SUMMARY, "- [A](a.md)\n"), ("docs/a.md", ""), ("docs/b/c.md", "")]);
        let texts = texts(&every_page_is_in_the_summary(&workspace));
        assert_eq!(texts, ["docs/b/c.md: this page is not in `docs/SUMMARY.md`"]);
    }

    #[test]
    fn a_departure_without_a_row_or_a_test_is_a_fault() {
        let page = "| Id | Peer | Ours | Test |\n|---|---|---|---|\n\
                    | D-1 | a | b | pkg/a/src/lib.rs::`shown` |\n\
                    | D-2 | a | b, `case-1` | pkg/a/src/lib.rs::`shown`, pkg/a/src/lib.rs::`gone` |\n\
                    | D-3 | a | b | soon |\n\
                    | D-1 | a | b | pkg/a/src/other.rs::`shown` |\n";
        let workspace = Workspace::of([
            (COMPATIBILITY, page),
            (DEPARTURES, "# cases\ncase-1: why\ncase-2: why\n"),
            ("pkg/a/src/lib.rs", "#[test]\nfn shown() {}\nfn gone() {}\n"),
        ]);
        assert_eq!(
            texts(&departures_are_documented_and_tested(&workspace)),
            [
                "docs/compatibility.md:4: there is no test `gone` in `pkg/a/src/lib.rs`",
                "docs/compatibility.md:5: this row names no test",
                "docs/compatibility.md:6: there is no test `shown` in `pkg/a/src/other.rs`",
                "docs/compatibility.md:6: `D-1` is given twice",
                "test/conformance/departures.txt:3: `case-2` has no row in docs/compatibility.md",
            ]
        );
    }

    #[test]
    fn a_changelog_that_starts_with_a_release_is_closed() {
        assert!(
            the_changelog_is_open(&Workspace::of([(CHANGELOG, "# Changelog\n## Unreleased\n## 1\n")]))
                .is_empty()
        );
        assert_eq!(the_changelog_is_open(&Workspace::of([(CHANGELOG, "# Changelog\n## 1\n")])).len(), 1);
    }
}
