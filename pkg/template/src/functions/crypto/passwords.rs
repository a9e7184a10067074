//! `bcrypt`, `htpasswd` and `derivePassword`.

use blowfish::Blowfish;
use data_encoding::{Encoding, Specification};
use ring::hmac;

use super::super::Arguments as _;
use super::super::table::{Result, Row};
use crate::engine::Engine;
use crate::value::Value;

pub(super) const ROWS: &[Row] = &[
    ("bcrypt", "s", |run, args| Ok(bcrypt(run, args.text(0))?.into())),
    ("htpasswd", "ss", |run, args| {
        if args.text(0).contains(&b':') {
            return Ok(format!("invalid username: {}", args.utf8(0)).into());
        }
        let hash = bcrypt(run, args.text(1))?;
        Ok([args.text(0), b":", hash.as_bytes()].concat().into())
    }),
    ("derivePassword", "ussss", derive),
];

/// The cost that Go uses if none is given.
const COST: u32 = 10;
/// The longest password.
const LONGEST: usize = 72;

/// Returns the hash of a password with a new salt, or Go's text for a password that is too long.
fn bcrypt(run: &mut dyn Engine, password: &[u8]) -> std::result::Result<String, String> {
    if password.len() > LONGEST {
        let problem = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {problem}"));
    }
    let mut salt = [0; 16];
    run.session().random.fill(&mut salt)?;
    let encoding = alphabet()?;
    let hash = digest(password, &salt);
    Ok(format!("$2a${COST}${}{}", encoding.encode(&salt), encoding.encode(&hash[..23])))
}

/// The base64 of bcrypt.
fn alphabet() -> std::result::Result<Encoding, String> {
    let mut specification = Specification::new();
    specification.symbols.push_str("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    specification.encoding().map_err(|error| error.to_string())
}

/// Hashes a password as bcrypt does.
fn digest(password: &[u8], salt: &[u8; 16]) -> [u8; 24] {
    let key = [password, &[0]].concat();
    let mut state: Blowfish = Blowfish::bc_init_state();
    state.salted_expand_key(salt, &key);
    for _ in 0..1_u32 << COST {
        state.bc_expand_key(&key);
        state.bc_expand_key(salt);
    }
    let mut out = [0; 24];
    for (text, out) in b"OrpheanBeholderScryDoubt".chunks(8).zip(out.chunks_mut(8)) {
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| (word << 8) | u32::from(*byte));
        let mut words = [word(&text[..4]), word(&text[4..])];
        for _ in 0..64 {
            words = state.bc_encrypt(words);
        }
        out[..4].copy_from_slice(&words[0].to_be_bytes());
        out[4..].copy_from_slice(&words[1].to_be_bytes());
    }
    out
}

/// The forms of passwords; each letter stands for a set of characters.
const FORMS: &[(&str, &[&str])] = &[
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

fn characters(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

fn with_length(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), text].concat()
}

/// Derives a password for a site from a master password, by the algorithm of Master Password.
fn derive(_: &mut dyn Engine, args: &[Value]) -> Result {
    const NAME: &[u8] = b"com.lyndir.masterpassword";
    let counter = if let Value::Uint64(counter) = args.value(0) { *counter } else { 0 };
    let form = args.utf8(1);
    let Some((_, forms)) = FORMS.iter().find(|(name, _)| *name == form) else {
        return Ok(format!("cannot find password template {form}").into());
    };
    let salt = [NAME, &with_length(args.text(3))].concat();
    let params = scrypt::Params::new(15, 8, 2, 64).map_err(|error| error.to_string())?;
    let mut key = [0; 64];
    scrypt::scrypt(args.text(2), &salt, &params, &mut key).map_err(|error| error.to_string())?;
    let counter = u32::try_from(counter & u64::from(u32::MAX)).unwrap_or_default();
    let message = [NAME, &with_length(args.text(4)), &counter.to_be_bytes()].concat();
    let seed = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &message);
    let seed = seed.as_ref();
    let form = forms[usize::from(seed[0]) % forms.len()];
    let password = form.bytes().zip(&seed[1..]).map(|(letter, byte)| {
        let characters = characters(letter);
        char::from(characters[usize::from(*byte) % characters.len()])
    });
    Ok(password.collect::<String>().into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_password_has_the_hash_of_other_programs() {
        // Go verifies this hash of `password`.
        let salt = [0x55; 16];
        let encoding = super::alphabet().expect("an alphabet");
        assert_eq!(encoding.encode(&salt), "TTTTTTTTTTTTTTTTTTTTTO");
        assert_eq!(
            encoding.encode(&super::digest(b"password", &salt)[..23]),
            "dcAEdazW.VgyQJ4bYDortUfaJ3k65wm"
        );
    }
}
