use std::time::Duration;

use jiff::Timestamp;
use workload::{
    ClusterHealth, ClusterTree, ConditionSet, DescribeRequest, Echo, Grouping, OptionalPart, ShownConditions,
    Subject,
};

use super::{
    draw::draw,
    report::report,
    watch::{ClusterWatch, WatchEnd},
};
use crate::{
    Environment, Failure,
    cli::switch,
    failure::Kind,
    session::Session,
    settings::{self, OutputFormat, ServerFlags},
    ui::ColourChoice,
    verbs::lifecycle::parse_duration,
};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Show a workload cluster as a tree
///
/// Shows the objects of the cluster, their health and the reasons for problems. Unreadable objects are marked. Nothing is
/// written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} describe cluster test-1

  # All conditions of the control plane
  {bin} describe cluster test-1 --show-conditions KubeadmControlPlane

  # Without grouping machines
  {bin} describe cluster test-1 --grouping=false

  # In a script
  {bin} describe cluster test-1 --exit-status -o json

  # Live, or until the cluster is healthy
  {bin} describe cluster test-1 --watch
  {bin} describe cluster test-1 --watch --exit-status --timeout 20m")]
pub(crate) struct DescribeCluster {
    /// Workload cluster name
    #[arg(id = "workload_cluster", value_name = "NAME", required = true)]
    name: String,

    /// Its namespace [default: that of the context]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// Exit with status 3 if the cluster is not healthy
    #[arg(long)]
    exit_status: bool,

    /// Update after every change until `q` or Ctrl-C
    #[arg(short, long)]
    watch: bool,

    /// Maximum time to watch [default: unlimited]
    #[arg(long, value_name = "DURATION", requires = "watch")]
    timeout: Option<String>,

    #[command(flatten)]
    tree: TreeFlags,

    #[command(flatten)]
    server: ServerFlags,
}

/// What is in the tree, and how it looks.
#[derive(clap::Args)]
#[command(next_help_heading = "Tree")]
struct TreeFlags {
    /// Conditions to show: all, KIND or KIND/NAME; a suffix + selects important ones
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    show_conditions: String,

    /// Show MachineSets
    #[arg(long)]
    show_machinesets: bool,

    /// Show ClusterResourceSets
    #[arg(long)]
    show_resourcesets: bool,

    /// Show infrastructure and bootstrap templates
    #[arg(long)]
    show_templates: bool,

    /// Show MachineHealthChecks
    #[arg(long)]
    show_machinehealthchecks: bool,

    /// Show objects that repeat their machine
    #[arg(long)]
    echo: bool,

    /// Group machines with the same state
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = switch
    )]
    grouping: Option<bool>,

    /// Show conditions of contract v1beta2, or of v1beta1 with false
    #[arg(
        long = "v1beta2",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = switch,
        hide = true
    )]
    current_conditions: Option<bool>,

    /// When to use colour: auto, always or never
    // In place of the flag of all commands, as clusterctl has a switch of this name here.
    #[arg(
        id = "color",
        short = 'c',
        long,
        num_args = 0..=1,
        require_equals = true,
        value_name = "WHEN",
        default_value = "auto",
        default_missing_value = "true",
        hide_default_value = true,
        value_parser = colour
    )]
    _color: ColourChoice,
}

/// Parses a colour choice, also in the form of a switch.
fn colour(text: &str) -> Result<ColourChoice, String> {
    match text {
        "auto" => Ok(ColourChoice::Auto),
        "always" => Ok(ColourChoice::Always),
        "never" => Ok(ColourChoice::Never),
        text => {
            let is_on = switch(text).map_err(|_| "expected auto, always, never, true or false".to_owned())?;
            Ok(if is_on { ColourChoice::Always } else { ColourChoice::Never })
        }
    }
}

pub(crate) fn run(args: &DescribeCluster, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let shown = args.tree.shown_conditions()?;
    if args.tree.current_conditions.is_some() {
        session.messages().warning("`--v1beta2` is deprecated; it will be removed with contract v1beta1");
    }
    let request = args.request(format, session.environment());
    if args.watch {
        return watch(
            args,
            &ClusterWatch {
                request: &request,
                conditions: &shown,
                format,
                until_healthy: args.exit_status,
                timeout: args.timeout.as_deref().map(parse_duration).transpose()?,
            },
            session,
        );
    }
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let tree = session.block_on(workload::describe_cluster(&cluster, &request))?;
    let (colour, width) = (session.printer().is_stdout_coloured(), session.printer().width());
    let text = match format {
        OutputFormat::Text => draw(&tree.table(&shown, Timestamp::now()), colour, width),
        _ => format.render(&report(&request, &tree), |_| String::new())?,
    };
    session.printer().write(text)?;
    if args.exit_status { check_health(&tree) } else { Ok(()) }
}

fn watch(args: &DescribeCluster, watching: &ClusterWatch<'_>, session: &mut Session) -> Result<(), Failure> {
    let ServerFlags { kube, pace } = &args.server;
    let cluster = settings::watched_management_cluster(kube, pace, REQUEST_TIMEOUT, session)?;
    match watching.run(&cluster, session)? {
        WatchEnd::LastTree(tree) if args.exit_status => check_health(&tree),
        WatchEnd::Deleted if args.exit_status => {
            let DescribeRequest { namespace, name, .. } = watching.request;
            Err(Failure::new(Kind::Unhealthy, format!("cluster `{namespace}/{name}` was deleted")))
        }
        WatchEnd::LastTree(_) | WatchEnd::Deleted => Ok(()),
    }
}

impl DescribeCluster {
    fn request(&self, format: OutputFormat, environment: &Environment) -> DescribeRequest {
        let given = self.namespace.clone().filter(|namespace| !namespace.is_empty());
        let of_context = || self.server.kube.context(environment).ok()?.namespace;
        let namespace = given.or_else(of_context).unwrap_or_else(|| "default".to_owned());
        let conditions = match self.tree.current_conditions {
            Some(false) => ConditionSet::V1Beta1,
            _ => ConditionSet::V1Beta2,
        };
        if format != OutputFormat::Text {
            return DescribeRequest { conditions, ..DescribeRequest::full(namespace, &*self.name) };
        }
        DescribeRequest {
            namespace,
            name: self.name.clone(),
            parts: self.tree.parts(),
            grouping: if self.tree.grouping == Some(false) { Grouping::None } else { Grouping::Alike },
            echo: if self.tree.echo { Echo::Shown } else { Echo::Hidden },
            conditions,
        }
    }
}

impl TreeFlags {
    fn parts(&self) -> std::collections::BTreeSet<OptionalPart> {
        let parts = [
            (self.show_machinesets, OptionalPart::MachineSets),
            (self.show_resourcesets, OptionalPart::ResourceSets),
            (self.show_templates, OptionalPart::Templates),
            (self.show_machinehealthchecks, OptionalPart::MachineHealthChecks),
        ];
        parts.into_iter().filter_map(|(is_shown, part)| is_shown.then_some(part)).collect()
    }

    fn shown_conditions(&self) -> Result<ShownConditions, Failure> {
        self.show_conditions.parse().map_err(|error| {
            Failure::user("invalid value for `--show-conditions`")
                .because(&error)
                .hint("separate values only with commas: `--show-conditions Cluster,Machine/m1`")
        })
    }
}

/// Fails if the cluster is not healthy.
fn check_health(tree: &ClusterTree) -> Result<(), Failure> {
    let name = match &tree.root.subject {
        Subject::Object(cluster) => format!("{}/{}", cluster.key.namespace, cluster.key.name),
        _ => String::new(),
    };
    match tree.health() {
        ClusterHealth::Healthy => Ok(()),
        ClusterHealth::Unhealthy => {
            Err(Failure::new(Kind::Unhealthy, format!("cluster `{name}` is not available")))
        }
        ClusterHealth::Unknown => {
            Err(Failure::new(Kind::Unhealthy, format!("some objects of cluster `{name}` cannot be read")))
        }
    }
}
