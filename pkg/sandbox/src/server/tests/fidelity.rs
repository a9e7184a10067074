//! Tests that the table of kinds in `docs/sandbox.md` matches the checks and simulations in the code.

use std::{collections::BTreeMap, fmt::Write as _};

use regex::Regex;

use crate::builtin;

/// Results of the simulated controllers by kind.
const SIMULATED: [(&str, &str); 16] = [
    ("APIService", "created for each custom group, and available at once"),
    ("ClusterRole", "has the rules of the roles that its aggregation rule selects"),
    ("DaemonSet", "one Pod, replaced when the template changes"),
    ("Deployment", "ReplicaSets, with rolling updates"),
    ("Endpoints", "created for each Service"),
    ("EndpointSlice", "created for each Service"),
    ("Job", "its Pods succeed, then it is complete"),
    ("MutatingWebhookConfiguration", "gets the CA of cert-manager; webhooks with a URL are called"),
    ("Namespace", "gets its ServiceAccount and ConfigMap; is emptied before its deletion"),
    ("Node", "one node, `sandbox`, is ready"),
    ("PersistentVolumeClaim", "is kept until no Pod uses it"),
    ("Pod", "bound to the node, running and ready at once"),
    ("ReplicaSet", "the requested number of Pods"),
    ("Service", "an address, Endpoints and an EndpointSlice"),
    ("StatefulSet", "numbered Pods, one after the other"),
    ("ValidatingWebhookConfiguration", "gets the CA of cert-manager; webhooks with a URL are called"),
];

/// Returns the plurals that a function dispatches on, as `plural.group`.
fn dispatched(source: &str) -> Vec<String> {
    let source = &source[source.find("match (").expect("a match on group and plural")..];
    let entry = Regex::new(r#"(?s)\(\s*"([a-z0-9.]*)",\s*((?:"[a-z]+"(?:\s*\|\s*)?)+),?\s*\) =>"#).unwrap();
    let plural = Regex::new("[a-z]+").unwrap();
    let kinds = entry.captures_iter(source).flat_map(|found| {
        let group = found[1].to_owned();
        plural.find_iter(&found[2]).map(move |name| format!("{}.{group}", name.as_str())).collect::<Vec<_>>()
    });
    kinds.collect()
}

fn table() -> String {
    let checked = dispatched(include_str!("../../builtin/rules/validation.rs"));
    let mut rows = BTreeMap::new();
    for resource in builtin::resources() {
        let is_checked = checked.contains(&format!("{}.{}", resource.plural, resource.group));
        let simulated = SIMULATED.iter().find(|(kind, _)| **kind == *resource.kind).map(|(_, text)| *text);
        let is_event = &*resource.group == "events.k8s.io";
        if (is_checked || simulated.is_some()) && !is_event {
            let group = if resource.group.is_empty() { "core" } else { &resource.group };
            let checks = if is_checked { "yes" } else { "types only" };
            let text = format!("| {group} | {checks} | {} |", simulated.unwrap_or_default());
            rows.insert(resource.kind.to_string(), text);
        }
    }
    let mut table = String::from("| Kind | Group | Values checked | Simulated |\n|---|---|---|---|\n");
    for (kind, row) in rows {
        writeln!(table, "| {kind} {row}").unwrap();
    }
    table
}

#[test]
fn the_page_lists_the_kinds_that_are_checked_and_simulated() {
    let page = include_str!("../../../../../docs/sandbox.md");
    let table = table();
    assert!(page.contains(&table), "docs/sandbox.md needs this table:\n{table}");
    let controllers = include_str!("../../controllers/workloads.rs");
    for kind in Regex::new(r#"(?m)^ +"([A-Z]\w+)" =>"#).unwrap().captures_iter(controllers) {
        assert!(SIMULATED.iter().any(|(name, _)| *name == &kind[1]), "{} is simulated", &kind[1]);
    }
}
