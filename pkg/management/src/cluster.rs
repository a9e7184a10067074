use apply::{ApiKind, EventSink, Server};

use crate::Event;

/// A management cluster that is reached. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ManagementCluster {
    pub(crate) server: Server,
    pub(crate) events: EventSink<Event>,
}

impl ManagementCluster {
    /// Takes a server and a place for events.
    pub fn new(server: Server, events: EventSink<Event>) -> Self {
        Self { server, events }
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn warn(&self, text: String) {
        self.events.send(&Event::Warning { text });
    }
}

/// CustomResourceDefinitions, which every server has: no question to discovery is needed.
pub(crate) fn definition_kind() -> ApiKind {
    served("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false)
}

/// ConfigMaps.
pub(crate) fn config_map_kind() -> ApiKind {
    served("", "v1", "ConfigMap", "configmaps", true)
}

/// Secrets.
pub(crate) fn secret_kind() -> ApiKind {
    served("", "v1", "Secret", "secrets", true)
}

/// A kind that is known to be served like this.
pub(crate) fn served(group: &str, version: &str, kind: &str, plural: &str, namespaced: bool) -> ApiKind {
    ApiKind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced,
        verbs: Vec::new(),
    }
}
