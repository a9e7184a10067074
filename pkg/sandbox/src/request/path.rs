//! Paths of resources: `/api/v1/namespaces/a/pods/b/status`.

use percent_encoding::percent_decode_str;

/// A path below `/api/{version}/` or `/apis/{group}/{version}/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    /// The API group; empty for core.
    pub(crate) group: String,
    pub(crate) version: String,
    /// The namespace; empty for cluster-scoped objects and for all namespaces.
    pub(crate) namespace: String,
    pub(crate) plural: String,
    /// The object's name; empty for a collection.
    pub(crate) name: String,
    /// The subresource, such as `status`; empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) extra_segments: Vec<String>,
    /// True for the old form of a watch, with `watch/` before the resource.
    pub(crate) legacy_watch: bool,
}

impl ResourcePath {
    /// Parses a path. `None` if the path names no resource (`/version`, `/apis/apps/v1`).
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let mut parts = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| percent_decode_str(part).decode_utf8_lossy());
        let group = match parts.next()?.as_ref() {
            "api" => String::new(),
            "apis" => parts.next()?.into_owned(),
            _ => return None,
        };
        let version = parts.next()?.into_owned();
        let mut parts: Vec<String> = parts.map(std::borrow::Cow::into_owned).collect();
        let mut found = Self { group, version, ..Self::default() };
        if parts.len() > 1 && parts[0] == "watch" {
            found.legacy_watch = true;
            parts.remove(0);
        }
        // A namespace is a resource too: `namespaces/a` and `namespaces/a/status` name it. Other paths are inside it.
        let in_namespace = parts.len() > 2
            && parts[0] == "namespaces"
            && !matches!(parts[2].as_str(), "status" | "finalize");
        let mut parts = parts.into_iter();
        if in_namespace {
            found.namespace = parts.nth(1)?;
        }
        found.plural = parts.next()?;
        found.name = parts.next().unwrap_or_default();
        found.subresource = parts.next().unwrap_or_default();
        found.extra_segments = parts.collect();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> String {
        ResourcePath::parse(path).map_or("none".to_owned(), |path| {
            let ResourcePath {
                group,
                version,
                namespace,
                plural,
                name,
                subresource,
                extra_segments: rest,
                legacy_watch,
            } = path;
            format!(
                "{group}|{version}|{namespace}|{plural}|{name}|{subresource}|{}|{legacy_watch}",
                rest.join("/")
            )
        })
    }

    #[test]
    fn paths_are_parsed_into_group_version_and_resource() {
        for (path, parts) in [
            ("/api/v1/pods", "|v1||pods||||false"),
            ("/api/v1/namespaces/a/pods/b/status", "|v1|a|pods|b|status||false"),
            ("/api/v1/namespaces", "|v1||namespaces||||false"),
            ("/api/v1/namespaces/a", "|v1||namespaces|a|||false"),
            ("/api/v1/namespaces/a/finalize", "|v1||namespaces|a|finalize||false"),
            ("/apis/apps/v1/namespaces/a/deployments/", "apps|v1|a|deployments||||false"),
            ("/apis/x.io/v1/nodes/a%2Fb", "x.io|v1||nodes|a/b|||false"),
            ("/api/v1/watch/namespaces/a/pods", "|v1|a|pods||||true"),
            ("/api/v1/nodes/a/proxy/b/c", "|v1||nodes|a|proxy|b/c|false"),
            ("/apis/apps/v1", "none"),
            ("/version", "none"),
            ("/", "none"),
        ] {
            assert_eq!(read(path), parts, "{path}");
        }
    }
}
