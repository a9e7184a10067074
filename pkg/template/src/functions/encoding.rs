//! Encodings and checksums.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::{BASE32, HEXLOWER};
use ring::digest::{self, Algorithm};

use super::table::made;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("b64enc", "s", |run, args| made(run, super::table::base64(args.text(0)))),
    ("b64dec", "s", |run, args| made(run, base64_decoded(args.text(0)).unwrap_or_else(illegal("base64")))),
    ("b32enc", "s", |run, args| made(run, BASE32.encode(args.text(0)))),
    ("b32dec", "s", |run, args| made(run, base32_decoded(args.text(0)).unwrap_or_else(illegal("base32")))),
    ("sha1sum", "s", |_, args| hash(&digest::SHA1_FOR_LEGACY_USE_ONLY, args)),
    ("sha256sum", "s", |_, args| hash(&digest::SHA256, args)),
    ("sha512sum", "s", |_, args| hash(&digest::SHA512, args)),
    ("adler32sum", "s", |_, args| Ok(adler32(args.text(0)).to_string().into())),
];

/// Returns the text of Go's error at a byte.
fn illegal(encoding: &'static str) -> impl Fn(usize) -> Vec<u8> {
    move |at| format!("illegal {encoding} data at input byte {at}").into_bytes()
}

/// Decodes base64, ignoring line ends. The error is the position that Go names.
pub(super) fn base64_decoded(text: &[u8]) -> std::result::Result<Vec<u8>, usize> {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let joined: Vec<u8> = text.iter().copied().filter(|byte| !is_break(byte)).collect();
    STANDARD.decode(&joined).map_err(|_| {
        let good = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let bad = text.iter().position(|byte| !good(byte) && !is_break(byte)).unwrap_or(text.len());
        let digits = text[..bad].iter().filter(|byte| good(byte)).count();
        padding_error(text, bad, digits)
    })
}

/// Returns the position of an error behind `digits` valid characters, the first other one being at `bad`.
fn padding_error(text: &[u8], bad: usize, digits: usize) -> usize {
    match text.get(bad) {
        None => {
            // The last quantum is incomplete; it starts at a multiple of four digits.
            let quantum = digits / 4 * 4;
            let mut seen = 0;
            text.iter()
                .position(|byte| {
                    let is_start = seen == quantum && !matches!(byte, b'\r' | b'\n');
                    seen += usize::from(!matches!(byte, b'\r' | b'\n'));
                    is_start
                })
                .unwrap_or(text.len())
        }
        Some(b'=') => match digits % 4 {
            0 | 1 => bad,
            2 => match text.get(bad + 1) {
                None => text.len(),
                Some(b'=') => (bad + 2).min(text.len()),
                Some(_) => bad + 1,
            },
            _ => bad + 1,
        },
        Some(_) => bad,
    }
}

fn base32_decoded(text: &[u8]) -> std::result::Result<Vec<u8>, usize> {
    let joined: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    BASE32.decode(&joined).map_err(|error| {
        let is_digit = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7' | b'=' | b'\r' | b'\n');
        text.iter().position(|byte| !is_digit(byte)).unwrap_or(error.position)
    })
}

fn hash(algorithm: &'static Algorithm, args: &[Value]) -> Result {
    Ok(HEXLOWER.encode(digest::digest(algorithm, args.text(0)).as_ref()).into())
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1, 0);
    for byte in bytes {
        low = (low + u32::from(*byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    (high << 16) | low
}
