use std::time::Duration;

use support::{
    host::{FakeHost, Reply},
    proxy::FakeProxy,
};
use transport::{ClientCertificate, HostProxy, HostSettings, Hosts, Secret, Timeouts};

use super::*;

/// A fake ssh that runs the remote command on this machine.
pub(super) const SSH: &str = r#"sh -c 'for last; do :; done; eval "$last"' --"#;

fn with_variable(lab: &Lab, name: &str, value: &str) -> RepositoryContext {
    let mut git = lab.git();
    git.variables.push((name.into(), value.into()));
    with_git(lab.settings(), git)
}

fn with_token(settings: Settings, host: &GitHost, token: &str) -> Settings {
    let token = Secret::new("gitlab-tokens", token).unwrap();
    Settings { gitlab_tokens: [(host.authority(), token)].into(), ..settings }
}

async fn read(address: &str, context: &RepositoryContext) -> Result<String, Error> {
    let remote = remote(address, context);
    let commit = remote.resolve("main").await?;
    Ok(String::from_utf8_lossy(&remote.read(&commit, "a").await?).into_owned())
}

#[tokio::test]
async fn a_token_is_sent_after_a_challenge_of_its_host() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(Some(("oauth2", "s3cret")));
    let context = lab.context(with_token(lab.trusting(&host), &host, "s3cret"));
    assert_eq!(read(&host.url("r"), &context).await.unwrap(), "1");
    assert!(host.requests()[0].authorization.is_none(), "not before it is asked for");
    let config =
        std::fs::read_to_string(remote(host.url("r"), &context).clone_folder().join("config")).unwrap();
    assert!(!config.contains("s3cret"), "{config}");
}

#[tokio::test]
async fn a_password_in_a_url_is_sent_but_never_stored() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(Some(("ann", "s3cret")));
    let context = lab.context(lab.trusting(&host));
    let url = format!("https://ann:s3cret@{}/r", host.authority());
    assert_eq!(read(&url, &context).await.unwrap(), "1");
    let config = std::fs::read_to_string(remote(&url, &context).clone_folder().join("config")).unwrap();
    assert!(!config.contains("s3cret") && !config.contains("ann"), "{config}");
}

#[tokio::test]
async fn the_credential_helper_is_used_only_without_configured_credentials() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(Some(("oauth2", "s3cret")));
    let helper = "[credential]\nhelper = \"!f() { echo username=oauth2; echo password=s3cret; }; f\"\n";
    std::fs::write(lab.forge.home().join(".gitconfig"), helper).unwrap();
    assert_eq!(read(&host.url("r"), &lab.context(lab.trusting(&host))).await.unwrap(), "1");
    let other = Lab { kept: tempfile::tempdir().unwrap(), ..lab };
    let context = other.context(with_token(other.trusting(&host), &host, "wrong"));
    let error = read(&host.url("r"), &context).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::Refused { .. }), "{}", with_causes(&error));
}

#[tokio::test]
async fn a_refusal_is_reported_with_the_credential_used() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(Some(("oauth2", "right")));
    let error = read(&host.url("r"), &lab.context(lab.trusting(&host))).await.unwrap_err();
    let Error::Git(refused) = &error else { panic!("{}", with_causes(&error)) };
    assert!(matches!(refused.failure, GitFailure::Refused { .. }) && refused.credential.is_none());
    assert!(with_causes(&error).contains("could not read Username"), "{}", with_causes(&error));
    let wrong = lab.context(with_token(lab.trusting(&host), &host, "wr0ng"));
    let error = read(&host.url("r"), &wrong).await.unwrap_err();
    let Error::Git(refused) = &error else { panic!("{}", with_causes(&error)) };
    assert_eq!(refused.credential.as_ref().map(ToString::to_string).as_deref(), Some("gitlab-tokens (***)"));
    assert!(with_causes(&error).contains("Authentication failed"), "{}", with_causes(&error));
    assert!(!format!("{error:?}{}", with_causes(&error)).contains("wr0ng"));
}

#[tokio::test]
async fn a_redirect_to_another_host_omits_the_token() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let (host, other) = (lab.forge.serve(None), lab.forge.serve(Some(("oauth2", "s3cret"))));
    let context = lab.context(with_token(lab.trusting(&host), &host, "s3cret"));
    let url = host.url(&format!("moved/{}/r", other.authority()));
    let error = read(&url, &context).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::Refused { .. }), "{}", with_causes(&error));
    assert!(!other.requests().is_empty());
    assert!(other.requests().iter().all(|request| request.authorization.is_none()), "{:?}", other.requests());
}

fn of_host(host: &GitHost, set: HostSettings) -> Hosts {
    Hosts::new([(host.authority(), set)])
}

#[tokio::test]
async fn the_configured_client_certificate_is_presented() {
    let lab = Lab { forge: GitForge::requiring_client_certificate(), ..Lab::new() };
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(None);
    let [certificate, key] = ["ann.pem", "ann.key"].map(|name| lab.kept.path().join(name));
    std::fs::write(&certificate, &lab.forge.client_identity().certificate_pem).unwrap();
    std::fs::write(&key, &lab.forge.client_identity().key_pem).unwrap();
    assert!(read(&host.url("r"), &lab.context(lab.trusting(&host))).await.is_err());
    let client_certificate = Some(ClientCertificate { certificate, key });
    let hosts = of_host(&host, HostSettings { client_certificate, ..HostSettings::default() });
    let context = lab.context(Settings { hosts, ..lab.trusting(&host) });
    assert_eq!(read(&host.url("r"), &context).await.unwrap(), "1");
}

#[tokio::test]
async fn a_host_without_a_proxy_bypasses_the_proxy_of_git() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(None);
    let proxy = FakeProxy::start([]);
    let config = format!("[http]\nproxy = http://{}\n", proxy.address());
    std::fs::write(lab.forge.home().join(".gitconfig"), config).unwrap();
    assert!(read(&host.url("r"), &lab.context(lab.trusting(&host))).await.is_err());
    let addresses = proxy.requested();
    assert_eq!(addresses, [host.authority()]);
    let direct = HostSettings { proxy: HostProxy::Direct, ..HostSettings::default() };
    let context = lab.context(Settings { hosts: of_host(&host, direct), ..lab.trusting(&host) });
    assert_eq!(read(&host.url("r"), &context).await.unwrap(), "1");
    assert_eq!(proxy.requested(), addresses);
}

#[tokio::test]
async fn missing_repositories_and_untrusted_hosts_are_distinct_errors() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(None);
    let context = lab.context(lab.trusting(&host));
    for address in [host.url("gone"), lab.kept.path().join("gone").display().to_string()] {
        let error = read(&address, &context).await.unwrap_err();
        assert!(matches!(failure(&error), GitFailure::NotFound { .. }), "{}", with_causes(&error));
    }
    let error = read(&host.url("r"), &lab.run()).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::Tls { .. }), "{}", with_causes(&error));
    drop(host);
    let error = read("https://localhost:1/r", &lab.run()).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::Connect { .. }), "{}", with_causes(&error));
}

#[tokio::test]
async fn a_silent_host_is_a_timeout() {
    let lab = Lab::new();
    let host = FakeHost::start(&[]);
    let address = format!("{}/r/info/refs?service=git-upload-pack", host.address().ip());
    host.on(&*address, Reply::text("0".repeat(100)).stall_after(10));
    let timeouts = Timeouts { idle: Duration::from_millis(200), ..Settings::default().timeouts };
    let context = lab.context(Settings { timeouts, ..lab.settings() });
    let error = read(&format!("http://{}/r", host.address()), &context).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::TimedOut { .. }), "{}", with_causes(&error));
}

#[tokio::test]
async fn ssh_uses_the_configuration_of_the_user() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let url = format!("ssh://git@forge.lab{}", lab.forge.repository("r").display());
    assert_eq!(read(&url, &with_variable(&lab, "GIT_SSH_COMMAND", SSH)).await.unwrap(), "1");
    let scp = format!("git@scp.lab:{}", lab.forge.repository("r").display());
    let config = format!("[core]\nsshCommand = {}\n", SSH.replace('"', "\\\"").replace(';', "\";\""));
    std::fs::write(lab.forge.home().join(".gitconfig"), config).unwrap();
    assert_eq!(read(&scp, &lab.run()).await.unwrap(), "1");
}

#[tokio::test]
async fn errors_of_ssh_are_classified() {
    let lab = Lab::new();
    let says = async |text: &str| {
        let ssh = format!("sh -c 'echo \"{text}\" >&2; exit 255' --");
        let context = with_variable(&lab, "GIT_SSH_COMMAND", &ssh);
        read("git@forge.lab:r", &context).await.unwrap_err()
    };
    let key = says("Host key verification failed.").await;
    assert!(matches!(failure(&key), GitFailure::HostKey { .. }), "{}", with_causes(&key));
    let refused = says("git@forge.lab: Permission denied (publickey).").await;
    assert!(matches!(failure(&refused), GitFailure::Refused { .. }), "{}", with_causes(&refused));
}

#[tokio::test]
async fn a_missing_or_outdated_git_is_reported() {
    let lab = Lab::new();
    let with = |program: PathBuf| with_git(lab.settings(), GitSettings { program, ..lab.git() });
    let error = read("git@forge.lab:r", &with(lab.kept.path().join("no-git"))).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::Program { .. }), "{}", with_causes(&error));
    let old = lab.kept.path().join("old-git");
    std::fs::write(&old, "#!/bin/sh\necho git version 1.8.3.1\n").unwrap();
    std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = read("git@forge.lab:r", &with(old)).await.unwrap_err();
    assert!(
        matches!(failure(&error), GitFailure::TooOld { version, .. } if version == "1.8.3.1"),
        "{}",
        with_causes(&error)
    );
}

#[tokio::test]
async fn variables_that_select_a_repository_are_not_inherited() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    lab.forge.commit("other", &[("a", "other")]);
    let mut git = lab.git();
    let other = lab.forge.repository("other").join(".git");
    git.variables.extend([
        ("GIT_DIR".into(), other.clone().into_os_string()),
        ("GIT_OBJECT_DIRECTORY".into(), other.join("objects").into_os_string()),
        ("GIT_SSL_NO_VERIFY".into(), "1".into()),
        ("https_proxy".into(), "http://127.0.0.1:1".into()),
    ]);
    let host = lab.forge.serve(None);
    let context = with_git(lab.trusting(&host), git.clone());
    assert_eq!(read(&host.url("r"), &context).await.unwrap(), "1");
    let untrusting = Lab { kept: tempfile::tempdir().unwrap(), ..lab };
    let error = read(&host.url("r"), &with_git(untrusting.settings(), git)).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::Tls { .. }), "{}", with_causes(&error));
}

#[cfg(unix)]
#[tokio::test]
async fn a_url_rewritten_to_a_program_is_not_run() {
    let lab = Lab::new();
    let ran = lab.kept.path().join("ran");
    let rewrite = format!(
        "[protocol \"ext\"]\n allow = always\n[url \"ext::touch {}\"]\n insteadOf = https://forge.lab/r\n",
        ran.display()
    );
    std::fs::write(lab.forge.home().join(".gitconfig"), rewrite).unwrap();
    let context = lab.run();
    assert!(remote("https://forge.lab/r", &context).resolve("main").await.is_err());
    assert!(!ran.exists());
}
