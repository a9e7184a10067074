//! Queries on a clone: names, files and tags. They need no connection and no checkout.

use bytes::Bytes;
use transport::names::check_file;

use super::{
    GitCommit, GitRemote,
    failure::GitFailure,
    program::GitCommand,
    remote::{LOCAL_REFS, ResolvedCommit},
};
use crate::Error;

/// The first line of a Git LFS pointer file, whose content is stored elsewhere.
/// Source: git-lfs docs/spec.md.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The maximum size of the header that precedes the file content.
const HEADER_BYTES: u64 = 4 << 10;

impl GitRemote {
    /// Reads one file of a commit. Symlinks inside the repository are followed.
    /// # Errors
    /// [`GitFailure::UnknownPath`] with similar names; [`GitFailure::LinkEscapes`]; [`GitFailure::NotAFile`] for folders,
    /// submodules and Git LFS pointers; [`transport::Error::TooLarge`]; [`transport::Error::UnsafeName`].
    pub async fn read(&self, commit: &GitCommit, path: &str) -> Result<Bytes, Error> {
        check_file(path)?;
        let limit_bytes = self.context.max_file_bytes();
        let run =
            self.command(&["cat-file", "--batch", "--follow-symlinks"]).input(format!("{commit}:{path}\n"));
        let answer =
            run.limit(limit_bytes + HEADER_BYTES).output().await.map_err(|failure| match failure {
                GitFailure::TooLarge { .. } => self.too_large(commit, path),
                failure => self.error("read", failure),
            })?;
        let unreadable = || self.error("read", GitFailure::Unreadable { what: "a file" });
        let end = answer.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
        let header = String::from_utf8_lossy(&answer[..end]);
        let rest = answer.slice(end + 1..);
        let of_kind = |what| Err(self.not_a_file(commit, path, what));
        match header.split(' ').collect::<Vec<_>>()[..] {
            [_, "blob", size] => {
                let size =
                    size.parse::<usize>().ok().filter(|size| *size <= rest.len()).ok_or_else(unreadable)?;
                let content = rest.slice(..size);
                match content.len() as u64 {
                    size if size > limit_bytes => Err(self.too_large(commit, path)),
                    _ if content.starts_with(LFS_POINTER) => {
                        of_kind("a Git LFS pointer, whose content is not in the repository")
                    }
                    _ => Ok(content),
                }
            }
            [_, "tree", _] => of_kind("a folder"),
            ["symlink", _] => {
                let target = String::from_utf8_lossy(&rest).trim_end().to_owned();
                let (path, commit) = (path.to_owned(), commit.to_string());
                Err(self.error("read", GitFailure::LinkEscapes { path, commit, target }))
            }
            ["dangling", _] => of_kind("a broken link"),
            ["loop", _] => of_kind("a link that points to itself"),
            _ => Err(self.missing_path_error(commit, path).await?),
        }
    }

    /// The names of the files in a folder of a commit, sorted. Files in subfolders are not included.
    /// # Errors
    /// [`GitFailure::UnknownPath`] if the folder does not exist.
    pub async fn files(&self, commit: &GitCommit, folder: &str) -> Result<Vec<String>, Error> {
        if !folder.is_empty() {
            check_file(folder)?;
        }
        let listing = self.command(&["ls-tree", "-z", &format!("{commit}:{folder}")]).output().await;
        let Ok(listing) = listing else { return Err(self.missing_path_error(commit, folder).await?) };
        let mut names: Vec<String> =
            entries(&listing).filter(TreeEntry::is_file).map(|entry| entry.path.into_owned()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Reads all regular files below a folder of a commit, with their paths below it. An empty path is the root.
    /// # Errors
    /// [`GitFailure::UnknownPath`] if the folder does not exist; [`transport::Error::UnsafeName`].
    pub async fn read_folder(&self, commit: &GitCommit, folder: &str) -> Result<Vec<(String, Bytes)>, Error> {
        if !folder.is_empty() {
            check_file(folder)?;
        }
        let listing = self.command(&["ls-tree", "-r", "-z", &format!("{commit}:{folder}")]).output().await;
        let Ok(listing) = listing else { return Err(self.missing_path_error(commit, folder).await?) };
        let files: Vec<TreeEntry<'_>> =
            entries(&listing).filter(|entry| entry.is_file() && !entry.is_link()).collect();
        let objects: Vec<&str> = files.iter().map(|file| file.object).collect();
        let contents = self.read_objects(&objects).await?;
        Ok(files.into_iter().map(|file| file.path.into_owned()).zip(contents).collect())
    }

    /// Looks up a name in the clone without fetching; see [`Remote::resolve`].
    pub(super) async fn find_commit(&self, tree_ish: &str) -> Result<Option<ResolvedCommit>, Error> {
        let bad = || self.error("read", GitFailure::InvalidTreeIsh { tree_ish: tree_ish.to_owned() });
        let candidates = candidates(tree_ish).ok_or_else(bad)?;
        let questions: Vec<String> =
            candidates.iter().map(|candidate| format!("{}^{{commit}}\n", candidate.name)).collect();
        let run = self.command(&["cat-file", "--batch-check"]).input(questions.concat());
        let answers = run.output().await.map_err(|failure| self.error("read", failure))?;
        let answers = String::from_utf8_lossy(&answers);
        for (candidate, answer) in candidates.iter().zip(answers.lines()) {
            match answer.split(' ').collect::<Vec<_>>()[..] {
                [hash, "commit", _] => {
                    let commit = GitCommit(hash.to_owned());
                    return Ok(Some(ResolvedCommit { commit, may_change: candidate.may_change }));
                }
                [.., "ambiguous"] => {
                    let tree_ish = tree_ish.to_owned();
                    return Err(self.error("read", GitFailure::Ambiguous { tree_ish }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// All tags with the objects they point to, sorted by tag.
    pub(super) async fn list_tags(&self) -> Result<Vec<(String, String)>, Error> {
        self.list_references("%(refname:strip=2) %(objectname)", "refs/tags").await
    }

    pub(super) async fn unknown_tree_ish(&self, tree_ish: &str) -> Error {
        let mut known = self.list_tags().await.unwrap_or_default();
        known.extend(
            self.list_references("%(refname:strip=3) %(objectname)", "refs/remotes/origin")
                .await
                .unwrap_or_default(),
        );
        let names = known.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "HEAD");
        let near = api::similar_names(tree_ish, names).into_iter().map(str::to_owned).collect();
        self.error("read", GitFailure::UnknownTreeIsh { tree_ish: tree_ish.to_owned(), suggestions: near })
    }

    async fn list_references(&self, format: &str, below: &str) -> Result<Vec<(String, String)>, Error> {
        let run = self.command(&["for-each-ref", &format!("--format={format}"), below]);
        let listing = run.output().await.map_err(|failure| self.error("read", failure))?;
        let lines = String::from_utf8_lossy(&listing);
        let pair = |line: &str| line.rsplit_once(' ').map(|(name, hash)| (name.to_owned(), hash.to_owned()));
        Ok(lines.lines().filter_map(pair).collect())
    }

    /// Lists all entries of a commit, except folders.
    pub(super) async fn list_tree(&self, commit: &GitCommit) -> Result<Bytes, Error> {
        let run = self.command(&["ls-tree", "-r", "-z", commit.as_str()]);
        run.output().await.map_err(|failure| self.error("read", failure))
    }

    /// The error for a missing path: the path is in a submodule, or does not exist.
    async fn missing_path_error(&self, commit: &GitCommit, path: &str) -> Result<Error, Error> {
        let listing = self.list_tree(commit).await?;
        let is_in = |module: &str| {
            path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
        };
        if entries(&listing).any(|entry| entry.is_submodule() && is_in(&entry.path)) {
            return Ok(self.not_a_file(commit, path, "in a submodule, which is a separate repository"));
        }
        let paths: Vec<_> = entries(&listing).filter(TreeEntry::is_file).map(|entry| entry.path).collect();
        let near = api::similar_names(path, paths.iter().map(|path| &**path))
            .into_iter()
            .map(str::to_owned)
            .collect();
        let (path, commit) = (path.to_owned(), commit.to_string());
        Ok(self.error("read", GitFailure::UnknownPath { path, commit, suggestions: near }))
    }

    fn not_a_file(&self, commit: &GitCommit, path: &str, what: &'static str) -> Error {
        let (path, commit) = (path.to_owned(), commit.to_string());
        self.error("read", GitFailure::NotAFile { path, commit, what })
    }

    fn too_large(&self, commit: &GitCommit, path: &str) -> Error {
        let place = format!("{}//{path}@{commit}", self.display_url());
        transport::Error::TooLarge { place, limit_bytes: self.context.max_file_bytes() }.into()
    }

    /// Creates a run on the clone.
    pub(super) fn command(&self, arguments: &[&str]) -> GitCommand {
        GitCommand::in_clone(&self.context.release_settings().git, &self.clone, arguments)
    }
}

/// A full reference name to look up.
struct Candidate {
    name: String,
    may_change: bool,
}

/// Possible meanings of a name, in order of precedence. `None` if the name is invalid.
fn candidates(tree_ish: &str) -> Option<Vec<Candidate>> {
    let foreign = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '?' | '*' | '[' | '\\');
    if tree_ish.starts_with('-')
        || tree_ish.contains(foreign)
        || ["..", "@{"].iter().any(|part| tree_ish.contains(part))
    {
        return None;
    }
    let (base, suffix) = split_suffix(tree_ish);
    let stored = |name: String, may_change| Candidate { name: format!("{name}{suffix}"), may_change };
    let is_stored = ["refs/tags/", LOCAL_REFS].iter().any(|below| base.starts_with(below));
    let mut candidates = match base {
        "" => return None,
        "HEAD" | "@" => vec![stored("refs/remotes/origin/HEAD".to_owned(), true)],
        _ => match (base.strip_prefix("refs/heads/"), is_stored) {
            (Some(branch), _) => vec![stored(format!("refs/remotes/origin/{branch}"), true)],
            (None, true) => vec![stored(base.to_owned(), false)],
            (None, false) => vec![
                stored(format!("refs/tags/{base}"), false),
                stored(format!("refs/remotes/origin/{base}"), true),
            ],
        },
    };
    if GitCommit::is_full_hash(base) {
        candidates.insert(0, stored(base.to_owned(), false));
    } else if base.len() >= 4 && base.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        candidates.push(stored(base.to_owned(), false));
    }
    Some(candidates)
}

/// Splits a name from a suffix such as `~1`.
pub(super) fn split_suffix(tree_ish: &str) -> (&str, &str) {
    tree_ish.split_at(tree_ish.find(['~', '^']).unwrap_or(tree_ish.len()))
}

/// An entry of a tree listing.
pub(super) struct TreeEntry<'l> {
    mode: &'l str,
    pub(super) object: &'l str,
    pub(super) path: std::borrow::Cow<'l, str>,
}

impl TreeEntry<'_> {
    pub(super) fn is_link(&self) -> bool {
        self.mode == "120000"
    }

    pub(super) fn is_submodule(&self) -> bool {
        self.mode == "160000"
    }

    fn is_file(&self) -> bool {
        self.mode.starts_with("100") || self.is_link()
    }
}

/// Parses entries of the form `mode type object TAB path NUL`.
pub(super) fn entries(listing: &[u8]) -> impl Iterator<Item = TreeEntry<'_>> {
    listing.split(|byte| *byte == 0).filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
        let (mode, object) = (words.next()?, words.nth(1)?);
        Some(TreeEntry { mode, object, path: String::from_utf8_lossy(&line[tab + 1..]) })
    })
}
