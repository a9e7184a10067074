use std::error::Error;

use management::{KubeconfigOf, WorkloadKubeconfigError};

use super::rules::{as_error, one_of};
use crate::settings::WorkloadContextError;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let one = match as_error::<WorkloadContextError>(error) {
        Some(_) => Some("`get kubeconfig` without `--merge` prints it as it is".to_owned()),
        None => as_error::<WorkloadKubeconfigError>(error).and_then(kubeconfig),
    };
    one.into_iter().collect()
}

fn kubeconfig(error: &WorkloadKubeconfigError) -> Option<String> {
    use WorkloadKubeconfigError::{NoSuchCluster, NoValue, NotYet};
    match error {
        NoSuchCluster { near, .. } if !near.is_empty() => Some(format!("did you mean {}?", one_of(near))),
        NoSuchCluster { .. } => {
            Some("`kubectl get clusters -A` lists them; `-n` names another namespace".to_owned())
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
