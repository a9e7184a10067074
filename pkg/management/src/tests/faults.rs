//! Tests of faults at every request of a command, and of the run that follows.

use inventory::ManagementCluster;
use support::{
    fixture::Fixture,
    scripted_connection::{RequestOutcome, ScriptedConnection},
};

mod comparable_state;
mod interrupted;
mod permanent;
pub(crate) mod second_run;
mod temporary;

use std::{fs, path::Path, time::Duration};

use sandbox::ControllerSwitches;
use tempfile::TempDir;

use crate::{
    DeleteRequest, InitRequest, LifecycleError, Sources, UnfinishedPolicy, WaitOptions, delete_providers,
    init, plan_delete, plan_init, plan_upgrade, rollback_upgrade, start_rollback,
    testing::{
        NEW_VERSION, OLD_VERSION, Releases, cluster_behind, components, docker, small_init,
        upgrade_to_contract,
    },
    upgrade,
};

use comparable_state::{assert_same, state};

/// A long time limit, because paused time runs ahead of the clock.
const WAIT: WaitOptions = WaitOptions { timeout: Some(Duration::from_hours(1)), must_be_ready: true };

/// A run on a cluster with core and docker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// The first installation, in [`OLD`].
    Init,
    /// The upgrade to [`NEW`].
    Upgrade,
    /// The rollback of the upgrade.
    RollBack,
    /// The deletion of everything, with definitions and namespaces.
    Delete,
}

impl Work {
    const ALL: [Self; 4] = [Self::Init, Self::Upgrade, Self::RollBack, Self::Delete];

    /// Returns the runs that come before this one.
    fn before(self) -> &'static [Self] {
        match self {
            Self::Init => &[],
            Self::Upgrade | Self::Delete => &[Self::Init],
            Self::RollBack => &[Self::Init, Self::Upgrade],
        }
    }

    /// Plans and executes the run like the command of this name.
    /// # Errors
    /// Returns the error with all its causes.
    async fn carry_out(self, cluster: &ManagementCluster, releases: &Releases) -> Result<(), String> {
        let reported = |error| format!("{}\n{error:?}", api::with_causes(&error));
        self.try_on(cluster, &releases.sources()).await.map_err(reported)
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
                let mut plan = Box::pin(start_rollback(cluster, UnfinishedPolicy::Refuse)).await?;
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
    small_init(OLD_VERSION, WAIT)
}

fn everything() -> DeleteRequest {
    DeleteRequest {
        providers: None,
        include_crds: true,
        include_namespaces: true,
        wait: WAIT,
        full_objects: false,
        unfinished: UnfinishedPolicy::Refuse,
    }
}

/// Returns releases whose new docker drops one object, adds another, and changes the selector of its
/// Deployment. The Deployment must therefore be recreated.
fn releases() -> Releases {
    let new = components(&docker(), NEW_VERSION);
    let new = new.replace("{provider: infrastructure-docker}", "{provider: docker, part: new}");
    Releases::small().with_changing_docker(&new)
}

/// A saved cluster after all earlier runs, from which fixtures can be started repeatedly.
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

    /// Starts a fixture with a copy of the saved cluster.
    async fn again(&self) -> (Fixture, TempDir) {
        let folder = TempDir::new().unwrap();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        (self.fixture(folder.path()).await, folder)
    }

    async fn fixture(&self, folder: &Path) -> Fixture {
        let builder = Fixture::builder().controllers(ControllerSwitches::default());
        builder.options(|options| options.data_dir = Some(folder.to_owned())).start().await
    }

    /// Executes a run without faults.
    async fn done(&self, work: Work, fixture: &Fixture) {
        let result = self.run(work, &ScriptedConnection::new(fixture, |_| RequestOutcome::Answered)).await;
        result.unwrap_or_else(|reported| panic!("{work:?}: {reported}"));
        fixture.wait_until_idle().await;
    }

    async fn run(&self, work: Work, wire: &ScriptedConnection) -> Result<(), String> {
        work.carry_out(&cluster_behind(wire).await, &self.releases).await
    }

    /// Returns the state after a run without faults.
    async fn undisturbed(&self, work: Work) -> comparable_state::State {
        let (fixture, _folder) = self.again().await;
        self.done(work, &fixture).await;
        state(&fixture).await
    }
}
