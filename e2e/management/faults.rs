//! capstan is killed during a run on a real API server, and the same command is repeated.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use support::{
    api_server::ApiServer,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
};

use super::peer::{FIRST, LAST, Management, SECOND, Tool, check, left};

/// Kills capstan after this many lines of progress output, unless it has exited already.
fn kill_after(cluster: &Management, arguments: &[&str], lines: usize) {
    let mut command = cluster.command(arguments);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let reported = BufReader::new(child.stderr.take().unwrap());
    assert!(reported.lines().take(lines).all(|line| line.is_ok()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_is_completed_by_the_same_command() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    let cluster = Management::new(server.kubeconfig());
    let before = ObjectSnapshot::read(&client_from_kubeconfig(server.kubeconfig()).await).await;
    let no_wait: &[&str] = &["--no-wait"];
    for (arguments, record) in [
        ([FIRST, no_wait].concat(), "installed.txt"),
        ([SECOND, no_wait].concat(), "upgraded.txt"),
        (LAST.to_vec(), "deleted.txt"),
    ] {
        for lines in [2, 4] {
            kill_after(&cluster, &arguments, lines);
        }
        cluster.capstan(&arguments);
        check(record, &left(&cluster, &before).await, &[Tool::Capstan]);
    }
}
