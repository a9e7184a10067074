//! The kustomizations over providers: carried as files of the settings, in a folder for each provider.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use bytes::Bytes;
use kustomize::{MemoryTree, Remote, TreePath, Way};
use provider::config::Config;
use repository::{Bundle as Archive, BundledFile, Existing};

use super::collect::Collected;
use crate::{
    Environment, Failure, Within as _, kustomizations::found_by_layer, session::Session,
    ui::write_file_atomically,
};

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
/// When it names something elsewhere, which a closed site cannot reach, or its files would not find each other there.
pub(super) fn carried(
    one: &Collected,
    config: &Config,
    environment: &Environment,
) -> Result<Carried, Failure> {
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
    let above = folders(&place, environment);
    let levels = names.map(|name| name.split('/').take_while(|part| *part == "..").count()).max();
    let levels = levels.unwrap_or_default()..=above.len();
    let top = TreePath::new(&format!("{FOLDER}/{}", one.label));
    // Folders above keep their names, for entries spell them; one may climb higher than the file it names.
    let laid_out = levels.map(|levels| {
        let above = &above[above.len() - levels..];
        let folder = above.iter().fold(top.clone(), |folder, name| folder.join(name));
        let files = one.supply.kustomization.iter();
        let files: BTreeMap<_, _> = files.map(|(name, it)| (folder.join(name), it.clone())).collect();
        (folder, files)
    });
    let is_whole = |(folder, files): &(TreePath, BTreeMap<TreePath, Bytes>)| {
        let tree: MemoryTree = files.iter().map(|(path, it)| (path.as_str(), it.to_vec())).collect();
        found_by_layer(tree, folder).iter().eq(files.keys())
    };
    let Some((folder, files)) = laid_out.into_iter().find(is_whole) else {
        let message =
            format!("the kustomization of `{}` cannot go elsewhere: its files lose each other", one.label);
        return Err(Failure::user(message)
            .hint("it must name them by relative paths, and by their own instead of those of links"));
    };
    let shown = |path: &TreePath| path.as_str().trim_start_matches('/').to_owned();
    let files = files.iter().map(|(path, bytes)| (shown(path), bytes.clone())).collect();
    Ok(Carried { place: Some(shown(&folder)), files })
}

/// The names of the folders that lead to a kustomization on this machine, or in its repository.
fn folders(place: &str, environment: &Environment) -> Vec<String> {
    let names = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if let Ok(real) = environment.resolve(place).canonicalize() {
        let name = |part: Component<'_>| match part {
            Component::Normal(name) => name.to_str().map(str::to_owned),
            _ => None,
        };
        return real.components().filter_map(name).collect();
    }
    let ways = Remote::of_entry(place).map(|remote| remote.ways).unwrap_or_default();
    let in_repository = ways.iter().find_map(|way| match way {
        Way::Repository(checkout) => Some(names(&checkout.folder)),
        Way::File(_) => None,
    });
    in_repository.unwrap_or_default()
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
