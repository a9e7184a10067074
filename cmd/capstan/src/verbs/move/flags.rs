use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use api::check_dns_label;
use inventory::ManagementCluster;
use mover::{ClusterChoice, DifferencePolicy, MoveRequest, MoveRoute};

use crate::{
    Failure,
    events::ApiWarnings,
    session::Session,
    settings::{self, KubeFlags, LeaseFlags, OutputFlag, OutputFormat, ServerFlags},
    verbs::lifecycle::parse_duration,
};

/// The default time limit of a move for temporary failures.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// The flags that choose where objects go.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Target")]
pub(super) struct TargetFlags {
    /// Kubeconfig of the target management cluster
    #[arg(id = "to_kubeconfig", long = "to-kubeconfig", value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Context in that kubeconfig [default: current]
    #[arg(id = "to_kubeconfig_context", long = "to-kubeconfig-context", value_name = "CONTEXT")]
    context: Option<String>,

    /// Sandbox to use as the target
    #[arg(
        id = "to_sandbox",
        long = "to-sandbox",
        value_name = "NAME",
        conflicts_with_all = ["to_kubeconfig", "to_kubeconfig_context"]
    )]
    sandbox: Option<String>,
}

/// The flags that choose what moves.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub(super) struct ScopeFlags {
    /// Namespace to move [default: that of the context]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Vec<String>,

    /// Cluster to move, NAME or NAMESPACE/NAME
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,

    /// Move only Clusters with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "cluster")]
    selector: Option<String>,

    /// Move objects of namespace A to namespace B
    #[arg(long, value_name = "A=B")]
    map_namespace: Vec<String>,

    /// Kind whose status moves too; repeatable
    #[arg(long, value_name = "KIND")]
    include_status: Vec<String>,

    /// Overwrite different objects that no move created
    #[arg(long, help_heading = "Move", conflicts_with_all = ["to_directory", "from_directory"])]
    overwrite: bool,

    /// Save the objects to a folder instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["to_kubeconfig", "to_sandbox"])]
    pub(super) to_directory: Option<PathBuf>,

    /// Restore the objects of such a folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["to_directory", "selector"])]
    pub(super) from_directory: Option<PathBuf>,
}

impl ScopeFlags {
    /// Returns the folders of `--to-directory` and `--from-directory`. An empty path counts as missing.
    pub(super) fn directories(&self) -> (Option<&Path>, Option<&Path>) {
        let [to, from] = [&self.to_directory, &self.from_directory]
            .map(|path| path.as_deref().filter(|path| !path.as_os_str().is_empty()));
        (to, from)
    }
}

/// The flags that say how.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Move")]
pub(super) struct ExecutionFlags {
    /// Show each action, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Undo a move that has not yet deleted objects
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) abort: bool,

    /// Finish the move without a cluster that is lost
    #[arg(long, value_name = "source|target", value_enum, hide_possible_values = true)]
    #[arg(conflicts_with_all = ["dry_run", "abort", "to_directory", "from_directory"])]
    pub(super) lost: Option<LostCluster>,

    /// Continue if the target stores objects differently
    #[arg(long)]
    accept_differences: bool,

    /// Time to wait for blocking objects [default: 10m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// API warnings to hide: default, all or none
    #[arg(long, value_name = "SET", default_value = "default", hide_default_value = true)]
    hide_api_warnings: String,

    #[command(flatten)]
    output: OutputFlag,
}

/// A cluster of an unfinished move that no longer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LostCluster {
    /// Complete the move on the target cluster.
    Source,
    /// Undo the move on the source cluster.
    Target,
}

pub(super) struct MoveClusters {
    pub(super) source: ManagementCluster,
    pub(super) target: Option<ManagementCluster>,
}

impl TargetFlags {
    /// Converts the flags to those of a management cluster. `None` without a named target.
    pub(super) fn kube(&self) -> Result<Option<KubeFlags>, Failure> {
        let kube = KubeFlags {
            kubeconfig: self.kubeconfig.clone().filter(|path| !path.as_os_str().is_empty()),
            kubeconfig_context: self.context.clone().filter(|name| !name.is_empty()),
            sandbox: self.sandbox.clone(),
        };
        if kube.kubeconfig.is_none() && kube.sandbox.is_none() {
            return match kube.kubeconfig_context {
                None => Ok(None),
                Some(_) => Err(Failure::user("`--to-kubeconfig-context` requires `--to-kubeconfig`")
                    .hint("add the kubeconfig with `--to-kubeconfig FILE`")),
            };
        }
        Ok(Some(kube))
    }

    pub(super) fn connect_clusters(
        &self,
        server: &ServerFlags,
        hidden: ApiWarnings,
        session: &Session,
    ) -> Result<MoveClusters, Failure> {
        let connect = |kube: &KubeFlags| connect(kube, server, hidden, session);
        let target = self.kube()?;
        let source = connect(&server.kube)?;
        let target = target.as_ref().map(connect).transpose()?;
        Ok(MoveClusters { source, target })
    }
}

pub(super) fn connect(
    kube: &KubeFlags,
    server: &ServerFlags,
    hidden: ApiWarnings,
    session: &Session,
) -> Result<ManagementCluster, Failure> {
    settings::management_cluster_hiding_warnings(kube, &server.pace, hidden, session)
}

impl MoveClusters {
    pub(super) fn route(&self) -> Result<MoveRoute<'_>, Failure> {
        let target = self.target.as_ref().ok_or_else(missing_target)?;
        Ok(MoveRoute { source: &self.source, target })
    }
}

/// Returns the failure for a missing target.
/// Source: clusterctl v1.14 client/move.go requires a target too.
fn missing_target() -> Failure {
    Failure::user("the target cluster is missing")
        .hint("add the target with `--to-kubeconfig FILE` or `--to-sandbox NAME`, or preview the move with `--dry-run`")
}

impl ExecutionFlags {
    pub(super) fn format(&self) -> Result<OutputFormat, Failure> {
        self.output.format()
    }

    pub(super) fn hidden_warnings(&self) -> Result<ApiWarnings, Failure> {
        ApiWarnings::parse(&self.hide_api_warnings).ok_or_else(|| {
            Failure::user(format!("invalid value `{}` for `--hide-api-warnings`", self.hide_api_warnings))
                .hint("use default, all or none")
        })
    }
}

impl ScopeFlags {
    /// Fails for flags that change objects, because a save writes them unchanged.
    pub(super) fn check_saving(&self) -> Result<(), Failure> {
        let flag = match (self.map_namespace.is_empty(), self.include_status.is_empty()) {
            (true, true) => return Ok(()),
            (false, _) => "--map-namespace",
            (true, false) => "--include-status",
        };
        Err(Failure::user(format!("`{flag}` cannot be combined with `--to-directory`"))
            .hint("use the flag with `--from-directory` instead; the files contain the unchanged objects with their status"))
    }

    fn namespaces(&self, kube: &KubeFlags, session: &Session) -> BTreeSet<String> {
        namespaces(&self.namespace, kube, session)
    }

    fn cluster_choice(&self) -> ClusterChoice {
        cluster_choice(&non_empty(&self.cluster), self.selector.as_deref())
    }
}

/// Returns the given namespaces, or else the namespace of the context.
fn namespaces(given: &[String], kube: &KubeFlags, session: &Session) -> BTreeSet<String> {
    let given = non_empty(given);
    if !given.is_empty() {
        return given;
    }
    // A pod has no context. clusterctl uses the same default.
    let of_context = kube.context(session.environment()).ok().and_then(|context| context.namespace);
    BTreeSet::from([of_context.unwrap_or_else(|| "default".to_owned())])
}

pub(in crate::verbs) fn cluster_choice(named: &BTreeSet<String>, selector: Option<&str>) -> ClusterChoice {
    match selector.filter(|selector| !selector.is_empty()) {
        Some(selector) => ClusterChoice::Labelled(selector.to_owned()),
        None if named.is_empty() => ClusterChoice::All,
        None => ClusterChoice::Named(named.clone()),
    }
}

pub(in crate::verbs) fn timeout(text: Option<&str>) -> Result<Duration, Failure> {
    Ok(text.map(parse_duration).transpose()?.unwrap_or(DEFAULT_TIMEOUT))
}

pub(in crate::verbs) fn save_request(
    namespaces: BTreeSet<String>,
    clusters: ClusterChoice,
    timeout: Duration,
) -> MoveRequest {
    MoveRequest { namespaces, clusters, timeout, ..MoveRequest::default() }
}

/// The flags of a move itself.
#[derive(clap::Args)]
pub(super) struct MoveFlags {
    #[command(flatten)]
    pub(super) target: TargetFlags,

    #[command(flatten)]
    pub(super) scope: ScopeFlags,

    #[command(flatten)]
    pub(super) how: ExecutionFlags,

    #[command(flatten)]
    pub(super) server: ServerFlags,

    #[command(flatten)]
    pub(super) lease: LeaseFlags,
}

impl MoveFlags {
    /// Connects to both clusters. A dry run does not require a target.
    pub(super) fn connect_clusters(&self, session: &Session) -> Result<MoveClusters, Failure> {
        if !self.how.dry_run && self.target.kube()?.is_none() {
            return Err(missing_target());
        }
        self.target.connect_clusters(&self.server, self.how.hidden_warnings()?, session)
    }

    pub(super) fn connect_remaining(
        &self,
        lost: LostCluster,
        session: &Session,
    ) -> Result<ManagementCluster, Failure> {
        let kube = match lost {
            LostCluster::Source => self.target.kube()?.ok_or_else(missing_target)?,
            LostCluster::Target => self.server.kube.clone(),
        };
        connect(&kube, &self.server, self.how.hidden_warnings()?, session)
    }

    pub(super) fn request(&self, session: &Session) -> Result<MoveRequest, Failure> {
        let scope = &self.scope;
        Ok(MoveRequest {
            namespaces: scope.namespaces(&self.server.kube, session),
            clusters: scope.cluster_choice(),
            namespace_map: namespace_map(&scope.map_namespace)?,
            include_status: non_empty(&scope.include_status)
                .into_iter()
                .map(|kind| kind.to_lowercase())
                .collect(),
            timeout: timeout(self.how.timeout.as_deref())?,
            on_difference: if self.how.accept_differences {
                DifferencePolicy::Continue
            } else {
                DifferencePolicy::Stop
            },
            overwrite: scope.overwrite,
            server_dry_run: self.how.dry_run,
        })
    }

    /// Returns the request for saved files. Without named namespaces, all namespaces count.
    pub(super) fn restore_request(&self, session: &Session) -> Result<MoveRequest, Failure> {
        Ok(MoveRequest { namespaces: non_empty(&self.scope.namespace), ..self.request(session)? })
    }
}

pub(in crate::verbs) fn non_empty(texts: &[String]) -> BTreeSet<String> {
    texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

pub(in crate::verbs) fn namespace_map(pairs: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut map = BTreeMap::new();
    for pair in non_empty(pairs) {
        let invalid = || Failure::user(format!("invalid value `{pair}` for `--map-namespace`"));
        let Some((from, to)) = pair.split_once('=') else {
            return Err(invalid().cause("expected two namespaces as FROM=TO"));
        };
        for name in [from, to] {
            check_dns_label(name).map_err(|why| invalid().because(&why))?;
        }
        if let Some(other) = map.insert(from.to_owned(), to.to_owned()) {
            return Err(invalid().cause(format!("`{from}` is also mapped to `{other}`")));
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn namespaces_are_mapped_in_pairs_and_each_once() {
        let map = |pairs: &[&str]| namespace_map(&texts(pairs));
        let pairs = [("a".to_owned(), "b".to_owned()), ("c".to_owned(), "d".to_owned())];
        assert_eq!(map(&["a=b", "c=d", ""]).unwrap(), BTreeMap::from(pairs));
        let wrong = [&["a"][..], &["a="], &["=b"], &["A=b"], &["a=b", "a=c"], &["a=b=c"]];
        let messages = wrong.map(|pairs| map(pairs).unwrap_err().message().to_owned());
        assert_data_eq!(
            messages.join("\n"),
            str![[r#"
invalid value `a` for `--map-namespace`
invalid value `a=` for `--map-namespace`
invalid value `=b` for `--map-namespace`
invalid value `A=b` for `--map-namespace`
invalid value `a=c` for `--map-namespace`
invalid value `a=b=c` for `--map-namespace`
"#]]
        );
    }

    #[test]
    fn clusters_are_chosen_by_name_or_by_label() {
        let scope = |cluster: &[&str], selector: Option<&str>| {
            ScopeFlags {
                cluster: texts(cluster),
                selector: selector.map(str::to_owned),
                ..ScopeFlags::default()
            }
            .cluster_choice()
        };
        assert_eq!(scope(&[], None), ClusterChoice::All);
        assert_eq!(scope(&[""], Some("")), ClusterChoice::All);
        assert_eq!(scope(&[], Some("a=b")), ClusterChoice::Labelled("a=b".to_owned()));
        assert_eq!(
            scope(&["a", "n/b", "a"], None),
            ClusterChoice::Named(["a", "n/b"].map(str::to_owned).into())
        );
    }

    #[test]
    fn a_context_without_a_kubeconfig_is_not_a_target() {
        let context = Some("other".to_owned());
        let alone = TargetFlags { context: context.clone(), ..TargetFlags::default() };
        assert!(alone.kube().is_err());
        assert!(TargetFlags::default().kube().unwrap().is_none());
        let whole = TargetFlags { kubeconfig: Some("file".into()), ..alone };
        assert_eq!(whole.kube().unwrap().unwrap().kubeconfig_context, context);
    }
}
