//! The install of real providers: large definitions above all.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use manifest::{Limits, Object, envsubst::Template, read_stream};
use serde_json::Value;

use crate::client::{Client, Server};

/// The newest release of each provider in a folder, object by object.
pub(crate) fn read(folder: &Path) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for provider in sorted(folder)? {
        let Some(release) = sorted(&provider)?.pop() else { continue };
        for file in sorted(&release)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name == "cert-manager.yaml" || name.ends_with("components.yaml") {
                let text = fs::read_to_string(&file)?;
                let text = Template::parse(&text)?.render(&mut |_| Some("".into()))?;
                let stream = read_stream(text.as_bytes(), &Limits::default());
                objects.extend(stream.with_context(|| file.display().to_string())?.objects);
            }
        }
    }
    // Nothing answers for the webhooks.
    objects.retain(|object| {
        !object.kind().ends_with("WebhookConfiguration") && object.group() != "cert-manager.io"
    });
    Ok(objects)
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Applies the objects one after the other.
pub(crate) async fn install(server: &Server, objects: &[Object]) -> Result<Duration> {
    let mut client = server.client().await?;
    let mut known = HashMap::new();
    let bodies = objects.iter().map(|object| serde_json::to_vec(object.as_map()).map(Bytes::from));
    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
    let begin = Instant::now();
    for (object, body) in objects.iter().zip(bodies) {
        let path = path(&mut client, object, &mut known).await?;
        client.apply(&path, body).await?;
    }
    Ok(begin.elapsed())
}

/// Where an object is, as discovery tells.
async fn path(client: &mut Client, object: &Object, known: &mut HashMap<String, Value>) -> Result<String> {
    let version = object.api_version();
    let root = if object.group().is_empty() { format!("/api/{version}") } else { format!("/apis/{version}") };
    if !known.contains_key(version) {
        let resources: Value = serde_json::from_slice(&client.get(&root).await?)?;
        known.insert(version.to_owned(), resources);
    }
    let resources = known[version]["resources"].as_array().context("no resources")?;
    let resource = resources.iter().find(|resource| resource["kind"] == object.kind());
    let resource = resource.with_context(|| format!("{version} has no {}", object.kind()))?;
    let plural = resource["name"].as_str().unwrap_or_default();
    Ok(match object.namespace() {
        namespace if resource["namespaced"] == true => {
            format!("{root}/namespaces/{namespace}/{plural}/{}", object.name())
        }
        _ => format!("{root}/{plural}/{}", object.name()),
    })
}
