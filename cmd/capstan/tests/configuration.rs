use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use snapbox::{assert_data_eq, str};

use crate::world;

fn with_config(path: &str) -> String {
    world().run(["config", "repositories", "--config", path]).to_string()
}

#[test]
fn a_missing_configuration_file_is_named() {
    assert_data_eq!(
        with_config("gone.yaml"),
        str![[r#"
exit 1
--- stderr
error: cannot read the configuration file `[CWD]/gone.yaml`
  cause: No such file or directory (os error 2)
hint: check the path after `--config`; relative paths start at the current folder

"#]]
    );
}

#[test]
fn a_truncated_configuration_is_reported_with_its_position() {
    let world = world();
    world.configure("providers:\n- name: aws\n  url: [\n");
    assert_data_eq!(
        world.run(["config", "repositories"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot read the configuration `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: the file is not valid YAML
  cause: line 3, column 8: did not find expected `,` or `]`

"#]]
    );
}

#[test]
fn an_unsupported_format_is_detected_by_extension() {
    let world = world();
    world.write("clusterctl.ini", "A=1\n");
    assert_data_eq!(
        world.run(["config", "repositories", "--config", "clusterctl.ini"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot read the configuration file `[CWD]/clusterctl.ini`: the format `.ini` is not supported
hint: use a file with the extension .yaml, .json, .toml or .env

"#]]
    );
}

#[test]
fn every_supported_format_gives_the_same_providers() {
    let world = world();
    world.write("c.yaml", "providers:\n- {name: mine, type: IPAMProvider, url: /srv/m/v1.0.0/c.yaml}\n");
    world.write(
        "c.json",
        r#"{"providers": [{"name": "mine", "type": "IPAMProvider", "url": "/srv/m/v1.0.0/c.yaml"}]}"#,
    );
    world.write(
        "c.toml",
        "[[providers]]\nname = \"mine\"\ntype = \"IPAMProvider\"\nurl = \"/srv/m/v1.0.0/c.yaml\"\n",
    );
    let list = |path| world.run(["config", "repositories", "--config", path]);
    let yaml = list("c.yaml");
    assert!(yaml.stdout.contains("mine "), "{yaml}");
    assert_eq!(list("c.json"), yaml);
    assert_eq!(list("c.toml"), yaml);
}

// Row: D-01
#[test]
fn searching_for_the_configuration_creates_no_files() {
    let world = world();
    world.run(["config", "repositories"]);
    assert_eq!(world.files(), Vec::<String>::new());
    assert!(!world.home().join(".config").exists());
}

#[test]
fn the_log_names_the_configuration_file_used() {
    let world = world();
    world.configure("A: 1\n");
    let log = |level: &[&str]| world.run([&["config", "repositories"], level].concat()).stderr;
    assert_eq!(log(&[]), "");
    assert_data_eq!(
        log(&["-v5"]),
        str![[r#"
using the configuration `[HOME]/.config/cluster-api/clusterctl.yaml`

"#]]
    );
}

#[test]
fn the_log_level_comes_from_the_flag_then_the_environment() {
    let world = world().env("CLUSTERCTL_LOG_LEVEL", "5");
    let log = |level: &[&str]| world.run([&["config", "repositories"], level].concat()).stderr;
    assert_data_eq!(
        log(&[]),
        str![[r#"
using no configuration file

"#]]
    );
    assert_eq!((log(&["-v", "1"]), log(&["-v", "0"])), (String::new(), log(&[])));
    assert_data_eq!(
        world.env("CLUSTERCTL_LOG_LEVEL", "loud").run(["version"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value `loud` for the environment variable `CLUSTERCTL_LOG_LEVEL`: expected a whole number from 0 to 10

"#]]
    );
}

// Row: D-91
#[test]
fn an_invalid_log_level_does_not_stop_help() {
    let (world, bad) = (world(), world().env("CLUSTERCTL_LOG_LEVEL", "loud"));
    for line in [&[] as &[&str], &["--help"], &["help", "convert"], &["config"], &["convert", "-h"]] {
        assert_eq!(bad.run(line), world.run(line), "{line:?}");
    }
}

#[test]
fn a_configuration_url_is_shown_without_credentials() {
    let mut screens = String::new();
    let address = "https://me:s3cret@example.com:99999/c.yaml?token=s3cret";
    for line in [
        &["config", "repositories", "--config", address] as &[&str],
        &["generate", "yaml", "--from", address],
        &[
            "provider",
            "add",
            "own",
            "--type",
            "addon",
            "--url",
            "/addon-own/v1.0.0/c.yaml",
            "--config",
            address,
        ],
    ] {
        screens += &world().run(line).to_string();
    }
    let address = "https://me:s3cret@example.com/c.yaml?token=s3cret";
    screens += &world().run(["provider", "add", "own", "--type", "addon", "--url", address]).to_string();
    assert!(!screens.contains("s3cret"), "{screens}");
    assert_data_eq!(
        screens,
        str![[r#"
exit 1
--- stderr
error: cannot read the configuration `https://example.com:99999/c.yaml?***`
  cause: cannot fetch from `https://example.com:99999/c.yaml?***`: it is not a valid URL
exit 1
--- stderr
error: cannot read the template `https://example.com:99999/c.yaml?***`
  cause: cannot fetch from `https://example.com:99999/c.yaml?***`: it is not a valid URL
exit 1
--- stderr
error: cannot write to `https://example.com:99999/c.yaml?***`
hint: use a file with `--config FILE`
exit 1
--- stderr
error: cannot use `https://example.com/c.yaml?token=***` for the provider `own`
  cause: a provider URL must not contain a user name or password; set a token instead

"#]]
    );
}

// Row: D-07
#[test]
fn a_misspelt_configuration_key_gives_a_warning() {
    let world = world();
    world.configure("provders: []\n");
    assert_data_eq!(
        world.run(["config", "repositories"]).stderr,
        str![[r#"
warning: `provders` in `[HOME]/.config/cluster-api/clusterctl.yaml` has no effect; did you mean `providers`?

"#]]
    );
}

// Row: D-03
#[test]
fn a_configuration_url_is_kept_in_memory_and_gets_no_token() {
    let world = world().env("GITHUB_TOKEN", "secret");
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/team.yaml", host.local_addr().unwrap());
    let served = thread::spawn(move || {
        let (mut connection, _) = host.accept().unwrap();
        let mut request = [0; 4096];
        let length = connection.read(&mut request).unwrap();
        let body = "providers:\n- {name: mine, type: IPAMProvider, url: /srv/ipam-mine/v1.0.0/c.yaml}\n";
        write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let outcome = world.run(["config", "repositories", "--config", &url]);
    assert!(outcome.stdout.contains("mine "), "{outcome}");
    let request = served.join().unwrap();
    assert!(request.starts_with("GET /team.yaml ") && !request.contains("secret"), "{request}");
    assert_eq!(world.files(), Vec::<String>::new());
}

#[test]
fn an_unreachable_configuration_url_is_named() {
    // No program listens on port 9 of this machine.
    let outcome = world().run(["config", "repositories", "--config", "http://127.0.0.1:9/clusterctl.yaml"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.contains("http://127.0.0.1:9/clusterctl.yaml"), "{outcome}");
}
