//! Paths into objects: the part of kubectl's JSONPath that custom resource definitions may use for printer columns and
//! selectable fields.
//!
//! Source: client-go 1.36 `util/jsonpath`, read without braces: `.spec.list[0].name`, `.metadata.labels['a\.b/c']`,
//! `.status.conditions[?(@.type=="Ready")].status`, `.a[1:3]`, `.a[*]`, `.a.*`, `..a`, `.a['b','c']`.
//! Deliberately absent: `range`, text beside paths, and what else belongs to templates.

mod parse;

use std::cmp::Ordering;

use serde_json::Value;

/// A path that leads to more values than this, on the way or in the end, does not fit.
const MOST_VALUES: usize = 1_000_000;

/// A parsed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

/// From some values to others.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `.name`
    Field(String),
    /// `.*`
    Wildcard,
    /// `..`: everything below that has something in it, parents before children.
    Descend,
    /// `[1]`, `[1:3]`, `[::2]`, `[*]`
    Slice(Slice),
    /// `['a','b']`, `[0,2]`
    Union(Vec<Vec<Step>>),
    /// `[?(@.type=="Ready")]`, `[?(@.name)]`
    Filter { left: Operand, test: Option<(Comparison, Operand)> },
}

/// A part of a list; negative numbers count from its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slice {
    start: Option<i64>,
    end: End,
    step: Option<i64>,
}

/// Where a [`Slice`] ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// After one item.
    #[default]
    One,
    /// Before this item.
    At(i64),
    /// With the list.
    Last,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The path does not fit the value: an index beyond the end, a list that is none, a comparison of unlike things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unfit;

impl JsonPath {
    /// Reads a path such as `.spec.replicas`.
    ///
    /// # Errors
    /// One phrase that says what cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse::steps(text).map(|steps| Self { steps })
    }

    /// What the path leads to, in the order of the object; fields of an object are sorted by name. `None` when the path
    /// does not fit the value, such as an index beyond the end of a list; missing fields fit and lead to nothing.
    pub(crate) fn find<'a>(&'a self, value: &'a Value) -> Option<Vec<&'a Value>> {
        walk(vec![value], &self.steps).ok()
    }
}

fn walk<'a>(mut values: Vec<&'a Value>, steps: &'a [Step]) -> Result<Vec<&'a Value>, Unfit> {
    for step in steps {
        values = step.from(&values)?;
    }
    Ok(values)
}

impl Step {
    fn from<'a>(&'a self, values: &[&'a Value]) -> Result<Vec<&'a Value>, Unfit> {
        let found = match self {
            Self::Field(name) => values.iter().filter_map(|value| value.get(name)).collect(),
            Self::Wildcard => values.iter().flat_map(|value| children(value)).collect(),
            Self::Descend => descendants(values)?,
            Self::Slice(slice) => {
                let mut found = Vec::new();
                for value in values.iter().filter(|value| !value.is_null()) {
                    slice.of(value.as_array().ok_or(Unfit)?, &mut found)?;
                }
                found
            }
            Self::Union(paths) => {
                let mut found = Vec::new();
                for path in paths {
                    found.extend(walk(values.to_vec(), path)?);
                    check_count(&found)?;
                }
                found
            }
            Self::Filter { left, test } => {
                let mut found = Vec::new();
                for value in values {
                    for item in value.as_array().ok_or(Unfit)? {
                        if passes(item, left, test.as_ref())? {
                            found.push(item);
                        }
                    }
                }
                found
            }
        };
        Ok(found)
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

fn descendants<'a>(values: &[&'a Value]) -> Result<Vec<&'a Value>, Unfit> {
    let mut found = Vec::new();
    let mut open: Vec<_> = values.iter().rev().copied().collect();
    while let Some(value) = open.pop() {
        let children = children(value);
        if !children.is_empty() {
            found.push(value);
            check_count(&found)?;
            open.extend(children.into_iter().rev());
        }
    }
    Ok(found)
}

/// Steps that lead to several values, one after the other, multiply them.
fn check_count(found: &[&Value]) -> Result<(), Unfit> {
    if found.len() > MOST_VALUES { Err(Unfit) } else { Ok(()) }
}

impl Slice {
    fn of<'a>(self, items: &'a [Value], found: &mut Vec<&'a Value>) -> Result<(), Unfit> {
        let length = i64::try_from(items.len()).map_err(|_| Unfit)?;
        let from_end = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
        let start = from_end(self.start.unwrap_or(0));
        let end = match self.end {
            End::One => start.saturating_add(1),
            End::At(end) => from_end(end),
            End::Last => length,
        };
        if start == end {
            return Ok(());
        }
        if !(0..length).contains(&start) || end > length || end < start {
            return Err(Unfit);
        }
        let step = self.step.unwrap_or(1);
        let (Ok(start), Ok(end), Ok(step)) =
            (usize::try_from(start), usize::try_from(end), usize::try_from(step))
        else {
            return Err(Unfit);
        };
        if step == 0 {
            return Err(Unfit);
        }
        found.extend(items[start..end].iter().step_by(step));
        Ok(())
    }
}

fn passes(item: &Value, left: &Operand, test: Option<&(Comparison, Operand)>) -> Result<bool, Unfit> {
    let left = left.values(item);
    let Some((comparison, right)) = test else {
        return Ok(left.is_ok_and(|found| !found.is_empty()));
    };
    match (&left?[..], &right.values(item)?[..]) {
        ([], _) | (_, []) => Ok(false),
        ([left], [right]) => comparison.holds(left, right),
        _ => Err(Unfit),
    }
}

impl Operand {
    fn values<'a>(&'a self, item: &'a Value) -> Result<Vec<&'a Value>, Unfit> {
        match self {
            Self::Path(steps) => walk(vec![item], steps),
            Self::Literal(value) => Ok(vec![value]),
        }
    }
}

impl Comparison {
    /// Only like things compare: text with text, whole numbers with whole numbers; truth values are equal or not.
    fn holds(self, left: &Value, right: &Value) -> Result<bool, Unfit> {
        let equality = matches!(self, Self::Equal | Self::NotEqual);
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => left.cmp(right),
            (Value::Bool(left), Value::Bool(right)) if equality => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => left.cmp(&right),
                (None, None) => left.as_f64().partial_cmp(&right.as_f64()).ok_or(Unfit)?,
                _ => return Err(Unfit),
            },
            _ => return Err(Unfit),
        };
        Ok(match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_where_the_real_server_goes() {
        let object = json!({
            "labels": {"a.b/c": "label"},
            "text": "hello", "nil": null, "list": ["l0", "l1", "l2"], "empty": [],
            "one": {"only": "yes"}, "inner": {"deep": "down"},
            "objs": [
                {"name": "a", "n": 1, "same": "a", "f": 1.5},
                {"name": "b", "n": 2, "m": 1, "b": true, "same": "q", "f": 2.5},
                {"name": "c", "n": 3},
            ],
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
            (".list[]", Some(json!(["l0"]))),
            (".list[-1]", Some(json!(["l2"]))),
            (".list[9]", None),
            (".list[-9]", None),
            (".one[0]", None),
            (".list[*]", Some(json!(["l0", "l1", "l2"]))),
            (".list[1:]", Some(json!(["l1", "l2"]))),
            (".list[0:-1]", Some(json!(["l0", "l1"]))),
            (".list[1:1]", Some(json!([]))),
            (".list[2:1]", None),
            (".list[::2]", Some(json!(["l0", "l2"]))),
            (".list[::0]", None),
            (".list[0,2]", Some(json!(["l0", "l2"]))),
            (".empty[*]", Some(json!([]))),
            (r".labels.a\.b/c", Some(json!(["label"]))),
            (r".labels['a\.b/c']", Some(json!(["label"]))),
            (".labels['a.b/c']", Some(json!([]))),
            (".one.*", Some(json!(["yes"]))),
            (".one['only','text']", Some(json!(["yes"]))),
            ("..deep", Some(json!(["down"]))),
            (".objs[?(@.n>1)].name", Some(json!(["b", "c"]))),
            (".objs[?(@.n<=2)].name", Some(json!(["a", "b"]))),
            (".objs[?(@.n>=2)].name", Some(json!(["b", "c"]))),
            (".objs[?(@.f>1.5)].name", Some(json!(["b"]))),
            (".objs[?(@.n>1.5)].name", None),
            (".objs[?(@.n==\"1\")].name", None),
            (".objs[?(@.m)].name", Some(json!(["b"]))),
            (".objs[?(@.b==true)].name", Some(json!(["b"]))),
            (".objs[?(@.b<true)].name", None),
            (".objs[?(@.name<\"b\")].name", Some(json!(["a"]))),
            (".objs[?(@.name!='a')].name", Some(json!(["b", "c"]))),
            (".objs[?(@.name==@.same)].name", Some(json!(["a"]))),
            (".objs[?(@.zzz==\"b\")].name", Some(json!([]))),
            (".objs[?( @.name == \"b\" )].n", Some(json!([2]))),
            (".one[?(@.b==true)].name", None),
        ] {
            let parsed = JsonPath::parse(path).unwrap_or_else(|error| panic!("`{path}`: {error}"));
            assert_eq!(parsed.find(&object).map(|found| json!(found)), expected, "{path}");
        }
    }

    #[test]
    fn a_path_that_multiplies_values_without_end_does_not_fit() {
        let objects = (0..100).fold(json!({}), |inner, _| json!({ "a": inner }));
        let lists = (0..100).fold(json!(1), |inner, _| json!([inner]));
        for (step, value) in [("..a", &objects), ("[*,*]", &lists)] {
            let found = |times: usize| JsonPath::parse(&step.repeat(times)).unwrap().find(value).is_some();
            assert_eq!((found(2), found(40)), (true, false), "{step}");
        }
    }

    #[test]
    fn a_path_that_cannot_be_read_is_an_error() {
        for path in [
            ".a[",
            ".a[b]",
            ".a[1:2:3:4]",
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
            ".a[?(@.b==[?(@.c)])]",
        ] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }
}
