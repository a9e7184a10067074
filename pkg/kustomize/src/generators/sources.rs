//! Keys and values from environment files, literals and files.

use std::collections::HashMap;

use crate::kustomization::generators::Generator;
use crate::scope::Scope;

use super::GeneratorError;

pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: Vec<u8>,
    /// The source of the pair, such as `literals[0]`.
    source: String,
}

/// Reads all sources. Reports unreadable sources and repeated keys.
pub(super) fn read(scope: &mut Scope<'_, '_>, field: &str, generator: &Generator) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (index, path) in generator.envs.iter().enumerate() {
        let source = format!("envs[{index}]");
        read_env_file(scope, field, path, &source, &mut pairs);
    }
    for (index, literal) in generator.literals.iter().enumerate() {
        let source = format!("literals[{index}]");
        match split_literal(literal) {
            Some((key, value)) => pairs.push(Pair { key: key.to_owned(), value: value.into(), source }),
            None => scope.report(&format!("{field}.{source}"), GeneratorError::NotAPair),
        }
    }
    for (index, entry) in generator.files.iter().enumerate() {
        let source = format!("files[{index}]");
        let place = format!("{field}.{source}");
        let Some((key, path)) = split_file_source(entry) else {
            scope.report(&place, GeneratorError::NotAFileSource(entry.clone()));
            continue;
        };
        if let Some((_, bytes)) = scope.load(&place, path) {
            pairs.push(Pair { key: key.to_owned(), value: bytes.to_vec(), source });
        }
    }
    check_keys(scope, field, &pairs);
    pairs
}

fn read_env_file(scope: &mut Scope<'_, '_>, field: &str, path: &str, source: &str, pairs: &mut Vec<Pair>) {
    let place = format!("{field}.{source}");
    let Some((_, bytes)) = scope.load(&place, path) else { return };
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(line) = str::from_utf8(line) else {
            scope.report(&place, GeneratorError::NotText { file: path.to_owned(), line: index + 1 });
            continue;
        };
        let line = line.trim_start();
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if !key.is_empty() && !key.starts_with('#') {
            pairs.push(Pair { key: key.to_owned(), value: value.into(), source: source.to_owned() });
        }
    }
}

/// Splits a literal at the first `=`; removes one pair of quotes around the value.
fn split_literal(literal: &str) -> Option<(&str, &str)> {
    let (key, value) = literal.split_once('=').filter(|(key, _)| !key.is_empty())?;
    let unquoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    Some((key, unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value)))
}

/// Parses `path` or `key=path`; the key of a bare path is its last name.
fn split_file_source(entry: &str) -> Option<(&str, &str)> {
    let Some((key, path)) = entry.split_once('=') else {
        return Some((entry.trim_end_matches('/').rsplit('/').next()?, entry));
    };
    (!key.is_empty() && !path.is_empty() && !path.contains('=')).then_some((key, path))
}

/// Reports repeated keys, and warns about invalid ones.
/// Source of the key format: Kubernetes v1.36 apimachinery validation (IsConfigMapKey); kustomize prints any key.
fn check_keys(scope: &mut Scope<'_, '_>, field: &str, pairs: &[Pair]) {
    let mut seen: HashMap<&str, &str> = HashMap::with_capacity(pairs.len());
    for Pair { key, source, .. } in pairs {
        if let Some(first) = seen.insert(key, source) {
            let (key, first, second) = (key.clone(), first.to_owned(), source.clone());
            scope.report(field, GeneratorError::RepeatedKey { key, first, second });
        } else if !is_key(key) {
            scope.warn(&format!("{field}.{source}"), GeneratorError::InvalidKey(key.clone()));
        }
    }
}

fn is_key(key: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    key.len() <= 253 && key.bytes().all(is_legal) && key != "." && !key.starts_with("..")
}
