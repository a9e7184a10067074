use std::error::Error;

use provider::{
    ClusterTemplateError, ComponentsError, LayerError, MissingValues, ReleaseError, UnusableVersion,
    config::{ConfigError, UnknownProvider},
};

use super::rules::{as_error, one_of};

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(error) = as_error::<UnknownProvider>(error) {
        return unknown_provider(error);
    }
    if let Some(error) = as_error::<MissingValues>(error) {
        return missing_values(error);
    }
    if let Some(LayerError::Build { hints, .. }) = as_error::<LayerError>(error) {
        return hints.clone();
    }
    let one = as_error::<ConfigError>(error)
        .and_then(configuration)
        .or_else(|| as_error::<ReleaseError>(error).and_then(release))
        .or_else(|| as_error::<UnusableVersion>(error).and_then(unusable_version))
        .or_else(|| as_error::<ComponentsError>(error).and_then(components))
        .or_else(|| as_error::<ClusterTemplateError>(error).and_then(cluster_template));
    one.into_iter().collect()
}

fn missing_values(error: &MissingValues) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for value in error.values.iter().filter(|value| !value.near.is_empty()) {
        hints.push(format!("{} is set: is `{}` meant by it?", one_of(&value.near), value.name));
    }
    let names: Vec<&str> = error.values.iter().map(|value| value.name.as_str()).collect();
    if names.contains(&"KUBERNETES_VERSION") {
        hints.push("give the Kubernetes version with `--kubernetes-version v1.35.0`".to_owned());
    }
    let others: Vec<&str> = names.into_iter().filter(|name| *name != "KUBERNETES_VERSION").collect();
    if !others.is_empty() {
        let exported: Vec<String> = others.iter().map(|name| format!("{name}=VALUE")).collect();
        let written: Vec<String> = others.iter().map(|name| format!("`{name}: VALUE`")).collect();
        hints.push(format!(
            "set in the environment: `export {}`, or in clusterctl.yaml: {}",
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

fn release(error: &ReleaseError) -> Option<String> {
    match error {
        ReleaseError::Version { source, .. } if source.text == "latest" => {
            Some("leave the version out to get the newest release".to_owned())
        }
        ReleaseError::Version { .. } => Some("write a version as v1.2.3".to_owned()),
        _ => None,
    }
}

fn unusable_version(error: &UnusableVersion) -> Option<String> {
    match error {
        UnusableVersion::UnknownSeries { provider, known, .. } => known.last().map(|series| {
            let (flag, name) = (provider.provider_type.flag(), &provider.name);
            format!("take a release of a listed series, as `--{flag} {name}:v{series}.0`, or ask its authors to list this one")
        }),
        UnusableVersion::Contract { provider, newest_fitting, .. } => newest_fitting.as_ref().map(|series| {
            let (flag, name) = (provider.provider_type.flag(), &provider.name);
            format!("its series {series} fits: take a release of it with `--{flag} {name}:v{series}.0`")
        }),
    }
}

fn components(error: &ComponentsError) -> Option<String> {
    match error {
        ComponentsError::NoTargetNamespace { .. } => Some("give it with `--target-namespace`".to_owned()),
        _ => None,
    }
}

fn cluster_template(error: &ClusterTemplateError) -> Option<String> {
    match error {
        ClusterTemplateError::AlreadyExists { object, class } => {
            Some(format!("delete {object}, or apply ClusterClass `{class}` yourself first"))
        }
        _ => None,
    }
}

fn unknown_provider(error: &UnknownProvider) -> Vec<String> {
    let mut hints = Vec::new();
    if !error.near.is_empty() {
        hints.push(format!("did you mean {}?", one_of(&error.near)));
    }
    for other in &error.other_types {
        hints.push(format!("it is known as {other}: use `--{} {}`", other.flag(), error.name));
    }
    if hints.is_empty() {
        let (name, flag) = (&error.name, error.provider_type.flag());
        hints.push("`capstan config repositories` lists the providers".to_owned());
        hints.push(format!("add your own with `capstan provider add {name} --type {flag} --url URL`"));
    }
    hints
}

fn configuration(error: &ConfigError) -> Option<String> {
    match error {
        ConfigError::Providers { .. } => {
            Some("correct or remove the entry; until then no provider can be used".to_owned())
        }
        ConfigError::Undecodable { .. }
        | ConfigError::Shape { .. }
        | ConfigError::Patches { .. }
        | ConfigError::Substitution { .. } => None,
    }
}
