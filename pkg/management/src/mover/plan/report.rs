//! Plans and outcomes as verbs print them: the types of `api::output`.

use api::output::{self, MoveAction, MovedObject, MovingObject, StayingObject};
use apply::ObjectKey;

use super::{MovePlan, OnTarget};
use crate::{
    Excluded, Fate, Included, KeptBecause, NodeId,
    mover::{MoveJournal, MoveOutcome, MoveReport, MoveRequest},
    object_name,
};

impl MovePlan {
    /// The plan as it is printed.
    pub fn report(&self, source: &str, target: Option<&str>, request: &MoveRequest) -> output::MovePlan {
        let moving = self.groups.iter().zip(1..).flat_map(|(group, number)| {
            group.iter().filter_map(move |node| self.moving(*node, number, request))
        });
        let staying = self.discovered.graph.iter().filter_map(|(node, _)| self.staying(node));
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

    fn moving(&self, node: NodeId, group: usize, request: &MoveRequest) -> Option<MovingObject> {
        let Fate::Moves { why, kept } = self.selection.fate(node) else { return None };
        let (here, there) = (&self.facts(node).key, self.key_on_target(node, request));
        Some(MovingObject {
            object: object_name(here),
            target_namespace: (here.namespace != there.namespace).then_some(there.namespace),
            action: action(self.on_target.get(&node).copied(), *kept),
            group,
            why: self.why(why),
            kept: kept.map(|kept| kept_because(kept).to_owned()),
        })
    }

    fn staying(&self, node: NodeId) -> Option<StayingObject> {
        let Fate::Stays(why) = self.selection.fate(node) else { return None };
        let why = match why {
            // It was only looked at for what it may belong to.
            Excluded::OtherNamespace => return None,
            Excluded::NotLinked => "nothing links it to what moves".to_owned(),
            Excluded::NotChosen(cluster) => {
                format!("it belongs to {}, which was not chosen", self.key(*cluster))
            }
            Excluded::OwnerStays(owner) => format!("its owner {} stays", self.key(*owner)),
            Excluded::OwnerMissing(owner) => {
                format!("its owner {owner} is not there, or of a kind that is not moved")
            }
            Excluded::Cycle => "it, or an owner of it, owns itself".to_owned(),
        };
        Some(StayingObject { object: object_name(self.key(node)), why })
    }

    fn why(&self, why: &Included) -> String {
        match why {
            Included::Root => "moves by itself".to_owned(),
            Included::BelongsTo(root) => format!("belongs to {}", self.key(*root)),
            Included::Labelled => "labelled to move".to_owned(),
            Included::KindLabelled => "its kind is labelled to move".to_owned(),
        }
    }

    fn key(&self, node: NodeId) -> &ObjectKey {
        &self.facts(node).key
    }
}

fn action(on_target: Option<OnTarget>, kept: Option<KeptBecause>) -> MoveAction {
    match (on_target, kept) {
        (Some(OnTarget::LeaveAlone), _) => MoveAction::LeaveAlone,
        (Some(OnTarget::Update), None) => MoveAction::Overwrite,
        (Some(OnTarget::Update), Some(_)) => MoveAction::Update,
        (Some(OnTarget::Create) | None, None) => MoveAction::Move,
        (Some(OnTarget::Create) | None, Some(_)) => MoveAction::Copy,
    }
}

fn kept_because(kept: KeptBecause) -> &'static str {
    match kept {
        KeptBecause::Global => "it is of the whole cluster",
        KeptBecause::StillUsed => "Clusters that stay use it",
    }
}

impl MoveOutcome {
    /// The outcome as it is printed.
    pub fn report(&self) -> output::MoveReport {
        printed(&self.journal.run, Some(&self.journal), &self.objects, &self.differences)
    }
}

impl MoveReport {
    /// The report as it is printed, with what a journal of the same move says.
    pub fn report(&self, journal: Option<&MoveJournal>) -> output::MoveReport {
        printed(&self.run, journal.filter(|journal| journal.run == self.run), &self.objects, &[])
    }
}

impl MoveJournal {
    /// How far it is, as it is printed.
    pub fn report(&self) -> output::MoveState {
        output::MoveState {
            begun: self.begun.clone(),
            source: self.source.address.clone(),
            target: self.target.address.clone(),
            phase: self.phase.as_str().to_owned(),
        }
    }
}

fn printed(
    run: &str,
    journal: Option<&MoveJournal>,
    objects: &[(ObjectKey, String)],
    differences: &[(ObjectKey, String)],
) -> output::MoveReport {
    let moved = |(object, outcome): &(ObjectKey, String)| MovedObject {
        object: object_name(object),
        outcome: outcome.clone(),
    };
    output::MoveReport {
        run: run.to_owned(),
        journal: journal.map(MoveJournal::report),
        objects: objects.iter().map(moved).collect(),
        differences: differences.iter().map(moved).collect(),
    }
}
