//! Tests that every suggested command can be pasted.
#![cfg(unix)]

use support::binary::{RunOutput, TestEnvironment};

use crate::{
    repository::with_repository,
    testing::{ClusterPair, Sandboxes, with_small_providers},
    world,
};

/// Runs every suggested command of a run. Returns the suggestions.
///
/// # Panics
/// Panics without suggestions, or if a suggestion is not a command of this program.
#[track_caller]
fn pasted(world: &TestEnvironment, run: &RunOutput) -> Vec<String> {
    let suggested = run.suggested_commands();
    assert!(!suggested.is_empty(), "nothing is suggested\n{run}");
    for command in &suggested {
        let pasted = world.run_suggestion(command);
        assert_eq!(
            (pasted.status, pasted.stderr.as_str()),
            (0, ""),
            "`{command}`\n{pasted}\nsuggested by\n{run}"
        );
        assert!(!pasted.stdout.is_empty(), "`{command}`");
    }
    suggested
}

#[test]
fn suggestions_of_errors_can_be_pasted() {
    const NO_SERVER: &str = r#"{apiVersion: v1, kind: Config, current-context: prod,
        clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: u, user: {token: x}}],
        contexts: [{name: prod, context: {cluster: c, user: u}}]}"#;
    let world = with_repository();
    world.write("my kubeconfig", NO_SERVER);
    world.write("plan.json", "{}");
    let world = world.env("KUBECONFIG", "my kubeconfig");
    for line in [
        "nonsense",
        "--quiet nonsense",
        "upgrade nonsense",
        "alpha rollout nonsense --namespace x",
        "sandbox kubeconfig nonsense",
        "status --sandbox nonsense",
        "generate provider --infrastructure nonsense",
        "bundle create --from-lock --file x.tar",
        "lock --check",
    ] {
        let run = world.run_line(line);
        assert_eq!(run.status, 1, "{line}\n{run}");
        pasted(&world, &run);
    }
}

#[test]
fn a_suggestion_carries_the_configuration_of_the_run() {
    let world = world();
    world.write("my config.yaml", "{}");
    let run =
        world.run(["generate", "provider", "--infrastructure", "nonsense", "--config", "my config.yaml"]);
    let suggested = pasted(&world, &run);
    assert_eq!(suggested[0], "capstan config repositories --config 'my config.yaml'", "{run}");
}

// Row: D-317
#[test]
fn a_suggestion_names_the_program_as_it_was_called() {
    let world = world();
    for (called, suggested) in [
        ("clusterctl", "clusterctl upgrade --help"),
        ("kubectl-capi", "kubectl capi upgrade --help"),
        ("capstan", "capstan upgrade --help"),
    ] {
        let run = world.run_as(called, ["upgrade", "nonsense"]);
        assert_eq!(pasted(&world, &run), [suggested]);
    }
}

// Row: D-317
#[test]
fn next_steps_work_on_the_sandbox_of_the_run() {
    let sandboxes = Sandboxes::of(with_small_providers());
    let world = sandboxes.world();
    let kubeconfig = "~/state/capstan/sandboxes/lab/kubeconfig";
    let init = world.run_expecting_success("init --sandbox lab --infrastructure own");
    let generate = "capstan generate cluster [name] --kubernetes-version [version] --sandbox lab";
    let expected = format!("{generate} | kubectl --kubeconfig {kubeconfig} apply -f -");
    assert!(pasted(world, &init).contains(&expected), "{init}");
    let saved = world.run_expecting_success("delete --all --sandbox lab --out plan.json");
    assert_eq!(pasted(world, &saved), ["capstan delete --plan plan.json --sandbox lab"]);
    let missing = world.run_line("describe cluster nonsense --sandbox lab");
    assert_eq!(pasted(world, &missing), ["capstan get clusters -A --sandbox lab"]);
    let nothing_begun = world.run_line("upgrade resume --sandbox lab");
    assert_eq!(pasted(world, &nothing_begun), ["capstan upgrade plan --sandbox lab"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn suggestions_about_the_target_of_a_move_reach_the_target() {
    let two = ClusterPair::start().await;
    two.target.delete(support::kind::PROVIDER, "infrastructure-docker-system/infrastructure-docker").await;
    let [source, target] = two.kubeconfigs().await;
    let ends = ["move", "--kubeconfig", &source, "--to-kubeconfig", &target];
    let run = tokio::task::block_in_place(|| two.world.run(ends));
    let suggested = tokio::task::block_in_place(|| pasted(&two.world, &run));
    assert_eq!(
        suggested,
        [format!("capstan init --infrastructure docker:v1.14.0 --kubeconfig {target}")],
        "{run}"
    );
}
