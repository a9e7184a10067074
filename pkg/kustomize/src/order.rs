//! The output order of the objects.

use std::cmp::Ordering;

use crate::accumulator::Accumulator;
use crate::kinds::{rank, rank_in, sort_text};
use crate::kustomization::entries::SortOptions;
use crate::scope::Scope;
use crate::{Reorder, ResId};

/// Invalid `sortOptions`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OrderError {
    #[error("unknown order `{0}`: use `fifo` or `legacy`")]
    Unknown(String),
    #[error("`legacySortOptions` requires `order: legacy`")]
    ListsWithoutLegacy,
}

/// Sorts the objects as the top kustomization asks, else as the options of the build ask.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let result = match &scope.kustomization.sort_options {
        Some(options) => sort(options, objects),
        None if scope.session.options.reorder == Reorder::Legacy => {
            legacy(rank, objects);
            Ok(())
        }
        None => Ok(()),
    };
    scope.ok("sortOptions", result);
}

/// Sorts by the given `sortOptions`.
/// # Errors
/// Invalid options; then the order stays unchanged.
fn sort(options: &SortOptions, objects: &mut Accumulator) -> Result<(), OrderError> {
    match (options.order.as_str(), &options.legacy) {
        ("fifo", None) => {}
        ("fifo", Some(_)) => return Err(OrderError::ListsWithoutLegacy),
        ("legacy", None) => legacy(rank, objects),
        ("legacy", Some(lists)) => legacy(|kind| rank_in(&lists.first, &lists.last, kind), objects),
        (other, _) => return Err(OrderError::Unknown(other.to_owned())),
    }
    Ok(())
}

/// Sorts by the rank of the kind, then by group, version, kind, namespace and name.
/// Source: kustomize v5.8.1 SortOrderTransformer: an empty part sorts like `~`, but Namespaces of the core group come
/// before other Namespaces.
fn legacy(rank: impl Fn(&str) -> (Ordering, usize), objects: &mut Accumulator) {
    objects.sort_by_cached_key(|resource| {
        let id = resource.id();
        let rank = rank(&id.gvk.kind);
        (rank, kind_key(id, rank.0), instance_key(id))
    });
}

fn kind_key(id: &ResId, rank: Ordering) -> String {
    if &*id.gvk.kind == "Namespace" && id.gvk.group.is_empty() && rank != Ordering::Equal {
        return String::new();
    }
    sort_text(&id.gvk.group, &id.gvk.version, &id.gvk.kind)
}

fn instance_key(id: &ResId) -> String {
    let namespace = id.written_namespace();
    format!("{}|{}", if namespace.is_empty() { "~X" } else { namespace }, id.name)
}

#[cfg(test)]
mod tests {
    use crate::tests::build;

    #[test]
    fn unlisted_kinds_are_ordered_by_group_with_the_core_group_last() {
        let kinds = [
            "v1, kind: Namespace",
            "v1, kind: Service",
            "apps/v1, kind: Deployment",
            "a.b/v1, kind: Namespace",
        ];
        let order = |options: &str| {
            let objects = kinds.map(|kind| format!("{{apiVersion: {kind}, metadata: {{name: a}}}}\n"));
            let kustomization = format!("resources: [r.yaml]\nsortOptions: {{order: legacy{options}}}");
            let objects = objects.join("---\n");
            let built = build(&[("/kustomization.yaml", &kustomization), ("/r.yaml", &objects)]).unwrap();
            built.iter().map(|object| format!("{} {}", object.group(), object.kind())).collect::<Vec<_>>()
        };
        let all = [" Namespace", " Service", "apps Deployment", "a.b Namespace"];
        assert_eq!(order(""), [all[0], all[3], all[1], all[2]]);
        let lists = ", legacySortOptions: {orderFirst: [Service], orderLast: []}";
        assert_eq!(order(lists), [all[1], all[3], all[2], all[0]]);
    }
}
