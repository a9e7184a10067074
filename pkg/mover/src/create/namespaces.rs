use std::collections::BTreeSet;

use api::labels::FIELD_MANAGER;
use apply::{WriteMode, key_of};
use inventory::known_kind;
use manifest::{Map, Object};

use crate::{MoveError, concurrency::run_concurrently, error::check_failures, run::MoveContext};

impl MoveContext<'_> {
    /// Creates the namespaces that the target lacks, without labels, like clusterctl. A denied request is ignored: the
    /// namespace may exist, and otherwise its first object fails.
    /// Source: clusterctl v1.14 client/cluster/mover.go (ensureNamespace).
    pub(super) async fn create_namespaces(&mut self) -> Result<(), MoveError> {
        let missing = self.missing_namespaces();
        if missing.is_empty() {
            return Ok(());
        }
        let recorded = self.journal_lease.journal.made_namespaces.iter().cloned().collect::<BTreeSet<_>>();
        if !missing.is_subset(&recorded) {
            self.journal_lease
                .update(|journal| journal.made_namespaces = recorded.union(&missing).cloned().collect())
                .await?;
        }
        let server = &self.target.server;
        let (_, failures) = run_concurrently(server.max_in_flight(), &missing, |name| async move {
            let (kind, namespace) =
                (known_kind("", "v1", "Namespace", "namespaces", false), namespace_object(name));
            match server.create(&kind, &namespace, FIELD_MANAGER, WriteMode::Real).await {
                Ok(_) => Ok(()),
                Err(error) if error.is_already_exists() || error.is_forbidden() => Ok(()),
                Err(error) => Err((key_of(&namespace), error)),
            }
        })
        .await;
        check_failures("create", failures)?;
        self.plan.new_namespaces.retain(|name| !missing.contains(name));
        Ok(())
    }

    /// Returns the new namespaces of the plan.
    fn missing_namespaces(&self) -> BTreeSet<String> {
        self.plan.new_namespaces.iter().cloned().collect()
    }
}

/// Returns a Namespace with nothing but a name.
pub(crate) fn namespace_object(name: &str) -> Object {
    let mut namespace = Object::from_map(Map::new());
    namespace.as_map_mut().insert("apiVersion".to_owned(), "v1".into());
    namespace.as_map_mut().insert("kind".to_owned(), "Namespace".into());
    namespace.set_name(name);
    namespace
}
