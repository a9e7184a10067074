use std::error::Error;

use apply::ObjectKey;
use workload::{InvalidResource, RolloutError};

use super::rules::{as_error, one_of};

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(InvalidResource { word }) = as_error(error) {
        let both = word.matches('/').count() > 1;
        let hint = if both { "name each resource by itself" } else { "name a resource as md/demo-workers" };
        return vec![hint.to_owned()];
    }
    as_error::<RolloutError>(error).and_then(rollout).into_iter().collect()
}

fn rollout(error: &RolloutError) -> Option<String> {
    match error {
        RolloutError::Unknown { valid, .. } => Some(format!("take one of {}", valid.join(", "))),
        RolloutError::NotFound { near, .. } if !near.is_empty() => {
            Some(format!("did you mean {}?", one_of(near)))
        }
        RolloutError::NotFound { object, .. } => {
            Some(format!("`kubectl get {}` lists them; `-n` names another namespace", in_place(object, "")))
        }
        RolloutError::Paused { object, by_annotation: true } => Some(format!(
            "`{}` takes annotation `cluster.x-k8s.io/paused` off; `kubectl describe {}` may tell who set it",
            resume(object),
            in_place(object, &object.name)
        )),
        RolloutError::Paused { object, .. } => Some(format!("resume it first: `{}`", resume(object))),
        RolloutError::Scheduled { object, .. } => Some(format!(
            "wait, or take the time off: `kubectl patch {} --type merge -p '{{\"spec\":{{\"rollout\":{{\"after\":null}}}}}}'`",
            in_place(object, &object.name)
        )),
        RolloutError::NoRestart { .. } => Some(
            "its machines are replaced when its template changes, or by means of its provider".to_owned(),
        ),
        _ => None,
    }
}

/// The command that resumes the rollout of an object.
fn resume(object: &ObjectKey) -> String {
    let ObjectKey { kind, namespace, name, .. } = object;
    format!("capstan alpha rollout resume {}/{name} -n {namespace}", kind.to_lowercase())
}

/// What kubectl is to be told of an object, or of all in its place.
fn in_place(object: &ObjectKey, name: &str) -> String {
    let kind = object.group_kind().to_string().to_lowercase();
    format!("{kind} -n {} {name}", object.namespace).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
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
            hints(&RolloutError::Scheduled { object: object.clone(), after }),
            [
                "wait, or take the time off: `kubectl patch machinedeployment.cluster.x-k8s.io -n team md --type merge -p \
              '{\"spec\":{\"rollout\":{\"after\":null}}}'`"
            ]
        );
        assert_eq!(
            hints(&RolloutError::NotFound { object, near: Vec::new() }),
            [
                "`kubectl get machinedeployment.cluster.x-k8s.io -n team` lists them; `-n` names another namespace"
            ]
        );
    }
}
