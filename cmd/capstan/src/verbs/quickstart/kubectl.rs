//! What the tour does in place of kubectl, which a newcomer may not have.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use apply::{Apply, Hints, ObjectKey, Server, Waiting};
use manifest::Limits;

use crate::{
    Failure, Within as _,
    events::in_one_line,
    failure::Kind,
    session::Session,
    settings::{self, KubeFlags, PaceFlags},
};

/// Who is written down as the one who set the fields.
const MANAGER: &str = "capstan";

/// How long a workload cluster may take until it is available.
const PATIENCE: Duration = Duration::from_mins(2);

/// The namespace of the context of every sandbox.
const NAMESPACE: &str = "default";

/// What kubectl is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kubectl {
    /// Apply a file.
    Apply(PathBuf),
    /// Wait until the Cluster of this name is available.
    WaitFor(&'static str),
    /// Show the objects of these kinds.
    Get(&'static str),
}

impl Kubectl {
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Apply(_) => "apply",
            Self::WaitFor(_) => "wait",
            Self::Get(_) => "get",
        }
    }

    /// The words behind those that say which cluster is meant.
    pub(super) fn words(&self) -> Vec<String> {
        let verb = self.verb().to_owned();
        match self {
            Self::Apply(file) => vec![verb, "-f".to_owned(), file.display().to_string()],
            Self::Get(kinds) => vec![verb, (*kinds).to_owned()],
            Self::WaitFor(cluster) => vec![
                verb,
                "--for=condition=Available".to_owned(),
                format!("cluster/{cluster}"),
                format!("--timeout={}s", PATIENCE.as_secs()),
            ],
        }
    }
}

/// Does it on a sandbox.
/// # Errors
/// When the server refuses an object, or what is waited for does not come.
pub(super) fn run(task: &Kubectl, sandbox: &str, session: &Session) -> Result<(), Failure> {
    let kube = KubeFlags { sandbox: Some(sandbox.to_owned()), ..KubeFlags::default() };
    let cluster = settings::management_cluster(&kube, &PaceFlags::default(), session)?;
    // As kubectl, which knows of no lease.
    let server = cluster.server().unguarded();
    match task {
        Kubectl::Apply(file) => apply_file(file, &server, session),
        Kubectl::WaitFor(name) => wait_for(name, &server, session),
        Kubectl::Get(_) => Err(Failure::new(Kind::Bug, "the tour shows no objects")),
    }
}

fn apply_file(file: &Path, server: &Server, session: &Session) -> Result<(), Failure> {
    let cannot = || format!("cannot apply `{}`", file.display());
    let bytes = fs::read(file).within(cannot)?;
    let objects = manifest::read_stream(&bytes, &Limits::default()).within(cannot)?.objects;
    for object in &objects {
        let key = ObjectKey::of(object);
        let written = async {
            let kind = server.kind(&key.group_kind()).await?;
            server.apply(&kind, object, MANAGER, Apply::default()).await
        };
        session.block_on(written).within(|| format!("cannot apply {key}"))?;
        session.messages().status(format!("applied {key}"));
    }
    Ok(())
}

fn wait_for(name: &str, server: &Server, session: &Session) -> Result<(), Failure> {
    let key = ObjectKey {
        group: "cluster.x-k8s.io".to_owned(),
        kind: "Cluster".to_owned(),
        namespace: NAMESPACE.to_owned(),
        name: name.to_owned(),
    };
    session.messages().progress().begin(&format!("waiting for cluster `{name}`"));
    let available = Hints { conditions: vec!["Available".to_owned()], ..Hints::default() };
    let waiting = Waiting {
        objects: vec![(key, available)],
        labels: String::new(),
        until: Some(Instant::now() + PATIENCE),
    };
    let blockers = session.block_on(server.wait(&waiting))?;
    if blockers.is_empty() {
        session.messages().status(format!("cluster `{name}` is available"));
        return Ok(());
    }
    let late = format!("cluster `{name}` is not available after {} seconds", PATIENCE.as_secs());
    Err(blockers.iter().map(in_one_line).fold(Failure::new(Kind::Unhealthy, late), Failure::cause))
}
