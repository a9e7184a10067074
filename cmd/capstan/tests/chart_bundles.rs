//! Tests of charts in bundles.

use std::fs;

use snapbox::{assert_data_eq, str};
use support::host::FakeHost;

use crate::{
    chart_locks::{KUSTOMIZATION, NAMED, TEMPLATE, WEB},
    chart_sources::{archive, pack, serve, world},
    customise::{GENERATE, customised, objects, of_kind},
};

#[test]
fn a_closed_site_uses_the_charts_of_a_bundle() {
    let host = FakeHost::internet();
    let world = world(&host).env("CAPSTAN_CACHE_DIR", "off");
    serve(&host, ["1.2.0", "1.10.0"].map(|version| (version, pack(version, NAMED))));
    world.write("kustomization.yaml", KUSTOMIZATION);
    let screens = world.screens([
        "bundle create --from-lock --file lab.tar".to_owned(),
        format!("lock --chart {WEB}:1.2.0 --chart {WEB}:1.10.0 --chart {WEB}-1.2.0.tgz"),
        "bundle create --from-lock --file lab.tar".to_owned(),
        "bundle create --from-lock --file again.tar -o json".to_owned(),
        "bundle verify lab.tar".to_owned(),
        "bundle load lab.tar --to-folder site".to_owned(),
        "bundle load lab.tar --to-folder site".to_owned(),
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan bundle create --from-lock --file lab.tar
exit 1
--- stderr
error: the lock is missing or empty
hint: run `capstan lock` to lock providers

$ capstan lock --chart https://files.example.org/charts/web:1.2.0 --chart https://files.example.org/charts/web:1.10.0 --chart https://files.example.org/charts/web-1.2.0.tgz
exit 0
--- stdout
CHART                                            CHANGE    VERSION   LOCKED    FOUND
https://files.example.org/charts/web             added     1.10.0    -         sha256:79d36d77ff68
https://files.example.org/charts/web             added     1.2.0     -         sha256:587f0eaf89e2
https://files.example.org/charts/web-1.2.0.tgz   added     1.2.0     -         sha256:587f0eaf89e2
--- stderr
done in [..]: locked 3 charts in `[CWD]/capstan.lock`

$ capstan bundle create --from-lock --file lab.tar
exit 0
--- stdout
KIND            NAME                                       FILES     SIZE
configuration   configuration                              3         1.50 KiB
chart           files.example.org/charts/web:1.10.0        1         680 B
chart           files.example.org/charts/web:1.2.0         1         678 B
chart           files.example.org/charts/web-1.2.0:1.2.0   1         678 B
--- stderr
done in [..]: wrote `[CWD]/lab.tar`, 16.50 KiB, without the variables and credentials of the configuration

$ capstan bundle create --from-lock --file again.tar -o json
exit 0
--- stdout
{
  "file": "again.tar",
  "contents": [
    {
      "kind": "configuration",
      "name": "configuration",
      "digest": "sha256:e6185510b7a7ab33039a370d7828ddf8e7b68f99a103054085cc8dbbb25d420d",
      "sizeBytes": 1533,
      "files": [
        "capstan.lock",
        "clusterctl.yaml",
        "images.json"
      ]
    },
    {
      "kind": "chart",
      "name": "files.example.org/charts/web:1.10.0",
      "digest": "sha256:e8d6e052cf1332431663f2d8ee07ea22a6f5dd7345bf87fd630ee1cb29e4eb10",
      "sizeBytes": 680,
      "files": [
        "files.example.org/charts/web-1.10.0.tgz"
      ]
    },
    {
      "kind": "chart",
      "name": "files.example.org/charts/web:1.2.0",
      "digest": "sha256:af3bc1a7b47761f4740279f4da2e4f23db02265a36999cc8e2319504ea1c3610",
      "sizeBytes": 678,
      "files": [
        "files.example.org/charts/web-1.2.0.tgz"
      ]
    },
    {
      "kind": "chart",
      "name": "files.example.org/charts/web-1.2.0:1.2.0",
      "digest": "sha256:af3bc1a7b47761f4740279f4da2e4f23db02265a36999cc8e2319504ea1c3610",
      "sizeBytes": 678,
      "files": [
        "files.example.org/charts/web-1.2.0-1.2.0.tgz"
      ]
    }
  ]
}
--- stderr
done in [..]: wrote `[CWD]/again.tar`, 16.50 KiB, without the variables and credentials of the configuration

$ capstan bundle verify lab.tar
exit 0
--- stderr
verified `lab.tar`: the digests of 4 entries match

$ capstan bundle load lab.tar --to-folder site
exit 0
--- stderr
loaded chart files.example.org/charts/web:1.10.0 ([CWD]/site/charts/files.example.org/charts/web-1.10.0.tgz)
loaded chart files.example.org/charts/web:1.2.0 ([CWD]/site/charts/files.example.org/charts/web-1.2.0.tgz)
loaded chart files.example.org/charts/web-1.2.0:1.2.0 ([CWD]/site/charts/files.example.org/charts/web-1.2.0-1.2.0.tgz)
done in [..]: loaded 3 parts to `[CWD]/site`

$ capstan bundle load lab.tar --to-folder site
exit 0
--- stderr
unchanged: chart files.example.org/charts/web:1.10.0 ([CWD]/site/charts/files.example.org/charts/web-1.10.0.tgz)
unchanged: chart files.example.org/charts/web:1.2.0 ([CWD]/site/charts/files.example.org/charts/web-1.2.0.tgz)
unchanged: chart files.example.org/charts/web-1.2.0:1.2.0 ([CWD]/site/charts/files.example.org/charts/web-1.2.0-1.2.0.tgz)
done in [..]: nothing to load: `[CWD]/site` already has everything

"#]]
    );
    let read = |file: &str| fs::read(world.current_dir().join(file)).unwrap();
    assert!(read("lab.tar") == read("again.tar"));
    assert_eq!(read("site/capstan.lock"), read("capstan.lock"));
    let connections = host.connections();
    let site = "--config site/clusterctl.yaml --offline --locked";
    let lines = [
        format!("{TEMPLATE} --version ~1.2 {site}"),
        format!("chart template {WEB}-1.2.0.tgz {site}"),
        format!("kustomize build . {site}"),
        "lock --check --config site/clusterctl.yaml --offline".to_owned(),
        "lock --chart https://files.example.org/charts/web:^1 --config site/clusterctl.yaml --offline"
            .to_owned(),
        format!("bundle create --from-lock --file next.tar {site}"),
    ];
    assert_data_eq!(
        world.screens(&lines),
        str![[r#"
$ capstan chart template shop web --repo https://files.example.org/charts --version ~1.2 --config site/clusterctl.yaml --offline --locked
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: A
metadata: {name: 1.2.0}

$ capstan chart template https://files.example.org/charts/web-1.2.0.tgz --config site/clusterctl.yaml --offline --locked
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: A
metadata: {name: 1.2.0}

$ capstan kustomize build . --config site/clusterctl.yaml --offline --locked
exit 0
--- stdout
kind: A
metadata:
  name: 1.10.0

$ capstan lock --check --config site/clusterctl.yaml --offline
exit 0
--- stderr
everything matches the lock `[CWD]/site/capstan.lock`

$ capstan lock --chart https://files.example.org/charts/web:^1 --config site/clusterctl.yaml --offline
exit 0
--- stderr
done in [..]: nothing changed in `[CWD]/site/capstan.lock`

$ capstan bundle create --from-lock --file next.tar --config site/clusterctl.yaml --offline --locked
exit 0
--- stdout
KIND            NAME                                       FILES     SIZE
configuration   configuration                              3         1.50 KiB
chart           files.example.org/charts/web:1.10.0        1         680 B
chart           files.example.org/charts/web:1.2.0         1         678 B
chart           files.example.org/charts/web-1.2.0:1.2.0   1         678 B
--- stderr
done in [..]: wrote `[CWD]/next.tar`, 16.50 KiB, without the variables and credentials of the configuration

"#]]
    );
    assert!(read("lab.tar") == read("next.tar"));
    let stored = world.current_dir().join("site/charts/files.example.org/charts/web-1.2.0.tgz");
    fs::write(&stored, archive("6.6.6")).unwrap();
    assert_data_eq!(
        world.screens(&lines[..1]),
        str![[r#"
$ capstan chart template shop web --repo https://files.example.org/charts --version ~1.2 --config site/clusterctl.yaml --offline --locked
exit 1
--- stderr
error: cannot load chart `web`
  cause: chart `https://files.example.org/charts/web` 1.2.0 does not match the lock: `[CWD]/site/charts/files.example.org/charts/web-1.2.0.tgz` has sha256:83a2bf2e7a8c850392d6e2d3e7bbb5de14058cc3dadf140dda0bfe691a58ea5d, `[CWD]/site/capstan.lock` has sha256:587f0eaf89e2faef0a6471f1fff99c91280563ee951628f0919f4a81baf3c121
hint: review the change; accept it with `capstan lock --update https://files.example.org/charts/web:1.2.0 --config site/clusterctl.yaml`

"#]]
    );
    assert_data_eq!(
        world.screens(&lines[3..4]),
        str![[r#"
$ capstan lock --check --config site/clusterctl.yaml --offline
exit 1
--- stdout
CHART                                  CHANGE    VERSION   LOCKED                FOUND
https://files.example.org/charts/web   changed   1.2.0     sha256:587f0eaf89e2   sha256:83a2bf2e7a8c
--- stderr
error: 1 chart differs from the lock `[CWD]/site/capstan.lock`
hint: review the changes, then accept them with `capstan lock --update https://files.example.org/charts/web:1.2.0 --config site/clusterctl.yaml`

"#]]
    );
    assert_eq!(host.connections(), connections);
}

#[test]
fn a_chart_of_a_provider_is_bundled_if_it_is_locked() {
    let host = FakeHost::internet();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-{{ .Chart.Version }}}\n";
    serve(&host, ["1.2.0", "1.10.0"].map(|version| (version, pack(version, map))));
    let world = customised(KUSTOMIZATION);
    let ca = world.write("ca.pem", host.ca_pem());
    let world = world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca);
    world.run_expecting_success("lock --infrastructure own:v1.0.0");
    assert_data_eq!(
        world.run_expecting_failure("bundle create --from-lock --file lab.tar"),
        str![[r#"
error: the kustomization of `infrastructure-own` refers to `https://files.example.org/charts/web ^1`, which an air-gapped site cannot reach
hint: lock the chart with `capstan lock --chart 'https://files.example.org/charts/web:^1'`

"#]]
    );
    let name =
        |arguments: &str| of_kind(&objects(&world, arguments), "ConfigMap")["metadata"]["name"].clone();
    assert_eq!(name(&format!("{GENERATE} --locked")), "of-1.10.0");
    world.run_expecting_success(&format!("lock --chart {WEB}:1.2.0"));
    world.run_expecting_success("lock --update infrastructure-own:v1.0.0");
    assert_eq!(name(&format!("{GENERATE} --locked")), "of-1.2.0");
    world.run_expecting_success("bundle create --from-lock --file lab.tar");
    world.run_expecting_success("bundle load lab.tar --to-folder site");
    let connections = host.connections();
    let world = world.env("CAPSTAN_CACHE_DIR", "off");
    let site = "--config site/clusterctl.yaml --offline";
    let arguments = format!("{GENERATE} --locked {site}");
    assert_eq!(of_kind(&objects(&world, &arguments), "ConfigMap")["metadata"]["name"], "of-1.2.0");
    world.run_expecting_success(&format!("lock --check {site}"));
    assert_eq!(host.connections(), connections);
    world.run_expecting_success(&format!("lock --chart {WEB}:1.10.0 --lock charts.lock"));
    world.run_expecting_success("bundle create --from-lock --lock charts.lock --file charts.tar");
    world.run_expecting_success("bundle load charts.tar --to-folder site");
    let config = world.read(world.current_dir().join("site/clusterctl.yaml"));
    assert!(config.contains("name: own"), "{config}");
}
