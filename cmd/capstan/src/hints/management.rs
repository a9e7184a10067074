use std::error::Error;

use api::{Contract, ProviderId, output::MovePhase};
use apply::{Blocker, GroupKind, Health, ObjectKey};
use inventory::{ContractError, Problems};
use management::{CertManagerError, DeleteError, NotReady, UnfinishedRun, UpgradeError};
use mover::{ArchiveError, JournalError, KeyError, MoveError, MoveSide};
use workload::DescribeError;

use super::rules::{as_error, one_of};
use crate::suggested_commands::resume_move;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(problems) = as_error::<Problems>(error) {
        return problems.problems.iter().filter_map(|problem| problem.hint.clone()).collect();
    }
    if let Some(not_ready) = as_error::<NotReady>(error) {
        return of_not_ready(not_ready);
    }
    let one = as_error::<ContractError>(error)
        .and_then(contract)
        .or_else(|| as_error::<UpgradeError>(error).and_then(upgrade))
        .or_else(|| as_error::<DeleteError>(error).map(deletion))
        .or_else(|| as_error::<DescribeError>(error).and_then(description))
        .or_else(|| as_error::<CertManagerError>(error).and_then(cert_manager))
        .or_else(|| as_error::<MoveError>(error).and_then(movement))
        .or_else(|| as_error::<JournalError>(error).and_then(journal))
        .or_else(|| as_error::<UnfinishedRun>(error).map(unfinished))
        .or_else(|| as_error::<ArchiveError>(error).and_then(archive))
        .or_else(|| as_error::<KeyError>(error).map(|error| key(*error)));
    one.into_iter().collect()
}

/// True if an error is about the cluster that is moved to, and so are the errors below it.
pub(super) fn is_on_target(error: &(dyn Error + 'static)) -> bool {
    use MoveError::{Api, Contract, Discover, Objects};
    match as_error(error) {
        Some(Contract { side, .. } | Discover { side, .. } | Api { side, .. }) => *side == MoveSide::Target,
        Some(Objects { action, .. }) => *action == "created" || *action == "removed",
        _ => false,
    }
}

fn contract(error: &ContractError) -> Option<String> {
    match error {
        ContractError::Absent => Some("`capstan init` installs it".to_owned()),
        ContractError::Contract { found, .. }
            if found.as_str() != Contract::CURRENT && found.is_compatible() =>
        {
            Some(format!(
                "go to the newer contract first: `capstan upgrade apply --contract {}`",
                Contract::CURRENT
            ))
        }
        ContractError::Contract { .. } | ContractError::Api(_) => None,
    }
}

fn description(error: &DescribeError) -> Option<String> {
    match error {
        DescribeError::NoSuchCluster { near, .. } if !near.is_empty() => {
            Some(format!("did you mean {}?", one_of(near)))
        }
        DescribeError::NoSuchCluster { elsewhere, .. } if !elsewhere.is_empty() => {
            Some(format!("there is one in namespace {}: name it with `--namespace`", one_of(elsewhere)))
        }
        DescribeError::NoSuchCluster { .. } => Some("`capstan get clusters -A` lists them".to_owned()),
        DescribeError::Contract(_) | DescribeError::Api(_) => None,
    }
}

fn upgrade(error: &UpgradeError) -> Option<String> {
    match error {
        UpgradeError::Unfinished(_) => Some(
            "`capstan upgrade resume` goes on with it, `capstan upgrade rollback` goes back, `capstan upgrade abort` leaves things as they are"
                .to_owned(),
        ),
        UpgradeError::WithoutKustomizations { lost, .. } => {
            let flag = |(id, _): &(ProviderId, String)| format!("`--kustomization {}=DIR`", id.label());
            let flags = lost.iter().map(flag).collect::<Vec<_>>().join(" and ");
            Some(format!("name it with {flags}, or go back with `capstan upgrade rollback`"))
        }
        UpgradeError::NoJournal { .. } => Some("`capstan upgrade plan` shows what there is to go to".to_owned()),
        UpgradeError::NoWayBack { .. } => Some(
            "remove what stands in the way and run it again, or stay with the new versions: `capstan upgrade resume` completes \
             what was cut off"
                .to_owned(),
        ),
        _ => None,
    }
}

fn unfinished(run: &UnfinishedRun) -> String {
    match run {
        UnfinishedRun::Upgrade(_) => {
            "`capstan upgrade resume` completes it, `capstan upgrade rollback` undoes it; `--abandon` proceeds all the same"
                .to_owned()
        }
        UnfinishedRun::Move(journal) => format!(
            "on its source cluster, `{}` completes it; `--abandon` proceeds all the same",
            resume_move(journal)
        ),
    }
}

fn deletion(error: &DeleteError) -> String {
    match error {
        DeleteError::Unknown { installed, .. } if installed.is_empty() => {
            "no provider is installed".to_owned()
        }
        DeleteError::Unknown { installed, .. } => format!("installed are {}", installed.join(", ")),
        DeleteError::InUse { .. } => {
            "delete these objects first, or keep the definitions: leave `--include-crd` out".to_owned()
        }
    }
}

fn movement(error: &MoveError) -> Option<String> {
    let hint = match error {
        MoveError::SameCluster => {
            "name the target with `--to-kubeconfig` and `--to-kubeconfig-context`; `--kubeconfig` is the source"
        }
        MoveError::Blocked { .. } => {
            "the provider of these objects takes the annotation off when they may go; more time: `--timeout`"
        }
        MoveError::Differs { .. } => {
            "see what changes them on the target, such as a webhook; `--accept-differences` goes on with what it keeps"
        }
        MoveError::Unsettled { .. } => {
            "find out what writes these objects, stop it, and run the command again; it goes on"
        }
        MoveError::Saving { .. } => {
            "wait until it is done; if that process is on another machine and was cut off there, take the annotation `capstan.dev/move` off the Clusters and resume them"
        }
        MoveError::Awake { .. } => "find out who has resumed them, and run the command again",
        MoveError::TooLate => "the command that began the move goes on with it",
        MoveError::Incomplete { .. } => {
            "restore them from a backup with `capstan restore FILE`; what is there already is kept"
        }
        MoveError::Orphaned { .. } => {
            "run the move out of that cluster again; if it no longer exists, restore them from a backup with `capstan restore FILE`"
        }
        MoveError::NoMove { .. } => {
            "`capstan move status` looks at both clusters; name the target with `--to-kubeconfig`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn journal(error: &JournalError) -> Option<String> {
    let hint = match error {
        JournalError::Another { other_end: Some(MoveSide::Target), .. } => {
            "name the target of that move; if it no longer exists, `capstan move --lost target` resumes the Clusters of the source"
                .to_owned()
        }
        JournalError::Another { other_end: Some(MoveSide::Source), .. } => {
            "name the source of that move; if it no longer exists, `capstan move --lost source --to-kubeconfig FILE` resumes the \
             Clusters of the target"
                .to_owned()
        }
        JournalError::Another { journal, .. } if journal.phase == MovePhase::Aborting => {
            "`capstan move --abort` with the same ends undoes the rest of it".to_owned()
        }
        JournalError::Another { .. } => {
            "go on with that move first, or undo it with `--abort`; `capstan move status` tells what it is"
                .to_owned()
        }
        JournalError::Unusable { place, .. } => {
            let (namespace, name) = place.split_once('/').unwrap_or(("default", place));
            format!("`kubectl get configmap -n {namespace} {name} -o yaml` shows it")
        }
        JournalError::TakenOver => "`capstan move status` tells how far it is".to_owned(),
        JournalError::Place { .. } | JournalError::NotKept { .. } | JournalError::Disk(_) => return None,
    };
    Some(hint)
}

fn archive(error: &ArchiveError) -> Option<String> {
    let hint = match error {
        ArchiveError::Locked { .. } => {
            "name the file of a secret key it was encrypted to: `--identity FILE`; nothing was written"
        }
        ArchiveError::NoIdentity => {
            "name the file of another secret key too: `--identity FILE --identity FILE`; nothing was written"
        }
        ArchiveError::Passphrase => {
            "`--passphrase-file` wins over CAPSTAN_BACKUP_PASSPHRASE, and that over asking; nothing was written"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn key(error: KeyError) -> String {
    let hint = match error {
        KeyError::Secret => {
            "`age-keygen -y FILE` prints the public one; keep the secret one out of command lines"
        }
        KeyError::Public => "`age-keygen` writes both into a file; `--identity` takes that file",
        KeyError::Ssh | KeyError::Kind | KeyError::Weak | KeyError::Other => {
            "`age-keygen -o key.txt` makes a pair of keys: `age1…` and `AGE-SECRET-KEY-1…`"
        }
    };
    hint.to_owned()
}

fn cert_manager(error: &CertManagerError) -> Option<String> {
    match error {
        CertManagerError::Silent { blockers, .. } => Some(match blockers.first() {
            Some(blocker) => look_at(blocker),
            None => "`kubectl get pods -n cert-manager` shows how it is; `cert-manager.timeout` in clusterctl.yaml \
                     gives it more time"
                .to_owned(),
        }),
        CertManagerError::Version { .. } => {
            Some("correct the annotation, or leave cert-manager alone with `--skip-cert-manager`".to_owned())
        }
        _ => None,
    }
}

fn of_not_ready(not_ready: &NotReady) -> Vec<String> {
    let blockers = &not_ready.blockers;
    match blockers.iter().find(|blocker| is_refused_definition(blocker)) {
        Some(refused) => vec![look_at(refused), other_definition(&refused.object)],
        None => blockers.first().map(look_at).into_iter().collect(),
    }
}

fn is_refused_definition(blocker: &Blocker) -> bool {
    blocker.object.kind == "CustomResourceDefinition" && blocker.status.health == Health::Failed
}

/// Names of definitions clash inside of a group.
fn other_definition(refused: &ObjectKey) -> String {
    let group = refused.name.split_once('.').map_or("its group", |(_, group)| group);
    format!(
        "another definition of `{group}` has a name that this one needs; if nobody uses it, delete it and run the same \
         command again"
    )
}

/// The command that shows most of the innermost thing that is waited for.
fn look_at(blocker: &Blocker) -> String {
    let innermost = std::iter::successors(Some(blocker), |blocker| blocker.below.first()).last();
    let object = &innermost.unwrap_or(blocker).object;
    let GroupKind { group, kind } = object.group_kind();
    let dotted = if group.is_empty() { String::new() } else { format!(".{group}") };
    let scope = match object.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    };
    format!(
        "`kubectl describe {}{dotted}{scope} {}` shows more, `capstan status` how all of it is",
        kind.to_lowercase(),
        object.name
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use apply::Status;

    use super::*;

    fn blocker(group: &str, kind: &str, below: Vec<Blocker>) -> Blocker {
        let object = ObjectKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: "ns".to_owned(),
            name: "manager".to_owned(),
        };
        let status = Status { health: Health::InProgress, message: "0 of 1".to_owned() };
        Blocker { object, status, since: Duration::ZERO, below }
    }

    #[test]
    fn what_is_not_ready_is_to_be_looked_at_where_it_starts() {
        let not_ready = |blockers| hints(&NotReady { after: Duration::from_secs(5), blockers });
        assert_eq!(
            not_ready(vec![blocker("apps", "Deployment", vec![])]),
            [
                "`kubectl describe deployment.apps -n ns manager` shows more, `capstan status` how all of it is"
            ]
        );
        assert_eq!(
            not_ready(vec![blocker("apps", "Deployment", vec![blocker("", "Pod", vec![])])]),
            ["`kubectl describe pod -n ns manager` shows more, `capstan status` how all of it is"]
        );
        assert_eq!(not_ready(vec![]), Vec::<String>::new());
        let mut refused = blocker("apiextensions.k8s.io", "CustomResourceDefinition", vec![]);
        refused.object.namespace.clear();
        refused.object.name = "widgets.example.org".to_owned();
        refused.status.health = Health::Failed;
        assert_eq!(
            not_ready(vec![blocker("apps", "Deployment", vec![]), refused]),
            [
                "`kubectl describe customresourcedefinition.apiextensions.k8s.io widgets.example.org` shows more, `capstan status` \
                 how all of it is",
                "another definition of `example.org` has a name that this one needs; if nobody uses it, delete it and run \
                 the same command again"
            ]
        );
    }
}
