//! Schemas of common keywords, applied without compiling them.
//!
//! Most charts have a schema that their values fit, and compiling it costs more than the rest of the chart. This check
//! only accepts. What it does not accept goes to boon, which decides and words the problems.

use std::cell::Cell;

use serde_json::{Map, Number, Value};

/// The deepest nesting of schemas, with references; a schema may refer to itself.
const MAX_DEPTH: usize = 256;

/// The most schemas that one check applies; definitions can repeat each other.
const MAX_STEPS: usize = 1 << 20;

/// The most items that are compared with each other.
const MAX_UNIQUE: usize = 256;

/// Keywords whose meaning only boon knows.
const OTHER_KEYWORDS: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "id",
    "maxContains",
    "minContains",
    "multipleOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The versions of JSON schema that differ for the known keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draft {
    /// Keywords beside `$ref` are ignored, and formats are checked.
    Seven,
    /// 2019-09 and 2020-12.
    Later,
}

/// A valid schema of known keywords only.
#[derive(Debug)]
pub(crate) struct PlainSchema {
    root: Value,
    draft: Draft,
}

impl PlainSchema {
    /// Reads a schema. `None` if it is invalid, or has other keywords.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut root: Value = serde_json::from_slice(text).ok()?;
        let version = root.as_object_mut().and_then(|fields| fields.remove("$schema"));
        let draft = draft_of(version.as_ref())?;
        let schema = Self { root, draft };
        schema.is_known(&schema.root, 0).then_some(schema)
    }

    /// True if the values fit. False also if this cannot be told.
    pub(crate) fn accepts(&self, values: &Value) -> bool {
        let check = Check { schema: self, steps: Cell::new(0) };
        check.fits(&self.root, values, 0) && check.steps.get() < MAX_STEPS
    }

    /// True if a schema and those inside have known keywords with valid content only.
    fn is_known(&self, schema: &Value, depth: usize) -> bool {
        let fields = match schema {
            Value::Bool(_) => return true,
            Value::Object(fields) if depth < MAX_DEPTH => fields,
            _ => return false,
        };
        fields.iter().all(|(keyword, content)| self.is_known_keyword(keyword, content, depth + 1))
    }

    fn is_known_keyword(&self, keyword: &str, content: &Value, depth: usize) -> bool {
        let is_known = |schema: &Value| self.is_known(schema, depth);
        match keyword {
            "properties" | "definitions" | "$defs" => {
                content.as_object().is_some_and(|schemas| schemas.values().all(is_known))
            }
            "allOf" | "anyOf" | "oneOf" => {
                content.as_array().is_some_and(|schemas| !schemas.is_empty() && schemas.iter().all(is_known))
            }
            "additionalProperties" | "items" | "not" | "if" | "then" | "else" => is_known(content),
            "type" => match content {
                Value::Array(names) => {
                    !names.is_empty() && names.iter().all(is_type) && are_unique(names) == Some(true)
                }
                name => is_type(name),
            },
            "required" => content
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string) && are_unique(names) == Some(true)),
            "enum" => content.as_array().is_some_and(|values| !values.is_empty()),
            "examples" => content.is_array(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => content.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                content.is_u64()
            }
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => content.is_boolean(),
            "title" | "description" | "$comment" => content.is_string(),
            "format" => self.draft == Draft::Later && content.is_string(),
            "$ref" => self.referenced(content).is_some(),
            "$schema" => false,
            other => !OTHER_KEYWORDS.contains(&other),
        }
    }

    /// Returns the definition that a `$ref` names. `None` if it is elsewhere.
    fn referenced(&self, reference: &Value) -> Option<&Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        let is_definition =
            |prefix| pointer.strip_prefix(prefix).is_some_and(|name: &str| !name.contains(['/', '%', '~']));
        if is_definition("/definitions/") || is_definition("/$defs/") {
            self.root.pointer(pointer)
        } else {
            None
        }
    }
}

/// Returns the draft of a `$schema`. `None` if it is another one.
fn draft_of(version: Option<&Value>) -> Option<Draft> {
    let Some(version) = version else { return Some(Draft::Later) };
    let url = version.as_str()?;
    let url = url.strip_suffix('#').unwrap_or(url);
    let place = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    match place.strip_prefix("json-schema.org/")? {
        "draft-07/schema" => Some(Draft::Seven),
        "schema" | "draft/2019-09/schema" | "draft/2020-12/schema" => Some(Draft::Later),
        _ => None,
    }
}

fn is_type(name: &Value) -> bool {
    let names = ["array", "boolean", "integer", "null", "number", "object", "string"];
    name.as_str().is_some_and(|name| names.contains(&name))
}

/// True if no two items are equal. `None` if there are too many to compare.
fn are_unique(items: &[Value]) -> Option<bool> {
    if items.len() > MAX_UNIQUE {
        return None;
    }
    let is_repeated = |(index, item): (usize, &Value)| items[..index].iter().any(|other| equal(item, other));
    Some(!items.iter().enumerate().any(is_repeated))
}

/// Compares two values; numbers by their value.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left == right,
            _ => left.as_f64() == right.as_f64(),
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has_equal =
                |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(has_equal)
        }
        _ => left == right,
    }
}

/// One check of values.
struct Check<'s> {
    schema: &'s PlainSchema,
    /// The number of schemas applied so far, or the limit once the check cannot tell.
    steps: Cell<usize>,
}

impl Check<'_> {
    fn undecided(&self) -> bool {
        self.steps.set(MAX_STEPS);
        false
    }

    fn fits(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let fields = match schema {
            Value::Object(fields) => fields,
            schema => return *schema == Value::Bool(true),
        };
        let steps = self.steps.get() + 1;
        if depth > MAX_DEPTH || steps >= MAX_STEPS {
            return self.undecided();
        }
        self.steps.set(steps);
        let depth = depth + 1;
        if let Some(reference) = fields.get("$ref") {
            let Some(target) = self.schema.referenced(reference) else { return self.undecided() };
            let fits = self.fits(target, value, depth);
            if !fits || self.schema.draft == Draft::Seven {
                return fits;
            }
        }
        let keeps =
            |(keyword, content): (&String, &Value)| self.keeps(fields, keyword, content, value, depth);
        fields.iter().all(keeps)
    }

    /// True if a value fits one keyword of a schema.
    fn keeps(
        &self,
        fields: &Map<String, Value>,
        keyword: &str,
        content: &Value,
        value: &Value,
        depth: usize,
    ) -> bool {
        let fits = |schema: &Value| self.fits(schema, value, depth);
        let schemas = || content.as_array().into_iter().flatten();
        match keyword {
            "type" => match content {
                Value::Array(names) => names.iter().any(|name| has_type(value, name)),
                name => has_type(value, name),
            },
            "enum" => schemas().any(|allowed| equal(allowed, value)),
            "const" => equal(content, value),
            "allOf" => schemas().all(fits),
            "anyOf" => schemas().any(fits),
            "oneOf" => schemas().filter(|schema| fits(schema)).count() == 1,
            "not" => !fits(content),
            "if" => fields.get(if fits(content) { "then" } else { "else" }).is_none_or(fits),
            _ => match value {
                Value::Object(object) => self.keeps_object(fields, keyword, content, object, depth),
                Value::Array(items) => self.keeps_list(keyword, content, items, depth),
                Value::String(text) => match keyword {
                    "minLength" => content.as_u64().is_some_and(|least| text.chars().count() as u64 >= least),
                    "maxLength" => content.as_u64().is_some_and(|most| text.chars().count() as u64 <= most),
                    _ => true,
                },
                Value::Number(number) => keeps_number(keyword, content, number),
                Value::Null | Value::Bool(_) => true,
            },
        }
    }

    fn keeps_object(
        &self,
        fields: &Map<String, Value>,
        keyword: &str,
        content: &Value,
        object: &Map<String, Value>,
        depth: usize,
    ) -> bool {
        match keyword {
            "properties" => object
                .iter()
                .all(|(key, value)| content.get(key).is_none_or(|schema| self.fits(schema, value, depth))),
            "additionalProperties" => {
                let properties = fields.get("properties");
                let is_listed = |key: &String| properties.is_some_and(|listed| listed.get(key).is_some());
                object.iter().all(|(key, value)| is_listed(key) || self.fits(content, value, depth))
            }
            "required" => content.as_array().is_some_and(|names| {
                names.iter().filter_map(Value::as_str).all(|name| object.contains_key(name))
            }),
            "minProperties" => content.as_u64().is_some_and(|least| object.len() as u64 >= least),
            "maxProperties" => content.as_u64().is_some_and(|most| object.len() as u64 <= most),
            _ => true,
        }
    }

    fn keeps_list(&self, keyword: &str, content: &Value, items: &[Value], depth: usize) -> bool {
        match keyword {
            "items" => items.iter().all(|item| self.fits(content, item, depth)),
            "minItems" => content.as_u64().is_some_and(|least| items.len() as u64 >= least),
            "maxItems" => content.as_u64().is_some_and(|most| items.len() as u64 <= most),
            "uniqueItems" if *content == Value::Bool(true) => {
                are_unique(items).unwrap_or_else(|| self.undecided())
            }
            _ => true,
        }
    }
}

fn has_type(value: &Value, name: &Value) -> bool {
    let name = name.as_str().unwrap_or_default();
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(number) => {
            name == "number"
                || name == "integer" && number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
    }
}

fn keeps_number(keyword: &str, content: &Value, number: &Number) -> bool {
    let (Some(bound), Some(number)) = (content.as_f64(), number.as_f64()) else { return true };
    match keyword {
        "minimum" => number >= bound,
        "maximum" => number <= bound,
        "exclusiveMinimum" => number > bound,
        "exclusiveMaximum" => number < bound,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::PlainSchema;
    use crate::schema::CompiledSchema;

    /// Returns the verdicts on values, each checked against boon.
    fn verdicts(schema: &Value, values: &[Value]) -> Vec<bool> {
        let text = schema.to_string();
        let plain = PlainSchema::parse(text.as_bytes()).expect("a plain schema");
        let compiled = CompiledSchema::new(text.as_bytes()).expect("a valid schema");
        let verdict = |value: &Value| {
            let accepted = plain.accepts(value);
            assert_eq!(accepted, compiled.problems(value).is_empty(), "{schema} of {value}");
            accepted
        };
        values.iter().map(verdict).collect()
    }

    #[test]
    fn a_plain_schema_accepts_what_boon_accepts() {
        let values = [
            json!(null),
            json!(true),
            json!(3),
            json!(3.0),
            json!(3.5),
            json!(-1),
            json!(""),
            json!("añb"),
            json!([]),
            json!([1, 1.0]),
            json!(["a", 3, {"a": 1}]),
            json!({}),
            json!({"a": 1}),
            json!({"a": "x", "b": 2}),
            json!({"a": {"a": {"a": "x"}}}),
        ];
        let schemas = [
            json!(true),
            json!({"type": "integer", "minimum": 3}),
            json!({"type": ["string", "null"], "minLength": 3, "maxLength": 3}),
            json!({"exclusiveMinimum": 3, "exclusiveMaximum": 4, "maximum": 3.5}),
            json!({"enum": [3, "", {"a": 1.0}, [1, 1]]}),
            json!({"const": 3.0}),
            json!({"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "number"}}),
            json!({"properties": {"a": true}, "additionalProperties": false, "required": ["a"]}),
            json!({"minProperties": 1, "maxProperties": 1, "minItems": 1, "maxItems": 2}),
            json!({"items": {"type": "number"}, "uniqueItems": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "not": {"const": 3}}),
            json!({"oneOf": [{"type": "number"}, {"type": "integer"}, {"required": ["a"]}]}),
            json!({"allOf": [{"if": {"type": "object"}, "then": {"required": ["b"]}, "else": {"minimum": 0}}]}),
            json!({"$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}, "type": ["object", "string"]}},
                "$ref": "#/$defs/n", "maxProperties": 1}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "object"}},
                "$ref": "#/definitions/n", "maxProperties": 0}),
            json!({"$schema": "http://json-schema.org/schema#", "type": "object", "form": true, "format": "email"}),
        ];
        for schema in &schemas {
            let verdicts = verdicts(schema, &values);
            assert!(verdicts.contains(&true), "{schema} accepts something");
            assert_eq!(verdicts.contains(&false), *schema != true, "{schema} rejects something");
        }
    }

    #[test]
    fn other_schemas_are_left_to_boon() {
        let schemas = [
            json!({"type": "text"}),
            json!({"properties": {"a": {"required": "a"}}}),
            json!({"properties": {"a": {"pattern": "^a"}}}),
            json!({"items": [{"type": "string"}]}),
            json!({"$ref": "https://example.org/schema"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": "email"}),
            json!({"anyOf": []}),
        ];
        for schema in &schemas {
            assert!(PlainSchema::parse(schema.to_string().as_bytes()).is_none(), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_without_end_is_left_to_boon() {
        let schema = json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
        let plain = PlainSchema::parse(schema.to_string().as_bytes()).expect("a plain schema");
        assert!(!plain.accepts(&json!({})));
        let schema = json!({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"});
        let plain = PlainSchema::parse(schema.to_string().as_bytes()).expect("a plain schema");
        assert!(!plain.accepts(&json!({})));
    }
}
