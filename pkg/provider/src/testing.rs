//! An in-memory management cluster and other shared test helpers.

use std::collections::BTreeSet;

use futures::{FutureExt as _, future::BoxFuture};
use manifest::Object;

use crate::{InstalledProvider, ManagementCluster, ManagementClusterError};

/// Runs the future of a test. Futures in memory never wait.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// The content of the management cluster.
#[derive(Default)]
pub(crate) struct FakeManagementCluster {
    pub(crate) providers: Vec<InstalledProvider>,
    /// Objects as `Kind/name`, all in namespace `team`.
    pub(crate) objects: BTreeSet<&'static str>,
    /// Values by `namespace/name/key`.
    pub(crate) config_maps: Vec<(&'static str, &'static str)>,
}

impl ManagementCluster for FakeManagementCluster {
    fn installed_providers(&self) -> BoxFuture<'_, Result<Vec<InstalledProvider>, ManagementClusterError>> {
        async { Ok(self.providers.clone()) }.boxed()
    }

    fn has_cluster_class<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, ManagementClusterError>> {
        let there = namespace == "team" && self.objects.contains(&*format!("ClusterClass/{name}"));
        async move { Ok(there) }.boxed()
    }

    fn has_object<'a>(&'a self, object: &'a Object) -> BoxFuture<'a, Result<bool, ManagementClusterError>> {
        let there = self.objects.contains(&*format!("{}/{}", object.kind(), object.name()));
        async move { Ok(there) }.boxed()
    }

    fn config_map_key<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, ManagementClusterError>> {
        let path = format!("{namespace}/{name}/{key}");
        let found = self.config_maps.iter().find(|(known, _)| *known == path);
        let answer = found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| ManagementClusterError {
            question: format!("ConfigMap {namespace}/{name}, key {key}"),
            source: "not found".into(),
            hints: Vec::new(),
        });
        async move { answer }.boxed()
    }
}

/// RoleBindings whose namespace is no text, and without metadata.
pub(crate) const ROLE_BINDINGS: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a, namespace: 1234}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
";
