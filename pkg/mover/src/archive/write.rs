//! Writes an archive, object by object.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use apply::ObjectKey;
use flate2::{Compression, write::GzEncoder};

use super::{
    BackupContents, BackupIndex, BackupManifest, BackupObject, BackupOrigin, MANIFEST_FILE, OBJECTS_FOLDER,
    sha256_hex, tar::TarWriter,
};
use crate::{LeftOutObject, SavedObject};

/// Writes a backup, object by object.
#[derive(Debug)]
pub struct ArchiveWriter<W: Write> {
    tar: TarWriter<GzEncoder<W>>,
    names: BTreeSet<String>,
    objects: Vec<BackupObject>,
    contents: BackupContents,
}

impl<W: Write> ArchiveWriter<W> {
    /// Starts an archive.
    pub fn new(out: W) -> Self {
        let tar = TarWriter::new(GzEncoder::new(out, Compression::default()));
        Self { tar, names: BTreeSet::new(), objects: Vec::new(), contents: BackupContents::default() }
    }

    /// Adds an object.
    /// # Errors
    /// Fails if the output cannot be written, and for an object that a reader would refuse.
    pub fn add(&mut self, saved: &SavedObject) -> io::Result<()> {
        let file = self.unique_file_name(saved);
        self.tar.append(&format!("{OBJECTS_FOLDER}{file}"), &saved.content)?;
        self.contents.count_json(&saved.content);
        self.objects.push(BackupObject {
            file,
            sha256: sha256_hex(&saved.content),
            object: saved.key.clone(),
            uid: saved.uid.clone(),
            owners: saved.owners.clone(),
            paused: saved.was_paused,
        });
        Ok(())
    }

    /// Writes the manifest and the end. Returns the output and an index of the backup.
    /// # Errors
    /// Fails if the output cannot be written.
    pub fn finish(
        mut self,
        about: BackupOrigin,
        left_out: Vec<LeftOutObject>,
    ) -> io::Result<(W, BackupIndex)> {
        let format = BackupManifest::FORMAT;
        let manifest = BackupManifest { format, origin: about, objects: self.objects, left_out };
        let mut json = serde_json::to_vec_pretty(&manifest)?;
        json.push(b'\n');
        self.tar.append(MANIFEST_FILE, &json)?;
        let out = self.tar.finish()?.finish()?;
        Ok((out, BackupIndex { manifest, contents: self.contents }))
    }

    /// Returns the file name of an object. The name includes the group if another object has the same name, ignoring
    /// case.
    fn unique_file_name(&mut self, saved: &SavedObject) -> String {
        let plain = saved.file.clone();
        if self.names.insert(plain.to_lowercase()) {
            return plain;
        }
        let ObjectKey { group, kind, namespace, name } = &saved.key;
        let full = format!("{kind}.{group}_{namespace}_{name}.yaml");
        self.names.insert(full.to_lowercase());
        full
    }
}
