//! The changes of a catalog, as Commodore prints them.

use manifest::{Object, Value};
use repository::git::{StagedChange, StagedChangeKind};

use super::text_diff::TextDiff;
use crate::yaml::{YamlStyle, write_document};

/// The differences of manifests that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffPolicy {
    /// All differences.
    #[default]
    Everything,
    /// Differences of objects, not of their order or format.
    IgnoreYamlFormat,
    /// Also ignores the differences between Kapitan 0.29 and 0.30.
    Kapitan029To030,
}

/// A changed file with its contents.
pub(super) struct FileChange<'c> {
    pub(super) change: &'c StagedChange,
    pub(super) before: Option<&'c [u8]>,
    pub(super) after: Option<&'c [u8]>,
}

/// Prints changes: deleted files, added files, renamed files, and then the differences of the others.
pub(super) fn diff_text(changes: &[FileChange<'_>], policy: DiffPolicy) -> String {
    let mut parts: Vec<String> = Vec::new();
    let of = |kind: fn(&StagedChangeKind) -> bool| changes.iter().filter(move |file| kind(&file.change.kind));
    parts.extend(
        of(|kind| *kind == StagedChangeKind::Deleted)
            .map(|file| format!("Deleted file {}", file.change.path)),
    );
    parts.extend(
        of(|kind| *kind == StagedChangeKind::Added).map(|file| format!("Added file {}", file.change.path)),
    );
    // Renamed files are in the order of their former paths.
    let mut sorted: Vec<_> = changes.iter().collect();
    sorted.sort_by_key(|file| match &file.change.kind {
        StagedChangeKind::Renamed { from } => from,
        _ => &file.change.path,
    });
    for file in &sorted {
        if let StagedChangeKind::Renamed { from } = &file.change.kind {
            parts.push(format!("Renamed file {from} => {}", file.change.path));
        }
    }
    for file in sorted {
        let from = match &file.change.kind {
            StagedChangeKind::Modified => None,
            StagedChangeKind::Renamed { from } if file.before != file.after => Some(from.as_str()),
            _ => continue,
        };
        parts.extend(content_diff(file, from, policy));
    }
    parts.join("\n")
}

/// Prints the difference of a file. `from` is its former path. `None` if nothing is shown.
fn content_diff(file: &FileChange<'_>, from: Option<&str>, policy: DiffPolicy) -> Option<String> {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (before, after) = (text(file.before), text(file.after));
    let path = &file.change.path;
    let lines = match policy {
        DiffPolicy::Everything => TextDiff::new(&before, &after).unified(from.unwrap_or(path), path),
        DiffPolicy::IgnoreYamlFormat | DiffPolicy::Kapitan029To030 => {
            let (before, after) = (super::objects::sorted(&before), super::objects::sorted(&after));
            let lines = TextDiff::new(&before, &after).unified(from.unwrap_or(path), path);
            if lines.is_empty() || policy == DiffPolicy::Kapitan029To030 && !has_semantic_change(&lines[2..])
            {
                return None;
            }
            lines
        }
    };
    let Some(from) = from else { return Some(lines.join("\n").trim().to_owned()) };
    let percent = TextDiff::new(&before, &after).ratio() * 100.0;
    Some(format!("--- {from}\n+++ {path}\nRenamed file, similarity index {percent:.2}%"))
}

/// The labels with the manager of a Helm chart.
const MANAGER_LABELS: [&str; 2] = ["app.kubernetes.io/managed-by", "heritage"];

/// The kind of a line in a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineClass {
    Context,
    /// A removed document without content.
    Null,
    /// A removed separator of documents.
    Separator,
    /// A removed separator with a document without content.
    NullSeparator,
    /// A removed label with the manager Tiller.
    Tiller(&'static str),
    /// An added label with the manager Helm.
    Helm(&'static str),
    Other,
}

impl LineClass {
    fn new(line: &str) -> Self {
        let label = |line: &str, manager: &str| {
            let label = line.strip_suffix(manager)?.strip_suffix(": ")?;
            MANAGER_LABELS.into_iter().find(|name| label.ends_with(name))
        };
        match line.trim_end() {
            _ if line.starts_with(' ') => Self::Context,
            "-null" => Self::Null,
            "----" => Self::Separator,
            "---- null" => Self::NullSeparator,
            line => match line.split_at_checked(1) {
                Some(("@", rest)) if rest.starts_with('@') => Self::Context,
                Some(("-", removed)) => label(removed, "Tiller").map_or(Self::Other, Self::Tiller),
                Some(("+", added)) => label(added, "Helm").map_or(Self::Other, Self::Helm),
                _ => Self::Other,
            },
        }
    }
}

/// True if a difference is more than that between two versions of Kapitan: other managers of Helm charts, and documents
/// without content.
fn has_semantic_change(lines: &[String]) -> bool {
    use LineClass::{Context, Helm, Null, NullSeparator, Separator, Tiller};
    let classes: Vec<LineClass> = lines.iter().map(|line| LineClass::new(line)).collect();
    !classes.windows(2).all(|pair| match (pair[0], pair[1]) {
        (Tiller(before), Helm(after)) => before == after,
        pair => {
            matches!(pair, (Context, _) | (_, Context) | (Null | NullSeparator, Separator | NullSeparator))
        }
    })
}

/// True if a policy hides the difference of two objects.
pub fn is_hidden(before: &Object, after: &Object, policy: DiffPolicy) -> bool {
    let text = |object: &Object| write_document(&Value::Object(object.as_map().clone()), YamlStyle::CATALOG);
    let lines = TextDiff::new(&text(before), &text(after)).unified("before", "after");
    lines.is_empty() || policy == DiffPolicy::Kapitan029To030 && !has_semantic_change(&lines[2..])
}

/// Indents the lines of a text, except for those without content.
pub(super) fn indented(text: &str, indent: &str) -> String {
    let line = |line: &str| if line.trim().is_empty() { line.to_owned() } else { format!("{indent}{line}") };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn changes_are_grouped_by_their_kind() {
        let change =
            |path: &str, kind| StagedChange { path: path.to_owned(), kind, before: None, after: None };
        let changes = [
            change("a", StagedChangeKind::Modified),
            change("b", StagedChangeKind::Added),
            change("c", StagedChangeKind::Deleted),
            change("d", StagedChangeKind::Renamed { from: "y".to_owned() }),
            change("e", StagedChangeKind::Renamed { from: "x".to_owned() }),
        ];
        let files: Vec<_> = changes
            .iter()
            .map(|change| {
                let after: &[u8] = if change.path == "d" { b"one\n" } else { b"one\ntwo\n" };
                FileChange { change, before: Some(b"one\n"), after: Some(after) }
            })
            .collect();
        assert_data_eq!(
            diff_text(&files, DiffPolicy::Everything),
            str![[r#"
Deleted file c
Added file b
Renamed file x => e
Renamed file y => d
--- a
+++ a
@@ -1,2 +1,3 @@
 one
+two
--- x
+++ e
Renamed file, similarity index 80.00%
"#]]
        );
    }

    #[test]
    fn differences_between_versions_of_kapitan_are_not_semantic() {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert!(!has_semantic_change(&lines(&[
            "@@ -1 +1 @@",
            " a: 1",
            "-heritage: Tiller",
            "+heritage: Helm"
        ])));
        assert!(!has_semantic_change(&lines(&["-null", "----"])));
        assert!(has_semantic_change(&lines(&["-a: 1", "+a: 2"])));
    }
}
