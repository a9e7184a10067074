//! The configuration and the kustomizations of a bundle for a closed site. Kustomizations are setting files in a
//! folder per provider.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use api::{ProviderId, shell_word};
use bundle::{Bundle as Archive, BundleItem, BundledFile, ExistingContent};
use bytes::Bytes;
use chart::VersionRange;
use kustomize::{FetchMethod, MemoryTree, RemoteEntry, TreePath};
use manifest::{Map, Value, yaml};
use provider::config::{CertManager, Config, ConfigFile, ConfigFormat};
use repository::{ChartSource, LockFile};
use serde_json::json;
use transport::{AddressOrigin, Digest};

use super::create::CollectedRelease;
use crate::{
    Environment, Failure, WithContext as _,
    kustomizations::files_read_by_overlay,
    ui::{Messages, write_file_atomically},
};

/// The name of the configuration in a bundle, and in a folder with a loaded bundle.
pub(super) const CONFIG_FILE: &str = "clusterctl.yaml";

/// The name of the image list of a bundle, next to the configuration.
pub(super) const IMAGES_FILE: &str = "images.json";

const KUSTOMIZATION: &str = "kustomization";
const PROVIDERS: &str = "providers";
const CERT_MANAGER: &str = "cert-manager";
const IMAGES: &str = "images";
const CERT_MANAGER_FILE: &str = "cert-manager.yaml";
const REGISTRIES: &str = "registryMap";

/// Returns a configuration with the collected releases and the image rules only, because other keys may be secrets.
pub(super) fn collected_configuration<'a>(
    collected: impl IntoIterator<Item = (&'a CollectedRelease, &'a BundledKustomization)>,
    config: &Config,
) -> String {
    let mut tree = Map::new();
    let mut providers = Vec::new();
    for (one, carried) in collected {
        let url = transport::address::redact_text(&one.url);
        if let Some(id) = &one.id {
            providers.push(provider_entry(id, &url, carried.folder.clone()));
        } else {
            tree.insert(CERT_MANAGER.to_owned(), json!({"url": url, "version": one.supply.version}));
        }
    }
    tree.insert(PROVIDERS.to_owned(), Value::Array(providers));
    tree.extend(config.image_sections());
    yaml::write(&Value::Object(tree))
}

fn provider_entry(id: &ProviderId, url: &str, kustomization: Option<String>) -> Value {
    let mut entry = json!({"name": id.name, "type": id.provider_type.as_str(), "url": url});
    if let Some(place) = kustomization {
        entry[KUSTOMIZATION] = place.into();
    }
    entry
}

pub(super) struct BundledRelease<'a> {
    pub(super) label: &'a str,
    pub(super) version: &'a str,
    pub(super) components_file: &'a str,
}

impl BundledRelease<'_> {
    pub(super) fn is_cert_manager(&self) -> bool {
        self.label == CertManager::LABEL
    }
}

/// Returns the configuration for the releases of a bundle at the locations of `url`, with the given registries.
pub(super) fn configuration(
    bundle: &Archive,
    url: impl Fn(&BundledRelease<'_>) -> String,
    registries: Map<String, Value>,
) -> Result<String, Failure> {
    let config = bundled_config(bundle)?;
    let known = config.providers()?;
    let mut tree = Map::new();
    let mut providers = Vec::new();
    for (label, version) in releases(bundle) {
        if label == CertManager::LABEL {
            let components_file = CERT_MANAGER_FILE;
            let url = url(&BundledRelease { label, version, components_file });
            tree.insert(CERT_MANAGER.to_owned(), json!({"url": url, "version": version}));
            continue;
        }
        let found = known.iter().find(|provider| provider.id.label() == label);
        let id = &found
            .ok_or_else(|| Failure::user(format!("the configuration in the bundle does not name `{label}`")))?
            .id;
        let components_file = id.provider_type.components_file();
        let url = url(&BundledRelease { label, version, components_file });
        providers.push(provider_entry(id, &url, config.kustomization(id)?));
    }
    tree.insert(PROVIDERS.to_owned(), Value::Array(providers));
    let mut images = config.image_sections();
    if !registries.is_empty() {
        // Images in the registry have the names used for the copy, with the rules already applied.
        images.remove(IMAGES);
        images.insert(REGISTRIES.to_owned(), Value::Object(registries));
    }
    tree.extend(images);
    Ok(yaml::write(&Value::Object(tree)))
}

/// Returns the labels and versions of the releases in a bundle.
pub(super) fn releases(bundle: &Archive) -> impl Iterator<Item = (&str, &str)> {
    bundle.entries().iter().filter_map(|entry| match &entry.item {
        BundleItem::Release { label, version } => Some((label.as_str(), version.as_str())),
        _ => None,
    })
}

/// Returns the configuration in a bundle, with an empty environment.
fn bundled_config(bundle: &Archive) -> Result<Config, Failure> {
    let bytes = bundle.read_setting(CONFIG_FILE)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let file = ConfigFile {
        origin: format!("{CONFIG_FILE} in the bundle"),
        folder: None,
        format: ConfigFormat::Yaml,
        text,
    };
    Config::new(Some(file), provider::config::Environment::default())
        .with_context(|| "cannot use the bundle".to_owned())
}

/// The folder of all kustomizations, next to the configuration.
const KUSTOMIZATIONS: &str = "kustomizations";

#[derive(Default)]
pub(super) struct BundledKustomization {
    /// The folder relative to the configuration. `None` without a kustomization.
    pub(super) folder: Option<String>,
    /// The files by path relative to the configuration.
    pub(super) files: BTreeMap<String, Bytes>,
}

/// Returns the bundle files of the kustomization of a provider, including sibling folders that the kustomization
/// names.
pub(super) fn bundle_kustomization(
    one: &CollectedRelease,
    lock: &LockFile,
    config: &Config,
    environment: &Environment,
) -> Result<BundledKustomization, Failure> {
    let place = one.id.as_ref().map(|id| config.kustomization(id)).transpose()?.flatten();
    let (Some(place), false) = (place, one.supply.kustomization.is_empty()) else {
        return Ok(BundledKustomization::default());
    };
    let files = one.supply.kustomization.iter().filter(|(name, it)| !is_locked_chart(name, it, lock));
    let names = files.clone().map(|(name, _)| name);
    if let Some(elsewhere) = names.clone().find(|name| name.contains("://")) {
        let message = format!(
            "the kustomization of `{}` refers to `{elsewhere}`, which an air-gapped site cannot reach",
            one.label
        );
        return Err(Failure::user(message).hint(transfer_hint(elsewhere)));
    }
    let above = folder_names(&place, environment);
    let levels = names.map(|name| name.split('/').take_while(|part| *part == "..").count()).max();
    let levels = levels.unwrap_or_default()..=above.len();
    let top = TreePath::new(&format!("{KUSTOMIZATIONS}/{}", one.label));
    // Parent folders keep their names, because entries contain them. An entry may climb higher than its file.
    let laid_out = levels.map(|levels| {
        let above = &above[above.len() - levels..];
        let folder = above.iter().fold(top.clone(), |folder, name| folder.join(name));
        let files: BTreeMap<_, _> = files.clone().map(|(name, it)| (folder.join(name), it.clone())).collect();
        (folder, files)
    });
    let is_whole = |(folder, files): &(TreePath, BTreeMap<TreePath, Bytes>)| {
        let tree: MemoryTree = files.iter().map(|(path, it)| (path.as_str(), it.to_vec())).collect();
        files_read_by_overlay(tree, folder).iter().eq(files.keys())
    };
    let Some((folder, files)) = laid_out.into_iter().find(is_whole) else {
        let message = format!(
            "the kustomization of `{}` cannot be relocated: its files no longer find each other",
            one.label
        );
        return Err(
            Failure::user(message).hint("use relative paths without symbolic links in the kustomization")
        );
    };
    let shown = |path: &TreePath| path.as_str().trim_start_matches('/').to_owned();
    let files = files.iter().map(|(path, bytes)| (shown(path), bytes.clone())).collect();
    Ok(BundledKustomization { folder: Some(shown(&folder)), files })
}

/// True for the archive of a chart that is in the lock, and therefore an entry of the bundle. The name is a URL, with a range
/// after a space.
fn is_locked_chart(name: &str, archive: &Bytes, lock: &LockFile) -> bool {
    let (url, range) = name.split_once(' ').unwrap_or((name, ""));
    let (source, range) = (ChartSource::of_url(url, AddressOrigin::User), VersionRange::parse(range, false));
    let (Ok(source), Ok(range)) = (source, range) else { return false };
    lock.locked_chart(&source.name(), &range).is_some_and(|(_, digest)| digest == Digest::of(archive))
}

/// Returns how to take remote content of a kustomization along. Only files have a name with a dot.
fn transfer_hint(name: &str) -> String {
    let (url, range) = name.split_once(' ').unwrap_or((name, ""));
    if range.is_empty() && url.rsplit('/').next().is_some_and(|last| last.contains('.')) {
        return "copy it beside the kustomization, and refer to the copy".to_owned();
    }
    let separator = if range.is_empty() { "" } else { ":" };
    format!("lock the chart with `capstan lock --chart {}`", shell_word(&format!("{url}{separator}{range}")))
}

/// Returns the names of the folders that lead to a kustomization on this machine or in its repository.
fn folder_names(place: &str, environment: &Environment) -> Vec<String> {
    let names = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if let Ok(real) = environment.resolve(place).canonicalize() {
        let name = |part: Component<'_>| match part {
            Component::Normal(name) => name.to_str().map(str::to_owned),
            _ => None,
        };
        return real.components().filter_map(name).collect();
    }
    let ways = RemoteEntry::of_entry(place).map(|remote| remote.methods).unwrap_or_default();
    let in_repository = ways.iter().find_map(|way| match way {
        FetchMethod::Repository(checkout) => Some(names(&checkout.folder)),
        FetchMethod::File(_) => None,
    });
    in_repository.unwrap_or_default()
}

/// Writes the kustomizations of a bundle next to the configuration. Files that the user changed stay unchanged.
pub(super) fn write_kustomizations(
    bundle: &Archive,
    folder: &Path,
    existing: ExistingContent,
    messages: &Messages,
) -> Result<(), Failure> {
    for file in kustomization_files(bundle) {
        let (path, bytes) = (folder.join(&file.name), bundle.read_setting(&file.name)?);
        match fs::read(&path) {
            Ok(there) if there == bytes => continue,
            Ok(_) if existing == ExistingContent::Refuse => {
                messages.warning(format!(
                    "kept `{}`, which differs from the bundle; replace it with `--force`",
                    path.display()
                ));
                continue;
            }
            _ => {}
        }
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot write `{}`", path.display()))?;
        write_file_atomically(&path, &bytes, super::load::FILE_MODE)?;
    }
    Ok(())
}

pub(super) fn has_kustomizations(bundle: &Archive) -> bool {
    kustomization_files(bundle).next().is_some()
}

fn kustomization_files(bundle: &Archive) -> impl Iterator<Item = &BundledFile> {
    let is_ours = |name: &str| name.strip_prefix(KUSTOMIZATIONS).is_some_and(|rest| rest.starts_with('/'));
    bundle.configuration().iter().filter(move |file| is_ours(&file.name))
}
