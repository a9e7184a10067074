//! Sources that replace those of Components: folders, archives, URLs, registries and Git repositories.

use std::{collections::BTreeMap, fs, path::Path};

use component::{ArtifactReference, SourceState, unpack};
use repository::{
    RepositoryContext, fetch_file, fetch_packed,
    git::{CloneStore, GitRemote, LocalChangesPolicy, RemoteUrl},
};
use transport::{
    AddressOrigin, Digest,
    address::{percent_decode, redact_text},
    disk::read_limited,
};

use crate::{Environment, Failure, WithContext as _, session::Session};

/// The most bytes of an archive, and of all files of a folder.
const MAX_BYTES: u64 = 256 << 20;
/// The most files of a folder.
const MAX_FILES: usize = 100_000;
/// The folder of a Git repository, which artifacts do not contain.
const GIT: &str = ".git";
/// The folder for files of commits inside a clone, deleted together with the clone.
const TREES_FOLDER: &str = "trees";

/// The files of a source by path.
type SourceFiles = BTreeMap<String, Vec<u8>>;

/// The flag for the source.
#[derive(clap::Args)]
pub(super) struct SourceFlag {
    /// Folder, `.tgz` archive, or URL (https, oci, git+https) to use instead of `spec.sourceRef`
    #[arg(long, value_name = "DIR|FILE|URL")]
    source: Option<String>,
}

impl SourceFlag {
    /// Reads the source. `None` without the flag.
    pub(super) fn read(&self, session: &Session) -> Result<Option<SourceState>, Failure> {
        self.source.as_deref().map(|place| read_given(place, session)).transpose()
    }

    /// The URL or the absolute path of the source.
    pub(super) fn resolved(&self, session: &Session) -> Option<String> {
        let place = self.source.as_deref()?;
        let is_url = place.contains("://");
        Some(if is_url { place.to_owned() } else { absolute(place, session.environment()) })
    }
}

/// Returns the absolute path of a file or folder.
pub(super) fn absolute(place: &str, environment: &Environment) -> String {
    environment.resolve(place).display().to_string()
}

/// Reads a source that replaces those of Components.
pub(super) fn read_given(place: &str, session: &Session) -> Result<SourceState, Failure> {
    read_source(place, session).with_context(|| format!("cannot read the source `{}`", redact_text(place)))
}

fn read_source(place: &str, session: &Session) -> Result<SourceState, Failure> {
    if let Some(url) = place.strip_prefix("git+") {
        return session.block_on(Box::pin(read_commit(place, url, session.repositories()?)));
    }
    if place.starts_with("oci://") {
        let packed = session.block_on(fetch_packed(&session.repositories()?, place))?;
        let revision =
            packed.tag.map_or_else(|| packed.digest.to_string(), |tag| format!("{tag}@{}", packed.digest));
        return archive_state(place, &packed.bytes, revision);
    }
    if place.contains("://") {
        let file = session.block_on(fetch_file(&session.repositories()?, place, AddressOrigin::User))?;
        return archive_state(place, &file.bytes, Digest::of(&file.bytes).to_string());
    }
    let path = session.environment().resolve(place);
    if path.is_dir() {
        let files = read_folder(&path)?;
        let digest = folder_digest(&files);
        return Ok(state(place, digest.clone(), digest, files));
    }
    match read_limited(&path, MAX_BYTES)? {
        Some(bytes) => archive_state(place, &bytes, Digest::of(&bytes).to_string()),
        None => Err(Failure::user(format!("`{}` does not exist", path.display()))
            .hint("use a folder, a `.tgz` archive, or a URL with `https://`, `oci://` or `git+https://`")),
    }
}

/// Reads the files of a commit. `url` is `{repository}[//{folder}][?ref={branch, tag or commit}]`.
async fn read_commit(place: &str, url: &str, context: RepositoryContext) -> Result<SourceState, Failure> {
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let reference = match query.split_once('=') {
        _ if query.is_empty() => "HEAD".to_owned(),
        Some(("ref", reference)) if !reference.is_empty() => percent_decode(reference),
        _ => return Err(Failure::user("the only parameter of a Git URL is `?ref=BRANCH|TAG|COMMIT`")),
    };
    let authority = url.find("://").map_or(0, |at| at + 3);
    let (repository, folder) = match url[authority..].find("//") {
        Some(at) => (&url[..authority + at], percent_decode(&url[authority + at + 2..])),
        None => (url, String::new()),
    };
    if folder.split('/').any(|name| name == "..") {
        return Err(Failure::user("the folder of a Git URL must not contain `..`"));
    }
    let remote = RemoteUrl::parse(repository)
        .with_context(|| format!("`{}` is not a Git repository", redact_text(repository)))?;
    let remote = GitRemote::new(remote, AddressOrigin::User, CloneStore::Cache, &context)?;
    let commit = remote.resolve(&reference).await?;
    let tree = remote.clone_folder().join(TREES_FOLDER).join(commit.as_str());
    remote.worktree(&commit, &tree, LocalChangesPolicy::Discard).await?;
    let inside = tree.join(&folder);
    if !inside.is_dir() {
        return Err(Failure::user(format!("commit {commit} has no folder `{folder}`")));
    }
    let files = read_folder(&inside)?;
    let digest = folder_digest(&files);
    Ok(state(place, digest, format!("{reference}@{commit}"), files))
}

fn archive_state(place: &str, archive: &[u8], revision: String) -> Result<SourceState, Failure> {
    let digest = Digest::of(archive).to_string();
    let artifact = ArtifactReference { url: redact_text(place), digest: digest.clone(), revision };
    Ok(SourceState { artifact, digest, files: Some(unpack(archive)?) })
}

fn state(place: &str, digest: String, revision: String, files: SourceFiles) -> SourceState {
    let artifact = ArtifactReference { url: redact_text(place), digest: digest.clone(), revision };
    SourceState { artifact, digest, files: Some(files.into_iter().collect()) }
}

/// Returns the digest of the paths and contents of files.
fn folder_digest(files: &SourceFiles) -> String {
    let lines = files.iter().map(|(path, content)| format!("{} {path:?}\n", Digest::of(content)));
    Digest::of(lines.collect::<String>().as_bytes()).to_string()
}

/// Reads the files of a folder. Links and Git data are left out.
fn read_folder(root: &Path) -> Result<SourceFiles, Failure> {
    let (mut files, mut left) = (SourceFiles::new(), MAX_BYTES);
    let too_large = |limit: String| Failure::user(format!("`{}` has more than {limit}", root.display()));
    let mut pending = vec![(root.to_owned(), String::new())];
    while let Some((folder, path)) = pending.pop() {
        let error = |error| Failure::io("read", &folder, &error);
        for entry in fs::read_dir(&folder).map_err(error)? {
            let entry = entry.map_err(error)?;
            let (kind, name) = (entry.file_type().map_err(error)?, entry.file_name());
            let Some(name) = name.to_str() else {
                return Err(Failure::user(format!("`{}` is not valid UTF-8", entry.path().display())));
            };
            let path = format!("{path}/{name}");
            if kind.is_dir() && name != GIT {
                pending.push((entry.path(), path));
            } else if kind.is_file() && name != GIT {
                let size = entry.metadata().map_err(error)?.len();
                left = left.checked_sub(size).ok_or_else(|| too_large(format!("{MAX_BYTES} bytes")))?;
                // The file may grow meanwhile.
                let content = read_limited(&entry.path(), size)?.unwrap_or_default();
                files.insert(path, content.into());
            }
            if files.len() > MAX_FILES || pending.len() > MAX_FILES {
                return Err(too_large(format!("{MAX_FILES} files or folders")));
            }
        }
    }
    Ok(files)
}
