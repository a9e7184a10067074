use manifest::{Map, Value};

use super::Environment;

/// Reads `NAME=value` and `NAME: value` lines.
/// Shape: comments and blank lines are passed over, `export ` is dropped, quotes around a value are taken off; in
/// double quotes `\n`, `\"` and `\\` are escapes. `$NAME` and `${NAME}` with an upper-case name take an earlier line's
/// value, else the environment's, else nothing; not in single quotes, and not behind a backslash.
/// Source: gotenv 1.6, which viper reads these files with.
/// # Errors
/// The number of the first line that has another form.
pub(super) fn read(text: &str, environment: &Environment) -> Result<Map<String, Value>, usize> {
    let mut found = Map::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once(['=', ':']).ok_or(index + 1)?;
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(index + 1);
        }
        let known = |name: &str| match found.get(name).and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => environment.get(name).unwrap_or_default().to_owned(),
        };
        let value = read_value(value.trim(), &known).ok_or(index + 1)?;
        found.insert(name.to_owned(), Value::from(value));
    }
    Ok(found)
}

fn read_value(value: &str, known: &dyn Fn(&str) -> String) -> Option<String> {
    match value.chars().next() {
        Some('\'') => quoted(value, '\'').map(str::to_owned),
        Some('"') => quoted(value, '"').map(|inner| expand(inner, true, known)),
        _ => Some(expand(value.split(" #").next().unwrap_or_default().trim_end(), false, known)),
    }
}

/// What stands between the quotes; nothing but a comment may follow them.
fn quoted(value: &str, quote: char) -> Option<&str> {
    let inner = value.strip_prefix(quote)?;
    let mut escaped = false;
    let end = inner.char_indices().find_map(|(at, c)| {
        let closes = c == quote && !escaped;
        escaped = quote == '"' && c == '\\' && !escaped;
        closes.then_some(at)
    })?;
    let rest = inner[end + 1..].trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(&inner[..end])
}

fn expand(text: &str, escapes: bool, known: &dyn Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match (c, rest.chars().next()) {
            ('$', _) => match name_at(rest) {
                Some((name, behind)) => {
                    out.push_str(&known(name));
                    rest = behind;
                }
                None => out.push('$'),
            },
            ('\\', Some(next)) if escapes || next == '$' => {
                out.push(match next {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
                rest = &rest[next.len_utf8()..];
            }
            _ => out.push(c),
        }
    }
    out
}

/// The name behind a `$`, with braces or without, and what follows it.
fn name_at(text: &str) -> Option<(&str, &str)> {
    let (inner, braced) = text.strip_prefix('{').map_or((text, false), |inner| (inner, true));
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let end = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
    let (name, behind) = inner.split_at(end);
    let behind = if braced { behind.strip_prefix('}')? } else { behind };
    (!name.is_empty()).then_some((name, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_bare_or_quoted() {
        let text = "# a comment\n\nexport A=1\nB = two words # not this\nC='x # y'\nD=\"a\\nb \\\"c\\\"\" # end\nE=\n";
        let found = read(text, &Environment::default()).unwrap();
        let value = |name: &str| found[name].as_str().unwrap().to_owned();
        assert_eq!(value("A"), "1");
        assert_eq!(value("B"), "two words");
        assert_eq!(value("C"), "x # y");
        assert_eq!(value("D"), "a\nb \"c\"");
        assert_eq!(value("E"), "");
    }

    #[test]
    fn names_take_earlier_lines_then_the_environment() {
        let environment = Environment::new([("HOME_DIR", "/home/me"), ("A", "outside")]);
        let text = "A: 1\nB=$A-${HOME_DIR}\nC='$A'\nD=\"${A}\\$A\"\nE=$UNSET.$lower\n";
        let found = read(text, &environment).unwrap();
        let value = |name: &str| found[name].as_str().unwrap().to_owned();
        assert_eq!(value("B"), "1-/home/me");
        assert_eq!(value("C"), "$A");
        assert_eq!(value("D"), "1$A");
        assert_eq!(value("E"), ".$lower");
    }

    #[test]
    fn a_line_of_another_form_is_named() {
        let line = |text| read(text, &Environment::default()).unwrap_err();
        assert_eq!(line("A=1\nnonsense\n"), 2);
        assert_eq!(line("A=1\n\n=x\n"), 3);
        assert_eq!(line("A=\"open\n"), 1);
    }
}
