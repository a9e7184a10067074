//! The configuration of a site: what a bundle says of the one it was made with, and where its releases are afterwards.

use api::ProviderId;
use manifest::{Map, Value, yaml};
use provider::config::{CertManager, Config, ConfigFile, ConfigFormat, Environment};
use repository::{Bundle as Archive, BundleItem};
use serde_json::json;

use super::{CONFIG_FILE, collect::Collected, kustomization::Carried};
use crate::{Failure, Within as _};

const KUSTOMIZATION: &str = "kustomization";
const PROVIDERS: &str = "providers";
const CERT_MANAGER: &str = "cert-manager";
const IMAGES: &str = "images";
const CERT_MANAGER_FILE: &str = "cert-manager.yaml";
const REGISTRIES: &str = "registryMap";

/// The entries of what was collected, and what is said about images. Nothing else of a configuration is carried away:
/// any other key may be a secret.
pub(super) fn describe<'a>(
    collected: impl IntoIterator<Item = (&'a Collected, &'a Carried)>,
    config: &Config,
) -> String {
    let mut tree = Map::new();
    let mut providers = Vec::new();
    for (one, carried) in collected {
        let url = repository::shown_text(&one.url);
        if let Some(id) = &one.id {
            providers.push(entry(id, &url, carried.place.clone()));
        } else {
            tree.insert(CERT_MANAGER.to_owned(), json!({"url": url, "version": one.supply.version}));
        }
    }
    tree.insert(PROVIDERS.to_owned(), Value::Array(providers));
    tree.extend(config.image_sections());
    yaml::write(&Value::Object(tree))
}

fn entry(id: &ProviderId, url: &str, kustomization: Option<String>) -> Value {
    let mut entry = json!({"name": id.name, "type": id.provider_type.as_str(), "url": url});
    if let Some(place) = kustomization {
        entry[KUSTOMIZATION] = place.into();
    }
    entry
}

/// A release as it is named in a configuration.
pub(super) struct Placed<'a> {
    pub(super) label: &'a str,
    pub(super) version: &'a str,
    pub(super) components_file: &'a str,
}

impl Placed<'_> {
    pub(super) fn is_cert_manager(&self) -> bool {
        self.label == CertManager::LABEL
    }
}

/// The configuration for the releases of a bundle where `url` says they are, with these registries in place of others.
/// # Errors
/// When what the bundle says cannot be read.
pub(super) fn configuration(
    bundle: &Archive,
    url: impl Fn(&Placed<'_>) -> String,
    registries: Map<String, Value>,
) -> Result<String, Failure> {
    let config = carried(bundle)?;
    let known = config.providers()?;
    let mut tree = Map::new();
    let mut providers = Vec::new();
    for (label, version) in releases(bundle) {
        if label == CertManager::LABEL {
            let components_file = CERT_MANAGER_FILE;
            let url = url(&Placed { label, version, components_file });
            tree.insert(CERT_MANAGER.to_owned(), json!({"url": url, "version": version}));
            continue;
        }
        let found = known.iter().find(|provider| provider.id.label() == label);
        let id = &found
            .ok_or_else(|| Failure::user(format!("the configuration in the bundle does not name `{label}`")))?
            .id;
        let components_file = id.provider_type.components_file();
        let url = url(&Placed { label, version, components_file });
        providers.push(entry(id, &url, config.kustomization(id)?));
    }
    tree.insert(PROVIDERS.to_owned(), Value::Array(providers));
    let mut images = config.image_sections();
    if !registries.is_empty() {
        // The images in the registry have the names they were copied by, with the rules in place already.
        images.remove(IMAGES);
        images.insert(REGISTRIES.to_owned(), Value::Object(registries));
    }
    tree.extend(images);
    Ok(yaml::write(&Value::Object(tree)))
}

/// Labels and versions of the releases in a bundle.
pub(super) fn releases(bundle: &Archive) -> impl Iterator<Item = (&str, &str)> {
    bundle.entries().iter().filter_map(|entry| match &entry.item {
        BundleItem::Release { label, version } => Some((label.as_str(), version.as_str())),
        _ => None,
    })
}

/// The configuration in a bundle, under an environment with nothing in it.
fn carried(bundle: &Archive) -> Result<Config, Failure> {
    let bytes = bundle.setting(CONFIG_FILE)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let file = ConfigFile {
        origin: format!("{CONFIG_FILE} in the bundle"),
        folder: None,
        format: ConfigFormat::Yaml,
        text,
    };
    Config::new(Some(file), Environment::default()).within(|| "cannot use the bundle".to_owned())
}
