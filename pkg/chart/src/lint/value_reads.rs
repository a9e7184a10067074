//! The values that templates read, found in their texts.

use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;
use std::sync::LazyLock;

use regex::Regex;

/// The names on the way to a value.
pub(super) type ValuePath = Vec<String>;

/// A use of `.Values` with the names that follow, or of `index` and the like with names in quotes.
static READ: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\bindex\s+\$?[\w.]*\.Values((?:\.\w+)*)((?:\s+"[^"\s]*")+)|\bValues\b((?:\.\w+)*)"#)
        .expect("invariant: a valid pattern")
});

/// A call of `required` whose value is a path.
static REQUIRED: LazyLock<Regex> = LazyLock::new(|| {
    const PATH: &str = r"\$?\.Values((?:\.\w+)+)";
    const MESSAGE: &str = r#"(?:"(?:[^"\\]|\\.)*"|`[^`]*`|\([^()]*\))"#;
    Regex::new(&format!(
        r"\brequired\s+{MESSAGE}\s+{PATH}(?:\s|\)|\}}|\|)|[\s({{]{PATH}\s*\|\s*required\s+{MESSAGE}"
    ))
    .expect("invariant: a valid pattern")
});

static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\w-]+").expect("invariant: a valid pattern"));

/// The values that the texts of a chart may read.
#[derive(Default)]
pub(super) struct ValueReads {
    /// The paths that templates name. A template may read everything below the last name.
    paths: BTreeSet<ValuePath>,
    /// All words of the texts.
    words: HashSet<String>,
    is_everything: bool,
}

impl ValueReads {
    /// Adds the uses of values in a template.
    pub(super) fn add_text(&mut self, text: &str) {
        self.add_words(text);
        for found in READ.captures_iter(text) {
            let group = |index| found.get(index).map_or("", |group| group.as_str());
            let dotted = if found.get(1).is_some() { group(1) } else { group(3) };
            let quoted = group(2).split_whitespace().map(|word| word.trim_matches('"'));
            let names = dotted.split('.').filter(|name| !name.is_empty()).chain(quoted);
            let path: ValuePath = names.map(str::to_owned).collect();
            if path.is_empty() {
                self.is_everything = true;
            } else {
                self.paths.insert(path);
            }
        }
    }

    /// Adds the words of a text that names values.
    pub(super) fn add_words(&mut self, text: &str) {
        for word in WORD.find_iter(text) {
            if !self.words.contains(word.as_str()) {
                self.words.insert(word.as_str().to_owned());
            }
        }
    }

    /// True if a template uses all values at once, such as `toYaml .Values`.
    pub(super) fn reads_everything(&self) -> bool {
        self.is_everything
    }

    /// True if a template uses the value at a path, or a mapping around it.
    pub(super) fn reads_whole(&self, path: &[String]) -> bool {
        (1..=path.len()).any(|length| self.paths.contains(&path[..length]))
    }

    /// True if a template uses a value inside the mapping at a path.
    pub(super) fn reads_inside(&self, path: &[String]) -> bool {
        let from_path = (Bound::Included(path), Bound::Unbounded);
        let next = self.paths.range::<[String], _>(from_path).next();
        next.is_some_and(|next| next.starts_with(path))
    }

    /// True if a text contains the last name of a path.
    pub(super) fn names(&self, path: &[String]) -> bool {
        path.last().is_some_and(|name| self.words.contains(name))
    }
}

/// True if a text contains a word.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    WORD.find_iter(text).any(|found| found.as_str() == word)
}

/// Returns the values that a template requires, with their lines.
pub(super) fn required_values(text: &str) -> Vec<(usize, ValuePath)> {
    let mut required = Vec::new();
    for found in REQUIRED.captures_iter(text) {
        let Some(path) = found.get(1).or_else(|| found.get(2)) else { continue };
        let line = text[..path.start()].matches('\n').count() + 1;
        let names = path.as_str().split('.').filter(|name| !name.is_empty());
        required.push((line, names.map(str::to_owned).collect()));
    }
    required
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ValuePath {
        text.split('.').map(str::to_owned).collect()
    }

    fn reads(text: &str) -> ValueReads {
        let mut reads = ValueReads::default();
        reads.add_text(text);
        reads
    }

    #[test]
    fn a_used_mapping_counts_with_everything_inside() {
        let reads = reads(
            "{{ with .Values.image }}{{ .tag }}{{ end }}{{ $.Values.a.b }}{{ index .Values \"c\" \"d-e\" }}",
        );
        assert!(!reads.reads_everything());
        for read in ["image", "image.tag", "a.b", "a.b.c", "c.d-e"] {
            assert!(reads.reads_whole(&path(read)), "{read}");
        }
        for inside in ["a", "c"] {
            assert!(!reads.reads_whole(&path(inside)) && reads.reads_inside(&path(inside)), "{inside}");
        }
        assert!(!reads.reads_whole(&path("a.c")) && !reads.reads_inside(&path("a.c")));
    }

    #[test]
    fn a_use_of_all_values_counts_for_all() {
        for text in [
            "{{ toYaml .Values }}",
            "{{ range $k, $v := $.Values }}",
            "{{ index .Values $name }}",
            "{{ get . \"Values\" }}",
            "{{ tpl (printf \"{{ .Values.%s }}\" .name) . }}",
        ] {
            assert!(reads(text).reads_everything(), "{text}");
        }
    }

    #[test]
    fn required_values_are_found_with_their_lines() {
        let text = "a: {{ required \"a \\\" b\" .Values.a.b }}\nb: {{ .Values.c | required `c` | quote }}\n\
                    c: {{ required (printf \"%s\" .x) $.Values.d }}{{ required \"x\" (.Values.e | default 1) }}";
        let found = required_values(text);
        assert_eq!(found, [(1, path("a.b")), (2, path("c")), (3, path("d"))]);
    }
}
