//! Hints after a failed move or backup.

use std::fmt::Write as _;

use api::{
    ErrorExplanation, Explain,
    output::{ErrorKind, MovePhase},
    shell_word,
};
use apply::ObjectKey;

use crate::{ArchiveError, JournalError, KeyError, KeyFileError, MoveError, MoveJournal, MoveSide};

impl Explain for MoveError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let hint = match self {
            Self::Problems(inner) => return inner.explain(),
            Self::Journal(inner) => return inner.explain(),
            Self::SaveDuringMove { journal } => {
                let undo = if journal.can_be_undone() { ", or undo it with `--abort`" } else { "" };
                let hint = format!("complete the move with `{}`{undo}, then save", journal.resume_command());
                return ErrorExplanation::hint(hint).with_kind(ErrorKind::Conflict);
            }
            Self::Contract { side, source } => return with_side(*side, ErrorExplanation::cause(source)),
            Self::Discover { side, source } => return with_side(*side, ErrorExplanation::cause(source)),
            Self::Api { side, source } => return with_side(*side, ErrorExplanation::cause(source)),
            // Each error names its object.
            Self::ObjectFailures { action, failures } => {
                let errors = ErrorExplanation::errors(failures.iter().map(|(_, error)| error));
                let is_on_target = *action == "create" || *action == "remove";
                return if is_on_target { errors.about_target() } else { errors };
            }
            Self::TargetDiffers { differences } => {
                let texts = differences.iter().map(|(object, what)| format!("{object}: {what}"));
                return ErrorExplanation::texts(texts).with_hint(
                    "find the webhook or controller on the target that changes these objects, or accept the differences with `--accept-differences`",
                );
            }
            Self::Blocked { objects, .. } => {
                return object_list(objects).with_hint(
                    "wait until the provider removes the annotation `clusterctl.cluster.x-k8s.io/block-move`, or set a longer `--timeout`",
                );
            }
            Self::StaleCopies { objects } => {
                return object_list(objects).with_hint(
                    "undo the move with `--abort`, then move again; an abort keeps copies of Clusters that the source no longer has, and they stay paused",
                );
            }
            Self::SourceKeepsChanging { objects } => {
                return object_list(objects).with_hint(
                    "stop the controller or user that writes these objects, then re-run the same command to resume the move",
                );
            }
            Self::ResumedDuringSave { objects } => {
                return object_list(objects).with_hint(
                    "find the user or controller that resumed these objects, then re-run the command",
                );
            }
            Self::SameCluster => {
                return ErrorExplanation::hint(
                    "set the target with `--to-kubeconfig` and `--to-kubeconfig-context`, or with `--to-sandbox`; `--kubeconfig` or `--sandbox` sets the source",
                )
                .with_kind(ErrorKind::User);
            }
            Self::SaveInProgress { .. } => {
                "wait until that process ends; if it was interrupted on another machine, remove the annotation `capstan.dev/move` from the Clusters and resume them"
            }
            Self::AlreadyDeleting => "re-run the command that started the move",
            Self::Incomplete { .. } => {
                "restore them from a backup with `capstan restore FILE`; existing objects are kept"
            }
            Self::PausedByOtherMove { .. } => {
                "re-run the move from that cluster; if the cluster no longer exists, restore the objects from a backup with `capstan restore FILE`"
            }
            Self::NoMove { .. } => {
                "look for a move on both clusters with `capstan move status`; set the target with `--to-kubeconfig` or `--to-sandbox`"
            }
            Self::WriteSaved(_) => return ErrorExplanation::default(),
        };
        ErrorExplanation::hint(hint)
    }
}

fn with_side(side: MoveSide, explanation: ErrorExplanation<'_>) -> ErrorExplanation<'_> {
    if side == MoveSide::Target { explanation.about_target() } else { explanation }
}

/// Returns objects as members of an error. The message already names a single object.
fn object_list(objects: &[ObjectKey]) -> ErrorExplanation<'_> {
    ErrorExplanation::texts(objects.iter().filter(|_| objects.len() > 1).map(ToString::to_string))
}

impl Explain for JournalError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Conflict { conflicting_side: other_end, journal, .. } => {
                ErrorExplanation::hint(other_move_hint(*other_end, journal)).with_kind(ErrorKind::Conflict)
            }
            Self::TakenOver => {
                ErrorExplanation::hint("check the progress of the move with `capstan move status`")
                    .with_kind(ErrorKind::Conflict)
            }
            Self::Unusable { place, .. } => {
                let (namespace, name) = place.split_once('/').unwrap_or(("default", place));
                ErrorExplanation::hint(format!(
                    "inspect the journal with `kubectl get configmap -n {namespace} {name} -o yaml`"
                ))
            }
            Self::UnknownNamespace { source, .. } => ErrorExplanation::cause(source),
            Self::Api { source, .. } => ErrorExplanation::cause(source),
            Self::Disk(_) => ErrorExplanation::default(),
        }
    }
}

fn other_move_hint(other_end: Option<MoveSide>, journal: &MoveJournal) -> &'static str {
    match other_end {
        Some(MoveSide::Target) => {
            "use the target of that move; if it no longer exists, resume the Clusters of the source with `capstan move --lost target`"
        }
        Some(MoveSide::Source) => {
            "use the source of that move; if it no longer exists, resume the Clusters of the target with `capstan move --lost source --to-kubeconfig FILE`"
        }
        None if journal.phase == MovePhase::Aborting => {
            "complete the abort with `capstan move --abort` and the same source and target"
        }
        None => {
            "complete that move first, or undo it with `--abort`; `capstan move status` shows its details"
        }
    }
}

impl Explain for ArchiveError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::InvalidObjects(inner) => inner.explain(),
            Self::Encrypted { .. } => ErrorExplanation::hint(
                "pass the file of a matching secret key with `--identity FILE`; nothing was written",
            ),
            Self::NoMatchingIdentity => ErrorExplanation::hint(
                "pass the file of another secret key with `--identity FILE`, which can be repeated; nothing was written",
            ),
            Self::UnsupportedFormat { .. } => {
                ErrorExplanation::hint("use the version of capstan that made the backup; nothing was written")
            }
            Self::WrongPassphrase => ErrorExplanation::hint(
                "check the passphrase: `--passphrase-file` takes precedence over CAPSTAN_BACKUP_PASSPHRASE, and both over the prompt; nothing was written",
            ),
            Self::Read(_)
            | Self::Truncated
            | Self::Malformed { .. }
            | Self::ChecksumMismatch { .. }
            | Self::ExcessiveWork { .. }
            | Self::CorruptedPayload => ErrorExplanation::default(),
        }
    }
}

impl Explain for KeyError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(match self {
            Self::Secret => {
                "print the public key with `age-keygen -y FILE`; never pass a secret key on the command line"
            }
            Self::Public => "pass the file that `age-keygen` wrote with `--identity FILE`",
            Self::Ssh | Self::UnsupportedKind | Self::Weak | Self::Other => {
                "generate a key pair (`age1…` and `AGE-SECRET-KEY-1…`) with `age-keygen -o key.txt`"
            }
        })
    }
}

impl Explain for KeyFileError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Line { source, .. } => ErrorExplanation::cause(source),
            Self::Empty => ErrorExplanation::default(),
        }
    }
}

impl MoveJournal {
    /// Returns the command that resumes the move. The command names the clusters by their addresses.
    pub fn resume_command(&self) -> String {
        let mut command = "capstan move".to_owned();
        let mut add = |flag: &str, value: &str| {
            let _ = write!(command, " {flag} {}", shell_word(value));
        };
        self.namespaces.iter().for_each(|name| add("--namespace", name));
        match (&self.selector, &self.clusters) {
            (Some(selector), _) => add("--selector", selector),
            (None, clusters) => clusters.iter().flatten().for_each(|name| add("--cluster", name)),
        }
        self.namespace_map.iter().for_each(|(from, to)| add("--map-namespace", &format!("{from}={to}")));
        add("--kubeconfig", &self.source.address);
        add("--to-kubeconfig", &self.target.address);
        if self.phase == MovePhase::Aborting { command + " --abort" } else { command }
    }
}
