//! Tests of charts from repositories and registries.

use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    host::{FakeHost, Reply},
    tar::{TarEntry, gzip, tar},
};

/// Packs a chart that prints its version and the version of its release.
fn archive(version: &str) -> Vec<u8> {
    let chart = format!("apiVersion: v2\nname: web\nversion: {version}\n");
    let template = "kind: {{ .Chart.Version }}\n";
    gzip(&tar(&[TarEntry::file("web/Chart.yaml", chart), TarEntry::file("web/templates/a.yaml", template)]))
}

/// Serves a repository with three versions.
fn world(host: &FakeHost) -> TestEnvironment {
    let mut index = "apiVersion: v1\nentries:\n  web:\n".to_owned();
    for version in ["1.2.0", "1.10.0", "2.0.0-rc.1"] {
        let archive = archive(version);
        let digest = transport::Digest::of(&archive);
        let entry =
            format!("{{name: web, version: {version}, digest: {}, urls: [web-{version}.tgz]}}", digest.hex());
        index.push_str(&format!("  - {entry}\n"));
        host.on(format!("files.example.org/charts/web-{version}.tgz"), Reply::file(archive));
    }
    host.on("files.example.org/charts/index.yaml", Reply::text(index));
    let world = crate::world();
    let ca = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca)
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
    assert_data_eq!(screens, str![]);
    let connections = host.connections();
    let screens = world.screens([
        format!("{TEMPLATE} --version 1.x --offline"),
        "chart template shop web --repo https://files.example.org/other --offline".to_owned(),
    ]);
    assert_eq!(host.connections(), connections);
    assert_data_eq!(screens, str![]);
}

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
        format!("{TEMPLATE} --username me"),
        "chart template shop oci://files.example.org/none".to_owned(),
    ]);
    assert_data_eq!(screens, str![]);
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
