use std::fmt::Write as _;

use api::{
    ProviderId, ProviderRef, Version,
    output::{ProviderEntry, ProviderList, ProviderRelease, ProviderSource},
    similar_names,
};
use provider::{ProviderReleases, ReleaseError, cluster_class_of_file, flavor_of_file};

use crate::{
    Failure, WithContext as _,
    kustomizations::shown_location,
    session::Session,
    settings::OutputFlag,
    ui::{NarrowingStep, table},
    verbs::provider_flags::OneProvider,
};

/// Show the contract, templates and ClusterClasses of a provider release
#[derive(clap::Args)]
#[command(after_help = "Examples:
  # The newest release
  {bin} provider show docker

  # The flavors of a release
  {bin} provider show --infrastructure aws:v2.11.1 -o json")]
pub(crate) struct Show {
    /// Provider, such as aws or aws:v2.11.1 [default version: the newest release]
    #[arg(value_name = "NAME[:VERSION]")]
    name: Option<String>,

    #[command(flatten)]
    provider: OneProvider,

    #[command(flatten)]
    output: OutputFlag,
}

pub(crate) fn show(args: &Show, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let (id, version) = selected_release(args, session)?;
    let releases = session.provider_releases(&id)?;
    let (mut shown, lists_files) = session
        .block_on(async { describe(&releases, version.as_deref()).await })
        .with_context(|| format!("cannot show `{id}`"))?;
    shown.kustomization = session.config()?.kustomization(&id)?.map(|place| shown_location(&place));
    if !lists_files {
        session.messages().warning(format!(
            "`{}` does not list files, so versions, flavors and ClusterClasses are unknown",
            shown.place
        ));
    }
    session.print(format, &shown, |result, _| text(result))
}

/// Returns the provider that a flag or the name selects.
fn selected_release(args: &Show, session: &Session) -> Result<(ProviderId, Option<String>), Failure> {
    let Some(name) = args.name.as_deref().filter(|name| !name.is_empty()) else {
        return args.provider.provider_and_version();
    };
    if args.provider.is_given() {
        return Err(Failure::user(format!("the provider `{name}` cannot be combined with a provider flag")));
    }
    let reference = ProviderRef::parse(name).with_context(|| format!("invalid provider `{name}`"))?;
    let known: Vec<ProviderId> =
        session.config()?.providers()?.into_iter().map(|provider| provider.id).collect();
    let mut named = known.iter().filter(|id| id.name == reference.name || id.label() == reference.name);
    let failure =
        match (named.next(), named.next()) {
            (Some(id), None) => return Ok((id.clone(), reference.version)),
            (Some(id), Some(other)) => {
                let flag = |id: &ProviderId| format!("`--{} {name}`", id.provider_type.flag());
                Failure::user(format!("several types have a provider named `{}`", reference.name))
                    .hint(format!("use {} or {}", flag(id), flag(other)))
            }
            (None, _) => {
                let failure = Failure::user(format!("the provider `{}` does not exist", reference.name));
                if let Some(near) = similar_names(&reference.name, known.iter().map(|id| &*id.name)).first() {
                    failure.hint(format!("did you mean `{near}`?"))
                } else {
                    failure.hint("run `capstan provider list` to list the providers")
                }
            }
        };
    Err(failure)
}

/// Describes the release. Returns true if its host lists files and versions.
async fn describe(
    releases: &ProviderReleases,
    version: Option<&str>,
) -> Result<(ProviderRelease, bool), ReleaseError> {
    let release = releases.choose_release(version).await?;
    let contract = release.check().await?.1;
    let provider = releases.provider();
    let (files, mut versions, lists_files) = match release.files().await {
        Ok(files) => {
            let versions = releases.repository().versions().await.map_err(|source| {
                ReleaseError::Repository { provider: provider.id.clone(), source: Box::new(source) }
            })?;
            (files, versions, true)
        }
        Err(ReleaseError::Repository { source, .. })
            if matches!(*source, repository::Error::CannotList { .. }) =>
        {
            (Vec::new(), Vec::new(), false)
        }
        Err(error) => return Err(error),
    };
    versions.sort_by(|a, b| b.cmp(a));
    let shown = ProviderRelease {
        name: provider.id.name.clone(),
        provider_type: provider.id.provider_type,
        place: releases.repository().display_address(),
        version: release.version().to_owned(),
        contract: contract.to_string(),
        kustomization: None,
        versions: versions.iter().map(Version::to_string).collect(),
        flavors: files.iter().filter_map(|file| flavor_of_file(file)).map(str::to_owned).collect(),
        cluster_classes: files
            .iter()
            .filter_map(|file| cluster_class_of_file(file))
            .map(str::to_owned)
            .collect(),
    };
    Ok((shown, lists_files))
}

fn text(shown: &ProviderRelease) -> String {
    let mut text = String::new();
    let width = if shown.kustomization.is_some() { 15 } else { 10 };
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{:<width$}{value}", format!("{name}:"));
    };
    line("Name", &shown.name);
    line("Type", shown.provider_type.as_str());
    line("Place", &shown.place);
    line("Version", &shown.version);
    line("Contract", &shown.contract);
    if let Some(place) = &shown.kustomization {
        line("Kustomization", place);
    }
    let mut list = |name: &str, items: &[String]| {
        if !items.is_empty() {
            let _ = writeln!(text, "{name}:");
        }
        for item in items {
            let _ = writeln!(text, "  - {}", if item.is_empty() { "(plain)" } else { item });
        }
    };
    list("Versions", &shown.versions);
    list("Flavors", &shown.flavors);
    list("ClusterClasses", &shown.cluster_classes);
    text
}

/// List the providers with the URLs of their releases and the origin of each entry
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} provider list
  {bin} provider list -o json")]
pub(crate) struct List {
    #[command(flatten)]
    output: OutputFlag,
}

pub(crate) fn list(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let entries = session.config()?.providers()?.into_iter().map(|provider| ProviderEntry {
        name: provider.id.name,
        provider_type: provider.id.provider_type,
        url: shown_location(&provider.url),
        source: provider.source,
    });
    let list = ProviderList { providers: entries.collect() };
    session.print(format, &list, table_text)
}

fn table_text(list: &ProviderList, width: Option<usize>) -> String {
    let rows: Vec<_> = list.providers.iter().map(row).collect();
    let ways =
        [NarrowingStep::Shorten("URL", 24), NarrowingStep::Drop("SOURCE"), NarrowingStep::Shorten("URL", 8)];
    table(width, &ways, ["NAME", "TYPE", "SOURCE", "URL"], &rows)
}

fn row(entry: &ProviderEntry) -> [&str; 4] {
    let source = match entry.source {
        ProviderSource::BuiltIn => "built in",
        ProviderSource::Config => "config",
        ProviderSource::ConfigOverBuiltIn => "config, replaces the built-in provider",
    };
    [&entry.name, entry.provider_type.as_str(), source, &entry.url]
}
