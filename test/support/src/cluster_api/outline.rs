//! The objects of a namespace with their owners, for snapshots.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::Value;

use super::definitions::KINDS;
use crate::{fixture::Fixture, kind};

/// Renders one line per object of a namespace: kind, name, owners, and the short name of each finalizer:
///
/// ```text
/// Machine a-0: controlled by MachineSet a [machine]
/// ```
///
/// Includes the kinds of the builders, Secrets, and ConfigMaps except `kube-root-ca.crt`, which exists in every
/// namespace. An owner is `missing` if it does not exist or has another uid.
pub async fn outline(lab: &Fixture, namespace: &str) -> String {
    let mut objects = Vec::new();
    for kind in KINDS.iter().chain(&[kind::CONFIG_MAP, kind::SECRET]) {
        objects.extend(lab.list(*kind).await.into_iter().map(|object| (kind.kind, object)));
    }
    let name_of = |(kind, object): &(&str, Value)| format!("{kind} {}", text(&object["metadata"], "name"));
    let names: BTreeMap<_, _> =
        objects.iter().map(|one| (text(&one.1["metadata"], "uid"), name_of(one))).collect();
    let owner = |reference: &Value| {
        let verb = if reference["controller"] == true { "controlled" } else { "owned" };
        let name = format!("{} {}", text(reference, "kind"), text(reference, "name"));
        let missing = if names.get(text(reference, "uid")) == Some(&name) { "" } else { "missing " };
        format!("{verb} by {missing}{name}")
    };
    let mut outline = String::new();
    let is_told = |metadata: &Value| {
        text(metadata, "namespace") == namespace && text(metadata, "name") != "kube-root-ca.crt"
    };
    for one in objects.iter().filter(|one| is_told(&one.1["metadata"])) {
        let items = |field: &str| one.1["metadata"][field].as_array().into_iter().flatten();
        let owners: Vec<_> = items("ownerReferences").map(owner).collect();
        let finalizers: Vec<_> = items("finalizers").filter_map(Value::as_str).map(short).collect();
        outline += &name_of(one);
        if !owners.is_empty() {
            let _ = write!(outline, ": {}", owners.join(", "));
        }
        if !finalizers.is_empty() {
            let _ = write!(outline, " [{}]", finalizers.join(", "));
        }
        outline.push('\n');
    }
    outline
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or_default()
}

/// The short name: both `machine.cluster.x-k8s.io` and `cluster.x-k8s.io/machine` become `machine`.
fn short(finalizer: &str) -> &str {
    match finalizer.split_once('/') {
        Some((_, name)) => name,
        None => finalizer.split(".cluster.x-k8s.io").next().unwrap_or(finalizer),
    }
}
