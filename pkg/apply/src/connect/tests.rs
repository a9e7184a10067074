use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    host::{FakeHost, Reply},
};

use super::*;
use crate::{ApiError, NetworkError, Server, ServerOptions, testing::kubeconfig};

fn connection(credentials: Credentials) -> ConnectionOptions {
    ConnectionOptions { credentials, impersonation: None, user_agent: "capstan/1 (test)".into() }
}

async fn server(credentials: Credentials) -> Result<Server, ConnectError> {
    Server::connect(connection(credentials), ServerOptions::default()).await
}

/// Returns the cluster of a sandbox and its token.
async fn listening(fixture: &Fixture) -> (Value, String) {
    let text = std::fs::read_to_string(fixture.kubeconfig().await).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    let token = config["users"][0]["user"]["token"].as_str().unwrap().to_owned();
    (config["clusters"][0]["cluster"].clone(), token)
}

fn plugin(script: &str) -> Value {
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "sh", "args": ["-c", script], "installHint": "take it from the moon",
    }})
}

fn credential(token: &str) -> String {
    json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}})
        .to_string()
}

/// Joins an error and its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

// Row: ENG-15
#[tokio::test]
async fn a_kubeconfig_connects_to_its_server() {
    let fixture = Fixture::start().await;
    let (cluster, token) = listening(&fixture).await;
    let server = server(kubeconfig(&cluster, &json!({"token": token}))).await.unwrap();
    assert_eq!(server.address(), cluster["server"]);
    assert!(server.version().await.unwrap().git_version.starts_with("v1."));
    server.kinds().await.unwrap();
    let audit = fixture.sandbox().audit().since(0);
    assert!(audit.iter().all(|request| request.client == "capstan"), "{audit:?}");
}

// Row: ENG-16
// Row: ENG-17
#[tokio::test]
async fn impersonation_uses_the_credentials_of_the_kubeconfig() {
    let host = FakeHost::start(&[]);
    host.on("127.0.0.1/version", Reply::json(200, r#"{"gitVersion": "v1.2.3"}"#));
    let cluster = json!({"server": host.proxy_url()});
    // The connection replaces all fields of the impersonation.
    let user = json!({"token": "secret", "as": "nobody", "as-groups": ["none"], "as-uid": "7"});
    let groups = vec!["system:masters".to_owned(), "ops".to_owned()];
    let impersonation = Some(Impersonation { user: "jane".into(), groups });
    let connection = ConnectionOptions { impersonation, ..connection(kubeconfig(&cluster, &user)) };
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap();
    assert_eq!(server.version().await.unwrap().git_version, "v1.2.3");
    let received = host.received().pop().unwrap();
    let headers = received.headers.iter().map(|(name, value)| (&**name, &**value));
    let mut reported: Vec<_> =
        headers.filter(|(name, _)| name.starts_with("impersonate") || *name == "authorization").collect();
    reported.sort_unstable();
    assert_eq!(
        reported,
        [
            ("authorization", "Bearer secret"),
            ("impersonate-group", "ops"),
            ("impersonate-group", "system:masters"),
            ("impersonate-user", "jane"),
        ]
    );
    assert_eq!(received.header("user-agent"), Some("capstan/1 (test)"));
}

#[tokio::test]
async fn impersonation_requires_a_valid_name() {
    let credentials = kubeconfig(&json!({"server": "http://127.0.0.1:1"}), &json!({}));
    let groups = vec!["a\nb".to_owned()];
    for (user, groups) in [("", Vec::new()), ("jane", groups)] {
        let impersonation = Some(Impersonation { user: user.into(), groups });
        let connection = ConnectionOptions { impersonation, ..connection(credentials.clone()) };
        let error = Server::connect(connection, ServerOptions::default()).await.unwrap_err();
        assert!(matches!(error, ConnectError::Impersonation { .. }), "{error}");
    }
}

#[tokio::test]
async fn requests_use_the_proxy_and_errors_name_it() {
    let host = FakeHost::start(&["cluster.example.org"]);
    host.on("cluster.example.org/version", Reply::json(200, r#"{"gitVersion": "v1.2.3"}"#));
    let ca = data_encoding::BASE64.encode(host.ca_pem().as_bytes());
    let cluster = json!({
        "server": "https://cluster.example.org", "certificate-authority-data": ca,
        "proxy-url": host.proxy_url().replace("://", "://me:p%40ss@"),
    });
    server(kubeconfig(&cluster, &json!({}))).await.unwrap().version().await.unwrap();
    let received = host.received();
    let methods: Vec<_> = received.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["CONNECT", "GET"]);
    let credentials = format!("Basic {}", data_encoding::BASE64.encode(b"me:p@ss"));
    assert_eq!(received[0].header("proxy-authorization"), Some(credentials.as_str()));
    assert_eq!(received[1].header("proxy-authorization"), None);
    let cluster = json!({"server": "https://cluster.example.org", "proxy-url": "http://me:pass@127.0.0.1:1"});
    let error = server(kubeconfig(&cluster, &json!({}))).await.unwrap().version().await.unwrap_err();
    assert_data_eq!(
        chain(&error),
        str![
            "cannot read the version of the server: no answer from https://cluster.example.org through proxy http://127.0.0.1:1: the connection was refused"
        ]
    );
}

#[tokio::test]
async fn an_untrusted_certificate_is_an_immediate_error() {
    let fixture = Fixture::start().await;
    let (mut cluster, token) = listening(&fixture).await;
    let other = data_encoding::BASE64.encode(FakeHost::start(&["a"]).ca_pem().as_bytes());
    cluster["certificate-authority-data"] = other.into();
    let server = server(kubeconfig(&cluster, &json!({"token": token}))).await.unwrap();
    let error = server.kinds().await.unwrap_err();
    assert!(
        matches!(error, ApiError::Unreachable { source: NetworkError::Certificate { .. }, .. }),
        "{error:?}"
    );
    assert!(chain(&error).contains(cluster["server"].as_str().unwrap()), "{}", chain(&error));
}

#[tokio::test]
async fn a_server_that_never_answered_is_not_retried() {
    let server = server(kubeconfig(&json!({"server": "http://127.0.0.1:1"}), &json!({}))).await.unwrap();
    let error = server.kinds().await.unwrap_err();
    assert!(
        matches!(error, ApiError::Unreachable { source: NetworkError::Refused, unsent: true, .. }),
        "{error:?}"
    );
    assert!(server.requests() <= 2, "one for each of the two addresses");
}

#[tokio::test]
async fn a_token_with_a_line_break_is_an_error_that_hides_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "sec\nret\n").unwrap();
    let path = file.path().display().to_string();
    let mut problems = String::new();
    for user in [
        json!({"token": "secret\n"}),
        json!({"tokenFile": path}),
        json!({"auth-provider": {"name": "gcp", "config": {"id-token": "sec\u{1}ret"}}}),
    ] {
        let cluster = json!({"server": "http://127.0.0.1:1"});
        let error = server(kubeconfig(&cluster, &user)).await.unwrap_err();
        assert!(!format!("{error:?}").contains("ret\""), "{error:?}");
        problems.extend([chain(&error).replace(&path, "FILE"), "\n".to_owned()]);
    }
    assert_data_eq!(
        problems,
        str![[r#"
cannot use context `lab` of the kubeconfig: the token contains a line break or another control character
cannot use context `lab` of the kubeconfig: the token in `FILE` contains a line break or another control character
cannot use context `lab` of the kubeconfig: `id-token` contains a line break or another control character

"#]]
    );
}

#[tokio::test]
async fn a_final_line_break_of_a_token_file_is_ignored() {
    let fixture = Fixture::start().await;
    let (cluster, token) = listening(&fixture).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), token + "\n").unwrap();
    let server = server(kubeconfig(&cluster, &json!({"tokenFile": file.path()}))).await.unwrap();
    server.kinds().await.unwrap();
}

#[tokio::test]
async fn a_missing_plugin_is_reported_with_its_install_hint() {
    let mut user = plugin("");
    user["exec"]["command"] = "/no/such/plugin".into();
    let error = server(kubeconfig(&json!({"server": "http://127.0.0.1:1"}), &user)).await.unwrap_err();
    assert_data_eq!(
        chain(&error),
        str![
            "cannot get credentials from plugin `/no/such/plugin` of context `lab`: the program does not exist"
        ]
    );
    let ConnectError::Plugin { install_hint, .. } = error else { panic!("{error:?}") };
    assert_eq!(install_hint.as_deref(), Some("take it from the moon"));
}

#[tokio::test]
async fn only_the_last_error_line_of_a_plugin_is_shown() {
    let mut problems = String::new();
    for script in ["echo token-x; echo 'first' >&2; echo 'log in first' >&2; exit 3", "echo token-x"] {
        let credentials = kubeconfig(&json!({"server": "http://127.0.0.1:1"}), &plugin(script));
        let error = server(credentials).await.unwrap_err();
        assert!(!format!("{} {error:?}", chain(&error)).contains("token-x"), "{error:?}");
        problems.extend([
            &*chain(&error),
            "
",
        ]);
    }
    assert_data_eq!(
        problems,
        str![[r#"
cannot get credentials from plugin `sh` of context `lab`: exit status: 3: log in first
cannot get credentials from plugin `sh` of context `lab`: its output is not an ExecCredential

"#]]
    );
}

#[tokio::test]
async fn a_plugin_token_with_a_control_character_is_an_error() {
    let script = format!("printf %s '{}'", credential("sec\u{1}ret"));
    let error =
        server(kubeconfig(&json!({"server": "http://127.0.0.1:1"}), &plugin(&script))).await.unwrap_err();
    assert_data_eq!(
        chain(&error),
        str![
            "cannot get credentials from plugin `sh` of context `lab`: its token contains a line break or another control character"
        ]
    );
}

#[tokio::test]
async fn an_expired_token_is_renewed_once() {
    let fixture = Fixture::start().await;
    let (cluster, token) = listening(&fixture).await;
    let folder = tempfile::tempdir().unwrap();
    let (good, bad, seen) = (credential(&token), credential("old"), folder.path().join("seen"));
    let seen = seen.display();
    let script = format!("if [ -e '{seen}' ]; then echo '{good}'; else touch '{seen}'; echo '{bad}'; fi");
    let first_bad = server(kubeconfig(&cluster, &plugin(&script))).await.unwrap();
    first_bad.kinds().await.unwrap();
    let always_bad = server(kubeconfig(&cluster, &plugin(&format!("echo '{bad}'")))).await.unwrap();
    let error = always_bad.kinds().await.unwrap_err();
    assert!(matches!(error, ApiError::Status { code: 401, .. }), "{error:?}");
    let no_more = format!("if [ -e '{seen}.2' ]; then exit 9; else touch '{seen}.2'; echo '{bad}'; fi");
    let error = server(kubeconfig(&cluster, &plugin(&no_more))).await.unwrap().kinds().await.unwrap_err();
    assert!(
        matches!(&error, ApiError::Credentials { source, .. } if matches!(**source, ConnectError::Plugin { .. })),
        "{error:?}"
    );
}
