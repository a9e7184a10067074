//! The software bill of materials of a binary.
//! Source: CycloneDX 1.6, JSON.

use serde_json::{Value, json};
use transport::Digest;

use super::{
    linked_crates::{CrateId, LinkedCrate},
    product::PRODUCT,
    source::Source,
    target::Target,
};

/// Returns the bill of materials of a binary as JSON. Equal input gives equal bytes.
pub(super) fn sbom(crates: &[LinkedCrate], binary: &[u8], target: &Target, source: &Source) -> String {
    let is_program = |linked: &&LinkedCrate| linked.name == PRODUCT.name && linked.is_own();
    let program = crates.iter().find(is_program).map(LinkedCrate::id).unwrap_or_default();
    let libraries: Vec<Value> =
        crates.iter().filter(|linked| linked.id() != program).map(component).collect();
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": source.timestamp(),
            "tools": {"components": [{"type": "application", "name": "cargo xtask dist", "version": source.version}]},
            "component": {
                "type": "application",
                "bom-ref": reference(&program),
                "name": PRODUCT.name,
                "version": source.version,
                "description": PRODUCT.summary,
                "purl": reference(&program),
                "licenses": licences(PRODUCT.licence),
                "hashes": [{"alg": "SHA-256", "content": Digest::of(binary).hex()}],
                "properties": [{"name": "capstan:target", "value": target.triple()}],
            },
        },
        "components": libraries,
        "dependencies": crates.iter().map(edges).collect::<Vec<_>>(),
    });
    document["serialNumber"] = serial_number(&Digest::of(document.to_string().as_bytes())).into();
    format!("{document:#}\n")
}

fn component(linked: &LinkedCrate) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(&linked.id()),
        "name": linked.name,
        "version": linked.version,
        "licenses": licences(&linked.licence),
        "purl": reference(&linked.id()),
    });
    if let Some(checksum) = &linked.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(repository) = &linked.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

fn edges(linked: &LinkedCrate) -> Value {
    let used: Vec<String> = linked.dependencies.iter().map(reference).collect();
    json!({"ref": reference(&linked.id()), "dependsOn": used})
}

/// An older form of SPDX separates alternatives with `/`.
fn licences(expression: &str) -> Value {
    let expression: Vec<&str> = expression.split('/').map(str::trim).collect();
    json!([{"expression": expression.join(" OR ")}])
}

/// Returns the package URL of a crate, which is also its reference in the document.
fn reference((name, version): &CrateId) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// Returns a UUID from a digest, with the bits of version 8 (own scheme).
fn serial_number(digest: &Digest) -> String {
    let hex = digest.hex();
    format!("urn:uuid:{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..30])
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::PathBuf};

    use snapbox::{assert_data_eq, str};

    use super::*;

    fn linked(name: &str, checksum: Option<&str>, uses: &[&str]) -> LinkedCrate {
        let id = |name: &&str| ((*name).to_owned(), "1.0.0+b".to_owned());
        LinkedCrate {
            name: name.to_owned(),
            version: "1.0.0+b".to_owned(),
            licence: "MIT/Apache-2.0".to_owned(),
            authors: Vec::new(),
            repository: checksum.map(|_| "https://example.com/r".to_owned()),
            folder: PathBuf::new(),
            checksum: checksum.map(str::to_owned),
            dependencies: uses.iter().map(id).collect::<BTreeSet<_>>(),
        }
    }

    #[test]
    fn a_bill_lists_every_linked_crate_with_its_digest_and_uses() {
        let digest = Digest::of(b"").hex();
        let crates = [linked("capstan", None, &["tar"]), linked("tar", Some(&digest), &[])];
        let source = Source { version: "1.2.3".to_owned(), commit: None, time: 0 };
        let target = Target::parse("x86_64-unknown-linux-musl").unwrap();
        let text = sbom(&crates, b"binary", &target, &source);
        assert_eq!(text, sbom(&crates, b"binary", &target, &source));
        assert_data_eq!(
            text,
            str![[r#"
{
  "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
  "bomFormat": "CycloneDX",
  "components": [
    {
      "bom-ref": "pkg:cargo/tar@1.0.0%2Bb",
      "externalReferences": [
        {
          "type": "vcs",
          "url": "https://example.com/r"
        }
      ],
      "hashes": [
        {
          "alg": "SHA-256",
          "content": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        }
      ],
      "licenses": [
        {
          "expression": "MIT OR Apache-2.0"
        }
      ],
      "name": "tar",
      "purl": "pkg:cargo/tar@1.0.0%2Bb",
      "type": "library",
      "version": "1.0.0+b"
    }
  ],
  "dependencies": [
    {
      "dependsOn": [
        "pkg:cargo/tar@1.0.0%2Bb"
      ],
      "ref": "pkg:cargo/capstan@1.0.0%2Bb"
    },
    {
      "dependsOn": [],
      "ref": "pkg:cargo/tar@1.0.0%2Bb"
    }
  ],
  "metadata": {
    "component": {
      "bom-ref": "pkg:cargo/capstan@1.0.0%2Bb",
      "description": "Cluster API management clusters, by one binary",
      "hashes": [
        {
          "alg": "SHA-256",
          "content": "9a3a45d01531a20e89ac6ae10b0b0beb0492acd7216a368aa062d1a5fecaf9cd"
        }
      ],
      "licenses": [
        {
          "expression": "Apache-2.0"
        }
      ],
      "name": "capstan",
      "properties": [
        {
          "name": "capstan:target",
          "value": "x86_64-unknown-linux-musl"
        }
      ],
      "purl": "pkg:cargo/capstan@1.0.0%2Bb",
      "type": "application",
      "version": "1.2.3"
    },
    "timestamp": "1970-01-01T00:00:00Z",
    "tools": {
      "components": [
        {
          "name": "cargo xtask dist",
          "type": "application",
          "version": "1.2.3"
        }
      ]
    }
  },
  "serialNumber": "urn:uuid:ab70a8eb-38ef-88ab-87fc-f96878f84215",
  "specVersion": "1.6",
  "version": 1
}

"#]]
        );
    }
}
