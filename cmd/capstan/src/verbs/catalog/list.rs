use api::output::{AppliedCatalog, AppliedCatalogs};
use catalog::CatalogError;
use manifest::Value;

use super::{applied_catalog::applied_catalogs, lieutenant::LieutenantFlags};
use crate::{
    Failure,
    session::Session,
    settings::{self, CLUSTER, OutputFlag, OutputFormat, ServerFlags},
    ui::table,
};

/// List the clusters that have a catalog
///
/// Lists the clusters that the Lieutenant API knows. With `--applied`, lists the catalogs that `catalog apply` has applied to a
/// cluster instead.
#[derive(clap::Args)]
#[command(mut_args(|arg| if arg.get_help_heading() == Some(CLUSTER) { arg.requires("applied") } else { arg }))]
#[command(after_help = "Examples:
  {bin} catalog list --api-url https://syn.example.org
  {bin} catalog list --tenant t-blue --sort-by displayName -o json
  {bin} catalog list --applied --sandbox lab")]
pub(crate) struct List {
    #[command(flatten)]
    api: LieutenantFlags,

    /// Only the clusters of a tenant
    #[arg(short, long, value_name = "ID")]
    tenant: Option<String>,

    /// Field to sort by: id, tenant or displayName
    #[arg(long, value_name = "FIELD", default_value = "id")]
    sort_by: String,

    /// The applied catalogs of a cluster
    #[arg(long, conflicts_with_all = ["tenant", "sort_by", "api_url", "api_token"])]
    applied: bool,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format: OutputFormat = args.output.format()?;
    if args.applied {
        let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
        return session.print(format, &applied_catalogs(&cluster, session)?, applied_text);
    }
    let context = session.repositories()?;
    let api = args.api.open(&context, session)?;
    let mut query = vec![("sort_by", args.sort_by.as_str())];
    query.extend(args.tenant.as_deref().map(|tenant| ("tenant", tenant)));
    let clusters =
        session.block_on(async { api.list("clusters", &query).await.map_err(CatalogError::List) })?;
    session.print(format, &clusters, |clusters, _| text(clusters))
}

/// Prints the applied catalogs, with the number of their objects.
fn applied_text(applied: &AppliedCatalogs, width: Option<usize>) -> String {
    if applied.catalogs.is_empty() {
        return "there are no applied catalogs\n".to_owned();
    }
    let objects =
        |one: &AppliedCatalog| one.objects.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    let rows: Vec<_> = applied.catalogs.iter().map(|one| [one.name.clone(), objects(one)]).collect();
    table(width, &[], ["CATALOG", "OBJECTS"], &rows)
}

/// Prints a table with columns of the width of their longest value.
fn text(clusters: &Value) -> String {
    let fields = ["id", "displayName", "tenant"];
    let cell = |cluster: &Value, field: &str| {
        cluster.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let rows: Vec<[String; 3]> = clusters
        .as_array()
        .into_iter()
        .flatten()
        .map(|cluster| fields.map(|field| cell(cluster, field)))
        .collect();
    let header = ["ID", "DISPLAY NAME", "TENANT"].map(str::to_owned);
    let width = |column: usize| {
        let longest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        longest.max(fields[column].len()) + 2
    };
    let line = |row: &[String; 3]| {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(column, cell)| format!("{cell:<width$}", width = width(column)))
            .collect();
        format!("{}\n", cells.concat().trim_end())
    };
    std::iter::once(&header).chain(&rows).map(line).collect()
}
