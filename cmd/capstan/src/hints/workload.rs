use std::error::Error;

use workload::{KubeconfigOf, WorkloadKubeconfigError};

use super::rules::{as_error, one_of};
use crate::settings::{EntryConflict, WorkloadContextError};

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(error) = as_error::<WorkloadContextError>(error) {
        return unusable_context(error);
    }
    if as_error::<EntryConflict>(error).is_some() {
        return vec!["name the new entries differently: `--context-name NAME`".to_owned()];
    }
    as_error::<WorkloadKubeconfigError>(error).and_then(kubeconfig).into_iter().collect()
}

fn unusable_context(error: &WorkloadContextError) -> Vec<String> {
    let print = "leave `--merge` out to print it as it is";
    let more = match error {
        WorkloadContextError::UnsafeFields { .. } => {
            Some("if you trust everyone who may write this Secret, add `--allow-unsafe-fields`")
        }
        WorkloadContextError::UnsafeName => Some("name it differently: `--context-name NAME`"),
        _ => None,
    };
    std::iter::once(print).chain(more).map(str::to_owned).collect()
}

fn kubeconfig(error: &WorkloadKubeconfigError) -> Option<String> {
    use WorkloadKubeconfigError::{NoSuchCluster, NoValue, NotYet};
    match error {
        NoSuchCluster { near, .. } if !near.is_empty() => Some(format!("did you mean {}?", one_of(near))),
        NoSuchCluster { .. } => {
            Some("`capstan get clusters -A` lists them; `-n` names another namespace".to_owned())
        }
        NotYet { credentials: KubeconfigOf::User, .. } => Some(
            "only some managed control planes make one for users; leave `--user` out for that of the administrator"
                .to_owned(),
        ),
        NotYet { waited: None, .. } => Some("`--wait` waits for it".to_owned()),
        NotYet { cluster, namespace, .. } => Some(format!(
            "`kubectl describe cluster.cluster.x-k8s.io -n {namespace} {cluster}` shows what holds it up; `--timeout` gives it \
             more time"
        )),
        NoValue { namespace, secret } => Some(format!(
            "`kubectl describe secret -n {namespace} {secret}` shows its keys; controllers make it again when it is deleted"
        )),
        _ => None,
    }
}
