use provider::config::ProviderConfig;
use serde::Serialize;

use crate::{
    Failure,
    kustomizations::shown_location,
    session::Session,
    settings::OutputFlag,
    ui::{NarrowingStep, table},
};

/// Show the configuration
#[derive(clap::Subcommand)]
pub(crate) enum Config {
    Repositories(Repositories),
}

impl Config {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Repositories(args) => repositories(&args, session),
        }
    }
}

/// List the providers and the URLs of their releases
///
/// Shows the built-in providers and those in clusterctl.yaml. `provider list` also shows complete URLs and the origin of each
/// entry.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} config repositories
  {bin} config repositories -o yaml")]
pub(crate) struct Repositories {
    #[command(flatten)]
    output: OutputFlag,
}

/// One row, with the field names that scripts use.
/// Source: clusterctl v1.14, run.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(rename = "File")]
    file: String,
    #[serde(rename = "Name")]
    name: &'a str,
    #[serde(rename = "ProviderType")]
    provider_type: &'static str,
    #[serde(rename = "URL")]
    url: String,
}

fn repositories(args: &Repositories, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let providers = session.config()?.providers()?;
    let rows: Vec<Row<'_>> = providers.iter().map(row).collect();
    session.print(format, &rows, |rows, width| {
        let cells: Vec<_> =
            rows.iter().map(|row| [row.name, row.provider_type, &row.url, &row.file]).collect();
        let ways = [
            NarrowingStep::Shorten("URL", 24),
            NarrowingStep::Drop("FILE"),
            NarrowingStep::Shorten("URL", 8),
        ];
        table(width, &ways, ["NAME", "TYPE", "URL", "FILE"], &cells)
    })
}

/// Splits the URL at its last slash into the URL and the file, without credentials.
fn row(provider: &ProviderConfig) -> Row<'_> {
    let mut url = shown_location(&provider.url);
    let file = url.split_off(url.rfind('/').map_or(0, |slash| slash + 1));
    Row { file, name: &provider.id.name, provider_type: provider.id.provider_type.as_str(), url }
}
