//! `catalog compile --watch`: compiles again after each change of a class or component.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use catalog::{FolderWalk, LinkPolicy, MAX_FILE_BYTES, WalkedEntry, WorkingFolder, read_file};

use super::compilation::Compilation;
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    ui::{ErrorFormat, format_count},
};

/// The interval between two looks at the files. Changes that follow each other faster are one change.
const INTERVAL: Duration = Duration::from_millis(250);
/// The maximum number of instances in a line.
const MAX_NAMED: usize = 8;

/// Compiles in local mode after each change, until Ctrl-C.
pub(super) fn watch(mut compilation: Compilation<'_>, session: &mut Session) -> Result<(), Failure> {
    compilation.local = true;
    compilation.options.force = false;
    // The first compilation has fetched and installed everything.
    compilation.options.fetch_dependencies = false;
    compilation.options.cluster_file = None;
    let mut files = WatchedFiles::new(&compilation.folder);
    session.messages().status("watching classes and components; Ctrl-C ends");
    loop {
        match session.block_on(files.wait_for_change()) {
            Err(failure) if failure.kind() == Kind::Interrupted => return Ok(()),
            changed => changed?,
        }
        let started_at = Instant::now();
        match compilation.compile_quietly(session) {
            Ok(pass) => {
                let line = pass_text(pass.workspace.instances.len(), &pass.rendered, started_at.elapsed());
                session.printer().write(line)?;
                session.printer().flush()?;
            }
            Err(failure) if failure.kind() == Kind::Interrupted => return Ok(()),
            // A program that cannot be stopped runs until the process ends.
            Err(failure) if compilation.options.control.has_abandoned_program() => return Err(failure),
            Err(failure) => session.messages().failure(&failure, ErrorFormat::Text),
        }
    }
}

/// Returns the line about one pass.
fn pass_text(instances: usize, rendered: &[String], took: Duration) -> String {
    let total = format_count(instances, "instance");
    let time = format!("{:.2}s", took.as_secs_f64());
    if rendered.is_empty() {
        return format!("compiled {total} in {time}: no instance changed\n");
    }
    let named = rendered.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match rendered.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("compiled {} of {total} in {time}: {named}{more}\n", rendered.len())
}

/// The files of a hierarchy and its dependencies.
struct WatchedFiles {
    roots: Vec<PathBuf>,
    /// The folders that compilations write.
    skipped: Vec<PathBuf>,
    known: BTreeMap<PathBuf, FileState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    modified: Option<SystemTime>,
    length: u64,
    /// The hash of the content. Compilations write some files again without a change.
    content: u64,
}

impl WatchedFiles {
    fn new(folder: &WorkingFolder) -> Self {
        let parameters = folder.parameters_file().parent().map(Path::to_owned).unwrap_or_default();
        let mut files = Self {
            roots: vec![folder.classes(), folder.dependencies()],
            skipped: vec![
                folder.component_classes(),
                folder.default_classes(),
                folder.libraries(),
                parameters,
            ],
            known: BTreeMap::new(),
        };
        files.update();
        files
    }

    /// Waits until files have changed, and until they rest.
    async fn wait_for_change(&mut self) -> Result<(), Failure> {
        let mut has_changed = false;
        loop {
            let changes_now = self.update();
            if has_changed && !changes_now {
                return Ok(());
            }
            has_changed |= changes_now;
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Looks at all files. Returns true if the content of one has changed.
    fn update(&mut self) -> bool {
        let mut found = BTreeMap::new();
        for root in &self.roots {
            self.collect(root, &mut found);
        }
        let contents = |files: &BTreeMap<PathBuf, FileState>| -> Vec<(PathBuf, u64)> {
            files.iter().map(|(path, state)| (path.clone(), state.content)).collect()
        };
        let has_changed = contents(&found) != contents(&self.known);
        self.known = found;
        has_changed
    }

    /// Adds the files below a folder, except for hidden ones. Links are followed, and loops of links are left out.
    fn collect(&self, folder: &Path, found: &mut BTreeMap<PathBuf, FileState>) {
        let is_wanted = |entry: &WalkedEntry| {
            let name = entry.path.file_name().unwrap_or_default();
            !name.to_string_lossy().starts_with('.') && !self.skipped.contains(&entry.path)
        };
        let entries = FolderWalk::new(folder, LinkPolicy::Follow, &is_wanted);
        for WalkedEntry { path, .. } in entries.into_iter().flatten().flatten() {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                continue;
            }
            let (modified, length) = (metadata.modified().ok(), metadata.len());
            let same =
                self.known.get(&path).filter(|known| known.modified == modified && known.length == length);
            let content = same.map_or_else(|| hash_of(&path), |same| same.content);
            found.insert(path, FileState { modified, length, content });
        }
    }
}

fn hash_of(path: &Path) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut hasher = DefaultHasher::new();
    hasher.write(&read_file(path, MAX_FILE_BYTES).unwrap_or_default());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_again_without_a_change_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let work = WorkingFolder::new(folder.path());
        let class = work.classes().join("global/a.yml");
        fs::create_dir_all(class.parent().unwrap()).unwrap();
        fs::write(&class, "a: 1").unwrap();
        let mut files = WatchedFiles::new(&work);
        assert!(!files.update());
        fs::write(&class, "a: 1").unwrap();
        assert!(!files.update());
        fs::write(&class, "a: 22").unwrap();
        assert!(files.update() && !files.update());
        fs::write(work.classes().join("global/.swap"), "x").unwrap();
        assert!(!files.update());
        fs::remove_file(&class).unwrap();
        assert!(files.update());
    }

    #[test]
    fn a_pass_is_one_line() {
        let took = Duration::from_millis(85);
        assert_eq!(pass_text(5, &[], took), "compiled 5 instances in 0.09s: no instance changed\n");
        let names: Vec<String> = (0..10).map(|at| format!("i{at}")).collect();
        assert_eq!(
            pass_text(10, &names, took),
            "compiled 10 of 10 instances in 0.09s: i0, i1, i2, i3, i4, i5, i6, i7 and 2 more\n"
        );
    }
}
