//! Paths into objects: the part of kubectl's JSONPath that custom resource definitions use for printer columns and
//! selectable fields.
//!
//! Source: client-go 1.36 `util/jsonpath`, without braces: `.spec.list[0].name`, `.metadata.labels['a\.b/c']`,
//! `.status.conditions[?(@.type=="Ready")].status`, `.a[*]`, `.a.*`. Deliberately absent: descent (`..a`), slices,
//! unions, ordering operators in filters, `range`, and text around paths. A column with such a path is omitted.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

/// One step of a path, which maps values to values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `.name`
    Field(String),
    /// `.*`
    Wildcard,
    /// `[1]`; negative numbers count from the end of the list.
    Item(i64),
    /// `[*]`
    Items,
    /// `[?(@.type=="Ready")]`, `[?(@.type!="Ready")]`, `[?(@.name)]`
    Filter { path: JsonPath, test: Option<(bool, Value)> },
}

impl JsonPath {
    /// Parses a path such as `.spec.replicas`. `None` if the path is invalid or unsupported.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mut steps, mut rest) = (Vec::new(), text);
        while let Some(c) = rest.chars().next() {
            if let Some(filter) = rest.strip_prefix("[?(") {
                let (inside, after) = filter.split_once(")]")?;
                steps.push(filter_step(inside)?);
                rest = after;
            } else if let Some(inside) = rest.strip_prefix('[') {
                let (inside, after) = inside.split_once(']')?;
                let quoted = inside.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
                match quoted.filter(|key| !key.contains('\'')) {
                    // A quoted key is read as if it followed a dot: dots in the key need a backslash too.
                    Some(key) => steps.extend(Self::parse(&format!(".{key}"))?.steps),
                    None if inside == "*" => steps.push(Step::Items),
                    None => steps.push(Step::Item(inside.parse().ok()?)),
                }
                rest = after;
            } else if let Some(name) = rest.strip_prefix('.').filter(|name| !name.starts_with('.')) {
                rest = field(name, &mut steps);
            } else if matches!(c, ' ' | '@' | '$') {
                rest = &rest[1..];
            } else {
                return None;
            }
        }
        Some(Self { steps })
    }

    /// Returns the values at the path, in the order of the object. `None` if the path does not fit the value, such as
    /// an index beyond the end of a list. A missing field fits and yields no value.
    pub(crate) fn find<'a>(&'a self, value: &'a Value) -> Option<Vec<&'a Value>> {
        let mut values = vec![value];
        for step in &self.steps {
            let mut found = Vec::new();
            for value in values {
                step.select(value, &mut found)?;
            }
            values = found;
        }
        Some(values)
    }
}

impl Step {
    fn select<'a>(&'a self, value: &'a Value, found: &mut Vec<&'a Value>) -> Option<()> {
        match self {
            Self::Field(name) => found.extend(value.get(name)),
            Self::Wildcard => match value {
                Value::Object(fields) => found.extend(fields.values()),
                Value::Array(items) => found.extend(items),
                _ => {}
            },
            Self::Item(_) | Self::Items if value.is_null() => {}
            Self::Items => found.extend(value.as_array()?),
            Self::Item(index) => {
                let items = value.as_array()?;
                let index = if *index < 0 { index + i64::try_from(items.len()).ok()? } else { *index };
                found.push(items.get(usize::try_from(index).ok()?)?);
            }
            Self::Filter { path, test } => {
                for item in value.as_array()? {
                    let left = path.find(item).unwrap_or_default();
                    let passes = match test {
                        None => !left.is_empty(),
                        Some((equal, right)) => left.first().is_some_and(|left| (*left == right) == *equal),
                    };
                    found.extend(passes.then_some(item));
                }
            }
        }
        Some(())
    }
}

/// Reads a name up to its terminator. A backslash makes the next character part of the name.
fn field<'a>(text: &'a str, steps: &mut Vec<Step>) -> &'a str {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((index, c)) = chars.next() {
        if c == '\\' {
            name.extend(chars.next().map(|(_, c)| c));
        } else if matches!(c, ' ' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}') {
            end = index;
            break;
        } else {
            name.push(c);
        }
    }
    steps.push(if &text[..end] == "*" { Step::Wildcard } else { Step::Field(name) });
    &text[end..]
}

/// Reads one path, or its comparison with a string, a number or a boolean.
fn filter_step(text: &str) -> Option<Step> {
    let comparison =
        ["==", "!="].into_iter().find_map(|operator| Some((operator == "==", text.split_once(operator)?)));
    let Some((equal, (left, right))) = comparison else {
        if text.contains(['<', '>', '=']) {
            return None;
        }
        return Some(Step::Filter { path: JsonPath::parse(text.trim())?, test: None });
    };
    let right = right.trim();
    let quoted = right.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let literal = quoted.map_or_else(|| serde_json::from_str(right).ok(), |text| Some(text.into()))?;
    Some(Step::Filter { path: JsonPath::parse(left.trim())?, test: Some((equal, literal)) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_selects_the_same_values_as_the_real_server() {
        let object = json!({
            "labels": {"a.b/c": "label"},
            "text": "hello", "nil": null, "list": ["l0", "l1", "l2"], "empty": [],
            "one": {"only": "yes"}, "inner": {"deep": "down"},
            "objs": [{"name": "a", "n": 1}, {"name": "b", "n": 2, "m": 1, "b": true}, {"name": "c", "n": 3}],
        });
        for (path, expected) in [
            (".text", Some(json!(["hello"]))),
            (".inner .deep", Some(json!(["down"]))),
            (".missing.x", Some(json!([]))),
            (".text.x", Some(json!([]))),
            (".nil", Some(json!([null]))),
            (".nil[0]", Some(json!([]))),
            (".", Some(json!([]))),
            (".list[1]", Some(json!(["l1"]))),
            (".list[-1]", Some(json!(["l2"]))),
            (".list[9]", None),
            (".list[-9]", None),
            (".one[0]", None),
            (".list[*]", Some(json!(["l0", "l1", "l2"]))),
            (".empty[*]", Some(json!([]))),
            (r".labels.a\.b/c", Some(json!(["label"]))),
            (r".labels['a\.b/c']", Some(json!(["label"]))),
            (".labels['a.b/c']", Some(json!([]))),
            (".one.*", Some(json!(["yes"]))),
            (".objs[?(@.n==\"1\")].name", Some(json!([]))),
            (".objs[?(@.m)].name", Some(json!(["b"]))),
            (".objs[?(@.b==true)].name", Some(json!(["b"]))),
            (".objs[?(@.name!='a')].name", Some(json!(["b", "c"]))),
            (".objs[?(@.zzz==\"b\")].name", Some(json!([]))),
            (".objs[?( @.name == \"b\" )].n", Some(json!([2]))),
            (".one[?(@.b==true)].name", None),
        ] {
            let parsed = JsonPath::parse(path).unwrap_or_else(|| panic!("`{path}`"));
            assert_eq!(parsed.find(&object).map(|found| json!(found)), expected, "{path}");
        }
    }

    #[test]
    fn an_invalid_path_is_an_error() {
        for path in [
            ".a[",
            ".a[b]",
            ".a[1:2]",
            ".a[?(@.b",
            ".a[?(@.b)",
            ".a[?(@.b=<1)]",
            ".a}",
            "range",
            "a.b",
            ".a[-]",
            ".a[99999999999999999999]",
            "....",
            ".a[?(@.b==\"x)]",
            "\"text\"",
            "..a",
            ".a[0,1]",
        ] {
            assert!(JsonPath::parse(path).is_none(), "{path}");
        }
    }
}
