use apply::{Action, ApplySet, DeletePolicy, Item, Plan, Stage, Step, delete_priority};

/// What goes beside what always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Going {
    /// CustomResourceDefinitions.
    pub(super) definitions: bool,
    /// The Namespace of the provider.
    pub(super) namespace: bool,
}

impl Going {
    fn takes(self, item: &Item, namespace: &str) -> bool {
        if item.key.is("apiextensions.k8s.io", "CustomResourceDefinition") {
            self.definitions
        } else if item.key.is("", "Namespace") {
            self.namespace && item.key.name == namespace
        } else {
            true
        }
    }
}

/// What is to be done, without a question to the server: what is gone already counts as deleted.
pub(super) fn steps(set: &ApplySet, namespace: &str, going: Going) -> Plan {
    let items = set.items.iter().filter(|item| going.takes(item, namespace));
    let mut steps: Vec<_> = items.map(step).collect();
    steps.sort_by(|one, other| {
        (one.wave, one.priority, &one.key).cmp(&(other.wave, other.priority, &other.key))
    });
    Plan { steps }
}

fn step(item: &Item) -> Step {
    let stays = matches!(item.delete_policy, DeletePolicy::Orphan | DeletePolicy::OrphanOnDelete);
    Step {
        key: item.key.clone(),
        action: if stays { Action::Orphan } else { Action::Delete },
        wave: item.delete_order,
        stage: Stage::default(),
        priority: delete_priority(&item.key),
        purge_wave: None,
        unowned: false,
        why: None,
    }
}
