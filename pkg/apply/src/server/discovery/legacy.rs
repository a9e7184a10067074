//! Discovery group by group, for servers before 1.27.

use bytes::Bytes;
use futures::future::try_join_all;
use serde::Deserialize;

use crate::{ApiError, ApiKind, ServedKinds, Server, server::call::ApiCall};

/// The answer of `/api` or `/apis`.
#[derive(Debug, Deserialize)]
struct Roots {
    #[serde(default)]
    versions: Vec<String>,
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: String,
    #[serde(default)]
    versions: Vec<GroupVersion>,
    preferred_version: Option<GroupVersion>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
struct GroupVersion {
    version: String,
}

#[derive(Debug, Deserialize)]
struct Resources {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

/// Adds the kinds of one of the two roots; all versions are requested concurrently.
pub(super) async fn add(
    kinds: &mut ServedKinds,
    server: &Server,
    call: &ApiCall,
    answer: &Bytes,
) -> Result<(), ApiError> {
    let roots: Roots = server.parse(call, answer)?;
    let requests = group_versions(roots).into_iter().map(|(group, version)| async move {
        let resources = get_resources(server, &group, &version).await?;
        Ok::<_, ApiError>((group, version, resources))
    });
    for (group, version, resources) in try_join_all(requests).await? {
        let Some(resources) = resources else {
            kinds.add_unavailable(format!("{group}/{version}"));
            continue;
        };
        // Names with a `/` are names of subresources.
        for resource in resources.resources.into_iter().filter(|resource| !resource.name.contains('/')) {
            kinds.add(ApiKind {
                group: group.clone(),
                version: version.clone(),
                kind: resource.kind,
                plural: resource.name,
                namespaced: resource.namespaced,
                verbs: resource.verbs,
            });
        }
    }
    Ok(())
}

/// Returns groups and versions, the preferred version of each group first.
fn group_versions(roots: Roots) -> Vec<(String, String)> {
    let mut places: Vec<_> = roots.versions.into_iter().map(|version| (String::new(), version)).collect();
    for Group { name, versions, preferred_version } in roots.groups {
        let others = versions.into_iter().filter(|version| Some(version) != preferred_version.as_ref());
        let others: Vec<_> = others.collect();
        places.extend(
            preferred_version.into_iter().chain(others).map(|version| (name.clone(), version.version)),
        );
    }
    places
}

/// Requests the resources of one version. None if the API behind it does not answer.
async fn get_resources(server: &Server, group: &str, version: &str) -> Result<Option<Resources>, ApiError> {
    let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
    let call = ApiCall::get(format!("list the kinds of `{group}/{version}`"), format!("{root}/{version}"));
    let answer = match server.send_once(&call).await {
        Err(error) if matches!(error.code(), Some(404 | 500..)) => return Ok(None),
        Err(error) if error.is_temporary() => server.send(&call).await?,
        answer => answer?,
    };
    server.parse(&call, &answer).map(Some)
}
