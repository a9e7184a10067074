//! Differences of texts, in the unified format of Python's `difflib`.
//!
//! The longest run of equal lines splits a section of both texts in two, until sections have no line in common: these
//! are the edits. Lines that are frequent in a long text begin no run.
//! Source: Python 3.12, `difflib.unified_diff` and `SequenceMatcher` (measured behaviour).

use std::collections::HashMap;
use std::ops::Range;

/// The number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;
/// The length of a text from which on frequent lines are ignored.
const LONG_TEXT_LINES: usize = 200;

/// Lines of the text before the change and lines of the text after it.
struct Section {
    before: Range<usize>,
    after: Range<usize>,
}

/// Two texts as lines.
pub(super) struct TextDiff<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    /// The sections that differ, in order. Equal lines separate them.
    edits: Vec<Section>,
}

impl<'t> TextDiff<'t> {
    /// Compares two texts. A final line break begins one more line.
    pub(super) fn new(before: &'t str, after: &'t str) -> Self {
        let (before, after): (Vec<_>, Vec<_>) = (before.split('\n').collect(), after.split('\n').collect());
        let edits = Matcher::new(&before, &after).edits();
        Self { before, after, edits }
    }

    /// Returns the share of equal lines, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "texts have fewer lines than a float has digits")]
    pub(super) fn ratio(&self) -> f64 {
        let changed: usize = self.edits.iter().map(|edit| edit.before.len()).sum();
        2.0 * (self.before.len() - changed) as f64 / (self.before.len() + self.after.len()) as f64
    }

    /// Returns the lines of the unified format. None if the texts are equal.
    pub(super) fn unified(&self, before_name: &str, after_name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.edits.is_empty() {
            lines.extend([format!("--- {before_name}"), format!("+++ {after_name}")]);
        }
        let is_near = |one: &Section, next: &Section| next.before.start - one.before.end <= 2 * CONTEXT_LINES;
        for edits in self.edits.chunk_by(is_near) {
            self.push_hunk(edits, &mut lines);
        }
        lines
    }

    /// Adds edits with their header and the unchanged lines around them.
    fn push_hunk(&self, edits: &[Section], lines: &mut Vec<String>) {
        let (first, last) = (&edits[0], &edits[edits.len() - 1]);
        let above = first.before.start.min(CONTEXT_LINES);
        let below = (self.before.len() - last.before.end).min(CONTEXT_LINES);
        let mut next = first.before.start - above;
        let end = last.before.end + below;
        let after = first.after.start - above..last.after.end + below;
        lines.push(format!("@@ -{} +{} @@", line_range(&(next..end)), line_range(&after)));
        let mut push =
            |sign: char, part: &[&str]| lines.extend(part.iter().map(|line| format!("{sign}{line}")));
        for edit in edits {
            push(' ', &self.before[next..edit.before.start]);
            push('-', &self.before[edit.before.clone()]);
            push('+', &self.after[edit.after.clone()]);
            next = edit.before.end;
        }
        push(' ', &self.before[next..end]);
    }
}

/// Returns the first line of a range and, except for one line, its length.
fn line_range(range: &Range<usize>) -> String {
    match range.len() {
        1 => (range.start + 1).to_string(),
        length => format!("{},{length}", range.start + 1),
    }
}

/// Two texts whose lines are numbers; equal lines have the same number.
struct Matcher {
    before: Vec<usize>,
    after: Vec<usize>,
    /// The positions of each line in the text after the change. Frequent lines have none.
    positions: Vec<Vec<usize>>,
}

impl Matcher {
    fn new(before: &[&str], after: &[&str]) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |line| {
            let next = numbers.len();
            *numbers.entry(line).or_insert(next)
        };
        let after: Vec<usize> = after.iter().copied().map(&mut number).collect();
        let before: Vec<usize> = before.iter().copied().map(&mut number).collect();
        let mut positions = vec![Vec::new(); numbers.len()];
        for (at, &line) in after.iter().enumerate() {
            positions[line].push(at);
        }
        if after.len() >= LONG_TEXT_LINES {
            let most = after.len() / 100 + 1;
            positions.iter_mut().filter(|at| at.len() > most).for_each(Vec::clear);
        }
        Self { before, after, positions }
    }

    /// Returns the sections without a common run, in order.
    fn edits(&self) -> Vec<Section> {
        let mut open = vec![Section { before: 0..self.before.len(), after: 0..self.after.len() }];
        let mut edits = Vec::new();
        while let Some(section) = open.pop() {
            let Section { before, after } = &section;
            if let Some(run) = self.longest_run(&section) {
                // The section above the run is the next one.
                open.push(Section { before: run.before.end..before.end, after: run.after.end..after.end });
                open.push(Section {
                    before: before.start..run.before.start,
                    after: after.start..run.after.start,
                });
            } else if !before.is_empty() || !after.is_empty() {
                edits.push(section);
            }
        }
        edits
    }

    /// Returns the longest run of equal lines in a section; of several, the first one.
    fn longest_run(&self, section: &Section) -> Option<Section> {
        let Section { before, after } = section;
        let (mut start, mut length) = ((before.start, after.start), 0);
        for at in before.clone() {
            let positions = &self.positions[self.before[at]];
            let positions = &positions[positions.partition_point(|position| *position < after.start)..];
            for &position in positions.iter().take_while(|position| **position < after.end) {
                let is_inside = at > before.start && position > after.start;
                if is_inside && self.begins_run(at - 1, position - 1) {
                    continue; // the rest of a run
                }
                let pairs = (at..before.end).zip(position..after.end);
                let run = pairs.take_while(|(one, other)| self.begins_run(*one, *other)).count();
                if run > length {
                    (start, length) = ((at, position), run);
                }
            }
        }
        // Frequent lines extend a run.
        let end = (start.0 + length, start.1 + length);
        let above = common_suffix_len(&self.before[before.start..start.0], &self.after[after.start..start.1]);
        let below = common_prefix_len(&self.before[end.0..before.end], &self.after[end.1..after.end]);
        let run = Section { before: start.0 - above..end.0 + below, after: start.1 - above..end.1 + below };
        (!run.before.is_empty()).then_some(run)
    }

    /// True if two lines are equal and not frequent.
    fn begins_run(&self, before: usize, after: usize) -> bool {
        self.before[before] == self.after[after] && !self.positions[self.before[before]].is_empty()
    }
}

fn common_prefix_len(one: &[usize], other: &[usize]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn common_suffix_len(one: &[usize], other: &[usize]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
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
