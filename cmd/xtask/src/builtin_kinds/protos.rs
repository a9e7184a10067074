use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

/// The messages of protobuf files, by full name, with information from the Go types beside them.
#[derive(Default)]
pub(super) struct Protos {
    messages: BTreeMap<String, Vec<Field>>,
    /// The tags of Go fields, by `package.Type/field`.
    tags: BTreeMap<String, Tag>,
}

/// The position of a field in protobuf, and its Go tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldPosition {
    /// The field number. For fields of an inlined message, the path of numbers, such as `2.1`.
    pub(super) numbers: String,
    pub(super) tag: Tag,
}

/// Field properties that only the Go struct defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) is_pointer: bool,
    pub(super) omits_empty: bool,
    pub(super) omits_zero: bool,
}

struct Field {
    name: String,
    number: u32,
    /// The full name of a message, or a scalar type.
    kind: String,
}

impl Protos {
    /// Reads every `generated.proto` below the folders.
    pub(super) fn read(folders: &[PathBuf]) -> Result<Self> {
        let mut protos = Self::default();
        for folder in folders {
            protos.read_folder(folder)?;
        }
        Ok(protos)
    }

    fn read_folder(&mut self, folder: &Path) -> Result<()> {
        let context = || format!("cannot read `{}`", folder.display());
        let mut package = None;
        if let Ok(file) = fs::read_to_string(folder.join("generated.proto")) {
            package = Some(self.add(&file).to_owned());
        }
        for entry in fs::read_dir(folder).with_context(context)? {
            let path = entry.with_context(context)?.path();
            if path.is_dir() {
                self.read_folder(&path)?;
            } else if let Some(package) =
                package.as_ref().filter(|_| path.extension().is_some_and(|e| e == "go"))
            {
                self.add_tags(package, &fs::read_to_string(&path).with_context(context)?);
            }
        }
        Ok(())
    }

    /// Records the tags of the structs in a Go file.
    fn add_tags(&mut self, package: &str, file: &str) {
        let mut owner = "";
        for line in file.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["type", name, "struct", "{"] => owner = name,
                [_, kind, ..] => {
                    let tag = line.split_once("json:\"").and_then(|(_, tag)| tag.split('"').next());
                    let Some((name, options)) = tag.map(|tag| tag.split_once(',').unwrap_or((tag, "")))
                    else {
                        continue;
                    };
                    let has = |option: &str| options.split(',').any(|it| it == option);
                    let (omits_empty, omits_zero) = (has("omitempty"), has("omitzero"));
                    let tag = Tag { is_pointer: kind.starts_with('*'), omits_empty, omits_zero };
                    self.tags.insert(format!("{package}.{owner}/{name}"), tag);
                }
                _ => {}
            }
        }
    }

    /// Adds the messages of one file. Returns its package.
    /// Shape: the output of go-to-protobuf, with one field per line and no nested messages.
    fn add<'a>(&mut self, file: &'a str) -> &'a str {
        let mut package = "";
        let mut message = None;
        for line in file.lines().map(str::trim) {
            let words: Vec<_> = line.trim_end_matches(';').split_whitespace().collect();
            match words[..] {
                ["package", name] => package = name,
                ["message", name, "{"] => {
                    let name = format!("{package}.{name}");
                    self.messages.insert(name.clone(), Vec::new());
                    message = Some(name);
                }
                ["}"] => message = None,
                ["optional" | "repeated" | "map<string,", kind, name, "=", number] => {
                    let Some(fields) = message.as_ref().and_then(|name| self.messages.get_mut(name)) else {
                        continue;
                    };
                    let kind = kind.trim_end_matches('>');
                    let kind =
                        kind.strip_prefix('.').map_or_else(|| format!("{package}.{kind}"), str::to_owned);
                    if let Ok(number) = number.parse() {
                        fields.push(Field { name: name.to_owned(), number, kind });
                    }
                }
                _ => {}
            }
        }
        package
    }

    /// The position of a field of a definition. The case of the first letter may differ in protobuf.
    pub(super) fn find_field(&self, definition: &str, field: &str) -> Option<FieldPosition> {
        self.find_in_message(&message_name(definition), field)
    }

    fn find_in_message(&self, message: &str, name: &str) -> Option<FieldPosition> {
        let fields = self.messages.get(message)?;
        let wanted = proto_name(name);
        if let Some(field) = fields.iter().find(|field| field.name.eq_ignore_ascii_case(&wanted)) {
            let tag = self.tags.get(&format!("{message}/{name}")).copied().unwrap_or_default();
            return Some(FieldPosition { numbers: field.number.to_string(), tag });
        }
        fields.iter().filter(|field| is_inlined(field)).find_map(|field| {
            let rest = self.find_in_message(&field.kind, name)?;
            Some(FieldPosition { numbers: format!("{}.{}", field.number, rest.numbers), ..rest })
        })
    }
}

/// True for a field whose message JSON inlines. go-to-protobuf names such a field after its type.
fn is_inlined(field: &Field) -> bool {
    let kind = field.kind.rsplit('.').next().unwrap_or_default();
    kind.eq_ignore_ascii_case(&field.name) || (kind, &*field.name) == ("ProbeHandler", "handler")
}

/// The protobuf name of a definition: `io.k8s.api.core.v1.Pod` becomes `k8s.io.api.core.v1.Pod`.
fn message_name(definition: &str) -> String {
    let rest = definition.strip_prefix("io.k8s.").unwrap_or(definition);
    format!("k8s.io.{}", rest.replace('-', "_"))
}

/// The protobuf name of a field: `$ref` becomes `ref`, `x-kubernetes-map-type` becomes `xKubernetesMapType`.
fn proto_name(field: &str) -> String {
    let mut words = field.trim_start_matches('$').split('-');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "package k8s.io.api.x.v1;\n// optional string no = 7;\nmessage Key {\n\
        optional Reference reference = 1;\noptional string key = 2;\nmap<string, .k8s.io.y.Q> limits = 3;\n}\n\
        message Reference {\n  optional string name = 4;\n}\n";

    #[test]
    fn fields_have_numbers_and_inlined_fields_a_path() {
        let mut protos = Protos::default();
        protos.add(FILE);
        protos.add_tags(
            "k8s.io.api.x.v1",
            "type Reference struct {\n\tName *string `json:\"name,omitempty\"`\n}\n\
             type Key struct {\n\tKey string `json:\"key,omitempty\"`\n}\n",
        );
        let place = |field| protos.find_field("io.k8s.api.x.v1.Key", field);
        let omitted = Tag { omits_empty: true, ..Tag::default() };
        let at = |numbers: &str, tag| Some(FieldPosition { numbers: numbers.to_owned(), tag });
        assert_eq!(place("key"), at("2", omitted));
        assert_eq!(place("limits"), at("3", Tag::default()));
        assert_eq!(place("name"), at("1.4", Tag { is_pointer: true, ..omitted }));
        assert_eq!(place("no"), None);
    }

    #[test]
    fn names_are_converted_like_go() {
        assert_eq!(proto_name("$ref"), "ref");
        assert_eq!(proto_name("x-kubernetes-list-map-keys"), "xKubernetesListMapKeys");
    }
}
