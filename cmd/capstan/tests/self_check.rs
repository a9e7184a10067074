#![cfg(unix)]

use std::{os::unix::fs::symlink, path::Path};

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::world;

/// Links a name of the program into the PATH.
fn link(world: &TestEnvironment, name: &str) {
    symlink(env!("CARGO_BIN_EXE_capstan"), world.bin().join(name)).unwrap();
}

/// Runs a line and names the folder of the tested program.
fn screen(world: &TestEnvironment, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_capstan")).canonicalize().unwrap();
    let folder = program.parent().unwrap().display().to_string();
    world.run_line(line).to_string().replace(&folder, "[TARGET]")
}

/// An environment in which every check passes.
fn installed() -> TestEnvironment {
    let world = world().env("SHELL", "/bin/bash").env("CAPSTAN_CACHE_DIR", "cache");
    for name in ["capstan", "clusterctl", "kubectl-capi"] {
        link(&world, name);
    }
    world.script("kubectl", "");
    world.script("git", "");
    world.write(world.home().join(".local/share/bash-completion/completions/capstan"), "");
    world.write(world.home().join(".kube/config"), "");
    world.configure("");
    world
}

#[test]
fn a_complete_installation_is_usable() {
    assert_data_eq!(
        screen(&installed(), "self check"),
        str![[r#"
exit 0
--- stdout
CHECK           STATE     FACT
program         ok        [TARGET]/capstan, version 0.1.0
clusterctl      ok        [BIN]/clusterctl runs this program
kubectl-capi    ok        [BIN]/kubectl-capi runs this program
completion      ok        bash: [HOME]/.local/share/bash-completion/completions/capstan
kubectl         ok        [BIN]/kubectl
git             ok        [BIN]/git
configuration   ok        [HOME]/.config/cluster-api/clusterctl.yaml
cache           ok        [CWD]/cache: 0 B of 1.00 GiB
kubeconfig      ok        [HOME]/.kube/config
proxy           ok        none
certificates    ok        those of the system

"#]]
    );
}

#[test]
fn every_problem_names_the_next_step_and_no_secret() {
    let world = world()
        .env("SHELL", "/usr/bin/fish")
        .env("HTTPS_PROXY", "http://user:hunter2@proxy.example:3128")
        .env("ALL_PROXY", "user:hunter2@proxy.example:1080")
        .env("HTTP_PROXY", "http://[")
        .env("SSL_CERT_FILE", "gone.pem");
    world.script("clusterctl", "");
    world.configure("providers:\n- name: aws\n  url: [\n");
    world.write(world.home().join(".cluster-api/clusterctl.yaml"), "");
    let screen = screen(&world, "self check");
    assert!(!screen.contains("hunter2"), "{screen}");
    assert_data_eq!(
        screen,
        str![[r#"
exit 1
--- stdout
CHECK           STATE     FACT
program         warning   [TARGET]/capstan, version 0.1.0; `capstan` is not on the PATH
clusterctl      note      [BIN]/clusterctl is another program
kubectl-capi    note      not on the PATH
completion      note      not found for fish
kubectl         note      not on the PATH; `quickstart` suggests commands that use it
git             note      not on the PATH; providers, charts and catalogs in Git repositories need it
configuration   error     cannot read the configuration `[HOME]/.config/cluster-api/clusterctl.yaml`: the file is not valid YAML: line 3, column 8: did not find expected `,` or `]`
configuration   warning   [HOME]/.cluster-api/clusterctl.yaml has no effect, because only the first file counts
kubeconfig      note      no file; commands for a management cluster need `--kubeconfig` or `--sandbox`
proxy           ok        HTTPS_PROXY=http://proxy.example:3128/
proxy           error     HTTP_PROXY is no valid address
proxy           ok        ALL_PROXY=proxy.example:1080
certificates    error     SSL_CERT_FILE names `gone.pem`, which is no file

program: run `export PATH="[TARGET]:$PATH"`, also in the start file of your shell
clusterctl: to replace it, put a folder with a link before it on the PATH: run `ln -s [TARGET]/capstan [TARGET]/clusterctl`
kubectl-capi: to use this name, run `ln -s [TARGET]/capstan [TARGET]/kubectl-capi`
completion: run `capstan completion --help` for the command that installs it in fish
configuration: merge [HOME]/.cluster-api/clusterctl.yaml into the first file, and remove it
proxy: set `HTTP_PROXY` to an address such as http://proxy.example:3128
certificates: set `SSL_CERT_FILE` to a file of PEM certificates, or unset it
--- stderr
error: 3 checks found errors

"#]]
    );
}

#[test]
fn a_system_without_root_certificates_is_an_error() {
    let world = installed().env("SSL_CERT_DIR", "empty");
    world.write("empty/README", "");
    let run = world.run_line("self check -o json");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let check = report["checks"].as_array().unwrap().last().unwrap();
    assert_data_eq!(
        serde_json::to_string_pretty(check).unwrap(),
        str![[r#"
{
  "advice": "install the package `ca-certificates`, or set SSL_CERT_FILE to a file of PEM certificates",
  "fact": "cannot verify servers: no root certificates of the system were found: unexpected error: No CA certificates were loaded from the system",
  "name": "certificates",
  "state": "error"
}
"#]]
    );
}

#[test]
fn json_has_the_same_checks_and_status() {
    let world = installed();
    let run = world.run_line("self check -o json");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, report["usable"].as_bool()), (0, Some(true)));
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["state"] == "ok"), "{report:#}");
    world.configure("a: [");
    let run = world.run_line("self check -o json");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, report["usable"].as_bool()), (1, Some(false)));
}

#[test]
fn a_remote_configuration_is_named_and_not_fetched() {
    let world = installed();
    let run = world.run_line("self check --config https://user:hunter2@config.example/c.yaml");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stdout.contains("https://config.example/c.yaml; not read"), "{run}");
}

#[test]
fn a_check_writes_no_file() {
    let world = installed();
    let before = world.files();
    world.run_expecting_success("self check");
    assert_eq!(world.files(), before);
}
