//! Label selectors: `app in (a, b), tier != web, !canary`.

/// The longest value of a label.
const MAX_VALUE_BYTES: usize = 63;

/// An invalid label selector.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LabelSelectorError {
    #[error("a requirement has no key")]
    NoKey,
    #[error(
        "invalid requirement `{0}`: use `KEY`, `!KEY`, `KEY=VALUE`, `KEY!=VALUE`, `KEY in (…)` or `KEY notin (…)`"
    )]
    Form(String),
    #[error("the values in `{0}` must be in parentheses")]
    Values(String),
}

/// The requirements of a selector; all of them must hold.
#[derive(Debug, Default)]
pub(super) struct Requirements(Vec<Requirement>);

#[derive(Debug)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    In(Vec<String>),
    /// Also true if the key is absent.
    NotIn(Vec<String>),
    GreaterThan(i64),
    LessThan(i64),
}

impl Requirements {
    /// Parses a selector; the empty text has no requirements.
    /// # Errors
    /// The first invalid requirement.
    /// Source: apimachinery 0.36 labels (`Parse`).
    pub(super) fn read(text: &str) -> Result<Self, LabelSelectorError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        pieces(text)
            .into_iter()
            .map(|piece| Requirement::read(piece.trim()))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if all requirements hold; `value` returns the value of a key.
    pub(super) fn matches<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.iter().all(|requirement| requirement.operator.matches(value(&requirement.key)))
    }
}

/// Splits at the commas outside parentheses.
fn pieces(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(move |each| {
        match each {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        each == ',' && depth == 0
    })
    .collect()
}

impl Requirement {
    fn read(text: &str) -> Result<Self, LabelSelectorError> {
        if let Some(key) = text.strip_prefix('!') {
            return Self::new(key, Operator::DoesNotExist, text);
        }
        for (operator, test) in [
            ("!=", Operator::NotIn as fn(Vec<String>) -> Operator),
            ("==", Operator::In),
            ("=", Operator::In),
        ] {
            if let Some((key, value)) = text.split_once(operator) {
                return Self::new(key, test(vec![parse_value(value, text)?]), text);
            }
        }
        for (operator, test) in
            [('>', Operator::GreaterThan as fn(i64) -> Operator), ('<', Operator::LessThan)]
        {
            if let Some((key, value)) = text.split_once(operator) {
                let number = value.trim().parse().map_err(|_| LabelSelectorError::Form(text.to_owned()))?;
                return Self::new(key, test(number), text);
            }
        }
        let (key, rest) =
            text.split_once([' ', '(']).map_or((text, ""), |(key, _)| (key, &text[key.len()..]));
        let rest = rest.trim();
        match (rest.strip_prefix("in"), rest.strip_prefix("notin")) {
            (Some(values), _) => Self::new(key, Operator::In(parse_values(values, text)?), text),
            (None, Some(values)) => Self::new(key, Operator::NotIn(parse_values(values, text)?), text),
            (None, None) if rest.is_empty() => Self::new(key, Operator::Exists, text),
            (None, None) => Err(LabelSelectorError::Form(text.to_owned())),
        }
    }

    fn new(key: &str, test: Operator, text: &str) -> Result<Self, LabelSelectorError> {
        let key = key.trim();
        if key.is_empty() {
            return Err(LabelSelectorError::NoKey);
        }
        if key.contains(|each: char| each.is_whitespace() || "!=<>(),".contains(each)) {
            return Err(LabelSelectorError::Form(text.to_owned()));
        }
        Ok(Self { key: key.to_owned(), operator: test })
    }
}

fn parse_values(values: &str, text: &str) -> Result<Vec<String>, LabelSelectorError> {
    let inner = values.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.ok_or_else(|| LabelSelectorError::Values(text.to_owned()))?;
    inner.split(',').map(|value| parse_value(value, text)).collect()
}

/// Reads the value of a label: letters and digits, with `-`, `_` and `.` between them.
fn parse_value(value: &str, text: &str) -> Result<String, LabelSelectorError> {
    let value = value.trim();
    let is_valid = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && !value.starts_with(['-', '_', '.'])
        && !value.ends_with(['-', '_', '.'])
        && value.len() <= MAX_VALUE_BYTES;
    if is_valid { Ok(value.to_owned()) } else { Err(LabelSelectorError::Form(text.to_owned())) }
}

impl Operator {
    fn matches(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|each| each == value)),
            Self::NotIn(values) => !value.is_some_and(|value| values.iter().any(|each| each == value)),
            Self::GreaterThan(limit) => number().is_some_and(|number| number > *limit),
            Self::LessThan(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}
