//! `.helmignore`: the files of a folder that do not belong to the chart.
//!
//! Source: Helm 3.22 pkg/ignore.

use crate::glob::{BadPattern, check, matches_checked};

/// The rules of a `.helmignore`.
#[derive(Clone, Debug)]
pub(crate) struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    scope: Scope,
    is_negated: bool,
    /// True for `name/`, which matches folders only.
    folders_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The whole path from the folder of the chart.
    Path,
    /// The last name.
    Name,
}

/// A line of `.helmignore` that Helm rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct IgnoreError {
    /// The line, from 1.
    pub line: usize,
    /// The pattern as written.
    pub pattern: String,
    /// The reason for the refusal.
    pub reason: IgnoreReason,
}

/// The reason why a pattern is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum IgnoreReason {
    #[error("double-star (**) syntax is not supported")]
    DoubleStar,
    #[error(transparent)]
    Pattern(BadPattern),
}

impl Default for IgnoreRules {
    /// The rules without a `.helmignore`: hidden files directly under `templates/` are ignored.
    fn default() -> Self {
        let rule = Rule {
            pattern: "templates/.?*".to_owned(),
            scope: Scope::Path,
            is_negated: false,
            folders_only: false,
        };
        Self(vec![rule])
    }
}

impl IgnoreRules {
    /// Reads a `.helmignore`.
    ///
    /// # Errors
    /// The first pattern that Helm rejects.
    pub(crate) fn parse(text: &str) -> Result<Self, IgnoreError> {
        let mut rules = Vec::new();
        for (index, line) in text.trim_start_matches('\u{FEFF}').lines().enumerate() {
            let pattern = line.trim();
            if pattern.is_empty() || pattern.starts_with('#') {
                continue;
            }
            let error = |reason| IgnoreError { line: index + 1, pattern: pattern.to_owned(), reason };
            rules.push(Rule::parse(pattern).map_err(error)?);
        }
        rules.extend(Self::default().0);
        Ok(Self(rules))
    }

    /// True if a file or folder, given by its path from the folder of the chart, does not belong to the chart.
    pub(crate) fn ignores(&self, path: &str, is_folder: bool) -> bool {
        if matches!(path, "" | "." | "./") {
            return false;
        }
        for rule in &self.0 {
            if rule.is_negated {
                if (rule.folders_only && !is_folder) || !rule.matches(path) {
                    return true;
                }
            } else if (is_folder || !rule.folders_only) && rule.matches(path) {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, IgnoreReason> {
        if text.contains("**") {
            return Err(IgnoreReason::DoubleStar);
        }
        check(text).map_err(IgnoreReason::Pattern)?;
        let (is_negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (folders_only, text) = text.strip_suffix('/').map_or((false, text), |rest| (true, rest));
        let scope = if text.contains('/') { Scope::Path } else { Scope::Name };
        let pattern = text.strip_prefix('/').unwrap_or(text).to_owned();
        Ok(Self { pattern, scope, is_negated, folders_only })
    }

    fn matches(&self, path: &str) -> bool {
        let subject = match self.scope {
            Scope::Path => path,
            Scope::Name => path.rsplit('/').next().unwrap_or(path),
        };
        matches_checked(&self.pattern, subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_ignore_by_name_path_and_folder() {
        let rules = IgnoreRules::parse("# comment\n*.bak\n/top.txt\ndocs/\nsub/*.md\n").unwrap();
        for (path, is_folder) in
            [("a/b.bak", false), ("top.txt", false), ("x/docs", true), ("sub/a.md", false)]
        {
            assert!(rules.ignores(path, is_folder), "{path}");
        }
        for (path, is_folder) in
            [("a/top.txt", false), ("docs", false), ("a/sub/a.md", false), ("a.yaml", false)]
        {
            assert!(!rules.ignores(path, is_folder), "{path}");
        }
        assert!(IgnoreRules::default().ignores("templates/.hidden", false));
    }

    #[test]
    fn a_negated_rule_ignores_everything_else() {
        let rules = IgnoreRules::parse("!keep.yaml").unwrap();
        assert!(rules.ignores("other.yaml", false) && !rules.ignores("keep.yaml", false));
    }

    #[test]
    fn a_rejected_pattern_names_its_line() {
        let error = IgnoreRules::parse("a\n**/b").unwrap_err();
        assert_eq!((error.line, error.reason), (2, IgnoreReason::DoubleStar));
    }
}
