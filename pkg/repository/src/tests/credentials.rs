//! Sources of credentials: their precedence, their results, and the hosts they are sent to.

use api::with_causes;
use std::{fs, path::Path, time::Duration};

use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, Reply};
use tempfile::TempDir;
use transport::{
    AddressOrigin, Credential, CredentialSources, HostSettings, Hosts, RequestPurpose, Secret, Settings,
};
use url::Url;

use crate::{
    Error, RepositoryContext, fetch_file, fetch_url, open,
    testing::{gitlab_token, settings},
};

#[test]
fn a_credential_prints_its_user_and_never_its_password() {
    let password = Secret::new("netrc", "hunter2").unwrap();
    let basic = Credential::Basic { user: "ann".to_owned(), password };
    assert_eq!(
        format!("{basic} {basic:?}"),
        "user `ann` of netrc (***) Credential(user `ann` of netrc (***))"
    );
    let header = basic.header().unwrap();
    assert_eq!((header.to_str().unwrap(), header.is_sensitive()), ("Basic YW5uOmh1bnRlcjI=", true));
}

#[test]
fn a_token_with_a_line_break_has_no_header() {
    let token = Secret::new("GITHUB_TOKEN", "one\r\nx-injected: two").unwrap();
    assert_eq!(Credential::from(token).header(), None);
}

fn password(name: &str, password: &str) -> Credential {
    Credential::Basic { user: "ann".to_owned(), password: Secret::new(name, password).unwrap() }
}

fn hosts(name: &str, credential: Credential) -> Hosts {
    Hosts::new([(name.to_owned(), HostSettings { credential: Some(credential), ..HostSettings::default() })])
}

fn netrc(folder: &TempDir, text: &str) -> CredentialSources {
    let path = folder.path().join("netrc");
    fs::write(&path, text).unwrap();
    CredentialSources { netrc: Some(path), ..CredentialSources::default() }
}

fn auth_file(folder: &TempDir, text: &str) -> CredentialSources {
    let path = folder.path().join("config.json");
    fs::write(&path, text).unwrap();
    let helper_folders = vec![folder.path().to_owned()];
    CredentialSources { auth_files: vec![path], helper_folders, ..CredentialSources::default() }
}

/// A credential helper that runs this script.
#[cfg(unix)]
fn helper(folder: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(format!("docker-credential-{name}"));
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

async fn found(context: &RepositoryContext, url: &str, purpose: RequestPurpose<'_>) -> Result<String, Error> {
    let credential = context.credential_for(&Url::parse(url).unwrap(), purpose).await?;
    Ok(credential.map_or("nothing".to_owned(), |credential| credential.secret().expose().to_owned()))
}

// Row: D-195
#[tokio::test]
async fn the_most_specific_source_of_credentials_wins() {
    let folder = tempfile::tempdir().unwrap();
    let netrc = netrc(
        &folder,
        "machine set.lab login a password far\nmachine gitlab.lab login a password far\nmachine plain.lab login a password rc",
    );
    let tokens = Settings {
        hosts: hosts("set.lab", password("hosts.set.lab", "near")),
        gitlab_token: gitlab_token(),
        github_token: Secret::new("GITHUB_TOKEN", "hub"),
        github_enterprise_tokens: [("ghe.lab".to_owned(), Secret::new("ghe", "ghe").unwrap())].into(),
        credentials: netrc,
        ..Settings::default()
    };
    let context = RepositoryContext::new(tokens);
    let cases = [
        ("https://set.lab/x", "near"),
        ("https://set.lab:8443/x", "far"),
        ("https://gitlab.lab/x", "glpat_for_gitlab_only"),
        ("https://my.gitlab.lab/x", "nothing"),
        ("https://plain.lab/x", "rc"),
        ("https://ghe.lab/api/v3", "ghe"),
        ("https://api.github.com/x", "hub"),
        ("https://raw.githubusercontent.com/x", "nothing"),
        ("http://set.lab/x", "nothing"),
        ("http://plain.lab/x", "nothing"),
        ("https://me:pw@plain.lab/x", "nothing"),
    ];
    for (url, expected) in cases {
        assert_eq!(
            found(&context, url, RequestPurpose::File(AddressOrigin::User)).await.unwrap(),
            expected,
            "{url}"
        );
    }
    // Tokens and netrc are not used for registries.
    let registry = RequestPurpose::Registry { repository: "a/b" };
    for (url, expected) in
        [("https://gitlab.lab/", "nothing"), ("https://plain.lab/", "nothing"), ("https://set.lab/", "near")]
    {
        assert_eq!(found(&context, url, registry).await.unwrap(), expected, "{url}");
    }
}

#[tokio::test]
async fn default_credentials_are_for_hosts_named_by_the_user_only() {
    let folder = tempfile::tempdir().unwrap();
    let text = "machine known.lab login a password own\ndefault login a password all";
    let credentials = netrc(&folder, text);
    let context =
        RepositoryContext::new(Settings { credentials, gitlab_token: gitlab_token(), ..Settings::default() });
    for (url, of_fetched_file, of_user) in [
        ("https://known.lab/x", "own", "own"),
        ("https://other.lab/x", "nothing", "all"),
        ("https://gitlab.lab/x", "nothing", "glpat_for_gitlab_only"),
    ] {
        let found = async |named_by| found(&context, url, RequestPurpose::File(named_by)).await.unwrap();
        assert_eq!(found(AddressOrigin::FetchedFile).await, of_fetched_file, "{url}");
        assert_eq!(found(AddressOrigin::User).await, of_user, "{url}");
        // The user has named this host by now.
        assert_eq!(found(AddressOrigin::FetchedFile).await, of_user, "{url}");
    }
}

#[tokio::test]
async fn a_linked_file_is_fetched_without_the_netrc_default() {
    let (host, folder) = (FakeHost::internet(), tempfile::tempdir().unwrap());
    host.on("files.example.org/c.yaml", Reply::file("x"));
    let credentials = netrc(&folder, "default login ann password one");
    let context = RepositoryContext::new(Settings { credentials, ..settings(&host) });
    let url = "https://files.example.org/c.yaml";
    fetch_file(&context, url, AddressOrigin::FetchedFile).await.unwrap();
    fetch_url(&context, url).await.unwrap();
    let shown: Vec<bool> =
        host.received().iter().map(|request| request.header("authorization").is_some()).collect();
    assert_eq!(shown, [false, true]);
}

#[tokio::test]
async fn the_first_matching_auth_file_of_a_registry_wins() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut sources = auth_file(&one, r#"{"auths": {"registry.lab": {"username": "a", "password": "one"}}}"#);
    let second = r#"{"auths": {"registry.lab/team": {"username": "a", "password": "two"}, "other.lab": {"username": "a", "password": "two"}}}"#;
    sources.auth_files.extend(auth_file(&two, second).auth_files);
    sources.auth_files.push("/nonexistent/auth.json".into());
    let context = RepositoryContext::new(Settings { credentials: sources, ..Settings::default() });
    let registry = RequestPurpose::Registry { repository: "team/app" };
    assert_eq!(found(&context, "https://registry.lab/", registry).await.unwrap(), "one");
    assert_eq!(found(&context, "https://other.lab/", registry).await.unwrap(), "two");
    assert_eq!(
        found(&context, "https://other.lab/", RequestPurpose::File(AddressOrigin::User)).await.unwrap(),
        "nothing"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_credential_helper_runs_once_and_only_if_needed() {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("asked");
    let answer = r#"printf '{"ServerURL":"x","Username":"ann","Secret":"kept"}'"#;
    helper(folder.path(), "lab", &format!("cat >> {0}; echo \" $1\" >> {0}; {answer}", calls.display()));
    let sources = auth_file(&folder, r#"{"credHelpers": {"registry.lab:5000": "lab"}}"#);
    let context = RepositoryContext::new(Settings { credentials: sources, ..Settings::default() });
    let registry = RequestPurpose::Registry { repository: "team/app" };
    assert_eq!(found(&context, "https://elsewhere.lab/", registry).await.unwrap(), "nothing");
    assert!(!calls.exists());
    for _ in 0..2 {
        assert_eq!(found(&context, "https://registry.lab:5000/", registry).await.unwrap(), "kept");
    }
    assert_eq!(fs::read_to_string(calls).unwrap(), "registry.lab:5000 get\n");
}

#[cfg(unix)]
#[tokio::test]
async fn without_a_helper_entry_the_auth_file_is_used() {
    let folder = tempfile::tempdir().unwrap();
    helper(folder.path(), "lab", "echo 'credentials not found in native keychain'; exit 1");
    let text =
        r#"{"credsStore": "lab", "auths": {"registry.lab": {"username": "a", "password": "written"}}}"#;
    let sources = auth_file(&folder, text);
    let context = RepositoryContext::new(Settings { credentials: sources, ..Settings::default() });
    let registry = RequestPurpose::Registry { repository: "a" };
    assert_eq!(found(&context, "https://registry.lab/", registry).await.unwrap(), "written");
    assert_eq!(found(&context, "https://other.lab/", registry).await.unwrap(), "nothing");
}

#[cfg(unix)]
#[tokio::test]
async fn a_failed_helper_is_reported_without_its_output() {
    let scripts = [
        "echo s3cret; echo '  the vault is locked' >&2; exit 3",
        "echo s3cret",
        "exec sleep 60",
        "exec yes s3cret",
        "exec yes s3cret >&2",
    ];
    let mut problems = String::new();
    for script in scripts {
        let folder = tempfile::tempdir().unwrap();
        helper(folder.path(), "lab", script);
        let sources = auth_file(&folder, r#"{"credsStore": "lab"}"#);
        let is_slow = script.contains("sleep");
        let helper_limit = if is_slow { Duration::from_millis(50) } else { sources.helper_limit };
        let credentials = CredentialSources { helper_limit, ..sources };
        let context = RepositoryContext::new(Settings { credentials, ..Settings::default() });
        let registry = RequestPurpose::Registry { repository: "a" };
        let error = found(&context, "https://registry.lab/", registry).await.unwrap_err();
        let reported = format!("{} {error:?}", with_causes(&error));
        assert!(!reported.contains("s3cret"), "{reported}");
        problems.extend([&*helper_problem(&error, "docker-credential-lab"), "\n"]);
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["absent", "../../bin/x"] {
        let sources = auth_file(&folder, &format!(r#"{{"credsStore": "{name}"}}"#));
        let context = RepositoryContext::new(Settings { credentials: sources, ..Settings::default() });
        let registry = RequestPurpose::Registry { repository: "a" };
        let error = found(&context, "https://registry.lab/", registry).await.unwrap_err();
        problems.extend([&*helper_problem(&error, &format!("docker-credential-{name}")), "\n"]);
    }
    assert_data_eq!(
        problems,
        str![[r#"
it failed with exit status: 3: the vault is locked
its output is not valid JSON
it did not answer within 50ms
its output is longer than 1048576 bytes
its output is longer than 1048576 bytes
the program is not on the PATH
its name is not a plain file name

"#]]
    );
}

/// The problem of a credential helper.
#[cfg(unix)]
fn helper_problem(error: &Error, expected: &str) -> String {
    let Error::Transport(transport::Error::CredentialHelper { program, problem, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(program, expected);
    problem.clone()
}

/// The credentials sent to a host and to the host it redirects to.
async fn shown_to_both(make: impl FnOnce(&TempDir, &mut Settings), url: &str) -> [Option<String>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let (host, other) = (FakeHost::internet(), FakeHost::start(&["storage.example.org"]));
    let address = url.strip_prefix("https://").unwrap();
    host.on(address, Reply::redirect("https://storage.example.org/blob"));
    other.on("storage.example.org/blob", Reply::file("stored"));
    let mut settings = settings(&host);
    settings.extra_roots.push(other.ca_pem().as_bytes().to_vec());
    settings.resolve.insert("storage.example.org".to_owned(), other.address());
    make(&folder, &mut settings);
    let context = RepositoryContext::new(settings);
    if url.contains("/api/v4/") {
        open(url, "infrastructure-aws", None, &context).unwrap().read("v1.0.0", "c.yaml").await.unwrap();
    } else {
        fetch_url(&context, url).await.unwrap();
    }
    [&host, &other].map(|host| host.received().pop().unwrap().header("authorization").map(str::to_owned))
}

// Row: D-195
#[tokio::test]
async fn no_source_of_credentials_follows_a_redirect_to_another_host() {
    let file = "https://files.example.org/c.yaml";
    let basic = Some("Basic YW5uOm9uZQ==".to_owned());
    let of_hosts = |_: &TempDir, settings: &mut Settings| {
        settings.hosts = hosts("files.example.org", password("hosts", "one"));
    };
    assert_eq!(shown_to_both(of_hosts, file).await, [basic.clone(), None]);
    let of_netrc = |folder: &TempDir, settings: &mut Settings| {
        let both = "machine files.example.org login ann password one\ndefault login ann password two";
        settings.credentials = netrc(folder, both);
    };
    assert_eq!(shown_to_both(of_netrc, file).await, [basic, None]);
    let gitlab = "https://gitlab.example.org/api/v4/projects/42/packages/generic/p/v1.0.0/c.yaml";
    let of_variable = |_: &TempDir, settings: &mut Settings| settings.gitlab_token = gitlab_token();
    let bearer = Some("Bearer glpat_for_gitlab_only".to_owned());
    assert_eq!(shown_to_both(of_variable, gitlab).await, [bearer.clone(), None]);
    let of_section = |_: &TempDir, settings: &mut Settings| {
        settings.gitlab_tokens =
            gitlab_token().map(|token| ("gitlab.example.org".to_owned(), token)).into_iter().collect();
    };
    assert_eq!(shown_to_both(of_section, gitlab).await, [bearer, None]);
}

#[tokio::test]
async fn an_unreadable_credential_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let credentials =
        CredentialSources { netrc: Some(folder.path().to_owned()), ..CredentialSources::default() };
    let context = RepositoryContext::new(Settings { credentials, ..Settings::default() });
    let error =
        found(&context, "https://plain.lab/", RequestPurpose::File(AddressOrigin::User)).await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::Read { path, .. }) if path == folder.path()));
    let sources = auth_file(&folder, "{");
    let context = RepositoryContext::new(Settings { credentials: sources, ..Settings::default() });
    let error =
        found(&context, "https://r.lab/", RequestPurpose::Registry { repository: "a" }).await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::CredentialFile { .. })), "{error}");
}
