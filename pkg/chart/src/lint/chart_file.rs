//! The rules for `Chart.yaml`.

use serde_json::Value;

use super::address::{is_email, is_request_url, is_url};
use super::{Findings, file};
use crate::files::ChartFile;
use crate::metadata::{Maintainer, Metadata};
use crate::value_tree::{go_text, read_json};

const CHART_FILE: &str = "Chart.yaml";

pub(super) fn check(files: &[ChartFile], findings: &mut Findings) {
    let Some(chart_file) = file(files, CHART_FILE) else {
        return findings.error(CHART_FILE, "the file does not exist");
    };
    let json = match read_json(&chart_file.content) {
        Ok(json) => json,
        Err(error) => {
            let reason = format!("error converting YAML to JSON: yaml: {}", go_text(&error));
            return findings.error(CHART_FILE, format!("unable to parse YAML\n\t{reason}"));
        }
    };
    let mut metadata = Metadata::default();
    if let Err(error) = metadata.read(&json) {
        return findings.error(CHART_FILE, format!("unable to parse YAML\n\t{error}"));
    }
    let rules = [
        name(&metadata),
        api_version(&metadata),
        text_field(&json, "version"),
        version(&metadata),
        text_field(&json, "appVersion"),
        metadata.maintainers.iter().find_map(maintainer),
        metadata
            .sources
            .iter()
            .find_map(|source| (!is_request_url(source)).then(|| format!("invalid source URL '{source}'"))),
    ];
    rules.into_iter().flatten().for_each(|message| findings.error(CHART_FILE, message));
    if metadata.icon.is_empty() {
        findings.info(CHART_FILE, "icon is recommended");
    } else if !is_request_url(&metadata.icon) {
        findings.error(CHART_FILE, format!("invalid icon URL '{}'", metadata.icon));
    }
    if metadata.api_version != "v2" {
        check_fields_of_v2(&metadata, findings);
    }
}

fn name(metadata: &Metadata) -> Option<String> {
    match metadata.name.as_str() {
        "" => Some("name is required".to_owned()),
        name if name.contains('/') => Some(format!("chart name {name:?} is invalid")),
        _ => None,
    }
}

fn api_version(metadata: &Metadata) -> Option<String> {
    const VALID: &str = "The value must be either \"v1\" or \"v2\"";
    match metadata.api_version.as_str() {
        "" => Some(format!("apiVersion is required. {VALID}")),
        "v1" | "v2" => None,
        other => Some(format!("apiVersion '{other}' is not valid. {VALID}")),
    }
}

/// Checks that a field is a text in YAML, not a number.
fn text_field(json: &Value, field: &str) -> Option<String> {
    let go_type = match json.get(field)? {
        Value::String(_) => return None,
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    Some(format!("{field} should be of type string but it's of type {go_type}"))
}

fn version(metadata: &Metadata) -> Option<String> {
    let version = &metadata.version;
    if version.is_empty() {
        Some("version is required".to_owned())
    } else if !template::is_version(version) {
        Some(format!("version '{version}' is not a valid SemVer"))
    } else if !template::version_matches(">0.0.0-0", version) {
        Some(format!("version {version} is less than or equal to 0.0.0-0"))
    } else {
        None
    }
}

fn maintainer(maintainer: &Maintainer) -> Option<String> {
    let Maintainer { name, email, url } = maintainer;
    if name.is_empty() {
        Some("each maintainer requires a name".to_owned())
    } else if !email.is_empty() && !is_email(email) {
        Some(format!("invalid email '{email}' for maintainer '{name}'"))
    } else if !url.is_empty() && !is_url(url) {
        Some(format!("invalid url '{url}' for maintainer '{name}'"))
    } else {
        None
    }
}

/// Reports fields that only `apiVersion: v2` has.
fn check_fields_of_v2(metadata: &Metadata, findings: &mut Findings) {
    let Metadata { api_version, kind, dependencies, .. } = metadata;
    if !kind.is_empty() {
        findings.error(
            CHART_FILE,
            format!("chart type is not valid in apiVersion '{api_version}'. It is valid in apiVersion 'v2'"),
        );
    }
    if dependencies.iter().flatten().next().is_some() {
        findings.error(
            CHART_FILE,
            format!(
                "dependencies are not valid in the Chart file with apiVersion '{api_version}'. \
                 They are valid in apiVersion 'v2'"
            ),
        );
    }
}
