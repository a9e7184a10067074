//! Validation of definitions: versions, names and conversion; schemas and columns are apart.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apis/apiextensions/validation`. The real server validates its internal
//! form, which stores fields once if all versions agree. Errors in the schema of a single version therefore have the
//! path `spec.validation.openAPIV3Schema`, also here.
//!
//! Differs: printed lists of versions omit schemas, columns and subresources.

mod columns;
mod schema;
mod structural;

use serde_json::Value;

use crate::{
    builtin::{self, FieldPath, NameRule},
    meta::dns_subdomain_problems,
    status::{FieldError, FieldErrorKind, FieldErrors},
};

/// The approval annotation that groups of the Kubernetes community need.
const APPROVAL_ANNOTATION: &str = "api-approved.kubernetes.io";

/// Returns all errors of a definition except errors of its metadata. `old` is the stored definition at an update.
/// Defaults must already be set.
pub(crate) fn validate(definition: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (group, plural) = (text(definition, "/spec/group"), text(definition, "/spec/names/plural"));
    let name = text(definition, "/metadata/name");
    if old.is_none() && name != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.invalid("metadata.name", name, detail);
    }
    spec(definition, &mut errors);
    if let Some(old) = old {
        immutable(definition, old, &mut errors);
    }
    stored_versions(definition, old, &mut errors);
    approval(definition, old, &mut errors);
    let preserved = |definition: &Value| flag(definition, "/spec/preserveUnknownFields");
    if preserved(definition) && !old.is_some_and(preserved) {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.invalid("spec.preserveUnknownFields", true, detail);
    }
    errors
}

/// Returns the text at a JSON pointer, or an empty text.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Joins the problems of a DNS label that starts with a letter: `None` if the label is valid.
fn label_error(text: &str) -> Option<String> {
    let problems = NameRule::Dns1035Label.problems(text, false);
    (!problems.is_empty()).then(|| problems.join(","))
}

fn spec(definition: &Value, errors: &mut Vec<FieldError>) {
    let group = text(definition, "/spec/group");
    let problems = dns_subdomain_problems(group);
    if group.is_empty() {
        errors.required("spec.group", "");
    } else if !problems.is_empty() {
        errors.invalid("spec.group", group, problems.join(","));
    } else if !group.contains('.') {
        errors.invalid("spec.group", group, "should be a domain with at least one dot");
    }
    match text(definition, "/spec/scope") {
        "" => errors.required("spec.scope", ""),
        "Cluster" | "Namespaced" => {}
        other => errors.not_supported("spec.scope", other, &["Cluster", "Namespaced"]),
    }
    versions(definition, errors);
    validate_spec_names(definition, errors);
    if is_equal_in_all_versions(definition, "schema") {
        version_schema(definition, 0, "spec.validation", errors);
    }
    let first = list(definition, "/spec/versions").first();
    for (field, path, check) in VERSION_CHECKS {
        if let Some(version) = first.filter(|_| is_equal_in_all_versions(definition, field))
            && (field != SELECTABLE_FIELDS || has_matching_schema(definition, version, path, errors))
        {
            check(version, path, errors);
        }
    }
    validate_conversion(definition, errors);
}

const SELECTABLE_FIELDS: &str = "selectableFields";

/// Checks that selectable fields and schema are at the same level: both once for all versions, or both per version.
/// Reports a mismatch with the messages of the real server, although the messages are misleading.
fn has_matching_schema(
    definition: &Value,
    version: &Value,
    path: &str,
    errors: &mut Vec<FieldError>,
) -> bool {
    let once = is_equal_in_all_versions(definition, SELECTABLE_FIELDS);
    if list(version, "/selectableFields").is_empty() || once == is_equal_in_all_versions(definition, "schema")
    {
        return true;
    }
    let detail = if once {
        "may only be set when validations.schema is included"
    } else {
        "may only be set when `version.schema.openAPIV3Schema` is not included"
    };
    errors.invalid(path, "", detail);
    false
}

/// Parts of a version besides its schema: field, path of errors if all versions agree, and check.
type Check = fn(&Value, &str, &mut Vec<FieldError>);
const VERSION_CHECKS: [(&str, &str, Check); 3] = [
    ("subresources", "spec.subresources", columns::subresources),
    ("additionalPrinterColumns", "spec.additionalPrinterColumns", columns::printer_columns),
    (SELECTABLE_FIELDS, "spec.selectableFields", columns::selectable_fields),
];

fn is_equal_in_all_versions(definition: &Value, field: &str) -> bool {
    let mut versions = list(definition, "/spec/versions").iter().map(|version| version.get(field));
    let first = versions.next();
    first.is_some() && versions.all(|other| Some(other) == first)
}

fn versions(definition: &Value, errors: &mut Vec<FieldError>) {
    let versions = list(definition, "/spec/versions");
    for (index, version) in versions.iter().enumerate() {
        if version.pointer("/schema/openAPIV3Schema").is_none_or(Value::is_null) {
            let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
            errors.required(path, "");
        }
    }
    for (index, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{index}]");
        let name = text(version, "/name");
        if let Some(fault) = label_error(name) {
            errors.invalid(format_args!("{path}.name"), name, fault);
        }
        deprecation(version, &path, errors);
        if !is_equal_in_all_versions(definition, "schema") {
            version_schema(definition, index, &format!("{path}.schema"), errors);
        }
        for (field, _, check) in VERSION_CHECKS {
            let path = format!("{path}.{field}");
            if !is_equal_in_all_versions(definition, field)
                && (field != SELECTABLE_FIELDS || has_matching_schema(definition, version, &path, errors))
            {
                check(version, &path, errors);
            }
        }
    }
    let names: Vec<_> = versions.iter().map(|version| text(version, "/name")).collect();
    let unique = names.iter().enumerate().all(|(index, name)| !names[..index].contains(name));
    let storage = versions.iter().filter(|version| flag(version, "/storage")).count();
    for (fine, detail) in [
        (unique, "must contain unique version names"),
        (storage == 1, "must have exactly one version marked as storage version"),
    ] {
        if !fine {
            let detail = format!("{}: {detail}", printed_versions(versions));
            errors.push(FieldError::new(
                FieldErrorKind::InvalidUnquoted,
                "spec.versions",
                Value::Null,
                detail,
            ));
        }
    }
    if let Some(fault) = names.first().and_then(|name| label_error(name)) {
        errors.invalid("spec.version", names[0], fault);
    }
}

/// Formats the versions like the internal form of the real server.
fn printed_versions(versions: &[Value]) -> String {
    if versions.is_empty() {
        return "null".to_owned();
    }
    let print = |version: &Value| {
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":null,\
             \"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
            Value::from(text(version, "/name")),
            flag(version, "/served"),
            flag(version, "/storage"),
            flag(version, "/deprecated"),
            version.get("deprecationWarning").unwrap_or(&Value::Null),
        )
    };
    format!("[{}]", versions.iter().map(print).collect::<Vec<_>>().join(","))
}

fn deprecation(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let mut details = Vec::new();
    if flag(version, "/deprecated") {
        if warning.len() > 256 {
            details.push("must be <= 256 characters long".to_owned());
        }
        if warning.is_empty() {
            details.push("must not be an empty string".to_owned());
        }
        if let Some((index, _)) = warning.char_indices().find(|(_, c)| c.is_control()) {
            details.push(format!(
                "must only contain printable UTF-8 characters; non-printable character found at index {index}"
            ));
        }
    } else {
        details.push("can only be set for deprecated versions".to_owned());
    }
    let path = format!("{path}.deprecationWarning");
    errors.extend(details.into_iter().map(|detail| FieldError::invalid(&*path, warning, detail)));
}

fn version_schema(definition: &Value, index: usize, path: &str, errors: &mut Vec<FieldError>) {
    let version = &list(definition, "/spec/versions")[index];
    if let Some(source) = version.pointer("/schema/openAPIV3Schema").filter(|source| source.is_object()) {
        let status = version.pointer("/subresources/status").is_some_and(Value::is_object);
        errors.extend(schema::validate(source, &format!("{path}.openAPIV3Schema"), status));
    }
}

fn immutable(definition: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let conditions = list(old, "/status/conditions");
    let established = conditions
        .iter()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
    for (pointer, path, always) in [
        ("/spec/scope", "spec.scope", false),
        ("/spec/names/kind", "spec.names.kind", false),
        ("/spec/group", "spec.group", true),
        ("/spec/names/plural", "spec.names.plural", true),
    ] {
        if (always || established) && text(definition, pointer) != text(old, pointer) {
            errors.invalid(path, text(definition, pointer), "field is immutable");
        }
    }
}

/// The versions that stored objects may have: the stored versions of `old` and the first storage version of the
/// definition.
pub(super) fn new_stored_versions(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map_or(&[][..], |old| list(old, "/status/storedVersions"));
    let mut stored: Vec<String> = before.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let versions = list(definition, "/spec/versions");
    if let Some(storage) = versions.iter().find(|version| flag(version, "/storage")) {
        let name = text(storage, "/name");
        if !stored.iter().any(|stored| stored == name) {
            stored.push(name.to_owned());
        }
    }
    stored
}

fn stored_versions(definition: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const PATH: &str = "status.storedVersions";
    let stored = new_stored_versions(definition, old);
    if stored.is_empty() {
        errors.invalid(PATH, Value::Null, "must have at least one stored version");
        return;
    }
    let mut open: Vec<(usize, &String)> = stored.iter().enumerate().collect();
    for version in list(definition, "/spec/versions") {
        let name = text(version, "/name");
        let found = open.iter().position(|(_, stored)| *stored == name);
        match found {
            Some(at) => drop(open.remove(at)),
            None if flag(version, "/storage") => {
                let detail = format!("must have the storage version {name}");
                errors.invalid(PATH, stored.clone(), detail);
            }
            None => {}
        }
    }
    for (index, name) in open {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
             until a storage migration ensures no data remains persisted in {name} and removes {name} from \
             status.storedVersions"
        );
        errors.invalid(format_args!("{PATH}[{index}]"), name.as_str(), detail);
    }
}

#[derive(PartialEq, Eq)]
enum Approval {
    Missing,
    Invalid,
    Approved,
    Bypassed,
}

fn approval_of(definition: &Value) -> Approval {
    match annotation(definition) {
        "" => Approval::Missing,
        text if text.starts_with("unapproved") => Approval::Bypassed,
        text if text.split_once("://").is_some_and(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && !rest.is_empty()
                && !rest.starts_with('/')
        }) =>
        {
            Approval::Approved
        }
        _ => Approval::Invalid,
    }
}

fn annotation(definition: &Value) -> &str {
    let annotations = definition.pointer("/metadata/annotations");
    annotations.and_then(|annotations| annotations.get(APPROVAL_ANNOTATION)?.as_str()).unwrap_or_default()
}

fn approval(definition: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let group = text(definition, "/spec/group");
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|owner| group.strip_suffix(owner).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let state = approval_of(definition);
    if !protected || old.is_some_and(|old| approval_of(old) == state) {
        return;
    }
    let path = format!("metadata.annotations[{APPROVAL_ANNOTATION}]");
    let needs = format!("protected groups must have approval annotation \"{APPROVAL_ANNOTATION}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match state {
        Approval::Missing => errors.required(path, format!("{needs}, {see}")),
        Approval::Invalid => {
            let detail = format!("{needs} with either a URL or a reason starting with \"unapproved\", {see}");
            errors.invalid(path, annotation(definition), detail);
        }
        Approval::Approved | Approval::Bypassed => {}
    }
}

/// Checks `spec.names`, in which some names are required.
fn validate_spec_names(definition: &Value, errors: &mut Vec<FieldError>) {
    for name in ["plural", "singular", "kind", "listKind"] {
        if text(definition, &format!("/spec/names/{name}")).is_empty() {
            errors.required(format_args!("spec.names.{name}"), "");
        }
    }
    if let Some(names) = definition.pointer("/spec/names") {
        errors.extend(validate_names(names, "spec.names"));
    }
}

fn validate_names(names: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, mixed) in [("plural", false), ("singular", false), ("kind", true), ("listKind", true)] {
        let name = text(names, &format!("/{field}"));
        let checked = if mixed { name.to_lowercase() } else { name.to_owned() };
        if let Some(fault) = label_error(&checked).filter(|_| !name.is_empty()) {
            let prefix = if mixed { "may have mixed case, but should otherwise match: " } else { "" };
            errors.invalid(format_args!("{path}.{field}"), name, format!("{prefix}{fault}"));
        }
    }
    let mut each = |field: &str| {
        for (index, name) in list(names, &format!("/{field}")).iter().enumerate() {
            let name = name.as_str().unwrap_or_default();
            if let Some(fault) = label_error(name) {
                errors.invalid(format_args!("{path}.{field}[{index}]"), name, fault);
            }
        }
    };
    each("shortNames");
    let kind = text(names, "/kind");
    if !kind.is_empty() && kind == text(names, "/listKind") {
        let detail = "kind and listKind may not be the same";
        errors.invalid(format_args!("{path}.listKind"), kind, detail);
    }
    for (index, name) in list(names, "/categories").iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        if let Some(fault) = label_error(name) {
            errors.invalid(format_args!("{path}.categories[{index}]"), name, fault);
        }
    }
    errors
}

const PATH: &str = "spec.conversion";

/// Checks `spec.conversion`. Errors have the paths of the internal form of the real server (`webhookClientConfig`).
fn validate_conversion(definition: &Value, errors: &mut Vec<FieldError>) {
    let Some(conversion) = definition.pointer("/spec/conversion").filter(|value| value.is_object()) else {
        return;
    };
    let strategy = text(conversion, "/strategy");
    match strategy {
        "" => errors.required(format_args!("{PATH}.strategy"), ""),
        "None" | "Webhook" => {}
        other => {
            errors.not_supported(format_args!("{PATH}.strategy"), other, &["None", "Webhook"]);
        }
    }
    let config = conversion.pointer("/webhook/clientConfig").filter(|config| config.is_object());
    let versions = list(conversion, "/webhook/conversionReviewVersions");
    if strategy == "Webhook" {
        match config {
            None => {
                let path = format!("{PATH}.webhookClientConfig");
                errors.required(path, "required when strategy is set to Webhook");
            }
            Some(config) => {
                let path = FieldPath::Root("spec.conversion.webhookClientConfig");
                builtin::client_config(config, &path, errors);
            }
        }
        if versions.is_empty() {
            errors.required(format_args!("{PATH}.conversionReviewVersions"), "");
        } else {
            let versions = &conversion["webhook"]["conversionReviewVersions"];
            builtin::review_versions(
                versions,
                &FieldPath::Root("spec.conversion.conversionReviewVersions"),
                errors,
            );
        }
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    for (given, field) in
        [(config.is_some(), "webhookClientConfig"), (!versions.is_empty(), "conversionReviewVersions")]
    {
        if given {
            errors.forbidden(format_args!("{PATH}.{field}"), detail);
        }
    }
}
