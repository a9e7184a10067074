//! The position of a step in the order of execution.

use super::{Stage, Step};
use crate::{GroupKind, ManagedType};

/// The position of a step; lower first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    half: Half,
    wave: i16,
    part: u8,
    priority: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Half {
    Writes,
    Removals,
}

impl Step {
    pub(super) fn place(&self) -> Place {
        let half = if self.action.is_removal() { Half::Removals } else { Half::Writes };
        let part = match (half, self.stage) {
            (Half::Writes, Stage::Regular) | (Half::Removals, Stage::Instances) => 0,
            (Half::Writes, Stage::Late) => 1,
            (Half::Writes, Stage::Instances) | (Half::Removals, Stage::Regular | Stage::Late) => 2,
        };
        Place { half, wave: self.wave, part, priority: self.priority }
    }
}

/// Kinds whose instances belong to a set: defined by the set, or named by its owner.
pub(super) struct Managed<'a> {
    pub(super) types: Vec<&'a ManagedType>,
    pub(super) patterns: &'a [GroupKind],
}

impl Managed<'_> {
    /// Returns the stage of objects of a kind.
    pub(super) fn stage(&self, kind: &GroupKind, version: &str) -> Stage {
        let defined = self.types.iter().any(|managed| managed.covers(kind, version));
        let is_instance = defined || self.patterns.iter().any(|pattern| pattern.covers(kind));
        match kind {
            _ if is_instance => Stage::Instances,
            GroupKind { group, kind } if group == "apiregistration.k8s.io" && kind == "APIService" => {
                Stage::Late
            }
            _ => Stage::Regular,
        }
    }
}
