//! Versions, as Masterminds/semver 3.5 reads and orders them.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;

use crate::functions::{Arguments as _, table};
use crate::value::{Kind, Object, Shared, Signature, Value};

/// The longest version.
const LONGEST: usize = 256;

/// A version; minor and patch may be left out in the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Version {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pub(super) pre: String,
    metadata: String,
    original: String,
}

fn is_identifier(text: &str) -> bool {
    text.split('.')
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

impl Version {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        const INVALID: &str = "invalid semantic version";
        if text.len() > LONGEST {
            return Err(format!("version string is too long (max {LONGEST} bytes)"));
        }
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = rest.split_once('+').map_or((rest, None), |(rest, data)| (rest, Some(data)));
        let (numbers, pre) = rest.split_once('-').map_or((rest, None), |(rest, pre)| (rest, Some(pre)));
        let parts: Vec<&str> = numbers.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let has_valid_tails = [pre, metadata].into_iter().flatten().all(is_identifier);
        if parts.len() > 3 || !parts.iter().all(is_number) || !has_valid_tails {
            return Err(INVALID.to_owned());
        }
        let number = |index: usize| {
            parts.get(index).map_or(Ok(0), |part| {
                part.parse::<u64>().map_err(|_| {
                    let quoted = crate::format::quoted(part.as_bytes());
                    format!("error parsing version segment: strconv.ParseUint: parsing {quoted}: value out of range")
                })
            })
        };
        let pre = pre.unwrap_or_default();
        let starts_with_zero = |part: &str| {
            part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let (major, minor, patch) = (number(0)?, number(1)?, number(2)?);
        if pre.split('.').any(starts_with_zero) {
            return Err("version segment starts with 0".to_owned());
        }
        let metadata = metadata.unwrap_or_default().to_owned();
        Ok(Self { major, minor, patch, pre: pre.to_owned(), metadata, original: text.to_owned() })
    }

    /// Returns major, minor and patch.
    pub(super) fn numbers(&self) -> [u64; 3] {
        [self.major, self.minor, self.patch]
    }

    /// Orders versions; metadata does not count.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.numbers().cmp(&other.numbers()).then_with(|| compare_pre(&self.pre, &other.pre))
    }

    fn next(&self, part: &str) -> Self {
        let mut next = Self { pre: String::new(), metadata: String::new(), ..self.clone() };
        match part {
            "IncMajor" => (next.major, next.minor, next.patch) = (self.major.saturating_add(1), 0, 0),
            "IncMinor" => (next.minor, next.patch) = (self.minor.saturating_add(1), 0),
            _ if self.pre.is_empty() => next.patch = self.patch.saturating_add(1),
            _ => {}
        }
        next.with_original(&self.original)
    }

    /// Keeps the `v` of the text that a version comes from.
    fn with_original(self, original: &str) -> Self {
        let prefix = if original.starts_with('v') { "v" } else { "" };
        Self { original: format!("{prefix}{self}"), ..self }
    }
}

/// Orders pre-releases; none is later than any.
pub(super) fn compare_pre(left: &str, right: &str) -> Ordering {
    if left.is_empty() || right.is_empty() {
        return left.is_empty().cmp(&right.is_empty());
    }
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => match (left.parse::<u64>(), right.parse::<u64>()) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => left.cmp(right),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// The methods with the letters of their parameters.
const METHODS: &[(&str, &str)] = &[
    ("Major", ""),
    ("Minor", ""),
    ("Patch", ""),
    ("Prerelease", ""),
    ("Metadata", ""),
    ("Original", ""),
    ("String", ""),
    ("IncMajor", ""),
    ("IncMinor", ""),
    ("IncPatch", ""),
    ("SetPrerelease", "s"),
    ("SetMetadata", "s"),
    ("Compare", "v"),
    ("Equal", "v"),
    ("LessThan", "v"),
    ("LessThanEqual", "v"),
    ("GreaterThan", "v"),
    ("GreaterThanEqual", "v"),
];

impl Object for Version {
    fn type_name(&self) -> &'static str {
        "*semver.Version"
    }

    fn kind(&self) -> Kind {
        Kind::Ptr
    }

    fn method(&self, name: &str) -> Option<Signature> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, letters)| table::signature(letters))
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let other = if let Value::Object(object) = args.value(0) {
            object.as_any().downcast_ref::<Self>().map(|other| self.compare(other))
        } else {
            None
        };
        let order = other.unwrap_or(Ordering::Equal);
        let shared = |version| Ok(Value::Object(Shared::new(version)));
        match name {
            "Major" => Ok(Value::Uint64(self.major)),
            "Minor" => Ok(Value::Uint64(self.minor)),
            "Patch" => Ok(Value::Uint64(self.patch)),
            "Prerelease" => Ok(self.pre.as_str().into()),
            "Metadata" => Ok(self.metadata.as_str().into()),
            "Original" => Ok(self.original.as_str().into()),
            "String" => Ok(self.to_string().into()),
            "SetPrerelease" => {
                shared(Self { pre: args.utf8(0).into_owned(), ..self.clone() }.with_original(&self.original))
            }
            "SetMetadata" => shared(
                Self { metadata: args.utf8(0).into_owned(), ..self.clone() }.with_original(&self.original),
            ),
            "Compare" => Ok(Value::Int(order as i64)),
            "Equal" => Ok(order.is_eq().into()),
            "LessThan" => Ok(order.is_lt().into()),
            "LessThanEqual" => Ok(order.is_le().into()),
            "GreaterThan" => Ok(order.is_gt().into()),
            "GreaterThanEqual" => Ok(order.is_ge().into()),
            _ => shared(self.next(name)),
        }
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn plain(&self) -> Value {
        self.to_string().into()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| {
            self.compare(other).is_eq() && self.metadata == other.metadata && self.original == other.original
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
