//! Label selectors: `a=b,c in (d,e),!f`, and the form in specs (`matchLabels`, `matchExpressions`).

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

use crate::{
    meta::{label_key_problems, label_value_problems},
    status::{FieldError, FieldErrors, Status},
};

/// The operators in the parser's error message, in its order; `gt` and `lt` are written `>` and `<`.
const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// A parsed `labelSelector`. Requirements are sorted by key, in the real server's print order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
    /// True if the selector matches no object, like a missing selector in a spec.
    nothing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted and without duplicates.
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    Equals,
    DoubleEquals,
    NotEquals,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

impl LabelSelector {
    /// Parses a selector such as `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`.
    /// Errors: 400 with the real server's message.
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        let mut requirements = Parser::new(text).requirements().map_err(Status::bad_request)?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements, nothing: false })
    }

    /// Parses a `metav1.LabelSelector` (`matchLabels`, `matchExpressions`) of a spec. A missing selector (null) matches
    /// nothing, an empty one everything. An unknown operator, which no server stores, makes the selector match nothing.
    pub(crate) fn of_object(selector: &Value) -> Self {
        if selector.is_null() {
            return Self { requirements: Vec::new(), nothing: true };
        }
        let mut requirements = equalities(&selector["matchLabels"]);
        for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
            let Some(requirement) = of_expression(expression) else {
                return Self { requirements: Vec::new(), nothing: true };
            };
            requirements.push(requirement);
        }
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Self { requirements, nothing: false }
    }

    /// Parses a plain map of labels, the selector of Services and ReplicationControllers.
    pub(crate) fn of_map(labels: &Value) -> Self {
        Self { requirements: equalities(labels), nothing: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    pub(crate) fn matches(&self, labels: &[(Box<str>, Box<str>)]) -> bool {
        self.matches_with(|key| labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value))
    }

    pub(crate) fn matches_object(&self, object: &Value) -> bool {
        self.matches_with(|key| object["metadata"]["labels"].get(key)?.as_str())
    }

    fn matches_with<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing
            && self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }
}

/// Prints the selector as in the real server's tables: parsable and sorted; empty if everything or nothing matches.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

fn equalities(labels: &Value) -> Vec<Requirement> {
    let labels = labels.as_object().into_iter().flatten();
    labels
        .map(|(key, value)| Requirement {
            key: key.clone(),
            operator: Operator::Equals,
            values: vec![value.as_str().unwrap_or_default().to_owned()],
        })
        .collect()
}

fn of_expression(expression: &Value) -> Option<Requirement> {
    let operator = match expression["operator"].as_str()? {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        _ => return None,
    };
    let values = expression["values"].as_array().into_iter().flatten();
    let values: BTreeSet<_> = values.filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Requirement {
        key: expression["key"].as_str()?.to_owned(),
        operator,
        values: values.into_iter().collect(),
    })
}

impl Requirement {
    /// Creates a requirement and validates its values. The parser already validated the key.
    fn checked(key: String, operator: Operator, values: BTreeSet<String>) -> Result<Self, String> {
        let values: Vec<_> = values.into_iter().collect();
        let mut errors = Vec::new();
        if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
            let texts = values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err());
            errors.extend(texts.map(|(index, value)| {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                FieldError::invalid(format!("values[{index}]"), value.as_str(), detail)
            }));
        }
        for (index, value) in values.iter().enumerate() {
            let problems = label_value_problems(value);
            if !problems.is_empty() {
                let path = format!("values[{index}][{key}]");
                errors.invalid(path, value.as_str(), problems.join("; "));
            }
        }
        match &errors[..] {
            [] => Ok(Self { key, operator, values }),
            [error] => Err(error.to_string()),
            errors => {
                Err(format!("[{}]", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")))
            }
        }
    }

    fn matches(&self, label: Option<&str>) -> bool {
        let listed = |label: &str| self.values.iter().any(|value| value == label);
        match self.operator {
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::Equals | Operator::DoubleEquals | Operator::In => label.is_some_and(listed),
            Operator::NotEquals | Operator::NotIn => !label.is_some_and(listed),
            Operator::GreaterThan => self.compares(label, |label, value| label > value),
            Operator::LessThan => self.compares(label, |label, value| label < value),
        }
    }

    fn compares(&self, label: Option<&str>, test: impl Fn(i64, i64) -> bool) -> bool {
        let number = |text: Option<&str>| text?.parse::<i64>().ok();
        match (number(label), number(self.values.first().map(String::as_str))) {
            (Some(label), Some(value)) => test(label, value),
            _ => false,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

/// Parser over tokens. A token is a piece of the text: `(`, `==`, or a word. The empty token marks the end.
struct Parser<'a> {
    rest: &'a str,
}

fn is_symbol(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.starts_with(is_symbol)
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.trim_start_matches(is_space) }
    }

    fn peek(&self) -> &'a str {
        let rest = self.rest;
        let length = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if rest.starts_with(is_symbol) {
            1
        } else {
            rest.find(|c| is_symbol(c) || is_space(c)).unwrap_or(rest.len())
        };
        &rest[..length]
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.rest = self.rest[token.len()..].trim_start_matches(is_space);
        token
    }

    fn requirements(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        let starts = |token: &str| is_word(token) || token == "!";
        match self.peek() {
            "" => return Ok(requirements),
            token if !starts(token) => {
                return Err(format!("found '{token}', expected: !, identifier, or 'end of string'"));
            }
            _ => {}
        }
        loop {
            let requirement =
                self.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
            requirements.push(requirement);
            match self.next() {
                "" => return Ok(requirements),
                "," if starts(self.peek()) => {}
                "," => return Err(format!("found '{}', expected: identifier after ','", self.peek())),
                token => return Err(format!("found '{token}', expected: ',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut key = self.next();
        let negated = key == "!";
        if negated {
            key = self.next();
        }
        if !is_word(key) {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let problems = label_key_problems(key);
        if !problems.is_empty() {
            // The real server prints `<nil>` for the missing path.
            return Err(FieldError::invalid("<nil>", key, problems.join("; ")).to_string());
        }
        let key = key.to_owned();
        if negated {
            return Ok(Requirement { key, operator: Operator::DoesNotExist, values: Vec::new() });
        }
        if matches!(self.peek(), "" | ",") {
            return Ok(Requirement { key, operator: Operator::Exists, values: Vec::new() });
        }
        let operator = match self.next() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            "=" => Operator::Equals,
            "==" => Operator::DoubleEquals,
            "!=" => Operator::NotEquals,
            ">" => Operator::GreaterThan,
            "<" => Operator::LessThan,
            token => return Err(format!("found '{token}', expected: {OPERATORS}")),
        };
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => BTreeSet::from([self.value()?]),
        };
        Requirement::checked(key, operator, values)
    }

    fn value(&mut self) -> Result<String, String> {
        if matches!(self.peek(), "" | ",") {
            return Ok(String::new());
        }
        match self.next() {
            token if is_word(token) => Ok(token.to_owned()),
            token => Err(format!("found '{token}', expected: identifier")),
        }
    }

    /// Parses a list in brackets. An empty item between two commas is the empty value.
    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        let open = self.next();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        match self.peek() {
            ")" => {
                self.next();
                return Ok(BTreeSet::from([String::new()]));
            }
            token if is_word(token) || token == "," => {}
            token => return Err(format!("found '{token}', expected: ',', ')' or identifier")),
        }
        let mut values = BTreeSet::new();
        loop {
            match self.next() {
                "," => {
                    let next = self.peek();
                    if values.is_empty() || next == "," || next == ")" {
                        values.insert(String::new());
                    }
                }
                token if is_word(token) => {
                    values.insert(token.to_owned());
                    if !matches!(self.peek(), "," | ")") {
                        return Err(format!("found '{}', expected: ',' or ')'", self.peek()));
                    }
                }
                token => return Err(format!("found '{token}', expected: ',', or identifier")),
            }
            if self.peek() == ")" {
                self.next();
                return Ok(values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Box<[(Box<str>, Box<str>)]> {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (key.into(), value.into())).collect()
    }

    fn error(text: &str) -> String {
        let status = LabelSelector::parse(text).unwrap_err();
        assert_eq!((status.code, &*status.reason), (400, "BadRequest"));
        status.message
    }

    #[test]
    fn a_selector_matches_only_described_labels() {
        for (selector, taken, left) in [
            ("", "", "-"),
            ("a=b", "a=b,c=d", "a=c"),
            ("a==b", "a=b", ""),
            ("a=", "a=", "a=b"),
            ("a!=b", "a=c", "a=b"),
            ("a!=b", "", "a=b"),
            ("a in (b, c)", "a=c", "a=d"),
            ("a in (,b)", "a=", "a=c"),
            ("a notin (b,c)", "", "a=b"),
            ("a notin()", "", "a="),
            ("a", "a=x", "b=x"),
            ("!a", "b=x", "a=x"),
            ("a>5,a<10", "a=7", "a=10"),
            ("a>5", "a=6", "a=x"),
            ("in in (in,notin)", "in=notin", "in=a"),
            ("notin=a", "notin=a", ""),
            ("a=b,c=d", "a=b,c=d", "a=b"),
        ] {
            let parsed = LabelSelector::parse(selector).unwrap();
            assert!(parsed.matches(&labels(taken)), "`{selector}` takes `{taken}`");
            assert!(left == "-" || !parsed.matches(&labels(left)), "`{selector}` leaves `{left}`");
        }
    }

    #[test]
    fn selector_errors_have_the_text_of_the_real_server() {
        let key = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                   alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                   '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        for (selector, words) in [
            ("a=b,", "found '', expected: identifier after ','"),
            ("a in", "unable to parse requirement: found '' expected: '('"),
            ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
            ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("x in (a!)", "unable to parse requirement: found '!', expected: ',' or ')'"),
            (",a", "found ',', expected: !, identifier, or 'end of string'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"),
            ("!a=b", "found '=', expected: ',' or 'end of string'"),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("a=b,!", "unable to parse requirement: found '', expected: identifier"),
            ("!!a", "unable to parse requirement: found '!', expected: identifier"),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            (
                "/b",
                "unable to parse requirement: <nil>: Invalid value: \"/b\": prefix part must be non-empty",
            ),
            (
                "a>",
                "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must \
                 be an integer",
            ),
            ("&", &format!("unable to parse requirement: <nil>: Invalid value: \"&\": name part {key}")),
        ] {
            assert_eq!(error(selector), words, "{selector}");
        }
    }

    #[test]
    fn every_invalid_selector_value_is_named() {
        let words = error("a in (-b,-c)");
        assert!(
            words.starts_with(
                "unable to parse requirement: [values[0][a]: Invalid value: \"-b\": a valid label"
            )
        );
        assert!(words.contains("), values[1][a]: Invalid value: \"-c\": a valid label"), "{words}");
        assert!(words.ends_with("[A-Za-z0-9])?')]"), "{words}");
    }

    #[test]
    fn a_missing_selector_matches_nothing_and_an_empty_one_all() {
        assert!(!LabelSelector::of_object(&Value::Null).matches(&[]));
        assert!(!LabelSelector::of_object(&Value::Null).is_empty());
        assert!(LabelSelector::of_object(&serde_json::json!({})).matches(&[]));
        assert!(LabelSelector::of_object(&serde_json::json!({})).is_empty());
    }

    #[test]
    fn a_spec_selector_is_printed_sorted() {
        let selector = serde_json::json!({
            "matchLabels": {"z": "1", "b": "2"},
            "matchExpressions": [
                {"key": "a", "operator": "NotIn", "values": ["y", "x"]},
                {"key": "c", "operator": "DoesNotExist"},
                {"key": "d", "operator": "Exists"},
            ],
        });
        let selector = LabelSelector::of_object(&selector);
        assert_eq!(selector.to_string(), "a notin (x,y),b=2,!c,d,z=1");
        assert!(selector.matches(&labels("b=2,z=1,d=")));
        assert!(!selector.matches(&labels("b=2,z=1,d=,a=x")));
    }
}
