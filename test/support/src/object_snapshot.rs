//! All objects of a server, for tests of leftover objects.

use std::{collections::BTreeMap, fmt, path::Path, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;

/// Kinds whose objects are created and deleted automatically.
const AUTOMATIC_KINDS: [&str; 9] = [
    "APIService",
    "ControllerRevision",
    "EndpointSlice",
    "Endpoints",
    "Event",
    "IPAddress",
    "Lease",
    "Pod",
    "ReplicaSet",
];

const TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// All objects of a server by kind and location, except objects that controllers create automatically.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectSnapshot(BTreeMap<String, Value>);

/// Creates a client from a kubeconfig with one context.
///
/// # Panics
/// Panics if the file cannot be used.
pub async fn client_from_kubeconfig(kubeconfig: &Path) -> Client {
    let config = Kubeconfig::read_from(kubeconfig).expect("the kubeconfig of a test can be read");
    let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
    Client::try_from(config.expect("the kubeconfig of a test is whole")).expect("a client can be created")
}

impl ObjectSnapshot {
    /// Lists all objects.
    ///
    /// # Panics
    /// Panics if the server does not respond.
    pub async fn read(client: &Client) -> Self {
        Self::read_lists(client, |kind| Some(format!("{}/{}", kind.path, kind.plural))).await
    }

    /// Lists all objects in a namespace. Faster than listing everything: the definitions of real providers alone take
    /// seconds.
    ///
    /// # Panics
    /// Panics if the server does not respond.
    pub async fn read_namespace(client: &Client, namespace: &str) -> Self {
        let path = |kind: &ListableKind| format!("{}/namespaces/{namespace}/{}", kind.path, kind.plural);
        Self::read_lists(client, |kind| kind.is_namespaced.then(|| path(kind))).await
    }

    /// Lists the objects of each kind at a path. Starts again if a kind was deleted meanwhile.
    async fn read_lists(client: &Client, path: impl Fn(&ListableKind) -> Option<String>) -> Self {
        for _ in 0..TIMEOUT.as_millis() / POLL_INTERVAL.as_millis() {
            if let Some(all) = Self::try_read_lists(client, &path).await {
                return all;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        panic!("the server announces kinds that it does not have")
    }

    /// Returns nothing if a kind was deleted meanwhile.
    async fn try_read_lists(client: &Client, path: impl Fn(&ListableKind) -> Option<String>) -> Option<Self> {
        let mut all = Self::default();
        for kind in kinds(client).await? {
            if let Some(path) = path(&kind) {
                all.add(&kind.name, &get(client, &path).await?);
            }
        }
        Some(all)
    }

    fn add(&mut self, kind: &str, list: &Value) {
        for object in list["items"].as_array().into_iter().flatten() {
            let metadata = &object["metadata"];
            let place = match metadata["namespace"].as_str() {
                Some(namespace) => format!("{namespace}/{}", text(&metadata["name"])),
                None => text(&metadata["name"]).to_owned(),
            };
            // Every namespace has these objects.
            let in_each = place.ends_with("/kube-root-ca.crt")
                || kind == "ServiceAccount" && place.ends_with("/default");
            if !in_each {
                self.0.insert(format!("{kind} {place}"), object.clone());
            }
        }
    }

    /// Lists all objects once no object is being deleted.
    ///
    /// # Panics
    /// Panics if an object is still being deleted after a minute.
    pub async fn read_after_deletions(client: &Client) -> Self {
        let mut leaving = Vec::new();
        for _ in 0..TIMEOUT.as_millis() / POLL_INTERVAL.as_millis() {
            let all = Self::read(client).await;
            let is_leaving = |object: &&Value| !object["metadata"]["deletionTimestamp"].is_null();
            leaving =
                all.0.iter().filter(|(_, object)| is_leaving(object)).map(|(name, _)| name.clone()).collect();
            if leaving.is_empty() {
                return all;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        panic!("these objects are not deleted: {leaving:?}")
    }

    /// The object with a kind and location, such as `Deployment ns/name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The objects that do not exist in `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let new = self.0.iter().filter(|(name, _)| !before.0.contains_key(*name));
        Self(new.map(|(name, object)| (name.clone(), object.clone())).collect())
    }

    /// Removes objects selected by kind and location.
    #[must_use]
    pub fn excluding(mut self, is_excluded: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|name, _| !is_excluded(name));
        self
    }

    /// All objects, by kind and location.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, object)| (name.as_str(), object))
    }
}

/// Renders one line per object: kind, location, labels.
impl fmt::Display for ObjectSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, object) in &self.0 {
            write!(f, "{name}")?;
            for (key, value) in object["metadata"]["labels"].as_object().into_iter().flatten() {
                write!(f, " {key}={}", text(value))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A listable kind.
struct ListableKind {
    /// The API path of the group and version.
    path: String,
    plural: String,
    name: String,
    is_namespaced: bool,
}

/// The listable kinds of every group in its preferred version, except kinds whose objects are created automatically.
/// Returns nothing if a group was deleted meanwhile.
async fn kinds(client: &Client) -> Option<Vec<ListableKind>> {
    let mut paths = vec!["/api/v1".to_owned()];
    let groups = get(client, "/apis").await?;
    for group in groups["groups"].as_array().into_iter().flatten() {
        paths.push(format!("/apis/{}", text(&group["preferredVersion"]["groupVersion"])));
    }
    let mut found = Vec::new();
    for path in paths {
        let resources = get(client, &path).await?;
        let is_wanted = |resource: &&Value| {
            let verbs = resource["verbs"].as_array();
            let is_listable = verbs.is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"));
            is_listable && !AUTOMATIC_KINDS.contains(&text(&resource["kind"]))
        };
        let resources = resources["resources"].as_array().into_iter().flatten().filter(is_wanted);
        found.extend(resources.map(|resource| ListableKind {
            path: path.clone(),
            plural: text(&resource["name"]).to_owned(),
            name: text(&resource["kind"]).to_owned(),
            is_namespaced: resource["namespaced"] == true,
        }));
    }
    Some(found)
}

/// Reads a document of the server. Returns nothing if the server does not have the path.
async fn get(client: &Client, path: &str) -> Option<Value> {
    let request = http::Request::get(path).body(Vec::new()).expect("a path of a server is a path");
    match client.request(request).await {
        Ok(document) => Some(document),
        Err(kube::Error::Api(status)) if status.code == 404 => None,
        Err(error) => panic!("GET {path}: {error}"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
