//! Where the tour keeps what it makes.
//!
//! ```text
//! $XDG_STATE_HOME/capstan/
//!   quickstart/             carried providers, demo.yaml, and a lock that is held as long as a tour goes on
//!   sandboxes/tour-a, …     marked, so that no sandbox of the user is taken for one of the tour
//! ```

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::carried;
use crate::{
    Environment, Failure,
    failure::Kind,
    sandboxes::{Folder, Home},
};

/// The sandbox that a cluster moves from.
pub(super) const SOURCE: &str = "tour-a";

/// The sandbox that it moves to.
pub(super) const TARGET: &str = "tour-b";

/// The folder and the sandboxes of the tour.
#[derive(Debug)]
pub(super) struct Stage {
    folder: PathBuf,
    sandboxes: Home,
}

/// Held while somebody works on the stage.
#[derive(Debug)]
pub(super) struct StageLock {
    _file: File,
}

impl Stage {
    /// # Errors
    /// When neither a state folder nor a home folder is known.
    pub(super) fn of(environment: &Environment) -> Result<Self, Failure> {
        let sandboxes = Home::of(environment)?;
        Ok(Self { folder: sandboxes.beside("quickstart"), sandboxes })
    }

    /// The configuration of the carried providers.
    pub(super) fn config_file(&self) -> PathBuf {
        self.folder.join(carried::CONFIG)
    }

    /// Where the workload cluster is rendered to.
    pub(super) fn cluster_file(&self) -> PathBuf {
        self.folder.join("demo.yaml")
    }

    /// # Errors
    /// When the name is none.
    pub(super) fn kubeconfig(&self, sandbox: &str) -> Result<PathBuf, Failure> {
        Ok(self.sandboxes.folder(sandbox)?.kubeconfig())
    }

    /// Makes the folder, and writes the carried providers where they are needed.
    /// # Errors
    /// When it cannot be written to.
    pub(super) fn write(&self, is_carried: bool) -> Result<(), Failure> {
        let made = fs::create_dir_all(&self.folder);
        made.and_then(|()| if is_carried { carried::write(&self.folder) } else { Ok(()) })
            .map_err(|error| cannot("write to", &self.folder, &error))
    }

    /// Takes the stage for a tour.
    /// # Errors
    /// When another tour goes on.
    pub(super) fn lock(&self) -> Result<StageLock, Failure> {
        let path = self.folder.join("lock");
        let opened = fs::create_dir_all(&self.folder)
            .and_then(|()| OpenOptions::new().create(true).write(true).truncate(false).open(&path));
        let file = opened.map_err(|error| cannot("open", &path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(StageLock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::new(Kind::Conflict, "another tour is under way").hint("wait until it has ended"))
            }
            Err(TryLockError::Error(error)) => Err(cannot("lock", &path, &error)),
        }
    }

    /// Whether there is nothing to remove.
    /// # Errors
    /// As for the sandboxes.
    pub(super) fn is_empty(&self) -> Result<bool, Failure> {
        Ok(!self.folder.exists() && self.sandboxes()?.is_empty())
    }

    /// The sandboxes that a tour has made.
    /// # Errors
    /// When a name is none.
    pub(super) fn sandboxes(&self) -> Result<Vec<&'static str>, Failure> {
        let mut made = Vec::new();
        for name in [SOURCE, TARGET] {
            if self.sandboxes.folder(name)?.is_of_tour() {
                made.push(name);
            }
        }
        Ok(made)
    }

    /// Refuses to go on beside a sandbox of such a name that no tour has made.
    /// # Errors
    /// A conflict, with the way out.
    pub(super) fn check_names(&self) -> Result<(), Failure> {
        for name in [SOURCE, TARGET] {
            let folder = self.sandboxes.folder(name)?;
            if folder.path().exists() && !folder.is_of_tour() {
                return Err(taken(&folder));
            }
        }
        Ok(())
    }

    /// Makes the sandboxes; the first command that needs one starts it.
    /// # Errors
    /// When one is there already.
    pub(super) fn make_sandboxes(&self) -> Result<(), Failure> {
        for name in [SOURCE, TARGET] {
            let folder = self.sandboxes.folder(name)?;
            if !folder.create()? {
                return Err(taken(&folder));
            }
            folder.mark_as_of_tour()?;
        }
        Ok(())
    }

    /// Where the sandboxes of the tour listen, when both were started.
    /// # Errors
    /// When their files cannot be read.
    pub(super) fn servers(&self) -> Result<Option<[String; 2]>, Failure> {
        let server = |name: &str| self.sandboxes.folder(name)?.last_server();
        Ok(match (server(SOURCE)?, server(TARGET)?) {
            (Some(source), Some(target)) if self.sandboxes()?.len() == 2 => Some([source, target]),
            _ => None,
        })
    }

    /// Removes the folder.
    /// # Errors
    /// When something in it cannot be removed.
    pub(super) fn remove(&self, _lock: &StageLock) -> Result<(), Failure> {
        fs::remove_dir_all(&self.folder).map_err(|error| cannot("remove", &self.folder, &error))
    }
}

fn taken(folder: &Folder) -> Failure {
    let name = folder.name();
    Failure::new(Kind::Conflict, format!("there is a sandbox `{name}` already, and no tour has made it"))
        .hint(format!("when it is not needed any more, remove it with `capstan sandbox delete {name}`"))
}

fn cannot(act: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::Environment, format!("cannot {act} `{}`", path.display())).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_of_the_user_is_not_taken_for_one_of_the_tour() {
        let state = tempfile::tempdir().unwrap();
        let stage = Stage::of(&Environment::new([("XDG_STATE_HOME", state.path())], "/")).unwrap();
        assert!(stage.is_empty().unwrap());
        stage.make_sandboxes().unwrap();
        stage.check_names().unwrap();
        assert_eq!(stage.sandboxes().unwrap(), [SOURCE, TARGET]);
        let source = stage.sandboxes.folder(SOURCE).unwrap();
        fs::remove_dir_all(source.path()).unwrap();
        source.create().unwrap();
        assert_eq!(stage.sandboxes().unwrap(), [TARGET]);
        assert!(stage.check_names().unwrap_err().message().contains("no tour has made it"));
        assert!(stage.make_sandboxes().is_err());
    }

    #[test]
    fn one_tour_goes_on_at_a_time() {
        let state = tempfile::tempdir().unwrap();
        let stage = Stage::of(&Environment::new([("XDG_STATE_HOME", state.path())], "/")).unwrap();
        let lock = stage.lock().unwrap();
        assert_eq!(stage.lock().unwrap_err().message(), "another tour is under way");
        stage.remove(&lock).unwrap();
        assert!(stage.is_empty().unwrap());
    }
}
