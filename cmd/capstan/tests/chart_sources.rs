//! Tests of charts from repositories and registries.

use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    host::{FakeHost, Reply},
    tar::{TarEntry, gzip, tar},
};

/// Packs a chart that prints its version.
pub(crate) fn archive(version: &str) -> Vec<u8> {
    pack(version, "kind: {{ .Chart.Version }}\n")
}

/// Packs a chart with a template.
pub(crate) fn pack(version: &str, template: &str) -> Vec<u8> {
    let chart = format!("apiVersion: v2\nname: web\nversion: {version}\n");
    gzip(&tar(&[TarEntry::file("web/Chart.yaml", chart), TarEntry::file("web/templates/a.yaml", template)]))
}

/// Serves a repository with three versions.
pub(crate) fn world(host: &FakeHost) -> TestEnvironment {
    serve(host, ["1.2.0", "1.10.0", "2.0.0-rc.1"].map(|version| (version, archive(version))));
    let world = crate::world();
    let ca = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca)
}

/// Serves a repository with these versions and archives.
pub(crate) fn serve<'v>(host: &FakeHost, versions: impl IntoIterator<Item = (&'v str, Vec<u8>)>) {
    let mut index = "apiVersion: v1\nentries:\n  web:\n".to_owned();
    for (version, archive) in versions {
        let digest = transport::Digest::of(&archive);
        let entry =
            format!("{{name: web, version: {version}, digest: {}, urls: [web-{version}.tgz]}}", digest.hex());
        index.extend(["  - ", &entry, "\n"]);
        host.on(format!("files.example.org/charts/web-{version}.tgz"), Reply::file(archive));
    }
    host.on("files.example.org/charts/index.yaml", Reply::text(index));
}

const TEMPLATE: &str = "chart template shop web --repo https://files.example.org/charts";

#[test]
fn a_chart_of_a_repository_is_rendered_and_available_offline() {
    let host = FakeHost::internet();
    let world = world(&host);
    let screens = world.screens([
        TEMPLATE.to_owned(),
        format!("{TEMPLATE} --version ~1.2"),
        format!("{TEMPLATE} --devel"),
        "chart template https://files.example.org/charts/web-1.2.0.tgz".to_owned(),
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template shop web --repo https://files.example.org/charts
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.10.0

$ capstan chart template shop web --repo https://files.example.org/charts --version ~1.2
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.2.0

$ capstan chart template shop web --repo https://files.example.org/charts --devel
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 2.0.0-rc.1

$ capstan chart template https://files.example.org/charts/web-1.2.0.tgz
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.2.0

"#]]
    );
    let connections = host.connections();
    let screens = world.screens([
        format!("{TEMPLATE} --version 1.x --offline"),
        "chart template shop web --repo https://files.example.org/other --offline".to_owned(),
    ]);
    assert_eq!(host.connections(), connections);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template shop web --repo https://files.example.org/charts --version 1.x --offline
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.10.0
--- stderr
offline: using https://files.example.org/charts/index.yaml from the cache, fetched 0 minutes ago

$ capstan chart template shop web --repo https://files.example.org/other --offline
exit 1
--- stderr
error: cannot load chart `web`
  cause: cannot read the chart repository `https://files.example.org/other`
  cause: cannot fetch `https://files.example.org/other/index.yaml` in offline mode: it is not cached
hint: run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive

"#]]
    );
}

// Row: D-383, D-385
#[test]
fn a_chart_that_cannot_be_fetched_prints_nothing() {
    let host = FakeHost::internet();
    let world = world(&host);
    host.on("files.example.org/charts/web-1.2.0.tgz", Reply::file(archive("6.6.6")));
    let screens = world.screens([
        format!("{TEMPLATE} --version 1.2.0"),
        format!("{TEMPLATE} --version 3.x"),
        format!("{TEMPLATE} --version newest"),
        "chart template shop wep --repo https://files.example.org/charts".to_owned(),
        "chart template shop stable/web".to_owned(),
        "chart template shop ./web".to_owned(),
        "chart template shop web --repo http://files.example.org/charts --username me --password pa55"
            .to_owned(),
        "chart template shop oci://files.example.org/web --plain-http --username me --password pa55"
            .to_owned(),
        "chart template shop oci://files.example.org/none".to_owned(),
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template shop web --repo https://files.example.org/charts --version 1.2.0
exit 1
--- stderr
error: cannot load chart `web`
  cause: cannot fetch chart `https://files.example.org/charts/web-1.2.0.tgz`
  cause: `https://files.example.org/charts/web-1.2.0.tgz` has digest sha256:83a2bf2e7a8c850392d6e2d3e7bbb5de14058cc3dadf140dda0bfe691a58ea5d, expected sha256:e2dc90b6494c03544663973107df3a5c9f5cd982e5720f69f32465a78dd309a1
hint: check whether the host or a proxy changed the content; nothing was used

$ capstan chart template shop web --repo https://files.example.org/charts --version 3.x
exit 1
--- stderr
error: cannot load chart `web`
  cause: cannot find version `3.x` of chart `web` in `https://files.example.org/charts`
hint: the versions are `2.0.0-rc.1`, `1.10.0` and `1.2.0`

$ capstan chart template shop web --repo https://files.example.org/charts --version newest
exit 1
--- stderr
error: `newest` is neither a version nor a range of versions: improper constraint: "newest"
hint: use a version such as `1.2.3`, or a range such as `>=1.2 <2` or `~1.2`

$ capstan chart template shop wep --repo https://files.example.org/charts
exit 1
--- stderr
error: cannot load chart `wep`
  cause: cannot find chart `wep` in `https://files.example.org/charts`
  cause: the index has no chart `wep`
hint: did you mean `web`?

$ capstan chart template shop stable/web
exit 1
--- stderr
error: cannot find chart `stable/web`: it is neither a file, a folder nor a URL
hint: repositories of `helm repo add` are not supported; use the URL: `web --repo URL`

$ capstan chart template shop ./web
exit 1
--- stderr
error: cannot find chart `./web`
hint: use a folder with a `Chart.yaml`, or a `.tgz` archive

$ capstan chart template shop web --repo http://files.example.org/charts --username me --password pa55
exit 1
--- stderr
error: cannot send the password: the connection is not encrypted
hint: use a URL with `https://`, or a registry without `--plain-http` and `plainHttp`

$ capstan chart template shop oci://files.example.org/web --plain-http --username me --password pa55
exit 1
--- stderr
error: cannot send the password: the connection is not encrypted
hint: use a URL with `https://`, or a registry without `--plain-http` and `plainHttp`

$ capstan chart template shop oci://files.example.org/none
exit 1
--- stderr
error: cannot load chart `oci://files.example.org/none`
  cause: cannot find a release of `oci://files.example.org/none`
hint: check the address and your access: hosts report private charts as missing

"#]]
    );
}

#[test]
fn a_user_and_a_password_are_sent_to_the_host_of_the_repository() {
    let host = FakeHost::internet();
    let world = world(&host);
    world.run_expecting_success(&format!("{TEMPLATE} --username me --password pa55"));
    let sent = host.received();
    let sent: Vec<_> = sent.iter().filter(|request| request.method == "GET").collect();
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|request| request.header("authorization") == Some("Basic bWU6cGE1NQ==")));
}

// Row: D-385
#[test]
fn a_password_is_not_sent_to_a_registry_without_tls() {
    let host = FakeHost::internet();
    let world = world(&host).env("HTTP_PROXY", host.proxy_url());
    let chart = "chart template shop oci://files.example.org/web";
    world.run_line(&format!("{chart} --plain-http"));
    assert!(host.received().iter().any(|request| request.host == "files.example.org" && !request.tls));
    let requests = host.received().len();
    world.configure("hosts: {files.example.org: {username: me, password: pa55}}");
    for flags in ["--plain-http", "--plain-http --username me --password pa55"] {
        let run = world.run_line(&format!("{chart} {flags}"));
        assert!(run.stderr.starts_with("error: cannot send the password"), "{run}");
    }
    world.configure("hosts: {files.example.org: {plainHttp: true}}");
    let run = world.run_line(&format!("{chart} --username me --password pa55"));
    assert!(run.stderr.starts_with("error: cannot send the password"), "{run}");
    assert_eq!(host.received().len(), requests);
}

// Row: D-553
#[test]
fn certificates_of_a_chart_are_checked_in_both_directions() {
    let host = FakeHost::requiring_client_certificate(&["files.example.org"]);
    let world = world(&host);
    world.write("client.pem", &host.client_identity().certificate_pem);
    world.write("client.key", &host.client_identity().key_pem);
    let run = world.run_line(TEMPLATE);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    world.run_expecting_success(&format!("{TEMPLATE} --cert-file client.pem --key-file client.key"));

    let host = FakeHost::self_signed(&["files.example.org"]);
    let world = super::chart_sources::world(&host).env("SSL_CERT_FILE", "none.pem");
    let run = world.run_line(&format!("{TEMPLATE} --insecure-skip-tls-verify"));
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(host.addresses().is_empty());
}

// Row: D-386
#[test]
fn missing_dependencies_are_fetched_for_one_run() {
    let host = FakeHost::internet();
    let world = world(&host);
    let chart = "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n";
    let repository = "{name: web, version: ^1, repository: 'https://files.example.org/charts'}";
    let own = "{name: own, version: 1.x, repository: 'file://../own'}";
    world.write("shop/Chart.yaml", format!("{chart}- {repository}\n- {own}\n"));
    world.write("own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 1.0.0\n");
    world.write("own/templates/a.yaml", "kind: Own\n");
    world.write("named/Chart.yaml", format!("{chart}- {{name: web, version: '1', repository: '@stable'}}\n"));
    let files = || -> Vec<String> {
        world.files().into_iter().filter(|file| !file.starts_with("[HOME]/.cache")).collect()
    };
    let before = files();
    let screens = world.screens(["chart template s shop", "chart template s shop --dependency-update"]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template s shop
exit 1
--- stderr
error: cannot render chart `shop`
  cause: An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: web, own
hint: fetch the missing charts with `--dependency-update` for this run, or into `charts/` with `helm dependency build`

$ capstan chart template s shop --dependency-update
exit 0
--- stdout
---
# Source: shop/charts/web/templates/a.yaml
kind: 1.10.0
---
# Source: shop/charts/own/templates/a.yaml
kind: Own

"#]]
    );
    assert_eq!(files(), before);
    world.write(
        "shop/Chart.lock",
        "dependencies:\n- {name: web, version: 1.2.0, repository: 'https://files.example.org/charts'}\n",
    );
    let screens = world.screens([
        "chart template s shop --dependency-update -s charts/web/templates/a.yaml",
        "chart template s named --dependency-update",
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template s shop --dependency-update -s charts/web/templates/a.yaml
exit 0
--- stdout
---
# Source: shop/charts/web/templates/a.yaml
kind: 1.2.0

$ capstan chart template s named --dependency-update
exit 1
--- stderr
error: cannot load chart `named`
  cause: cannot fetch the dependency `web`
  cause: the repository name `@stable` of `helm repo add` is not supported
hint: set `repository` in Chart.yaml to a URL

"#]]
    );
}
