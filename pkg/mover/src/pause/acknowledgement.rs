//! Waits until controllers report the pause. Until then, controllers may write to objects that are copied.
//!
//! Only objects that report their pause state are waited for. A silent controller may be down, and then writes nothing.
//! A slow controller may still write: the deletion detects the new version, and the object is copied again.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use api::output::ProgressEvent;
use apply::{ApiError, ApiKind, ListQuery, ObjectKey, key_of};
use futures::future::try_join_all;
use inventory::ManagementCluster;
use tokio::time::{sleep, timeout};
use workload::{ObjectFacts, pause_acknowledged};

use super::PausableKind;
use crate::{MoveError, MoveSide, error::api_error, preflight::listed, run::MoveContext, seconds};

/// Maximum wait for controllers.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between two checks of the objects.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Page size of the lists.
const PAGE_SIZE: usize = 250;

/// Objects of one kind in one namespace that do not report their pause yet.
struct UnacknowledgedObjects {
    kind: ApiKind,
    objects: BTreeSet<ObjectKey>,
}

impl MoveContext<'_> {
    /// Returns the objects that are paused, directly or through their Cluster, but still report no pause. Objects that
    /// were waited for in vain are left out.
    pub(super) fn unacknowledged(&self) -> Vec<&ObjectFacts> {
        let moving = || self.plan.selection.moving().map(|node| self.plan.facts(node));
        let clusters: BTreeSet<(&str, &str)> = moving()
            .filter(|facts| PausableKind::of(&facts.key) == Some(PausableKind::Cluster))
            .map(|facts| (&*facts.key.namespace, &*facts.key.name))
            .collect();
        let rests = |facts: &ObjectFacts| match (PausableKind::of(&facts.key), &facts.cluster_name) {
            (Some(_), _) => facts.is_paused,
            (None, Some(cluster)) => clusters.contains(&(&facts.key.namespace, cluster)),
            (None, None) => false,
        };
        let unseen = moving().filter(|facts| facts.pause_acknowledged == Some(false));
        unseen.filter(|facts| rests(facts) && !self.not_acknowledged.contains(&facts.key)).collect()
    }

    /// Waits for these objects, and warns about objects that do not report their pause in time.
    pub(super) async fn wait_for_acknowledgement(&mut self) -> Result<(), MoveError> {
        let mut unseen = by_kind(&self.unacknowledged());
        if unseen.is_empty() {
            return Ok(());
        }
        self.source.events.send(&ProgressEvent::MoveResting { objects: keys(&unseen) });
        let timeout_after = ACKNOWLEDGE_TIMEOUT.min(self.request.timeout);
        if let Ok(seen) = timeout(timeout_after, poll_until_acknowledged(&self.source, &mut unseen)).await {
            return seen.map_err(api_error(MoveSide::Source));
        }
        let silent = keys(&unseen);
        let text = format!(
            "no controller acknowledged the pause of {} within {}; a slow controller may still write to these objects",
            listed(&silent),
            seconds(timeout_after)
        );
        self.source.events.send(&ProgressEvent::Warning { text });
        self.not_acknowledged.extend(silent);
        Ok(())
    }
}

fn by_kind(unseen: &[&ObjectFacts]) -> Vec<UnacknowledgedObjects> {
    let mut kinds: BTreeMap<(&str, &str, &str), UnacknowledgedObjects> = BTreeMap::new();
    for facts in unseen {
        let ObjectKey { group, kind, namespace, .. } = &facts.key;
        let new = || UnacknowledgedObjects { kind: facts.object_type.kind.clone(), objects: BTreeSet::new() };
        kinds.entry((group, kind, namespace)).or_insert_with(new).objects.insert(facts.key.clone());
    }
    kinds.into_values().collect()
}

fn keys(unseen: &[UnacknowledgedObjects]) -> Vec<ObjectKey> {
    unseen.iter().flat_map(|one| one.objects.iter().cloned()).collect()
}

/// Lists the remaining objects of each kind until none is left.
async fn poll_until_acknowledged(
    source: &ManagementCluster,
    unseen: &mut Vec<UnacknowledgedObjects>,
) -> Result<(), ApiError> {
    while !unseen.is_empty() {
        sleep(CHECK_INTERVAL).await;
        try_join_all(unseen.iter_mut().map(|one| one.refresh(source))).await?;
        unseen.retain(|one| !one.objects.is_empty());
    }
    Ok(())
}

impl UnacknowledgedObjects {
    /// Keeps the objects that still report no pause. Deleted objects are dropped.
    async fn refresh(&mut self, source: &ManagementCluster) -> Result<(), ApiError> {
        let namespace = self.objects.first().map(|key| key.namespace.clone()).filter(|name| !name.is_empty());
        let mut pages = source
            .server
            .pages(&self.kind, &ListQuery { namespace, ..ListQuery::default() })
            .with_size(PAGE_SIZE);
        let wanted = &self.objects;
        let awake = pages.gather(|awake: &mut BTreeSet<ObjectKey>, object| {
            let key = key_of(&object);
            if wanted.contains(&key) && pause_acknowledged(&object) == Some(false) {
                awake.insert(key);
            }
        });
        self.objects = awake.await?;
        Ok(())
    }
}
