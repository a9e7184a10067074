//! The files and sandboxes of the tour.
//!
//! ```text
//! $XDG_STATE_HOME/capstan/
//!   quickstart/             bundled providers, demo.yaml, and a lock held during a tour
//!   sandboxes/tour-a, …     marked, so that sandboxes of the user are never treated as part of the tour
//! ```

use std::{fs, path::PathBuf};

use transport::store::KeyLock;

use crate::{
    Environment, Failure,
    failure::Kind,
    sandboxes::{SandboxFolder, SandboxesFolder},
};

/// The source sandbox of the move. The target sandbox follows.
pub(super) const SOURCE: &str = "tour-a";
pub(super) const TARGET: &str = "tour-b";

/// The configuration among the bundled files. The infrastructure provider and its flavor with a managed topology
/// follow.
pub(super) const CONFIG: &str = "clusterctl.yaml";
pub(super) const INFRASTRUCTURE: &str = "sandbox";
pub(super) const FLAVOR: &str = "development";

/// Lists files by their path below the fixture folder, each with its text.
macro_rules! bundled_files {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/fixtures/", $path)))),+]
    };
}

/// The bundled providers: the newer of the two releases that the project contains.
const BUNDLED_FILES: [(&str, &str); 13] = bundled_files![
    "clusterctl.yaml",
    "repository/cert-manager/v1.0.0/cert-manager.yaml",
    "repository/cluster-api/v1.1.0/core-components.yaml",
    "repository/cluster-api/v1.1.0/metadata.yaml",
    "repository/bootstrap-kubeadm/v1.1.0/bootstrap-components.yaml",
    "repository/bootstrap-kubeadm/v1.1.0/metadata.yaml",
    "repository/control-plane-kubeadm/v1.1.0/control-plane-components.yaml",
    "repository/control-plane-kubeadm/v1.1.0/metadata.yaml",
    "repository/infrastructure-sandbox/v1.1.0/infrastructure-components.yaml",
    "repository/infrastructure-sandbox/v1.1.0/metadata.yaml",
    "repository/infrastructure-sandbox/v1.1.0/cluster-template.yaml",
    "repository/infrastructure-sandbox/v1.1.0/cluster-template-development.yaml",
    "repository/infrastructure-sandbox/v1.1.0/clusterclass-quick-start.yaml",
];

/// Returns the bundled providers by their path in the folder of the tour.
pub(super) fn bundled_files() -> Vec<(String, String)> {
    BUNDLED_FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[derive(Debug)]
pub(super) struct TourSetup {
    folder: PathBuf,
    home: SandboxesFolder,
}

impl TourSetup {
    pub(super) fn of(environment: &Environment) -> Result<Self, Failure> {
        let home = SandboxesFolder::of(environment)?;
        Ok(Self { folder: home.sibling_folder("quickstart"), home })
    }

    /// Returns the path of a file in the folder, as a word of a command.
    pub(super) fn path_of(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    pub(super) fn kubeconfig(&self, sandbox: &str) -> Result<String, Failure> {
        Ok(self.home.folder(sandbox)?.kubeconfig().display().to_string())
    }

    /// Creates the folder with the files of a tour.
    pub(super) fn write(&self, files: &[(String, String)]) -> Result<(), Failure> {
        let write = || {
            fs::create_dir_all(&self.folder)?;
            for (path, text) in files {
                let path = self.folder.join(path);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, text)?;
            }
            Ok(())
        };
        write().map_err(|error: std::io::Error| Failure::io("write to", &self.folder, &error))
    }

    /// Takes the lock of the tour, because only one tour can run at a time.
    pub(super) fn lock(&self) -> Result<KeyLock, Failure> {
        let path = self.folder.join("lock");
        let locked = fs::create_dir_all(&self.folder).and_then(|()| KeyLock::try_acquire(&path));
        locked.map_err(|error| Failure::io("lock", &path, &error))?.ok_or_else(|| {
            Failure::new(Kind::Conflict, "another tour is running")
                .hint("wait until the other tour has ended")
        })
    }

    pub(super) fn is_empty(&self) -> Result<bool, Failure> {
        Ok(!self.folder.exists() && self.sandboxes()?.is_empty())
    }

    /// Returns the sandboxes that a tour created.
    pub(super) fn sandboxes(&self) -> Result<Vec<&'static str>, Failure> {
        let mut made = Vec::new();
        for name in [SOURCE, TARGET] {
            if self.home.folder(name)?.is_of_quickstart() {
                made.push(name);
            }
        }
        Ok(made)
    }

    /// Fails if a sandbox with the name of a tour sandbox exists that no tour created.
    pub(super) fn check_names(&self) -> Result<(), Failure> {
        for name in [SOURCE, TARGET] {
            let folder = self.home.folder(name)?;
            if folder.path().exists() && !folder.is_of_quickstart() {
                return Err(sandbox_exists_failure(&folder));
            }
        }
        Ok(())
    }

    /// Creates the sandboxes. The first command that needs a sandbox starts it.
    pub(super) fn create_sandboxes(&self) -> Result<(), Failure> {
        for name in [SOURCE, TARGET] {
            let folder = self.home.folder(name)?;
            if !folder.create()? {
                return Err(sandbox_exists_failure(&folder));
            }
            folder.mark_as_quickstart()?;
        }
        Ok(())
    }

    /// Returns the addresses of the sandboxes if both were started.
    pub(super) fn server_addresses(&self) -> Result<Option<[String; 2]>, Failure> {
        let server = |name: &str| self.home.folder(name)?.last_server();
        Ok(match (server(SOURCE)?, server(TARGET)?) {
            (Some(source), Some(target)) if self.sandboxes()?.len() == 2 => Some([source, target]),
            _ => None,
        })
    }

    pub(super) fn remove(&self, _lock: &KeyLock) -> Result<(), Failure> {
        fs::remove_dir_all(&self.folder).map_err(|error| Failure::io("remove", &self.folder, &error))
    }
}

fn sandbox_exists_failure(folder: &SandboxFolder) -> Failure {
    let name = folder.name();
    Failure::new(Kind::Conflict, format!("sandbox `{name}` already exists, and no tour created it"))
        .hint(format!("if you no longer need the sandbox, delete it with `capstan sandbox delete {name}`"))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use snapbox::{assert_data_eq, str};

    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let below =
            |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path.display().to_string()] };
        entries.flat_map(below).collect()
    }

    #[test]
    fn every_file_of_the_newer_releases_is_bundled() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/fixtures");
        let prefix = format!("{}/", shipped.display());
        let of_newer = |path: &String| !path.contains("/v1.0.0/") || path.contains("/cert-manager/");
        let shipped = files(&shipped.join("repository")).into_iter().filter(of_newer);
        let mut shipped: BTreeSet<String> = shipped.map(|path| path.replace(&prefix, "")).collect();
        shipped.insert(CONFIG.to_owned());
        assert_eq!(
            BUNDLED_FILES.map(|(path, _)| path.to_owned()).into_iter().collect::<BTreeSet<_>>(),
            shipped
        );
    }

    #[test]
    fn a_sandbox_of_the_user_does_not_belong_to_the_tour() {
        let state = tempfile::tempdir().unwrap();
        let setup = TourSetup::of(&Environment::new([("XDG_STATE_HOME", state.path())], "/")).unwrap();
        assert!(setup.is_empty().unwrap());
        setup.create_sandboxes().unwrap();
        setup.check_names().unwrap();
        assert_eq!(setup.sandboxes().unwrap(), [SOURCE, TARGET]);
        let source = setup.home.folder(SOURCE).unwrap();
        fs::remove_dir_all(source.path()).unwrap();
        source.create().unwrap();
        assert_eq!(setup.sandboxes().unwrap(), [TARGET]);
        assert_data_eq!(
            setup.check_names().unwrap_err().message(),
            str!["sandbox `tour-a` already exists, and no tour created it"]
        );
        assert!(setup.create_sandboxes().is_err());
    }

    #[test]
    fn only_one_tour_runs_at_a_time() {
        let state = tempfile::tempdir().unwrap();
        let setup = TourSetup::of(&Environment::new([("XDG_STATE_HOME", state.path())], "/")).unwrap();
        let lock = setup.lock().unwrap();
        assert_data_eq!(setup.lock().unwrap_err().message(), str!["another tour is running"]);
        setup.remove(&lock).unwrap();
        assert!(setup.is_empty().unwrap());
    }
}
