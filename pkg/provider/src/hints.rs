//! Next steps after a provider could not be rendered.

use api::{ErrorExplanation, Explain, VersionError, one_of, output::ErrorKind, similar_names};
use repository::Error as RepositoryError;

use crate::{
    ClusterTemplateError, ComponentsError, DefaultReleaseError, InvalidClusterRequest,
    ManagementClusterError, MetadataError, MissingValues, OverlayError, ReleaseError, RenderTextError,
    UnusableVersion,
    config::{ConfigError, UnknownProvider},
    flavor_of_file,
    release_contents::ReleaseContentsError,
};

impl Explain for ConfigError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let explanation = match self {
            Self::Providers { .. } => {
                ErrorExplanation::hint("correct or remove the entry; one invalid entry blocks all providers")
            }
            Self::Undecodable { .. }
            | Self::Shape { .. }
            | Self::Patches { .. }
            | Self::Substitution { .. } => ErrorExplanation::default(),
        };
        explanation.with_kind(ErrorKind::User)
    }
}

impl Explain for UnknownProvider {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(unknown_provider(self)).with_kind(ErrorKind::User)
    }
}

impl Explain for MissingValues {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(missing_values(self)).with_kind(ErrorKind::User)
    }
}

impl Explain for RenderTextError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Missing(missing) => ErrorExplanation::cause(missing),
            Self::NotText { .. } | Self::Parse { .. } | Self::Render { .. } | Self::Documents { .. } => {
                ErrorExplanation::default()
            }
        }
    }
}

impl Explain for ReleaseError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Repository { source, .. } => ErrorExplanation::cause(source),
            Self::Read { source, .. } => {
                let explanation = ErrorExplanation::cause(source);
                match available_flavors(source) {
                    Some(hint) => explanation.with_last_hint(hint),
                    None => explanation,
                }
            }
            Self::Version { source, .. } => {
                ErrorExplanation::hint(version_form(source)).with_kind(ErrorKind::User)
            }
            Self::Text { source, .. } => ErrorExplanation::cause(source),
            Self::UnusableVersion { source, .. } => ErrorExplanation::cause(source),
            Self::Metadata { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for UnusableVersion {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(match self {
            Self::UnknownSeries { provider, known, .. } => known.last().map(|series| {
                let (flag, name) = (provider.provider_type.flag(), &provider.name);
                format!("use a release of a listed series, such as `--{flag} {name}:v{series}.0`")
            }),
            Self::Contract { provider, newest_fitting, .. } => newest_fitting.as_ref().map(|series| {
                let (flag, name) = (provider.provider_type.flag(), &provider.name);
                format!(
                    "use a release of the compatible series {series}, such as `--{flag} {name}:v{series}.0`"
                )
            }),
        })
    }
}

impl Explain for ComponentsError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Text(inner) => inner.explain(),
            Self::Overlay { source, .. } => ErrorExplanation::cause(source),
            Self::MissingTargetNamespace { .. } => {
                ErrorExplanation::hint("set the target namespace with `--target-namespace NAMESPACE`")
            }
            Self::Images { .. }
            | Self::Typed { .. }
            | Self::SeveralNamespaces { .. }
            | Self::Namespace { .. }
            | Self::Customisation { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for ClusterTemplateError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Text(inner) => inner.explain(),
            Self::ManagementCluster(inner) => inner.explain(),
            Self::Overlay { source, .. } => ErrorExplanation::cause(source),
            Self::ClusterClass { source, .. } => ErrorExplanation::cause(source),
            Self::AlreadyExists { object, class } => {
                ErrorExplanation::hint(format!("delete {object}, or apply ClusterClass `{class}` first"))
            }
            Self::Namespace { .. } | Self::Typed { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for OverlayError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Build { hints, .. } => ErrorExplanation::hints(hints),
            Self::LockMismatch { source, .. } => ErrorExplanation::cause(source),
            Self::RemovesEverything { .. } | Self::RemovesDefinitions { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for ReleaseContentsError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Release(inner) => inner.explain(),
            Self::Config(inner) => inner.explain(),
            Self::Components { source, .. } => ErrorExplanation::cause(source),
        }
    }
}

impl Explain for DefaultReleaseError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::ManagementCluster(inner) => inner.explain(),
            Self::NotInstalled(_)
            | Self::SeveralProviders(_)
            | Self::ProviderNotInstalled(_)
            | Self::SeveralVersions { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for ManagementClusterError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(&self.hints)
    }
}

impl Explain for InvalidClusterRequest {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::KubernetesVersion(_) => ErrorExplanation::hint("write the version in the form v1.35.0"),
            _ => ErrorExplanation::default(),
        }
    }
}

impl Explain for MetadataError {}

fn version_form(invalid: &VersionError) -> &'static str {
    match invalid.text.as_str() {
        "latest" => "omit the version to use the newest release",
        _ => "write the version in the form v1.2.3",
    }
}

/// Returns a hint with the flavors of a release that lacks the requested cluster template.
fn available_flavors(error: &RepositoryError) -> Option<String> {
    let RepositoryError::UnknownFile { file, available, .. } = error else { return None };
    flavor_of_file(file)?;
    if !similar_names(file, available.iter().map(String::as_str)).is_empty() {
        return None;
    }
    let of_release = available.iter().filter_map(|name| flavor_of_file(name));
    let flavors: Vec<String> =
        of_release.filter(|flavor| !flavor.is_empty()).map(|flavor| format!("`{flavor}`")).collect();
    (!flavors.is_empty())
        .then(|| format!("select a flavor of the release with `--flavor`: {}", flavors.join(", ")))
}

fn missing_values(error: &MissingValues) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for value in error.values.iter().filter(|value| !value.suggestions.is_empty()) {
        hints.push(format!("{} is set; did you mean `{}`?", one_of(&value.suggestions), value.name));
    }
    let names: Vec<&str> = error.values.iter().map(|value| value.name.as_str()).collect();
    if names.contains(&"KUBERNETES_VERSION") {
        hints.push("set the Kubernetes version with `--kubernetes-version v1.35.0`".to_owned());
    }
    let others: Vec<&str> = names.into_iter().filter(|name| *name != "KUBERNETES_VERSION").collect();
    if !others.is_empty() {
        let exported: Vec<String> = others.iter().map(|name| format!("{name}=VALUE")).collect();
        let written: Vec<String> = others.iter().map(|name| format!("`{name}: VALUE`")).collect();
        hints.push(format!(
            "set the missing variables with `export {}`, or in clusterctl.yaml: {}",
            exported.join(" "),
            written.join(", ")
        ));
        hints.push(
            "list all variables with their defaults: `capstan generate cluster NAME --list-variables`, or for a provider \
             `capstan generate provider --describe`"
                .to_owned(),
        );
    }
    hints
}

fn unknown_provider(error: &UnknownProvider) -> Vec<String> {
    let mut hints = Vec::new();
    if !error.suggestions.is_empty() {
        hints.push(format!("did you mean {}?", one_of(&error.suggestions)));
    }
    for other in &error.other_types {
        hints.push(format!(
            "a provider of type {other} has this name: use `--{} {}`",
            other.flag(),
            error.name
        ));
    }
    if hints.is_empty() {
        let (name, flag) = (&error.name, error.provider_type.flag());
        hints.push("list the known providers with `capstan config repositories`".to_owned());
        hints.push(format!("add a provider with `capstan provider add {name} --type {flag} --url URL`"));
    }
    hints
}

#[cfg(test)]
mod tests {
    use api::{ProviderId, ProviderType, error_chain};
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn a_missing_template_gets_a_hint_with_the_flavors() {
        let available = ["cluster-template-development.yaml", "cluster-template-in-memory.yaml", "x.yaml"];
        let source = RepositoryError::UnknownFile {
            file: "cluster-template.yaml".to_owned(),
            version: "v1.0.0".to_owned(),
            place: "/srv".to_owned(),
            looked_at: "/srv/cluster-template.yaml".to_owned(),
            available: available.map(str::to_owned).to_vec(),
        };
        let error = ReleaseError::Read {
            file: "cluster-template.yaml".to_owned(),
            provider: ProviderId::new(ProviderType::Infrastructure, "docker"),
            version: "v1.0.0".to_owned(),
            source: Box::new(source),
        };
        assert_data_eq!(
            error_chain(&error).hints.join("\n"),
            str![[r#"
looked at /srv/cluster-template.yaml
select a flavor of the release with `--flavor`: `development`, `in-memory`
"#]]
        );
    }
}
