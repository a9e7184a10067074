//! Installs Jsonnet libraries, as jsonnet-bundler does.
//!
//! ```text
//! jsonnetfile.json ─► dependencies ─► vendor/<host>/<path>/<folder>, links for local ones ─► their dependencies ─► …
//!                                        └─► jsonnetfile.lock.json, short names as links
//! ```
//!
//! Source: jsonnet-bundler 0.6. Differs: each dependency is visited once, so cycles end. Links inside of a repository are
//! not installed; jsonnet-bundler deletes them afterwards.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use data_encoding::BASE64;
use manifest::Value;
use repository::RepositoryContext;
use repository::git::{CloneStore, GitRemote};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::fetch::{open_repository, unknown_version};
use super::links::{link, relative_path};
use crate::error::CatalogError;
use crate::file_reading::{MAX_FILE_BYTES, read_text};
use crate::working_folder::{create_folder, remove_folder, write_file};

const FILE: &str = "jsonnetfile.json";
const LOCK_FILE: &str = "jsonnetfile.lock.json";
/// The maximum number of libraries.
const MAX_LIBRARIES: usize = 1000;

/// The libraries to install.
pub(crate) struct BundlerRequest<'a> {
    /// The access to repositories. Their clones are in the cache, because libraries are only read.
    pub(crate) context: &'a RepositoryContext,
    /// The folders with `jsonnetfile.json` and `vendor`.
    pub(crate) folder: &'a Path,
    /// Local folders, which become links in `vendor`. If empty, the existing `jsonnetfile.json` is used.
    pub(crate) local: Vec<PathBuf>,
}

/// A dependency of a `jsonnetfile.json`.
#[derive(Clone, Debug)]
struct Library {
    source: Source,
    version: String,
    is_single: bool,
    legacy_name: Option<String>,
}

#[derive(Clone, Debug)]
enum Source {
    Git { remote: String, folder: String },
    Local { folder: String },
}

/// An installed library.
struct Installed {
    library: Library,
    /// The path below `vendor`.
    name: String,
    sum: Option<String>,
}

/// Installs libraries and everything that they need into `vendor`.
///
/// # Errors
/// A `jsonnetfile.json` is not valid, or a library cannot be fetched.
pub(crate) async fn install_libraries(request: BundlerRequest<'_>) -> Result<(), CatalogError> {
    let file = request.folder.join(FILE);
    if !request.local.is_empty() {
        let sources = request.local.iter().map(|folder| {
            let folder = relative_path(folder, request.folder);
            json!({"source": {"local": {"directory": folder.display().to_string()}}})
        });
        let content =
            json!({"version": 1, "dependencies": sources.collect::<Vec<_>>(), "legacyImports": true});
        write_json(&file, &content)?;
    }
    if !file.is_file() {
        return Ok(());
    }
    let vendor = request.folder.join("vendor");
    create_folder(&vendor)?;
    let root = read_libraries(&file)?;
    let mut run = Run { context: request.context, vendor, installed: Vec::new() };
    run.install_all(root.libraries, request.folder).await?;
    run.remove_unknown()?;
    if root.has_legacy_imports {
        run.link_short_names()?;
    }
    let entries: Vec<Value> = run.installed.iter().map(Installed::lock_entry).collect();
    let lock = json!({"version": 1, "dependencies": entries, "legacyImports": false});
    write_json(&request.folder.join(LOCK_FILE), &lock)
}

struct Run<'a> {
    context: &'a RepositoryContext,
    vendor: PathBuf,
    installed: Vec<Installed>,
}

impl Run<'_> {
    /// Installs libraries, and then, breadth first, the libraries that they need. `base` is the folder of relative paths.
    async fn install_all(&mut self, libraries: Vec<Library>, base: &Path) -> Result<(), CatalogError> {
        let mut queue: std::collections::VecDeque<(Library, PathBuf)> =
            libraries.into_iter().map(|library| (library, base.to_owned())).collect();
        let mut seen = BTreeSet::new();
        while let Some((library, base)) = queue.pop_front() {
            let name = library.name(&base)?;
            // The first version that is found has precedence.
            if !seen.insert(name.clone()) {
                continue;
            }
            if seen.len() > MAX_LIBRARIES {
                return Err(problem(format!("there are more than {MAX_LIBRARIES} libraries")));
            }
            let is_single = library.is_single;
            self.install(library, &name, &base).await?;
            let folder = self.vendor.join(&name);
            let nested = folder.join(FILE);
            if is_single || !nested.is_file() {
                continue;
            }
            let folder = folder.canonicalize().map_err(|error| CatalogError::disk("read", &folder, error))?;
            let nested = read_libraries(&nested)?.libraries;
            queue.extend(nested.into_iter().map(|library| (library, folder.clone())));
        }
        Ok(())
    }

    async fn install(&mut self, mut library: Library, name: &str, base: &Path) -> Result<(), CatalogError> {
        let place = self.vendor.join(name);
        let sum = match &library.source {
            Source::Local { folder } => {
                let source = base.join(folder);
                let parent = place.parent().unwrap_or(&self.vendor).to_owned();
                if place.is_dir() && !place.is_symlink() {
                    remove_folder(&place)?;
                }
                let source = source
                    .canonicalize()
                    .map_err(|_| problem(format!("local folder `{}` does not exist", source.display())))?;
                let vendor = self.vendor.canonicalize().unwrap_or_else(|_| self.vendor.clone());
                let parent = if parent == self.vendor { vendor } else { parent };
                link(&source, &parent, name)?;
                library.version = String::new();
                None
            }
            Source::Git { remote, folder } => {
                let context = format!(
                    "while fetching Jsonnet library {name}, which `{}` needs",
                    base.join(FILE).display()
                );
                let opened = open_repository(remote, CloneStore::Cache, self.context, &context)?;
                let (commit, files) = read_files(&opened, &library.version, folder, &context).await?;
                library.version = commit;
                if place.is_symlink() {
                    fs::remove_file(&place).map_err(|error| CatalogError::disk("replace", &place, error))?;
                }
                remove_folder(&place)?;
                Some(write_files(&place, &files)?)
            }
        };
        self.installed.push(Installed { library, name: name.to_owned(), sum });
        Ok(())
    }

    /// Removes folders of libraries that are no longer needed, and links.
    fn remove_unknown(&self) -> Result<(), CatalogError> {
        let mut open = vec![PathBuf::new()];
        while let Some(path) = open.pop() {
            let folder = self.vendor.join(&path);
            let entries =
                fs::read_dir(&folder).map_err(|error| CatalogError::disk("read", &folder, error))?;
            for entry in entries.flatten() {
                let (inner, full) = (path.join(entry.file_name()), entry.path());
                let shown = inner.to_string_lossy().replace('\\', "/");
                let is_library = |known: &&Installed| known.name == shown;
                let is_around = |known: &&Installed| known.name.starts_with(&format!("{shown}/"));
                if full.is_symlink() {
                    if !self.installed.iter().any(|known| is_library(&known)) {
                        fs::remove_file(&full).map_err(|error| CatalogError::disk("delete", &full, error))?;
                    }
                } else if full.is_dir() {
                    if self.installed.iter().any(|known| is_around(&known)) {
                        open.push(inner);
                    } else if !self.installed.iter().any(|known| is_library(&known)) {
                        remove_folder(&full)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Links the short names of libraries. A name that is taken is left alone.
    fn link_short_names(&self) -> Result<(), CatalogError> {
        for Installed { library, name, .. } in &self.installed {
            let Source::Git { .. } = library.source else { continue };
            let short = library.legacy_name.as_deref().unwrap_or_else(|| last_part(name));
            let place = self.vendor.join(short);
            if is_plain(short) && place.symlink_metadata().is_err() {
                link(&self.vendor.join(name), &self.vendor, short)?;
            }
        }
        Ok(())
    }
}

impl Library {
    /// Returns the path below `vendor`.
    fn name(&self, base: &Path) -> Result<String, CatalogError> {
        match &self.source {
            Source::Local { folder } => {
                let path = base.join(folder);
                let path = path.canonicalize().unwrap_or(path);
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                name.ok_or_else(|| problem(format!("local folder `{folder}` has no name")))
            }
            Source::Git { remote, folder } => {
                let url = repository::git::RemoteUrl::parse(remote)
                    .map_err(|error| problem(format!("cannot parse git url `{remote}`: {error}")))?;
                let repository = url.key().strip_suffix(".git").unwrap_or(url.key()).to_owned();
                if folder.is_empty() { Ok(repository) } else { Ok(format!("{repository}/{folder}")) }
            }
        }
    }
}

impl Installed {
    fn lock_entry(&self) -> Value {
        let source = match &self.library.source {
            Source::Local { folder } => json!({"local": {"directory": folder}}),
            Source::Git { remote, folder } => json!({"git": {"remote": remote, "subdir": folder}}),
        };
        let mut entry = json!({"source": source, "version": self.library.version});
        if let Some(sum) = &self.sum {
            entry["sum"] = sum.as_str().into();
        }
        if self.library.is_single {
            entry["single"] = true.into();
        }
        entry
    }
}

/// The content of a `jsonnetfile.json`.
struct LibraryFile {
    libraries: Vec<Library>,
    has_legacy_imports: bool,
}

fn read_libraries(path: &Path) -> Result<LibraryFile, CatalogError> {
    let text = read_text(path, MAX_FILE_BYTES).map_err(|error| CatalogError::disk("read", path, error))?;
    let invalid = |reason: String| problem(format!("`{}` is not valid: {reason}", path.display()));
    let content: Value = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let none = Vec::new();
    let entries = match content.get("dependencies") {
        None | Some(Value::Null) => &none,
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(invalid("`dependencies` must be a list".to_owned())),
    };
    let libraries = entries.iter().map(|entry| {
        let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let source = entry.get("source").unwrap_or(&Value::Null);
        let source = if let Some(git) = source.get("git") {
            let remote =
                text(git, "remote").ok_or_else(|| invalid("a git source has no `remote`".to_owned()))?;
            let folder = text(git, "subdir").unwrap_or_default();
            Source::Git { remote, folder: folder.trim_matches('/').to_owned() }
        } else if let Some(local) = source.get("local") {
            let folder = text(local, "directory")
                .ok_or_else(|| invalid("a local source has no `directory`".to_owned()))?;
            Source::Local { folder }
        } else {
            return Err(invalid("a dependency has neither a git nor a local source".to_owned()));
        };
        if let Source::Git { folder, .. } = &source
            && !Path::new(folder).components().all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(invalid(format!("the folder `{folder}` leads out of its repository")));
        }
        Ok(Library {
            source,
            version: text(entry, "version")
                .filter(|version| !version.is_empty())
                .unwrap_or_else(|| "master".into()),
            is_single: entry.get("single").and_then(Value::as_bool).unwrap_or_default(),
            legacy_name: text(entry, "name").filter(|name| !name.is_empty()),
        })
    });
    Ok(LibraryFile {
        libraries: libraries.collect::<Result<_, _>>()?,
        // Files of the first version of the format have no such field.
        has_legacy_imports: content.get("legacyImports").and_then(Value::as_bool).unwrap_or(true),
    })
}

/// Returns the commit of a version, and the files below a folder, sorted by path.
async fn read_files(
    remote: &GitRemote,
    version: &str,
    folder: &str,
    context: &str,
) -> Result<(String, Vec<(String, bytes::Bytes)>), CatalogError> {
    let commit =
        remote.resolve(version).await.map_err(|error| unknown_version(error, context, version, true))?;
    let mut files =
        remote.read_folder(&commit, folder).await.map_err(|error| CatalogError::fetch(context, error))?;
    // In the order of a walk through folders.
    files.sort_by(|(one, _), (other, _)| one.split('/').cmp(other.split('/')));
    Ok((commit.to_string(), files))
}

/// Writes files, and returns the sum of their contents.
fn write_files(place: &Path, files: &[(String, bytes::Bytes)]) -> Result<String, CatalogError> {
    let mut hash = Sha256::new();
    create_folder(place)?;
    for (path, content) in files {
        let full = place.join(path);
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(problem(format!("file `{path}` leads out of its folder")));
        }
        create_folder(full.parent().unwrap_or(place))?;
        fs::write(&full, content).map_err(|error| CatalogError::disk("write", &full, error))?;
        hash.update(content);
    }
    Ok(BASE64.encode(&hash.finalize()))
}

fn write_json(path: &Path, value: &Value) -> Result<(), CatalogError> {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    serde::Serialize::serialize(value, &mut serializer).map_err(|error| problem(error.to_string()))?;
    write_file(path, &format!("{}\n", String::from_utf8_lossy(&text)))
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn is_plain(name: &str) -> bool {
    Path::new(name).components().eq([Component::Normal(name.as_ref())])
}

fn problem(problem: String) -> CatalogError {
    CatalogError::Libraries { problem }
}
