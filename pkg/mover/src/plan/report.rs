//! Plans and outcomes in the types of `api::output`, as commands print them.

use api::output::{self, MoveAction, MovedObject, MovingObject, StayingObject};
use apply::ObjectKey;
use workload::{ExcludeReason, KeepReason, MoveDecision, NodeId};

use super::{MovePlan, TargetEffect};
use crate::{MoveJournal, MoveOutcome, MoveReport, MoveRequest};

impl MovePlan {
    /// Returns the plan in its printed form.
    pub fn report(&self, source: &str, target: Option<&str>, request: &MoveRequest) -> output::MovePlan {
        let moving = self.groups.iter().zip(1..).flat_map(|(group, number)| {
            group.iter().filter_map(move |node| self.moving_object(*node, number, request))
        });
        let staying = self.discovered.graph.iter().filter_map(|(node, _)| self.staying_object(node));
        output::MovePlan {
            source: source.to_owned(),
            target: target.map(str::to_owned),
            namespaces: request.namespaces.iter().cloned().collect(),
            unfinished: self.unfinished.as_ref().map(MoveJournal::report),
            new_namespaces: self.new_namespaces.clone(),
            moving: moving.collect(),
            staying: staying.collect(),
            warnings: self.warnings.iter().map(|warning| warning.text.clone()).collect(),
        }
    }

    fn moving_object(&self, node: NodeId, group: usize, request: &MoveRequest) -> Option<MovingObject> {
        let MoveDecision::Moves { why, kept } = self.selection.decision(node) else { return None };
        let (here, there) = (&self.facts(node).key, self.key_on_target(node, request));
        Some(MovingObject {
            object: here.clone(),
            target_namespace: (here.namespace != there.namespace).then_some(there.namespace),
            action: action(self.target_effects.get(&node).copied(), *kept),
            group,
            why: self.discovered.graph.include_text(why),
            kept: kept.map(KeepReason::describe),
        })
    }

    fn staying_object(&self, node: NodeId) -> Option<StayingObject> {
        let MoveDecision::Stays(why) = self.selection.decision(node) else { return None };
        // Objects of other namespaces were read only to find their owners.
        let reported = !matches!(why, ExcludeReason::OtherNamespace);
        let graph = &self.discovered.graph;
        reported.then(|| StayingObject { object: self.facts(node).key.clone(), why: graph.exclude_text(why) })
    }
}

fn action(on_target: Option<TargetEffect>, kept: Option<KeepReason>) -> MoveAction {
    match (on_target, kept) {
        (Some(TargetEffect::LeaveAlone), _) => MoveAction::LeaveAlone,
        (Some(TargetEffect::Update), None) => MoveAction::Overwrite,
        (Some(TargetEffect::Update), Some(_)) => MoveAction::Update,
        (Some(TargetEffect::Create) | None, None) => MoveAction::Move,
        (Some(TargetEffect::Create) | None, Some(_)) => MoveAction::Copy,
    }
}

impl MoveOutcome {
    /// Returns the outcome in its printed form.
    pub fn report(&self) -> output::MoveReport {
        report_output(&self.journal.run, Some(&self.journal), &self.objects, &self.differences)
    }
}

impl MoveReport {
    /// Returns the report in its printed form, with the journal of the same move.
    pub fn report(&self, journal: Option<&MoveJournal>) -> output::MoveReport {
        report_output(&self.run, journal.filter(|journal| journal.run == self.run), &self.objects, &[])
    }
}

impl MoveJournal {
    /// Returns the state of the move in its printed form.
    pub fn report(&self) -> output::MoveState {
        output::MoveState {
            begun: self.begun.clone(),
            source: self.source.address.clone(),
            target: self.target.address.clone(),
            phase: self.phase.as_str().to_owned(),
        }
    }
}

fn report_output(
    run: &str,
    journal: Option<&MoveJournal>,
    objects: &[(ObjectKey, String)],
    differences: &[(ObjectKey, String)],
) -> output::MoveReport {
    let moved = |(object, outcome): &(ObjectKey, String)| MovedObject {
        object: object.clone(),
        outcome: outcome.clone(),
    };
    output::MoveReport {
        run: run.to_owned(),
        journal: journal.map(MoveJournal::report),
        objects: objects.iter().map(moved).collect(),
        differences: differences.iter().map(moved).collect(),
    }
}
