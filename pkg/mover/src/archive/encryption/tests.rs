//! Encryption, decryption, and files that must not open.

use std::{fmt::Write as _, io::Read as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use snapbox::{IntoData as _, assert_data_eq, str};

use super::*;
use crate::archive::tests::archive;

/// A key pair for these tests only.
const SECRET: &str = "AGE-SECRET-KEY-1S8NGYUDQZFKSGKR49WEQ5ZQKPTWFPHLTKP6U36N2UXNCM8ZSD7JS6RLJT4";
const PUBLIC: &str = "age12g0u6mkjfhvlph66l0d5lem3r0xt2ze2m98cycm3fkzej3dtzpaq036rmm";
const TO_RECIPIENT: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBPK2FXVnVBd1pCZHhxcFdHakgwd3E4bjRBZ01GQXNSeTNvYXUveEpIZW1n\
     CmhlSGtURlovTTdxTGJCaERHZ0JibTdBS2FERjgxUzRucEN4OHBGS2M3L00KLS0tIG5jZ2JWN2p4ck9lbVEwc2gweklGc3hBa1E3\
     TVp0Y1RPWWcwN3NFSHR3OWMKSVq6dWqhAEWbZiZk6cWXXWI8fLXpjo9nIVL2sd4hnqNtfb47BPzNdeIIuw==";
const BY_PASSPHRASE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBGaHVtaGdDbllJclBnWU1LVjM0VkdRIDE4CkhNU1dKRWwvSFVUNVg5SmRY\
     SXZlNXJleDFBZzJNVGd5eENXY0NQejk4YUkKLS0tIGNDb1VzN1lvSFFGeTk4UjdEOWVRbVRySjk1ZXk5OUVDS2E5cUhEdHMvWm8K\
     FBOx0TfasGYITvrec4Ze/q0KSo6Ez4qoEJ7l5agzDJlbgmr4lcETm6KeJw==";
const AS_TEXT: &str = "-----BEGIN AGE ENCRYPTED FILE-----\n\
     YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSAwTTA1SXRyenlhbytnSHM2\n\
     bm03am53c0dmUHlWTWI0d3RQZnhsVGh2bmlnCjd0YVhpUUc5N3ZFc0tnWnR2Nm9a\n\
     Y0J1cUViZ0JXKyt0emI1ZnVOVUV5OVEKLS0tIHJ5ZGZLRXRHY01KbEhLcVliNlZp\n\
     dllHTjBqaUsyN3JxMXlLaGdua2t4OTAKQ6YVA2Dz8Z3bRgzGGa7fUhHhvi9JAX/T\n\
     bzNCzs+OJZKWzj5E8BMubghqnw==\n\
     -----END AGE ENCRYPTED FILE-----\n";
/// Points of small order: every secret shared with them is zero.
const WEAK: [&str; 5] = [
    "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z",
    "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj7vrya",
    "age1t7wft09r2zxzfvwsk92eeql0tvzyghxytqwgapkcyf8dm5ylz9ts6wm9s8",
    "age1ur4h5lpmgxu2u9jku0a0r87ydtdqnr0tnsetrlvxvgz3vh6fhqqqzyt4v9",
    "age1anlllllllllllllllllllllllllllllllllllllllllllllllals4n2t7m",
];
const LIGHT: u8 = 2;

fn identity() -> Identity {
    SECRET.parse().unwrap()
}

fn recipient_of(identity: &Identity) -> Recipient {
    Recipient(identity.0.to_public())
}

fn stranger() -> Identity {
    Identity(age::x25519::Identity::generate())
}

fn word(text: &str) -> Passphrase {
    Passphrase::new(text.to_owned())
}

fn sealed(content: &[u8], seal: &Encryption) -> Vec<u8> {
    let mut out = ArchiveOutput::encrypted(Vec::new(), seal, LIGHT).unwrap();
    out.write_all(content).unwrap();
    out.finish().unwrap()
}

fn to_us(content: &[u8]) -> Vec<u8> {
    sealed(content, &Encryption::Recipients(vec![recipient_of(&stranger()), recipient_of(&identity())]))
}

fn read(bytes: &[u8], keys: &ArchiveKeys) -> Result<Backup, ArchiveError> {
    ArchiveInput::open(bytes)?.read(keys)
}

fn refused(bytes: &[u8], keys: &ArchiveKeys) -> String {
    api::with_causes(&read(bytes, keys).unwrap_err())
}

fn ours() -> ArchiveKeys {
    ArchiveKeys::Identities(vec![identity()])
}

/// Returns the decrypted payload, whatever the payload contains.
fn opened(bytes: &[u8], keys: &ArchiveKeys) -> io::Result<Vec<u8>> {
    let archive = ArchiveInput::open(bytes).unwrap();
    let lock = archive.required_key();
    let InputForm::Encrypted(sealed) = archive.0 else { panic!("it is not sealed") };
    let mut content = Vec::new();
    decrypt(*sealed, lock, keys).unwrap().read_to_end(&mut content)?;
    Ok(content)
}

#[test]
fn only_recipients_can_read_an_encrypted_archive() {
    let bytes = to_us(&archive());
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> X25519 "));
    assert_eq!(ArchiveInput::open(&*bytes).unwrap().required_key(), RequiredKey::Recipients);
    let both = ArchiveKeys::Identities(vec![stranger(), identity()]);
    for keys in [ours(), both] {
        assert_eq!(read(&bytes, &keys).unwrap().objects.len(), 3);
    }
    let others = ArchiveKeys::Identities(vec![stranger()]);
    assert_data_eq!(
        refused(&bytes, &others),
        str!["it is encrypted to other recipients; no given identity can decrypt it"]
    );
    assert_data_eq!(refused(&bytes, &ArchiveKeys::None), str!["it is encrypted to public keys"]);
    let passphrase = ArchiveKeys::Passphrase(word("open"));
    assert_data_eq!(refused(&bytes, &passphrase), str!["it is encrypted to public keys"]);
}

// Row: D-175
/// Input written by age v1.1.1, with `age -r PUBLIC`, `age -a -r PUBLIC` and `age -p`.
#[test]
fn files_of_the_age_program_are_readable() {
    let of_recipient = STANDARD.decode(TO_RECIPIENT).unwrap();
    assert_eq!(opened(&of_recipient, &ours()).unwrap(), b"said by age");
    assert_eq!(opened(AS_TEXT.as_bytes(), &ours()).unwrap(), b"said by age");
    let of_passphrase = STANDARD.decode(BY_PASSPHRASE).unwrap();
    let keys = ArchiveKeys::Passphrase(word("correct horse"));
    assert_eq!(opened(&of_passphrase, &keys).unwrap(), b"said by age");
}

#[test]
fn a_passphrase_decrypts_its_own_archive() {
    let bytes = sealed(&archive(), &Encryption::Passphrase(word("correct horse")));
    assert_eq!(ArchiveInput::open(&*bytes).unwrap().required_key(), RequiredKey::Passphrase);
    let right = ArchiveKeys::Passphrase(word("correct horse"));
    assert_eq!(read(&bytes, &right).unwrap().objects.len(), 3);
    let wrong = ArchiveKeys::Passphrase(word("correct house"));
    assert_data_eq!(refused(&bytes, &wrong), str!["it is encrypted with another passphrase"]);
    assert_data_eq!(refused(&bytes, &ours()), str!["it is encrypted with a passphrase"]);
}

#[test]
fn content_around_the_chunk_size_survives_a_round_trip() {
    let chunk = 64 << 10;
    for length in [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 7] {
        let content: Vec<u8> = (0..=250).cycle().take(length).collect();
        let bytes = to_us(&content);
        assert_eq!(opened(&bytes, &ours()).unwrap(), content, "{length}");
        assert!(opened(&bytes[..bytes.len() - 1], &ours()).is_err(), "{length}");
        assert!(opened(&[&*bytes, &[0]].concat(), &ours()).is_err(), "{length}");
    }
    let bytes = to_us(&vec![0; 2 * chunk + 7]);
    let last = bytes.len() - 7 - 16;
    assert!(opened(&bytes[..last], &ours()).is_err(), "cut off between two chunks");
}

// Row: D-175
#[test]
fn any_flipped_bit_or_missing_byte_is_detected() {
    let bytes = to_us(&archive());
    for at in 0..bytes.len() {
        let mut turned = bytes.clone();
        turned[at] ^= 1;
        assert!(read(&turned, &ours()).is_err(), "byte {at} of {}", bytes.len());
        assert!(read(&bytes[..at], &ours()).is_err(), "cut off at {at} of {}", bytes.len());
    }
    let mut turned = bytes.clone();
    *turned.last_mut().unwrap() ^= 1;
    assert_data_eq!(refused(&turned, &ours()), str!["its encrypted data was changed or truncated"]);
    assert_data_eq!(refused(&bytes[..40], &ours()), str!["it is truncated"]);
}

#[test]
fn an_abnormal_header_is_refused_before_key_derivation() {
    let wrapped = "A".repeat(43);
    let header = |stanza: &str| format!("age-encryption.org/v1\n{stanza}\n--- {wrapped}\n{wrapped}");
    let salt = "A".repeat(22);
    let mut reported = String::new();
    for text in [
        "age-encryption.org/v2\n-> of another shape\n".to_owned(),
        "-----BEGIN AGE ENCRYPTED FILE-----\n".to_owned(),
        "-----BEGIN AGE ENCRYPTED FILE-----\n.\n".to_owned(),
        header("-> X25519"),
        header("X25519 AA\n"),
        header("->  X25519\n"),
        header(&format!("-> X25519 AAAA\n{wrapped}")),
        header(&format!("-> X25519 {wrapped}\n{wrapped}")),
        header(&format!("-> scrypt {salt} 18\n{wrapped}\n-> X25519 {wrapped}\n{wrapped}")),
        format!("age-encryption.org/v1\n--- {wrapped}\n{wrapped}"),
        header("-> ssh-ed25519 AAAA\nAAAA"),
    ] {
        let _ = writeln!(reported, "{text:?}: {}", refused(text.as_bytes(), &ours()));
    }
    assert_data_eq!(reported, str![[r#"
"age-encryption.org/v2\n-> of another shape\n": its header is damaged or is not in version 1 of the age format
"-----BEGIN AGE ENCRYPTED FILE-----\n": it is truncated
"-----BEGIN AGE ENCRYPTED FILE-----\n.\n": its ASCII armor is damaged
"age-encryption.org/v1\n-> X25519\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\nX25519 AA\n\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\n->  X25519\n\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\n-> X25519 AAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\n-> X25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 18\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n-> X25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": its header is damaged or is not in version 1 of the age format
"age-encryption.org/v1\n-> ssh-ed25519 AAAA\nAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": it is encrypted to other recipients; no given identity can decrypt it

"#]].raw());
    let passphrase = ArchiveKeys::Passphrase(word("p"));
    let mut reported = String::new();
    for work in ["21", "018", "0", "999", "+1"] {
        let text = header(&format!("-> scrypt {salt} {work}\n{wrapped}"));
        let _ = writeln!(reported, "{work}: {}", refused(text.as_bytes(), &passphrase));
    }
    assert_data_eq!(
        reported,
        str![[r#"
21: its passphrase requires 2^21 scrypt rounds; at most 2^20 are supported
018: its header is damaged or is not in version 1 of the age format
0: its header is damaged or is not in version 1 of the age format
999: its header is damaged or is not in version 1 of the age format
+1: its header is damaged or is not in version 1 of the age format

"#]]
    );
    let endless = format!("age-encryption.org/v1\n-> X {}", "a".repeat(2 << 20));
    assert_data_eq!(refused(endless.as_bytes(), &ours()), str!["it is truncated"]);
}

#[test]
fn key_types_are_detected_and_keys_never_shown() {
    let recipient = |text: &str| text.parse::<Recipient>().map(drop);
    let identity = |text: &str| text.parse::<Identity>().map(drop);
    assert_eq!(recipient(SECRET), Err(KeyError::Secret));
    assert_eq!(identity("ssh-ed25519 AAAAC3"), Err(KeyError::Ssh));
    assert_eq!(identity("-----BEGIN OPENSSH PRIVATE KEY-----"), Err(KeyError::Ssh));
    assert_eq!(
        recipient("age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t"),
        Err(KeyError::UnsupportedKind)
    );
    assert_eq!(identity("AGE-PLUGIN-YUBIKEY-1QQQQ"), Err(KeyError::UnsupportedKind));
    assert_eq!(recipient(&PUBLIC.replace('k', "l")), Err(KeyError::Other));
    assert_eq!(identity(&SECRET.to_lowercase()), Ok(()));
    assert_eq!(
        format!("{:?} {:?}", self::identity(), word("open")),
        "Identity(…) Passphrase(SecretBox<str>([REDACTED]))"
    );
    let read = Identity::read_all(&format!("# made\n\n{SECRET}\n")).unwrap();
    assert_eq!(recipient_of(&read[0]), PUBLIC.parse().unwrap());
    assert_eq!(identity(PUBLIC), Err(KeyError::Public));
    for weak in WEAK {
        assert_eq!(recipient(weak), Err(KeyError::Weak));
    }
    let error = Recipient::read_all(&format!("# ours\n{SECRET}\n")).unwrap_err();
    assert_data_eq!(
        api::with_causes(&error),
        str!["line 2 is not a valid key: it is a secret key; a public key is required"]
    );
    assert_eq!(Identity::read_all("# none\n").map(drop), Err(KeyFileError::Empty));
}
