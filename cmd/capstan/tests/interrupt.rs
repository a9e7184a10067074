#![cfg(unix)]

use std::{
    net::TcpListener,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use snapbox::{assert_data_eq, str};

use crate::world;

/// Steps of 10 ms between two signals.
const SIGNAL_STEPS: usize = 200;

#[test]
fn ctrl_c_ends_a_wait_and_leaves_no_files() {
    let world = world();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/clusterctl.yaml", silent.local_addr().unwrap());
    let mut command = world.command(["config", "repositories", "--config", &url]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let connection = silent.accept().unwrap();
    // A background process may inherit an ignored signal, which is lost before the first wait.
    for step in 0.. {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        if step % SIGNAL_STEPS == 0 {
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            assert!(sent.success());
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    drop(connection);
    // Before the first wait, the signal may still end the process directly.
    if let Some(status) = output.status.code() {
        let reported = String::from_utf8(output.stderr).unwrap();
        assert_eq!(status, 130, "{reported}");
        assert_data_eq!(
            reported.lines().next_back().unwrap_or_default(),
            str!["error: interrupted, nothing was written"]
        );
    }
    assert_eq!(output.stdout, b"");
    assert_eq!(world.files(), Vec::<String>::new());
}
