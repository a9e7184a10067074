use std::collections::BTreeSet;

use super::finding::Finding;
use crate::{golden::DEPARTURES_FILE, rows, workspace::Workspace};

const SUMMARY: &str = "docs/SUMMARY.md";
const CHANGELOG: &str = "CHANGELOG.md";

/// Checks links between pages, and from pages to files of the project.
pub(super) fn links_resolve(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in workspace.files().iter().filter(|file| file.has_extension("md")) {
        for (line, target) in links(&file.text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some(path) = resolve(&file.path, path) else {
                findings.push(Finding::fault(
                    &file.path,
                    line,
                    format!("`{target}` points outside the project"),
                ));
                continue;
            };
            if !workspace.exists(&path) {
                findings.push(Finding::fault(&file.path, line, format!("`{target}` points to no file")));
            } else if !anchor.is_empty()
                && !workspace.text(&path).is_some_and(|text| has_anchor(text, anchor))
            {
                findings.push(Finding::fault(&file.path, line, format!("`{target}` points to no heading")));
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
    let pages = workspace.files().iter().filter(|file| file.has_extension("md") && is_page(&file.path));
    pages.map(|file| Finding::fault(&file.path, None, format!("this page is not in `{SUMMARY}`"))).collect()
}

/// Checks that every row has a test and a unique id, and that every id that a test names has a row.
pub(super) fn rows_and_their_tests_agree(workspace: &Workspace) -> Vec<Finding> {
    let (rows, rust) = (rows::rows(workspace), workspace.rust());
    let marks = rows::marks(&rust);
    let mut findings = Vec::new();
    for rows::RowMark { row, path, line, test } in &marks {
        if test.is_none() {
            findings.push(Finding::fault(path, *line, format!("`Row: {row}` is not directly above a test")));
        }
        if !rows.iter().any(|known| known.id == *row) {
            findings.push(Finding::fault(path, *line, format!("no page has a row `{row}`")));
        }
    }
    let mut ids = BTreeSet::new();
    for row in &rows {
        if !marks.iter().any(|mark| mark.row == row.id) {
            findings.push(Finding::fault(
                row.page,
                row.line,
                format!("no test verifies the row `{}`", row.id),
            ));
        }
        if !ids.insert(row.id) {
            findings.push(Finding::fault(row.page, row.line, format!("duplicate row `{}`", row.id)));
        }
    }
    findings
}

/// Checks that every golden case that differs has a row.
pub(super) fn cases_that_differ_have_rows(workspace: &Workspace) -> Vec<Finding> {
    let pages: Vec<&str> = workspace
        .files()
        .iter()
        .filter(|file| file.path.starts_with(rows::DEPARTURE_PAGES))
        .map(|file| file.text.as_str())
        .collect();
    let departures = workspace.text(DEPARTURES_FILE).unwrap_or_default().lines().enumerate();
    departures
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(at, line)| (at + 1, line.split(':').next().unwrap_or_default().trim()))
        .filter(|(_, case)| !pages.iter().any(|page| page.contains(&format!("`{case}`"))))
        .map(|(line, case)| {
            let text = format!("`{case}` has no row in {}", rows::DEPARTURE_PAGES);
            Finding::fault(DEPARTURES_FILE, line, text)
        })
        .collect()
}

/// Checks that the first section of the changelog is `Unreleased`.
pub(super) fn changelog_has_unreleased_section(workspace: &Workspace) -> Vec<Finding> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_without_a_test_and_a_test_without_a_row_are_faults() {
        let code = "// Row: PRV-01\nfn helper() {}\n\n// Row: PRV-99, D-1\n#[test]\nfn shown() {}\n";
        let workspace = Workspace::of([
            ("pkg/a/src/lib.rs", code),
            (rows::CONTRACT, "| PRV-01 | One. |\n| PRV-02 | Two. |\n"),
            ("docs/compatibility/a.md", "| D-1 | a | b |\n| D-1 | a | b |\n"),
        ]);
        assert_eq!(
            texts(&rows_and_their_tests_agree(&workspace)),
            [
                "pkg/a/src/lib.rs:1: `Row: PRV-01` is not directly above a test",
                "pkg/a/src/lib.rs:4: no page has a row `PRV-99`",
                "docs/compatibility/a.md:2: duplicate row `D-1`",
                "docs/contract.md:2: no test verifies the row `PRV-02`",
            ]
        );
    }

    #[test]
    fn a_broken_link_is_a_fault() {
        let page = "# A page: one\n[a](../b.md#two-words) [b](gone.md) [c](#a-page-one) [d](#gone) [e](https://example.com)\n\
                    ```\n[f](in-code.md)\n```\n`[g](in-span.md)` [h](../../out.md) [i](guide)\n";
        let workspace =
            Workspace::of([("docs/a.md", page), ("b.md", "## Two words\n"), ("docs/guide/c.md", "")]);
        assert_eq!(
            texts(&links_resolve(&workspace)),
            [
                "docs/a.md:2: `gone.md` points to no file",
                "docs/a.md:2: `#gone` points to no heading",
                "docs/a.md:6: `../../out.md` points outside the project",
            ]
        );
    }

    #[test]
    fn a_page_missing_from_the_book_is_a_fault() {
        let workspace = Workspace::of([(SUMMARY, "- [A](a.md)\n"), ("docs/a.md", ""), ("docs/b/c.md", "")]);
        let texts = texts(&every_page_is_in_the_summary(&workspace));
        assert_eq!(texts, ["docs/b/c.md: this page is not in `docs/SUMMARY.md`"]);
    }

    #[test]
    fn a_case_that_differs_without_a_row_is_a_fault() {
        let workspace = Workspace::of([
            ("docs/compatibility/a.md", "| D-2 | a | b, `case-1` |\n"),
            (DEPARTURES_FILE, "# cases\ncase-1: why\ncase-2: why\n"),
        ]);
        assert_eq!(
            texts(&cases_that_differ_have_rows(&workspace)),
            ["test/conformance/departures.txt:3: `case-2` has no row in docs/compatibility/"]
        );
    }

    #[test]
    fn a_changelog_without_an_unreleased_section_is_closed() {
        assert!(
            changelog_has_unreleased_section(&Workspace::of([(
                CHANGELOG,
                "# Changelog\n## Unreleased\n## 1\n"
            )]))
            .is_empty()
        );
        assert_eq!(
            changelog_has_unreleased_section(&Workspace::of([(CHANGELOG, "# Changelog\n## 1\n")])).len(),
            1
        );
    }
}
