//! Parser of `resources.txt`.

use std::sync::Arc;

use crate::{
    kinds::{ResourceType, Subresource},
    schema::SchemaRoot,
};

const ALL_VERBS: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// A resource of the table.
pub(super) struct Resource {
    pub(super) package: &'static str,
    /// The storage group and version.
    pub(super) stored: (&'static str, &'static str),
    pub(super) served: ResourceType,
}

/// Parses all resources of the table. `schema` returns the schema of a kind of a package.
pub(super) fn read(
    table: &'static str,
    schema: impl Fn(&str, &str) -> SchemaRoot,
) -> Result<Vec<Resource>, String> {
    let mut resources: Vec<Resource> = Vec::new();
    let (mut group, mut version, mut package) = ("", "", "");
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<_> = line.split_whitespace().collect();
        match (indent, &words[..]) {
            (0, [own, name]) => {
                (group, version) = split_version(own);
                package = name;
            }
            (2, [plural, singular, kind, scope, verbs, more @ ..]) => {
                let served = ResourceType {
                    group: group.into(),
                    version: version.into(),
                    storage_version: version.into(),
                    plural: (*plural).into(),
                    singular: (*singular).into(),
                    kind: (*kind).into(),
                    list_kind: format!("{kind}List").into(),
                    short_names: Vec::new(),
                    categories: Vec::new(),
                    namespaced: *scope == "namespaced",
                    verbs: self::verbs(verbs),
                    subresources: Vec::new(),
                    schema: schema(package, kind),
                    custom: None,
                };
                let mut resource = Resource { package, stored: (group, version), served };
                more.iter().try_for_each(|word| add_word(&mut resource, word))?;
                resources.push(resource);
            }
            (4, [name, kind, verbs]) => {
                let owner = resources.last_mut().ok_or_else(|| format!("`{line}` belongs to no resource"))?;
                let (kind, of) = kind.split_once('@').unwrap_or((kind, ""));
                let (group, version) = if of.is_empty() { (group, version) } else { split_version(of) };
                owner.served.subresources.push(Subresource {
                    name: (*name).into(),
                    group: group.into(),
                    version: version.into(),
                    kind: kind.into(),
                    verbs: self::verbs(verbs),
                });
            }
            _ => return Err(format!("`{line}` is not a resource")),
        }
    }
    Ok(resources)
}

fn add_word(resource: &mut Resource, word: &'static str) -> Result<(), String> {
    let (word, values) = word
        .strip_suffix(')')
        .and_then(|word| word.split_once('('))
        .ok_or_else(|| format!("`{word}` is not an attribute of a resource"))?;
    let list = || values.split(',').map(Arc::from).collect();
    match word {
        "short" => resource.served.short_names = list(),
        "category" => resource.served.categories = list(),
        "stored" => resource.stored = split_version(values),
        _ => return Err(format!("`{word}` is not an attribute of a resource")),
    }
    Ok(())
}

fn verbs(text: &str) -> Vec<Arc<str>> {
    if text == "every" { ALL_VERBS } else { text }.split(',').map(Arc::from).collect()
}

/// Splits `apps/v1` or `v1` into group and version.
fn split_version(api_version: &'static str) -> (&'static str, &'static str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
