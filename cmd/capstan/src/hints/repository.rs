use std::error::Error;

use repository::Error as RepositoryError;
use transport::Error as TransportError;

use super::{
    hosts,
    rules::{as_error, one_of},
};

/// So many names of a list are shown; the rest is counted.
const SHOWN: usize = 5;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(error) = as_error::<TransportError>(error) {
        return of_transport(error);
    }
    let Some(error) = as_error::<RepositoryError>(error) else { return Vec::new() };
    match error {
        RepositoryError::NoRelease { version, available, .. } => {
            let same = available
                .iter()
                .find(|known| known.trim_start_matches('v') == version.trim_start_matches('v'));
            match same {
                Some(same) => vec![format!("did you mean `{same}`?")],
                None => newest(available).into_iter().collect(),
            }
        }
        RepositoryError::NoFile { file, available, looked_at, .. } => {
            missing_file(file, available, looked_at)
        }
        RepositoryError::CannotList { place } => cannot_list(place),
        RepositoryError::NoVersions { ignored, .. } if !ignored.is_empty() => {
            vec![format!("there is {}, which is no semantic version", one_of(first(ignored)))]
        }
        RepositoryError::EmptySeries { listed_by, .. } => {
            vec![format!("name a version behind a colon, such as `{listed_by}`")]
        }
        RepositoryError::NotAsLocked(refused) => super::lock::hints(refused),
        RepositoryError::Oci(error) => super::registry::hint(error).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn of_transport(error: &TransportError) -> Vec<String> {
    match error {
        TransportError::Request(request) => hosts::hints(request),
        TransportError::Offline { .. } | TransportError::DamagedOffline { .. } => vec![
            "run the same once with a connection and without `--offline` or `CAPSTAN_OFFLINE`, or name a local \
             repository in clusterctl.yaml"
                .to_owned(),
        ],
        TransportError::NewerStore { .. } | TransportError::ForeignStore { .. } => {
            vec!["name a folder of its own with `CAPSTAN_CACHE_DIR`, or under `cache` in clusterctl.yaml".to_owned()]
        }
        TransportError::Size { .. } => vec![
            "the registry, or something on the way to it, changed the content; nothing of it was used".to_owned(),
        ],
        TransportError::CaFile { named_by, .. } => {
            vec![format!("{named_by} takes a file of PEM certificates")]
        }
        TransportError::CredentialHelper { named_by, .. } => vec![format!(
            "`{}` names the program; log in again, or set `username` and `password` under `hosts` in clusterctl.yaml",
            named_by.display()
        )],
        TransportError::CredentialFile { .. } => {
            vec!["log in again with `docker login` or `podman login`, which write it anew".to_owned()]
        }
        TransportError::Digest { .. } => {
            vec!["nothing of it was used; find out whether the host, or something on the way to it, changed it".to_owned()]
        }
        _ => Vec::new(),
    }
}

fn cannot_list(place: &str) -> Vec<String> {
    let mut hints = vec!["name a version behind a colon, such as `aws:v2.9.0`".to_owned()];
    if !place.contains("/api/v4/") {
        let index = r#"{"versions": {"v2.9.0": {}}}"#;
        hints.push(format!("or put a list beside the versions: {place}/index.json with `{index}`"));
    }
    hints
}

fn first(names: &[String]) -> &[String] {
    &names[..names.len().min(SHOWN)]
}

fn newest(available: &[String]) -> Option<String> {
    let newest: Vec<&String> = available.iter().rev().take(SHOWN).collect();
    (!newest.is_empty()).then(|| {
        let more = available.len().saturating_sub(SHOWN);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the newest releases are {}{rest}", listed(&newest))
    })
}

fn listed(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

fn missing_file(file: &str, available: &[String], looked_at: &str) -> Vec<String> {
    let near = api::near_names(file, available.iter().map(String::as_str));
    if !near.is_empty() {
        return vec![format!("did you mean {}?", one_of(&near))];
    }
    let mut hints = vec![format!("looked at {looked_at}")];
    if provider::flavor_of_file(file).is_some() {
        let of_release = available.iter().filter_map(|name| provider::flavor_of_file(name));
        let flavors: Vec<&str> = of_release.filter(|flavor| !flavor.is_empty()).collect();
        if !flavors.is_empty() {
            hints.push(format!("the release has the flavors {}: name one with `--flavor`", listed(&flavors)));
        }
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_is_not_there_is_answered_with_those_that_are() {
        let missing = |version: &str| {
            let available: Vec<String> = (0..8).map(|minor| format!("v1.{minor}.0")).collect();
            hints(&RepositoryError::NoRelease { version: version.into(), place: "/srv".into(), available })
        };
        assert_eq!(missing("1.3.0"), ["did you mean `v1.3.0`?"]);
        assert_eq!(
            missing("v2.0.0"),
            ["the newest releases are `v1.7.0`, `v1.6.0`, `v1.5.0`, `v1.4.0`, `v1.3.0` and 3 more"]
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_answered_with_near_names_or_the_place() {
        let missing = |available: &[&str]| {
            hints(&RepositoryError::NoFile {
                file: "metadata.yml".into(),
                version: "v1.0.0".into(),
                place: "/srv".into(),
                looked_at: "/srv/v1.0.0/metadata.yml".into(),
                available: available.iter().map(ToString::to_string).collect(),
            })
        };
        assert_eq!(missing(&["metadata.yaml"]), ["did you mean `metadata.yaml`?"]);
        assert_eq!(missing(&[]), ["looked at /srv/v1.0.0/metadata.yml"]);
    }

    #[test]
    fn a_template_that_is_not_there_is_answered_with_the_flavors_there_are() {
        let available = ["cluster-template-development.yaml", "cluster-template-in-memory.yaml", "x.yaml"];
        let available = available.map(str::to_owned);
        let hints = missing_file("cluster-template.yaml", &available, "/srv/cluster-template.yaml");
        assert_eq!(
            hints,
            [
                "looked at /srv/cluster-template.yaml",
                "the release has the flavors `development`, `in-memory`: name one with `--flavor`"
            ]
        );
    }
}
