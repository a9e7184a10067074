//! The cluster of a catalog: its description by the API, its facts, and its targets.

mod dynamic_facts;
mod lieutenant;
mod target;

use manifest::{Map, Value};

pub use dynamic_facts::{DynamicFacts, parse_dynamic_facts};
pub use lieutenant::{Lieutenant, LieutenantError};
pub(crate) use target::{TargetInstance, parameters_text, target_text};

use crate::dependencies::{RESERVED_NAMES, is_folder_name};
use crate::error::CatalogError;
use crate::yaml::is_empty;

/// The facts that every cluster must have.
const REQUIRED_FACTS: [&str; 2] = ["distribution", "cloud"];

/// A cluster and its tenant, as the API describes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The id of the cluster.
    pub id: String,
    /// The name of the cluster for people.
    pub display_name: String,
    /// The repository of the catalog.
    pub catalog_url: String,
    /// The id of the tenant.
    pub tenant: String,
    /// The name of the tenant for people.
    pub tenant_display_name: String,
    /// The repository with the classes of all clusters.
    pub global_url: String,
    /// The revision of this repository; none for its default branch.
    pub global_revision: Option<String>,
    /// The repository with the classes of the tenant.
    pub tenant_url: String,
    /// The revision of this repository; none for its default branch.
    pub tenant_revision: Option<String>,
    /// The static facts.
    pub facts: Value,
    /// The dynamic facts; none if the API does not know any.
    pub dynamic_facts: Option<Value>,
}

impl Cluster {
    /// Reads the responses of the API.
    ///
    /// # Errors
    /// All missing fields and facts at once.
    pub fn from_responses(cluster: &Value, tenant: &Value) -> Result<Self, CatalogError> {
        let mut problems = Vec::new();
        let id = text(cluster, "id").unwrap_or_default();
        let tenant_id = text(tenant, "id").unwrap_or_default();
        if text(cluster, "tenant").as_ref() != Some(&tenant_id) {
            problems.push("Tenant ID mismatch".to_owned());
        }
        if RESERVED_NAMES.contains(&tenant_id.as_str()) || !is_folder_name(&tenant_id) {
            problems.push(format!("Can't use '{tenant_id}' as tenant id"));
        }
        let mut require = |value: Option<String>, problem: String| {
            value.unwrap_or_else(|| {
                problems.push(problem);
                String::new()
            })
        };
        let repository = |of: &Value| of.get("gitRepo").and_then(|repository| text(repository, "url"));
        let read = Self {
            catalog_url: require(
                repository(cluster),
                format!(" > API did not return a repository URL for cluster '{id}'"),
            ),
            tenant_url: require(
                repository(tenant),
                format!(" > API did not return a repository URL for tenant '{tenant_id}'"),
            ),
            global_url: require(
                text(tenant, "globalGitRepoURL"),
                format!("URL of the global git repository is missing on tenant '{tenant_id}'"),
            ),
            display_name: require(text(cluster, "displayName"), "cluster has no display name".to_owned()),
            tenant_display_name: require(
                text(tenant, "displayName"),
                "tenant has no display name".to_owned(),
            ),
            global_revision: revision("globalGitRepoRevision", cluster, tenant),
            tenant_revision: revision("tenantGitRepoRevision", cluster, tenant),
            facts: cluster.get("facts").cloned().unwrap_or_else(|| Value::Object(Map::new())),
            dynamic_facts: cluster.get("dynamicFacts").cloned(),
            id,
            tenant: tenant_id,
        };
        for fact in REQUIRED_FACTS {
            let is_set = read.facts.get(fact).is_some_and(|fact| !is_empty(fact));
            if !is_set {
                problems.push(format!("Required fact '{fact}' not set"));
            }
        }
        if problems.is_empty() {
            return Ok(read);
        }
        Err(CatalogError::Rules { cluster: read.id, problems })
    }
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}

/// Returns a field of the cluster, or else of the tenant.
fn revision(field: &str, cluster: &Value, tenant: &Value) -> Option<String> {
    text(cluster, field).or_else(|| text(tenant, field)).filter(|revision| !revision.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snapbox::{assert_data_eq, str};

    use super::*;

    // Row: D-439
    #[test]
    fn all_missing_fields_and_facts_are_reported_at_once() {
        let error = Cluster::from_responses(
            &json!({"id": "c", "tenant": "t", "displayName": "C", "facts": {"cloud": ""}}),
            &json!({"id": "u", "displayName": "U", "gitRepo": {"url": ""}}),
        )
        .unwrap_err();
        let CatalogError::Rules { problems, .. } = error else { panic!("{error}") };
        assert_data_eq!(
            problems.join("\n"),
            str![[r#"
Tenant ID mismatch
 > API did not return a repository URL for cluster 'c'
URL of the global git repository is missing on tenant 'u'
Required fact 'distribution' not set
Required fact 'cloud' not set
"#]]
        );
    }

    // Row: D-440
    #[test]
    fn the_id_of_a_tenant_is_a_folder_name() {
        for id in ["../x", "global", ""] {
            let tenant =
                json!({"id": id, "displayName": "T", "gitRepo": {"url": "u"}, "globalGitRepoURL": "g"});
            let cluster = json!({
                "id": "c", "tenant": id, "displayName": "C", "facts": {"cloud": "x", "distribution": "y"},
                "gitRepo": {"url": "u"}
            });
            let error = Cluster::from_responses(&cluster, &tenant).unwrap_err();
            let CatalogError::Rules { problems, .. } = error else { panic!("{error}") };
            assert_eq!(problems, [format!("Can't use '{id}' as tenant id")]);
        }
    }

    #[test]
    fn a_revision_of_the_cluster_has_precedence() {
        let cluster = json!({
            "id": "c", "tenant": "t", "displayName": "C", "facts": {"cloud": "x", "distribution": "y"},
            "gitRepo": {"url": "u"}, "globalGitRepoRevision": "v2"
        });
        let tenant = json!({
            "id": "t", "displayName": "T", "gitRepo": {"url": "u"}, "globalGitRepoURL": "g",
            "globalGitRepoRevision": "v1", "tenantGitRepoRevision": "t1"
        });
        let cluster = Cluster::from_responses(&cluster, &tenant).unwrap();
        assert_eq!(cluster.global_revision.as_deref(), Some("v2"));
        assert_eq!(cluster.tenant_revision.as_deref(), Some("t1"));
    }
}
