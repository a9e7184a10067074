//! Changed and damaged files, and key files that cannot be used.

use std::fs;

use crate::{DecryptionKeys, KeyFileProblem, SopsError, decrypt, is_encrypted};

/// Returns the encrypted file of a case of the corpus, and the keys of the case.
fn case(name: &str, file: &str) -> Option<(String, DecryptionKeys)> {
    let case = support::skip::corpus()?.join("components/sops").join(name);
    let key = fs::read(case.join("keys/a1.agekey")).unwrap();
    let keys = DecryptionKeys::from_files([("a1.agekey", key)]).unwrap();
    Some((fs::read_to_string(case.join(file)).unwrap(), keys))
}

#[test]
fn a_moved_value_is_named_with_its_path() {
    let Some((text, keys)) = case("age-yaml", "s.yaml") else { return };
    let moved = text.replacen("    user: ENC", "    other: ENC", 1);
    let error = decrypt("s.yaml", moved.as_bytes(), &keys).unwrap_err();
    assert!(matches!(error, SopsError::Value { ref path, .. } if path == "stringData.other"), "{error}");
}

#[test]
fn a_changed_clear_value_is_a_mac_mismatch() {
    let Some((text, keys)) = case("age-yaml", "s.yaml") else { return };
    let changed = text.replacen("plain_unencrypted: visible", "plain_unencrypted: changed", 1);
    assert_ne!(changed, text);
    assert!(matches!(decrypt("s.yaml", changed.as_bytes(), &keys), Err(SopsError::MacMismatch)));
}

#[test]
fn every_truncated_or_shortened_file_is_refused_without_a_panic() {
    let Some((text, keys)) = case("age-json", "s.json") else { return };
    let original = decrypt("s.json", text.as_bytes(), &keys).unwrap();
    // SOPS does not protect the keys of values in clear text.
    let clear = text.find("\"o\": {").unwrap()..text.find("\"sops\"").unwrap();
    for (index, _) in text.char_indices().step_by(7) {
        let kept = &text[..index];
        assert!(decrypt("s.json", kept.as_bytes(), &keys).is_err(), "{index} bytes");
        let cut = format!("{kept}{}", text.get(index + 1..).unwrap_or_default());
        if let Ok(decrypted) = decrypt("s.json", cut.as_bytes(), &keys)
            && !clear.contains(&index)
        {
            assert_eq!(decrypted, original, "without byte {index}");
        }
    }
}

#[test]
fn a_file_cut_off_between_values_and_mac_is_refused() {
    let Some((text, keys)) = case("age-yaml", "s.yaml") else { return };
    for end in ["\nsops:", "    lastmodified:", "    mac: ENC"] {
        let cut = &text[..=text.find(end).unwrap()];
        assert!(is_encrypted(cut.as_bytes()), "{cut}");
        assert!(matches!(decrypt("s.yaml", cut.as_bytes(), &keys), Err(SopsError::NoMac)), "{cut}");
    }
    let dotenv = "USER=ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\nsops_version=3.9.0\n";
    assert!(matches!(decrypt("s.env", dotenv.as_bytes(), &keys), Err(SopsError::NoMac)));
    let ini = "[user]\nname = ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n";
    assert!(matches!(decrypt("s.ini", ini.as_bytes(), &keys), Err(SopsError::NoMac)));
}

#[test]
fn compact_json_is_encrypted_and_prose_is_not() {
    let Some((text, keys)) = case("age-json", "s.json") else { return };
    let compact = text.replace(['\n', '\t'], "").replace("\": \"", "\":\"");
    assert!(compact.contains("\"mac\":\"ENC["));
    let original = decrypt("s.json", text.as_bytes(), &keys).unwrap();
    assert_eq!(decrypt("s.json", compact.as_bytes(), &keys).unwrap(), original);
    for prose in [
        "A sops file has a line `mac: ENC[AES256_GCM,data:…`.\n",
        "sops:\n  manual: |\n    mac: ENC[AES256_GCM,data:x]\n",
        "[sops]\nname = mac\n; ENC[AES256_GCM,data:\n",
        "data:\n  manual: |\n    password: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n",
        "A password is encrypted.\n\n    password: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n",
    ] {
        assert!(!is_encrypted(prose.as_bytes()), "{prose}");
    }
}

#[test]
fn deep_nesting_is_refused_in_every_format() {
    let deep = "[".repeat(10_000);
    let mac = "ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]";
    for text in [
        format!("{{\"sops\": {{\"mac\": \"{mac}\"}}, \"a\": {deep}{}}}", "]".repeat(10_000)),
        format!("sops:\n  mac: {mac}\na: {deep}\n"),
    ] {
        let refused = decrypt("a.yaml", text.as_bytes(), &DecryptionKeys::default());
        assert!(matches!(refused, Err(SopsError::Syntax { .. })), "{refused:?}");
    }
}

// Row: CMP-50
#[test]
fn only_cloud_keys_are_refused_with_their_names() {
    let text = "a: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\nsops:\n    kms:\n        - arn: arn:aws:kms:x\n          enc: x\n    lastmodified: \"2026-01-02T03:04:05Z\"\n    mac: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n    version: 3.9.0\n";
    let error = decrypt("a.yaml", text.as_bytes(), &DecryptionKeys::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot get the data key: the file is encrypted for AWS KMS, but only age and PGP keys are supported"
    );
}

#[test]
fn key_files_without_keys_name_the_file_but_no_content() {
    let problem = |name, content: &str| match DecryptionKeys::from_files([(name, content)]) {
        Err(SopsError::KeyFile { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(problem("a.agekey", "# c\n\nAGE-SECRET-KEY-1WRONG\n"), KeyFileProblem::AgeIdentity(3));
    assert_eq!(problem("a.asc", "no key"), KeyFileProblem::NoPgpKey);
    let broken = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nAAAA\n-----END PGP PRIVATE KEY BLOCK-----\n";
    assert_eq!(problem("a.asc", broken), KeyFileProblem::DamagedPgpKey);
    assert!(DecryptionKeys::from_files([("readme.txt", "AGE-SECRET-KEY-1WRONG")]).unwrap().is_empty());
}
