//! Parser of `resources.txt`.

const ALL_VERBS: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// A resource line of the table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Resource {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) package: &'static str,
    pub(super) plural: &'static str,
    pub(super) singular: &'static str,
    pub(super) kind: &'static str,
    pub(super) namespaced: bool,
    pub(super) verbs: Vec<&'static str>,
    pub(super) short_names: Vec<&'static str>,
    pub(super) categories: Vec<&'static str>,
    /// The storage group and version.
    pub(super) stored: (&'static str, &'static str),
    pub(super) subresources: Vec<Subresource>,
}

/// A subresource line of the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subresource {
    pub(super) name: &'static str,
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) verbs: Vec<&'static str>,
}

/// Parses all resources of the table.
pub(super) fn read(table: &'static str) -> Result<Vec<Resource>, String> {
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
                let mut resource = Resource {
                    group,
                    version,
                    package,
                    plural,
                    singular,
                    kind,
                    namespaced: *scope == "namespaced",
                    verbs: self::verbs(verbs),
                    stored: (group, version),
                    ..Resource::default()
                };
                more.iter().try_for_each(|word| add_word(&mut resource, word))?;
                resources.push(resource);
            }
            (4, [name, kind, verbs]) => {
                let owner = resources.last_mut().ok_or_else(|| format!("`{line}` belongs to no resource"))?;
                let (kind, of) = kind.split_once('@').unwrap_or((kind, ""));
                let (group, version) = if of.is_empty() { (group, version) } else { split_version(of) };
                let verbs = self::verbs(verbs);
                owner.subresources.push(Subresource { name, group, version, kind, verbs });
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
    let list = || values.split(',').collect();
    match word {
        "short" => resource.short_names = list(),
        "category" => resource.categories = list(),
        "stored" => resource.stored = split_version(values),
        _ => return Err(format!("`{word}` is not an attribute of a resource")),
    }
    Ok(())
}

fn verbs(text: &'static str) -> Vec<&'static str> {
    if text == "every" { ALL_VERBS } else { text }.split(',').collect()
}

/// Splits `apps/v1` or `v1` into group and version.
fn split_version(api_version: &'static str) -> (&'static str, &'static str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
