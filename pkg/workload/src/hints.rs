//! Next steps after a failed request about a Cluster, or a failed change of one.

use api::{ErrorExplanation, Explain, one_of, output::ErrorKind};
use apply::ObjectKey;

use crate::{
    BadChoice, DescribeError, DiscoverError, InvalidResource, KubeconfigOf, NoSuchCluster, RolloutError,
    WorkloadKubeconfigError,
};

impl Explain for DiscoverError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Inventory(inner) => inner.explain(),
            Self::Api(inner) => inner.explain(),
            Self::Definition { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for DescribeError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let hint = match self {
            Self::NoSuchCluster { near, .. } if !near.is_empty() => format!("did you mean {}?", one_of(near)),
            Self::NoSuchCluster { elsewhere, .. } if !elsewhere.is_empty() => {
                format!("there is one in namespace {}: name it with `--namespace`", one_of(elsewhere))
            }
            Self::NoSuchCluster { .. } => "`capstan get clusters -A` lists them".to_owned(),
            Self::Contract(inner) => return inner.explain(),
            Self::Api(inner) => return inner.explain(),
        };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::User)
    }
}

impl Explain for WorkloadKubeconfigError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(match self {
            Self::NoSuchCluster { near, .. } if !near.is_empty() => format!("did you mean {}?", one_of(near)),
            Self::NoSuchCluster { .. } => {
                "`capstan get clusters -A` lists them; `-n` names another namespace".to_owned()
            }
            Self::NotYet { credentials: KubeconfigOf::User, .. } => {
                "only some managed control planes make one for users; leave `--user` out for that of the administrator"
                    .to_owned()
            }
            Self::NotYet { waited: None, .. } => "`--wait` waits for it".to_owned(),
            Self::NotYet { cluster, namespace, .. } => format!(
                "`kubectl describe cluster.cluster.x-k8s.io -n {namespace} {cluster}` shows what holds it up; `--timeout` gives it \
                 more time"
            ),
            Self::NoValue { namespace, secret } => format!(
                "`kubectl describe secret -n {namespace} {secret}` shows its keys; controllers make it again when it is deleted"
            ),
            Self::Contract(inner) => return inner.explain(),
            Self::Api(inner) => return inner.explain(),
        })
    }
}

impl Explain for InvalidResource {
    fn explain(&self) -> ErrorExplanation<'_> {
        let both = self.word.matches('/').count() > 1;
        let hint = if both { "name each resource by itself" } else { "name a resource as md/demo-workers" };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::User)
    }
}

impl Explain for RolloutError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Unknown { valid, .. } => {
                ErrorExplanation::hint(format!("take one of {}", valid.join(", "))).with_kind(ErrorKind::User)
            }
            Self::NotFound { object, near } => {
                ErrorExplanation::hint(not_found(object, near)).with_kind(ErrorKind::User)
            }
            Self::Paused { object, by_annotation: true } => ErrorExplanation::hint(format!(
                "`{}` takes annotation `cluster.x-k8s.io/paused` off; `kubectl describe {}` may tell who set it",
                resume(object),
                in_place(object, &object.name)
            )),
            Self::Paused { object, .. } => {
                ErrorExplanation::hint(format!("resume it first: `{}`", resume(object)))
            }
            Self::Scheduled { object, .. } => ErrorExplanation::hint(format!(
                "wait, or take the time off: `kubectl patch {} --type merge -p '{{\"spec\":{{\"rollout\":{{\"after\":null}}}}}}'`",
                in_place(object, &object.name)
            )),
            Self::NoRestart { .. } => ErrorExplanation::hint(
                "its machines are replaced when its template changes, or by means of its provider",
            ),
            Self::Contract(inner) => inner.explain(),
            Self::Api(inner) => inner.explain(),
            Self::Ambiguous { .. }
            | Self::AlreadyPaused { .. }
            | Self::NotPaused { .. }
            | Self::Deleted { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for BadChoice {}

impl Explain for NoSuchCluster {}

fn not_found(object: &ObjectKey, near: &[String]) -> String {
    if near.is_empty() {
        format!("`kubectl get {}` lists them; `-n` names another namespace", in_place(object, ""))
    } else {
        format!("did you mean {}?", one_of(near))
    }
}

/// Returns the command that resumes the rollout of an object.
fn resume(object: &ObjectKey) -> String {
    let ObjectKey { kind, namespace, name, .. } = object;
    format!("capstan alpha rollout resume {}/{name} -n {namespace}", kind.to_lowercase())
}

/// Returns arguments of kubectl for an object, or for all objects of its kind and namespace.
fn in_place(object: &ObjectKey, name: &str) -> String {
    let kind = object.group_kind().to_string().to_lowercase();
    format!("{kind} -n {} {name}", object.namespace).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use api::error_chain;

    use super::*;

    #[test]
    fn what_stands_in_the_way_is_told_with_the_command_that_removes_it() {
        let object = ObjectKey {
            group: "cluster.x-k8s.io".to_owned(),
            kind: "MachineDeployment".to_owned(),
            namespace: "team".to_owned(),
            name: "md".to_owned(),
        };
        let after = "2999-01-01T00:00:00Z".to_owned();
        assert_eq!(
            error_chain(&RolloutError::Scheduled { object: object.clone(), after }).hints,
            [
                "wait, or take the time off: `kubectl patch machinedeployment.cluster.x-k8s.io -n team md --type merge -p \
              '{\"spec\":{\"rollout\":{\"after\":null}}}'`"
            ]
        );
        assert_eq!(
            error_chain(&RolloutError::NotFound { object, near: Vec::new() }).hints,
            [
                "`kubectl get machinedeployment.cluster.x-k8s.io -n team` lists them; `-n` names another namespace"
            ]
        );
    }
}
