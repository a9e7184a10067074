use inventory::ManagementCluster;
use jiff::Timestamp;
use workload::{DrawingFormat, MoveAnnotations, PageOrigin, Scope, UnknownCluster, discover};

use crate::{
    Environment, Failure,
    session::Session,
    settings::{self, ServerFlags, to_json, to_yaml},
    ui::{sanitize, write_file_atomically},
};

/// Draw the owner graph of Cluster API objects
///
/// Shows owners, health, and the action that a move would take for each object. Unlinked Secrets and ConfigMaps are omitted.
/// The command reads no Secret values and writes nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} graph
  {bin} graph test-1 --fates
  {bin} graph --all-namespaces -o html --write-to owners.html
  {bin} graph test-1 -o dot | dot -Tsvg > owners.svg")]
pub(crate) struct Graph {
    /// Show only the objects and owners of this Cluster: NAME or NAMESPACE/NAME
    #[arg(id = "workload_cluster", value_name = "CLUSTER")]
    cluster: Option<String>,

    /// Namespace to show; repeatable [default: the namespace of the context]
    #[arg(short, long, value_name = "NAMESPACE", conflicts_with = "all_namespaces")]
    namespace: Vec<String>,

    /// Show all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Show the move action of each object in text too; html, json and yaml always do
    #[arg(long)]
    fates: bool,

    /// Output format: text (a tree), html (a page), dot (for Graphviz), json or yaml
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value = "text")]
    output: GraphFormat,

    /// File to write, replaced after success [default: standard output]
    #[arg(long, value_name = "PATH")]
    write_to: Option<String>,

    #[command(flatten)]
    server: ServerFlags,
}

/// The output format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GraphFormat {
    Text,
    Dot,
    Mermaid,
    Html,
    Json,
    Yaml,
}

/// The mode of the file. The graph contains only names, but those of the whole management cluster, so the owner
/// decides who may read it.
const MODE: u32 = 0o600;

pub(crate) fn run(args: &Graph, session: &mut Session) -> Result<(), Failure> {
    let scope = args.scope(session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let found = session.block_on(discover(&cluster, &scope))?;
    let graph = workload::owner_graph(&found.graph, &scope, args.cluster.as_deref())
        .map_err(|error| unknown_cluster(&error))?;
    let fates = if args.fates { MoveAnnotations::Shown } else { MoveAnnotations::Hidden };
    let text = match args.output {
        GraphFormat::Text => sanitize(&workload::draw(&graph, DrawingFormat::Text(fates))).into_owned(),
        GraphFormat::Dot => sanitize(&workload::draw(&graph, DrawingFormat::Dot)).into_owned(),
        GraphFormat::Mermaid => sanitize(&workload::draw(&graph, DrawingFormat::Mermaid)).into_owned(),
        GraphFormat::Html => workload::draw_page(&graph, &args.page_origin(&cluster, session.environment())),
        GraphFormat::Json => to_json(&graph)?,
        GraphFormat::Yaml => to_yaml(&graph)?,
    };
    match args.write_to.as_deref().map(str::trim).filter(|path| !path.is_empty() && *path != "-") {
        Some(path) => Ok(write_file_atomically(&session.environment().resolve(path), text.as_bytes(), MODE)?),
        None => session.printer().write(text),
    }
}

fn unknown_cluster(error: &UnknownCluster) -> Failure {
    let failure = Failure::user(error.to_string());
    if error.suggestions.is_empty() {
        return failure.hint(
            "search all namespaces with `--all-namespaces`, or another one with `--namespace NAMESPACE`",
        );
    }
    failure.hint(format!("existing Clusters: {}", error.suggestions.join(", ")))
}

impl Graph {
    fn page_origin(&self, cluster: &ManagementCluster, environment: &Environment) -> PageOrigin {
        let name = match &self.server.kube.sandbox {
            Some(sandbox) => format!("sandbox {sandbox}"),
            None => match self.server.kube.context(environment) {
                Ok(context) => format!("context {}", context.name),
                // The service account of a pod has no context.
                Err(_) => String::new(),
            },
        };
        PageOrigin {
            server: cluster.server().address().to_owned(),
            name,
            time: format!("{:.0}", Timestamp::now()),
            program: concat!("capstan v", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Returns the namespaces from the Cluster or the flags, or else the namespace of the context.
    fn scope(&self, session: &Session) -> Result<Scope, Failure> {
        if self.all_namespaces {
            return Ok(Scope::default());
        }
        let named = self.namespace.iter().filter(|name| !name.is_empty()).cloned();
        let mut scope = Scope { namespaces: named.collect() };
        if scope.namespaces.is_empty() {
            let of_cluster = self.cluster.as_deref().and_then(|cluster| cluster.split_once('/'));
            let namespace = match of_cluster {
                Some((namespace, _)) => namespace.to_owned(),
                None => self.namespace_of_context(session.environment())?,
            };
            scope.namespaces.insert(namespace);
        }
        Ok(scope)
    }

    /// Returns the namespace of the context. `default` in a pod without a kubeconfig.
    fn namespace_of_context(&self, environment: &Environment) -> Result<String, Failure> {
        const DEFAULT: &str = "default";
        match self.server.kube.context(environment) {
            Ok(context) => Ok(context.namespace.unwrap_or_else(|| DEFAULT.to_owned())),
            Err(settings::KubeconfigError::NotFound { .. }) => Ok(DEFAULT.to_owned()),
            Err(error) => Err(error.into()),
        }
    }
}
