use std::process::Stdio;

use snapbox::{assert_data_eq, str};

use crate::world;

// Row: D-74
#[test]
fn a_closed_pipe_is_no_failure() {
    let world = world();
    let mut command = world.command(["config", "repositories"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stderr, b"");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_stdout_is_a_failure() {
    let world = world();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = world.command(["version"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_data_eq!(
        stderr,
        str![[r#"
error: cannot write to standard output
  cause: No space left on device (os error 28)

"#]]
    );
}

#[test]
fn pipes_get_colour_only_on_request() {
    let world = world();
    assert!(!world.run(["version", "-o", "xml"]).stderr.contains('\u{1b}'));
    let coloured = world.run(["version", "-o", "xml", "--color", "always"]);
    assert!(coloured.stderr.starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m "), "{coloured:?}");
    assert!(!world.run(["config", "repositories", "--color", "always"]).stdout.contains('\u{1b}'));
}

#[test]
fn quiet_hides_only_status_lines() {
    let world = world();
    let add =
        ["provider", "add", "mine", "--type", "ipam", "--url", "/srv/ipam-mine/v1.0.0/c.yaml", "--quiet"];
    assert_eq!(world.run(add).stderr, "");
    assert_data_eq!(
        world.run(["version", "extra", "--quiet"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: unexpected argument `extra`: `version` takes no arguments
usage: capstan version [OPTIONS]

"#]]
    );
}

// Row: D-73
#[test]
fn foreign_text_cannot_control_the_terminal() {
    let outcome = world().run(["version", "-o", "\u{1b}[2Jx"]);
    assert!(outcome.stderr.contains("`\\u{1b}[2Jx`"), "{outcome}");
}
