//! Tests of charts in a lock.

use std::process::Stdio;

use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, Reply};

use crate::chart_sources::{archive, pack, serve, world};

pub(crate) const TEMPLATE: &str = "chart template shop web --repo https://files.example.org/charts";
pub(crate) const WEB: &str = "https://files.example.org/charts/web";
pub(crate) const NAMED: &str = "kind: A\nmetadata: {name: {{ .Chart.Version }}}\n";
pub(crate) const KUSTOMIZATION: &str =
    "helmCharts:\n- {name: web, repo: 'https://files.example.org/charts', version: ^1}\n";

// Row: D-516
#[test]
fn a_range_leads_to_the_locked_version() {
    let host = FakeHost::internet();
    let world = world(&host);
    let screens = world.screens([
        format!("lock --chart {WEB}:~1.2"),
        format!("lock --chart {WEB}:^1"),
        TEMPLATE.to_owned(),
        format!("{TEMPLATE} --version ^1 --locked"),
        format!("{TEMPLATE} --version >=1.3"),
        format!("{TEMPLATE} --version 1.10.0 --lock off"),
        "lock --check".to_owned(),
        format!("lock --update {WEB} -o json"),
        "lock".to_owned(),
        TEMPLATE.to_owned(),
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan lock --chart https://files.example.org/charts/web:~1.2
exit 0
--- stdout
CHART                                  CHANGE    VERSION   LOCKED    FOUND
https://files.example.org/charts/web   added     1.2.0     -         sha256:e2dc90b6494c
--- stderr
done in [..]: locked 1 chart in `[CWD]/capstan.lock`

$ capstan lock --chart https://files.example.org/charts/web:^1
exit 0
--- stderr
done in [..]: nothing changed in `[CWD]/capstan.lock`

$ capstan chart template shop web --repo https://files.example.org/charts
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.2.0

$ capstan chart template shop web --repo https://files.example.org/charts --version ^1 --locked
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.2.0

$ capstan chart template shop web --repo https://files.example.org/charts --version >=1.3
exit 1
--- stderr
error: cannot load chart `web`
  cause: chart `https://files.example.org/charts/web` is locked at 1.2.0 in `[CWD]/capstan.lock`, not at `>=1.3`
hint: omit the version, or lock it with `capstan lock --chart 'https://files.example.org/charts/web:>=1.3'`

$ capstan chart template shop web --repo https://files.example.org/charts --version 1.10.0 --lock off
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.10.0

$ capstan lock --check
exit 0
--- stderr
everything matches the lock `[CWD]/capstan.lock`

$ capstan lock --update https://files.example.org/charts/web -o json
exit 0
--- stdout
{
  "lock": "[CWD]/capstan.lock",
  "providers": [],
  "charts": [
    {
      "chart": "https://files.example.org/charts/web",
      "version": "1.2.0",
      "locked": "sha256:e2dc90b6494c03544663973107df3a5c9f5cd982e5720f69f32465a78dd309a1"
    },
    {
      "chart": "https://files.example.org/charts/web",
      "version": "1.10.0",
      "found": "sha256:b8038bd0a3d63f16619471ac9252e2726f56fd2e632a926b6a58964dc9486173"
    }
  ]
}
--- stderr
done in [..]: locked 1 chart in `[CWD]/capstan.lock`

$ capstan lock
exit 0
--- stderr
done in [..]: nothing changed in `[CWD]/capstan.lock`

$ capstan chart template shop web --repo https://files.example.org/charts
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.10.0

"#]]
    );
    let lock = world.read(world.current_dir().join("capstan.lock"));
    assert_data_eq!(
        lock,
        str![[r##"
# Written by `capstan lock`. Keep it beside the configuration, and review its changes.
version = 1

[[chart]]
url = "https://files.example.org/charts/web"
version = "1.10.0"
digest = "sha256:b8038bd0a3d63f16619471ac9252e2726f56fd2e632a926b6a58964dc9486173"

"##]]
    );
}

#[test]
fn a_locked_chart_needs_no_request_once_it_is_cached() {
    let host = FakeHost::internet();
    let world = world(&host);
    world.run_expecting_success(&format!("lock --chart {WEB}:1.2.0 --chart {WEB}:1.10.0"));
    let connections = host.connections();
    let line = format!("{TEMPLATE} --version ~1.2 --offline");
    assert!(world.run_expecting_success(&line).to_string().contains("kind: 1.2.0"));
    assert!(world.run_expecting_success(TEMPLATE).to_string().contains("kind: 1.10.0"));
    assert_eq!(host.connections(), connections);
    assert_data_eq!(
        world.env("CAPSTAN_CACHE_DIR", "off").run_line(&line).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot load chart `web`
  cause: cannot read the chart repository `https://files.example.org/charts`
  cause: cannot fetch `https://files.example.org/charts/index.yaml` in offline mode: it is not cached
hint: run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive

"#]]
    );
}

#[test]
fn runs_at_once_keep_the_charts_of_each_other() {
    let host = FakeHost::internet();
    let world = world(&host);
    let lock = |version: &str| {
        let line = format!("lock --chart {WEB}:{version}");
        let mut command = world.command(line.split(' '));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for mut run in ["1.2.0", "1.10.0", "2.0.0-rc.1"].map(lock) {
        assert!(run.wait().unwrap().success());
    }
    let text = world.read(world.current_dir().join("capstan.lock"));
    assert_eq!(text.matches("[[chart]]").count(), 3, "{text}");
}

#[test]
fn a_changed_archive_is_refused_until_the_lock_is_updated() {
    let host = FakeHost::internet();
    let world = world(&host).env("CAPSTAN_CACHE_DIR", "off");
    world.run_expecting_success(&format!("lock --chart {WEB}:1.2.0"));
    world.write("kustomization.yaml", KUSTOMIZATION);
    serve(&host, [("1.2.0", pack("6.6.6", NAMED))]);
    let screens = world.screens([
        TEMPLATE.to_owned(),
        "chart show chart web --repo https://files.example.org/charts".to_owned(),
        "kustomize build .".to_owned(),
        "lock --check".to_owned(),
        "lock".to_owned(),
        format!("lock --update {WEB}:1.2.0"),
        TEMPLATE.to_owned(),
        "kustomize build .".to_owned(),
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template shop web --repo https://files.example.org/charts
exit 1
--- stderr
error: cannot load chart `web`
  cause: chart `https://files.example.org/charts/web` 1.2.0 does not match the lock: `https://files.example.org/charts/web-1.2.0.tgz` has sha256:ac62cd89b34895084e40ab5ffaacc153dd6839f4be7db9f56132bdef1763e113, `[CWD]/capstan.lock` has sha256:e2dc90b6494c03544663973107df3a5c9f5cd982e5720f69f32465a78dd309a1
hint: review the change; accept it with `capstan lock --update https://files.example.org/charts/web:1.2.0`

$ capstan chart show chart web --repo https://files.example.org/charts
exit 1
--- stderr
error: cannot load chart `web`
  cause: chart `https://files.example.org/charts/web` 1.2.0 does not match the lock: `https://files.example.org/charts/web-1.2.0.tgz` has sha256:ac62cd89b34895084e40ab5ffaacc153dd6839f4be7db9f56132bdef1763e113, `[CWD]/capstan.lock` has sha256:e2dc90b6494c03544663973107df3a5c9f5cd982e5720f69f32465a78dd309a1
hint: review the change; accept it with `capstan lock --update https://files.example.org/charts/web:1.2.0`

$ capstan kustomize build .
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot fetch `web`: chart `https://files.example.org/charts/web` 1.2.0 does not match the lock: `https://files.example.org/charts/web-1.2.0.tgz` has sha256:ac62cd89b34895084e40ab5ffaacc153dd6839f4be7db9f56132bdef1763e113, `[CWD]/capstan.lock` has sha256:e2dc90b6494c03544663973107df3a5c9f5cd982e5720f69f32465a78dd309a1
hint: review the change; accept it with `capstan lock --update https://files.example.org/charts/web:1.2.0`

$ capstan lock --check
exit 1
--- stdout
CHART                                  CHANGE    VERSION   LOCKED                FOUND
https://files.example.org/charts/web   changed   1.2.0     sha256:e2dc90b6494c   sha256:ac62cd89b348
--- stderr
error: 1 chart differs from the lock `[CWD]/capstan.lock`
hint: review the changes, then accept them with `capstan lock --update https://files.example.org/charts/web:1.2.0`

$ capstan lock
exit 1
--- stdout
CHART                                  CHANGE    VERSION   LOCKED                FOUND
https://files.example.org/charts/web   changed   1.2.0     sha256:e2dc90b6494c   sha256:ac62cd89b348
--- stderr
error: 1 chart differs from the lock; nothing was written
hint: review the changes, then accept them with `capstan lock --update https://files.example.org/charts/web:1.2.0`

$ capstan lock --update https://files.example.org/charts/web:1.2.0
exit 0
--- stdout
CHART                                  CHANGE    VERSION   LOCKED                FOUND
https://files.example.org/charts/web   changed   1.2.0     sha256:e2dc90b6494c   sha256:ac62cd89b348
--- stderr
done in [..]: locked 1 chart in `[CWD]/capstan.lock`

$ capstan chart template shop web --repo https://files.example.org/charts
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: A
metadata: {name: 6.6.6}

$ capstan kustomize build .
exit 0
--- stdout
kind: A
metadata:
  name: 6.6.6

"#]]
    );
}

#[test]
fn only_locked_charts_are_read_if_the_lock_is_required() {
    let host = FakeHost::internet();
    let world = world(&host);
    world.run_expecting_success(&format!("lock --chart {WEB}-1.2.0.tgz"));
    let screens = world.screens([
        format!("chart template {WEB}-1.2.0.tgz --locked"),
        format!("{TEMPLATE} --version ^1 --locked"),
        "chart template oci://ghe.example.org/charts/web:1.2.0 --locked".to_owned(),
        TEMPLATE.to_owned(),
        format!("lock --chart {WEB}:3"),
        format!("lock --chart {WEB}:newest"),
        "lock --chart web".to_owned(),
        "lock --chart https://files.example.org".to_owned(),
        format!("lock --check --chart {WEB}"),
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template https://files.example.org/charts/web-1.2.0.tgz --locked
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.2.0

$ capstan chart template shop web --repo https://files.example.org/charts --version ^1 --locked
exit 1
--- stderr
error: cannot load chart `web`
  cause: chart `https://files.example.org/charts/web` is not in `[CWD]/capstan.lock`, and unlocked charts are not allowed
hint: lock it with `capstan lock --chart 'https://files.example.org/charts/web:^1'`

$ capstan chart template oci://ghe.example.org/charts/web:1.2.0 --locked
exit 1
--- stderr
error: cannot load chart `oci://ghe.example.org/charts/web:1.2.0`
  cause: chart `oci://ghe.example.org/charts/web` is not in `[CWD]/capstan.lock`, and unlocked charts are not allowed
hint: lock it with `capstan lock --chart oci://ghe.example.org/charts/web:1.2.0`

$ capstan chart template shop web --repo https://files.example.org/charts
exit 0
--- stdout
---
# Source: web/templates/a.yaml
kind: 1.10.0

$ capstan lock --chart https://files.example.org/charts/web:3
exit 1
--- stderr
error: cannot lock chart `https://files.example.org/charts/web`
  cause: cannot find version `3` of chart `web` in `https://files.example.org/charts`
hint: the versions are `2.0.0-rc.1`, `1.10.0` and `1.2.0`

$ capstan lock --chart https://files.example.org/charts/web:newest
exit 1
--- stderr
error: cannot lock chart `https://files.example.org/charts/web`
  cause: `newest` is neither a version nor a range of versions: improper constraint: "newest"
hint: use a version such as `1.2.3`, or a range such as `>=1.2 <2` or `~1.2`

$ capstan lock --chart web
exit 1
--- stderr
error: cannot lock chart `web`: it is not a URL
hint: use the URL of its repository and its name, such as `https://example.org/charts/web`, or `oci://HOST/PATH`

$ capstan lock --chart https://files.example.org
exit 1
--- stderr
error: cannot lock chart `https://files.example.org/`
  cause: `https://files.example.org/` has no name of a chart
hint: add the name of the chart to the URL of its repository, such as `https://files.example.org/web`

$ capstan lock --check --chart https://files.example.org/charts/web
exit 1
--- stderr
error: `--check` cannot be combined with `--chart`

"#]]
    );
}

#[test]
fn credentials_of_a_repository_stay_out_of_the_lock() {
    let host = FakeHost::internet();
    let world = world(&host);
    let index = host.body("files.example.org/charts/index.yaml");
    host.on("files.example.org/charts/index.yaml?token=pa55", Reply::file(index));
    host.on("files.example.org/charts/web-1.2.0.tgz?token=pa55", Reply::file(archive("1.2.0")));
    let out = world
        .run_expecting_success("lock --chart https://me:pa55@files.example.org/charts/web?token=pa55:1.2.0");
    let lock = world.read(world.current_dir().join("capstan.lock"));
    assert!(lock.contains("url = \"https://files.example.org/charts/web\"\n"), "{lock}");
    assert!(!(lock + &out.to_string()).contains("pa55"));
}
