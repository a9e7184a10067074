//! Secrets that record Components.

use api::labels::FIELD_MANAGER;
use apply::{ApiError, ApiKind, ApplyRequest, GroupKind, ListQuery, ObjectRevision, Server};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use manifest::{Object, Value};
use serde_json::json;
use tokio::sync::OnceCell;

use super::UnreadableComponent;
use crate::{API_VERSION, Component, ComponentKey, KIND};

/// The label of records.
const LABEL: &str = "capstan.dev/component";
/// The most bytes of the value of a label.
const MAX_LABEL_BYTES: usize = 63;
/// The start of the name of a record.
const PREFIX: &str = "capstan.component.";
/// The key of the Component in its record.
const KEY: &str = "component.json";

/// The records of a cluster.
#[derive(Clone)]
pub(super) struct Records {
    server: Server,
    kind: ApiKind,
    /// True if records that the user may not read count as missing.
    is_optional: bool,
    /// True once it is known that there is no record. `None` if each use looks for them.
    is_empty: Option<OnceCell<bool>>,
}

impl Records {
    pub(super) async fn open(server: &Server) -> Result<Self, ApiError> {
        let kind = server.kind(&GroupKind::new("", "Secret")).await?;
        Ok(Self { server: server.clone(), kind, is_optional: false, is_empty: None })
    }

    pub(super) fn if_permitted(self) -> Self {
        Self { is_optional: true, ..self }
    }

    pub(super) fn looking_once(self) -> Self {
        Self { is_empty: Some(OnceCell::new()), ..self }
    }

    pub(super) async fn exist(&self) -> Result<bool, ApiError> {
        Ok(!self.is_known_empty().await? && self.find_one().await?)
    }

    /// Returns the records of one namespace, or of all.
    pub(super) async fn list(&self, namespace: Option<&str>) -> Result<Vec<Object>, ApiError> {
        if self.is_known_empty().await? {
            return Ok(Vec::new());
        }
        let namespace = namespace.map(str::to_owned);
        let query = ListQuery { labels: LABEL.to_owned(), namespace, ..ListQuery::default() };
        self.permitted(self.server.list(&self.kind, &query).await)
    }

    pub(super) async fn get(&self, key: &ComponentKey) -> Result<Option<Object>, ApiError> {
        if self.is_known_empty().await? {
            return Ok(None);
        }
        self.permitted(self.server.get(&self.kind, &key.namespace, &name_of(key)).await)
    }

    pub(super) async fn save(&self, component: &Component) -> Result<(), ApiError> {
        let secret = secret_of(component);
        self.server.apply(&self.kind, &secret, FIELD_MANAGER, ApplyRequest::default()).await.map(drop)
    }

    pub(super) async fn delete(&self, key: &ComponentKey) -> Result<(), ApiError> {
        if let Some(found) = self.get(key).await? {
            let only = ObjectRevision::of(&found);
            self.server.delete(&self.kind, &key.namespace, found.name(), Some(&only)).await?;
        }
        Ok(())
    }

    async fn is_known_empty(&self) -> Result<bool, ApiError> {
        let Some(known) = &self.is_empty else { return Ok(false) };
        known.get_or_try_init(async || Ok(!self.find_one().await?)).await.copied()
    }

    async fn find_one(&self) -> Result<bool, ApiError> {
        let labels = LABEL.to_owned();
        let first = ListQuery { labels, limit: Some(1), metadata_only: true, ..ListQuery::default() };
        Ok(!self.permitted(self.server.list(&self.kind, &first).await)?.is_empty())
    }

    fn permitted<T: Default>(&self, read: Result<T, ApiError>) -> Result<T, ApiError> {
        match read {
            Err(error) if self.is_optional && error.is_forbidden() => Ok(T::default()),
            read => read,
        }
    }
}

/// Returns the key of the Component that a Secret records.
pub(super) fn key_of(secret: &Object) -> ComponentKey {
    let name = secret.name();
    ComponentKey {
        namespace: secret.namespace().to_owned(),
        name: name.strip_prefix(PREFIX).unwrap_or(name).to_owned(),
    }
}

/// Reads the Component of a record.
pub(super) fn read(secret: &Object) -> Result<Component, UnreadableComponent> {
    let unreadable = |problem: String| UnreadableComponent { component: key_of(secret), problem };
    let name = secret.name();
    let text = secret.get(&["data", KEY]).and_then(Value::as_str);
    let text = text.ok_or_else(|| unreadable(format!("Secret `{name}` has no key `{KEY}`")))?;
    let bytes = BASE64_STANDARD.decode(text);
    let bytes = bytes.map_err(|error| unreadable(format!("Secret `{name}` is invalid: {error}")))?;
    serde_json::from_slice(&bytes).map_err(|error| unreadable(format!("Secret `{name}` is invalid: {error}")))
}

fn secret_of(component: &Component) -> Object {
    let key = ComponentKey::of(component);
    let mut content = serde_json::to_value(component).unwrap_or_default();
    content["apiVersion"] = API_VERSION.into();
    content["kind"] = KIND.into();
    let whole = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "capstan.dev/component",
        "metadata": {
            "name": name_of(&key),
            "namespace": key.namespace,
            "labels": {LABEL: label_value(&key.name)},
        },
        "data": {KEY: BASE64_STANDARD.encode(content.to_string())},
    });
    Object::try_from(whole).expect("invariant: the literal above is a mapping")
}

/// Returns the start of a name that fits into a label.
fn label_value(name: &str) -> &str {
    name[..name.floor_char_boundary(MAX_LABEL_BYTES)].trim_end_matches(['-', '.'])
}

fn name_of(key: &ComponentKey) -> String {
    format!("{PREFIX}{}", key.name)
}
