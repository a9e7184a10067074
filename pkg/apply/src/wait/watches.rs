//! All watches of a wait, as one stream.

use std::collections::BTreeMap;

use futures::stream::{BoxStream, SelectAll, StreamExt};

use super::pods::PodSelector;
use crate::{ApiError, ApiKind, GroupKind, ListQuery, ObjectKey, Server, WatchEvent};

/// A message of a watch.
pub(super) enum WatchUpdate {
    /// An event of an object of the wait, or of another object in the same selection.
    Object(Result<WatchEvent, ApiError>),
    /// An event of a Pod of the workload with this number.
    Pod(usize, Result<WatchEvent, ApiError>),
}

/// The merged watches.
pub(super) struct Watches(SelectAll<BoxStream<'static, WatchUpdate>>);

impl Watches {
    /// Opens the watches of each kind. Objects in one namespace need one watch. For several namespaces, a label allows
    /// one watch of all namespaces, otherwise each namespace has its own.
    pub(super) async fn open<'k>(
        server: &Server,
        keys: impl Iterator<Item = &'k ObjectKey>,
        labels: &str,
    ) -> Result<Self, ApiError> {
        let mut kinds: BTreeMap<GroupKind, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
        for key in keys {
            kinds.entry(key.group_kind()).or_default().entry(&key.namespace).or_default().push(&key.name);
        }
        let mut streams = SelectAll::new();
        for (kind, namespaces) in kinds {
            let kind = server.kind(&kind).await?;
            let selections = match namespaces.len() {
                2.. if !labels.is_empty() => vec![selection("", &[], labels)],
                _ => namespaces.iter().map(|(within, names)| selection(within, names, labels)).collect(),
            };
            let watches = selections.iter().map(|selection| server.watch(&kind, selection));
            streams.extend(watches.map(|watch| watch.map(WatchUpdate::Object).boxed()));
        }
        Ok(Self(streams))
    }

    pub(super) fn add_pods(&mut self, server: &Server, workload: usize, pods: &PodSelector) {
        let list = ListQuery {
            namespace: Some(pods.namespace.clone()),
            labels: pods.selector.clone(),
            ..ListQuery::default()
        };
        let watch = server.watch(&pod_kind(), &list);
        self.0.push(watch.map(move |event| WatchUpdate::Pod(workload, event)).boxed());
    }

    /// Returns the next message. Never returns after all watches have ended.
    pub(super) async fn next(&mut self) -> WatchUpdate {
        match self.0.next().await {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }
}

/// Returns the smallest list that includes the objects.
fn selection(namespace: &str, names: &[&str], labels: &str) -> ListQuery {
    let fields = match names {
        [name] => format!("metadata.name={name}"),
        _ => String::new(),
    };
    let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
    ListQuery { namespace, labels: labels.to_owned(), fields, ..ListQuery::default() }
}

fn pod_kind() -> ApiKind {
    ApiKind {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        plural: "pods".to_owned(),
        namespaced: true,
        verbs: Vec::new(),
    }
}
