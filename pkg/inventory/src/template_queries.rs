//! Answers the questions of templates about a management cluster.

use api::{Explain, error_chain};
use apply::{ApiError, GroupKind};
use futures::{FutureExt as _, future::BoxFuture};
use manifest::{Object, Value};
use provider::{InstalledProvider, ManagementClusterError};

use crate::{ManagementCluster, cluster::config_map_kind};

impl provider::ManagementCluster for ManagementCluster {
    fn installed_providers(&self) -> BoxFuture<'_, Result<Vec<InstalledProvider>, ManagementClusterError>> {
        async {
            let inventory = self.inventory().await;
            inventory
                .map(|inventory| inventory.providers)
                .map_err(|error| query_error("the installed providers", error))
        }
        .boxed()
    }

    fn has_cluster_class<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, ManagementClusterError>> {
        let kind = GroupKind::new("cluster.x-k8s.io", "ClusterClass");
        async move {
            let found = object_exists(self, &kind, namespace, name).await;
            found.map_err(|error| query_error(format!("ClusterClass `{namespace}/{name}`"), error))
        }
        .boxed()
    }

    fn has_object<'a>(&'a self, object: &'a Object) -> BoxFuture<'a, Result<bool, ManagementClusterError>> {
        let kind = GroupKind::new(object.group(), object.kind());
        async move {
            let found = object_exists(self, &kind, object.namespace(), object.name()).await;
            found.map_err(|error| {
                query_error(format!("{} `{}/{}`", object.kind(), object.namespace(), object.name()), error)
            })
        }
        .boxed()
    }

    fn config_map_key<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, ManagementClusterError>> {
        async move {
            let question = || format!("key `{key}` of ConfigMap `{namespace}/{name}`");
            let found = self.server.get(&config_map_kind(), namespace, name).await;
            let config_map = found
                .map_err(|error| query_error(question(), error))?
                .ok_or_else(|| not_found_error(question(), "the ConfigMap does not exist"))?;
            let value = config_map.get(&["data", key]).and_then(Value::as_str);
            value
                .map(str::to_owned)
                .ok_or_else(|| not_found_error(question(), "the ConfigMap does not have this key"))
        }
        .boxed()
    }
}

/// True if an object exists. False if the server does not serve its kind.
async fn object_exists(
    cluster: &ManagementCluster,
    kind: &GroupKind,
    namespace: &str,
    name: &str,
) -> Result<bool, ApiError> {
    let served = match cluster.server.kind(kind).await {
        Err(ApiError::UnknownKind { .. }) => return Ok(false),
        served => served?,
    };
    let namespace = if served.namespaced { namespace } else { "" };
    Ok(cluster.server.get(&served, namespace, name).await?.is_some())
}

fn query_error(
    question: impl Into<String>,
    error: impl Explain + Send + Sync + 'static,
) -> ManagementClusterError {
    let hints = error_chain(&error).hints;
    ManagementClusterError { question: question.into(), source: Box::new(error), hints }
}

fn not_found_error(question: String, problem: &str) -> ManagementClusterError {
    ManagementClusterError { question, source: problem.into(), hints: Vec::new() }
}

#[cfg(test)]
mod tests {
    use provider::ManagementCluster as _;
    use snapbox::{assert_data_eq, str};
    use support::fixture::Fixture;

    use crate::testing::{NEW_VERSION, cluster, components, core, objects};

    #[tokio::test]
    async fn templates_can_query_the_cluster() {
        let fixture = Fixture::start().await;
        fixture
            .apply(
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: default}, data: {a: text}}",
            )
            .await;
        let cluster = cluster(&fixture).await;
        assert_eq!(cluster.installed_providers().await.unwrap(), []);
        assert!(!cluster.has_cluster_class("default", "quick").await.unwrap(), "its kind is not served");
        assert_eq!(cluster.config_map_key("default", "m", "a").await.unwrap(), "text");
        let mut reasons = Vec::new();
        for (name, key) in [("m", "b"), ("n", "a")] {
            let error = cluster.config_map_key("default", name, key).await.unwrap_err();
            reasons.push(error.source.to_string());
        }
        assert_data_eq!(
            reasons.join(
                "
"
            ),
            str![[r#"
the ConfigMap does not have this key
the ConfigMap does not exist
"#]]
        );
        let namespace = objects("{apiVersion: v1, kind: Namespace, metadata: {name: default}}").remove(0);
        assert!(cluster.has_object(&namespace).await.unwrap());
        let definition = objects(&components(&core(), NEW_VERSION)).remove(1);
        assert!(!cluster.has_object(&definition).await.unwrap());
    }
}
