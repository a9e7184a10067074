//! Random texts and numbers, repeatable by the seed of the session.
//!
//! Source: sprig 3.3, goutils 1.1 (the alphabets).

use super::table::made;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const NUMERIC: &[u8] = b"0123456789";
const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const ROWS: &[Row] = &[
    ("randAlphaNum", "i", |run, args| text(run, args.int(0), ALPHANUMERIC)),
    ("randAlpha", "i", |run, args| text(run, args.int(0), ALPHABET)),
    ("randNumeric", "i", |run, args| text(run, args.int(0), NUMERIC)),
    ("randAscii", "i", |run, args| text(run, args.int(0), &(b' '..=b'~').collect::<Vec<_>>())),
    ("randBytes", "i", |run, args| {
        let Ok(count) = usize::try_from(args.int(0)) else {
            return Err("runtime error: makeslice: len out of range".into());
        };
        run.session().create(count)?;
        let mut bytes = vec![0; count];
        run.session().random.fill(&mut bytes)?;
        made(run, super::table::base64(&bytes))
    }),
    ("randInt", "ii", |run, args| {
        let (low, high) = (args.int(0), args.int(1));
        match high.checked_sub(low).and_then(|span| u64::try_from(span).ok()).filter(|span| *span > 0) {
            Some(span) => Ok(Value::Int(low.wrapping_add_unsigned(run.session().random.below(span)?))),
            None => Err("invalid argument to Intn".into()),
        }
    }),
    ("shuffle", "s", |run, args| {
        let mut characters: Vec<char> = args.utf8(0).chars().collect();
        for last in (1..characters.len()).rev() {
            let other = run.session().random.below(last as u64 + 1)?;
            characters.swap(last, usize::try_from(other).unwrap_or(last));
        }
        Ok(characters.into_iter().collect::<String>().into())
    }),
    ("uuidv4", "", |run, _| {
        let mut bytes = [0; 16];
        run.session().random.fill(&mut bytes)?;
        bytes[6] = (bytes[6] & 0x0F) | 0x40;
        bytes[8] = (bytes[8] & 0x3F) | 0x80;
        let digits = data_encoding::HEXLOWER.encode(&bytes);
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        Ok(parts.join("-").into())
    }),
];

/// Returns a text of random characters; a negative count gives an empty text.
fn text(run: &mut dyn Engine, count: i64, alphabet: &[u8]) -> Result {
    let count = usize::try_from(count).unwrap_or(0);
    run.session().create(count)?;
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let index = run.session().random.below(alphabet.len() as u64)?;
        out.push(alphabet[usize::try_from(index).unwrap_or(0)]);
    }
    Ok(Value::string(out))
}
