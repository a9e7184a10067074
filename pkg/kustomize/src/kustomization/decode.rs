//! Decodes settings strictly from a tree of values. Reports every fault of a file with its path.

use std::collections::BTreeMap;

use manifest::{Map, Value, type_name};

use crate::report::format_suggestions;

/// A file with an invalid form. An empty field stands for the whole file.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("unknown field `{field}`{}", format_suggestions(suggestions))]
    UnknownField { field: String, suggestions: Vec<&'static str> },
    #[error("{} must be {expected}, not {found}", place_text(field))]
    WrongType { field: String, expected: &'static str, found: String },
    #[error("`apiVersion` of a {kind} must be `{expected}`, not `{found}`")]
    WrongVersion { kind: &'static str, expected: &'static str, found: String },
}

/// The mapping being decoded, and the faults found so far.
pub(crate) struct Fields<'a> {
    map: &'a Map<String, Value>,
    /// The path of the mapping, such as `images[0]`; empty for the file.
    path: String,
    known: Vec<&'static str>,
    errors: &'a mut Vec<DecodeError>,
}

/// A type that is decoded from a mapping with known fields.
pub(crate) trait FromFields: Default {
    /// Takes the fields out of the mapping; fields not taken are unknown.
    fn from_fields(fields: &mut Fields<'_>) -> Self;
}

/// A type that is decoded from one value.
pub(crate) trait FromValue: Default {
    /// The expected type of the value, with its article.
    const EXPECTED: &'static str;

    /// Decodes a value other than null. `None` if the type is wrong; the caller reports the fault.
    fn from_value(value: &Value, path: &str, faults: &mut Vec<DecodeError>) -> Option<Self>;
}

/// Decodes a value; a faulty part keeps its default.
pub(crate) fn decode<T: FromValue>(value: &Value, path: &str, faults: &mut Vec<DecodeError>) -> T {
    if value.is_null() {
        return T::default();
    }
    T::from_value(value, path, faults).unwrap_or_else(|| {
        let found = type_name(value).to_owned();
        faults.push(DecodeError::WrongType { field: path.to_owned(), expected: T::EXPECTED, found });
        T::default()
    })
}

impl Fields<'_> {
    /// Decodes a field. A missing field and null give the default. An exact key wins over a key in another case.
    /// Source: Go encoding/json.
    pub(crate) fn take<T: FromValue>(&mut self, name: &'static str) -> T {
        self.known.push(name);
        let folded =
            || self.map.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        let Some(value) = self.map.get(name).or_else(folded) else { return T::default() };
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        decode(value, &path, self.errors)
    }

    fn report_unknown(self) {
        for key in self.map.keys() {
            if self.known.iter().any(|name| name.eq_ignore_ascii_case(key)) {
                continue;
            }
            let field = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            let near = api::similar_names(key, self.known.iter().copied());
            self.errors.push(DecodeError::UnknownField { field, suggestions: near });
        }
    }
}

impl<T: FromFields> FromValue for T {
    const EXPECTED: &'static str = "a mapping";

    fn from_value(value: &Value, path: &str, faults: &mut Vec<DecodeError>) -> Option<Self> {
        let map = value.as_object()?;
        let mut fields = Fields { map, path: path.to_owned(), known: Vec::new(), errors: faults };
        let read = T::from_fields(&mut fields);
        fields.report_unknown();
        Some(read)
    }
}

impl FromValue for String {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: &Value, _: &str, _: &mut Vec<DecodeError>) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl FromValue for bool {
    const EXPECTED: &'static str = "a boolean";

    fn from_value(value: &Value, _: &str, _: &mut Vec<DecodeError>) -> Option<Self> {
        value.as_bool()
    }
}

impl FromValue for i64 {
    const EXPECTED: &'static str = "a 64-bit integer";

    fn from_value(value: &Value, _: &str, _: &mut Vec<DecodeError>) -> Option<Self> {
        value.as_i64()
    }
}

impl FromValue for Value {
    const EXPECTED: &'static str = "a value";

    fn from_value(value: &Value, _: &str, _: &mut Vec<DecodeError>) -> Option<Self> {
        Some(value.clone())
    }
}

impl FromValue for Map<String, Value> {
    const EXPECTED: &'static str = "a mapping";

    fn from_value(value: &Value, _: &str, _: &mut Vec<DecodeError>) -> Option<Self> {
        value.as_object().cloned()
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_value(value: &Value, path: &str, faults: &mut Vec<DecodeError>) -> Option<Self> {
        T::from_value(value, path, faults).map(Some)
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    const EXPECTED: &'static str = "a list";

    fn from_value(value: &Value, path: &str, faults: &mut Vec<DecodeError>) -> Option<Self> {
        let items = value.as_array()?.iter().enumerate();
        Some(items.map(|(index, item)| decode(item, &format!("{path}[{index}]"), faults)).collect())
    }
}

impl<T: FromValue> FromValue for BTreeMap<String, T> {
    const EXPECTED: &'static str = "a mapping";

    fn from_value(value: &Value, path: &str, faults: &mut Vec<DecodeError>) -> Option<Self> {
        let entries = value.as_object()?.iter();
        Some(
            entries
                .map(|(key, item)| (key.clone(), decode(item, &format!("{path}.{key}"), faults)))
                .collect(),
        )
    }
}

/// Defines mappings: the Rust name, the type and the YAML name of each field. Fields after `ignored` are known but have
/// no effect, as in kustomize.
macro_rules! mappings {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal),* $(,)?
        $(; ignored $($ignored:literal: $ignored_type:ty),*)?
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub(crate) $field: $type,)*
        }

        impl $crate::kustomization::decode::FromFields for $name {
            fn from_fields(fields: &mut $crate::kustomization::decode::Fields<'_>) -> Self {
                $($(let _: $ignored_type = fields.take($ignored);)*)?
                Self { $($field: fields.take($key)),* }
            }
        }
    )*};
}
pub(crate) use mappings;

fn place_text(field: &str) -> String {
    if field.is_empty() { "the file".to_owned() } else { format!("`{field}`") }
}
