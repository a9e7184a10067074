//! The states of Components for output.

use std::fmt::Write as _;

use api::output::{ComponentList, ComponentObject, ListedComponent};
use apply::{Blocker, Health, ItemPhase, ObjectKey, Status};
use component::{Component, StoredComponents, UnreadableComponent};

use crate::ui::{NarrowingStep, table};

/// Returns Components in their printed form.
pub(super) fn listed(stored: &StoredComponents, with_objects: bool) -> ComponentList {
    let one = |component: &Component| {
        let status = &component.status;
        let ready = status.ready().cloned().unwrap_or_default();
        // An unreadable item is counted, and not shown.
        let set = component.applied().unwrap_or_default();
        let object = |item: &apply::ApplySetItem| ComponentObject {
            object: item.key.clone(),
            phase: format!("{:?}", item.phase),
            status: item.status.clone(),
        };
        ListedComponent {
            namespace: component.namespace().to_owned(),
            name: component.name().to_owned(),
            ready: status.is_ready(component.generation()),
            state: status.state.map(|state| format!("{state:?}")).unwrap_or_default(),
            reason: ready.reason,
            message: ready.message,
            revision: status.last_attempted_revision.clone(),
            applied: status.last_applied_at.clone(),
            objects: status.inventory.len(),
            not_ready: apply::waiting_for(&blockers(component)),
            inventory: if with_objects { set.items.iter().map(object).collect() } else { Vec::new() },
        }
    };
    let mut components: Vec<ListedComponent> = stored.components.iter().map(one).collect();
    components.extend(stored.unreadable.iter().map(unreadable));
    ComponentList { components }
}

/// Returns a Component that cannot be read in its printed form.
fn unreadable(one: &UnreadableComponent) -> ListedComponent {
    ListedComponent {
        namespace: one.component.namespace.clone(),
        name: one.component.name.clone(),
        state: "Unknown".to_owned(),
        reason: "Unreadable".to_owned(),
        message: one.to_string(),
        ..ListedComponent::default()
    }
}

/// Returns the objects that are not ready, as the last run recorded them.
pub(super) fn blockers(component: &Component) -> Vec<Blocker> {
    let set = component.applied().unwrap_or_default();
    let waits = set.items.into_iter().filter(|item| match item.phase {
        ItemPhase::Completed => false,
        ItemPhase::Ready => item.status != "Current",
        _ => true,
    });
    let blocker = |item: apply::ApplySetItem| {
        let health = match item.status.as_str() {
            "Current" | "InProgress" => Health::InProgress,
            "Failed" => Health::Failed,
            "Terminating" => Health::Terminating,
            "NotFound" => Health::NotFound,
            _ => Health::Unknown,
        };
        Blocker::new(item.key, Status { health, message: String::new() })
    };
    waits.map(blocker).collect()
}

/// Returns the table of Components.
pub(super) fn list_text(list: &ComponentList, width: Option<usize>) -> String {
    if list.components.is_empty() {
        return "there are no Components\n".to_owned();
    }
    let row = |one: &ListedComponent| {
        [
            one.namespace.clone(),
            one.name.clone(),
            one.state.clone(),
            one.reason.clone(),
            one.objects.to_string(),
            one.revision.clone(),
        ]
    };
    let rows: Vec<_> = list.components.iter().map(row).collect();
    let ways = [NarrowingStep::Shorten("REVISION", 12), NarrowingStep::Shorten("NAME", 16)];
    table(width, &ways, ["NAMESPACE", "NAME", "STATE", "REASON", "OBJECTS", "REVISION"], &rows)
}

/// Returns the details of Components.
pub(super) fn status_text(list: &ComponentList, width: Option<usize>) -> String {
    let mut text = String::new();
    for one in &list.components {
        let state = if one.state.is_empty() { "not run yet" } else { &one.state };
        let _ = writeln!(text, "{}/{}: {state}", one.namespace, one.name);
        if !one.message.is_empty() {
            let _ = writeln!(text, "  {}: {}", one.reason, one.message);
        }
        if !one.revision.is_empty() {
            let _ = writeln!(text, "  revision: {}", one.revision);
        }
        let row = |object: &ComponentObject| {
            let ObjectKey { kind, namespace, name, .. } = &object.object;
            let name = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
            [kind.clone(), name, object.phase.clone(), object.status.clone()]
        };
        let rows: Vec<_> = one.inventory.iter().map(row).collect();
        if !rows.is_empty() {
            let ways = [NarrowingStep::Shorten("OBJECT", 16)];
            let width = width.map(|width| width.saturating_sub(2));
            for line in table(width, &ways, ["KIND", "OBJECT", "PHASE", "STATUS"], &rows).lines() {
                let _ = writeln!(text, "  {}", line.trim_end());
            }
        }
    }
    if text.is_empty() { "there are no Components\n".to_owned() } else { text }
}
