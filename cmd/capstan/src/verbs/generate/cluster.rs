use std::{borrow::Cow, fmt::Write as _};

use api::{ProviderId, ProviderType, output::Variable};
use inventory::ManagementCluster;
use provider::{
    ClusterRequest, ClusterTemplate, ClusterTemplateInput, ConfigMapSource, DefaultReleaseError, Overlay,
    ProviderReleases, TemplateText,
    config::{Config, Variables},
    default_infrastructure, installed_version, render_cluster_template,
};

use super::{print, yaml::read_template};
use crate::{
    Failure, WithContext as _,
    failure::Kind,
    kustomizations::KustomizationOverlay,
    session::Session,
    settings::{self, KubeContext, KubeFlags, KubeconfigError, OutputFormat, PaceFlags},
    ui::Messages,
    verbs::{provenance::ProvenanceFlag, provider_flags},
};

/// Generate the objects of a workload cluster
///
/// Reads the template from a provider release, a file, a URL, a ConfigMap or standard input. The output includes the
/// ClusterClasses that a provider template uses.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  # The default template of a provider
  {bin} generate cluster demo --infrastructure docker:v1.14.0 -n default \\
    --kubernetes-version v1.35.0

  # The variables of a flavor
  {bin} generate cluster demo -i aws:v2.11.1 --flavor eks -n default \\
    --list-variables")]
pub(crate) struct GenerateCluster {
    /// Workload cluster name
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    kube: KubeFlags,

    /// Its namespace [default: that of the context]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    target_namespace: Option<String>,

    /// Kubernetes version [default: KUBERNETES_VERSION]
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,

    /// Number of control plane machines [default: CONTROL_PLANE_MACHINE_COUNT, else 1]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    control_plane_machine_count: Option<i64>,

    /// Workers [default: WORKER_MACHINE_COUNT, else 0]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    worker_machine_count: Option<i64>,

    /// Provider of the template, such as docker:v1.14.0
    #[arg(short, long, value_name = "NAME:VERSION")]
    infrastructure: Option<String>,

    /// Flavor of the template [default: none]
    #[arg(short, long, value_name = "FLAVOR")]
    flavor: Option<String>,

    /// Path or URL of a template, or `-` for stdin
    #[arg(long, value_name = "PATH|URL")]
    from: Option<String>,

    /// ConfigMap that contains the template
    #[arg(long, value_name = "NAME")]
    from_config_map: Option<String>,

    /// Its namespace [default: that of the context]
    #[arg(long, value_name = "NAMESPACE")]
    from_config_map_namespace: Option<String>,

    /// Key of the ConfigMap [default: template]
    #[arg(long, value_name = "KEY")]
    from_config_map_key: Option<String>,

    /// Kustomization to apply to all objects
    #[arg(long, value_name = "DIR")]
    kustomization: Option<String>,

    #[command(flatten)]
    provenance: ProvenanceFlag,

    /// List the variables of the template instead
    #[arg(long)]
    list_variables: bool,

    /// Output format: text (YAML documents), yaml or json (one List)
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// File to write [default: standard output]
    #[arg(long, value_name = "PATH")]
    write_to: Option<String>,
}

enum TemplateSource<'a> {
    Repository,
    Url(&'a str),
    ConfigMap,
}

pub(super) fn run(args: &GenerateCluster, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let provenance = args.provenance.parse(format)?;
    let source = args.source()?;
    let context = args.kube.context(session.environment());
    let context = match context {
        // Only templates of a release need the classes of the cluster, so only they require the named cluster.
        Err(error) if args.kube.is_given() && matches!(source, TemplateSource::Repository) => {
            return Err(error.into());
        }
        context => context,
    };
    let request = args.request(context.as_ref())?;
    let config = session.config()?;
    let mut variables = Variables::new(&config);
    request.set_variables(&mut variables).with_context(|| "cannot generate a workload cluster".to_owned())?;

    let releases;
    let (template, release) = match source {
        TemplateSource::Url(url) => (read_template(url, session)?, None),
        TemplateSource::ConfigMap => (args.read_config_map(context.as_ref().ok(), session)?, None),
        TemplateSource::Repository => {
            let (id, version) = args.provider(session)?;
            releases = session.provider_releases(&id)?;
            let (template, release) = read_flavor(&releases, &version, args.flavor.as_deref(), session)?;
            (template, Some(release))
        }
    };
    if args.list_variables {
        return list_variables(args, &template, &variables, format, session);
    }
    let layer = args.kustomization.as_deref().filter(|place| !place.is_empty());
    let layer = layer.map(|place| KustomizationOverlay::of_template(place, session)).transpose()?;
    let input = ClusterTemplateInput {
        template: &template,
        variables: &variables,
        target_namespace: &request.target_namespace,
        release: release.as_ref(),
        overlay: layer.as_ref().map(|layer| layer as &dyn Overlay),
        cluster: None,
        trace: provenance.trace(),
    };
    let rendered = render(args, &input, context.ok().as_ref(), session)
        .with_context(|| format!("cannot generate cluster `{}`", args.name))?;
    for warning in &rendered.warnings {
        session.messages().warning(warning);
    }
    print::print_objects(rendered.objects, format, provenance, args.write_to.as_deref(), session)
}

/// Returns a hint with the flags to choose from. Naming one of the choices is enough.
fn provider_hint(error: &DefaultReleaseError) -> Option<String> {
    let choices: Vec<String> = match error {
        DefaultReleaseError::SeveralProviders(names) => names.iter().cloned().collect(),
        DefaultReleaseError::SeveralVersions { provider, versions } => {
            versions.iter().map(|version| format!("{}:{version}", provider.name)).collect()
        }
        DefaultReleaseError::ManagementCluster(_)
        | DefaultReleaseError::NotInstalled(_)
        | DefaultReleaseError::ProviderNotInstalled(_) => {
            return None;
        }
    };
    let flags: Vec<String> = choices.iter().map(|choice| format!("`--infrastructure {choice}`")).collect();
    Some(format!("add the provider: {}", flags.join(" or ")))
}

impl GenerateCluster {
    fn source(&self) -> Result<TemplateSource<'_>, Failure> {
        let given = |flag: &Option<String>| flag.as_deref().is_some_and(|text| !text.is_empty());
        let url = self.from.as_deref().filter(|text| !text.is_empty());
        let config_map = [&self.from_config_map, &self.from_config_map_namespace, &self.from_config_map_key]
            .into_iter()
            .any(given);
        let repository = given(&self.infrastructure) || given(&self.flavor);
        if [repository, url.is_some(), config_map].into_iter().filter(|given| *given).count() > 1 {
            return Err(Failure::user("several template sources are given").hint(
                "use only one of `--infrastructure` with `--flavor`, `--from`, or `--from-config-map`",
            ));
        }
        Ok(match url {
            Some(url) => TemplateSource::Url(url),
            None if config_map => TemplateSource::ConfigMap,
            None => TemplateSource::Repository,
        })
    }

    /// Returns the infrastructure provider and version: the named ones, or else the installed ones.
    fn provider(&self, session: &Session) -> Result<(ProviderId, String), Failure> {
        let named = self.infrastructure.as_deref().filter(|text| !text.is_empty());
        let named = named.map(|named| provider_flags::parse_provider(ProviderType::Infrastructure, named));
        let named = match named.transpose()? {
            Some((id, Some(version))) => return Ok((id, version)),
            Some((id, None)) => {
                // A name without a configuration is wrong whatever is installed.
                session.config()?.provider(&id)??;
                Some(id)
            }
            None => None,
        };
        let hint = match &named {
            None => "add the provider and version: `--infrastructure docker:v1.14.0`".to_owned(),
            Some(id) => format!("add the version: `--infrastructure {}:VERSION`", id.name),
        };
        let cluster = self
            .cluster("detecting the installed provider", session)
            .map_err(|failure| failure.hint(&hint))?;
        let installed = async {
            let id = match named {
                Some(id) => id,
                None => {
                    ProviderId::new(ProviderType::Infrastructure, default_infrastructure(&cluster).await?)
                }
            };
            let version = installed_version(&cluster, &id).await?;
            Ok::<_, DefaultReleaseError>((id, version))
        };
        let reported = async {
            installed.await.map_err(|error| {
                let hint = provider_hint(&error).unwrap_or(hint);
                Failure::from(error).hint(hint)
            })
        };
        session.block_on(reported)
    }

    /// Connects to the management cluster for data that only the cluster has.
    fn cluster(&self, needed_for: &str, session: &Session) -> Result<ManagementCluster, Failure> {
        settings::management_cluster(&self.kube, &PaceFlags::default(), session)
            .with_context(|| format!("{needed_for} needs a management cluster"))
    }

    fn read_config_map(
        &self,
        context: Option<&KubeContext>,
        session: &Session,
    ) -> Result<TemplateText, Failure> {
        let given = |flag: &Option<String>| flag.clone().filter(|text| !text.is_empty());
        let name = given(&self.from_config_map).ok_or_else(|| {
            Failure::user("the name of the ConfigMap is missing").hint("add it with `--from-config-map NAME`")
        })?;
        let of_context = || context.and_then(|context| context.namespace.clone());
        let source = ConfigMapSource {
            namespace: given(&self.from_config_map_namespace)
                .or_else(of_context)
                .unwrap_or_else(|| "default".to_owned()),
            key: given(&self.from_config_map_key).unwrap_or_else(|| ConfigMapSource::DEFAULT_KEY.to_owned()),
            name,
        };
        let cluster = self.cluster("reading a template from a ConfigMap", session)?;
        session.block_on(source.read(&cluster))
    }

    fn request(&self, context: Result<&KubeContext, &KubeconfigError>) -> Result<ClusterRequest, Failure> {
        let given = self.target_namespace.clone().filter(|text| !text.is_empty());
        let target_namespace = match (given, context) {
            (Some(namespace), _) => namespace,
            (None, Ok(context)) => context.namespace.clone().unwrap_or_else(|| "default".to_owned()),
            (None, Err(error)) => {
                return Err(Failure::user("cannot choose the namespace of the workload cluster")
                    .because(error)
                    .hint("add `--target-namespace NAMESPACE`"));
            }
        };
        Ok(ClusterRequest {
            name: self.name.clone(),
            target_namespace,
            kubernetes_version: self.kubernetes_version.clone().filter(|text| !text.is_empty()),
            control_plane_machine_count: self.control_plane_machine_count,
            worker_machine_count: self.worker_machine_count,
        })
    }
}

fn read_flavor<'r>(
    releases: &'r ProviderReleases,
    version: &str,
    flavor: Option<&str>,
    session: &Session,
) -> Result<(TemplateText, provider::Release<'r>), Failure> {
    let (release, template) = session.block_on(async {
        let release = releases.resolve_release(version).await?;
        let template = release.cluster_template(flavor).await?;
        Ok::<_, provider::ReleaseError>((release, template))
    })?;
    Ok((template, release))
}

/// Renders the template and marks the classes that exist on the management cluster, if the cluster is reachable.
/// Source: clusterctl v1.14 client/config.go: an unreachable cluster has no classes.
fn render(
    args: &GenerateCluster,
    input: &ClusterTemplateInput<'_>,
    context: Option<&KubeContext>,
    session: &Session,
) -> Result<ClusterTemplate, Failure> {
    let rendered = session.block_on(render_cluster_template(input))?;
    let Some(context) = context.filter(|_| !rendered.added_classes.is_empty()) else { return Ok(rendered) };
    let near = settings::optional_management_cluster(&args.kube, session).and_then(|cluster| {
        session.block_on(async { cluster.server().version().await.map(|_| ()) })?;
        Ok(cluster)
    });
    match near {
        Ok(cluster) => {
            let input = ClusterTemplateInput { cluster: Some(&cluster), ..*input };
            session.block_on(render_cluster_template(&input))
        }
        Err(failure) if failure.kind() == Kind::Interrupted => Err(failure),
        Err(failure) => {
            warn_about_classes(context, &rendered.added_classes, &failure, session.messages());
            Ok(rendered)
        }
    }
}

fn warn_about_classes(
    context: &KubeContext,
    classes: &[provider::ClusterClassName],
    failure: &Failure,
    messages: &Messages,
) {
    for class in classes {
        messages.warning(format!(
            "the output includes ClusterClass `{}/{}`, which may already exist in context `{}`: {}",
            class.namespace,
            class.name,
            context.name,
            failure.message()
        ));
    }
}

fn list_variables(
    args: &GenerateCluster,
    template: &TemplateText,
    variables: &Variables<'_>,
    format: OutputFormat,
    session: &mut Session,
) -> Result<(), Failure> {
    let listed = template.variables(variables)?;
    print::print_variables(listed, format, session, |listed| {
        required_and_optional(args, listed, variables.config())
    })
}

/// Returns the two lists of clusterctl. Variables with a special meaning show their effective value.
/// Source: clusterctl v1.14 cmd/generate_cluster.go (printVariablesOutput), which does not show values of the
/// configuration file either.
fn required_and_optional(args: &GenerateCluster, listed: &[Variable], config: &Config) -> String {
    let shown = |variable: &Variable| shown_default(args, variable, config);
    let optional: Vec<(&str, String)> =
        listed.iter().filter_map(|variable| Some((variable.name.as_str(), shown(variable)?))).collect();
    let is_optional = |name: &str| optional.iter().any(|(known, _)| *known == name);
    let required: Vec<&str> =
        listed.iter().map(|variable| variable.name.as_str()).filter(|name| !is_optional(name)).collect();
    let mut text = String::new();
    if !required.is_empty() {
        text.push_str("Required Variables:\n");
        for name in required {
            let _ = writeln!(text, "  - {name}");
        }
    }
    if !optional.is_empty() {
        text.push_str("\nOptional Variables:\n");
        let width = optional.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, value) in &optional {
            let _ = writeln!(text, "  - {name:<width$}  (defaults to {value})");
        }
    }
    text.push('\n');
    text
}

fn shown_default(args: &GenerateCluster, variable: &Variable, config: &Config) -> Option<String> {
    let environment = |name: &str| config.environment().get(name).map(str::to_owned);
    let count = |flag: Option<i64>, name: &str, default: &str| {
        Some(
            flag.map(|count| count.to_string())
                .or_else(|| environment(name))
                .unwrap_or_else(|| default.to_owned()),
        )
    };
    let from_template = variable.default.as_deref().map(|default| {
        let quoted = default.is_empty() || default.starts_with('"');
        if quoted { Cow::Borrowed(default) } else { Cow::Owned(print::go_quoted(default)) }.into_owned()
    });
    match variable.name.as_str() {
        "CLUSTER_NAME" => Some(args.name.clone()),
        "NAMESPACE" => Some(
            args.target_namespace
                .clone()
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| "current Namespace in the KubeConfig file".to_owned()),
        ),
        name @ "CONTROL_PLANE_MACHINE_COUNT" => count(args.control_plane_machine_count, name, "1"),
        name @ "WORKER_MACHINE_COUNT" => count(args.worker_machine_count, name, "0"),
        name @ "KUBERNETES_VERSION" => args
            .kubernetes_version
            .clone()
            .filter(|text| !text.is_empty())
            .or_else(|| environment(name))
            .or(from_template),
        _ => from_template,
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn an_ambiguous_provider_gets_a_hint_with_every_choice() {
        let texts = |texts: [&str; 2]| texts.map(str::to_owned).into();
        let several = DefaultReleaseError::SeveralProviders(texts(["aws", "docker"]));
        assert_data_eq!(
            provider_hint(&several).unwrap(),
            str!["add the provider: `--infrastructure aws` or `--infrastructure docker`"]
        );
        let provider = ProviderId::new(ProviderType::Infrastructure, "aws");
        let versions =
            DefaultReleaseError::SeveralVersions { provider, versions: texts(["v1.0.0", "v1.1.0"]) };
        assert_data_eq!(
            provider_hint(&versions).unwrap(),
            str!["add the provider: `--infrastructure aws:v1.0.0` or `--infrastructure aws:v1.1.0`"]
        );
        assert_eq!(provider_hint(&DefaultReleaseError::NotInstalled(ProviderType::Infrastructure)), None);
    }
}
