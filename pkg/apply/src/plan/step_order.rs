//! The position of a step in the order of execution.

use super::{PlanStage, PlanStep};
use crate::{GroupKind, ManagedType};

/// The position of a step; lower first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepOrder {
    half: PlanHalf,
    wave: i16,
    part: u8,
    priority: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PlanHalf {
    Writes,
    Removals,
}

impl PlanStep {
    pub(super) fn order(&self) -> StepOrder {
        let half = if self.action.is_removal() { PlanHalf::Removals } else { PlanHalf::Writes };
        let part = match (half, self.stage) {
            (PlanHalf::Writes, PlanStage::Regular) | (PlanHalf::Removals, PlanStage::Instances) => 0,
            (PlanHalf::Writes, PlanStage::Late) => 1,
            (PlanHalf::Writes, PlanStage::Instances)
            | (PlanHalf::Removals, PlanStage::Regular | PlanStage::Late) => 2,
        };
        StepOrder { half, wave: self.wave, part, priority: self.priority }
    }
}

/// Kinds whose instances belong to a set: defined by the set, or named by its owner.
pub(super) struct ManagedKinds<'a> {
    pub(super) types: Vec<&'a ManagedType>,
    pub(super) patterns: &'a [GroupKind],
}

impl ManagedKinds<'_> {
    /// Returns the stage of objects of a kind.
    pub(super) fn stage(&self, kind: &GroupKind, version: &str) -> PlanStage {
        let defined = self.types.iter().any(|managed| managed.covers(kind, version));
        let is_instance = defined || self.patterns.iter().any(|pattern| pattern.covers(kind));
        match kind {
            _ if is_instance => PlanStage::Instances,
            GroupKind { group, kind } if group == "apiregistration.k8s.io" && kind == "APIService" => {
                PlanStage::Late
            }
            _ => PlanStage::Regular,
        }
    }
}
