use std::collections::BTreeSet;

use apply::{ObjectKey, WriteMode};
use inventory::{FIELD_MANAGER, known_kind};
use manifest::{Map, Object};

use crate::{MoveError, error::no_failures, run::Work, side_by_side::side_by_side};

impl Work<'_> {
    /// Creates the namespaces that the target lacks, without labels, like clusterctl. A denied request is ignored: the
    /// namespace may exist, and otherwise its first object fails.
    /// Source: clusterctl v1.14 client/cluster/mover.go (ensureNamespace).
    pub(super) async fn make_namespaces(&mut self) -> Result<(), MoveError> {
        let missing = self.missing_namespaces();
        if missing.is_empty() {
            return Ok(());
        }
        let made = self.held.journal.made_namespaces.iter().cloned().collect::<BTreeSet<_>>();
        if !missing.is_subset(&made) {
            self.held
                .update(|journal| journal.made_namespaces = made.union(&missing).cloned().collect())
                .await?;
        }
        let server = &self.target.server;
        let (_, failures) = side_by_side(server.max_in_flight(), &missing, |name| async move {
            let (kind, namespace) = (known_kind("", "v1", "Namespace", "namespaces", false), namespace(name));
            match server.create(&kind, &namespace, FIELD_MANAGER, WriteMode::Real).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_already_exists() || error.code() == Some(403) => Ok(()),
                Err(error) => Err((ObjectKey::of(&namespace), error)),
            }
        })
        .await;
        no_failures("created", failures)?;
        self.plan.new_namespaces.retain(|name| !missing.contains(name));
        Ok(())
    }

    /// Returns the new namespaces of the plan.
    fn missing_namespaces(&self) -> BTreeSet<String> {
        self.plan.new_namespaces.iter().cloned().collect()
    }
}

/// Returns a Namespace with nothing but a name.
pub(crate) fn namespace(name: &str) -> Object {
    let mut namespace = Object::from_map(Map::new());
    namespace.as_map_mut().insert("apiVersion".to_owned(), "v1".into());
    namespace.as_map_mut().insert("kind".to_owned(), "Namespace".into());
    namespace.set_name(name);
    namespace
}
