//! Encrypted values: `ENC[AES256_GCM,data:…,iv:…,tag:…,type:str]`.

use aes_gcm::aead::consts::U32;
use aes_gcm::aead::generic_array::GenericArray;
use aes_gcm::aead::{AeadInPlace as _, KeyInit as _};
use aes_gcm::{AesGcm, aes::Aes256};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use manifest::parse_bool;
use zeroize::Zeroizing;

use crate::tree::{Comment, Secret, Value, is_time};

/// The length of the data key of a file.
pub(crate) const KEY_BYTES: usize = 32;
const IV_BYTES: usize = 32;
const TAG_BYTES: usize = 16;

/// The cipher of one file.
pub(crate) struct Cipher(AesGcm<Aes256, U32>);

/// The reason why a value cannot be decrypted.
pub(crate) type CipherProblem = &'static str;

impl Cipher {
    /// Creates a cipher. Fails if the key has not the length of AES-256.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        AesGcm::new_from_slice(key).ok().map(Self)
    }

    /// Decrypts a value. The empty text stands for itself.
    pub(crate) fn decrypt(&self, text: &[u8], additional: &[u8]) -> Result<Value, CipherProblem> {
        if text.is_empty() {
            return Ok(Value::text(""));
        }
        let EncryptedValue { mut data, iv, tag, kind } = EncryptedValue::parse(text)?;
        if iv.len() != IV_BYTES {
            return Err("its `iv` has not 32 bytes");
        }
        if tag.len() != TAG_BYTES {
            return Err("its `tag` has not 16 bytes");
        }
        let (iv, tag) = (GenericArray::from_slice(&iv), GenericArray::from_slice(&tag));
        self.0
            .decrypt_in_place_detached(iv, additional, &mut data, tag)
            .map_err(|_| "it was changed or moved after its encryption")?;
        typed(data, kind)
    }
}

/// True if a text has the form of an encrypted value.
pub(crate) fn is_encrypted(text: &[u8]) -> bool {
    EncryptedValue::parse(text).is_ok()
}

struct EncryptedValue<'a> {
    data: Secret,
    iv: Vec<u8>,
    tag: Vec<u8>,
    kind: &'a str,
}

impl<'a> EncryptedValue<'a> {
    fn parse(text: &'a [u8]) -> Result<Self, CipherProblem> {
        let parts = str::from_utf8(text).ok().and_then(|text| {
            let rest = text.strip_prefix("ENC[AES256_GCM,data:")?;
            let (data, rest) = rest.split_once(",iv:")?;
            let (iv, rest) = rest.split_once(",tag:")?;
            let (tag, rest) = rest.split_once(",type:")?;
            Some((data, iv, tag, rest.rsplit_once(']')?.0))
        });
        let (data, iv, tag, kind) =
            parts.ok_or("it is not encrypted, but the rule of the file requires it")?;
        let decode = |text| BASE64_STANDARD.decode(text).map_err(|_| "it has invalid base64");
        Ok(Self { data: Zeroizing::new(decode(data)?), iv: decode(iv)?, tag: decode(tag)?, kind })
    }
}

/// Reads a decrypted text by the type with which it was encrypted.
fn typed(data: Secret, kind: &str) -> Result<Value, CipherProblem> {
    let text = str::from_utf8(&data).ok();
    let value = match kind {
        "str" | "bytes" => return Ok(Value::Text(data)),
        "comment" => return Ok(Value::Comment(Comment { text: data, is_inline: false })),
        "int" => text.and_then(|text| text.parse().ok()).map(Value::Int),
        "float" => text.and_then(|text| text.parse().ok()).map(Value::Float),
        "bool" => text.and_then(parse_bool).map(Value::Bool),
        "time" => text.filter(|text| is_time(text)).map(|time| Value::Time(time.to_owned())),
        _ => return Err("its `type` is unknown"),
    };
    value.ok_or("it has not the form of its `type`")
}
