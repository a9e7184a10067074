//! Every problem of a move before its first write. Pure: what is known of both sides in, problems and warnings out.

mod access;
mod objects;
mod selection;
mod sides;

use api::output::MovePhase;
use apply::ObjectKey;
use inventory::Problem;

use crate::MoveJournal;

pub(crate) use access::{Among, denied, wanted};
pub(crate) use objects::{check_half_deleted, check_marks, check_objects, unready};
pub(crate) use selection::check_selection;
pub(crate) use sides::{check_kinds, check_namespaces, check_places, check_providers, check_there};

/// So many objects are named where several have the same problem; the rest is counted.
const NAMED: usize = 10;

/// How far an earlier run of the same move is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage<'j> {
    /// Nothing was begun.
    New,
    /// Something was paused, perhaps created.
    Begun(&'j MoveJournal),
    /// Something was deleted on the source. There is no way back, so what objects are like there stops nothing.
    Deleting(&'j MoveJournal),
}

/// What objects are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// They go to another cluster: all of them have to be ready, and none may be on its way out.
    Leave,
    /// They are kept for a bad day: what is not ready is better than nothing, and what is on its way out is left out.
    Keep,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Stands in the way.
    pub(crate) problems: Vec<Problem>,
    /// May surprise.
    pub(crate) warnings: Vec<Problem>,
}

impl<'j> Stage<'j> {
    pub(crate) fn of(unfinished: Option<&'j MoveJournal>) -> Self {
        match unfinished {
            None => Self::New,
            Some(journal) if journal.phase < MovePhase::Deleting => Self::Begun(journal),
            Some(journal) => Self::Deleting(journal),
        }
    }

    /// The run whose marks are those of this move.
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

/// Something that nothing lets pass, and what to do about it.
pub(crate) fn problem(text: impl Into<String>, hint: impl Into<String>) -> Problem {
    Problem { text: text.into(), hint: Some(hint.into()), can_be_ignored: false }
}

/// Something to know, with nothing to do about it.
pub(crate) fn remark(text: impl Into<String>) -> Problem {
    Problem::fatal(text)
}

/// `Machine ns/a, Machine ns/b and 3 more`
pub(crate) fn listed<'k>(keys: impl IntoIterator<Item = &'k ObjectKey>) -> String {
    let keys: Vec<String> = keys.into_iter().map(ToString::to_string).collect();
    match keys.len().saturating_sub(NAMED) {
        0 => keys.join(", "),
        more => format!("{} and {more} more", keys[..NAMED].join(", ")),
    }
}

#[cfg(test)]
mod tests;
