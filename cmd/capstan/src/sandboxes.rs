//! Sandboxes by name: their files and their processes.
//!
//! ```text
//! $XDG_STATE_HOME/capstan/sandboxes/NAME/
//!   settings.json   the options of the last start, so that the next start needs no flags
//!   identity.json   certificate authority and token; kubeconfigs stay valid after a restart
//!   kubeconfig      the kubeconfig of the sandbox
//!   lock            held by the running process, which distinguishes a running sandbox from a stale file
//!   process.json    the process that holds the lock, and its address
//!   log             the output of the process
//!   data/           the objects, unless they are stored in memory or elsewhere
//!   tour            marks a sandbox that `quickstart` created and may remove
//! ```

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use api::similar_names;
use sandbox::Identity;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use transport::store::KeyLock;

use crate::{
    Environment, Failure,
    failure::{Foreign as _, Kind},
    settings,
    ui::write_private_file,
};

/// The number of attempts to take a lock, because another process may hold the lock briefly to check the sandbox.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Clone, Debug)]
pub(crate) struct SandboxesFolder(PathBuf);

/// The folder of one sandbox. The folder may not exist.
#[derive(Clone, Debug)]
pub(crate) struct SandboxFolder {
    name: String,
    path: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SandboxSettings {
    pub(crate) port: Option<u16>,
    /// The folder of the objects. `None` if they are only in memory.
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxProcess {
    pub(crate) pid: u32,
    pub(crate) server: String,
}

impl SandboxesFolder {
    pub(crate) fn of(environment: &Environment) -> Result<Self, Failure> {
        // An absolute path is valid in any working folder of the background process.
        let state = settings::state_home(environment).filter(|path| path.is_absolute()).ok_or_else(|| {
            Failure::new(Kind::Environment, "cannot choose a folder for sandboxes")
                .cause("neither `XDG_STATE_HOME` nor `HOME` is set to an absolute path")
        })?;
        Ok(Self(state.join("capstan").join("sandboxes")))
    }

    /// Returns a folder of this name next to the folder of all sandboxes.
    pub(crate) fn sibling_folder(&self, name: &str) -> PathBuf {
        self.0.with_file_name(name)
    }

    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Failure::io("list", &self.0, &error)),
        };
        let name = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.ok()?;
            entry.path().is_dir().then(|| entry.file_name().into_string().ok())?
        };
        let mut names: Vec<_> = entries.filter_map(name).filter(|name| is_valid_name(name)).collect();
        names.sort();
        Ok(names)
    }

    /// Returns the folder of a sandbox, which may not exist yet.
    pub(crate) fn folder(&self, name: &str) -> Result<SandboxFolder, Failure> {
        if !is_valid_name(name) {
            return Err(Failure::user(format!("`{name}` is not a valid sandbox name")).cause(
                "a name consists of at most 63 lower-case letters, digits and dashes, without a dash at either end",
            ));
        }
        Ok(SandboxFolder { name: name.to_owned(), path: self.0.join(name) })
    }

    pub(crate) fn find(&self, name: &str) -> Result<SandboxFolder, Failure> {
        let folder = self.folder(name)?;
        if folder.path.is_dir() {
            return Ok(folder);
        }
        let names = self.names()?;
        let failure = Failure::user(format!("sandbox `{name}` does not exist"));
        Err(match similar_names(name, names.iter().map(String::as_str)).first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None if names.is_empty() => {
                failure.hint(format!("create it with `capstan sandbox start {name}`"))
            }
            None => failure.hint(format!("existing sandboxes: {}", names.join(", "))),
        })
    }
}

impl SandboxFolder {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path.join("kubeconfig")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Creates the folder with access for its owner only. Returns true if the folder is new.
    pub(crate) fn create(&self) -> Result<bool, Failure> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let made = self.path.parent().map_or(Ok(()), |home| builder.recursive(true).create(home));
        match made.and_then(|()| builder.recursive(false).create(&self.path)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.path.is_dir() => Ok(false),
            Err(error) => Err(Failure::io("create", &self.path, &error)
                .hint("set `XDG_STATE_HOME` to a folder that you can write to")),
        }
    }

    /// Records that the tour created the sandbox and may remove it.
    pub(crate) fn mark_as_quickstart(&self) -> Result<(), Failure> {
        let path = self.quickstart_mark();
        fs::write(&path, "").map_err(|error| Failure::io("write", &path, &error))
    }

    /// True if the tour created the sandbox. Sandboxes of users never have this mark, whatever their name.
    pub(crate) fn is_of_quickstart(&self) -> bool {
        self.quickstart_mark().is_file()
    }

    /// Removes the sandbox with all its files. The caller holds the lock.
    pub(crate) fn remove(&self, _lock: &KeyLock) -> Result<(), Failure> {
        fs::remove_dir_all(&self.path).map_err(|error| Failure::io("remove", &self.path, &error))
    }

    /// Removes the files of a first start that failed.
    pub(crate) fn remove_unless_started(&self) {
        // Another process may have started it successfully.
        if let Ok(Some(lock)) = self.lock()
            && let Ok(None) = self.settings()
        {
            // The failure of the start is the error to report.
            let _ = self.remove(&lock);
        }
    }

    pub(crate) fn settings(&self) -> Result<Option<SandboxSettings>, Failure> {
        read_file(&self.path.join("settings.json"))
    }

    pub(crate) fn write_settings(&self, settings: &SandboxSettings) -> Result<(), Failure> {
        write_file(&self.path.join("settings.json"), settings)
    }

    pub(crate) fn identity(&self) -> Result<Option<Identity>, Failure> {
        read_file(&self.identity_file())
    }

    /// Returns the identity of the sandbox. The first call creates and stores the identity.
    pub(crate) fn ensure_identity(&self) -> Result<Identity, Failure> {
        if let Some(identity) = self.identity()? {
            return Ok(identity);
        }
        let identity = Identity::generate().foreign()?;
        write_file(&self.identity_file(), &identity)?;
        Ok(identity)
    }

    pub(crate) fn record_start(
        &self,
        process: &SandboxProcess,
        kubeconfig: &serde_json::Value,
    ) -> Result<(), Failure> {
        write_file(&self.kubeconfig(), kubeconfig)?;
        write_file(&self.process_file(), process)
    }

    /// Returns the process of the sandbox. `None` if the sandbox is stopped, or if the process is not ready yet.
    pub(crate) fn process(&self) -> Result<Option<SandboxProcess>, Failure> {
        if self.is_running()? { read_file(&self.process_file()) } else { Ok(None) }
    }

    pub(crate) fn last_server(&self) -> Result<Option<String>, Failure> {
        let port = self.settings()?.and_then(|last| last.port);
        Ok(port.map(|port| format!("https://127.0.0.1:{port}")))
    }

    pub(crate) fn is_running(&self) -> Result<bool, Failure> {
        let path = self.lock_file();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Failure::io("open", &path, &error)),
        };
        // A shared lock, so that concurrent checks do not take each other for a running sandbox.
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(Failure::io("lock", &path, &error)),
        }
    }

    /// Takes the lock of the process of the sandbox. `None` if another process holds the lock.
    pub(crate) fn lock(&self) -> Result<Option<KeyLock>, Failure> {
        let path = self.lock_file();
        for _ in 0..LOCK_ATTEMPTS {
            match KeyLock::try_acquire(&path).map_err(|error| Failure::io("lock", &path, &error))? {
                None => thread::sleep(LOCK_RETRY_INTERVAL),
                lock => return Ok(lock),
            }
        }
        Ok(None)
    }

    /// Deletes the record of the last process. The caller holds the lock.
    pub(crate) fn delete_process(&self, _lock: &KeyLock) {
        // A leftover file has no effect without the lock.
        let _ = fs::remove_file(self.process_file());
    }

    fn identity_file(&self) -> PathBuf {
        self.path.join("identity.json")
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    fn quickstart_mark(&self) -> PathBuf {
        self.path.join("tour")
    }

    fn process_file(&self) -> PathBuf {
        self.path.join("process.json")
    }
}

/// True for a DNS label, because the name is used for a folder, a kubeconfig context and a cluster.
fn is_valid_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Reads a JSON file. `None` if the file does not exist.
fn read_file<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io("read", path, &error)),
    };
    let value = serde_json::from_slice(&text).map_err(|error| {
        Failure::new(Kind::Environment, format!("`{}` is damaged", path.display()))
            .because(&error)
            .hint(format!("remove it with `rm {}`; the next start creates it again", path.display()))
    })?;
    Ok(Some(value))
}

fn write_file<T: Serialize>(path: &Path, value: &T) -> Result<(), Failure> {
    let text = serde_json::to_vec_pretty(value).map_err(|error| {
        Failure::new(Kind::Bug, format!("cannot write `{}`", path.display())).because(&error)
    })?;
    Ok(write_private_file(path, &text)?)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn home() -> (tempfile::TempDir, SandboxesFolder) {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new([("XDG_STATE_HOME", folder.path())], "/");
        (folder, SandboxesFolder::of(&environment).unwrap())
    }

    #[test]
    fn a_name_cannot_lead_out_of_the_folder() {
        let (_folder, home) = home();
        for name in ["", "..", "a/b", "A", "-a", "a-", "a.b", &"a".repeat(64)] {
            assert!(home.folder(name).is_err(), "{name}");
        }
        assert!(home.folder("lab-2").is_ok());
    }

    #[test]
    fn a_sandbox_runs_as_long_as_its_lock_is_held() {
        let (_folder, home) = home();
        let folder = home.folder("lab").unwrap();
        folder.create().unwrap();
        let process = SandboxProcess { pid: 1, server: "https://127.0.0.1:1".into() };
        folder.record_start(&process, &serde_json::json!({})).unwrap();
        assert_eq!(folder.process().unwrap(), None, "a file alone is stale");
        let lock = folder.lock().unwrap().unwrap();
        assert_eq!(folder.process().unwrap(), Some(process));
        assert!(folder.lock().unwrap().is_none());
        drop(lock);
        assert!(!folder.is_running().unwrap());
    }

    #[test]
    fn an_unknown_sandbox_gets_a_similar_name_as_hint() {
        let (_folder, home) = home();
        home.folder("staging").unwrap().create().unwrap();
        let failure = home.find("stagign").unwrap_err();
        assert_data_eq!(failure.distinct_hints().collect::<String>(), str!["did you mean `staging`?"]);
        assert_eq!(home.names().unwrap(), ["staging"]);
    }

    #[test]
    fn the_identity_is_made_once() {
        let (_folder, home) = home();
        let folder = home.folder("lab").unwrap();
        folder.create().unwrap();
        assert!(folder.identity().unwrap().is_none());
        let made = folder.ensure_identity().unwrap();
        assert_eq!(folder.ensure_identity().unwrap(), made);
        assert!(folder.identity().unwrap() == Some(made));
    }

    #[test]
    fn only_a_sandbox_that_never_started_is_removed() {
        let (_folder, home) = home();
        let folder = home.folder("lab").unwrap();
        assert!(folder.create().unwrap());
        assert!(!folder.create().unwrap());
        folder.write_settings(&SandboxSettings::default()).unwrap();
        folder.remove_unless_started();
        assert!(folder.path().is_dir());
        fs::remove_file(folder.path().join("settings.json")).unwrap();
        folder.remove_unless_started();
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_damaged_file_is_named_with_the_command_that_removes_it() {
        let (_folder, home) = home();
        let folder = home.folder("lab").unwrap();
        folder.create().unwrap();
        fs::write(folder.path().join("identity.json"), "{\"caKey\": 1").unwrap();
        let failure = folder.identity().unwrap_err();
        let path = folder.path().display().to_string();
        assert_data_eq!(
            failure.message().replace(&path, "[FOLDER]"),
            str!["`[FOLDER]/identity.json` is damaged"]
        );
    }
}
