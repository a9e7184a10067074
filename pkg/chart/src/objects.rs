//! The objects that templates see beside the values: `.Chart`, `.Capabilities`, `.Files`.
//!
//! Source: Helm 3.22 pkg/engine, pkg/chart, pkg/chartutil.

use template::{Elem, List, Map, Record, Str, Value};

use crate::capabilities::{Capabilities, KubeVersion};
use crate::instance::Instance;
use crate::metadata::{Dependency, Metadata};
use crate::value_tree::ValueTree;

/// The version of Helm that templates see.
const HELM_VERSION: &str = "v3.22.0";

/// Keeps the keys that Go prints with `omitempty`.
fn non_empty(entries: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    entries.into_iter().filter(|(_, value)| value.is_true()).collect()
}

/// Creates `.Chart`.
pub(crate) fn chart(instance: &Instance, is_root: bool) -> Value {
    let metadata = metadata(&instance.chart.metadata, &instance.name, instance.dependencies.as_deref());
    Record {
        type_name: "struct { chart.Metadata; IsRoot bool }",
        fields: vec![("Metadata", metadata), ("IsRoot", is_root.into())],
        json: vec![("IsRoot", is_root.into())],
        is_embedding: true,
        ..Record::default()
    }
    .share()
}

/// Creates the metadata of a chart, for templates and for `show chart`.
pub(crate) fn metadata(metadata: &Metadata, name: &str, dependencies: Option<&[Dependency]>) -> Value {
    let text = |text: &String| Value::string(text.as_str());
    let texts = |texts: &[String]| {
        if texts.is_empty() {
            Value::List(List::nil(Elem::String))
        } else {
            Value::strings(texts.iter().map(String::as_str))
        }
    };
    let maintainers = metadata.maintainers.iter().map(|maintainer| {
        let fields = vec![
            ("Name", text(&maintainer.name)),
            ("Email", text(&maintainer.email)),
            ("URL", text(&maintainer.url)),
        ];
        let json = fields.iter().map(|(key, value)| (lower(key), value.clone())).collect();
        Record { type_name: "*chart.Maintainer", fields, json: non_empty(json), ..Record::default() }.share()
    });
    let maintainers = Value::List(List::new(Elem::Any, maintainers.collect()));
    let dependencies = dependencies.unwrap_or_default().iter().map(dependency).collect();
    let annotations = metadata.annotations.iter().map(|(key, value)| (Str::from(key.as_str()), text(value)));
    let annotations = if metadata.annotations.is_empty() {
        Map::nil()
    } else {
        Map::new(Elem::String, annotations.collect())
    };
    let fields = vec![
        ("Name", name.into()),
        ("Home", text(&metadata.home)),
        ("Sources", texts(&metadata.sources)),
        ("Version", text(&metadata.version)),
        ("Description", text(&metadata.description)),
        ("Keywords", texts(&metadata.keywords)),
        ("Maintainers", maintainers),
        ("Icon", text(&metadata.icon)),
        ("APIVersion", text(&metadata.api_version)),
        ("Condition", text(&metadata.condition)),
        ("Tags", text(&metadata.tags)),
        ("AppVersion", text(&metadata.app_version)),
        ("Deprecated", metadata.deprecated.into()),
        ("Annotations", Value::Map(annotations)),
        ("KubeVersion", text(&metadata.kube_version)),
        ("Dependencies", Value::List(List::new(Elem::Any, dependencies))),
        ("Type", text(&metadata.kind)),
    ];
    let json = fields.iter().map(|(key, value)| (lower(key), value.clone())).collect();
    Record { type_name: "chart.Metadata", fields, json: non_empty(json), ..Record::default() }.share()
}

fn dependency(dependency: &Dependency) -> Value {
    let imports =
        dependency.import_values.iter().map(|import| ValueTree::from_json(import).to_value()).collect();
    let tags = Value::strings(dependency.tags.iter().map(String::as_str));
    let fields = vec![
        ("Name", dependency.name.as_str().into()),
        ("Version", dependency.version.as_str().into()),
        ("Repository", dependency.repository.as_str().into()),
        ("Condition", dependency.condition.as_str().into()),
        ("Tags", tags),
        ("Enabled", dependency.enabled.into()),
        ("ImportValues", Value::list(imports)),
        ("Alias", dependency.alias.as_str().into()),
    ];
    let is_printed = |(key, value): &(&str, Value)| matches!(*key, "Name" | "Repository") || value.is_true();
    let json = fields
        .iter()
        .filter(|field| is_printed(field))
        .map(|(key, value)| (lower(key), value.clone()))
        .collect();
    Record { type_name: "*chart.Dependency", fields, json, ..Record::default() }.share()
}

/// Returns the key of a field in JSON.
fn lower(field: &'static str) -> &'static str {
    match field {
        "Name" => "name",
        "Home" => "home",
        "Sources" => "sources",
        "Version" => "version",
        "Description" => "description",
        "Keywords" => "keywords",
        "Maintainers" => "maintainers",
        "Icon" => "icon",
        "APIVersion" => "apiVersion",
        "Condition" => "condition",
        "Tags" => "tags",
        "AppVersion" => "appVersion",
        "Deprecated" => "deprecated",
        "Annotations" => "annotations",
        "KubeVersion" => "kubeVersion",
        "Dependencies" => "dependencies",
        "Type" => "type",
        "Email" => "email",
        "URL" => "url",
        "Repository" => "repository",
        "Enabled" => "enabled",
        "ImportValues" => "import-values",
        "Alias" => "alias",
        other => other,
    }
}

/// Creates `.Capabilities`.
pub(crate) fn capabilities(capabilities: &Capabilities) -> Value {
    let mut fields = capability_fields(capabilities);
    fields.push(("HelmVersion", helm_version()));
    Record { type_name: "*chartutil.Capabilities", json: fields.clone(), fields, ..Record::default() }.share()
}

impl Capabilities {
    /// Creates `.Capabilities` for templates, without the version of Helm.
    pub fn to_value(&self) -> Value {
        let mut fields = capability_fields(self);
        fields[0].1 = runtime_kube_version(&self.kube_version);
        let lower = [("kubeVersion", 0), ("apiVersions", 1)];
        let json = lower.map(|(key, index): (&'static str, usize)| (key, fields[index].1.clone())).into();
        Record { type_name: "*helm.Capabilities", fields, json, ..Record::default() }.share()
    }
}

fn capability_fields(capabilities: &Capabilities) -> Vec<(&'static str, Value)> {
    let versions = capabilities.api_versions.iter().map(|version| Value::string(version.as_str())).collect();
    vec![
        ("KubeVersion", kube_version(&capabilities.kube_version)),
        ("APIVersions", Value::List(List::new(Elem::Versions, versions))),
    ]
}

fn kube_version(version: &KubeVersion) -> Value {
    let fields = vec![
        ("Version", version.version.as_str().into()),
        ("Major", version.major.as_str().into()),
        ("Minor", version.minor.as_str().into()),
    ];
    Record {
        type_name: "chartutil.KubeVersion",
        json: fields.clone(),
        fields,
        action_text: Some(version.version.clone()),
        methods: &["String", "GitVersion"],
        ..Record::default()
    }
    .share()
}

/// The version of Kubernetes with the names of the runtime of components in JSON.
fn runtime_kube_version(version: &KubeVersion) -> Value {
    let text = |text: &String| Value::from(text.as_str());
    let json = vec![
        ("version", text(&version.version)),
        ("major", text(&version.major)),
        ("minor", text(&version.minor)),
        ("gitVersion", text(&version.version)),
    ];
    let names = ["Version", "Major", "Minor", "GitVersion"];
    let fields = names.into_iter().zip(&json).map(|(name, (_, value))| (name, value.clone())).collect();
    Record {
        type_name: "helm.KubeVersion",
        fields,
        json,
        action_text: Some(version.version.clone()),
        methods: &["String"],
        ..Record::default()
    }
    .share()
}

fn helm_version() -> Value {
    let (version, go) = (Value::from(HELM_VERSION), Value::from("go1.26.8"));
    let fields = vec![
        ("Version", version.clone()),
        ("GitCommit", "".into()),
        ("GitTreeState", "clean".into()),
        ("GoVersion", go.clone()),
    ];
    let json = vec![("version", version), ("git_tree_state", "clean".into()), ("go_version", go)];
    Record { type_name: "version.BuildInfo", fields, json, ..Record::default() }.share()
}
