//! `.component-ignore`: files that are not rendered, in the syntax of `.gitignore`.
//!
//! The last pattern that matches a path decides. A pattern also matches everything below a folder that it names.

use chart::matches_path;

/// The name of the file with the patterns.
pub(super) const IGNORE_FILE: &str = ".component-ignore";

/// The patterns of a file.
#[derive(Debug, Default)]
pub(super) struct IgnorePatterns(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    /// The names between slashes.
    names: Vec<String>,
    /// True for `!name`.
    is_negated: bool,
    /// True for `name/`.
    folders_only: bool,
    /// True if the pattern counts from the folder of the file, not for each name.
    is_anchored: bool,
}

impl IgnorePatterns {
    pub(super) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        Self(lines.map(Pattern::parse).collect())
    }

    /// True if a file is not rendered. The path is relative to the folder of the patterns.
    pub(super) fn ignores(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        self.0.iter().rev().find(|pattern| pattern.matches(&names)).is_some_and(|pattern| !pattern.is_negated)
    }
}

impl Pattern {
    fn parse(line: &str) -> Self {
        let (is_negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let line = if line.ends_with("\\ ") { line } else { line.trim_end_matches(' ') };
        let (folders_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let is_anchored = line.contains('/');
        let names = line.split('/').skip_while(|name| name.is_empty());
        let names = names.map(|name| name.replace("[!", "[^")).collect();
        Self { names, is_negated, folders_only, is_anchored }
    }

    fn matches(&self, path: &[&str]) -> bool {
        if self.is_anchored {
            return self.matches_start(path);
        }
        let [name] = self.names.as_slice() else { return false };
        let folders = if self.folders_only { &path[..path.len() - 1] } else { path };
        folders.iter().any(|found| matches_name(name, found))
    }

    /// Matches the names of a pattern against the start of a path. `**` matches any number of folders.
    fn matches_start(&self, path: &[&str]) -> bool {
        // The numbers of names of the path that the pattern so far can match.
        let mut matched = vec![false; path.len() + 1];
        matched[0] = true;
        for (index, name) in self.names.iter().enumerate() {
            let before = std::mem::replace(&mut matched, vec![false; path.len() + 1]);
            if name == "**" {
                // At the end of a pattern it needs at least one name.
                let least = usize::from(index + 1 == self.names.len());
                let first = before.iter().position(|is_matched| *is_matched).unwrap_or(path.len() + 1);
                matched.iter_mut().skip(first + least).for_each(|is_matched| *is_matched = true);
                continue;
            }
            for (at, found) in path.iter().enumerate() {
                matched[at + 1] = before[at] && matches_name(name, found);
            }
        }
        let most = if self.folders_only { path.len() } else { path.len() + 1 };
        matched[..most].contains(&true)
    }
}

fn matches_name(pattern: &str, name: &str) -> bool {
    matches_path(pattern, name).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_folders_and_paths() {
        let patterns = IgnorePatterns::parse(
            "# comment\n*.md\ndata/\n/top.txt\nsub/*.tmp\n**/test/**\n!keep.md\ndoc?.yaml\n[!ab].txt  \n",
        );
        for path in
            ["a.md", "x/a.md", "data/f", "x/data/f", "top.txt", "sub/a.tmp", "a/test/b", "doc1.yaml", "c.txt"]
        {
            assert!(patterns.ignores(path), "{path}");
        }
        for path in ["keep.md", "x/keep.md", "data", "x/top.yaml", "sub/x/a.tmp", "test", "a.txt", "doc.yaml"]
        {
            assert!(!patterns.ignores(path), "{path}");
        }
    }

    #[test]
    fn many_stars_end_in_time() {
        let patterns = IgnorePatterns::parse(&format!("{}b", "**/a/".repeat(12)));
        let path = vec!["a"; 60].join("/");
        assert!(!patterns.ignores(&path) && patterns.ignores(&format!("{path}/b")));
    }
}
