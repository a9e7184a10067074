use std::fmt::Write as _;

use api::ProviderId;
use manifest::provenance::Trace;
use provider::{
    ComponentsInput, ProviderComponents, ProviderReleases, Release, ReleaseError, Substitution,
    build_components, config::Variables,
};

use super::print;
use crate::{
    Failure, WithContext as _,
    kustomizations::{KustomizationFlags, RunOverlays, RunScope},
    session::Session,
    settings::OutputFormat,
    verbs::{provenance::ProvenanceFlag, provider_flags::OneProvider},
};

/// Generate the components of a provider
///
/// Prints the objects that `init` would apply, with variables, image overrides, namespace and labels.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  # The newest release
  {bin} generate provider --infrastructure aws

  # A release in another namespace
  {bin} generate provider --infrastructure aws:v2.11.1 -n capa

  # The variables and images of a release
  {bin} generate provider --infrastructure aws:v2.11.1 --describe")]
pub(crate) struct GenerateProvider {
    #[command(flatten)]
    provider: OneProvider,

    /// Namespace of the provider [default: the namespace in its components]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    target_namespace: Option<String>,

    #[command(flatten)]
    customisation: KustomizationFlags,

    /// Keep `${VARIABLES}` without substitution
    #[arg(long)]
    raw: bool,

    /// Describe the provider instead: version, file, namespace, variables, images
    #[arg(long)]
    describe: bool,

    /// List the variables of the components instead
    #[arg(long)]
    list_variables: bool,

    #[command(flatten)]
    provenance: ProvenanceFlag,

    /// Output format: text (YAML documents), yaml or json (one List)
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// File to write, replaced after success [default: standard output]
    #[arg(long, value_name = "PATH")]
    write_to: Option<String>,
}

pub(super) fn run(args: &GenerateProvider, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let provenance = args.provenance.parse(format)?;
    if args.describe && format != OutputFormat::Text {
        let failure = Failure::user("`--describe` prints text only");
        return Err(failure.hint("run `capstan provider show` for a description in JSON or YAML"));
    }
    let (id, version) = args.provider.provider_and_version()?;
    let releases = session.provider_releases(&id)?;
    let release = session
        .block_on(async { releases.choose_release(version.as_deref()).await })
        .with_context(|| format!("cannot generate `{id}`"))?;
    if args.list_variables {
        return list_variables(&release, format, session);
    }
    let components = build(args, &id, &release, provenance.trace(), session)
        .with_context(|| format!("cannot generate `{id}` {}", release.version()))?;
    for warning in &components.warnings {
        session.messages().warning(warning);
    }
    if args.describe {
        let text = description(&releases, &release, &components);
        return session.printer().write(text);
    }
    print::print_objects(components.objects, format, provenance, args.write_to.as_deref(), session)
}

fn build(
    args: &GenerateProvider,
    id: &ProviderId,
    release: &Release<'_>,
    trace: Trace,
    session: &Session,
) -> Result<ProviderComponents, Failure> {
    let config = session.config()?;
    let around = RunScope { named_providers: std::slice::from_ref(id), saved_kustomizations: &[] };
    let layers = RunOverlays::read(&args.customisation, around, session)?;
    let substitution = if args.raw || args.describe { Substitution::None } else { Substitution::Full };
    let (text, layer) = session.block_on(async {
        release.check().await?;
        let text = release.components().await?;
        let layer = if substitution == Substitution::None { None } else { layers.overlays().get(id).await };
        Ok::<_, ReleaseError>((text, layer))
    })?;
    let input = ComponentsInput {
        provider: id,
        text: &text,
        variables: &Variables::new(&config),
        substitution,
        image_overrides: &config.image_overrides()?,
        overlay: layer,
        customisations: &config.customisations(id)?,
        target_namespace: args.target_namespace.as_deref(),
        trace,
    };
    let components = build_components(&input)?;
    layers.warn_unused(session.messages());
    Ok(components)
}

fn list_variables(release: &Release<'_>, format: OutputFormat, session: &mut Session) -> Result<(), Failure> {
    let text = session.block_on(async { release.components().await })?;
    let config = session.config()?;
    let listed = text.variables(&Variables::new(&config))?;
    print::print_variables(listed, format, session, print::variable_names)
}

/// Source: clusterctl v1.14 cmd/generate_provider.go; the names of variables and images are those in the file.
fn description(
    releases: &ProviderReleases,
    release: &Release<'_>,
    components: &ProviderComponents,
) -> String {
    let provider = releases.provider();
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{:<20}{value}", format!("{name}:"));
    };
    line("Name", &provider.id.name);
    line("Type", provider.id.provider_type.as_str());
    line("URL", &repository_base_url(&provider.url));
    line("Version", release.version());
    line("File", releases.repository().components_file());
    line("TargetNamespace", &components.target_namespace);
    add_list(&mut text, "Variables", components.variables.iter().map(|variable| variable.name.as_str()));
    add_list(&mut text, "Images", components.images.iter().map(String::as_str));
    text.push('\n');
    text
}

fn add_list<'a>(text: &mut String, name: &str, items: impl Iterator<Item = &'a str>) {
    for (index, item) in items.enumerate() {
        if index == 0 {
            let _ = writeln!(text, "{name}:");
        }
        let _ = writeln!(text, "  - {item}");
    }
}

fn repository_base_url(url: &str) -> String {
    let mut parts: Vec<&str> = url.rsplitn(3, '/').collect();
    match parts.pop() {
        Some(base) if parts.len() == 2 => format!("{base}/"),
        _ => url.to_owned(),
    }
}
