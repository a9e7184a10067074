//! Next steps after a failed request about a Cluster, or a failed change of one.

use api::{ErrorExplanation, Explain, one_of, output::ErrorKind};
use apply::ObjectKey;

use crate::{
    ConditionChoiceError, DescribeError, DiscoverError, KubeconfigUser, ResourceRefError, RolloutError,
    UnknownCluster, WorkloadKubeconfigError,
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
            Self::UnknownCluster { suggestions: near, .. } if !near.is_empty() => {
                format!("did you mean {}?", one_of(near))
            }
            Self::UnknownCluster { other_namespaces: elsewhere, .. } if !elsewhere.is_empty() => {
                format!("there is one in namespace {}: name it with `--namespace`", one_of(elsewhere))
            }
            Self::UnknownCluster { .. } => "`capstan get clusters -A` lists them".to_owned(),
            Self::Contract(inner) => return inner.explain(),
            Self::Api(inner) => return inner.explain(),
        };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::User)
    }
}

impl Explain for WorkloadKubeconfigError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(match self {
            Self::UnknownCluster { suggestions: near, .. } if !near.is_empty() => format!("did you mean {}?", one_of(near)),
            Self::UnknownCluster { .. } => {
                "`capstan get clusters -A` lists them; `-n` names another namespace".to_owned()
            }
            Self::MissingSecret { credentials: KubeconfigUser::User, .. } => {
                "only some managed control planes make one for users; leave `--user` out for that of the administrator"
                    .to_owned()
            }
            Self::MissingSecret { waited: None, .. } => "`--wait` waits for it".to_owned(),
            Self::MissingSecret { cluster, namespace, .. } => format!(
                "`kubectl describe cluster.cluster.x-k8s.io -n {namespace} {cluster}` shows what holds it up; `--timeout` gives it \
                 more time"
            ),
            Self::MissingValue { namespace, secret } => format!(
                "`kubectl describe secret -n {namespace} {secret}` shows its keys; controllers make it again when it is deleted"
            ),
            Self::Contract(inner) => return inner.explain(),
            Self::Api(inner) => return inner.explain(),
        })
    }
}

impl Explain for ResourceRefError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let both = self.word.matches('/').count() > 1;
        let hint = if both { "name each resource by itself" } else { "name a resource as md/demo-workers" };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::User)
    }
}

impl Explain for RolloutError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnknownResource { valid, .. } => {
                ErrorExplanation::hint(format!("take one of {}", valid.join(", "))).with_kind(ErrorKind::User)
            }
            Self::NotFound { object, suggestions: near } => {
                ErrorExplanation::hint(not_found_hint(object, near)).with_kind(ErrorKind::User)
            }
            Self::Paused { object, by_annotation: true } => ErrorExplanation::hint(format!(
                "`{}` takes annotation `cluster.x-k8s.io/paused` off; `kubectl describe {}` may tell who set it",
                resume_command(object),
                kubectl_arguments(object, &object.name)
            )),
            Self::Paused { object, .. } => {
                ErrorExplanation::hint(format!("resume it first: `{}`", resume_command(object)))
            }
            Self::Scheduled { object, .. } => ErrorExplanation::hint(format!(
                "wait, or take the time off: `kubectl patch {} --type merge -p '{{\"spec\":{{\"rollout\":{{\"after\":null}}}}}}'`",
                kubectl_arguments(object, &object.name)
            )),
            Self::RestartUnsupported { .. } => ErrorExplanation::hint(
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

impl Explain for ConditionChoiceError {}

impl Explain for UnknownCluster {}

fn not_found_hint(object: &ObjectKey, near: &[String]) -> String {
    if near.is_empty() {
        format!("`kubectl get {}` lists them; `-n` names another namespace", kubectl_arguments(object, ""))
    } else {
        format!("did you mean {}?", one_of(near))
    }
}

/// Returns the command that resumes the rollout of an object.
fn resume_command(object: &ObjectKey) -> String {
    let ObjectKey { kind, namespace, name, .. } = object;
    format!("capstan alpha rollout resume {}/{name} -n {namespace}", kind.to_lowercase())
}

/// Returns arguments of kubectl for an object, or for all objects of its kind and namespace.
fn kubectl_arguments(object: &ObjectKey, name: &str) -> String {
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
            error_chain(&RolloutError::NotFound { object, suggestions: Vec::new() }).hints,
            [
                "`kubectl get machinedeployment.cluster.x-k8s.io -n team` lists them; `-n` names another namespace"
            ]
        );
    }
}
