use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use super::*;
use crate::results::Reads;

const VAULT: &str = "https://vault.example.com";

/// Collects the references of a component `one` with an instance `two`.
#[expect(clippy::needless_pass_by_value, reason = "tests write the parameters in place")]
fn collected(cluster: Value, one: Value, two: Value) -> Result<Vec<ReferenceFile>, ReferenceError> {
    let mut cluster = cluster;
    cluster["kapitan"] = json!({"secrets": {"vaultkv": {"VAULT_ADDR": VAULT, "auth": "token"}}});
    cluster["my_one"] = json!("?{vaultkv:never/found}");
    let (one, two) = (json!({"my_one": one}), json!({"my_one": two}));
    let parameters = [("cluster", &cluster), ("my-one", &one), ("two", &two)]
        .map(|(name, value)| (name.to_owned(), value));
    let instances = ["my-one", "two"].map(|name| (name.to_owned(), "my-one".to_owned()));
    collect(&BTreeMap::from(parameters), &BTreeMap::from(instances), "cluster")
}

// Row: CAT-85
// Row: CAT-92
// Row: CAT-93
#[test]
fn every_reference_of_the_parameters_gets_a_file() {
    let files = collected(
        json!({"global": {"a": ["x ?{vaultkv:t/c/a} ?{vaultkv:t/c/b}"]}}),
        json!({"p": "?{vaultkv:t/c/one/key}", "same": "?{vaultkv:t/c/a}"}),
        json!(null),
    )
    .unwrap();
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["t/c/a", "t/c/b", "t/c/one/key"]);
    assert_data_eq!(
        &files[2].content,
        str![[r#"
data: dC9jL29uZTprZXk=
encoding: original
type: vaultkv
vault_params:
  VAULT_ADDR: https://vault.example.com
  auth: token

"#]]
    );
}

// Row: CAT-84
#[test]
fn references_that_cannot_be_stored_are_errors() {
    let problem = |text: &str| collected(json!({}), json!(text), json!(null)).unwrap_err().to_string();
    assert_eq!(problem("?{gpg:a/b}"), "reference `gpg:a/b` has type `gpg`, which is not supported");
    assert_eq!(problem("?{x}"), "reference `x` is invalid: the type is missing");
    assert_eq!(problem("?{vaultkv:a}"), "reference `vaultkv:a` is invalid: a secret and a key are needed");
    assert_eq!(
        problem("?{vaultkv:../a/b}"),
        "reference `vaultkv:../a/b` is invalid: the path leaves the folder of references"
    );
}

// Row: CAT-90
// Row: CAT-91
#[test]
fn compiled_references_have_the_hash_of_their_file() {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("t/c")).unwrap();
    fs::write(folder.path().join("t/c/key"), "data: dC9jOmtleQ==\n").unwrap();
    let references = References::Hashed { folder: folder.path().to_owned() };
    let value =
        json!({"a": ["<?{vaultkv:t/c/key}>", "?{ vaultkv:t/c/key}", 1], "b": "?{vaultkv:t/c/key:0123}"});
    assert_eq!(
        references.replace_in(value, &Reads::default()).unwrap(),
        json!({"a": ["<?{vaultkv:t/c/key:c82e81fe}>", "?{ vaultkv:t/c/key}", 1], "b": "?{vaultkv:t/c/key:c82e81fe}"})
    );
    let unknown =
        references.replace("?{vaultkv:t/c/other}".to_owned(), &Reads::default()).unwrap_err().to_string();
    assert!(unknown.starts_with("Could not find ref backend for tag: ?{vaultkv:t/c/other}: "), "{unknown}");
}

#[test]
fn references_become_paths_in_tests_of_components() {
    let replace = |text: &str| {
        References::PathOnly.replace(text.to_owned(), &Reads::default()).map_err(|error| error.to_string())
    };
    assert_eq!(replace("a ?{vaultkv:t/c/key} b").unwrap(), "a t/c/key b");
    assert_eq!(
        replace("?{gpg:a}").unwrap_err(),
        "reference `?{gpg:a}` has type `gpg`, which is not supported"
    );
}
