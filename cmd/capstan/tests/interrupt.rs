#![cfg(unix)]

use std::{net::TcpListener, process::Command, process::Stdio};

use crate::world;

#[test]
fn ctrl_c_ends_a_wait_and_leaves_nothing() {
    let world = world();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/clusterctl.yaml", silent.local_addr().unwrap());
    let mut command = world.command(["config", "repositories", "--config", &url]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let connection = silent.accept().unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(connection);
    // Before the first wait is settled the signal still ends the process by itself.
    if let Some(status) = output.status.code() {
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (status, told.lines().next_back()),
            (130, Some("error: interrupted, nothing was written"))
        );
    }
    assert_eq!(output.stdout, b"");
    assert_eq!(world.files(), Vec::<String>::new());
}
