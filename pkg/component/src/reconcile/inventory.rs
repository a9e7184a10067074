//! The inventory during a step.

use std::collections::BTreeSet;

use apply::{ApiError, ApplySet, ApplySetStore, ItemPhase, ObjectKey};
use futures::{FutureExt as _, future::BoxFuture, lock::Mutex};

use crate::{Component, ComponentStore, store::inventory};

/// Stores the inventory of a Component in its status before the first write, and whenever it has new objects or objects that
/// have newly completed their work. Other progress is stored with the status at the end of the step.
#[derive(Debug)]
pub(super) struct StepInventory<'a> {
    store: &'a ComponentStore,
    recorded: Mutex<RecordedInventory>,
}

#[derive(Debug)]
struct RecordedInventory {
    component: Component,
    /// The content of the stored inventory. None until the inventory is stored for the first time.
    stored: Option<BTreeSet<Entry>>,
}

/// An object, and true if it has completed its work.
type Entry = (ObjectKey, bool);

impl<'a> StepInventory<'a> {
    /// Takes a Component with the status for the time of the writes.
    pub(super) fn new(store: &'a ComponentStore, component: Component) -> Self {
        Self { store, recorded: Mutex::new(RecordedInventory { component, stored: None }) }
    }

    /// Takes a Component whose stored inventory has all objects.
    pub(super) fn of_recorded(store: &'a ComponentStore, component: Component, set: &ApplySet) -> Self {
        let stored = Some(entries(set));
        Self { store, recorded: Mutex::new(RecordedInventory { component, stored }) }
    }

    /// Sets the inventory and the revision of a Component to those of the last record.
    pub(super) fn update(self, component: &mut Component) {
        let recorded = self.recorded.into_inner().component;
        component.metadata = recorded.metadata;
        component.status.inventory = recorded.status.inventory;
    }
}

impl ApplySetStore for StepInventory<'_> {
    fn save<'s>(&'s self, set: &'s ApplySet) -> BoxFuture<'s, Result<(), ApiError>> {
        async move {
            let mut recorded = self.recorded.lock().await;
            recorded.component.status.inventory = inventory(set);
            let now = entries(set);
            if recorded.stored.as_ref().is_some_and(|stored| now.is_subset(stored)) {
                return Ok(());
            }
            self.store.replace_status(&mut recorded.component).await?;
            recorded.stored = Some(now);
            Ok(())
        }
        .boxed()
    }
}

fn entries(set: &ApplySet) -> BTreeSet<Entry> {
    let has_completed = |phase: &ItemPhase| {
        matches!(phase, ItemPhase::ScheduledForCompletion | ItemPhase::Completing | ItemPhase::Completed)
    };
    set.items.iter().map(|item| (item.key.clone(), has_completed(&item.phase))).collect()
}
