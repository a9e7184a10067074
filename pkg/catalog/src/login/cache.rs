//! The cache of tokens, a JSON file that Commodore reads too.

use std::fs;
use std::io;
use std::io::Write as _;
use std::path::PathBuf;

use manifest::{Map, Value};
use transport::{disk, store::KeyLock};

use super::{LoginError, Tokens};

/// The maximum size of the file in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// The tokens of logins, by the address of the API. Only the user can read the file.
#[derive(Clone, Debug)]
pub struct TokenCache {
    path: PathBuf,
}

impl TokenCache {
    /// Takes the path of the file.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the tokens for an API. Without any, and if the file cannot be read, they are empty.
    pub fn get(&self, api_url: &str) -> Tokens {
        match self.read().get_mut(api_url) {
            Some(Value::Object(tokens)) => Tokens(std::mem::take(tokens)),
            _ => Tokens::default(),
        }
    }

    /// Stores the tokens for an API. The tokens for other APIs stay.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn save(&self, api_url: &str, tokens: &Tokens) -> Result<(), LoginError> {
        let folder = disk::folder_of(&self.path);
        fs::create_dir_all(folder).map_err(|error| self.error(error))?;
        let lock = KeyLock::acquire(&folder.join(".token.lock"), |_| {}).await;
        let _lock =
            lock.map_err(|error| LoginError::Cache { path: self.path.clone(), source: Box::new(error) })?;
        let mut all = self.read();
        all.insert(api_url.to_owned(), Value::Object(tokens.0.clone()));
        self.write(&all).map_err(|error| self.error(error))
    }

    fn read(&self) -> Map<String, Value> {
        let bytes = disk::read_limited(&self.path, MAX_BYTES).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Replaces the file. Temporary files are readable only for the user from their start.
    fn write(&self, all: &Map<String, Value>) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(disk::folder_of(&self.path))?;
        file.write_all(&serde_json::to_vec_pretty(all).map_err(io::Error::other)?)?;
        disk::persist(file, &self.path).map(|_| ())
    }

    fn error(&self, error: io::Error) -> LoginError {
        LoginError::Cache { path: self.path.clone(), source: Box::new(error) }
    }
}
