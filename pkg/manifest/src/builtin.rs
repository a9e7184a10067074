//! The types of Kubernetes 1.36, and a few others that manifests hold: one table, read where it is asked for.
//!
//! ```text
//! shapes.txt (a real API server) ─┐
//! unserved.txt (by hand) ─────────┴─► Type: the name of a definition ─► Field, read at first use of the type
//! ```

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// The definitions that built-in kinds are made of, as `cargo xtask builtin-kinds` writes them; the head of the file tells
/// its form.
pub const SHAPES: &str = include_str!("builtin/shapes.txt");

/// Definitions that the API server does not serve, in the same form.
const UNSERVED: &str = include_str!("builtin/unserved.txt");

/// A mapping with known fields.
#[derive(Debug)]
pub(crate) struct Type {
    /// The short name of its package, such as `core` or `autoscaling-v2`.
    alias: &'static str,
    /// It has the texts `apiVersion` and `kind`, which are not in its lines.
    is_kind: bool,
    lines: &'static str,
    fields: OnceLock<Fields>,
}

/// The fields of a type, sorted by name.
#[derive(Debug)]
struct Fields {
    list: Vec<Field>,
    any_always: bool,
}

/// One field of a type.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// A zero counts as something: in Go the field is a pointer.
    pub(crate) is_pointer: bool,
    /// It is written even when it holds nothing.
    pub(crate) is_always: bool,
    /// Strategic merge of a list.
    pub(crate) merge: Merge,
}

/// Strategic merge of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The patch replaces the list.
    Replace,
    /// Single values, each once.
    Set,
    /// Mappings that this key tells apart.
    By(&'static str),
}

/// The content of a field, as Go's decoder sees it.
#[derive(Debug)]
pub(crate) enum Kind {
    Text,
    Bool,
    Int32,
    Int64,
    Float,
    /// Bytes, in base64.
    Bytes,
    Quantity,
    Time,
    Duration,
    IntOrText,
    /// Any JSON, left as it is.
    Raw,
    /// A JSON schema, here as a [`Kind::Struct`], or something else.
    SchemaOr(NoSchema, Box<Kind>),
    List(Box<Kind>),
    Map(Box<Kind>),
    Struct(&'static Type),
}

/// The alternative to a JSON schema. What is neither a schema nor one of the latter two reads as nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoSchema {
    Bool,
    Schemas,
    Texts,
}

/// A definition: a type, or the form of what has no fields.
#[derive(Debug)]
enum Definition {
    Type(Type),
    Form(&'static str),
}

/// All definitions, by alias and name; one of the second table replaces one of the first.
static DEFINITIONS: LazyLock<HashMap<&str, HashMap<&str, Definition>>> = LazyLock::new(|| {
    let mut all: HashMap<_, HashMap<_, _>> = HashMap::new();
    for (alias, name, definition) in [SHAPES, UNSERVED].into_iter().flat_map(definitions) {
        all.entry(alias).or_default().insert(name, definition);
    }
    all
});

/// Finds the type of a kind that comes with Kubernetes.
pub(crate) fn kind(group: &str, version: &str, kind: &str) -> Option<&'static Type> {
    if !is_built_in(group) {
        return None;
    }
    let group = if group.is_empty() { "core" } else { group.split('.').next().unwrap_or_default() };
    let own;
    let alias = if version == "v1" {
        group
    } else {
        own = format!("{group}-{version}");
        &own
    };
    find(alias, kind).filter(|found| found.is_kind)
}

/// True if the kinds of a group come with Kubernetes.
pub(crate) fn is_built_in(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// Finds a type by the alias of its package and its name.
pub(crate) fn find(alias: &str, name: &str) -> Option<&'static Type> {
    match DEFINITIONS.get(alias)?.get(name)? {
        Definition::Type(found) => Some(found),
        Definition::Form(_) => None,
    }
}

impl Field {
    /// The type of the mapping in the field, or of those in its list.
    pub(crate) fn inner(&self) -> Option<&'static Type> {
        match &self.kind {
            Kind::Struct(of) => Some(of),
            Kind::List(items) => match **items {
                Kind::Struct(of) => Some(of),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Type {
    /// Finds a field by its name, in the exact case.
    pub(crate) fn field(&'static self, name: &str) -> Option<&'static Field> {
        let list = &self.fields().list;
        list.binary_search_by(|field| field.name.cmp(name)).ok().map(|index| &list[index])
    }

    /// Lists the fields that are always written.
    pub(crate) fn always(&'static self) -> impl Iterator<Item = &'static Field> {
        let Fields { list, any_always } = self.fields();
        // Schemas have none, and there are tens of thousands of them in a set of CRDs.
        let list = if *any_always { &list[..] } else { &[] };
        list.iter().filter(|field| field.is_always)
    }

    fn fields(&'static self) -> &'static Fields {
        self.fields.get_or_init(|| {
            let own: &[&str] = if self.is_kind { &["apiVersion string", "kind string"] } else { &[] };
            let lines = self.lines.lines().map(|line| &line[2..]).chain(own.iter().copied());
            let mut list: Vec<Field> = lines.filter_map(|line| field(line, self.alias)).collect();
            list.sort_by_key(|field| field.name);
            Fields { any_always: list.iter().any(|field| field.is_always), list }
        })
    }
}

/// Splits a table into its definitions.
fn definitions(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str, Definition)> {
    let (mut rest, mut alias) = (table, "");
    std::iter::from_fn(move || {
        loop {
            let (line, more) = rest.split_once('\n')?;
            rest = more;
            if let Some(package) = line.strip_prefix("package ") {
                alias = package.split(' ').next().unwrap_or(package);
            } else if !line.starts_with('#') {
                let (name, words) = line.split_once(' ').unwrap_or((line, ""));
                let end = end_of_fields(rest);
                let lines = &rest[..end];
                rest = &rest[end..];
                let is_kind = words.split(' ').any(|word| word == "kind");
                let of_type = || Type { alias, is_kind, lines, fields: OnceLock::new() };
                let form = words.strip_prefix("= ").map(Definition::Form);
                let definition = form.unwrap_or_else(|| Definition::Type(of_type()));
                return Some((alias, name, definition));
            }
        }
    })
}

/// Finds the end of the lines that begin with a space.
fn end_of_fields(text: &str) -> usize {
    if !text.starts_with(' ') {
        return 0;
    }
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    ends.find(|end| !text[end + 1..].starts_with(' ')).map_or(text.len(), |end| end + 1)
}

/// Reads `name type words…`; what is said to others than us is passed over.
fn field(line: &'static str, alias: &str) -> Option<Field> {
    let mut words = line.split(' ');
    let (name, kind) = (words.next()?, kind_of(words.next()?, alias)?);
    let mut field = Field { name, kind, is_pointer: false, is_always: false, merge: Merge::Replace };
    for word in words {
        match word {
            "pointer" => field.is_pointer = true,
            "always" => field.is_always = true,
            "merge" => field.merge = Merge::Set,
            other => {
                if let Some(key) = other.strip_prefix("merge(").and_then(|rest| rest.strip_suffix(')')) {
                    field.merge = Merge::By(key);
                }
            }
        }
    }
    Some(field)
}

fn kind_of(word: &'static str, alias: &str) -> Option<Kind> {
    let word = word.strip_prefix('*').unwrap_or(word);
    let inside = |open, close| word.strip_prefix(open)?.strip_suffix(close);
    Some(match word {
        "bool" => Kind::Bool,
        "int32" => Kind::Int32,
        "int64" => Kind::Int64,
        "double" => Kind::Float,
        "string" => Kind::Text,
        "bytes" => Kind::Bytes,
        "object" => Kind::Raw,
        _ => match (inside('[', ']'), inside('{', '}')) {
            (Some(items), _) => Kind::List(Box::new(kind_of(items, alias)?)),
            (_, Some(values)) => Kind::Map(Box::new(kind_of(values, alias)?)),
            _ => {
                let (alias, name) = word.split_once('.').unwrap_or((alias, word));
                match DEFINITIONS.get(alias)?.get(name)? {
                    Definition::Type(found) => Kind::Struct(found),
                    Definition::Form(form) => kind_of_form(form, name)?,
                }
            }
        },
    })
}

fn kind_of_form(form: &str, name: &str) -> Option<Kind> {
    let schema_or = |other| {
        let schema = Kind::Struct(find("apiextensions", "JSONSchemaProps")?);
        Some(Kind::SchemaOr(other, Box::new(schema)))
    };
    Some(match (form, name) {
        ("quantity", _) => Kind::Quantity,
        ("int-or-string", _) => Kind::IntOrText,
        ("string date-time", _) => Kind::Time,
        ("duration", _) => Kind::Duration,
        (_, "JSONSchemaPropsOrBool") => return schema_or(NoSchema::Bool),
        (_, "JSONSchemaPropsOrArray") => return schema_or(NoSchema::Schemas),
        (_, "JSONSchemaPropsOrStringArray") => return schema_or(NoSchema::Texts),
        _ => Kind::Raw,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        let mut count = 0;
        for definition in DEFINITIONS.values().flat_map(HashMap::values) {
            let Definition::Type(read) = definition else { continue };
            let own = if read.is_kind { 2 } else { 0 };
            let fields = read.fields();
            assert_eq!(fields.list.len(), read.lines.lines().count() + own, "{}", read.lines);
            assert!(fields.list.is_sorted_by(|a, b| a.name < b.name), "{}", read.lines);
            count += 1;
        }
        assert!(count > 500, "{count}");
    }
}
