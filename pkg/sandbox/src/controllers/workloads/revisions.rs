//! The history of templates that DaemonSets and StatefulSets keep, as ControllerRevisions.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/history`, `daemon/update.go`, run.

use serde_json::{Value, json};

use super::{
    children::{claim, delete, number, owner_entry},
    hash,
};
use crate::{client::Client, meta, status::Status};

/// The history of an owner.
pub(super) struct History {
    /// The revision of the template the owner has now.
    pub(super) current: Value,
    /// The others, oldest first.
    others: Vec<Value>,
}

/// Brings the history of an owner up to date: a template that is new gets a revision, one that comes back the next
/// number. `label` holds the hash on the revision.
///
/// # Errors
/// As writes have them.
pub(super) async fn history(client: &Client, owner: &Value, label: &str) -> Result<History, Status> {
    let mut template = owner["spec"]["template"].clone();
    template["$patch"] = "replace".into();
    let data = json!({"spec": {"template": template}});
    let mut others = claim(client, owner, "apps", "ControllerRevision").await?;
    others.sort_by_key(|revision| number(&revision["revision"]));
    let newest = others.last().map_or(0, |revision| number(&revision["revision"]));
    let current = match others.iter().position(|revision| revision["data"] == data) {
        Some(at) => {
            let mut current = others.remove(at);
            if number(&current["revision"]) < newest {
                current["revision"] = (newest + 1).into();
                current = client.update(current).await?;
            }
            current
        }
        None => client.create(revision(owner, label, &data, newest + 1)).await?,
    };
    Ok(History { current, others })
}

impl History {
    /// Deletes the oldest revisions that no pod has, beyond those the owner keeps to go back to. `uses` tells whether
    /// a pod has a revision.
    ///
    /// # Errors
    /// As deletions have them.
    pub(super) async fn trim(
        &self,
        client: &Client,
        owner: &Value,
        uses: impl Fn(&Value) -> bool,
    ) -> Result<(), Status> {
        let Some(limit) = owner["spec"]["revisionHistoryLimit"].as_u64() else { return Ok(()) };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let unused: Vec<&Value> = self.others.iter().filter(|revision| !uses(revision)).collect();
        for revision in unused.iter().take(unused.len().saturating_sub(limit)) {
            delete(client, revision).await?;
        }
        Ok(())
    }
}

fn revision(owner: &Value, label: &str, data: &Value, number: i64) -> Value {
    let hash = hash::of(data);
    let mut labels = meta::field(&data["spec"]["template"], "labels").cloned().unwrap_or_else(|| json!({}));
    labels[label] = hash.as_str().into();
    let mut metadata = json!({
        "name": format!("{}-{hash}", meta::name(owner)),
        "namespace": meta::namespace(owner),
        "labels": labels,
        "ownerReferences": [owner_entry(owner)],
    });
    if let Some(annotations) = meta::field(owner, "annotations") {
        metadata["annotations"] = annotations.clone();
    }
    json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": metadata, "data": data, "revision": number,
    })
}
