use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::rust_source::RustSource;

/// Paths with generated content.
const GENERATED_PATHS: [&str; 5] =
    ["target", ".git", "docs/book", "pkg/manifest/fuzz/corpus", "pkg/manifest/fuzz/artifacts"];

/// Every text file of the project, read once. Rules are functions of this value.
pub(crate) struct Workspace {
    files: Vec<TextFile>,
}

/// A text file.
pub(crate) struct TextFile {
    /// The path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// True if the file has this extension, given without a dot.
    pub(crate) fn has_extension(&self, ending: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == ending)
    }
}

/// The folder of the root manifest.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// The folder beside the workspace for data that is too large for the project: golden cases and the corpus.
pub(crate) fn shared_folder(name: &str, path: &str) -> PathBuf {
    variable(name).map_or_else(|| root().join("../shared").join(path), PathBuf::from)
}

/// The build folder of cargo.
pub(crate) fn target() -> PathBuf {
    variable("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A run of cargo in the workspace, with the cargo that runs this task.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(variable("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.args(arguments).current_dir(root());
    cargo
}

/// Runs cargo in the workspace and returns its output.
///
/// # Errors
/// Fails if cargo does not start, or fails itself.
pub(crate) fn cargo_output(arguments: &[&str]) -> Result<Vec<u8>> {
    let output = cargo(arguments).output().context("cannot start `cargo`")?;
    if !output.status.success() {
        bail!("`cargo {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// Copies the files and folders of a folder into a new one.
///
/// # Errors
/// Fails if an entry cannot be read or written.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("cannot copy `{}`", from.display());
    fs::create_dir_all(to).with_context(failed)?;
    for entry in fs::read_dir(from).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        let copy = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &copy)?;
        } else {
            fs::copy(&path, copy).with_context(failed)?;
        }
    }
    Ok(())
}

/// The value of an environment variable that is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "tasks are programs of their own; this is their one place to ask"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

impl Workspace {
    /// Reads the project that this program was built in.
    pub(crate) fn read() -> Result<Self> {
        Self::read_from(&root())
    }

    /// Reads a project. Files are sorted by path, and files that are not UTF-8 are omitted.
    pub(crate) fn read_from(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let entries =
                fs::read_dir(&folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
            for entry in entries {
                let entry = entry?;
                let path = relative(root, &entry.path());
                let kind = entry.file_type()?;
                // `.git` is a file in a linked worktree.
                if GENERATED_PATHS.contains(&path.as_str()) || path.ends_with("/target") {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file()
                    && let Ok(text) = fs::read_to_string(entry.path())
                {
                    files.push(TextFile { path, text });
                }
            }
        }
        Ok(Self::new(files))
    }

    /// Creates a project from files.
    pub(crate) fn new(mut files: Vec<TextFile>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// All files, sorted by path.
    pub(crate) fn files(&self) -> &[TextFile] {
        &self.files
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(&self.files[at].text)
    }

    /// True if a path is a file, or a folder that contains a file.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty() || self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }

    /// All Rust files.
    pub(crate) fn rust(&self) -> Vec<RustSource<'_>> {
        let test_only = RustSource::test_only_modules(&self.files);
        self.files
            .iter()
            .filter(|file| file.has_extension("rs"))
            .map(|file| RustSource::new(&file.path, &file.text, &test_only))
            .collect()
    }

    /// All crates: folder and manifest.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| {
            let folder = file.path.strip_suffix("/Cargo.toml")?;
            let (home, name) = folder.split_once('/')?;
            let is_member = matches!(home, "cmd" | "pkg" | "test") && !name.contains('/');
            is_member.then_some((folder, file.text.as_str()))
        })
    }
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
impl Workspace {
    /// Creates a project from these files, for tests of a rule.
    pub(crate) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        let file = |(path, text): (&str, &str)| TextFile { path: path.to_owned(), text: text.to_owned() };
        Self::new(files.into_iter().map(file).collect())
    }
}
