//! Tests of verbs on a terminal: widths, and keys that end a watch.
#![cfg(unix)]

use std::process::Command;

use rustix::process::Signal;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{cluster_api, fixture::Fixture, kind::MACHINE, terminal::Terminal};

use crate::{
    lifecycle::INIT,
    testing::{Lab, Management},
};

/// Starts a sandbox with cluster `team/one` and a broken machine.
async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create(cluster_api::cluster("team/one").control_plane(3).machine_deployment("md", 2)).await;
    let condition = json!({
        "type": "Ready", "status": "False", "reason": "NotReady",
        "message": "* NodeHealthy: the node does not answer",
    });
    let broken = json!({"status": {"conditions": [condition]}});
    lab.fixture.merge_status(MACHINE, "team/one-md-1-0", &broken).await;
    lab
}

fn command(lab: &Management, line: &str) -> Command {
    lab.world().command(line.split_whitespace())
}

const WATCH: &str = "describe cluster one -n team --watch --color never";
/// The last line of the tree.
const DRAWN: &str = "└─Machine";

#[tokio::test(flavor = "multi_thread")]
async fn q_and_signals_end_a_watch_and_restore_the_terminal() {
    let lab = lab().await;
    for signal in [None, Some(Signal::INT), Some(Signal::TERM), Some(Signal::HUP)] {
        let terminal = Terminal::with_columns(80);
        let watch = terminal.spawn(command(&lab, WATCH));
        terminal.read_until(DRAWN);
        assert!(!terminal.is_in_line_mode());
        match signal {
            None => terminal.press("xq"),
            Some(signal) => watch.signal(signal),
        }
        assert_eq!(watch.wait(), (Some(0), true), "{signal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_watch_releases_the_terminal_until_resumed() {
    let lab = lab().await;
    let terminal = Terminal::with_columns(80);
    let watch = terminal.spawn(command(&lab, WATCH));
    terminal.read_until(DRAWN);
    watch.suspend();
    assert!(terminal.is_in_line_mode());
    watch.resume();
    // The header is redrawn, because other output may have changed the screen. The watch reads `q` only in single-key
    // mode.
    terminal.read_until("q or Ctrl-C");
    terminal.press("q");
    assert_eq!(watch.wait(), (Some(0), true));
}

#[tokio::test(flavor = "multi_thread")]
async fn q_ends_a_rollout_watch() {
    let lab = lab().await;
    let paused = json!({"spec": {"replicas": 7}});
    lab.fixture.merge(support::kind::MACHINE_DEPLOYMENT, "team/one-md", &paused).await;
    let terminal = Terminal::with_columns(80);
    let watch = terminal.spawn(command(&lab, "alpha rollout status md/one-md -n team --watch"));
    terminal.read_until("MachineDeployment team/one-md: ");
    terminal.press("q");
    assert_eq!(watch.wait(), (Some(130), true));
}

// Row: D-338
#[tokio::test(flavor = "multi_thread")]
async fn narrow_terminals_keep_status_reason_and_message() {
    let lab = lab().await;
    let shown = |columns, line: &str| {
        let (status, text) = Terminal::with_columns(columns).run(command(&lab, line));
        assert_eq!(status, Some(0), "{text}");
        text
    };
    let describe = "describe cluster one -n team --color never";
    assert_data_eq!(
        shown(80, describe),
        str![[r#"
NAME                         REPLICAS STATUS REASON     MESSAGE
Cluster team/one                      True   Available
├─DockerCluster team/one              True   Ready
├─KubeadmCont…control-plane  3/3      True   Available
│ └─3 Machines...                     True   Ready      See one-control-plane-0, one-control-plane-1, ...
└─Workers
  └─MachineDe…t team/one-md  2/2
    ├─Machine…am/one-md-1-0  1        False  NotReady   * NodeHealthy: the node does not answer
    └─Machine…am/one-md-1-1  1        True   Ready

"#]]
    );
    assert_data_eq!(
        shown(60, describe),
        str![[r#"
NAME                  STATUS REASON     MESSAGE
Cluster team/one      True   Available
├─DockerCl… team/one  True   Ready
├─KubeadmC…rol-plane  True   Available
│ └─3 Machines...     True   Ready      See one-control-plane-0, one-control-plane-1, ...
└─Workers
  └─Machin…am/one-md
    ├─Mach…ne-md-1-0  False  NotReady   * NodeHealthy: the node does not answer
    └─Mach…ne-md-1-1  True   Ready

"#]]
    );
    assert_eq!(
        shown(200, describe).lines().next(),
        lab.run(describe).stdout.lines().next().map(str::trim_end)
    );
}

#[test]
fn tables_are_no_wider_than_the_terminal() {
    let lab = Lab::start(&[]);
    lab.done(INIT);
    for line in [
        "status",
        "provider list",
        "config repositories",
        "sandbox list",
        "upgrade plan",
        "upgrade apply --contract v1beta2 --dry-run",
        "delete --all --dry-run",
    ] {
        for columns in [80, 60] {
            let mut command = lab.world().command(line.split_whitespace());
            if !line.ends_with(" list") && line != "config repositories" {
                command.args(["--sandbox", "lab"]);
            }
            let (status, text) = Terminal::with_columns(columns).run(command);
            assert_eq!(status, Some(0), "{line}: {text}");
            let is_heading =
                |line: &&str| line.starts_with("NAME ") || line.trim_start().starts_with("ACTION ");
            let from_heading = text.lines().skip_while(|line| !is_heading(line));
            let rows: Vec<&str> = from_heading.take_while(|line| !line.is_empty()).collect();
            assert!(rows.len() > 1, "{line} at {columns}:\n{text}");
            assert!(
                rows.iter().all(|row| row.chars().count() <= usize::from(columns)),
                "{line} at {columns}:\n{text}"
            );
        }
    }
}
