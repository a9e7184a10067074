//! Trouble in the middle of things: at every request of a verb, and what the same verb makes of it afterwards.

use inventory::ManagementCluster;
use support::{
    fixture::Fixture,
    wire::{Fate, Wire, strike},
};

mod killed;
mod lasting;
mod refused;
mod storms;
pub(crate) mod superseded;

use std::{fs, path::Path, time::Duration};

use sandbox::Switches;
use tempfile::TempDir;

use crate::{
    DeleteRequest, InitRequest, LifecycleError, OnUnfinished, Sources, WaitFor, begin_rollback,
    delete_providers, init, plan_delete, plan_init, plan_upgrade, rollback_upgrade,
    tests::{NEW, OLD, Releases, cluster_behind, components, docker, small_init, upgrade_to_contract},
    upgrade,
};

use lasting::{assert_same, state};

/// Long, as time that is paused runs ahead of the clock.
const WAIT: WaitFor = WaitFor { timeout: Some(Duration::from_hours(1)), must_be_ready: true };

/// What is done to a cluster with core and docker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// The first installation, at [`OLD`].
    Init,
    /// To [`NEW`].
    Upgrade,
    /// Back from it.
    RollBack,
    /// Of everything, with definitions and namespaces.
    Delete,
}

impl Work {
    const ALL: [Self; 4] = [Self::Init, Self::Upgrade, Self::RollBack, Self::Delete];

    /// What is done before it.
    fn before(self) -> &'static [Self] {
        match self {
            Self::Init => &[],
            Self::Upgrade | Self::Delete => &[Self::Init],
            Self::RollBack => &[Self::Init, Self::Upgrade],
        }
    }

    /// Plans it and carries it out, as the verb of this name does.
    /// # Errors
    /// All that is told of it.
    async fn carry_out(self, cluster: &ManagementCluster, releases: &Releases) -> Result<(), String> {
        let told = |error| format!("{}\n{error:?}", api::with_causes(&error));
        self.try_on(cluster, &releases.sources()).await.map_err(told)
    }

    async fn try_on(self, cluster: &ManagementCluster, sources: &Sources<'_>) -> Result<(), LifecycleError> {
        match self {
            Self::Init => {
                let request = first_installation();
                let mut plan = Box::pin(plan_init(cluster, sources, &request)).await?;
                Box::pin(init(cluster, sources, &request, &mut plan)).await.map(drop)
            }
            Self::Upgrade => {
                let request = upgrade_to_contract(WAIT);
                let mut plan = Box::pin(plan_upgrade(cluster, sources, &request)).await?;
                Box::pin(upgrade(cluster, sources, &request, &mut plan)).await.map(drop)
            }
            Self::RollBack => {
                let mut plan = Box::pin(begin_rollback(cluster, OnUnfinished::Refuse)).await?;
                Box::pin(rollback_upgrade(cluster, &mut plan, WAIT)).await.map(drop)
            }
            Self::Delete => {
                let request = everything();
                let mut plan = Box::pin(plan_delete(cluster, &request)).await?;
                Box::pin(delete_providers(cluster, &request, &mut plan)).await.map(drop)
            }
        }
    }
}

fn first_installation() -> InitRequest {
    small_init(OLD, WAIT)
}

fn everything() -> DeleteRequest {
    DeleteRequest {
        providers: None,
        include_crds: true,
        include_namespaces: true,
        wait: WAIT,
        thorough: false,
        unfinished: OnUnfinished::Refuse,
    }
}

/// The new docker drops one object, brings another, and its Deployment selects other Pods, so that it has to be made anew.
fn releases() -> Releases {
    let new = components(&docker(), NEW);
    let new = new.replace("{provider: infrastructure-docker}", "{provider: docker, part: new}");
    Releases::small().with_changing_docker(&new)
}

/// A cluster on which everything was done that comes before a work, to be had as often as one likes.
struct Start {
    folder: TempDir,
    releases: Releases,
}

impl Start {
    async fn of(work: Work) -> Self {
        let start = Self { folder: TempDir::new().unwrap(), releases: releases() };
        let fixture = start.fixture(start.folder.path()).await;
        for before in work.before() {
            start.done(*before, &fixture).await;
        }
        start
    }

    /// A cluster of its own.
    async fn again(&self) -> (Fixture, TempDir) {
        let folder = TempDir::new().unwrap();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        (self.fixture(folder.path()).await, folder)
    }

    async fn fixture(&self, folder: &Path) -> Fixture {
        let builder = Fixture::builder().controllers(Switches::default());
        builder.options(|options| options.data_dir = Some(folder.to_owned())).start().await
    }

    /// Does something with nothing in its way.
    async fn done(&self, work: Work, fixture: &Fixture) {
        let result = self.run(work, &Wire::new(fixture, |_| Fate::Answered)).await;
        result.unwrap_or_else(|told| panic!("{work:?}: {told}"));
        fixture.settled().await;
    }

    async fn run(&self, work: Work, wire: &Wire) -> Result<(), String> {
        work.carry_out(&cluster_behind(wire).await, &self.releases).await
    }

    /// What is there when nothing disturbs a work.
    async fn undisturbed(&self, work: Work) -> lasting::State {
        let (fixture, _folder) = self.again().await;
        self.done(work, &fixture).await;
        state(&fixture).await
    }
}
