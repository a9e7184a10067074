//! Differences of texts, in the unified format of Python's `difflib`.
//!
//! The matches of lines are those of Ratcliff and Obershelp: the longest common run of lines, and then the same on both
//! sides of it. Lines that are frequent in a long text start no match.
//! Source: Python 3.12, `difflib.unified_diff` and `SequenceMatcher` (measured behaviour).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// The number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// The length of a text from which on frequent lines are ignored.
const LONG_TEXT_LINES: usize = 200;

/// A run of equal lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    before: usize,
    after: usize,
    length: usize,
}

/// A changed or unchanged run of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    before: Range<usize>,
    after: Range<usize>,
    is_equal: bool,
}

/// Two texts as lines.
pub(super) struct TextDiff<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    matches: Vec<Match>,
}

impl<'t> TextDiff<'t> {
    /// Compares two texts. A final line break begins one more line.
    pub(super) fn new(before: &'t str, after: &'t str) -> Self {
        let (before, after): (Vec<_>, Vec<_>) = (before.split('\n').collect(), after.split('\n').collect());
        let matches = Matcher::new(&before, &after).matches();
        Self { before, after, matches }
    }

    /// Returns the share of equal lines, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "texts have fewer lines than a float has digits")]
    pub(super) fn ratio(&self) -> f64 {
        let equal: usize = self.matches.iter().map(|found| found.length).sum();
        2.0 * equal as f64 / (self.before.len() + self.after.len()) as f64
    }

    /// Returns the lines of the unified format. None if the texts are equal.
    pub(super) fn unified(&self, before_name: &str, after_name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for group in groups(self.pieces()) {
            if lines.is_empty() {
                lines.extend([format!("--- {before_name}"), format!("+++ {after_name}")]);
            }
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let mut header = "@@ -".to_owned();
            push_range(&mut header, first.before.start..last.before.end);
            header.push_str(" +");
            push_range(&mut header, first.after.start..last.after.end);
            header.push_str(" @@");
            lines.push(header);
            for piece in group {
                if piece.is_equal {
                    lines.extend(self.before[piece.before].iter().map(|line| format!(" {line}")));
                } else {
                    lines.extend(self.before[piece.before].iter().map(|line| format!("-{line}")));
                    lines.extend(self.after[piece.after].iter().map(|line| format!("+{line}")));
                }
            }
        }
        lines
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let (mut before, mut after) = (0, 0);
        let end = Match { before: self.before.len(), after: self.after.len(), length: 0 };
        for found in self.matches.iter().copied().chain([end]) {
            if before < found.before || after < found.after {
                let piece =
                    Piece { before: before..found.before, after: after..found.after, is_equal: false };
                pieces.push(piece);
            }
            (before, after) = (found.before + found.length, found.after + found.length);
            if found.length > 0 {
                let piece = Piece { before: found.before..before, after: found.after..after, is_equal: true };
                pieces.push(piece);
            }
        }
        pieces
    }
}

/// Splits pieces into groups of changes with a few unchanged lines around them.
fn groups(mut pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    if let Some(first) = pieces.first_mut().filter(|piece| piece.is_equal) {
        let surplus = first.before.len().saturating_sub(CONTEXT_LINES);
        (first.before.start, first.after.start) = (first.before.start + surplus, first.after.start + surplus);
    }
    if let Some(last) = pieces.last_mut().filter(|piece| piece.is_equal) {
        let surplus = last.before.len().saturating_sub(CONTEXT_LINES);
        (last.before.end, last.after.end) = (last.before.end - surplus, last.after.end - surplus);
    }
    let (mut groups, mut group) = (Vec::new(), Vec::new());
    for piece in pieces {
        if piece.is_equal && piece.before.len() > 2 * CONTEXT_LINES {
            let end = Piece {
                before: piece.before.start..piece.before.start + CONTEXT_LINES,
                after: piece.after.start..piece.after.start + CONTEXT_LINES,
                is_equal: true,
            };
            let start = Piece {
                before: piece.before.end - CONTEXT_LINES..piece.before.end,
                after: piece.after.end - CONTEXT_LINES..piece.after.end,
                is_equal: true,
            };
            group.push(end);
            groups.push(std::mem::replace(&mut group, vec![start]));
        } else {
            group.push(piece);
        }
    }
    groups.push(group);
    groups.retain(|group| group.iter().any(|piece| !piece.is_equal));
    groups
}

fn push_range(out: &mut String, range: Range<usize>) {
    let _ = match range.len() {
        1 => write!(out, "{}", range.start + 1),
        0 => write!(out, "{},0", range.start),
        length => write!(out, "{},{length}", range.start + 1),
    };
}

struct Matcher<'t> {
    before: &'t [&'t str],
    after: &'t [&'t str],
    /// The positions of each line in the text after the change, without frequent lines.
    positions: HashMap<&'t str, Vec<usize>>,
}

impl<'t> Matcher<'t> {
    fn new(before: &'t [&'t str], after: &'t [&'t str]) -> Self {
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in after.iter().enumerate() {
            positions.entry(line).or_default().push(at);
        }
        if after.len() >= LONG_TEXT_LINES {
            let most = after.len() / 100 + 1;
            positions.retain(|_, at| at.len() <= most);
        }
        Self { before, after, positions }
    }

    /// Returns all matches in order. Neighbouring matches are joined.
    fn matches(&self) -> Vec<Match> {
        let mut open = vec![(0..self.before.len(), 0..self.after.len())];
        let mut found = Vec::new();
        while let Some((before, after)) = open.pop() {
            let longest = self.longest(before.clone(), after.clone());
            if longest.length == 0 {
                continue;
            }
            let end = (longest.before + longest.length, longest.after + longest.length);
            if before.start < longest.before && after.start < longest.after {
                open.push((before.start..longest.before, after.start..longest.after));
            }
            if end.0 < before.end && end.1 < after.end {
                open.push((end.0..before.end, end.1..after.end));
            }
            found.push(longest);
        }
        found.sort_by_key(|found| (found.before, found.after));
        let mut joined: Vec<Match> = Vec::with_capacity(found.len());
        for next in found {
            match joined.last_mut() {
                Some(last)
                    if last.before + last.length == next.before && last.after + last.length == next.after =>
                {
                    last.length += next.length;
                }
                _ => joined.push(next),
            }
        }
        joined
    }

    /// Returns the longest run of equal lines; of several, the first one.
    fn longest(&self, before: Range<usize>, after: Range<usize>) -> Match {
        let mut best = Match { before: before.start, after: after.start, length: 0 };
        // The lengths of runs that end at the previous line, by their position in the text after the change.
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for at in before.clone() {
            let mut next = HashMap::new();
            let positions = self.positions.get(self.before[at]).map(Vec::as_slice).unwrap_or_default();
            let start = positions.partition_point(|position| *position < after.start);
            for &position in positions[start..].iter().take_while(|position| **position < after.end) {
                let length = position.checked_sub(1).and_then(|at| lengths.get(&at)).unwrap_or(&0) + 1;
                next.insert(position, length);
                if length > best.length {
                    best = Match { before: at + 1 - length, after: position + 1 - length, length };
                }
            }
            lengths = next;
        }
        // Frequent lines may extend a match.
        while best.before > before.start
            && best.after > after.start
            && self.before[best.before - 1] == self.after[best.after - 1]
        {
            best = Match { before: best.before - 1, after: best.after - 1, length: best.length + 1 };
        }
        while best.before + best.length < before.end
            && best.after + best.length < after.end
            && self.before[best.before + best.length] == self.after[best.after + best.length]
        {
            best.length += 1;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn changes_have_three_lines_of_context() {
        let lines: Vec<String> = (1..=20).map(|line| format!("line {line}")).collect();
        let before = lines.join("\n") + "\n";
        let after = before
            .replace("line 2\n", "second\n")
            .replace("line 15\n", "")
            .replace("line 20\n", "line 20\nmore\n");
        let diff = TextDiff::new(&before, &after);
        assert_data_eq!(
            diff.unified("a.yaml", "b.yaml").join("\n"),
            str![[r#"
--- a.yaml
+++ b.yaml
@@ -1,5 +1,5 @@
 line 1
-line 2
+second
 line 3
 line 4
 line 5
@@ -12,10 +12,10 @@
 line 12
 line 13
 line 14
-line 15
 line 16
 line 17
 line 18
 line 19
 line 20
+more
 
"#]]
        );
        assert!(TextDiff::new(&before, &before).unified("a", "b").is_empty());
    }

    #[test]
    fn empty_texts_have_empty_ranges() {
        let diff = TextDiff::new("", "a: 1\nb: 2\n");
        assert_eq!(diff.unified("x", "x").join("\n"), "--- x\n+++ x\n@@ -1 +1,3 @@\n+a: 1\n+b: 2\n ");
        assert!((diff.ratio() - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn frequent_lines_start_no_match_in_a_long_text() {
        let lines: Vec<String> =
            (0..300).map(|line| if line % 2 == 0 { "x".to_owned() } else { line.to_string() }).collect();
        let long = lines.join("\n");
        let changed = long.replace("\n151\n", "\nchanged\n");
        let lines = TextDiff::new(&long, &changed).unified("a", "a");
        assert_eq!(lines[2], "@@ -149,7 +149,7 @@");
        assert_eq!(lines[6..8], ["-151", "+changed"]);
    }
}
