//! Documents about the server itself: version, health, discovery and schemas.

use http::{Method, Response, StatusCode, header, request::Parts};
use serde_json::{Value, json};

use super::Server;
use crate::{
    builtin, discovery, openapi,
    request::Query,
    respond::{self, Accepted, Body},
    status::Status,
};

/// Answers a request for a path that is not a resource.
pub(super) fn handle_document(server: &Server, parts: &Parts, query: &Query) -> Response<Body> {
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let segments: Vec<&str> = parts.uri.path().split('/').filter(|segment| !segment.is_empty()).collect();
    if parts.method != Method::GET && allows_only_get(server, &segments) {
        return respond::failure(&Accepted::default(), &Status::method_not_allowed());
    }
    let accept = header("accept");
    match segments.as_slice() {
        ["healthz" | "livez" | "readyz"] if query.flag("verbose") => {
            respond::text(200, format!("[+]ping ok\n{} check passed\n", segments[0]))
        }
        ["healthz" | "livez" | "readyz"] | ["healthz" | "livez" | "readyz", "ping" | "log" | "etcd"] => {
            respond::text(200, "ok")
        }
        ["metrics"] => respond::text(200, metrics(server)),
        _ => match Accepted::read(accept, query.flag("pretty"), false) {
            Ok(accepted) => document(server, &segments, &accepted, parts),
            // Paths without a resource always support JSON.
            Err(_) => document(server, &segments, &Accepted::default(), parts),
        },
    }
}

/// True if the path supports only GET.
/// Source: kube-apiserver 1.36, measured: all other paths treat every method as a GET.
fn allows_only_get(server: &Server, segments: &[&str]) -> bool {
    let (group, version) = match segments {
        ["version" | "api"] => return true,
        ["api", version] => ("", version),
        ["apis", group, version] => (*group, version),
        _ => return false,
    };
    let kinds = server.kinds();
    let mut of_group = kinds.resources().iter().filter(|r| &*r.group == group && r.custom.is_none());
    of_group.any(|resource| &*resource.version == *version)
}

fn document(server: &Server, segments: &[&str], accepted: &Accepted, parts: &Parts) -> Response<Body> {
    let kinds = server.kinds();
    let plain = accepted.full();
    let found = match segments {
        [] => Some(addresses(server)),
        ["version"] => Some(version()),
        ["api"] if accepted.aggregated_discovery => {
            return aggregated(&discovery::aggregated(&kinds, true));
        }
        ["apis"] if accepted.aggregated_discovery => {
            return aggregated(&discovery::aggregated(&kinds, false));
        }
        ["api"] => Some(discovery::core_versions(&address(parts))),
        ["apis"] => Some(discovery::groups(&kinds)),
        ["apis", group] => discovery::group(&kinds, group),
        ["api", version] => match discovery::resources(&kinds, "", version) {
            Some(list) => Some(list),
            None => return respond::failure(&plain, &Status::no_such_resource()),
        },
        ["apis", group, version] => match discovery::resources(&kinds, group, version) {
            Some(list) => Some(list),
            None if is_built_in(server, group) => {
                return respond::failure(&plain, &Status::no_such_resource());
            }
            None => None,
        },
        ["openapi", "v3"] => Some(openapi::v3_index(&kinds)),
        ["openapi", "v3", "api", version] => openapi::v3(&kinds, "", version),
        ["openapi", "v3", "apis", group, version] => openapi::v3(&kinds, group, version),
        _ => None,
    };
    match found {
        Some(document) => respond::value(&plain, 200, &document),
        None => respond::page_not_found(),
    }
}

fn aggregated(document: &Value) -> Response<Body> {
    let mut response = respond::value(&Accepted::default(), 200, document);
    let content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response.headers_mut().insert(header::VARY, header::HeaderValue::from_static("Accept"));
    *response.status_mut() = StatusCode::OK;
    response
}

/// Returns the address under which the client reached the server.
fn address(parts: &Parts) -> String {
    let host = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str)).unwrap_or("localhost").to_owned()
}

fn is_built_in(server: &Server, group: &str) -> bool {
    server.kinds().resources().iter().any(|resource| &*resource.group == group && resource.custom.is_none())
}

/// Returns the release that this server imitates.
fn version() -> Value {
    let (version, minor, build_date) = builtin::KUBERNETES_RELEASE;
    json!({
        "major": "1",
        "minor": minor.to_string(),
        "emulationMajor": "1",
        "emulationMinor": minor.to_string(),
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": (minor - 1).to_string(),
        "gitVersion": version,
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": build_date,
        "goVersion": "go1.26.8",
        "compiler": "gc",
        "platform": "linux/amd64",
    })
}

fn addresses(server: &Server) -> Value {
    let mut paths: Vec<String> = ["/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v3"]
        .into_iter()
        .chain(["/readyz", "/version"])
        .map(str::to_owned)
        .collect();
    for resource in server.kinds().resources() {
        if resource.group.is_empty() {
            paths.push(format!("/api/{}", resource.version));
        } else {
            paths.push(format!("/apis/{}", resource.group));
            paths.push(format!("/apis/{}/{}", resource.group, resource.version));
        }
    }
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}

fn metrics(server: &Server) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("# TYPE apiserver_storage_objects gauge\n");
    for resource in server.store.resources() {
        let name = crate::status::qualified(&resource.plural, &resource.group);
        let count = server.store.count(&resource);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "apiserver_storage_objects{{resource=\"{name}\"}} {count}");
    }
    text
}
