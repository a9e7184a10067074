//! Finds every problem of a move before its first write. Pure: takes the state of both clusters, and returns problems
//! and warnings.

mod access;
mod objects;
mod selection;
mod target;

use api::output::MovePhase;
use apply::ObjectKey;
use inventory::PreflightProblem;

use crate::MoveJournal;

pub(crate) use access::{ResourceScope, needed_permissions, permission_problems};
pub(crate) use objects::{check_marked_for_deletion, check_marks, check_objects, unready_problems};
pub(crate) use selection::check_selection;
pub(crate) use target::{check_existing, check_kinds, check_namespaces, check_providers, check_target_keys};

/// Maximum number of objects that a message names; the message counts the rest.
const MAX_EXAMPLES: usize = 10;

/// The progress of an earlier run of the same move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage<'j> {
    /// There was no earlier run.
    New,
    /// Objects were paused and perhaps created.
    Started(&'j MoveJournal),
    /// Objects were deleted on the source. The move can only be completed, so the state of source objects stops
    /// nothing.
    Deleting(&'j MoveJournal),
}

/// The purpose of reading objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Objects go to another cluster. All must be ready, and none may be in deletion.
    Move,
    /// Objects are backed up. Objects that are not ready are saved, and objects in deletion are left out.
    Backup,
}

/// The results of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Findings that stop the move.
    pub(crate) problems: Vec<PreflightProblem>,
    /// Findings that may surprise the user.
    pub(crate) warnings: Vec<PreflightProblem>,
}

impl<'j> Stage<'j> {
    pub(crate) fn of(unfinished: Option<&'j MoveJournal>) -> Self {
        match unfinished {
            None => Self::New,
            Some(journal) if journal.phase < MovePhase::Deleting => Self::Started(journal),
            Some(journal) => Self::Deleting(journal),
        }
    }

    /// Returns the run whose marks belong to this move.
    pub(crate) fn run(self) -> Option<&'j str> {
        match self {
            Self::New => None,
            Self::Started(journal) | Self::Deleting(journal) => Some(&journal.run),
        }
    }
}

impl Findings {
    pub(crate) fn add(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.warnings.extend(other.warnings);
    }
}

/// Returns a problem that cannot be ignored, with a hint.
pub(crate) fn problem(text: impl Into<String>, hint: impl Into<String>) -> PreflightProblem {
    PreflightProblem { text: text.into(), hint: Some(hint.into()), can_be_ignored: false }
}

/// Returns a remark without a hint.
pub(crate) fn remark(text: impl Into<String>) -> PreflightProblem {
    PreflightProblem::fatal(text)
}

/// Lists objects as `Machine ns/a, Machine ns/b and 3 more`.
pub fn listed<'k>(keys: impl IntoIterator<Item = &'k ObjectKey>) -> String {
    first_few(&keys.into_iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// Lists texts as `a, b and 3 more`.
pub(crate) fn first_few(texts: &[String]) -> String {
    match texts.len().saturating_sub(MAX_EXAMPLES) {
        0 => texts.join(", "),
        more => format!("{} and {more} more", texts[..MAX_EXAMPLES].join(", ")),
    }
}

#[cfg(test)]
mod tests;
