//! Passwords, keys, certificates and encryption. The seed of a session makes them repeatable.
//!
//! Source: sprig 3.3 crypto.go. Differs: `genPrivateKey "dsa"` is an error.

mod certificate;
mod curve;
mod keys;
mod passwords;
mod prime;
mod rsa;

use aes::Aes256;
use aes::cipher::{Block, BlockDecrypt as _, BlockEncrypt as _, KeyInit as _};

use super::encoding::base64_decoded;
use super::table::{self, Result, Row, made};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    table::add(functions, ROWS);
    table::add(functions, passwords::ROWS);
    table::add(functions, certificate::ROWS);
}

const ROWS: &[Row] = &[
    ("genPrivateKey", "s", |run, args| {
        let kind = args.utf8(0);
        Ok(match &*kind {
            "" | "rsa" => rsa::generate_4096(&mut run.session().random)?.pem(),
            "ecdsa" => keys::elliptic(&mut run.session().random)?,
            "ed25519" => keys::edwards(&mut run.session().random)?,
            "dsa" => "failed to generate dsa params: keys of this type are not supported".to_owned(),
            _ => format!("Unknown type {kind}"),
        }
        .into())
    }),
    ("encryptAES", "ss", encrypt),
    ("decryptAES", "ss", decrypt),
];

const BLOCK: usize = 16;

/// Returns the cipher of a password: the password itself, filled up with zeros, is the key.
fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    let length = password.len().min(key.len());
    key[..length].copy_from_slice(&password[..length]);
    Aes256::new(&key.into())
}

fn encrypt(run: &mut dyn Engine, args: &[Value]) -> Result {
    if args.text(1).is_empty() {
        return Ok("".into());
    }
    let cipher = cipher(args.text(0));
    let mut content = args.text(1).to_vec();
    run.session().create(content.len() * 2)?;
    let padding = BLOCK - content.len() % BLOCK;
    content.resize(content.len() + padding, u8::try_from(padding).unwrap_or_default());
    let mut out = vec![0; BLOCK];
    run.session().random.fill(&mut out)?;
    for plain in content.chunks(BLOCK) {
        let before = &out[out.len() - BLOCK..];
        let mixed: Vec<u8> = plain.iter().zip(before).map(|(plain, before)| plain ^ before).collect();
        let mut block = *Block::<Aes256>::from_slice(&mixed);
        cipher.encrypt_block(&mut block);
        out.extend_from_slice(&block);
    }
    made(run, table::base64(&out))
}

fn decrypt(run: &mut dyn Engine, args: &[Value]) -> Result {
    if args.text(1).is_empty() {
        return Ok("".into());
    }
    let encrypted =
        base64_decoded(args.text(1)).map_err(|at| format!("illegal base64 data at input byte {at}"))?;
    if encrypted.len() < BLOCK {
        let message = "runtime error: slice bounds out of range [:16] with capacity";
        return Err(format!("{message} {}", encrypted.len()).into());
    }
    if encrypted.len() % BLOCK != 0 {
        return Err("crypto/cipher: input not full blocks".into());
    }
    let cipher = cipher(args.text(0));
    let mut out = Vec::with_capacity(encrypted.len());
    for pair in encrypted.windows(2 * BLOCK).step_by(BLOCK) {
        let (before, sealed) = pair.split_at(BLOCK);
        let mut block = *Block::<Aes256>::from_slice(sealed);
        cipher.decrypt_block(&mut block);
        out.extend(block.iter().zip(before).map(|(plain, before)| plain ^ before));
    }
    let padding = out.last().map_or(1, |last| usize::from(*last));
    match out.len().checked_sub(padding) {
        Some(length) => {
            out.truncate(length);
            made(run, out)
        }
        None => Err("runtime error: slice bounds out of range".into()),
    }
}
