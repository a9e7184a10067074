//! The files that the paths of an input name.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::InputError;
use crate::fnmatch;
use crate::results::Reads;

/// The characters that make a path a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// Finds a path or pattern in all search paths. A file that is found several times is returned once.
pub(super) fn find(path: &str, search_paths: &[PathBuf], reads: &Reads) -> Result<Vec<PathBuf>, InputError> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for folder in search_paths {
        let candidates =
            if path.contains(PATTERN) { expand(folder, path, reads)? } else { vec![folder.join(path)] };
        for candidate in candidates {
            if !reads.has_entry(&candidate) {
                continue;
            }
            let real = fs::canonicalize(&candidate).unwrap_or_else(|_| candidate.clone());
            if seen.insert(real) {
                found.push(candidate);
            }
        }
    }
    Ok(found)
}

/// Finds the files that a pattern matches.
pub(crate) fn find_files(pattern: &str, reads: &Reads) -> Result<Vec<PathBuf>, InputError> {
    let found = find(pattern, &[PathBuf::new()], reads)?;
    Ok(found.into_iter().filter(|path| reads.is_file(path)).collect())
}

/// Expands a pattern, one step of the path at a time. Hidden files match only a pattern that starts with a dot.
fn expand(folder: &Path, pattern: &str, reads: &Reads) -> Result<Vec<PathBuf>, InputError> {
    let mut paths =
        if Path::new(pattern).is_absolute() { vec![PathBuf::from("/")] } else { vec![folder.to_owned()] };
    for step in pattern.split('/').filter(|step| !step.is_empty()) {
        if !step.contains(PATTERN) {
            paths = paths.into_iter().map(|path| path.join(step)).filter(|path| reads.exists(path)).collect();
            continue;
        }
        let glob =
            Glob::new(step).map_err(|reason| InputError::Pattern { pattern: pattern.to_owned(), reason })?;
        paths = paths.iter().flat_map(|path| matching(path, &glob, reads)).collect();
    }
    Ok(paths)
}

fn matching(folder: &Path, glob: &Glob, reads: &Reads) -> Vec<PathBuf> {
    let entries = reads.entries(folder).unwrap_or_default();
    let names = entries.iter().map(|(name, _)| name).filter(|name| glob.matches(name));
    names.map(|name| folder.join(name)).collect()
}

/// A pattern for one file name: `*`, `?` and `[…]`.
pub(super) struct Glob {
    expression: regex::Regex,
    hidden: bool,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let expression = fnmatch::expression(pattern).map_err(|error| error.to_string())?;
        Ok(Self { expression, hidden: pattern.starts_with('.') })
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        (self.hidden || !name.starts_with('.')) && self.expression.is_match(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_and_hide_dot_files() {
        let cases = [
            ("*.jsonnet", "main.jsonnet", true),
            ("*.jsonnet", ".main.jsonnet", false),
            (".*", ".main", true),
            ("m?in", "main", true),
            ("[a-m]ain", "main", true),
            ("[!a-m]ain", "main", false),
            ("a.b", "axb", false),
            ("[", "[", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Glob::new(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn files_are_found_once_in_the_order_of_the_search_paths() {
        let folder = tempfile::TempDir::new().unwrap();
        for name in ["a/x/1.txt", "a/x/2.txt", "a/.h.txt", "b/x/3.txt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let search = [folder.path().join("b"), folder.path().join("a"), folder.path().join("a")];
        let names = |path: &str| -> Vec<String> {
            let found = find(path, &search, &Reads::default()).unwrap();
            found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(names("x/*.txt"), ["b/x/3.txt", "a/x/1.txt", "a/x/2.txt"]);
        assert_eq!(names("x/1.txt"), ["a/x/1.txt"]);
        assert!(names("y/*").is_empty());
    }
}
