//! Label selectors: `app in (a, b), tier != web, !canary`.

/// An invalid label selector.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabelSelectorProblem {
    #[error("a requirement has no key")]
    NoKey,
    #[error("`{0}` is none of `KEY`, `!KEY`, `KEY=VALUE`, `KEY!=VALUE`, `KEY in (…)`, `KEY notin (…)`")]
    Form(String),
    #[error("the values in `{0}` need parentheses around them")]
    Values(String),
}

/// The requirements of a selector; all of them must hold.
#[derive(Debug, Default)]
pub(super) struct Requirements(Vec<Requirement>);

#[derive(Debug)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, PartialEq, Eq)]
enum Test {
    Present,
    Absent,
    In(Vec<String>),
    /// Also true if the key is absent.
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

impl Requirements {
    /// Parses a selector; the empty text has no requirements.
    /// # Errors
    /// The first invalid requirement.
    /// Source: apimachinery 0.36 labels (`Parse`).
    pub(super) fn read(text: &str) -> Result<Self, LabelSelectorProblem> {
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
    pub(super) fn fit<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.iter().all(|requirement| requirement.test.holds(value(&requirement.key)))
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
    fn read(text: &str) -> Result<Self, LabelSelectorProblem> {
        if let Some(key) = text.strip_prefix('!') {
            return Self::new(key, Test::Absent, text);
        }
        for (operator, test) in
            [("!=", Test::NotIn as fn(Vec<String>) -> Test), ("==", Test::In), ("=", Test::In)]
        {
            if let Some((key, value)) = text.split_once(operator) {
                return Self::new(key, test(vec![value.trim().to_owned()]), text);
            }
        }
        for (operator, test) in [('>', Test::Above as fn(i64) -> Test), ('<', Test::Below)] {
            if let Some((key, value)) = text.split_once(operator) {
                let number = value.trim().parse().map_err(|_| LabelSelectorProblem::Form(text.to_owned()))?;
                return Self::new(key, test(number), text);
            }
        }
        let (key, rest) =
            text.split_once([' ', '(']).map_or((text, ""), |(key, _)| (key, &text[key.len()..]));
        let rest = rest.trim();
        match (rest.strip_prefix("in"), rest.strip_prefix("notin")) {
            (Some(values), _) => Self::new(key, Test::In(listed(values, text)?), text),
            (None, Some(values)) => Self::new(key, Test::NotIn(listed(values, text)?), text),
            (None, None) if rest.is_empty() => Self::new(key, Test::Present, text),
            (None, None) => Err(LabelSelectorProblem::Form(text.to_owned())),
        }
    }

    fn new(key: &str, test: Test, text: &str) -> Result<Self, LabelSelectorProblem> {
        let key = key.trim();
        if key.is_empty() {
            return Err(LabelSelectorProblem::NoKey);
        }
        if key.contains(|each: char| each.is_whitespace() || "!=<>(),".contains(each)) {
            return Err(LabelSelectorProblem::Form(text.to_owned()));
        }
        Ok(Self { key: key.to_owned(), test })
    }
}

fn listed(values: &str, text: &str) -> Result<Vec<String>, LabelSelectorProblem> {
    let inner = values.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.ok_or_else(|| LabelSelectorProblem::Values(text.to_owned()))?;
    Ok(inner.split(',').map(|value| value.trim().to_owned()).collect())
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Present => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|each| each == value)),
            Self::NotIn(values) => !value.is_some_and(|value| values.iter().any(|each| each == value)),
            Self::Above(limit) => number().is_some_and(|number| number > *limit),
            Self::Below(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}
