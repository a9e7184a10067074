//! Changes to providers during an unfinished move.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::{Value, json};
use support::{fixture::merge, kind::PROVIDER, object_snapshot::client_from_kubeconfig};

use super::pair::{Pair, Side};
use crate::{management::shipped_providers, server::differences};

const INIT: [&str; 4] = ["init", "-i", "sandbox:v1.1.0", "--no-wait"];
const DELETE: [&str; 2] = ["delete", "--all"];

/// Starts a move and kills it while it creates objects on the target.
fn kill_while_creating(pair: &Pair) {
    let mut command = pair.command(pair.there(), &["--progress", "json"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert!(events.any(|event| event["phase"] == "creating" && event["done"] != 0));
    child.kill().unwrap();
    child.wait().unwrap();
}

async fn refused_until_abandoned(pair: Pair) {
    pair.world().configure(shipped_providers());
    pair.fill().await;
    for side in [&pair.here, &pair.there] {
        let client = client_from_kubeconfig(side.kubeconfig()).await;
        // A release that `init` can read.
        merge(&client, PROVIDER, "cluster-api-system/cluster-api", &json!({"version": "v1.1.0"})).await;
    }
    kill_while_creating(&pair);
    let sides = [&pair.here, &pair.there];
    for side in sides {
        let unfinished = &pair.status(side)["unfinishedMove"];
        assert_eq!(unfinished["phase"], "creating", "{unfinished}");
        let command = unfinished["command"].as_str().unwrap();
        assert!(command.split_whitespace().any(|word| word == "move"), "{command}");
        for arguments in [&INIT[..], &DELETE] {
            let before = side.server.everything().await;
            let run = pair.run_on(side, arguments);
            assert_eq!(run.status, 1, "{arguments:?}: {run}");
            assert_eq!(differences(&before, &side.server.everything().await), Vec::<String>::new());
        }
    }
    for side in sides {
        abandon(&pair, side).await;
    }
}

async fn abandon(pair: &Pair, side: &Side) {
    let providers = async || {
        let all = side.server.everything().await;
        all.iter().filter(|(name, _)| name.starts_with("Provider ")).count()
    };
    let before = providers().await;
    for (arguments, expected) in [(&INIT[..], before + 1), (&DELETE, 0)] {
        let run = pair.run_on(side, &[arguments, &["--abandon"]].concat());
        assert_eq!(run.status, 0, "{arguments:?}: {run}");
        assert_eq!(providers().await, expected, "{arguments:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_move_is_abandoned_only_on_request_on_sandboxes() {
    refused_until_abandoned(Pair::on_sandboxes().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_move_is_abandoned_only_on_request_on_real_servers() {
    let Some(pair) = Pair::start().await else { return };
    refused_until_abandoned(pair).await;
}
