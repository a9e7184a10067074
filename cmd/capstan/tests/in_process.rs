use std::{
    ffi::OsString,
    io::{self, Write},
    sync::{Arc, Mutex},
};

use capstan::{Environment, Streams};
use snapbox::{assert_data_eq, str};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let (stdout, stderr) = (Shared::default(), Shared::default());
    let streams = Streams {
        stdin: Box::new(io::empty()),
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
        stdin_is_terminal: false,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
    };
    let environment = Environment::new(variables.iter().copied(), "/");
    capstan::run(arguments.iter().map(OsString::from), environment, streams);
    (stdout.text(), stderr.text())
}

#[test]
fn two_runs_in_one_process_do_not_see_each_other() {
    let (_, loud) = run(&["capstan", "config", "repositories"], &[("CLUSTERCTL_LOG_LEVEL", "5")]);
    let (_, silent) = run(&["capstan", "config", "repositories"], &[]);
    assert_data_eq!(
        loud,
        str![[r#"
using no configuration file

"#]]
    );
    assert_eq!(silent, "");
    let (version, _) = run(&["clusterctl", "version", "-o", "short"], &[]);
    assert_eq!(version, "v1.14.0\n");
}

#[test]
fn the_program_reads_only_the_given_environment() {
    let (list, _) = run(
        &["capstan", "provider", "list", "-o", "json"],
        &[("PROVIDERS_FOLDER", "/srv"), ("HOME", "/nowhere"), ("XDG_CONFIG_HOME", "/nowhere")],
    );
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let mut providers = list["providers"].as_array().unwrap().iter();
    assert!(providers.all(|provider| provider["source"] == "builtIn"), "{list}");
}
