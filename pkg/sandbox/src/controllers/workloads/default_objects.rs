//! Objects that every Namespace contains.
//!
//! Source: kube-controller-manager 1.36 `serviceaccounts_controller.go` and `rootcacertpublisher`.

use crate::{
    client::Client,
    controllers::{ObjectRef, Requeue},
    server::bootstrap::namespace_content,
    status::Status,
};

/// True if an object of this name may be such an object.
pub(super) fn is_default_object(name: &str) -> bool {
    name == "default" || name == "kube-root-ca.crt"
}

pub(super) async fn reconcile(client: &Client, namespace: &str) -> Result<Requeue, Status> {
    for object in namespace_content(namespace) {
        if client.get(&ObjectRef::of(&object)).is_none() {
            client.create(object).await?;
        }
    }
    Ok(Requeue::AwaitChange)
}
