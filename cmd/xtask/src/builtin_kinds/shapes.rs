use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{
    documents::{Documents, array, text},
    protos::{Protos, Tag},
};

const HEADING: &str = "\
# Written by `cargo xtask builtin-kinds`: the definitions of a kube-apiserver that its kinds are made of.
#   package ALIAS NAME      what follows is NAME.Definition; other packages name it ALIAS.Definition
#   Definition [words]      `kind`: it has the texts apiVersion and kind; `atomic`: it is merged as a whole
#   Definition = form       no fields: `string FORMAT`, `quantity`, `int-or-string`, `object`, `any`
#     field type [words] [=number in protobuf, =2.1 for field 1 of the message in field 2]
# Types: bool, int32, int64, double, string, bytes (base64), object, a definition, [items], {values}.
# Words: required; zero (the empty value stands in for a missing one), default(JSON); enum(a,b) of text or the texts within (_ is a space);
# lists: set, map(keys), atomic (none of them means atomic too); objects: atomic, granular (whatever their definition says);
# Go: pointer, always (JSON has it though it is empty); strategic merge patch: merge, merge(key), retain, replace.
# Items and values are `zero` unless marked *.
";

/// Types used in requests that belong to no resource.
const EXTRA_DEFINITIONS: [&str; 4] = ["DeleteOptions", "ListMeta", "Patch", "Status"];

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const REFERENCE: &str = "#/components/schemas/";

/// The table of types that resources and their subresources need. Lists are omitted: each consists of `ListMeta` and
/// items.
pub(super) fn table(documents: &Documents, protos: &Protos) -> Result<String> {
    let needed = needed_definitions(documents);
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in &needed {
        let Some((package, _)) = name.rsplit_once('.') else {
            bail!("definition `{name}` belongs to no package")
        };
        packages.entry(package).or_default().push(name);
    }
    let aliases: BTreeMap<_, _> = packages.keys().map(|package| (*package, alias(package))).collect();
    if aliases.values().collect::<BTreeSet<_>>().len() < aliases.len() {
        bail!("two packages have the same alias: {:?}", aliases.values());
    }
    let mut table = HEADING.to_owned();
    for (package, names) in packages {
        let _ = writeln!(table, "package {} {package}", aliases[package]);
        let writer = Writer { package, aliases: &aliases, protos };
        for name in names {
            writer.definition(&mut table, name, &documents.definitions[name])?;
        }
    }
    Ok(table)
}

/// All definitions reachable from a resource.
fn needed_definitions(documents: &Documents) -> BTreeSet<&str> {
    let mut open: Vec<String> = EXTRA_DEFINITIONS.iter().map(|kind| format!("{META}.{kind}")).collect();
    for version in &documents.versions {
        for resource in array(&version.resources, "resources") {
            let own = |name, or: &str| match text(resource, name) {
                "" => or.to_owned(),
                own => own.to_owned(),
            };
            let (group, number) = (own("group", &version.group), own("version", &version.version));
            let found = documents.definition_of(&group, &number, text(resource, "kind"));
            open.extend(found.map(str::to_owned));
        }
    }
    let mut needed = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some((name, definition)) = documents.definitions.get_key_value(&name) else { continue };
        if needed.insert(name.as_str()) {
            references(definition, &mut open);
        }
    }
    needed
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().and_then(|text| text.strip_prefix(REFERENCE)) {
                    Some(reference) if name == "$ref" => found.push(reference.to_owned()),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// A short name for a package: the word before the version, with the version unless it is v1. Otherwise the last two
/// words.
fn alias(package: &str) -> String {
    let mut words = package.rsplit('.');
    let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match last {
        "v1" => before.to_owned(),
        _ => format!("{before}-{last}"),
    }
}

struct Writer<'a> {
    package: &'a str,
    aliases: &'a BTreeMap<&'a str, String>,
    protos: &'a Protos,
}

impl Writer<'_> {
    fn definition(&self, table: &mut String, name: &str, definition: &Value) -> Result<()> {
        let short = name.rsplit('.').next().unwrap_or(name);
        let Some(fields) = definition["properties"].as_object() else {
            let _ = writeln!(table, "{short} = {}", form(short, definition));
            return Ok(());
        };
        table.push_str(short);
        let is_kind = fields.contains_key("apiVersion") && fields.contains_key("kind") && {
            let plain =
                |name| text(&fields[name], "type") == "string" && fields[name].get("default").is_none();
            plain("apiVersion") && plain("kind") && self.protos.find_field(name, "apiVersion").is_none()
        };
        if is_kind {
            table.push_str(" kind");
        }
        if text(definition, "x-kubernetes-map-type") == "atomic" {
            table.push_str(" atomic");
        }
        table.push('\n');
        let required = array(definition, "required");
        let fields: BTreeMap<_, _> = fields.iter().collect();
        for (field, schema) in fields {
            if is_kind && (field == "apiVersion" || field == "kind") {
                continue;
            }
            let words = self.schema_words(schema, required.iter().any(|name| name == field.as_str()))?;
            let _ = write!(table, "  {field} {words}");
            if let Some(place) = self.protos.find_field(name, field) {
                let Tag { is_pointer, omits_empty, omits_zero } = place.tag;
                // Go never treats a struct as empty.
                let is_struct = reference(schema).is_some();
                let is_always = !omits_zero && (!omits_empty || (is_struct && !is_pointer));
                let pointer = if is_pointer { " pointer" } else { "" };
                let always = if is_always { " always" } else { "" };
                let _ = write!(table, "{pointer}{always} ={}", place.numbers);
            }
            table.push('\n');
        }
        Ok(())
    }

    /// The type of a field, with its other properties.
    fn schema_words(&self, schema: &Value, required: bool) -> Result<String> {
        let mut words = self.type_of(schema)?;
        if required {
            words.push_str(" required");
        }
        match schema.get("default") {
            None => {}
            Some(default) if is_zero(default) => words.push_str(" zero"),
            Some(default) => {
                let _ = write!(words, " default({default})");
            }
        }
        let keys: Vec<_> =
            array(schema, "x-kubernetes-list-map-keys").iter().filter_map(Value::as_str).collect();
        match text(schema, "x-kubernetes-list-type") {
            "set" => words.push_str(" set"),
            "map" => {
                let _ = write!(words, " map({})", keys.join(","));
            }
            "atomic" => words.push_str(" atomic"),
            _ => {}
        }
        match text(schema, "x-kubernetes-map-type") {
            "" => {}
            kind => {
                let _ = write!(words, " {kind}");
            }
        }
        let values = allowed(schema);
        if values.iter().any(|value| value.contains(['_', ',', ')'])) {
            bail!("the table cannot express the values {values:?}");
        }
        if !values.is_empty() {
            let _ = write!(words, " enum({})", values.join(",").replace(' ', "_"));
        }
        for strategy in text(schema, "x-kubernetes-patch-strategy").split(',') {
            match (strategy, text(schema, "x-kubernetes-patch-merge-key")) {
                ("merge", "") => words.push_str(" merge"),
                ("merge", key) => {
                    let _ = write!(words, " merge({key})");
                }
                ("retainKeys", _) => words.push_str(" retain"),
                ("replace", _) => words.push_str(" replace"),
                _ => {}
            }
        }
        Ok(words)
    }

    fn type_of(&self, schema: &Value) -> Result<String> {
        if let Some(name) = reference(schema) {
            return self.name(name);
        }
        Ok(match (text(schema, "type"), text(schema, "format")) {
            ("boolean", _) => "bool".to_owned(),
            ("integer", format @ ("int32" | "int64")) => format.to_owned(),
            ("number", "double") => "double".to_owned(),
            ("string", "") => "string".to_owned(),
            ("string", "byte") => "bytes".to_owned(),
            ("array", _) => format!("[{}]", self.inner(&schema["items"])?),
            ("object", _) => match schema.get("additionalProperties") {
                Some(values) => format!("{{{}}}", self.inner(values)?),
                None => "object".to_owned(),
            },
            (kind, format) => bail!("unsupported type `{kind}` of format `{format}`"),
        })
    }

    /// The type of items or values.
    fn inner(&self, schema: &Value) -> Result<String> {
        let kind = self.type_of(schema)?;
        Ok(if schema.get("default").is_some_and(is_zero) { kind } else { format!("*{kind}") })
    }

    fn name(&self, definition: &str) -> Result<String> {
        match definition.rsplit_once('.') {
            Some((package, name)) if package == self.package => Ok(name.to_owned()),
            Some((package, name)) if self.aliases.contains_key(package) => {
                Ok(format!("{}.{name}", self.aliases[package]))
            }
            _ => bail!("definition `{definition}` belongs to no package"),
        }
    }
}

/// The definition that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str());
    reference?.strip_prefix(REFERENCE)
}

/// The allowed values of a text, or of the texts in a list or an object.
fn allowed(schema: &Value) -> Vec<&str> {
    let inner = [schema, &schema["items"], &schema["additionalProperties"]];
    inner.into_iter().flat_map(|schema| array(schema, "enum")).filter_map(Value::as_str).collect()
}

fn is_zero(value: &Value) -> bool {
    [json!({}), json!(""), json!(0), json!(false)].contains(value)
}

/// The type of a definition without fields.
fn form(name: &str, definition: &Value) -> String {
    match (text(definition, "type"), text(definition, "format"), name) {
        (_, "int-or-string", _) => "int-or-string".to_owned(),
        ("string", format, _) => format!("string {format}"),
        ("object", _, _) => "object".to_owned(),
        (_, _, "Quantity") => "quantity".to_owned(),
        _ => "any".to_owned(),
    }
}
