//! Folded scalars (`>`) in kustomize, which prints an object in its original style and parses it again.
//!
//! The printed text does not always fold back to the same text. A line that starts with a blank moves down by an empty
//! line. If the whole text starts with a blank, separate lines are joined.
//! Source: go.yaml.in/yaml/v3 3.0.4 emitterc.go (folded scalars), as observed with kustomize v5.8.1.

use super::write::may_be_block;

/// Returns a folded text as it is after printing and parsing it again.
pub(super) fn reparse_folded(text: &str) -> String {
    if !may_be_block(text) {
        return text.to_owned();
    }
    // The printer checks the first character of the text instead of the first character of the next line.
    let is_parted = text.trim_start_matches('\n').starts_with(|first| !is_blank(first));
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    let mut is_first = true;
    while !rest.is_empty() {
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let (line, breaks) = rest.split_at(line_end);
        let run = breaks.len() - breaks.trim_start_matches('\n').len();
        let next = &breaks[run..];
        let is_indented = line.starts_with(is_blank);
        out.push_str(line);
        let before_first = is_first && line.is_empty();
        let printed = run + usize::from(is_parted && !is_indented && !before_first && run > 0);
        match (next.is_empty(), is_indented || next.starts_with(is_blank) || before_first) {
            (true, _) if run <= 1 => out.push_str(&breaks[..run]),
            (true, _) | (false, true) => out.extend(std::iter::repeat_n('\n', printed)),
            (false, false) if printed == 1 => out.push(' '),
            (false, false) => out.extend(std::iter::repeat_n('\n', printed - 1)),
        }
        rest = next;
        is_first = false;
    }
    out
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

#[cfg(test)]
mod tests {
    use super::reparse_folded;

    #[test]
    fn folded_texts_change_as_kustomize_changes_them() {
        for (text, expected) in [
            ("one two\n", "one two\n"),
            ("a\nb\n\nc\n", "a\nb\n\nc\n"),
            ("one\n  two\nthree\n", "one\n\n  two\nthree\n"),
            ("five\n\n  six\n  seven\n\neight", "five\n\n\n  six\n  seven\n\neight"),
            ("one\n  two\n\n\n", "one\n\n  two\n\n\n"),
            ("one\n\n\n", "one\n\n\n\n"),
            ("  lead\none\ntwo\n", "  lead\none two\n"),
            ("\none\ntwo\n", "\none\ntwo\n"),
            ("one\n  trailing \ntwo\n", "one\n  trailing \ntwo\n"),
            ("", ""),
        ] {
            assert_eq!(reparse_folded(text), expected, "{text:?}");
        }
    }
}
