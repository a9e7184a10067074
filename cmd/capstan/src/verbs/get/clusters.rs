use api::output::{ClusterList, ListedCluster, ReplicaCounts};
use jiff::Timestamp;
use workload::{ClusterOverview, ClusterOverviewRequest, ClusterSummary};

use crate::{
    Failure,
    session::Session,
    settings::{self, OutputFormat, ServerFlags},
    ui::{NarrowingStep, table},
    verbs::describe::{part_condition, replica_counts},
};

/// List workload clusters with their health
///
/// Shows the health, version and machines of every Cluster. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} get clusters
  {bin} get clusters -A
  {bin} get clusters -A -l environment=production -o wide
  {bin} get clusters -A -o json")]
pub(crate) struct Clusters {
    /// Namespace of the Clusters [default: the namespace of the context]
    #[arg(short, long, value_name = "NAMESPACE", conflicts_with = "all_namespaces")]
    namespace: Option<String>,

    /// List the Clusters of all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Label selector, such as `environment=production`
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    selector: String,

    /// Output format: text, wide, json or yaml; wide adds the ClusterClass and health details
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    server: ServerFlags,
}

const WIDE: &str = "wide";

const UNKNOWN: &str = "-";

/// Ways to fit a terminal. Name and health are dropped last.
const NARROW: [NarrowingStep; 8] = [
    NarrowingStep::Drop("PHASE"),
    NarrowingStep::Drop("CLASS"),
    NarrowingStep::Drop("AGE"),
    NarrowingStep::Shorten("NAMESPACE", 9),
    NarrowingStep::Shorten("NAME", 16),
    NarrowingStep::Drop("VERSION"),
    NarrowingStep::Drop("WORKERS"),
    NarrowingStep::Drop("NAMESPACE"),
];

pub(crate) fn run(args: &Clusters, session: &mut Session) -> Result<(), Failure> {
    let is_wide = args.output == WIDE;
    let format = if is_wide {
        OutputFormat::Text
    } else {
        OutputFormat::parse(&args.output).map_err(|failure| failure.hint("use `-o wide` for more columns"))?
    };
    let namespace = if args.all_namespaces {
        None
    } else {
        Some(args.server.kube.namespace(args.namespace.as_deref(), session.environment())?)
    };
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let request = ClusterOverviewRequest { namespace, labels: args.selector.clone() };
    let fleet = session.block_on(workload::list_clusters(&cluster, &request))?;
    if fleet.clusters.is_empty() {
        session.messages().status(no_clusters_text(&fleet, &request));
    }
    let now = Timestamp::now();
    let report = ClusterList { clusters: fleet.clusters.iter().map(listed_cluster).collect() };
    session.print(format, &report, |report, width| text(report, is_wide, width, now))
}

fn no_clusters_text(fleet: &ClusterOverview, request: &ClusterOverviewRequest) -> String {
    let Some(namespace) = &request.namespace else { return "no Clusters found".to_owned() };
    let nothing = format!("no Clusters found in namespace `{namespace}`");
    let count: usize = fleet.other_namespaces.values().sum();
    let elsewhere = match (count, fleet.other_namespaces.keys().next()) {
        (0, _) | (_, None) => return nothing,
        (1, Some(other)) => format!("namespace `{other}` has one"),
        (count, Some(other)) if fleet.other_namespaces.len() == 1 => {
            format!("namespace `{other}` has {count}")
        }
        (count, _) => format!("{} other namespaces have {count}", fleet.other_namespaces.len()),
    };
    format!("{nothing}; {elsewhere}: run `capstan get clusters -A` to list them")
}

fn listed_cluster(cluster: &ClusterSummary) -> ListedCluster {
    ListedCluster {
        namespace: cluster.namespace.clone(),
        name: cluster.name.clone(),
        class: cluster.class.clone(),
        phase: cluster.phase.clone(),
        health: cluster.health.as_ref().map(part_condition),
        paused: cluster.is_paused,
        deleting: cluster.is_deleting,
        version: cluster.version.as_ref().map(ToString::to_string),
        control_plane: replica_counts(cluster.control_plane),
        workers: replica_counts(cluster.workers),
        created: cluster.created.map(|created| created.to_string()),
    }
}

struct Line<'a> {
    cluster: &'a ListedCluster,
    status: String,
    control_plane: String,
    workers: String,
    age: String,
    message: String,
}

fn text(report: &ClusterList, is_wide: bool, width: Option<usize>, now: Timestamp) -> String {
    if report.clusters.is_empty() {
        return String::new();
    }
    let lines: Vec<Line<'_>> = report.clusters.iter().map(|cluster| Line::of(cluster, now)).collect();
    if !is_wide {
        let rows: Vec<_> = lines.iter().map(Line::cells).collect();
        return table(width, &NARROW, COLUMNS, &rows);
    }
    let rows: Vec<[&str; 11]> = lines
        .iter()
        .map(|line| {
            let [namespace, name, status, phase, version, control_plane, workers, age] = line.cells();
            let [class, reason, message] = line.wide_cells();
            [namespace, name, status, phase, version, control_plane, workers, age, class, reason, message]
        })
        .collect();
    table(width, &NARROW, WIDE_COLUMNS, &rows)
}

const COLUMNS: [&str; 8] = ["NAMESPACE", "NAME", "STATUS", "PHASE", "VERSION", "CP", "WORKERS", "AGE"];
const WIDE_COLUMNS: [&str; 11] =
    ["NAMESPACE", "NAME", "STATUS", "PHASE", "VERSION", "CP", "WORKERS", "AGE", "CLASS", "REASON", "MESSAGE"];

impl<'a> Line<'a> {
    fn of(cluster: &'a ListedCluster, now: Timestamp) -> Self {
        let created = cluster.created.as_deref().and_then(|created| created.parse().ok());
        Self {
            status: status_text(cluster),
            control_plane: ready_text(cluster.control_plane.as_ref()),
            workers: ready_text(cluster.workers.as_ref()),
            message: cluster
                .health
                .as_ref()
                .map(|health| health.message.replace('\n', " "))
                .unwrap_or_default(),
            age: match created {
                Some(created) => workload::format_age(Some(created), now),
                None => UNKNOWN.to_owned(),
            },
            cluster,
        }
    }

    fn cells(&self) -> [&str; 8] {
        let ListedCluster { namespace, name, phase, version, .. } = self.cluster;
        let version = version.as_deref().unwrap_or(UNKNOWN);
        let phase = if phase.is_empty() { UNKNOWN } else { phase };
        [namespace, name, &self.status, phase, version, &self.control_plane, &self.workers, &self.age]
    }

    fn wide_cells(&self) -> [&str; 3] {
        let health = self.cluster.health.as_ref();
        let class = self.cluster.class.as_deref().unwrap_or(UNKNOWN);
        [class, health.map_or(UNKNOWN, |health| &health.reason), &self.message]
    }
}

/// Returns the health in the style of kubectl for nodes: `Available`, `NotAvailable,Paused`.
fn status_text(cluster: &ListedCluster) -> String {
    let mut status = match &cluster.health {
        Some(health) if health.status == "True" => health.condition_type.clone(),
        Some(health) if health.status == "False" => format!("Not{}", health.condition_type),
        _ => "Unknown".to_owned(),
    };
    if cluster.paused {
        status.push_str(",Paused");
    }
    if cluster.deleting {
        status.push_str(",Deleting");
    }
    status
}

fn ready_text(counts: Option<&ReplicaCounts>) -> String {
    match counts {
        None => UNKNOWN.to_owned(),
        Some(counts) => format!("{}/{}", counts.ready.unwrap_or(0), counts.desired.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use api::output::PartCondition;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn cluster(name: &str, status: &str) -> ListedCluster {
        let counts = |ready, desired| {
            let none = ReplicaCounts {
                desired: None,
                current: None,
                available: None,
                ready: None,
                up_to_date: None,
            };
            Some(ReplicaCounts { desired: Some(desired), ready, ..none })
        };
        let health = PartCondition {
            condition_type: "Available".to_owned(),
            status: status.to_owned(),
            severity: String::new(),
            reason: "Because".to_owned(),
            message: "* WorkersAvailable: 2 of 10\n* more".to_owned(),
            last_transition_time: None,
        };
        ListedCluster {
            namespace: "production".to_owned(),
            name: name.to_owned(),
            class: Some("quick-start".to_owned()),
            phase: "Provisioned".to_owned(),
            health: Some(health),
            paused: false,
            deleting: false,
            version: Some("v1.36.0".to_owned()),
            control_plane: counts(Some(3), 3),
            workers: counts(None, 10),
            created: Some("2026-05-01T00:00:00Z".to_owned()),
        }
    }

    fn fleet() -> ClusterList {
        let paused = ListedCluster { paused: true, ..cluster("a-cluster-with-a-long-name-eu-1", "False") };
        let new = ListedCluster {
            class: None,
            phase: String::new(),
            health: None,
            deleting: true,
            version: None,
            control_plane: None,
            workers: None,
            created: None,
            ..cluster("new", "")
        };
        ClusterList { clusters: vec![paused, cluster("b", "True"), new] }
    }

    fn shown(is_wide: bool, width: Option<usize>) -> String {
        text(&fleet(), is_wide, width, "2026-06-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn every_cluster_has_a_line() {
        assert_data_eq!(
            shown(false, None),
            str![[r"
NAMESPACE    NAME                              STATUS                PHASE         VERSION   CP        WORKERS   AGE
production   a-cluster-with-a-long-name-eu-1   NotAvailable,Paused   Provisioned   v1.36.0   3/3       0/10      31d
production   b                                 Available             Provisioned   v1.36.0   3/3       0/10      31d
production   new                               Unknown,Deleting      -             -         -         -         -

"]]
        );
        assert_data_eq!(
            shown(true, None),
            str![[r"
NAMESPACE    NAME                              STATUS                PHASE         VERSION   CP        WORKERS   AGE       CLASS         REASON    MESSAGE
production   a-cluster-with-a-long-name-eu-1   NotAvailable,Paused   Provisioned   v1.36.0   3/3       0/10      31d       quick-start   Because   * WorkersAvailable: 2 of 10 * more
production   b                                 Available             Provisioned   v1.36.0   3/3       0/10      31d       quick-start   Because   * WorkersAvailable: 2 of 10 * more
production   new                               Unknown,Deleting      -             -         -         -         -         -             -         

"]]
        );
    }

    #[test]
    fn narrow_terminals_keep_name_and_health() {
        assert_data_eq!(
            shown(false, Some(80)),
            str![[r"
NAMESPACE  NAME                       STATUS               VERSION  CP   WORKERS
prod…tion  a-cluster-wi…ng-name-eu-1  NotAvailable,Paused  v1.36.0  3/3  0/10
prod…tion  b                          Available            v1.36.0  3/3  0/10
prod…tion  new                        Unknown,Deleting     -        -    -

"]]
        );
        assert_data_eq!(
            shown(false, Some(60)),
            str![[r"
NAMESPACE  NAME              STATUS               CP
prod…tion  a-cluste…me-eu-1  NotAvailable,Paused  3/3
prod…tion  b                 Available            3/3
prod…tion  new               Unknown,Deleting     -

"]]
        );
    }

    #[test]
    fn an_empty_namespace_names_other_namespaces_with_clusters() {
        let request = ClusterOverviewRequest { namespace: Some("default".to_owned()), labels: String::new() };
        let text = |elsewhere: &[(&str, usize)]| {
            let elsewhere = elsewhere.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            no_clusters_text(&ClusterOverview { clusters: Vec::new(), other_namespaces: elsewhere }, &request)
        };
        let elsewhere = [&[][..], &[("a", 1)], &[("a", 2)], &[("a", 2), ("b", 1)]];
        assert_data_eq!(
            elsewhere.map(text).join("\n"),
            str![[r#"
no Clusters found in namespace `default`
no Clusters found in namespace `default`; namespace `a` has one: run `capstan get clusters -A` to list them
no Clusters found in namespace `default`; namespace `a` has 2: run `capstan get clusters -A` to list them
no Clusters found in namespace `default`; 2 other namespaces have 3: run `capstan get clusters -A` to list them
"#]]
        );
    }
}
