//! The statement about the build of a release, for a signature outside this program.
//! Source: in-toto Attestation Framework, Statement v1; SLSA 1.0, provenance.

use serde_json::{Value, json};
use transport::Digest;

use super::{product::PRODUCT, source::Source};
use crate::workspace;

/// The build type: the meaning of the parameters is on this page.
const BUILD_TYPE: &str = "docs/guide/releases.md";

/// Returns the statement about files, given by name and digest. It names no time and no machine, so that everybody who
/// builds the commit gets the same statement.
pub(super) fn provenance(files: &[(String, Digest)], targets: &[&str], source: &Source) -> String {
    let subject =
        |(name, digest): &(String, Digest)| json!({"name": name, "digest": {"sha256": digest.hex()}});
    let repository = PRODUCT.repository;
    let mut sources = json!({"uri": format!("git+{repository}")});
    if let Some(commit) = &source.commit {
        sources["digest"] = json!({"gitCommit": commit});
    }
    let mut dependencies = vec![sources];
    dependencies.extend(["Cargo.lock", "rust-toolchain.toml"].into_iter().filter_map(input));
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": files.iter().map(subject).collect::<Vec<_>>(),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": format!("{repository}/blob/v{}/{BUILD_TYPE}", source.version),
                "externalParameters": {"command": "cargo xtask dist", "targets": targets, "version": source.version},
                "internalParameters": {"sourceDateEpoch": source.time},
                "resolvedDependencies": dependencies,
            },
            "runDetails": {"builder": {"id": format!("{repository}/blob/v{}/.github/workflows/release.yml", source.version)}},
        },
    });
    format!("{statement:#}\n")
}

/// A file of the sources that selects the inputs of the build.
fn input(name: &str) -> Option<Value> {
    let bytes = std::fs::read(workspace::root().join(name)).ok()?;
    Some(json!({"name": name, "digest": {"sha256": Digest::of(&bytes).hex()}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_names_files_commit_and_inputs() {
        let source = Source { version: "1.2.3".to_owned(), commit: Some("c0ffee".to_owned()), time: 5 };
        let files = [("a.tar.gz".to_owned(), Digest::of(b""))];
        let text = provenance(&files, &["x86_64-unknown-linux-musl"], &source);
        let statement: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(statement["subject"][0]["digest"]["sha256"], Digest::of(b"").hex());
        let inputs = &statement["predicate"]["buildDefinition"]["resolvedDependencies"];
        assert_eq!(inputs[0]["digest"]["gitCommit"], "c0ffee");
        assert_eq!(inputs[1]["name"], "Cargo.lock");
        assert_eq!(statement["predicate"]["runDetails"]["metadata"], Value::Null);
    }
}
