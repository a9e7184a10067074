use manifest::{YamlLimits, read_stream};
use snapbox::{assert_data_eq, str};
use support::fixture::Fixture;
use tokio::runtime::Handle;

use super::*;
use crate::{
    ArtifactReference, ClusterLookups, LocalObjects, check_component, server_capabilities, testing::connect,
};

/// A Secret of SOPS for a key of this test only.
const ENCRYPTED: &str = include_str!("tests/secret.yaml");

/// The same Secret for a PGP key of this test only.
const ENCRYPTED_FOR_PGP: &str = include_str!("tests/pgp.yaml");
const PGP_KEY: &str = include_str!("tests/pgp-key.asc");

/// Secrets of a Component: values, variables and the key of `ENCRYPTED`.
const SECRETS: &str = "
apiVersion: v1
kind: Secret
metadata: {name: values}
stringData: {values: '{who: world, kept: 1}'}
---
apiVersion: v1
kind: Secret
metadata: {name: variables}
stringData: {GREETING: hello}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {a.agekey: AGE-SECRET-KEY-199DZMUDUT5AH9YKALASJZ5NCGF02P67VN74SNUMJ09R7H2M8L4TSUKUQZ9}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo}
status:
  conditions: [{type: Ready, status: 'True'}]
  artifact: {url: 'http://host/a.tgz', digest: 'sha256:1', revision: main@1}
";

fn read(text: &str) -> Vec<Object> {
    read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects
}

/// Returns the objects of `SECRETS`, and a Secret with keys of both kinds and another file.
fn secrets() -> Vec<Object> {
    let mut secrets = read(SECRETS);
    let mut keys = secrets.iter().find(|secret| secret.name() == "keys").unwrap().clone();
    keys.as_map_mut()["metadata"]["name"] = "both-keys".into();
    keys.as_map_mut()["stringData"]["b.asc"] = PGP_KEY.into();
    keys.as_map_mut()["stringData"]["known_hosts"] = "no key".into();
    secrets.push(keys);
    secrets
}

fn component(spec: &str) -> Component {
    let text = format!(
        "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: web, namespace: shop}}\nspec:\n  sourceRef: {{fluxGitRepository: {{name: repo}}}}\n{spec}"
    );
    check_component(&read(&text)[0]).unwrap().component
}

/// Returns settings whose source has some files.
fn given(files: &[(&str, &str)]) -> Preparation {
    let artifact = ArtifactReference { digest: "given".to_owned(), ..ArtifactReference::default() };
    let files = files.iter().map(|(path, content)| (path, content.as_bytes().to_vec())).collect();
    let source = SourceState { artifact, digest: "given".to_owned(), files: Some(files) };
    Preparation { source: Some(source), ..Preparation::default() }
}

async fn prepare(preparation: &Preparation, spec: &str) -> Result<RenderedComponent, String> {
    let hub = LocalObjects::new(secrets(), "shop");
    let resolved = preparation.resolve(component(spec), &hub).await;
    let rendered = match resolved {
        Ok(resolved) => preparation.render(resolved, TemplateCluster::default()).await,
        Err(error) => Err(error),
    };
    rendered.map_err(|error| {
        let chain = api::error_chain(&error);
        [chain.lines, chain.hints].concat().join("\n")
    })
}

// Row: CMP-46, CMP-48, CMP-51, CMP-53
#[tokio::test]
async fn files_are_decrypted_rendered_substituted_and_patched() {
    let rendered = prepare(
        &given(&[("/secret.yaml", ENCRYPTED)]),
        "  valuesFrom: [{name: values}]
  decryption: {secretRef: {name: keys}}
  postBuild:
    substituteFrom: [{name: variables}]
    patches: [{target: {kind: Secret}, patch: '[{op: add, path: /type, value: Opaque}]'}]\n",
    )
    .await;
    assert_data_eq!(
        manifest::write_stream(&rendered.unwrap().objects),
        str![[r#"
apiVersion: v1
kind: Secret
metadata:
  name: password
stringData:
  password: hello world
type: Opaque
"#]]
    );
}

// Row: CMP-47, CMP-49
#[tokio::test]
async fn the_names_of_keys_tell_age_from_pgp() {
    let by = async |keys: &str, file| {
        let spec = format!("  decryption: {{secretRef: {{name: {keys}}}}}\n");
        prepare(&given(&[("/secret.yaml", file)]), &spec).await
    };
    for file in [ENCRYPTED, ENCRYPTED_FOR_PGP] {
        let objects = by("both-keys", file).await.unwrap().objects;
        assert_eq!(objects[0].get(&["stringData", "password"]), Some(&"${GREETING}".into()));
    }
    let no_key = by("keys", ENCRYPTED_FOR_PGP).await.unwrap_err();
    assert!(no_key.contains("74239D816BF92B536107EFA158DAAA3A59ECAE9A"), "{no_key}");
}

// Row: D-418
#[tokio::test]
async fn an_encrypted_file_without_its_key_is_an_error() {
    let files = given(&[("/secret.yaml", ENCRYPTED)]);
    let no_key = prepare(&files, "  decryption: {secretRef: {name: variables}}\n").await.unwrap_err();
    let no_secret = prepare(&files, "  decryption: {secretRef: {name: gone}}\n").await.unwrap_err();
    assert_data_eq!(
        format!("{no_key}\n\n{no_secret}\n"),
        str![[r#"
cannot render Component `shop/web`
cannot decrypt `/secret.yaml`: cannot get the data key: no given key matches the recipients `age12y9gn2gau2y4f33lmuq6jswsh7vu8sw85phs83uzzaqzsz86wv4qt720c4`
give the private key of a recipient, in a file named `*.agekey` or `*.asc`

cannot resolve the references of Component `shop/web`
spec.decryption.secretRef: error loading secret shop/gone: secrets "gone" not found

"#]]
    );
}

// Row: CMP-45
#[tokio::test]
async fn templates_see_values_of_secrets_of_the_component_and_given_ones() {
    let text = "{kind: A, metadata: {name: '{{ .who }}-{{ .kept }}-{{ .inline }}'}}";
    let mut preparation = given(&[("/a.yaml", text)]);
    preparation.values.insert("who".to_owned(), "me".into());
    let spec = "  valuesFrom: [{name: values}]\n  values: {who: you, inline: 2}\n";
    assert_eq!(prepare(&preparation, spec).await.unwrap().objects[0].name(), "me-1-2");
}

// Row: CMP-11, CMP-12, ENG-11, ENG-13
#[tokio::test]
async fn templates_see_the_name_and_the_namespace_of_the_deployment() {
    let kustomization = [("/a.yaml", "{kind: A, metadata: {name: '{{ namespace }}.{{ name }}'}}")];
    let chart = [
        ("/Chart.yaml", "{apiVersion: v2, name: demo, version: 1.0.0}"),
        ("/templates/a.yaml", "{kind: A, metadata: {name: '{{ .Release.Namespace }}.{{ .Release.Name }}'}}"),
    ];
    for files in [&kustomization[..], &chart] {
        for (spec, expected) in [
            ("", "shop.web"),
            ("  name: other\n", "shop.other"),
            ("  name: other\n  namespace: target\n", "target.other"),
        ] {
            let rendered = prepare(&given(files), spec).await.unwrap();
            assert_eq!(rendered.objects[0].name(), expected, "{spec}");
        }
    }
}

// Row: ENG-04
#[tokio::test]
async fn templates_cannot_change_their_component() {
    let text = "{{ $_ := set . \"who\" \"me\" }}{{ $_ := set .deep \"who\" .who }}{kind: A, metadata: {name: '{{ .who }}-{{ .deep.who }}'}}";
    let spec = "  values: {who: you, deep: {who: you}}\n";
    let rendered = prepare(&given(&[("/a.yaml", text)]), spec).await.unwrap();
    assert_eq!(rendered.objects[0].name(), "me-me");
    assert_eq!(rendered.component, component(spec));
}

// Row: CMP-33, CMP-34
#[tokio::test]
async fn a_given_source_does_not_replace_the_checks_of_the_known_source() {
    let files = given(&[("/a.yaml", "{kind: A, metadata: {name: a}}")]);
    let rendered = prepare(&files, "  revision: main@1\n").await.unwrap();
    assert_eq!((rendered.objects.len(), &*rendered.source.artifact.digest), (1, "given"));
    assert_data_eq!(
        prepare(&files, "  revision: main@2\n").await.unwrap_err(),
        str![[r#"
cannot resolve the references of Component `shop/web`
spec.revision: source revision (main@1) does not match specified revision (main@2)
"#]]
    );
}

// Row: D-419
#[tokio::test]
async fn all_unresolved_references_are_reported_at_once() {
    let spec = "  valuesFrom: [{name: gone}, {name: variables}]\n  digest: other\n";
    assert_data_eq!(
        prepare(&Preparation::default(), spec).await.unwrap_err(),
        str![[r#"
cannot resolve the references of Component `shop/web`
spec.valuesFrom[0]: error loading secret shop/gone: secrets "gone" not found
spec.valuesFrom[1]: no matching key found in secret shop/variables (tried values, values.yaml, values.yml)
spec.digest: source digest (sha256:1) does not match specified digest (other)
"#]]
    );
}

#[tokio::test]
async fn any_change_of_what_a_component_refers_to_changes_its_digest() {
    let digest =
        async |preparation: &Preparation, spec: &str| prepare(preparation, spec).await.unwrap().digest;
    let files = given(&[]);
    let before = digest(&files, "").await;
    assert_eq!(digest(&files, "").await, before);
    let mut other = given(&[]);
    other.values.insert("a".to_owned(), 1.into());
    let digests = [
        digest(&files, "  values: {a: 1}\n").await,
        digest(&files, "  postBuild: {substitute: {A: b}}\n").await,
        digest(&files, "  decryption: {secretRef: {name: keys}}\n").await,
        digest(&other, "").await,
        before,
    ];
    assert_eq!(digests.iter().collect::<std::collections::BTreeSet<_>>().len(), digests.len());
}

// Row: ENG-20
#[tokio::test]
async fn templates_see_the_cluster() {
    let fixture = Fixture::start().await;
    fixture
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: m, labels: {a: b}}, data: {x: seen}}")
        .await;
    let server = connect(&fixture).await;
    let text = r#"
kind: A
metadata: {name: a}
found: {{ (mustLookup "v1" "ConfigMap" "default" "m").data.x }}
local: {{ len (localLookupList "v1" "ConfigMap" "" "a=b") }}
none: {{ len (lookup "v1" "ConfigMap" "default" "gone") }}
unknown: {{ len (lookup "x.io/v1" "Toy" "default" "t") }}
version: {{ kubernetesVersion.Minor }}
other: {{ (mustLookupWithKubeConfig "v1" "ConfigMap" "default" "m" .kubeconfig).data.x }}
"#;
    let mut preparation = given(&[("/a.yaml", text)]);
    let kubeconfig = std::fs::read_to_string(fixture.kubeconfig().await).unwrap();
    preparation.values.insert("kubeconfig".to_owned(), kubeconfig.into());
    let hub = LocalObjects::default();
    let resolved = preparation.resolve(component(""), &hub).await.unwrap();
    let cluster = TemplateCluster {
        capabilities: server_capabilities(&server).await.unwrap(),
        reader: Some(Arc::new(ClusterLookups::new(server.clone(), server, Handle::current()))),
    };
    assert!(cluster.capabilities.api_versions.contains(&"apps/v1/Deployment".to_owned()));
    let rendered = preparation.render(resolved, cluster).await.unwrap();
    assert_data_eq!(
        manifest::write_stream(&rendered.objects),
        str![[r#"
found: seen
kind: A
local: 1
metadata:
  name: a
none: 0
other: seen
unknown: 0
version: 36
"#]]
    );
}
