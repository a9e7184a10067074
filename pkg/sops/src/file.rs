//! Encrypted files: recognition and decryption.

use memchr::memmem;

use crate::cipher::{self, Cipher};
use crate::data_key;
use crate::format::{Format, single_data};
use crate::metadata::{self, Metadata};
use crate::tree::{Branch, Entry, Value};
use crate::walk::{decrypt_all, is_same_mac};
use crate::{DecryptionKeys, SopsError, Zeroizing};

/// The maximum size of an encrypted file.
const MAX_BYTES: usize = 16 << 20;

/// True if a file is encrypted with SOPS: it has metadata with an encrypted MAC, in any format.
///
/// A plain file that merely contains such words is not encrypted, for example a manual or a template. Damaged files count as
/// encrypted, so that [`decrypt`] reports them: those with a MAC that cannot be parsed, and those with encrypted values
/// but without MAC, which were cut off.
pub fn is_encrypted(bytes: &[u8]) -> bool {
    !matches!(EncryptedFile::read(bytes), Ok(None))
}

/// Decrypts a file. The name of the file determines the format of the result, its content the format of the input.
///
/// If the only entry of the file is the text `data`, the result is this text, whatever the name.
///
/// # Errors
/// `NotEncrypted` for a plain file, `NoMac` for one that was cut off. Otherwise as the variants of [`SopsError`] say.
pub fn decrypt(
    file_name: &str,
    bytes: &[u8],
    keys: &DecryptionKeys,
) -> Result<Zeroizing<Vec<u8>>, SopsError> {
    let EncryptedFile { mut documents, metadata } =
        EncryptedFile::read(bytes)?.ok_or(SopsError::NotEncrypted)?;
    let metadata = Metadata::read(&metadata)?;
    let data_key = data_key::decrypt(&metadata, keys)?;
    let cipher = Cipher::new(&data_key).ok_or(SopsError::Shares("it has not 32 bytes"))?;
    let computed = decrypt_all(&mut documents, &cipher, &metadata)?;
    let recorded = cipher.decrypt(metadata.mac.as_bytes(), metadata.last_modified.as_bytes());
    match recorded {
        Ok(Value::Text(recorded)) if is_same_mac(&recorded, &computed) => {}
        _ => return Err(SopsError::MacMismatch),
    }
    match single_data(&documents) {
        Some(data) => Ok(data.clone()),
        None => Format::of(file_name).write(&documents),
    }
}

/// A file with metadata of SOPS.
struct EncryptedFile {
    documents: Vec<Branch>,
    metadata: Branch,
}

impl EncryptedFile {
    /// Reads a file; `None` if it is not encrypted.
    fn read(bytes: &[u8]) -> Result<Option<Self>, SopsError> {
        let has = |text: &[u8]| memmem::find(bytes, text).is_some();
        if !has(b"ENC[AES256_GCM,") {
            return Ok(None);
        }
        let Ok(text) = str::from_utf8(bytes) else { return Ok(None) };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for format in [Format::Json, Format::Dotenv, Format::Ini, Format::Yaml] {
            if !has_metadata(text, format) {
                continue;
            }
            if bytes.len() > MAX_BYTES {
                return Err(SopsError::TooLarge { size_bytes: bytes.len(), limit_bytes: MAX_BYTES });
            }
            let mut documents = format.read(text)?;
            let metadata = metadata::take(&mut documents, format)?;
            if let Some(metadata) = metadata.filter(|metadata| metadata::has_mac(metadata)) {
                return Ok(Some(Self { documents, metadata }));
            }
        }
        if bytes.len() <= MAX_BYTES && has_encrypted_values(text) { Err(SopsError::NoMac) } else { Ok(None) }
    }
}

/// True if a value of a text is encrypted. Texts that only mention such a value are not.
fn has_encrypted_values(text: &str) -> bool {
    fn is_encrypted(value: &Value) -> bool {
        match value {
            Value::List(elements) => elements.iter().any(is_encrypted),
            Value::Branch(branch) => has_encrypted(branch),
            Value::Text(text) => cipher::is_encrypted(text),
            _ => false,
        }
    }
    fn has_encrypted(branch: &[Entry]) -> bool {
        branch.iter().filter_map(Entry::as_field).any(|(_, value)| is_encrypted(value))
    }
    [Format::Json, Format::Yaml, Format::Dotenv, Format::Ini]
        .into_iter()
        .find_map(|format| format.read(text).ok())
        .is_some_and(|documents| documents.iter().any(|document| has_encrypted(document)))
}

/// True if the lines of a text show an entry `sops` and a MAC at the places of a format.
fn has_metadata(text: &str, format: Format) -> bool {
    let has_line = |starts: &[&str], is_indented: bool| {
        text.lines().any(|line| {
            let content = if is_indented { line.trim_start() } else { line };
            starts.iter().any(|start| content.starts_with(start))
        })
    };
    match format {
        Format::Json => {
            text.trim_start().starts_with('{') && text.contains("\"sops\"") && text.contains("\"mac\"")
        }
        Format::Dotenv => has_line(&["sops_mac=ENC["], false),
        Format::Ini => has_line(&["[sops]"], true) && text.lines().any(is_ini_mac),
        _ => {
            let has_entry = has_line(&["sops:", "\"sops\":", "'sops':"], false);
            has_entry && has_line(&["mac: ENC[", "mac: \"ENC[", "mac: 'ENC[", "\"mac\":"], true)
        }
    }
}

fn is_ini_mac(line: &str) -> bool {
    let field = line.split_once(['=', ':']);
    field.is_some_and(|(key, value)| key.trim() == "mac" && value.trim_start().starts_with("ENC["))
}
