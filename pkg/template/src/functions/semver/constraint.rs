//! Constraints on versions.
//!
//! Source: Masterminds/semver 3.5 constraints.go.

use super::version::{Version, compare_pre};

/// The longest constraint, and the most alternatives.
const LONGEST: usize = 512;
const ALTERNATIVES: usize = 32;

/// Alternatives, of which one must hold.
#[derive(Debug)]
pub(super) struct Constraints(Vec<Group>);

/// Conditions that must all hold.
#[derive(Debug)]
struct Group {
    conditions: Vec<Condition>,
    /// True if a condition names a pre-release; only then pre-releases are allowed.
    has_pre: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

#[derive(Debug)]
struct Condition {
    operator: Operator,
    /// The version, with zeros instead of wildcards.
    bound: Version,
    /// The count of numbers before the first wildcard: 3 for a full version.
    given: usize,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterEqual),
    ("=>", Operator::GreaterEqual),
    ("<=", Operator::LessEqual),
    ("=<", Operator::LessEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Constraints {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("constraint string is too long (max {LONGEST} bytes)"));
        }
        let text = with_ranges(text);
        let alternatives: Vec<&str> = text.split("||").collect();
        if alternatives.len() > ALTERNATIVES {
            return Err(format!("too many constraint groups (max {ALTERNATIVES})"));
        }
        alternatives.into_iter().map(Group::parse).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn allow(&self, version: &Version) -> bool {
        let allows =
            |group: &Group| group.conditions.iter().all(|condition| condition.allows(version, group.has_pre));
        self.0.iter().any(allows)
    }
}

/// Replaces `1.2 - 2.3` by `>= 1.2, <= 2.3`.
fn with_ranges(text: &str) -> String {
    let mut out = text.to_owned();
    let mut from = 0;
    while let Some(at) = out[from..].find(" - ").map(|at| at + from) {
        let left = out[..at].trim_end().rsplit([' ', ',', '|']).next().unwrap_or_default();
        let after = out[at + 3..].trim_start();
        let right = &after[..after.find([' ', ',', '|']).unwrap_or(after.len())];
        if !is_version(left) || !is_version(right) {
            from = at + 3;
            continue;
        }
        let start = out[..at].trim_end().len() - left.len();
        let end = out.len() - after.len() + right.len();
        let range = format!(">= {left}, <= {right} ");
        out.replace_range(start..end, &range);
        from = start + range.len();
    }
    out
}

/// True for a version that may have wildcards.
fn is_version(text: &str) -> bool {
    version_length(text) == Some(text.len())
}

/// Returns the length of the version at the start of a text.
fn version_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|');
    let part = |at: usize| bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    let mut at = usize::from(text.starts_with('v'));
    let major = part(at);
    if major == 0 {
        return None;
    }
    at += major;
    for _ in 0..2 {
        if bytes.get(at) != Some(&b'.') || part(at + 1) == 0 {
            break;
        }
        at += 1 + part(at + 1);
    }
    for mark in [b'-', b'+'] {
        if bytes.get(at) != Some(&mark) {
            continue;
        }
        let is_tail = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let mut length = bytes[at + 1..].iter().take_while(|byte| is_tail(byte)).count();
        while length > 0 && bytes[at + length] == b'.' {
            length -= 1;
        }
        if length > 0 {
            at += 1 + length;
        }
    }
    Some(at)
}

impl Group {
    fn parse(text: &str) -> Result<Self, String> {
        let improper = || format!("improper constraint: {}", crate::format::quoted(text.as_bytes()));
        let mut conditions = Vec::new();
        let mut rest = text.trim_start();
        if rest.is_empty() {
            return Err(improper());
        }
        while !rest.is_empty() {
            let (operator, after) = OPERATORS
                .iter()
                .find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)))
                .unwrap_or((Operator::Equal, rest));
            let after = after.trim_start();
            let length = version_length(after).ok_or_else(improper)?;
            conditions.push(Condition::new(operator, &after[..length])?);
            let next = after[length..].trim_start();
            let has_space = next.len() < after.len() - length;
            rest = match next.strip_prefix(',') {
                Some(next) if next.trim_start().is_empty() => return Err(improper()),
                Some(next) => next.trim_start(),
                None if next.is_empty() || has_space => next,
                None => return Err(improper()),
            };
        }
        let has_pre = conditions.iter().any(|condition| !condition.bound.pre.is_empty());
        Ok(Self { conditions, has_pre })
    }
}

impl Condition {
    fn new(operator: Operator, text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix('v').unwrap_or(text);
        let (numbers, tail) = plain.split_at(plain.find(['-', '+']).unwrap_or(plain.len()));
        let is_given = |part: &&str| !matches!(*part, "x" | "X" | "*");
        let mut parts: Vec<&str> = numbers.split('.').take_while(is_given).collect();
        let given = parts.len();
        let full = if given < 3 {
            parts.resize(3, "0");
            let pre = tail.split('+').next().unwrap_or_default();
            format!("{}{pre}", parts.join("."))
        } else {
            plain.to_owned()
        };
        let bound = Version::parse(&full).map_err(|_| "constraint parser error".to_owned())?;
        Ok(Self { operator, bound, given })
    }

    fn allows(&self, version: &Version, with_pre: bool) -> bool {
        if !version.pre.is_empty() && !with_pre {
            return false;
        }
        let order = version.compare(&self.bound);
        let leading = |count: usize| version.numbers()[..count].cmp(&self.bound.numbers()[..count]);
        match (self.operator, self.given) {
            (Operator::Equal, 3) => order.is_eq(),
            (Operator::Equal | Operator::Tilde, _) => order.is_ge() && leading(self.equal_by_tilde()).is_eq(),
            (Operator::Caret, _) => order.is_ge() && leading(self.equal_by_caret()).is_eq(),
            (Operator::NotEqual, 1) => leading(1).is_ne(),
            (Operator::NotEqual, 2) => {
                leading(2).is_ne() || compare_pre(&version.pre, &self.bound.pre).is_ne()
            }
            (Operator::NotEqual, _) => order.is_ne(),
            (Operator::Greater, 1 | 2) => leading(self.given).is_gt(),
            (Operator::Greater, _) => order.is_gt(),
            (Operator::GreaterEqual, _) => order.is_ge(),
            (Operator::Less, _) => order.is_lt(),
            (Operator::LessEqual, 0) => leading(2).is_le(),
            (Operator::LessEqual, 1 | 2) => leading(self.given).is_le(),
            (Operator::LessEqual, _) => order.is_le(),
        }
    }

    /// The count of leading numbers that `~` keeps: up to the minor version, but none of `~0.0.0`.
    fn equal_by_tilde(&self) -> usize {
        match self.given {
            3 if self.bound.numbers() == [0; 3] => 0,
            given => given.min(2),
        }
    }

    /// The count of leading numbers that `^` keeps: up to the first that is not zero, but no wildcard.
    fn equal_by_caret(&self) -> usize {
        let zeros = self.bound.numbers().iter().take_while(|number| **number == 0).count();
        let most = if self.given == 0 { 3 } else { self.given };
        (zeros + 1).min(most)
    }
}
