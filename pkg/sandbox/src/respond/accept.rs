//! Content negotiation.
//!
//! Source: apiserver 1.36 `endpoints/handlers/negotiation`. Differs: responses are never protobuf. Clients that accept
//! protobuf receive JSON, and the content type says so.

use manifest::yaml;
use serde_json::Value;

use crate::status::{Details, Status};

/// The form of an object or list in a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Representation {
    #[default]
    Full,
    /// A `Table` of this version of `meta.k8s.io`.
    Table(&'static str),
    /// The metadata of an object, in this version of `meta.k8s.io`.
    PartialObject(&'static str),
    /// The metadata of the items of a list, in this version of `meta.k8s.io`.
    PartialList(&'static str),
}

/// The format and the form of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// True for YAML, false for JSON.
    pub(crate) yaml: bool,
    /// True for JSON with line breaks.
    pub(crate) pretty: bool,
    pub(crate) representation: Representation,
    pub(crate) aggregated_discovery: bool,
}

impl Accepted {
    /// Parses an `Accept` header and the `pretty` parameter. `watch` allows only formats that support streaming.
    /// Errors: 406 if no accepted media type is supported.
    pub(crate) fn read(header: &str, pretty: bool, watch: bool) -> Result<Self, Status> {
        let plain = Self { pretty, ..Self::default() };
        if header.trim().is_empty() {
            return Ok(plain);
        }
        let mut clauses: Vec<MediaRange<'_>> = header.split(',').map(MediaRange::read).collect();
        clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
        clauses.iter().find_map(|clause| clause.offer(plain, watch)).ok_or_else(|| not_acceptable(watch))
    }

    /// Returns the same format for the whole object, for failures and special kinds.
    pub(crate) fn full(self) -> Self {
        Self { representation: Representation::Full, ..self }
    }

    /// Formats a value and returns its content type.
    pub(crate) fn print(&self, value: &Value) -> (&'static str, String) {
        if self.yaml {
            return ("application/yaml", yaml::write(value));
        }
        let mut text = if self.pretty { format!("{value:#}") } else { value.to_string() };
        text.push('\n');
        ("application/json", text)
    }
}

fn not_acceptable(watch: bool) -> Status {
    let accepted = if watch {
        "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
    } else {
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    };
    Status::new(406, "NotAcceptable", format!("only the following media types are accepted: {accepted}"))
}

/// Returns status 406 if no media type of a header is known. For built-in resources, the real server makes this check
/// before it considers forms.
pub(crate) fn unknown_media_types(header: &str) -> Option<Status> {
    let known = |clause: MediaRange<'_>| {
        matches!(
            clause.media_type,
            "application/json"
                | "application/*"
                | "*/*"
                | "application/yaml"
                | "application/vnd.kubernetes.protobuf"
        )
    };
    if header.trim().is_empty() || header.split(',').map(MediaRange::read).any(known) {
        return None;
    }
    let words = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
                 application/vnd.kubernetes.protobuf, application/json;stream=watch, \
                 application/vnd.kubernetes.protobuf;stream=watch";
    Some(Status::new(406, "NotAcceptable", words).with_details(Details::default()))
}

/// One media type of an `Accept` header.
struct MediaRange<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl<'a> MediaRange<'a> {
    fn read(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality =
            parameters.iter().find(|(name, _)| *name == "q").and_then(|(_, value)| value.parse().ok());
        Self { media_type, parameters, quality: quality.unwrap_or(1.0) }
    }

    fn parameter(&self, name: &str) -> &'a str {
        self.parameters.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| *value)
    }

    fn offer(&self, plain: Accepted, watch: bool) -> Option<Accepted> {
        let yaml = match self.media_type {
            "application/json" | "application/*" | "*/*" | "application/vnd.kubernetes.protobuf" => false,
            "application/yaml" if !watch => true,
            _ => return None,
        };
        let accepted = Accepted { yaml, ..plain };
        let kind = self.parameter("as");
        let version = match (self.parameter("g"), self.parameter("v")) {
            _ if kind.is_empty() => return Some(accepted),
            ("apidiscovery.k8s.io", "v2" | "v2beta1") if kind == "APIGroupDiscoveryList" => {
                return Some(Accepted { aggregated_discovery: true, ..accepted });
            }
            ("meta.k8s.io", "v1") => "v1",
            ("meta.k8s.io", "v1beta1") => "v1beta1",
            _ => return None,
        };
        let form = match kind {
            "Table" => Representation::Table(version),
            "PartialObjectMetadata" => Representation::PartialObject(version),
            "PartialObjectMetadataList" => Representation::PartialList(version),
            _ => return None,
        };
        Some(Accepted { representation: form, ..accepted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_supported_media_type_is_used() {
        let form =
            |header: &str| Accepted::read(header, false, false).map(|accepted| accepted.representation);
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(form(table), Ok(Representation::Table("v1")));
        assert_eq!(
            form("application/json;as=Table;v=v9;g=meta.k8s.io,application/json"),
            Ok(Representation::Full)
        );
        assert_eq!(form("text/html, */*;q=0.1"), Ok(Representation::Full));
        assert_eq!(form(""), Ok(Representation::Full));
        assert_eq!(form("application/json;as=Table;v=v9;g=meta.k8s.io").unwrap_err().code, 406);
        assert_eq!(form("text/plain").unwrap_err().reason, "NotAcceptable");
    }

    #[test]
    fn quality_wins_over_order_and_watches_are_never_yaml() {
        let read = |header: &str, watch| Accepted::read(header, false, watch);
        assert!(read("application/json;q=0.5,application/yaml", false).unwrap().yaml);
        assert!(!read("application/yaml,application/json;q=0.5", true).unwrap().yaml);
        assert!(read("application/yaml", true).is_err());
    }
}
