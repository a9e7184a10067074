//! Tests of `component render`: Components with Secrets, and sources of all forms.

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    git::GitForge,
    host::{FakeHost, Reply},
    tar::{TarEntry, gzip, tar},
};
use transport::Digest;

const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ name }}}, data: {a: '${A}'}}\n";

/// Two Components of one source in different namespaces, a Secret of each, and the source of Flux.
const OBJECTS: &str = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web}
spec:
  sourceRef: {fluxGitRepository: {namespace: flux, name: repo}}
  path: deploy
  postBuild: {substituteFrom: [{name: variables}]}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: db, namespace: data}
spec:
  sourceRef: {fluxGitRepository: {namespace: flux, name: repo}}
  path: deploy
  revision: main@1
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: flux}
status:
  conditions: [{type: Ready, status: 'True'}]
  artifact: {url: 'https://files.example.org/repo.tgz', digest: 'sha256:DIGEST', revision: main@1}
";

const SECRET: &str =
    "{apiVersion: v1, kind: Secret, metadata: {name: variables}, stringData: {A: from a Secret}}";

fn archive() -> Vec<u8> {
    gzip(&tar(&[TarEntry::file("deploy/map.yaml", MAP)]))
}

fn world(host: &FakeHost) -> TestEnvironment {
    let archive = archive();
    let world = crate::world();
    world.write("objects.yaml", OBJECTS.replace("DIGEST", &Digest::of(&archive).hex()));
    world.write("secret.yaml", SECRET);
    host.on("files.example.org/repo.tgz", Reply::file(archive));
    let ca = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca)
}

// Row: CMP-27, CMP-31, CMP-38, CMP-53
#[test]
fn components_are_rendered_with_the_objects_of_files() {
    let host = FakeHost::internet();
    let world = world(&host);
    assert_data_eq!(
        world.screens([
            "component render objects.yaml --secret secret.yaml -n shop",
            "component render objects.yaml -n shop",
        ]),
        str![[r#"
$ capstan component render objects.yaml --secret secret.yaml -n shop
exit 0
--- stdout
apiVersion: v1
data:
  a: from a Secret
kind: ConfigMap
metadata:
  name: web
---
apiVersion: v1
data:
  a: ${A}
kind: ConfigMap
metadata:
  name: db

$ capstan component render objects.yaml -n shop
exit 1
--- stderr
error: cannot resolve the references of Component `shop/web`
  cause: spec.postBuild.substituteFrom[0]: error loading secret shop/variables: secrets "variables" not found
hint: add files with the objects, `--secret FILE` for Secrets, or `--source` for the source

"#]]
    );
}

// Row: D-541
#[test]
fn an_artifact_of_flux_must_have_its_digest() {
    let host = FakeHost::internet();
    let world = world(&host);
    let rendered = |digest: &str| {
        let objects = OBJECTS.replace("sha256:DIGEST", digest);
        world.write("objects.yaml", objects);
        world.run_line("component render objects.yaml --secret secret.yaml -n shop")
    };
    let refused = ["sha256:", "sha256:00", "md5:abc", "blake3:00", "main@1", "sha384:00", "sha512:00"];
    assert_data_eq!(
        refused.map(|digest| rendered(digest).stderr).join(""),
        str![[r#"
error: cannot fetch the source of Component `shop/web`
  cause: cannot verify `https://files.example.org/repo.tgz`: `sha256:` is not a digest of sha256, sha384 or sha512
hint: set `--artifact-digest-algo=sha256` of the source controller of Flux
error: cannot fetch the source of Component `shop/web`
  cause: cannot verify `https://files.example.org/repo.tgz`: `sha256:00` is not a digest of sha256, sha384 or sha512
hint: set `--artifact-digest-algo=sha256` of the source controller of Flux
error: cannot fetch the source of Component `shop/web`
  cause: cannot verify `https://files.example.org/repo.tgz`: `md5:abc` is not a digest of sha256, sha384 or sha512
hint: set `--artifact-digest-algo=sha256` of the source controller of Flux
error: cannot fetch the source of Component `shop/web`
  cause: cannot verify `https://files.example.org/repo.tgz`: `blake3:00` is not a digest of sha256, sha384 or sha512
hint: set `--artifact-digest-algo=sha256` of the source controller of Flux
error: cannot fetch the source of Component `shop/web`
  cause: cannot verify `https://files.example.org/repo.tgz`: `main@1` is not a digest of sha256, sha384 or sha512
hint: set `--artifact-digest-algo=sha256` of the source controller of Flux
error: cannot fetch the source of Component `shop/web`
  cause: `https://files.example.org/repo.tgz` has digest sha384:[..], expected sha384:00
error: cannot fetch the source of Component `shop/web`
  cause: `https://files.example.org/repo.tgz` has digest sha512:[..], expected sha512:00

"#]]
    );
    for algorithm in ["sha384:", "sha512:"] {
        let refused = rendered(&format!("{algorithm}00")).stderr;
        let digest = refused.split([' ', ',']).find(|word| word.starts_with(algorithm)).unwrap();
        assert_eq!(rendered(digest).status, 0, "{digest}");
    }
}

#[test]
fn the_digest_of_a_url_may_be_any_text() {
    let host = FakeHost::internet();
    let world = world(&host);
    host.on("files.example.org/repo.tgz", Reply::file(archive()).header("etag", "\"sha512:1\""));
    let component = "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec: {sourceRef: {httpRepository: {url: 'https://files.example.org/repo.tgz'}}, path: deploy}\n";
    world.write("web.yaml", component);
    let run = world.run_line("component render web.yaml");
    assert_eq!(run.status, 0, "{run}");
}

/// Renders with a source in place of that of Flux. The Component has no pins and needs no Secret.
fn rendered(world: &TestEnvironment, source: &str) -> String {
    world.write(
        "web.yaml",
        "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec: {sourceRef: {fluxBucket: {name: b}}, path: deploy}\n",
    );
    let run = world.run_line(&format!("component render web.yaml --source {source}"));
    if run.status == 0 { run.stdout } else { run.stderr }
}

#[test]
fn a_source_may_be_a_folder_an_archive_or_an_artifact() {
    let host = FakeHost::internet();
    let world = world(&host);
    let expected = world.write("folder/deploy/map.yaml", MAP);
    assert!(expected.is_file());
    world.write("folder/.git/HEAD", [0xff]);
    world.write("source.tgz", archive());
    let blob = |media_type: &str, content: Vec<u8>| {
        let (digest, size) = (Digest::of(&content), content.len());
        host.on(format!("ghe.example.org/v2/team/web/blobs/{digest}"), Reply::file(content));
        json!({"mediaType": media_type, "digest": digest, "size": size})
    };
    let artifact = |layer: serde_json::Value| {
        let media_type = "application/vnd.oci.image.manifest.v1+json";
        let config = blob("application/vnd.cncf.flux.config.v1+json", b"{}".to_vec());
        let manifest =
            json!({"schemaVersion": 2, "mediaType": media_type, "config": config, "layers": [layer]});
        Reply::status(200).header("content-type", media_type).body(manifest.to_string())
    };
    let manifests = "ghe.example.org/v2/team/web/manifests";
    let packed = blob("application/vnd.cncf.flux.content.v1.tar+gzip", archive());
    host.on(format!("{manifests}/1.0.0"), artifact(packed.clone()));
    host.on(format!("{manifests}/latest"), artifact(packed));
    host.on(format!("{manifests}/image"), artifact(blob("application/octet-stream", b"1".to_vec())));
    let objects = rendered(&world, "folder");
    assert!(objects.contains("name: web"), "{objects}");
    for source in [
        "source.tgz",
        "https://files.example.org/repo.tgz",
        "oci://ghe.example.org/team/web:1.0.0",
        "oci://ghe.example.org/team/web",
    ] {
        assert_eq!(rendered(&world, source), objects, "{source}");
    }
    let refused = [
        "oci://ghe.example.org/team/web:image",
        "oci://ghe.example.org/team/web:gone",
        "oci://ghe.example.org/Team",
        "https://files.example.org/gone.tgz",
        "folder/deploy/map.yaml",
        "nowhere",
        "git+https://git.example.org/r?depth=1",
        "git+https://git.example.org/r//../x",
    ];
    assert_data_eq!(
        refused.map(|source| rendered(&world, source)).join("\n"),
        str![[r#"
error: cannot read the source `oci://ghe.example.org/team/web:image`
  cause: `oci://ghe.example.org/team/web:image` contains no files; is it a container image?

error: cannot read the source `oci://ghe.example.org/team/web:gone`
  cause: cannot find release `gone` in `oci://ghe.example.org/team/web:gone`

error: cannot read the source `oci://ghe.example.org/Team`
  cause: `oci://ghe.example.org/Team` is not a reference to an artifact
  cause: a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; `Team` is not a repository name; use lower-case letters, digits, `-`, `_` and `.`

error: cannot read the source `https://files.example.org/gone.tgz`
  cause: cannot fetch `https://files.example.org/gone.tgz`
  cause: the host answered with status 404: Not Found
hint: the request went through the proxy http://127.0.0.1:[..]/

error: cannot read the source `folder/deploy/map.yaml`
  cause: the archive cannot be read
  cause: invalid gzip header
hint: an artifact is a gzipped tar archive of files and folders, without links

error: cannot read the source `nowhere`
  cause: `[CWD]/nowhere` does not exist
hint: use a folder, a `.tgz` archive, or a URL with `https://`, `oci://` or `git+https://`

error: cannot read the source `git+https://git.example.org/r?depth=***`
  cause: the only parameter of a Git URL is `?ref=BRANCH|TAG|COMMIT`

error: cannot read the source `git+https://git.example.org/r/x`
  cause: the folder of a Git URL must not contain `..`

"#]]
    );
}

#[test]
fn a_source_may_be_a_folder_of_a_commit() {
    let forge = GitForge::new();
    forge.commit("lib", &[("app/deploy/map.yaml", &MAP.replace("${A}", "first"))]);
    forge.git("lib", &["tag", "v1"]);
    forge.commit("lib", &[("app/deploy/map.yaml", &MAP.replace("${A}", "second"))]);
    let host = forge.serve(None);
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let world = crate::world().env("PATH", path).env("SSL_CERT_FILE", host.ca_file());
    let url = format!("git+{}//app", host.url("lib"));
    let data = |source: &str| rendered(&world, source).lines().nth(2).map(str::to_owned).unwrap_or_default();
    assert_eq!(data(&url), "  a: second");
    assert_eq!(data(&format!("{url}?ref=v1")), "  a: first");
    let refused = rendered(&world, &format!("git+{}//nowhere", host.url("lib")));
    assert!(refused.contains("has no folder `nowhere`"), "{refused}");
}

#[test]
fn problems_of_several_components_are_reported_at_once() {
    let world = crate::world();
    let component = "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec: {sourceRef: {fluxBucket: {name: b}}}\n";
    world.write("twice/a.yaml", component);
    world.write("twice/b.yaml", format!("{component}---\n{}", component.replace("b}}", "5}}")));
    world.write("none/secret.yaml", SECRET);
    world.write("broken.yaml", "a: [\n");
    assert_data_eq!(
        world.screens([
            "component render twice --source twice",
            "component render none --source twice",
            "component render twice/a.yaml --source twice --secret broken.yaml",
        ]),
        str![[r#"
$ capstan component render twice --source twice
exit 1
--- stderr
error: invalid Components: 2 problems
  cause: twice/b.yaml:3: Component `default/web` is defined twice
  cause: twice/b.yaml:9: web: spec.sourceRef.fluxBucket.name: Invalid value: a number: must be of type string

$ capstan component render none --source twice
exit 1
--- stderr
error: there is no Component in none

$ capstan component render twice/a.yaml --source twice --secret broken.yaml
exit 1
--- stderr
error: cannot read `broken.yaml`
  cause: document 1, line 1, column 4: did not find expected `,` or `]`

"#]]
    );
}
