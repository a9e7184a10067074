//! The entry `sops` of an encrypted file: recipients, the MAC, and the rule of encryption.
//!
//! Source: sops v3.13 stores/metadata.go, stores/stores.go.

use manifest::parse_bool;

use crate::SopsError;
use crate::flat;
use crate::format::Format;
use crate::rule::EncryptionRule;
use crate::tree::{Branch, Entry, Value, find, is_time, without_fraction};

const KEY: &str = "sops";
const FLAT_PREFIX: &str = "sops_";
/// The suffix of keys whose values are in clear text, if a file has no rule.
const DEFAULT_SUFFIX: &str = "_unencrypted";
/// The maximum number of recipients of a file. Each one with a matching key costs a decryption.
const MAX_RECIPIENTS: usize = 10_000;
/// The lists of recipients that need other programs or services.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("kms", "AWS KMS"),
    ("gcp_kms", "GCP KMS"),
    ("hckms", "Huawei Cloud KMS"),
    ("azure_kv", "Azure Key Vault"),
    ("hc_vault", "HashiCorp Vault"),
    ("aws_kms", "AWS KMS"),
];

/// The metadata of a file.
pub(crate) struct Metadata {
    pub(crate) groups: Vec<Vec<Recipient>>,
    /// The number of groups that are needed, if there are several.
    pub(crate) threshold: usize,
    pub(crate) rule: EncryptionRule,
    pub(crate) mac: String,
    pub(crate) mac_only_encrypted: bool,
    /// The time of the last change, which is bound to the MAC.
    pub(crate) last_modified: String,
}

/// A key for which the data key is encrypted.
pub(crate) enum Recipient {
    /// A public key of age, and an age file with the data key.
    Age { recipient: String, enc: String },
    /// The fingerprint of a PGP key, and a message with the data key.
    Pgp { fingerprint: String, enc: String },
    /// A kind of key that is not supported.
    Unsupported(&'static str),
}

/// Removes the metadata from the documents and returns them; `None` if there are none.
///
/// # Errors
/// `Metadata` if flat metadata cannot be converted.
pub(crate) fn take(documents: &mut [Branch], format: Format) -> Result<Option<Branch>, SopsError> {
    if format == Format::Dotenv {
        let Some(first) = documents.first_mut() else { return Ok(None) };
        return take_flat(first, |key| key.strip_prefix(FLAT_PREFIX).map(str::to_owned));
    }
    let mut taken = None;
    for (index, document) in documents.iter_mut().enumerate() {
        let mut found =
            extract(document, |key| (key == KEY).then(String::new)).into_iter().map(|(_, value)| value);
        if index == 0 {
            taken = found.next();
            if found.next().is_some() {
                return Err(SopsError::Metadata("the entry `sops` occurs twice".to_owned()));
            }
        }
    }
    match taken {
        Some(Value::Branch(mut section)) if format == Format::Ini => {
            for entry in &mut section {
                if let Entry::Field { value, .. } = entry
                    && let Some(text) = value.as_str()
                {
                    *value = Value::text(text.replace("\\n", "\n"));
                }
            }
            take_flat(&mut section, |key| Some(key.to_owned()))
        }
        Some(Value::Branch(branch)) => Ok(Some(branch)),
        _ => Ok(None),
    }
}

/// Removes the fields for which `name` returns a name.
fn extract(branch: &mut Branch, name: impl Fn(&str) -> Option<String>) -> Vec<(String, Value)> {
    let mut fields = Vec::new();
    let mut kept = Vec::with_capacity(branch.len());
    for entry in branch.drain(..) {
        match entry {
            Entry::Field { key, value } => match name(&key) {
                Some(name) => fields.push((name, value)),
                None => kept.push(Entry::Field { key, value }),
            },
            comment @ Entry::Comment(_) => kept.push(comment),
        }
    }
    *branch = kept;
    fields
}

fn take_flat(
    branch: &mut Branch,
    name: impl Fn(&str) -> Option<String>,
) -> Result<Option<Branch>, SopsError> {
    let fields = extract(branch, name);
    if fields.is_empty() { Ok(None) } else { flat::unflatten(fields).map(Some) }
}

/// True if metadata have an encrypted MAC.
pub(crate) fn has_mac(metadata: &[Entry]) -> bool {
    find(metadata, "mac").and_then(Value::as_str).is_some_and(|mac| mac.starts_with("ENC["))
}

impl Metadata {
    /// Reads the metadata of a file.
    ///
    /// # Errors
    /// `Metadata` if a field is missing or invalid.
    pub(crate) fn read(metadata: &[Entry]) -> Result<Self, SopsError> {
        let text = |name| find(metadata, name).and_then(Value::as_str).unwrap_or_default();
        let last_modified = match find(metadata, "lastmodified") {
            Some(Value::Time(time)) => time,
            _ => text("lastmodified"),
        };
        if !is_time(last_modified) {
            return Err(SopsError::Metadata(
                "`lastmodified` is no time such as `2026-01-02T03:04:05Z`".to_owned(),
            ));
        }
        let groups = groups(metadata)?;
        let threshold = match find(metadata, "shamir_threshold") {
            None | Some(Value::Null) => 0,
            Some(value) => threshold(value)
                .ok_or_else(|| SopsError::Metadata("`shamir_threshold` is no number".to_owned()))?,
        };
        let mac_only_encrypted = match find(metadata, "mac_only_encrypted") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Int(number)) => *number != 0,
            Some(value) => value
                .as_str()
                .and_then(|text| if text.is_empty() { Some(false) } else { parse_bool(text) })
                .ok_or_else(|| {
                    SopsError::Metadata("`mac_only_encrypted` is neither true nor false".to_owned())
                })?,
        };
        Ok(Self {
            groups,
            threshold,
            rule: rule(metadata)?,
            mac: text("mac").to_owned(),
            mac_only_encrypted,
            last_modified: without_fraction(last_modified),
        })
    }
}

fn threshold(value: &Value) -> Option<usize> {
    match value {
        Value::Int(number) => usize::try_from(*number).ok(),
        _ => value.as_str()?.parse().ok(),
    }
}

/// Returns the groups of recipients. Recipients without a group form one group.
fn groups(metadata: &[Entry]) -> Result<Vec<Vec<Recipient>>, SopsError> {
    let own = recipients(metadata)?;
    let groups = if own.is_empty() {
        let listed = match find(metadata, "key_groups") {
            Some(Value::List(groups)) => groups.as_slice(),
            _ => &[],
        };
        listed.iter().filter_map(Value::as_branch).map(recipients).collect::<Result<_, _>>()?
    } else {
        vec![own]
    };
    match groups.iter().map(Vec::len).sum::<usize>() {
        0 => Err(SopsError::Metadata("they name no recipient".to_owned())),
        count if count > MAX_RECIPIENTS => {
            Err(SopsError::Metadata(format!("they name {count} recipients, more than {MAX_RECIPIENTS}")))
        }
        _ => Ok(groups),
    }
}

fn recipients(group: &[Entry]) -> Result<Vec<Recipient>, SopsError> {
    let mut recipients = Vec::new();
    for (name, kind) in UNSUPPORTED {
        recipients.extend(entries(group, name).map(|_| Recipient::Unsupported(kind)));
    }
    let text = |entry: &[Entry], list: &str, name: &str| {
        let text = find(entry, name).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| SopsError::Metadata(format!("an entry of `{list}` has no `{name}`")))
    };
    for entry in entries(group, "age") {
        let (recipient, enc) = (text(entry, "age", "recipient")?, text(entry, "age", "enc")?);
        recipients.push(Recipient::Age { recipient, enc });
    }
    for entry in entries(group, "pgp") {
        let (fingerprint, enc) = (text(entry, "pgp", "fp")?, text(entry, "pgp", "enc")?);
        recipients.push(Recipient::Pgp { fingerprint, enc });
    }
    Ok(recipients)
}

fn entries<'a>(group: &'a [Entry], name: &str) -> impl Iterator<Item = &'a [Entry]> + use<'a> {
    let list = match find(group, name) {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(Value::as_branch)
}

fn rule(metadata: &[Entry]) -> Result<EncryptionRule, SopsError> {
    let names = [
        "unencrypted_suffix",
        "encrypted_suffix",
        "unencrypted_regex",
        "encrypted_regex",
        "unencrypted_comment_regex",
        "encrypted_comment_regex",
    ];
    let text =
        |name: &'static str| Some((name, find(metadata, name)?.as_str().filter(|text| !text.is_empty())?));
    let mut given = names.into_iter().filter_map(text);
    let Some((name, text)) = given.next() else {
        return Ok(EncryptionRule::UnencryptedSuffix(DEFAULT_SUFFIX.to_owned()));
    };
    if let Some((other, _)) = given.next() {
        return Err(SopsError::Metadata(format!("`{name}` and `{other}` exclude each other")));
    }
    let regex = || {
        manifest::expression::read(text)
            .map_err(|why| SopsError::Metadata(format!("`{name}` is no valid regular expression: {why}")))
    };
    Ok(match name {
        "unencrypted_suffix" => EncryptionRule::UnencryptedSuffix(text.to_owned()),
        "encrypted_suffix" => EncryptionRule::EncryptedSuffix(text.to_owned()),
        "unencrypted_regex" => EncryptionRule::UnencryptedRegex(regex()?),
        "encrypted_regex" => EncryptionRule::EncryptedRegex(regex()?),
        "unencrypted_comment_regex" => EncryptionRule::UnencryptedCommentRegex(regex()?),
        _ => EncryptionRule::EncryptedCommentRegex(regex()?),
    })
}
