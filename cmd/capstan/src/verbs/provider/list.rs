use api::output::{ProviderEntry, ProviderList, ProviderSource};

use crate::{
    Failure,
    kustomizations::shown_place,
    session::Session,
    settings::OutputFormat,
    ui::{Narrow, table},
};

/// List the providers, where their releases are, and who says so
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} provider list
  {bin} provider list -o json")]
pub(crate) struct List {
    /// Output format: text, yaml or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(crate) fn run(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let entries = session.config()?.providers()?.into_iter().map(|provider| ProviderEntry {
        name: provider.id.name,
        provider_type: provider.id.provider_type,
        url: shown_place(&provider.url),
        source: provider.source,
    });
    let list = ProviderList { providers: entries.collect() };
    session.print(format, &list, in_columns)
}

fn in_columns(list: &ProviderList, width: Option<usize>) -> String {
    let rows: Vec<_> = list.providers.iter().map(row).collect();
    let ways = [Narrow::Shorten("URL", 24), Narrow::Drop("SOURCE"), Narrow::Shorten("URL", 8)];
    table(width, &ways, ["NAME", "TYPE", "SOURCE", "URL"], &rows)
}

fn row(entry: &ProviderEntry) -> [&str; 4] {
    let source = match entry.source {
        ProviderSource::BuiltIn => "built in",
        ProviderSource::Config => "config",
        ProviderSource::ConfigOverBuiltIn => "config, in place of the built-in one",
    };
    [&entry.name, entry.provider_type.as_str(), source, &entry.url]
}
