//! Files encrypted by sops, with the text that component-operator decrypted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{DecryptionKeys, SopsError, decrypt, is_encrypted};

#[test]
fn every_file_decrypts_to_the_recorded_bytes() {
    let Some(corpus) = support::skip::corpus() else { return };
    let cases = files(&corpus.join("components/sops"));
    let failed: Vec<_> =
        cases.iter().filter(|case| case.is_dir()).filter_map(|case| compare(case).err()).collect();
    assert!(failed.is_empty(), "{} cases differ:\n{}", failed.len(), failed.join("\n"));
}

fn compare(case: &Path) -> Result<(), String> {
    let name = case.file_name().unwrap().to_string_lossy();
    let file = files(case)
        .into_iter()
        .find(|path| path.is_file() && !path.ends_with("case.json") && !is_expectation(path))
        .unwrap();
    let keys = files(&case.join("keys"))
        .into_iter()
        .map(|key| (key.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&key).unwrap()));
    let keys = DecryptionKeys::from_files(keys).map_err(|error| error.to_string())?;
    match (fs::read(case.join("expected.txt")), decrypt_or_keep(&file, &keys)) {
        (Ok(expected), Ok(text)) if expected == text => Ok(()),
        (Ok(_), Ok(text)) => Err(format!("{name}: {}", String::from_utf8_lossy(&text))),
        (Ok(_), Err(error)) => Err(format!("{name}: {error}")),
        (Err(_), Err(_)) => Ok(()),
        (Err(_), Ok(_)) => Err(format!("{name}: decrypted, but the peer refused")),
    }
}

fn is_expectation(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "expected")
}

fn decrypt_or_keep(file: &Path, keys: &DecryptionKeys) -> Result<Vec<u8>, SopsError> {
    let bytes = fs::read(file).unwrap();
    if !is_encrypted(&bytes) {
        return Ok(bytes);
    }
    decrypt(&file.file_name().unwrap().to_string_lossy(), &bytes, keys).map(|text| text.to_vec())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
