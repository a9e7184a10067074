use manifest::{Map, Value};

use super::Environment;

/// Parses `NAME=value` and `NAME: value` lines.
///
/// Shape:
/// - Blank lines, comments and the prefix `export ` are ignored. A `#` outside quotes starts a comment, even inside a
///   word.
/// - Quotes around a value are removed. A quoted value may span several lines.
/// - In double quotes, `\n` and `\r` are line breaks. A backslash before another character is dropped.
/// - `$NAME` and `${NAME}` with an upper-case name are replaced by the environment, an earlier line or the empty text.
///   In single quotes and after a backslash, `$` stays as written.
///
/// Source: gotenv 1.6 (`StrictParse`), which viper uses for these files.
/// # Errors
/// The number of the first line that is invalid or has unclosed quotes.
pub(super) fn read(text: &str, environment: &Environment) -> Result<Map<String, Value>, usize> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let mut found = Map::new();
    let mut lines = text.split('\n').zip(1_usize..);
    while let Some((first, number)) = lines.next() {
        let mut line = first.trim().to_owned();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut open = open_quote(&line);
        while let Some(quote) = open {
            let (more, _) = lines.next().ok_or(number)?;
            line.push('\n');
            line.push_str(more);
            open = (!is_closed_by(more, quote)).then_some(quote);
        }
        let (name, value) = split(&line).ok_or(number)?;
        let known = |name: &str| match (environment.get(name), found.get(name).and_then(Value::as_str)) {
            (Some(text), _) | (None, Some(text)) => text.to_owned(),
            (None, None) => String::new(),
        };
        let value = read_value(value, &known);
        found.insert(name.to_owned(), Value::from(value));
    }
    Ok(found)
}

/// The quote that a line opens and does not close.
fn open_quote(line: &str) -> Option<char> {
    let (_, value) = line.split_once('=').or_else(|| line.split_once(':'))?;
    let quote = value.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &value.trim_start()[1..];
    (!is_closed_by(inner, quote)).then_some(quote)
}

/// True if the last quote of a line ends the value.
fn is_closed_by(line: &str, quote: char) -> bool {
    line.rfind(quote).is_some_and(|at| !line[..at].ends_with('\\'))
}

/// Splits a line into name and value. The value keeps its quotes and loses its comment.
fn split(line: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let exported = line.strip_prefix("export").filter(|rest| rest.starts_with(char::is_whitespace));
    let line = exported.map_or(line, str::trim_start);
    let (name, rest) = line.split_at(line.find(|c| !is_name(c)).unwrap_or(line.len()));
    let value = match rest.trim_start().strip_prefix('=') {
        Some(value) => value.trim_start(),
        None => rest.strip_prefix(':').filter(|value| value.starts_with(char::is_whitespace))?.trim_start(),
    };
    let value = quoted(value).unwrap_or_else(|| value.split('#').next().unwrap_or_default().trim_end());
    // Only a quoted value may span several lines.
    let is_whole = quoted(value).is_some() || !value.contains('\n');
    (!name.is_empty() && is_whole).then_some((name, value))
}

/// The longest quoted text at the start, with quotes, if only a comment follows.
fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let is_comment = |rest: &str| rest.is_empty() || rest.starts_with('#') && !rest.contains('\n');
    let ends = value.rmatch_indices(quote).map(|(at, _)| at + 1).filter(|end| *end > 1);
    ends.map(|end| value.split_at(end)).find(|(_, rest)| is_comment(rest.trim_start())).map(|(text, _)| text)
}

fn read_value(value: &str, known: &dyn Fn(&str) -> String) -> String {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(text) = inside('\'') {
        text.to_owned()
    } else if let Some(text) = inside('"') {
        expand(&unescape(&text.replace("\\n", "\n").replace("\\r", "\r")), known)
    } else {
        expand(value, known)
    }
}

/// Removes backslashes, except before `$`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, characters.as_str().chars().next()) {
            ('\\', Some(next)) if next != '$' => {
                characters.next();
                out.push(next);
            }
            _ => out.push(c),
        }
    }
    out
}

fn expand(text: &str, known: &dyn Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let (name, behind) = name_at(after);
        let written = &rest[before.len()..rest.len() - behind.len()];
        match before.strip_suffix('\\') {
            Some(before) => out.extend([before, written]),
            None if name.is_empty() => out.extend([before, written]),
            None => out.extend([before, &known(name)]),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Splits text after a `$` into the variable name and the rest. Braces are optional, and so is the closing brace.
fn name_at(text: &str) -> (&str, &str) {
    let inner = text.strip_prefix('{').unwrap_or(text);
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let (name, behind) = inner.split_at(inner.find(|c| !is_name(c)).unwrap_or(inner.len()));
    (name, behind.strip_prefix('}').unwrap_or(behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let environment = Environment::new([("HOME_DIR", "/home/me"), ("OUTSIDE", "outside")]);
        let found = read(text, &environment).unwrap();
        found.values().map(|value| value.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn values_may_be_bare_or_quoted() {
        let text = "# a comment\n\nexport\tA=1\r\nB = two words # not this\nC='x # y'\nD=\"a\\nb \\\"c\\\" \\t\" # end\nE=\n";
        assert_eq!(values(text), ["1", "two words", "x # y", "a\nb \"c\" t", ""]);
        assert_eq!(values("\u{FEFF}A=b#c\nB: d:e=f\nC=\"g\"h\n"), ["b", "d:e=f", "\"g\"h"]);
    }

    #[test]
    fn a_value_in_quotes_may_go_over_several_lines() {
        assert_eq!(
            values("A=\"x\n  y # z\n\" # end\nB='x\n\\'\ny'\nC=1\n"),
            ["x\n  y # z\n", "x\n\\'\ny", "1"]
        );
    }

    #[test]
    fn names_take_the_environment_then_earlier_lines() {
        let text = "A: 1\nB=$A-${HOME_DIR}\nC='$A'\nD=\"${A}\\$A\"\nE=$UNSET.$lower$\nF=\\${A}${A\nOUTSIDE=x\nP=$OUTSIDE\n";
        assert_eq!(values(text), ["1", "1-/home/me", "$A", "1$A", ".$lower$", "${A}1", "x", "outside"]);
    }

    #[test]
    fn a_line_of_another_form_is_named() {
        let line = |text| read(text, &Environment::default()).unwrap_err();
        assert_eq!(line("A=1\nnonsense\n"), 2);
        assert_eq!(line("A=1\n\n=x\n"), 3);
        assert_eq!(line("A=\"open\nB=1\n"), 1);
        assert_eq!(line("A:1\n"), 1);
        assert_eq!(line("A-B=1\n"), 1);
        assert_eq!(line("A=\"x\ny\"z\nB=1\n"), 1);
    }
}
