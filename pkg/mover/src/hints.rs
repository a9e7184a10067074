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
            Self::Contract { side, source } => return with_side(*side, ErrorExplanation::cause(source)),
            Self::Discover { side, source } => return with_side(*side, ErrorExplanation::cause(source)),
            Self::Api { side, source } => return with_side(*side, ErrorExplanation::cause(source)),
            // Each error names its object.
            Self::ObjectFailures { action, failures } => {
                let errors = ErrorExplanation::errors(failures.iter().map(|(_, error)| error));
                let is_on_target = *action == "created" || *action == "removed";
                return if is_on_target { errors.about_target() } else { errors };
            }
            Self::TargetDiffers { differences } => {
                let texts = differences.iter().map(|(object, what)| format!("{object}: {what}"));
                return ErrorExplanation::texts(texts).with_hint(
                    "see what changes them on the target, such as a webhook; `--accept-differences` goes on with what it keeps",
                );
            }
            Self::Blocked { objects, .. } => {
                return object_list(objects).with_hint(
                    "the provider of these objects takes the annotation off when they may go; more time: `--timeout`",
                );
            }
            Self::SourceKeepsChanging { objects } => {
                return object_list(objects).with_hint(
                    "find out what writes these objects, stop it, and run the command again; it goes on",
                );
            }
            Self::ResumedDuringSave { objects } => {
                return object_list(objects)
                    .with_hint("find out who has resumed them, and run the command again");
            }
            Self::SameCluster => {
                return ErrorExplanation::hint(
                    "name the target with `--to-kubeconfig` and `--to-kubeconfig-context`; `--kubeconfig` is the source",
                )
                .with_kind(ErrorKind::User);
            }
            Self::SaveInProgress { .. } => {
                "wait until it is done; if that process is on another machine and was cut off there, take the annotation `capstan.dev/move` off the Clusters and resume them"
            }
            Self::AlreadyDeleting => "the command that began the move goes on with it",
            Self::Incomplete { .. } => {
                "restore them from a backup with `capstan restore FILE`; what is there already is kept"
            }
            Self::PausedByOtherMove { .. } => {
                "run the move out of that cluster again; if it no longer exists, restore them from a backup with `capstan restore FILE`"
            }
            Self::NoMove { .. } => {
                "`capstan move status` looks at both clusters; name the target with `--to-kubeconfig`"
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
            Self::TakenOver => ErrorExplanation::hint("`capstan move status` tells how far it is")
                .with_kind(ErrorKind::Conflict),
            Self::Unusable { place, .. } => {
                let (namespace, name) = place.split_once('/').unwrap_or(("default", place));
                ErrorExplanation::hint(format!(
                    "`kubectl get configmap -n {namespace} {name} -o yaml` shows it"
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
            "name the target of that move; if it no longer exists, `capstan move --lost target` resumes the Clusters of the source"
        }
        Some(MoveSide::Source) => {
            "name the source of that move; if it no longer exists, `capstan move --lost source --to-kubeconfig FILE` resumes the \
             Clusters of the target"
        }
        None if journal.phase == MovePhase::Aborting => {
            "`capstan move --abort` with the same ends undoes the rest of it"
        }
        None => {
            "go on with that move first, or undo it with `--abort`; `capstan move status` tells what it is"
        }
    }
}

impl Explain for ArchiveError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::InvalidObjects(inner) => inner.explain(),
            Self::Encrypted { .. } => ErrorExplanation::hint(
                "name the file of a secret key it was encrypted to: `--identity FILE`; nothing was written",
            ),
            Self::NoMatchingIdentity => ErrorExplanation::hint(
                "name the file of another secret key too: `--identity FILE --identity FILE`; nothing was written",
            ),
            Self::WrongPassphrase => ErrorExplanation::hint(
                "`--passphrase-file` wins over CAPSTAN_BACKUP_PASSPHRASE, and that over asking; nothing was written",
            ),
            Self::Read(_)
            | Self::Truncated
            | Self::Malformed { .. }
            | Self::DecompressionBomb { .. }
            | Self::UnsupportedFormat { .. }
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
                "`age-keygen -y FILE` prints the public one; keep the secret one out of command lines"
            }
            Self::Public => "`age-keygen` writes both into a file; `--identity` takes that file",
            Self::Ssh | Self::UnsupportedKind | Self::Weak | Self::Other => {
                "`age-keygen -o key.txt` makes a pair of keys: `age1…` and `AGE-SECRET-KEY-1…`"
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
