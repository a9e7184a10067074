//! Field selectors: `metadata.name=a,status.phase!=RunningControllers`.
//!
//! Every kind supports its name, most kinds their namespace, and some kinds a few more fields. [`KINDS`] lists the
//! fields of the real server. The definition of a custom resource lists its fields (`selectableFields`).

use serde_json::Value;

use crate::{jsonpath::JsonPath, kinds::ResourceType, status::Status, store::StoredObject};

/// A parsed `fieldSelector`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: Field,
    negated: bool,
    value: String,
}

/// The source of a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
    /// A JSON pointer, and the text that stands for a missing value.
    BuiltIn(&'static str, &'static str),
    /// A path in a custom resource.
    Custom(JsonPath),
}

/// Fields, each with the path of its value and the text that stands for a missing value.
type Fields = &'static [(&'static str, &'static str, &'static str)];

/// Kinds with their own list, as `kind.group`: the field, the path of its value (an empty path yields an empty value),
/// and the text for a missing value.
/// Source: `AddFieldLabelConversionFunc` in kubernetes 1.36 `pkg/apis/*/v1`, and the selectable fields of the
/// strategies in `pkg/registry`. Events support the fields they share with `events.k8s.io`.
const KINDS: &[(&str, Fields)] = &[
    (
        "pods",
        &[
            ("spec.nodeName", "/spec/nodeName", ""),
            ("spec.host", "/spec/nodeName", ""),
            ("spec.restartPolicy", "/spec/restartPolicy", ""),
            ("spec.schedulerName", "/spec/schedulerName", ""),
            ("spec.serviceAccountName", "/spec/serviceAccountName", ""),
            ("spec.hostNetwork", "/spec/hostNetwork", "false"),
            ("status.phase", "/status/phase", ""),
            ("status.podIP", "/status/podIPs/0/ip", ""),
            ("status.podIPs", "", ""),
            ("status.nominatedNodeName", "/status/nominatedNodeName", ""),
        ],
    ),
    ("nodes", &[("spec.unschedulable", "/spec/unschedulable", "false")]),
    ("events", EVENT),
    ("namespaces", &[("status.phase", "/status/phase", "")]),
    ("secrets", &[("type", "/type", "")]),
    ("services", &[("spec.clusterIP", "/spec/clusterIP", ""), ("spec.type", "/spec/type", "")]),
    ("jobs.batch", &[("status.successful", "/status/succeeded", "0")]),
];

const EVENT: Fields = &[
    ("involvedObject.kind", "/involvedObject/kind", ""),
    ("involvedObject.namespace", "/involvedObject/namespace", ""),
    ("involvedObject.name", "/involvedObject/name", ""),
    ("involvedObject.uid", "/involvedObject/uid", ""),
    ("reason", "/reason", ""),
    ("type", "/type", ""),
];

impl FieldSelector {
    /// Parses a selector such as `metadata.name=a,status.phase!=RunningControllers` for this resource. A backslash escapes `,`,
    /// `=` and the backslash in values.
    /// Errors: 400 with the real server's message for an unsupported field.
    pub(crate) fn parse(text: &str, resource: &ResourceType) -> Result<Self, Status> {
        let parts = split(text);
        let mut read = Vec::with_capacity(parts.len());
        for part in parts {
            read.push(term(text, part).map_err(Status::bad_request)?);
        }
        let mut terms = Vec::with_capacity(read.len());
        for (name, negated, value) in read {
            // The real server drops an empty term before it checks the name.
            if !name.is_empty() || !value.is_empty() {
                let field = field(resource, name).map_err(Status::bad_request)?;
                terms.push(Term { field, negated, value });
            }
        }
        // Cheap terms first: they may decide without reading the body.
        terms.sort_by_key(|term| !matches!(term.field, Field::Name | Field::Namespace));
        Ok(Self { terms })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// True if the object matches. Reads the body only if a term needs more than name and namespace.
    pub(crate) fn matches(&self, object: &StoredObject) -> bool {
        let mut body = None;
        self.terms.iter().all(|term| {
            let equal = match &term.field {
                Field::Name => *object.key.name == *term.value,
                Field::Namespace => *object.key.namespace == *term.value,
                field => {
                    let body =
                        body.get_or_insert_with(|| serde_json::from_slice(&object.body).unwrap_or_default());
                    field.equals(body, &term.value)
                }
            };
            equal != term.negated
        })
    }
}

impl Field {
    fn equals(&self, body: &Value, expected: &str) -> bool {
        match self {
            Self::BuiltIn(pointer, missing) => {
                let found = body.pointer(pointer).and_then(scalar).filter(|text| !text.is_empty());
                found.as_deref().unwrap_or(missing) == expected
            }
            Self::Custom(path) => {
                let found = path.find(body).and_then(|found| found.first().copied().and_then(scalar));
                found.as_deref().unwrap_or_default() == expected
            }
            Self::Name => body["metadata"]["name"] == expected,
            Self::Namespace => body["metadata"]["namespace"] == expected,
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the terms between commas, sorted: the real server reports the first error in that order.
fn split(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms.retain(|term| !term.is_empty());
    terms.sort_unstable();
    terms
}

/// Returns the field name, true for a negated term, and the value.
fn term<'a>(selector: &str, term: &'a str) -> Result<(&'a str, bool, String), String> {
    let found = term.char_indices().find_map(|(index, _)| {
        let rest = &term[index..];
        let operator = ["!=", "==", "="].into_iter().find(|operator| rest.starts_with(operator))?;
        Some((index, operator))
    });
    let Some((index, operator)) = found else {
        return Err(format!("invalid selector: '{selector}'; can't understand '{term}'"));
    };
    let value = unescape(&term[index + operator.len()..])?;
    Ok((&term[..index], operator == "!=", value))
}

fn unescape(text: &str) -> Result<String, String> {
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => value.push(c),
                other => {
                    let sequence: String = ['\\'].into_iter().chain(other).collect();
                    return Err(format!("invalid field selector: invalid escape sequence: {sequence}"));
                }
            },
            // The real server prints the code of the character.
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(c)
                ));
            }
            c => value.push(c),
        }
    }
    Ok(value)
}

fn field(resource: &ResourceType, name: &str) -> Result<Field, String> {
    if name == "metadata.name" {
        return Ok(Field::Name);
    }
    if let Some(custom) = &resource.custom {
        if resource.namespaced && name == "metadata.namespace" {
            return Ok(Field::Namespace);
        }
        let offered =
            custom.selectable_fields.iter().find(|path| path.strip_prefix('.').unwrap_or(path) == name);
        let path = offered.and_then(|path| JsonPath::parse(path));
        return path.map(Field::Custom).ok_or_else(|| format!("field label not supported: {name}"));
    }
    let kind = if resource.group.is_empty() {
        resource.plural.to_string()
    } else {
        format!("{}.{}", resource.plural, resource.group)
    };
    let offer = KINDS.iter().find(|(name, _)| *name == kind);
    if name == "metadata.namespace" && !matches!(&*kind, "nodes" | "namespaces") {
        return Ok(Field::Namespace);
    }
    let Some((_, fields)) = offer else {
        return Err(format!(
            "\"{name}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ));
    };
    let found = fields.iter().find(|(field, ..)| *field == name);
    found.map(|(_, pointer, missing)| Field::BuiltIn(pointer, missing)).ok_or_else(|| {
        if kind == "jobs.batch" {
            format!("field label \"{name}\" not supported for Job")
        } else {
            format!("field label not supported: {name}")
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        kinds::{CustomResource, tests::resource},
        store::{Key, ResourceName, Revision},
    };

    fn stored(body: &Value) -> StoredObject {
        let name = ResourceName { group: "".into(), plural: "x".into() };
        StoredObject {
            key: Key { resource: name, namespace: "team".into(), name: "one".into() },
            revision: Revision(1),
            version: "v1".into(),
            schema_generation: 0,
            body: serde_json::to_vec(body).unwrap().into(),
            labels: Box::default(),
        }
    }

    fn takes(selector: &str, resource: &ResourceType, body: &Value) -> bool {
        FieldSelector::parse(selector, resource).unwrap().matches(&stored(body))
    }

    #[test]
    fn kinds_have_their_own_selectable_fields() {
        let pod = json!({"spec": {"nodeName": "n"}, "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]}});
        let event = json!({"involvedObject": {"kind": "Pod"}, "reportingComponent": "me"});
        for (group, plural, selector, body, expected) in [
            ("", "configmaps", "metadata.name=one,metadata.namespace==team", &json!({}), true),
            ("", "configmaps", "metadata.name!=one", &json!({}), false),
            ("", "configmaps", "metadata.namespace=other", &json!({}), false),
            ("", "configmaps", "", &json!({}), true),
            ("", "configmaps", "=", &json!({}), true),
            ("", "pods", "spec.nodeName=n,status.phase!=Pending", &pod, true),
            ("", "pods", "spec.host=n", &pod, true),
            ("", "pods", "spec.hostNetwork=false", &pod, true),
            ("", "pods", "status.podIP=10.0.0.1", &pod, true),
            ("", "pods", "status.podIPs=10.0.0.1", &pod, false),
            ("", "nodes", "spec.unschedulable=true", &json!({"spec": {"unschedulable": true}}), true),
            ("", "nodes", "spec.unschedulable=true", &json!({}), false),
            ("batch", "jobs", "status.successful=0", &json!({}), true),
            ("", "secrets", "type=Opaque", &json!({"type": "Opaque"}), true),
            ("", "events", "involvedObject.kind=Pod,reason=", &event, true),
        ] {
            assert_eq!(
                takes(selector, &resource(group, plural, None), body),
                expected,
                "{plural} {selector}"
            );
        }
    }

    #[test]
    fn custom_resources_have_the_selectable_fields_of_their_definition() {
        let custom = CustomResource {
            selectable_fields: vec![".spec.color".into(), ".spec.size".into()],
            ..CustomResource::default()
        };
        let resource = resource("example.com", "things", Some(custom));
        let body = json!({"spec": {"size": 3}});
        assert!(takes("spec.size=3,spec.color=", &resource, &body));
        assert!(!takes("spec.size=4", &resource, &body));
        let status = FieldSelector::parse("spec.other=1", &resource).unwrap_err();
        assert_eq!(status.message, "field label not supported: spec.other");
    }

    #[test]
    fn a_selector_value_may_contain_escapes() {
        let resource = resource("", "pods", None);
        assert!(takes(r"spec.nodeName=a\,b\=c\\", &resource, &json!({"spec": {"nodeName": r"a,b=c\"}})));
    }

    #[test]
    fn selector_errors_have_the_text_of_the_real_server() {
        for (plural, selector, words) in [
            (
                "configmaps",
                "metadata.name",
                "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
            ),
            ("configmaps", r"metadata.name=a\b", r"invalid field selector: invalid escape sequence: \b"),
            ("configmaps", r"metadata.name=a\", r"invalid field selector: invalid escape sequence: \"),
            ("configmaps", "metadata.name=a=b", "invalid field selector: unescaped character in value: 61"),
            ("configmaps", "b,a", "invalid selector: 'b,a'; can't understand 'a'"),
            (
                "configmaps",
                "b=1,a=2",
                "\"a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            ),
            ("pods", "zzz=1", "field label not supported: zzz"),
            ("nodes", "metadata.namespace=a", "field label not supported: metadata.namespace"),
        ] {
            let status = FieldSelector::parse(selector, &resource("", plural, None)).unwrap_err();
            assert_eq!(
                (status.code, &*status.reason, &*status.message),
                (400, "BadRequest", words),
                "{selector}"
            );
        }
        let status = FieldSelector::parse("zzz=1", &resource("batch", "jobs", None)).unwrap_err();
        assert_eq!(status.message, "field label \"zzz\" not supported for Job");
    }
}
