//! Prints INI files: the `=` of a section are aligned, and an empty line separates sections.

use zeroize::Zeroizing;

use super::{DEFAULT_SECTION, DELIMITERS};
use crate::SopsError;
use crate::tree::{Branch, Comment, Entry, Secret, Value, flat_text};

pub(crate) fn write(documents: &[Branch]) -> Result<Secret, SopsError> {
    let sections: Vec<(&str, &Value)> = documents.iter().flatten().filter_map(Entry::as_field).collect();
    let mut out = Zeroizing::new(Vec::new());
    for (index, (name, value)) in sections.iter().enumerate() {
        let section = value.as_branch().ok_or_else(|| output(format!("`{name}` is no section")))?;
        let (comment, entries) = match section {
            [Entry::Comment(comment), entries @ ..] => (Some(comment), entries),
            entries => (None, entries),
        };
        if let Some(comment) = comment {
            write_comment(&mut out, comment, false);
        }
        let fields = fields(entries)?;
        if index > 0 || !name.eq_ignore_ascii_case(DEFAULT_SECTION) {
            out.extend_from_slice(format!("[{name}]\n").as_bytes());
        } else if fields.is_empty() {
            continue;
        }
        let width = fields.iter().map(|field| width(field.key)).max().unwrap_or_default();
        for field in &fields {
            if let Some(comment) = field.comment {
                write_comment(&mut out, comment, true);
            }
            let key = quoted_key(field.key);
            out.extend_from_slice(key.as_bytes());
            out.extend(std::iter::repeat_n(b' ', width - key.len()));
            out.extend_from_slice(b" = ");
            write_value(&mut out, &field.text);
            out.push(b'\n');
        }
        if index + 1 < sections.len() {
            out.push(b'\n');
        }
    }
    Ok(out)
}

struct Field<'a> {
    key: &'a str,
    text: Secret,
    comment: Option<&'a Comment>,
}

/// Returns the fields with their comments; the last of several comments counts.
fn fields(entries: &[Entry]) -> Result<Vec<Field<'_>>, SopsError> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Comment(comment) => {
                if let Some(last) = fields.last_mut() {
                    last.comment = Some(comment);
                }
            }
            Entry::Field { key, value } => {
                let text =
                    flat_text(value).ok_or_else(|| output(format!("`{key}` is a list or a mapping")))?;
                fields.push(Field { key, text, comment: None });
            }
        }
    }
    Ok(fields)
}

/// Writes the lines of a comment, each with its sign.
fn write_comment(out: &mut Secret, comment: &Comment, is_trimmed: bool) {
    if comment.text.is_empty() {
        return;
    }
    for line in comment.text.split(|byte| *byte == b'\n') {
        if let [sign @ (b'#' | b';'), rest @ ..] = line {
            out.extend([*sign, b' ']);
            out.extend_from_slice(rest.trim_ascii());
        } else {
            out.extend_from_slice(b"; ");
            out.extend_from_slice(if is_trimmed { line.trim_ascii() } else { line });
        }
        out.push(b'\n');
    }
}

fn needs_backquotes(key: &str) -> bool {
    key.contains('"') || key.contains(DELIMITERS)
}

/// Returns the width of a key with its quotes. Source: ini.v1, which pads by bytes.
fn width(key: &str) -> usize {
    key.len()
        + if needs_backquotes(key) {
            2
        } else if key.contains('`') {
            6
        } else {
            0
        }
}

fn quoted_key(key: &str) -> String {
    if needs_backquotes(key) {
        format!("`{key}`")
    } else if key.contains('`') {
        format!("\"\"\"{key}\"\"\"")
    } else {
        key.to_owned()
    }
}

fn write_value(out: &mut Secret, text: &[u8]) {
    let quote: &[u8] = if text.iter().any(|byte| matches!(byte, b'\n' | b'`')) {
        b"\"\"\""
    } else if text.iter().any(|byte| matches!(byte, b'#' | b';')) {
        b"`"
    } else if text.trim_ascii().len() != text.len() {
        b"\""
    } else {
        b""
    };
    out.extend_from_slice(quote);
    out.extend_from_slice(text);
    out.extend_from_slice(quote);
}

fn output(problem: String) -> SopsError {
    SopsError::Output { format: "INI", problem }
}
