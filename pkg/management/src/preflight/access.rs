//! Checks the server version and the permissions of the user before the first write.

use std::collections::BTreeSet;

use api::Version;
use apply::{ApiError, DeniedPermission, Permission, ServedKinds, key_of};
use inventory::{ManagementCluster, lease_permissions};
use manifest::Object;
use provider::config::Environment;

use super::PreflightProblem;
use crate::{RenderedProvider, Sources, cert_manager::probe_permission};

/// The oldest Kubernetes version of a management cluster, also with managed topologies enabled.
/// Source: clusterctl v1.14 (MinimumKubernetesVersion, MinimumKubernetesVersionClusterTopology).
const MIN_KUBERNETES: (u64, u64) = (1, 20);
const MIN_KUBERNETES_WITH_TOPOLOGY: (u64, u64) = (1, 22);
/// The variable that enables managed topologies.
const TOPOLOGY_VARIABLE: &str = "CLUSTER_TOPOLOGY";

/// The planned kind of access to the objects of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessNeed {
    /// Objects are written and watched.
    Install,
    /// Some objects are deleted too.
    Replace,
}

impl AccessNeed {
    /// Returns the required verbs. Server-side apply needs `patch`, and `create` for a new object.
    fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Install => &["create", "patch", "get", "list", "watch"],
            Self::Replace => &["create", "patch", "get", "list", "watch", "delete"],
        }
    }
}

/// Checks the Kubernetes version and the permissions for all objects of the queue and of cert-manager, in
/// their namespaces.
/// Returns true if the user may do everything.
pub(crate) async fn check_access(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    queue: &[RenderedProvider],
    cert_manager: &[Object],
    need: AccessNeed,
    problems: &mut Vec<PreflightProblem>,
) -> Result<bool, ApiError> {
    let (version, kinds) = futures::try_join!(cluster.server.version(), cluster.server.kinds())?;
    problems.extend(check_kubernetes(&version.git_version, sources.config.environment()));
    let objects = queue.iter().flat_map(|provider| &provider.objects).chain(cert_manager);
    let mut wanted = needed_permissions(objects, need, &kinds);
    wanted.extend(lease_permissions());
    wanted.extend((!cert_manager.is_empty()).then(probe_permission));
    let (is_admin, missing) = check_permissions(cluster, &wanted).await?;
    problems.extend(missing);
    Ok(is_admin)
}

/// Returns true if the user may do everything, and a problem for each missing permission.
pub(crate) async fn check_permissions(
    cluster: &ManagementCluster,
    wanted: &[Permission],
) -> Result<(bool, Vec<PreflightProblem>), ApiError> {
    let access = cluster.server.check_permissions(wanted).await?;
    Ok((access.is_admin, access.denied.iter().map(permission_problem).collect()))
}

fn check_kubernetes(found: &str, environment: &Environment) -> Option<PreflightProblem> {
    let topology = environment.get(TOPOLOGY_VARIABLE).is_some_and(is_true);
    let (major, minor) = if topology { MIN_KUBERNETES_WITH_TOPOLOGY } else { MIN_KUBERNETES };
    let version = Version::parse(found).ok()?;
    let version = version.semver();
    if (version.major, version.minor) >= (major, minor) {
        return None;
    }
    Some(PreflightProblem::fatal(format!(
        "the cluster runs Kubernetes {found}, but v{major}.{minor}.0 or later is required"
    )))
}

/// Parses a boolean as clusterctl does.
/// Source: Go 1.26 strconv (ParseBool).
fn is_true(text: &str) -> bool {
    ["1", "t", "T", "true", "TRUE", "True"].contains(&text)
}

/// Returns one permission for each verb, kind and namespace.
/// Kinds that the server does not serve yet are left out, because their plural is unknown.
fn needed_permissions<'o>(
    objects: impl Iterator<Item = &'o Object>,
    need: AccessNeed,
    kinds: &ServedKinds,
) -> Vec<Permission> {
    let mut wanted = BTreeSet::new();
    for object in objects {
        let Some(kind) = kinds.preferred(&key_of(object).group_kind()) else { continue };
        for verb in need.verbs() {
            wanted.insert(Permission {
                verb: (*verb).to_owned(),
                group: kind.group.clone(),
                resource: kind.plural.clone(),
                namespace: if kind.namespaced { object.namespace().to_owned() } else { String::new() },
            });
        }
    }
    wanted.into_iter().collect()
}

/// Returns an ignorable problem, because the authorizer decides when the object is written.
fn permission_problem(denied: &DeniedPermission) -> PreflightProblem {
    let Permission { verb, group, resource, namespace } = &denied.permission;
    let resource = if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
    let place =
        if namespace.is_empty() { "cluster-wide".to_owned() } else { format!("in namespace `{namespace}`") };
    let why = if denied.reason.is_empty() { String::new() } else { format!(": {}", denied.reason) };
    PreflightProblem::ignorable(
        format!("missing permission: {verb} `{resource}` {place}{why}"),
        "request this permission, or connect as a user who has it",
    )
}

#[cfg(test)]
mod tests {
    use apply::ApiKind;
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::testing::{NEW_VERSION, Releases, asked, docker};

    #[test]
    fn an_old_kubernetes_is_refused_and_an_older_one_with_topologies() {
        let problem = |version: &str, topology: &str| {
            check_kubernetes(version, &Environment::new([(TOPOLOGY_VARIABLE, topology)]))
                .map(|problem| problem.text)
        };
        assert_eq!(problem("v1.36.3", "true"), None);
        assert_eq!(problem("v1.20.0", "false"), None);
        assert_data_eq!(
            problem("v1.19.16", "").unwrap(),
            str!["the cluster runs Kubernetes v1.19.16, but v1.20.0 or later is required"]
        );
        assert_data_eq!(
            problem("v1.21.4-eks-1", "T").unwrap(),
            str!["the cluster runs Kubernetes v1.21.4-eks-1, but v1.22.0 or later is required"]
        );
    }

    #[tokio::test]
    async fn permissions_are_checked_once_per_kind_verb_and_namespace() {
        let mut kinds = ServedKinds::default();
        for (group, kind, plural) in
            [("apps", "Deployment", "deployments"), ("", "Service", "services"), ("", "Pod", "pods")]
        {
            let (group, kind, plural) = (group.to_owned(), kind.to_owned(), plural.to_owned());
            let version = "v1".to_owned();
            kinds.add(ApiKind { group, version, kind, plural, namespaced: true, verbs: Vec::new() });
        }
        let releases = Releases::small();
        let once = releases.sources().render(&asked(&[(docker(), NEW_VERSION)]), None).await.unwrap();
        let twice = [once.clone(), once].concat();
        let short = |need| {
            let one =
                |wanted: Permission| format!("{} {} {}", wanted.verb, wanted.resource, wanted.namespace);
            let objects = twice.iter().flat_map(|provider| &provider.objects);
            needed_permissions(objects, need, &kinds).into_iter().map(one).collect::<Vec<_>>()
        };
        let installing = short(AccessNeed::Install);
        assert_eq!(installing.len(), 10, "{installing:#?}");
        assert!(installing.contains(&"patch deployments infrastructure-docker-system".to_owned()));
        assert_eq!(short(AccessNeed::Replace).len(), 12);
    }

    #[test]
    fn a_denied_permission_is_reported_with_the_reason() {
        let problem = permission_problem(&DeniedPermission {
            permission: Permission {
                verb: "create".to_owned(),
                group: "rbac.authorization.k8s.io".to_owned(),
                resource: "clusterroles".to_owned(),
                namespace: String::new(),
            },
            reason: "no rule".to_owned(),
        });
        assert_data_eq!(
            problem.text.as_str(),
            str!["missing permission: create `clusterroles.rbac.authorization.k8s.io` cluster-wide: no rule"]
        );
    }
}
