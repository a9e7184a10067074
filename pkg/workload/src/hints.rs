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
                format!(
                    "a Cluster of this name exists in namespace {}: select it with `--namespace`",
                    one_of(elsewhere)
                )
            }
            Self::UnknownCluster { .. } => "list Clusters with `capstan get clusters -A`".to_owned(),
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
                "list Clusters with `capstan get clusters -A`; select another namespace with `-n`".to_owned()
            }
            Self::MissingSecret { credentials: KubeconfigUser::User, .. } => {
                "only some managed control planes create a user kubeconfig; omit `--user` to get the administrator kubeconfig"
                    .to_owned()
            }
            Self::MissingSecret { waited: None, .. } => "wait for the kubeconfig with `--wait`".to_owned(),
            Self::MissingSecret { cluster, namespace, .. } => format!(
                "find the cause with `kubectl describe cluster.cluster.x-k8s.io -n {namespace} {cluster}`, or increase `--timeout`"
            ),
            Self::MissingValue { namespace, secret } => format!(
                "list its keys with `kubectl describe secret -n {namespace} {secret}`; if you delete the Secret, controllers create it again"
            ),
            Self::Contract(inner) => return inner.explain(),
            Self::Api(inner) => return inner.explain(),
        })
    }
}

impl Explain for ResourceRefError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let both = self.word.matches('/').count() > 1;
        let hint = if both {
            "pass each resource as a separate argument"
        } else {
            "use a form such as `md/demo-workers`"
        };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::User)
    }
}

impl Explain for RolloutError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnknownResource { valid, .. } => {
                ErrorExplanation::hint(format!("use one of {}", valid.join(", "))).with_kind(ErrorKind::User)
            }
            Self::NotFound { object, suggestions: near } => {
                ErrorExplanation::hint(not_found_hint(object, near)).with_kind(ErrorKind::User)
            }
            Self::Paused { object, by_annotation: true } => ErrorExplanation::hint(format!(
                "remove annotation `cluster.x-k8s.io/paused` with `{}`; find who set it with `kubectl describe {}`",
                resume_command(object),
                kubectl_arguments(object, &object.name)
            )),
            Self::Paused { object, .. } => {
                ErrorExplanation::hint(format!("resume it first with `{}`", resume_command(object)))
            }
            Self::Scheduled { object, .. } => ErrorExplanation::hint(format!(
                "wait, or remove the scheduled time with `kubectl patch {} --type merge -p '{{\"spec\":{{\"rollout\":{{\"after\":null}}}}}}'`",
                kubectl_arguments(object, &object.name)
            )),
            Self::RestartUnsupported { .. } => ErrorExplanation::hint(
                "change its template to replace its machines, or use a method of its provider",
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
        format!(
            "list objects with `kubectl get {}`; select another namespace with `-n`",
            kubectl_arguments(object, "")
        )
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
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn rollout_errors_hint_at_the_next_command() {
        let object = ObjectKey {
            group: "cluster.x-k8s.io".to_owned(),
            kind: "MachineDeployment".to_owned(),
            namespace: "team".to_owned(),
            name: "md".to_owned(),
        };
        let after = "2999-01-01T00:00:00Z".to_owned();
        assert_data_eq!(
            error_chain(&RolloutError::Scheduled { object: object.clone(), after }).hints.join("\n"),
            str![[
                r#"wait, or remove the scheduled time with `kubectl patch machinedeployment.cluster.x-k8s.io -n team md --type merge -p '{"spec":{"rollout":{"after":null}}}'`"#
            ]]
        );
        assert_data_eq!(
            error_chain(&RolloutError::NotFound { object, suggestions: Vec::new() }).hints.join("\n"),
            str![
                "list objects with `kubectl get machinedeployment.cluster.x-k8s.io -n team`; select another namespace with `-n`"
            ]
        );
    }
}
