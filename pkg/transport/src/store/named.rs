//! Content under names of a reader, such as results that are expensive to compute.

use std::fs;

use bytes::Bytes;
use jiff::Timestamp;

use super::{Entry, Store};
use crate::{Error, http::BodySink as _};

impl Store {
    /// Reads the content of a name and verifies its digest. None if there is none. A name is no address: it has a space.
    /// # Errors
    /// As [`Store::read_blob`].
    pub fn read_named(&self, name: &str, limit_bytes: u64) -> Result<Option<Bytes>, Error> {
        match self.entry(name)? {
            Some(entry) => self.read_blob(&entry.digest, limit_bytes),
            None => Ok(None),
        }
    }

    /// Writes the content of a name, and removes its former content.
    /// # Errors
    /// [`Error::Store`] if the store cannot be written. The former content then stays.
    pub fn write_named(&self, name: &str, content: Bytes) -> Result<(), Error> {
        let former = self.entry(name)?;
        let size_bytes = content.len() as u64;
        let mut writer = self.writer();
        writer.take(content)?;
        let digest = writer.commit()?;
        self.write_entry(&Entry {
            key: name.to_owned(),
            digest,
            size_bytes,
            etag: None,
            last_modified: None,
            media_type: None,
            link: None,
            kept_at: Timestamp::now(),
        })?;
        if let Some(former) = former.filter(|former| former.digest != digest) {
            // Pruning removes content that stays behind. A reader of the former entry finds nothing, as without it.
            let _ = fs::remove_file(self.blob_path(&former.digest));
        }
        Ok(())
    }
}
