//! The kustomizations over providers: carried as files of the settings, in a folder for each provider.

use std::{collections::BTreeMap, fs, path::Path};

use bytes::Bytes;
use kustomize::TreePath;
use provider::config::Config;
use repository::{Bundle as Archive, BundledFile, Existing};

use super::collect::Collected;
use crate::{Failure, Within as _, session::Session, ui::write_file_atomically};

/// The folder of all of them, beside the configuration.
const FOLDER: &str = "kustomizations";

/// What a bundle has of one provider.
#[derive(Default)]
pub(super) struct Carried {
    /// Its folder as seen from the configuration; none where there is no kustomization.
    pub(super) place: Option<String>,
    /// By path as seen from the configuration.
    pub(super) files: BTreeMap<String, Bytes>,
}

/// Where the kustomization of a provider goes, with the folders beside it that it names.
/// # Errors
/// When it names something elsewhere, which a closed site cannot reach.
pub(super) fn carried(one: &Collected, config: &Config) -> Result<Carried, Failure> {
    let place = one.id.as_ref().map(|id| config.kustomization(id)).transpose()?.flatten();
    let (Some(place), false) = (place, one.supply.kustomization.is_empty()) else {
        return Ok(Carried::default());
    };
    let names = one.supply.kustomization.keys();
    if let Some(elsewhere) = names.clone().find(|name| name.contains("://")) {
        let message =
            format!("the kustomization of `{}` needs `{elsewhere}`, which a site cannot reach", one.label);
        return Err(Failure::user(message).hint("copy it beside the kustomization, and name the copy there"));
    }
    // Folders above keep their names, for the entries of the kustomization spell them.
    let levels = names.map(|name| name.split('/').take_while(|part| *part == "..").count()).max();
    let above: Vec<&str> = place.trim_end_matches('/').rsplit('/').take(levels.unwrap_or_default()).collect();
    let top = TreePath::new(&format!("{FOLDER}/{}", one.label));
    let folder = above.iter().rev().fold(top, |folder, name| folder.join(name));
    let shown = |path: &TreePath| path.as_str().trim_start_matches('/').to_owned();
    let files = one.supply.kustomization.iter();
    let files = files.map(|(name, bytes)| (shown(&folder.join(name)), bytes.clone())).collect();
    Ok(Carried { place: Some(shown(&folder)), files })
}

/// Writes the kustomizations of a bundle beside the configuration; files that somebody changed stay as they are.
/// # Errors
/// When a file cannot be read or written.
pub(super) fn write(
    bundle: &Archive,
    folder: &Path,
    existing: Existing,
    session: &Session,
) -> Result<(), Failure> {
    for file in files(bundle) {
        let (path, bytes) = (folder.join(&file.name), bundle.setting(&file.name)?);
        match fs::read(&path) {
            Ok(there) if there == bytes => continue,
            Ok(_) if existing == Existing::Refuse => {
                session.messages().warning(format!(
                    "`{}` differs from the one in the bundle and stays as it is; `--force` writes it",
                    path.display()
                ));
                continue;
            }
            _ => {}
        }
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).within(|| format!("cannot write `{}`", path.display()))?;
        write_file_atomically(&path, &bytes, super::load::FILE_MODE)?;
    }
    Ok(())
}

/// Whether a bundle has any.
pub(super) fn is_in(bundle: &Archive) -> bool {
    files(bundle).next().is_some()
}

fn files(bundle: &Archive) -> impl Iterator<Item = &BundledFile> {
    let is_ours = |name: &str| name.strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/'));
    bundle.configuration().iter().filter(move |file| is_ours(&file.name))
}
