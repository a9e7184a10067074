//! The references in compiled files.

use std::path::PathBuf;
use std::str;
use std::sync::LazyLock;

use data_encoding::HEXLOWER;
use regex::{Captures, Regex};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::error::ReferenceError;
use crate::results::Reads;
use crate::yaml::read_documents;

/// The number of hexadecimal digits of a hash.
const HASH_DIGITS: usize = 8;

pub(super) static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\?\{(\w+):([\w\-.@=/]+)(?::[\w\-.@=/:]*)?(?:\|[^}]*)?=*\}")
        .expect("invariant: the pattern is constant and valid")
});

/// The replacement of references in compiled files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum References {
    /// A reference gets the hash of its file in a folder.
    Hashed {
        /// The folder with the files of references.
        folder: PathBuf,
    },
    /// A reference becomes its path, for tests of a component.
    PathOnly,
}

impl References {
    /// Replaces the references in all texts of a value.
    pub(crate) fn replace_in(&self, value: Value, reads: &Reads) -> Result<Value, ReferenceError> {
        Ok(match value {
            Value::String(text) => Value::String(self.replace(text, reads)?),
            Value::Array(items) => Value::Array(
                items.into_iter().map(|item| self.replace_in(item, reads)).collect::<Result<_, _>>()?,
            ),
            Value::Object(fields) => Value::Object(
                fields
                    .into_iter()
                    .map(|(key, field)| Ok((key, self.replace_in(field, reads)?)))
                    .collect::<Result<_, ReferenceError>>()?,
            ),
            other => other,
        })
    }

    /// Replaces the references in a text.
    pub(crate) fn replace(&self, text: String, reads: &Reads) -> Result<String, ReferenceError> {
        if !text.contains("?{") {
            return Ok(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for found in REFERENCE.captures_iter(&text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[end..whole.start()]);
            out.push_str(&self.replacement(&found, reads)?);
            end = whole.end();
        }
        out.push_str(&text[end..]);
        Ok(out)
    }

    fn replacement(&self, found: &Captures<'_>, reads: &Reads) -> Result<String, ReferenceError> {
        let (reference, kind, path) = (&found[0], &found[1], &found[2]);
        if kind != "vaultkv" {
            return Err(ReferenceError::UnsupportedType {
                reference: reference.to_owned(),
                kind: kind.to_owned(),
            });
        }
        if path.starts_with('/') || path.split('/').any(|step| step == "..") {
            let reason = "the path leaves the folder of references";
            return Err(ReferenceError::Invalid { reference: reference.to_owned(), reason });
        }
        match self {
            Self::PathOnly => Ok(path.to_owned()),
            Self::Hashed { folder } => {
                let file = folder.join(path);
                let text = reads.read_text(&file).map_err(|source| ReferenceError::Unknown {
                    reference: reference.to_owned(),
                    path: file.clone(),
                    source,
                })?;
                let document = read_documents(&text).ok().and_then(|documents| documents.into_iter().next());
                let data = document.as_ref().and_then(|document| document["data"].as_str());
                let data = data.ok_or(ReferenceError::NoData { path: file })?;
                Ok(format!("?{{{kind}:{path}:{}}}", hash(path, data)))
            }
        }
    }
}

/// Returns the first digits of the SHA-256 of a path and its data.
fn hash(path: &str, data: &str) -> String {
    let digest = Sha256::digest(format!("{path}{data}"));
    let mut text = HEXLOWER.encode(&digest);
    text.truncate(HASH_DIGITS);
    text
}
