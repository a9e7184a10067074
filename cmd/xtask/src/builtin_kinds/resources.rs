use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::documents::{Documents, GroupVersion, array, text};

const HEADING: &str = "\
# Written by `cargo xtask builtin-kinds`: the resources of a kube-apiserver, in the order of its discovery.
#   group/version   the package of its definitions in shapes.txt
#     plural singular Kind namespaced|cluster verbs [short(a,b)] [category(a,b)] [stored(group/version)]
#       subresource Kind verbs; Kind@group/version when it is of another
# `every` stands for create, delete, deletecollection, get, list, patch, update, watch.
";

const ALL_VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// The table of resources.
pub(super) fn table(documents: &Documents) -> Result<String> {
    let mut table = HEADING.to_owned();
    for version in &documents.versions {
        group_version(&mut table, documents, version)?;
    }
    Ok(table)
}

fn group_version(table: &mut String, documents: &Documents, version: &GroupVersion) -> Result<()> {
    let package = package(documents, version)?;
    let _ = writeln!(table, "{} {package}", api_version(&version.group, &version.version));
    for resource in array(&version.resources, "resources") {
        let (kind, verbs) = (text(resource, "kind"), verbs(resource));
        if let Some((_, subresource)) = text(resource, "name").split_once('/') {
            let foreign = match text(resource, "version") {
                "" => String::new(),
                version => format!("@{}", api_version(text(resource, "group"), version)),
            };
            let _ = writeln!(table, "    {subresource} {kind}{foreign} {verbs}");
            continue;
        }
        let scope = if resource["namespaced"] == true { "namespaced" } else { "cluster" };
        let (plural, singular) = (text(resource, "name"), text(resource, "singularName"));
        let _ = write!(table, "  {plural} {singular} {kind} {scope} {verbs}");
        for (word, values) in [("short", "shortNames"), ("category", "categories")] {
            let values: Vec<_> = array(resource, values).iter().filter_map(Value::as_str).collect();
            if !values.is_empty() {
                let _ = write!(table, " {word}({})", values.join(","));
            }
        }
        if let Some((group, version)) = stored_elsewhere(documents, version, resource) {
            let _ = write!(table, " stored({})", api_version(group, version));
        }
        table.push('\n');
    }
    Ok(())
}

/// The storage group and version of a resource, if different from its own. Derived from the hash in discovery. May be
/// an older version that is no longer served.
/// Source: kube-apiserver 1.36, discovery.StorageVersionHash (the first 8 bytes of SHA-256 of `group/version/Kind`).
fn stored_elsewhere<'a>(
    documents: &'a Documents,
    own: &'a GroupVersion,
    resource: &Value,
) -> Option<(&'a str, &'a str)> {
    let (kind, wanted) = (text(resource, "kind"), text(resource, "storageVersionHash"));
    let is_it = |(group, version): &(&str, &str)| {
        let digest = Sha256::digest(format!("{group}/{version}/{kind}"));
        BASE64_STANDARD.encode(&digest[..8]) == wanted
    };
    let itself = (own.group.as_str(), own.version.as_str());
    let served = documents.versions.iter().map(|version| (version.group.as_str(), version.version.as_str()));
    let older = ["v1beta1", "v1alpha1"].map(|version| (own.group.as_str(), version));
    served.chain(older).find(is_it).filter(|stored| *stored != itself)
}

/// The package of the definitions of a version, derived from its first resource.
fn package<'a>(documents: &'a Documents, version: &GroupVersion) -> Result<&'a str> {
    let first = array(&version.resources, "resources").first();
    let kind = first.map(|resource| text(resource, "kind")).unwrap_or_default();
    let definition = documents.definition_of(&version.group, &version.version, kind);
    let package = definition.and_then(|name| name.strip_suffix(kind)?.strip_suffix('.'));
    package.with_context(|| {
        format!("no definition of `{kind}` in `{}`", api_version(&version.group, &version.version))
    })
}

fn verbs(resource: &Value) -> String {
    let verbs: Vec<_> = array(resource, "verbs").iter().filter_map(Value::as_str).collect();
    if verbs == ALL_VERBS { "every".to_owned() } else { verbs.join(",") }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resource_is_one_line_followed_by_its_subresources() {
        let resources = json!({"resources": [
            {"name": "webs", "singularName": "web", "namespaced": true, "kind": "Web", "verbs": ALL_VERBS,
             "shortNames": ["w", "wb"], "categories": ["all"]},
            {"name": "webs/scale", "kind": "Scale", "group": "autoscaling", "version": "v1", "verbs": ["get", "update"]},
            {"name": "webs/status", "kind": "Web", "verbs": ["get"]},
        ]});
        let version = GroupVersion { group: "apps".to_owned(), version: "v1".to_owned(), resources };
        let definition =
            json!({"x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Web"}]});
        let definitions = [("io.k8s.api.apps.v1.Web".to_owned(), definition)].into();
        let table = table(&Documents { versions: vec![version], definitions }).unwrap();
        assert_eq!(
            table.strip_prefix(HEADING).unwrap(),
            "apps/v1 io.k8s.api.apps.v1\n\
             \x20 webs web Web namespaced every short(w,wb) category(all)\n\
             \x20   scale Scale@autoscaling/v1 get,update\n\
             \x20   status Web get\n"
        );
    }
}
