//! Decryption of all values of a file, with its MAC.
//!
//! Source: sops v3.13 sops.go (`Tree.Decrypt`, `ToBytes`).

use sha2::{Digest as _, Sha512};
use zeroize::{Zeroize as _, Zeroizing};

use crate::SopsError;
use crate::cipher::Cipher;
use crate::metadata::Metadata;
use crate::rule::CommentStack;
use crate::tree::{Branch, Comment, Entry, Secret, Value};

/// The start of a MAC that covers only encrypted values: the SHA-256 of `sops`.
const MAC_ONLY_ENCRYPTED: [u8; 32] = [
    0x8a, 0x3f, 0xd2, 0xad, 0x54, 0xce, 0x66, 0x52, 0x7b, 0x10, 0x34, 0xf3, 0xd1, 0x47, 0xbe, 0x0b, 0x0b,
    0x97, 0x5b, 0x3b, 0xf4, 0x4f, 0x72, 0xc6, 0xfd, 0xad, 0xec, 0x81, 0x76, 0xf2, 0x7d, 0x69,
];

/// Decrypts all values in place. Returns the MAC in upper-case hexadecimal digits.
pub(crate) fn decrypt_all(
    documents: &mut [Branch],
    cipher: &Cipher,
    metadata: &Metadata,
) -> Result<Zeroizing<String>, SopsError> {
    let mut walk =
        Walk { cipher, metadata, hash: Sha512::new(), path: Vec::new(), comments: CommentStack::new() };
    if metadata.mac_only_encrypted {
        walk.hash.update(MAC_ONLY_ENCRYPTED);
    }
    for document in documents {
        walk.branch(document)?;
    }
    let mut digest = walk.hash.finalize();
    let mac = digest.iter().fold(Zeroizing::new(String::with_capacity(128)), |mut mac, byte| {
        for digit in [byte >> 4, byte & 15] {
            mac.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
        }
        mac
    });
    digest.as_mut_slice().zeroize();
    Ok(mac)
}

struct Walk<'a> {
    cipher: &'a Cipher,
    metadata: &'a Metadata,
    hash: Sha512,
    /// The keys of the mappings; elements of lists have no key.
    path: Vec<String>,
    comments: CommentStack,
}

impl Walk<'_> {
    fn branch(&mut self, branch: &mut Branch) -> Result<(), SopsError> {
        self.comments.push(Vec::new());
        for entry in branch {
            match entry {
                Entry::Comment(comment) => {
                    self.record_comment(comment);
                    self.comment_entry(comment)?;
                }
                Entry::Field { key, value } => {
                    self.path.push(key.clone());
                    self.value(value)?;
                    self.path.pop();
                    self.forget_comments();
                }
            }
        }
        self.comments.pop();
        Ok(())
    }

    fn list(&mut self, items: &mut [Value]) -> Result<(), SopsError> {
        self.comments.push(Vec::new());
        for item in items {
            if let Value::Comment(comment) = item {
                self.record_comment(comment);
                self.value(item)?;
            } else {
                self.value(item)?;
                self.forget_comments();
            }
        }
        self.comments.pop();
        Ok(())
    }

    fn value(&mut self, value: &mut Value) -> Result<(), SopsError> {
        match value {
            Value::Null => return Ok(()),
            Value::Branch(branch) => return self.branch(branch),
            Value::List(items) => return self.list(items),
            Value::Comment(comment) => {
                if let Some(decrypted) = self.decrypt_comment(comment) {
                    *value = decrypted;
                    self.add_to_mac(value);
                }
                return Ok(());
            }
            _ => {}
        }
        let is_encrypted = self.is_encrypted(false);
        if is_encrypted {
            let Value::Text(text) = value else {
                return Err(self.problem("it is not encrypted, but the rule of the file requires it"));
            };
            *value = self.cipher.decrypt(text, &self.additional_data()).map_err(|why| self.problem(why))?;
        }
        if is_encrypted || !self.metadata.mac_only_encrypted {
            self.add_to_mac(value);
        }
        Ok(())
    }

    fn comment_entry(&mut self, comment: &mut Comment) -> Result<(), SopsError> {
        match self.decrypt_comment(comment) {
            None => Ok(()),
            Some(Value::Comment(decrypted)) => {
                *comment = decrypted;
                Ok(())
            }
            Some(Value::Text(text)) => {
                self.hash.update(&*text);
                comment.text = text;
                Ok(())
            }
            Some(_) => Err(self.problem("a comment has another type")),
        }
    }

    /// Decrypts a comment. A comment that cannot be decrypted stays as it is: it was not encrypted.
    fn decrypt_comment(&self, comment: &Comment) -> Option<Value> {
        if !self.is_encrypted(true) {
            return None;
        }
        self.cipher.decrypt(&comment.text, &self.additional_data()).ok()
    }

    fn is_encrypted(&self, is_comment: bool) -> bool {
        self.metadata.rule.is_encrypted(&self.path, &self.comments, is_comment)
    }

    fn record_comment(&mut self, comment: &Comment) {
        if self.metadata.rule.uses_comments()
            && let Some(level) = self.comments.last_mut()
        {
            level.push(comment.text.clone());
        }
    }

    fn forget_comments(&mut self) {
        if let Some(level) = self.comments.last_mut() {
            level.clear();
        }
    }

    /// Returns the text that binds a value to its place: the keys, each followed by a colon.
    fn additional_data(&self) -> Vec<u8> {
        if self.path.is_empty() {
            return b":".to_vec();
        }
        self.path.iter().flat_map(|key| key.bytes().chain([b':'])).collect()
    }

    fn add_to_mac(&mut self, value: &Value) {
        match value {
            Value::Text(text) => self.hash.update(&**text),
            Value::Time(time) => self.hash.update(time),
            Value::Int(number) => self.hash.update(Zeroizing::new(number.to_string()).as_bytes()),
            Value::Float(number) => self.hash.update(float_text(*number).as_bytes()),
            Value::Bool(flag) => self.hash.update(if *flag { "True" } else { "False" }),
            Value::Null | Value::Comment(_) | Value::List(_) | Value::Branch(_) => {}
        }
    }

    fn problem(&self, problem: &'static str) -> SopsError {
        let path = if self.path.is_empty() { "a comment".to_owned() } else { self.path.join(".") };
        SopsError::Value { path, problem }
    }
}

/// Returns the digits of a float without an exponent.
fn float_text(number: f64) -> Zeroizing<String> {
    Zeroizing::new(match number {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        _ => number.to_string(),
    })
}

/// Compares two MACs in constant time.
pub(crate) fn is_same_mac(left: &Secret, right: &str) -> bool {
    use subtle::ConstantTimeEq as _;
    left.as_slice().ct_eq(right.as_bytes()).into()
}
