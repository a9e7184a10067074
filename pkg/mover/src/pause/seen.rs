//! Waiting until controllers say that they have seen the pause: until then they may write to what is copied.
//!
//! Only what says something of its rest is waited for. A controller that stays silent may be down, and then nothing writes,
//! or be slow: what it writes later is found by the version of the object when that is deleted, and copied again.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use api::output::ProgressEvent;
use apply::{ApiError, ApiKind, List, ObjectKey, object_name};
use futures::future::try_join_all;
use inventory::ManagementCluster;
use tokio::time::{sleep, timeout};
use workload::{Facts, says_it_rests};

use super::Resting;
use crate::{MoveError, MoveSide, error::at, preflight::listed, run::Work, seconds};

/// For how long controllers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Objects asked for at once.
const PAGE: usize = 250;

/// Objects of a kind in a namespace that do not say yet that they rest.
struct Unseen {
    kind: ApiKind,
    objects: BTreeSet<ObjectKey>,
}

impl Work<'_> {
    /// What was paused by itself or with its Cluster, and says that it does not rest. What was waited for in vain is left
    /// out.
    pub(super) fn unseen(&self) -> Vec<&Facts> {
        let moving = || self.plan.selection.moving().map(|node| self.plan.facts(node));
        let clusters: BTreeSet<(&str, &str)> = moving()
            .filter(|facts| Resting::of(&facts.key) == Some(Resting::Cluster))
            .map(|facts| (&*facts.key.namespace, &*facts.key.name))
            .collect();
        let rests = |facts: &Facts| match (Resting::of(&facts.key), &facts.cluster_name) {
            (Some(_), _) => facts.is_paused,
            (None, Some(cluster)) => clusters.contains(&(&facts.key.namespace, cluster)),
            (None, None) => false,
        };
        let unseen = moving().filter(|facts| facts.says_it_rests == Some(false));
        unseen.filter(|facts| rests(facts) && !self.silent.contains(&facts.key)).collect()
    }

    /// Waits for all of these, and tells of those that stay silent.
    pub(super) async fn wait_until_seen(&mut self) -> Result<(), MoveError> {
        let mut unseen = by_kind(&self.unseen());
        if unseen.is_empty() {
            return Ok(());
        }
        self.source
            .events
            .send(&ProgressEvent::MoveResting { objects: keys(&unseen).iter().map(object_name).collect() });
        let patience = PATIENCE.min(self.request.timeout);
        if let Ok(seen) = timeout(patience, until_seen(&self.source, &mut unseen)).await {
            return seen.map_err(at(MoveSide::Source));
        }
        let silent = keys(&unseen);
        let text = format!(
            "no controller has said within {} that it lets rest {}; one that is slow may still write to them",
            seconds(patience),
            listed(&silent)
        );
        self.source.events.send(&ProgressEvent::Warning { text });
        self.silent.extend(silent);
        Ok(())
    }
}

fn by_kind(unseen: &[&Facts]) -> Vec<Unseen> {
    let mut kinds: BTreeMap<(&str, &str, &str), Unseen> = BTreeMap::new();
    for facts in unseen {
        let ObjectKey { group, kind, namespace, .. } = &facts.key;
        let new = || Unseen { kind: facts.of.kind.clone(), objects: BTreeSet::new() };
        kinds.entry((group, kind, namespace)).or_insert_with(new).objects.insert(facts.key.clone());
    }
    kinds.into_values().collect()
}

fn keys(unseen: &[Unseen]) -> Vec<ObjectKey> {
    unseen.iter().flat_map(|one| one.objects.iter().cloned()).collect()
}

/// Lists what is left of each kind until nothing is.
async fn until_seen(source: &ManagementCluster, unseen: &mut Vec<Unseen>) -> Result<(), ApiError> {
    while !unseen.is_empty() {
        sleep(LOOK_EVERY).await;
        try_join_all(unseen.iter_mut().map(|one| one.look(source))).await?;
        unseen.retain(|one| !one.objects.is_empty());
    }
    Ok(())
}

impl Unseen {
    /// Keeps what still says that it does not rest; what is gone says nothing.
    async fn look(&mut self, source: &ManagementCluster) -> Result<(), ApiError> {
        let namespace = self.objects.first().map(|key| key.namespace.clone()).filter(|name| !name.is_empty());
        let mut pages = source.server.pages(&self.kind, &List { namespace, ..List::default() }).of(PAGE);
        let wanted = &self.objects;
        let awake = pages.gather(|awake: &mut BTreeSet<ObjectKey>, object| {
            let key = ObjectKey::of(&object);
            if wanted.contains(&key) && says_it_rests(&object) == Some(false) {
                awake.insert(key);
            }
        });
        self.objects = awake.await?;
        Ok(())
    }
}
