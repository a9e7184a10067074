use apply::{ApiError, DefinitionInUse};
use futures::future::join_all;
use inventory::ManagementCluster;
use provider::InstalledProvider;

use crate::{
    applied::AppliedObjects,
    provider_set::{marks, options},
};

/// The number of objects that a warning names.
const MAX_EXAMPLES: usize = 3;

/// Returns warnings about objects that lose their controllers, such as running clusters.
///
/// Errors of the server do not stop the deletion, because these objects are not deleted.
pub(super) async fn leftover_warnings(
    cluster: &ManagementCluster,
    chosen: &[InstalledProvider],
    applied: &[AppliedObjects],
) -> Vec<String> {
    let each = chosen.iter().zip(applied).map(|(one, applied)| async move {
        let (marks, options) = (marks(&one.id), options(&one.namespace));
        leftover_warning(one, cluster.server.in_use(&applied.set, &marks, &options).await)
    });
    join_all(each).await.into_iter().flatten().collect()
}

fn leftover_warning(
    installed: &InstalledProvider,
    in_use: Result<Vec<DefinitionInUse>, ApiError>,
) -> Option<String> {
    let id = &installed.id;
    let in_use = match in_use {
        Ok(in_use) => in_use,
        Err(error) => {
            let why = api::with_causes(&error);
            return Some(format!("cannot check whether objects lose the controllers of `{id}`: {why}"));
        }
    };
    let all: Vec<_> = in_use.iter().flat_map(|used| &used.examples).map(String::as_str).collect();
    let (named, others) = all.split_at_checked(MAX_EXAMPLES).unwrap_or((&all, &[]));
    let others = others.len() + in_use.iter().map(|used| used.others).sum::<usize>();
    let more = if others == 0 { String::new() } else { format!(" and at least {others} more") };
    let named = named.join(", ");
    (!all.is_empty()).then(|| format!("objects lose the controllers of `{id}`: {named}{more}"))
}
