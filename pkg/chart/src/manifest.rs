//! The documents that templates print, as manifests and hooks in Helm's order.
//!
//! Source: Helm 3.22 pkg/releaseutil.

mod block;

use std::collections::BTreeMap;

use memchr::memmem::Finder;
use serde_json::Value;

use crate::decode::{Fields, TypeError};
use crate::error::ChartError;
use crate::value_tree::read_json_text;

/// The order in which kinds are installed; other kinds follow by name.
const INSTALL_ORDER: [&str; 36] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// One document of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The template, with the path of its chart: `web/templates/deployment.yaml`.
    pub template: String,
    /// The text of the document.
    pub content: String,
    /// The API version; empty if the document has none.
    pub api_version: String,
    /// The kind; empty if the document has none.
    pub kind: String,
    /// The name; empty if the document has none.
    pub name: String,
    /// The facts of a hook; `None` for an object of the release.
    pub hook: Option<Hook>,
    /// The start of the text in the output of the template, in bytes.
    pub(crate) offset: usize,
}

/// The facts of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hook {
    /// The events, such as `pre-install`.
    pub events: Vec<HookEvent>,
    /// The weight; hooks of one event run from the lowest to the highest.
    pub weight: i64,
    /// The values of `helm.sh/hook-delete-policy`.
    pub delete_policies: Vec<String>,
    /// The values of `helm.sh/hook-output-log-policy`.
    pub output_log_policies: Vec<String>,
}

/// An event that runs hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "Helm's events")]
pub enum HookEvent {
    PreInstall,
    PostInstall,
    PreDelete,
    PostDelete,
    PreUpgrade,
    PostUpgrade,
    PreRollback,
    PostRollback,
    Test,
}

impl HookEvent {
    /// Returns the event as the annotation `helm.sh/hook` names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::Test => "test",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "pre-install" => Self::PreInstall,
            "post-install" => Self::PostInstall,
            "pre-delete" => Self::PreDelete,
            "post-delete" => Self::PostDelete,
            "pre-upgrade" => Self::PreUpgrade,
            "post-upgrade" => Self::PostUpgrade,
            "pre-rollback" => Self::PreRollback,
            "post-rollback" => Self::PostRollback,
            "test" | "test-success" => Self::Test,
            _ => return None,
        })
    }
}

/// The documents of all templates.
#[derive(Default)]
pub(crate) struct Sorted {
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) hooks: Vec<Manifest>,
    /// Warnings of hooks with unknown events.
    pub(crate) unknown: Vec<String>,
}

impl Sorted {
    /// Reads the outputs of templates, given with their names.
    pub(crate) fn read(mut files: Vec<(String, String)>) -> Result<Self, ChartError> {
        files.sort();
        let mut sorted = Self::default();
        // Each output is freed once its documents are copied.
        for (template, output) in files {
            for document in documents(&output) {
                let offset = document.as_ptr().addr() - output.as_ptr().addr();
                sorted.add(&template, document, offset)?;
            }
        }
        sorted.manifests.sort_by(|left, right| order(&left.kind).cmp(&order(&right.kind)));
        sorted.hooks.sort_by(|left, right| order(&left.kind).cmp(&order(&right.kind)));
        Ok(sorted)
    }

    fn add(&mut self, template: &str, document: &str, offset: usize) -> Result<(), ChartError> {
        let head = match block::read(document) {
            Some(head) => head,
            None => Head::parse(template, document)?,
        };
        let Head { api_version, kind, name, annotations, .. } = head;
        let manifest = |hook| Manifest {
            template: template.to_owned(),
            content: document.to_owned(),
            api_version,
            kind,
            name,
            hook,
            offset,
        };
        let Some(events) = annotations.get("helm.sh/hook") else {
            self.manifests.push(manifest(None));
            return Ok(());
        };
        let parsed: Option<Vec<HookEvent>> =
            events.split(',').map(|event| HookEvent::parse(&event.trim().to_lowercase())).collect();
        let Some(events) = parsed else {
            self.unknown.push(format!("skipping unknown hook: {events:?}"));
            return Ok(());
        };
        let list = |name: &str| {
            let values = annotations.get(name).map(|text| text.split(','));
            values.into_iter().flatten().map(|value| value.trim().to_lowercase()).collect()
        };
        let weight = annotations.get("helm.sh/hook-weight").and_then(|text| text.parse().ok());
        let hook = Hook {
            events,
            weight: weight.unwrap_or_default(),
            delete_policies: list("helm.sh/hook-delete-policy"),
            output_log_policies: list("helm.sh/hook-output-log-policy"),
        };
        self.hooks.push(manifest(Some(hook)));
        Ok(())
    }
}

/// Returns the position of a kind in the order of installation; unknown kinds come last, by name.
fn order(kind: &str) -> (usize, &str) {
    match INSTALL_ORDER.iter().position(|known| *known == kind) {
        Some(position) => (position, ""),
        None => (INSTALL_ORDER.len(), kind),
    }
}

/// The fields of an object that decide about its place.
#[derive(Default)]
struct Head {
    api_version: String,
    kind: String,
    name: String,
    annotations: BTreeMap<String, String>,
}

impl Head {
    fn parse(template: &str, document: &str) -> Result<Self, ChartError> {
        let json = read_json_text(document).map_err(|error| ChartError::ManifestYaml {
            template: template.to_owned(),
            error,
            output: document.to_owned(),
        })?;
        Self::of_json(&json).map_err(|error| ChartError::ManifestField {
            template: template.to_owned(),
            error,
            output: document.to_owned(),
        })
    }

    fn of_json(json: &Value) -> Result<Self, TypeError> {
        let fields = Fields::of(json, "SimpleHead", "releaseutil.SimpleHead")?;
        let mut head = Self::default();
        fields.text("apiVersion", &mut head.api_version)?;
        fields.text("kind", &mut head.kind)?;
        let metadata = fields.get("metadata").unwrap_or(&Value::Null);
        let metadata = Fields::of(metadata, "SimpleHead.metadata", "struct")?;
        metadata.text("name", &mut head.name)?;
        metadata.table("annotations", &mut head.annotations)?;
        Ok(head)
    }
}

/// Splits an output into documents, at `---` at the start of any line.
pub(crate) fn documents(output: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(output.trim());
    // A separator at the very start has nothing before it.
    if let Some(text) = rest.and_then(|text| text.strip_prefix("---")) {
        rest = Some(text.trim_start_matches(is_space));
    }
    let separator = Finder::new("\n---");
    let parts = std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(at) = separator.find(text.as_bytes()) else { return Some(text) };
        rest = Some(text[at + 4..].trim_start_matches(is_space));
        Some(text[..at].trim_end_matches(is_space))
    });
    parts.filter(|part| !part.is_empty()).map(str::trim)
}

fn is_space(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\x0C' | '\r' | ' ')
}
