//! The response to an apply that conflicts with other managers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{
    managed::{ManagerId, Operation},
    ownership::Conflicts,
    path_element::PathElement,
};
use crate::{
    go,
    status::{Cause, Details, Status},
};

/// Returns status 409 with a cause for each field and a message that lists the fields by owner.
pub(super) fn status(conflicts: &Conflicts) -> Status {
    let causes = conflicts
        .iter()
        .map(|(id, path)| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {}", format_manager(id)),
            field: format_path(path),
        })
        .collect();
    Status {
        code: 409,
        reason: "Conflict",
        message: message(conflicts),
        details: Some(Box::new(Details { causes, ..Details::default() })),
    }
}

fn message(conflicts: &Conflicts) -> String {
    if let [(id, path)] = conflicts.as_slice() {
        let (manager, path) = (format_manager(id), format_path(path));
        return format!("Apply failed with 1 conflict: conflict with {manager}: {path}");
    }
    let mut by_manager: BTreeMap<&ManagerId, Vec<&Vec<PathElement>>> = BTreeMap::new();
    for (id, path) in conflicts {
        by_manager.entry(id).or_default().push(path);
    }
    let mut lines = Vec::new();
    for (id, paths) in by_manager {
        lines.push(format!("conflicts with {}:", format_manager(id)));
        lines.extend(paths.into_iter().map(|path| format!("- {}", format_path(path))));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

fn format_manager(id: &ManagerId) -> String {
    let mut out = go::quoted(&id.name);
    if !id.subresource.is_empty() {
        out += " with subresource ";
        out += &go::quoted(&id.subresource);
    }
    if id.operation == Operation::Update {
        out += " using ";
        out += &id.api_version;
    }
    out
}

fn format_path(path: &[PathElement]) -> String {
    path.iter().fold(String::new(), |mut out, element| {
        write!(out, "{element}").expect("a String takes everything");
        out
    })
}
