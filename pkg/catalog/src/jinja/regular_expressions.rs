//! The filters with regular expressions.
#![allow(clippy::needless_pass_by_value)] // the engine passes values

use minijinja::value::{Kwargs, Rest, Tuple};
use minijinja::{Error, ErrorKind, Value};
use regex::{Captures, Regex, RegexBuilder};

fn invalid(reason: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

fn compile(pattern: &str, ignores_case: bool, multi_line: bool) -> Result<Regex, Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .multi_line(multi_line)
        .build()
        .map_err(|error| invalid(format!("`{pattern}` is not a valid regular expression: {error}")))
}

/// Replaces all matches. The replacement may have `\1` and `\g<name>`.
pub(super) fn replace(
    value: &str,
    pattern: &str,
    replacement: &str,
    ignorecase: Option<bool>,
    options: Kwargs,
) -> Result<String, Error> {
    let named: Option<bool> = options.get("ignorecase")?;
    options.assert_all_used()?;
    let expression = compile(pattern, ignorecase.or(named).unwrap_or_default(), false)?;
    let template = template(replacement);
    Ok(expression.replace_all(value, template.as_str()).into_owned())
}

/// Converts a replacement of Python.
fn template(replacement: &str) -> String {
    let mut out = String::new();
    let mut rest = replacement;
    while let Some(at) = rest.find(['\\', '$']) {
        out.push_str(&rest[..at]);
        let found = &rest[at..];
        let digits = found[1..].bytes().take_while(u8::is_ascii_digit).count();
        let name = found.strip_prefix("\\g<").and_then(|name| name.split_once('>'));
        if let Some(after) = found.strip_prefix('$') {
            out.push_str("$$");
            rest = after;
        } else if let Some((name, after)) = name {
            out.extend(["${", name, "}"]);
            rest = after;
        } else if digits > 0 {
            out.extend(["${", &found[1..=digits], "}"]);
            rest = &found[1 + digits..];
        } else {
            let next = found[1..].chars().next();
            out.push(match next {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            });
            rest = &found[1 + next.map_or(0, char::len_utf8)..];
        }
    }
    out.push_str(rest);
    out
}

/// Puts a backslash before the characters with a meaning in expressions.
pub(super) fn escape(text: &str) -> String {
    let special = "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}";
    text.chars().flat_map(|next| special.contains(next).then_some('\\').into_iter().chain([next])).collect()
}

/// Returns the first match, or the groups that the arguments `\1` or `\g<name>` name.
pub(super) fn search(
    value: &str,
    pattern: &str,
    groups: Rest<String>,
    options: Kwargs,
) -> Result<Value, Error> {
    let ignores_case: Option<bool> = options.get("ignorecase")?;
    let multi_line: Option<bool> = options.get("multiline")?;
    options.assert_all_used()?;
    let expression = compile(pattern, ignores_case.unwrap_or_default(), multi_line.unwrap_or_default())?;
    let Some(found) = expression.captures(value) else { return Ok(Value::from(())) };
    if groups.is_empty() {
        return Ok(Value::from(&found[0]));
    }
    let items: Vec<Value> = groups.iter().map(|name| group(&found, name)).collect::<Result<_, _>>()?;
    Ok(Value::from(items))
}

fn group(found: &Captures<'_>, reference: &str) -> Result<Value, Error> {
    let name = reference.strip_prefix("\\g<").and_then(|name| name.strip_suffix('>'));
    let index = reference.strip_prefix('\\').and_then(|index| index.parse().ok());
    let text = match (name, index) {
        (Some(name), _) => found.name(name),
        (None, Some(index)) => found.get(index),
        (None, None) => return Err(invalid("Unknown argument".to_owned())),
    };
    Ok(text.map_or_else(|| Value::from(()), |text| Value::from(text.as_str())))
}

/// Returns all matches: their text, their only group, or a list of their groups.
pub(super) fn find_all(
    value: &str,
    pattern: &str,
    multiline: Option<bool>,
    ignorecase: Option<bool>,
    options: Kwargs,
) -> Result<Value, Error> {
    let ignores_case = ignorecase.or(options.get("ignorecase")?).unwrap_or_default();
    let multi_line = multiline.or(options.get("multiline")?).unwrap_or_default();
    options.assert_all_used()?;
    let expression = compile(pattern, ignores_case, multi_line)?;
    let text = |found: &Captures<'_>, index| Value::from(found.get(index).map_or("", |group| group.as_str()));
    let items: Vec<Value> = expression
        .captures_iter(value)
        .map(|found| match found.len() {
            1 | 2 => text(&found, found.len() - 1),
            count => Value::from(Tuple::new((1..count).map(|index| text(&found, index)).collect())),
        })
        .collect();
    Ok(Value::from(items))
}
