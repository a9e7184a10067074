//! The grammar of paths.
//!
//! It does not nest: a filter ends at the first `)`, brackets at the first `]`. So no bound on depth is needed.

use serde_json::Value;

use super::{Comparison, End, Operand, Slice, Step};

/// Reads a whole path.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(filter) = rest.strip_prefix("[?(") {
            let (step, after) = filter_step(filter)?;
            steps.push(step);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("..") {
            if steps.last() == Some(&Step::Descend) {
                return Err("invalid multiple recursive descent".to_owned());
            }
            steps.push(Step::Descend);
            rest = after;
            if rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()) {
                rest = field(rest, &mut steps);
            }
        } else if let Some(after) = rest.strip_prefix('.') {
            rest = field(after, &mut steps);
        } else if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']').ok_or("unterminated array")?;
            brackets(inside, &mut steps)?;
            rest = after;
        } else if matches!(c, ' ' | '@' | '$') {
            rest = &rest[1..];
        } else {
            return Err(format!("unrecognized character `{c}`"));
        }
    }
    Ok(steps)
}

fn is_end(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// A name up to what ends it; a backslash makes the next character part of it.
fn field<'a>(text: &'a str, steps: &mut Vec<Step>) -> &'a str {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((index, c)) = chars.next() {
        if c == '\\' {
            name.extend(chars.next().map(|(_, c)| c).filter(|c| *c != '\\'));
        } else if is_end(c) {
            end = index;
            break;
        } else {
            name.push(c);
        }
    }
    steps.push(if &text[..end] == "*" { Step::Wildcard } else { Step::Field(name) });
    &text[end..]
}

fn brackets(inside: &str, to: &mut Vec<Step>) -> Result<(), String> {
    if inside.contains(',') {
        let mut paths = Vec::new();
        for part in inside.split(',') {
            let mut path = Vec::new();
            brackets(part.trim_matches(' '), &mut path)?;
            paths.push(path);
        }
        to.push(Step::Union(paths));
        return Ok(());
    }
    let quoted = inside.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    if let Some(key) = quoted.filter(|key| !key.contains('\'')) {
        // A quoted key is read as if it stood after a dot: dots in it need a backslash all the same.
        to.extend(steps(&format!(".{key}"))?);
        return Ok(());
    }
    let wrong = || format!("invalid array index {inside}");
    if inside == "*" {
        to.push(Step::Slice(Slice { end: End::Last, ..Slice::default() }));
        return Ok(());
    }
    let number = |text: &str| match text {
        "" => Ok(None),
        text if text.starts_with('+') => Err(wrong()),
        text => text.parse().map(Some).map_err(|_| wrong()),
    };
    let mut parts = inside.split(':');
    let start = number(parts.next().unwrap_or_default())?;
    let end = match parts.next() {
        None => End::One,
        Some(text) => number(text)?.map_or(End::Last, End::At),
    };
    let step = number(parts.next().unwrap_or_default())?;
    if parts.next().is_some() {
        return Err(wrong());
    }
    to.push(Step::Slice(Slice { start, end, step }));
    Ok(())
}

/// What follows `[?(`: one path, or a comparison; then what stands after `)]`.
fn filter_step(text: &str) -> Result<(Step, &str), String> {
    let end = filter_end(text).ok_or("unterminated filter")?;
    let after = text[end + 1..].strip_prefix(']').ok_or("unclosed array expect ]")?;
    let inside = &text[..end];
    let is_operator = |c| matches!(c, '!' | '<' | '>' | '=');
    let split = inside.find(is_operator).filter(|at| *at > 0);
    let Some(at) = split else {
        return Ok((Step::Filter { left: operand(inside)?, test: None }, after));
    };
    let (left, right) = inside.split_at(at);
    let length = right.find(|c| !is_operator(c)).ok_or("a comparison has two sides")?;
    let (operator, right) = right.split_at(length);
    let comparison = match operator {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        other => return Err(format!("unrecognized filter operator {other}")),
    };
    Ok((Step::Filter { left: operand(left)?, test: Some((comparison, operand(right)?)) }, after))
}

/// The `)` that ends a filter: the first that does not stand in quotes.
fn filter_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, ')') => return Some(index),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open && before != '\\' => quote = None,
            _ => {}
        }
        before = c;
    }
    None
}

fn operand(text: &str) -> Result<Operand, String> {
    let trimmed = text.trim_matches(' ');
    for quote in ['"', '\''] {
        if let Some(rest) = trimmed.strip_prefix(quote) {
            let inside = rest.strip_suffix(quote).ok_or("unterminated quoted string")?;
            return Ok(Operand::Literal(Value::String(unquote(inside)?)));
        }
    }
    if let Ok(value @ (Value::Bool(_) | Value::Number(_))) = serde_json::from_str(trimmed) {
        return Ok(Operand::Literal(value));
    }
    steps(trimmed).map(Operand::Path)
}

fn unquote(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(c @ ('\\' | '"' | '\'')) => out.push(c),
            _ => return Err(format!("unquote string {text}")),
        }
    }
    Ok(out)
}
