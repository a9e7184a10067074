use manifest::{YamlLimits, read_stream};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::references::LocalObjects;

const READY: &str = "
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: ns, generation: 2, uid: u}
status:
  observedGeneration: 2
  conditions: [{type: Ready, status: 'True', observedGeneration: 2}]
  artifact: {url: 'http://source.example/a.tgz', digest: 'sha256:1111', revision: 'main@sha1:abcd'}
";

fn key(kind: &str) -> ObjectKey {
    ObjectKey {
        group: FLUX.to_owned(),
        kind: kind.to_owned(),
        namespace: "ns".to_owned(),
        name: "repo".to_owned(),
    }
}

async fn state(text: &str) -> Result<SourceState, ReferenceError> {
    let objects = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects;
    let kind = objects[0].kind().to_owned();
    let key = ObjectKey { group: objects[0].group().to_owned(), ..key(&kind) };
    read_source(&key, &LocalObjects::new(objects, "ns")).await
}

// Row: CMP-27, CMP-28, CMP-29, CMP-30, CMP-35
#[tokio::test]
async fn sources_of_flux_are_read_from_their_status() {
    for kind in ["GitRepository", "OCIRepository", "Bucket", "HelmChart"] {
        let found = state(&READY.replace("GitRepository", kind)).await.unwrap().artifact;
        assert_eq!((found.digest.as_str(), found.revision.as_str()), ("sha256:1111", "main@sha1:abcd"));
    }
}

// Row: CMP-31, CMP-32
#[test]
fn a_source_is_in_the_namespace_of_the_component_by_default() {
    let source = |namespace: Option<&str>| SourceReference {
        flux_bucket: Some(NamespacedReference {
            namespace: namespace.map(str::to_owned),
            name: "b".to_owned(),
        }),
        ..SourceReference::default()
    };
    let of = |namespace| source_object(&source(namespace), "own").unwrap().namespace;
    assert_eq!((of(None), of(Some("other"))), ("own".to_owned(), "other".to_owned()));
}

#[tokio::test]
async fn sources_that_are_not_ready_are_reported() {
    let mut texts = Vec::new();
    for (from, to) in [
        ("status: 'True'", "status: 'False'"),
        ("  observedGeneration: 2", "  observedGeneration: 1"),
        ("'True', observedGeneration: 2", "'True', observedGeneration: 1"),
        ("artifact:", "former:"),
        ("url: 'http://source.example/a.tgz', ", ""),
        ("digest: 'sha256:1111', ", ""),
        ("revision: 'main@sha1:abcd'", "revision: ''"),
        ("name: repo", "name: gone"),
    ] {
        texts.push(state(&READY.replacen(from, to, 1)).await.unwrap_err().to_string());
    }
    assert_data_eq!(
        texts.join("\n"),
        str![[r#"
source not ready
source not ready
source not ready
missing artifact on ready source
source not ready (missing URL)
source not ready (missing digest)
source not ready (missing revision)
GitRepository.source.toolkit.fluxcd.io "repo" not found
"#]]
    );
}

#[tokio::test]
async fn any_change_of_the_source_changes_its_digest() {
    let digest = async |from: &str, to: &str| state(&READY.replace(from, to)).await.unwrap().digest;
    let before = digest("", "").await;
    for (from, to) in [("uid: u", "uid: v"), ("abcd", "abce"), ("1111", "1112"), ("a.tgz", "b.tgz")] {
        assert_ne!(digest(from, to).await, before, "{from}");
    }
    assert_eq!(digest("metadata: {", "metadata: {labels: {a: b}, ").await, before);
}

#[tokio::test]
async fn a_blueprint_brings_its_files() {
    use chart::{Tree as _, TreePath};
    let text = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {name: repo, namespace: ns}
spec: {files: {a/b.yaml: 'x: 1'}}
";
    let found = state(text).await.unwrap();
    assert_eq!(&*found.files.unwrap().read(&TreePath::new("/a/b.yaml")).unwrap(), b"x: 1");
    assert_eq!(found.artifact.digest, found.artifact.revision);
    assert_data_eq!(
        state(&text.replace("a/b", "../b")).await.unwrap_err().to_string(),
        str!["archive must not contain entries outside of its root (../b.yaml)"]
    );
}
