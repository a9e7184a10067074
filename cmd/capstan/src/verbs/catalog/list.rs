use catalog::CatalogError;
use manifest::Value;

use super::lieutenant::LieutenantFlags;
use crate::{
    Failure,
    session::Session,
    settings::{OutputFlag, OutputFormat},
};

/// List the clusters that have a catalog
///
/// Lists the clusters that the Lieutenant API knows.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog list --api-url https://syn.example.org
  {bin} catalog list --tenant t-blue --sort-by displayName -o json")]
pub(crate) struct List {
    #[command(flatten)]
    api: LieutenantFlags,

    /// Only the clusters of a tenant
    #[arg(short, long, value_name = "ID")]
    tenant: Option<String>,

    /// Field to sort by: id, tenant or displayName
    #[arg(long, value_name = "FIELD", default_value = "id")]
    sort_by: String,

    #[command(flatten)]
    output: OutputFlag,
}

pub(super) fn run(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format: OutputFormat = args.output.format()?;
    let context = session.repositories()?;
    let api = args.api.open(&context, session)?;
    let mut query = vec![("sort_by", args.sort_by.as_str())];
    query.extend(args.tenant.as_deref().map(|tenant| ("tenant", tenant)));
    let clusters =
        session.block_on(async { api.list("clusters", &query).await.map_err(CatalogError::List) })?;
    session.print(format, &clusters, |clusters, _| text(clusters))
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
