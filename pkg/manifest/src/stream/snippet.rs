//! The lines around an error, for the screen.

use std::fmt::Write as _;

use crate::yaml::YamlError;

/// Lines shown before and after the one with the error.
const CONTEXT: usize = 2;
/// Longer lines are cut, in characters.
const WIDTH: usize = 120;

/// Shows the lines around an error, numbered, with a mark under its column. The bytes start after so many lines.
pub(super) fn around(bytes: &[u8], lines_before: usize, error: &YamlError) -> String {
    let first = error.line.saturating_sub(CONTEXT).max(lines_before + 1);
    let last = error.line + CONTEXT;
    let digits = last.to_string().len();
    let mut out = String::new();
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = text
        .split(|byte| *byte == b'\n')
        .zip(lines_before + 1..=last)
        .skip_while(|(_, number)| *number < first);
    for (line, number) in lines {
        let shown = cleaned(&line[..line.len().min(4 * WIDTH)]);
        let _ = writeln!(out, "{}", format!("{number:>digits$} | {shown}").trim_end());
        if number == error.line && error.column <= WIDTH {
            let _ = writeln!(out, "{:>digits$} | {:>column$}", "", "^", column = error.column);
        }
    }
    out
}

/// One character a column, none of which moves the cursor or changes colours.
fn cleaned(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.strip_suffix('\r').unwrap_or(&text);
    text.chars()
        .take(WIDTH)
        .map(|character| match character {
            '\t' => ' ',
            other if other.is_control() => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}
