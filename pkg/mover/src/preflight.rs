//! Finds every problem of a move before its first write. Pure: takes the state of both clusters, and returns problems
//! and warnings.

mod access;
mod objects;
mod selection;
mod sides;

use api::output::MovePhase;
use apply::ObjectKey;
use inventory::PreflightProblem;

use crate::MoveJournal;

pub(crate) use access::{Among, denied, wanted};
pub(crate) use objects::{check_half_deleted, check_marks, check_objects, unready};
pub(crate) use selection::check_selection;
pub(crate) use sides::{check_kinds, check_namespaces, check_places, check_providers, check_there};

/// Maximum number of objects that a message names; the message counts the rest.
const NAMED: usize = 10;

/// The progress of an earlier run of the same move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage<'j> {
    /// There was no earlier run.
    New,
    /// Objects were paused and perhaps created.
    Begun(&'j MoveJournal),
    /// Objects were deleted on the source. The move can only be completed, so the state of source objects stops
    /// nothing.
    Deleting(&'j MoveJournal),
}

/// The purpose of reading objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Objects go to another cluster. All must be ready, and none may be in deletion.
    Leave,
    /// Objects are backed up. Objects that are not ready are saved, and objects in deletion are left out.
    Keep,
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
            Some(journal) if journal.phase < MovePhase::Deleting => Self::Begun(journal),
            Some(journal) => Self::Deleting(journal),
        }
    }

    /// Returns the run whose marks belong to this move.
    pub(crate) fn run(self) -> Option<&'j str> {
        match self {
            Self::New => None,
            Self::Begun(journal) | Self::Deleting(journal) => Some(&journal.run),
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
pub(crate) fn listed<'k>(keys: impl IntoIterator<Item = &'k ObjectKey>) -> String {
    let keys: Vec<String> = keys.into_iter().map(ToString::to_string).collect();
    match keys.len().saturating_sub(NAMED) {
        0 => keys.join(", "),
        more => format!("{} and {more} more", keys[..NAMED].join(", ")),
    }
}

#[cfg(test)]
mod tests;
