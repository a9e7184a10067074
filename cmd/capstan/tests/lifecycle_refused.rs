//! Tests of errors of `init`, `upgrade`, `delete` and `status` before any request, or with an unreachable cluster.

use snapbox::{assert_data_eq, str};
use support::binary::{RunOutput, TestEnvironment};

use crate::{repository::with_repository, world};

/// A kubeconfig with an unreachable server: no program listens on port 1.
const KUBECONFIG: &str = r#"apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: hidden}}]
contexts:
- {name: prod, context: {cluster: c, user: u}}
- {name: staging, context: {cluster: c, user: u}}
"#;

fn near_a_dead_server() -> TestEnvironment {
    let world = with_repository();
    world.write("kubeconfig", KUBECONFIG);
    world.env("KUBECONFIG", "kubeconfig").env("TOKEN", "x")
}

fn refused(arguments: &str) -> String {
    near_a_dead_server().run_expecting_failure(arguments)
}

const VERBS: [&str; 5] =
    ["init -i own", "upgrade plan", "upgrade apply --contract v1beta2", "delete --all", "status"];

// Row: D-93
#[test]
fn a_mistyped_context_is_refused_by_every_verb_even_inside_a_pod() {
    for verb in VERBS {
        let world = near_a_dead_server().env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
        let run = world.run(verb.split_whitespace().chain(["--kubeconfig-context", "stagin"]));
        assert_eq!(
            (run.status, run.stderr.as_str()),
            (1, "error: the kubeconfig has no context `stagin`\nhint: did you mean `staging`?\n"),
            "{verb}"
        );
    }
}

#[test]
fn without_a_kubeconfig_the_places_are_told() {
    assert_data_eq!(
        world().run(["status"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: there is no kubeconfig
hint: looked at [HOME]/.kube/config; name a file with `--kubeconfig` or KUBECONFIG

"#]]
    );
}

// Row: D-94
#[test]
fn a_server_that_is_not_there_is_told_at_once_and_no_secret_with_it() {
    for verb in VERBS {
        let run: RunOutput = near_a_dead_server().run(verb.split_whitespace());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
        assert!(run.stderr.contains("no answer from https://127.0.0.1:1"), "{run}");
        assert!(run.stderr.contains("hint: start the cluster, or name another"), "{run}");
        assert!(!run.stderr.contains("hidden"), "{run}");
    }
}

// Row: D-108
#[test]
fn what_is_to_be_upgraded_must_be_said_once() {
    assert_data_eq!(
        refused("upgrade apply"),
        str![[r#"
error: nothing says what to upgrade
hint: give `--contract v1beta2`, or name providers with their versions, as `--infrastructure aws:v2.11.1`

"#]]
    );
    assert_data_eq!(
        refused("upgrade apply --contract v1beta2 -i own:v1.1.0"),
        str![[r#"
error: `--contract` cannot be used together with flags that name providers

"#]]
    );
    assert_data_eq!(
        refused("upgrade apply --contract v1beta1"),
        str![[r#"
error: cannot upgrade to contract `v1beta1`
hint: the only one is `--contract v1beta2`

"#]]
    );
    assert_data_eq!(
        refused("upgrade apply -i own"),
        str![[r#"
error: invalid value `own` of `--infrastructure`
  cause: `own` is not of the form [namespace/]name:version
hint: name the version to go to, as `NAME:VERSION`

"#]]
    );
}

#[test]
fn a_misspelt_provider_is_told_before_its_missing_version() {
    for line in ["upgrade apply -i dokcer", "generate cluster demo -i dokcer"] {
        let stderr = refused(line);
        assert!(stderr.contains("hint: did you mean `docker`?\n"), "{line}: {stderr}");
        assert!(!stderr.contains("name the version"), "{line}: {stderr}");
    }
}

// Row: D-319
#[test]
fn a_kubeconfig_with_http_for_https_fails_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // A TLS server answers plain HTTP with an alert.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            use std::io::{Read as _, Write as _};
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(&[0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46]);
        }
    });
    let world = near_a_dead_server();
    world.write("http", KUBECONFIG.replace("https://127.0.0.1:1", &format!("http://{address}")));
    let stderr = world.run_expecting_failure("status --kubeconfig http");
    assert!(stderr.contains("it does not speak HTTP\n"), "{stderr}");
    assert!(stderr.contains("hint: write `https://` into `server` in the kubeconfig\n"), "{stderr}");
    assert!(!stderr.contains("trying again"), "{stderr}");
}

#[test]
fn what_is_to_be_deleted_must_be_said_once() {
    assert_data_eq!(
        refused("delete"),
        str![[r#"
error: nothing says what to delete
hint: name providers, as `--infrastructure aws`, or give `--all`

"#]]
    );
    assert_data_eq!(
        refused("delete --all -i own"),
        str![[r#"
error: `--all` cannot be used together with flags that name providers

"#]]
    );
}

#[test]
fn flags_with_values_that_do_not_fit_are_told() {
    for (arguments, told) in [
        ("init --timeout 10", "error: invalid value `10` for `--timeout`"),
        ("init --wait-provider-timeout -5", "error: invalid value `-5` for `--wait-provider-timeout`"),
        ("init --no-wait --wait-providers", "error: `--no-wait` cannot be used together"),
        ("init --core -", "error: the core provider cannot be left out"),
        ("init -i own:v1:v2", "error: invalid value `own:v1:v2` of `--infrastructure`"),
        ("init --validate=perhaps", "error: invalid value `perhaps` for `--validate`"),
        ("status --max-in-flight 0", "error: invalid value `0` for `--max-in-flight`"),
        ("delete --all -o xml", "error: invalid output format `xml`"),
    ] {
        let stderr = refused(arguments);
        assert!(stderr.starts_with(told), "{arguments}: {stderr}");
    }
}

#[test]
fn a_saved_plan_is_read_before_anything_else() {
    let world = near_a_dead_server();
    world.write("text.json", "no plan");
    world.write("later.json", r#"{"format": 7}"#);
    world.write(
        "deletion.json",
        r#"{"format": 2, "cluster": "u", "certManager": {"action": "keep"}, "providers": [],
            "request": {"verb": "delete", "providers": null, "includeCrds": false, "includeNamespaces": false}}"#,
    );
    let run = |file| world.run(["init", "--plan", file]).stderr;
    assert_data_eq!(
        run("text.json"),
        str![[r#"
error: cannot carry out the plan `text.json`
  cause: it is no saved plan
  cause: expected ident at line 1 column 2

"#]]
    );
    assert_data_eq!(
        run("later.json"),
        str![[r#"
error: cannot carry out the plan `later.json`
  cause: it has format 7, and this version reads format 2

"#]]
    );
    assert_data_eq!(
        run("deletion.json"),
        str![[r#"
error: cannot carry out the plan `deletion.json`
  cause: it is a plan of `delete`
hint: carry it out with `capstan delete --plan deletion.json`

"#]]
    );
    world.write(
        "upgrade.json",
        r#"{"format": 2, "cluster": "u", "certManager": {"action": "keep"}, "providers": [],
            "request": {"verb": "upgrade", "contract": null,
                "providers": [{"provider": {"type": "InfrastructureProvider", "name": "own"}, "version": null}],
                "options": {"allowDowngrade": false, "allowSkip": false, "keepReplicas": false,
                    "keepPlacement": false, "skipCertManager": false}}}"#,
    );
    let no_version = world.run(["upgrade", "apply", "--plan", "upgrade.json"]).stderr;
    assert_eq!(no_version, "error: the plan names no version for `infrastructure-own`\n");
    let both = world.run(["delete", "--all", "--plan", "deletion.json"]);
    assert!(both.stderr.starts_with("error: `--plan` says it all"), "{both}");
}

#[test]
fn a_group_shows_what_it_has() {
    for group in ["upgrade", "plan"] {
        let run = world().run([group]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.contains(&format!("Usage: capstan {group} <COMMAND>")), "{run}");
    }
}

// Row: D-127
#[test]
fn a_provider_that_is_named_twice_is_a_slip() {
    assert_eq!(refused("init -i own,own:v1.0.0"), "error: `infrastructure-own` is named twice\n");
}
