//! The kubectl commands of the tour, implemented here because a new user may not have kubectl.

use std::{
    fs,
    time::{Duration, Instant},
};

use api::labels::FIELD_MANAGER;
use apply::{ApplyRequest, Blocker, ObjectKey, Server, StatusHints, WaitRequest, key_of};
use manifest::YamlLimits;

use crate::{
    Failure, WithContext as _,
    failure::{Foreign as _, Kind},
    session::Session,
    settings::{self, KubeFlags, PaceFlags},
};

/// The time limit for a workload cluster to become available.
const WAIT_TIMEOUT: Duration = Duration::from_mins(2);

/// Returns the arguments that wait for a Cluster.
pub(super) fn wait_until_available(cluster: &str) -> String {
    format!("wait --for=condition=Available cluster/{cluster} --timeout={}s", WAIT_TIMEOUT.as_secs())
}

pub(super) fn run(kubeconfig: &str, task: &[String], session: &Session) -> Result<(), Failure> {
    let kube = KubeFlags { kubeconfig: Some(kubeconfig.into()), ..KubeFlags::default() };
    let cluster = settings::management_cluster(&kube, &PaceFlags::default(), session)?;
    // Like kubectl, without a lease.
    let server = cluster.server().without_lease();
    match task {
        [verb, _, file] if verb == "apply" => apply_file(file, &server, session),
        [verb, _, cluster, _] if verb == "wait" => {
            wait_for(cluster.trim_start_matches("cluster/"), &server, session)
        }
        _ => Err(Failure::new(Kind::Bug, "the tour supports only `kubectl apply` and `kubectl wait`")),
    }
}

fn apply_file(file: &str, server: &Server, session: &Session) -> Result<(), Failure> {
    let cannot = || format!("cannot apply `{file}`");
    let bytes = fs::read(file).with_context(cannot)?;
    for object in
        &manifest::read_stream(&bytes, &YamlLimits::default()).foreign().with_context(cannot)?.objects
    {
        let key = key_of(object);
        let written = async {
            let kind = server.kind(&key.group_kind()).await?;
            server.apply(&kind, object, FIELD_MANAGER, ApplyRequest::default()).await
        };
        session.block_on(written).with_context(|| format!("cannot apply {key}"))?;
        session.messages().status(format!("applied {key}"));
    }
    Ok(())
}

fn wait_for(name: &str, server: &Server, session: &Session) -> Result<(), Failure> {
    let key = ObjectKey {
        group: "cluster.x-k8s.io".to_owned(),
        kind: "Cluster".to_owned(),
        namespace: "default".to_owned(),
        name: name.to_owned(),
    };
    session.messages().progress().begin(&format!("waiting for cluster `{name}`"));
    let available = StatusHints { conditions: vec!["Available".to_owned()], ..StatusHints::default() };
    let until = Some(Instant::now() + WAIT_TIMEOUT);
    let waiting = WaitRequest { objects: vec![(key, available)], labels: String::new(), deadline: until };
    let blockers = session.block_on(server.wait(&waiting))?;
    if blockers.is_empty() {
        session.messages().status(format!("cluster `{name}` is available"));
        return Ok(());
    }
    let late = format!("cluster `{name}` is not available after {} seconds", WAIT_TIMEOUT.as_secs());
    Err(blockers.iter().map(Blocker::one_line).fold(Failure::new(Kind::Unhealthy, late), Failure::cause))
}
