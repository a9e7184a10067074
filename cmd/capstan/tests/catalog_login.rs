//! Tests of `catalog login` and `catalog fetch-token` with an identity provider, whose browser is this test.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    host::{FakeHost, Reply},
};

const API: &str = "api.syn.example.org";
const PROVIDER: &str = "sso.example.org";
const DISCOVERY: &str = "sso.example.org/configuration";

/// A token that says `{"exp": 99999999999}`.
const VALID: &str = "e30.eyJleHAiOiA5OTk5OTk5OTk5OX0.signature";
/// A token that says `{"exp": 1000}`.
const EXPIRED: &str = "e30.eyJleHAiOiAxMDAwfQ.signature";

/// An API and its identity provider.
struct Lab {
    host: FakeHost,
    world: TestEnvironment,
}

/// A login that waits for the browser.
struct WaitingLogin {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    link: String,
}

impl Lab {
    fn new() -> Self {
        let host = FakeHost::start(&[API, PROVIDER]);
        let world = crate::world();
        let ca = world.write("ca.pem", host.ca_pem());
        let world = world
            .env("HTTPS_PROXY", host.proxy_url())
            .env("SSL_CERT_FILE", ca)
            .env("COMMODORE_API_URL", format!("https://{API}"));
        let client = format!(r#"{{"oidc": {{"clientId": "cli", "discoveryUrl": "https://{DISCOVERY}"}}}}"#);
        host.on(format!("{API}/"), Reply::json(200, client));
        let configuration = format!(
            r#"{{"authorization_endpoint": "https://{PROVIDER}/auth?realm=a", "token_endpoint": "https://{PROVIDER}/token"}}"#
        );
        host.on(DISCOVERY, Reply::json(200, configuration));
        let tokens = format!(r#"{{"id_token": "{VALID}", "refresh_token": "{VALID}"}}"#);
        host.on(format!("{PROVIDER}/token"), Reply::json(200, tokens));
        Self { host, world }
    }

    /// Starts a login, and reads its link.
    fn log_in(&self) -> WaitingLogin {
        let mut command = self.world.command(["catalog", "login", "--callback-port", "0"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut link = String::new();
        while !link.starts_with("https://") {
            link.clear();
            assert!(stderr.read_line(&mut link).unwrap() > 0, "there is no link");
        }
        WaitingLogin { child, stderr, link: link.trim().to_owned() }
    }

    /// The forms that the provider got.
    fn forms(&self) -> Vec<String> {
        let received = self.host.received().into_iter();
        let forms = received.filter(|request| request.address() == format!("{PROVIDER}/token"));
        forms.map(|request| String::from_utf8(request.body).unwrap()).collect()
    }
}

impl WaitingLogin {
    /// A field of the link, still encoded.
    fn field(&self, name: &str) -> String {
        let query = self.link.split_once('?').unwrap().1;
        let fields = query.split('&').filter_map(|field| field.split_once('='));
        fields.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next().unwrap()
    }

    /// Requests a path as the browser does after the login. Returns the first line of the answer.
    fn browse(&self, path: &str) -> String {
        let redirect = self.field("redirect_uri");
        let port: u16 = redirect.strip_prefix("http%3A%2F%2Flocalhost%3A").unwrap().parse().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }

    /// Waits for the end. Returns the status and the rest of standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest.trim().to_owned())
    }
}

// Row: D-474
#[test]
fn a_login_keeps_a_token_that_later_commands_use() {
    let lab = Lab::new();
    let login = lab.log_in();
    assert!(login.link.starts_with("https://sso.example.org/auth?realm=a&response_type=code&client_id=cli&"));
    assert_eq!(login.field("code_challenge_method"), "S256");
    assert_eq!(login.browse("/favicon.ico"), "HTTP/1.1 404 Not Found");
    assert_eq!(login.browse("/?code=stolen&state=guessed"), "HTTP/1.1 404 Not Found");
    let state = login.field("state");
    assert_eq!(login.browse(&format!("/?state={state}&code=the-code")), "HTTP/1.1 200 OK");
    assert_eq!(login.end(), (Some(0), "logged in to https://api.syn.example.org/".to_owned()));

    let forms = lab.forms();
    assert_eq!(forms.len(), 1);
    assert!(forms[0].starts_with("grant_type=authorization_code&client_id=cli&code=the-code&"), "{forms:?}");
    let verifier = forms[0].split_once("&code_verifier=").unwrap().1;
    assert_eq!(verifier.len(), 64);

    let file = lab.world.home().join(".cache/commodore/token");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let printed = lab.world.run_expecting_success("catalog fetch-token").stdout;
    assert_eq!(printed, format!("{VALID}\n"));
    lab.host.on(format!("{API}/clusters/?sort_by=id"), Reply::json(200, "[]"));
    lab.world.run_expecting_success("catalog list");
    let last = lab.host.received().pop().unwrap();
    assert_eq!(last.header("authorization"), Some(&*format!("Bearer {VALID}")));
    assert_eq!(lab.forms().len(), 1, "a valid token is not renewed");
}

// Row: D-475
#[test]
fn an_expired_token_is_renewed_without_a_browser() {
    let lab = Lab::new();
    let kept = |api: &str, refresh: &str| {
        let kept = format!(
            r#"{{"{api}": {{"id_token": "{EXPIRED}", "refresh_token": "{refresh}"}}, "https://other": {{"id_token": "kept"}}}}"#
        );
        lab.world.write(lab.world.home().join(".cache/commodore/token"), kept);
    };
    kept("https://api.syn.example.org", VALID);
    let run = lab.world.run_line("catalog fetch-token");
    assert_eq!((run.stdout, run.stderr), (format!("{VALID}\n"), String::new()));
    assert_eq!(lab.forms(), [format!("grant_type=refresh_token&client_id=cli&refresh_token={VALID}")]);
    let file = lab.world.home().join(".cache/commodore/token");
    assert!(lab.world.read(file).contains("https://other"), "tokens for other APIs stay");

    kept("https://api.syn.example.org", EXPIRED);
    lab.host.on(format!("{API}/clusters/?sort_by=id"), Reply::json(401, "{}"));
    assert_data_eq!(
        lab.world.run_line("catalog list").to_string(),
        str![[r#"
exit 1
--- stderr
error: While listing clusters on Lieutenant: API returned 401.
hint: log in with `capstan catalog login`, or pass a token or its file with `--api-token`

"#]]
    );
    let refused = lab.world.run_line("catalog list --api-url https://api.syn.example.org").stderr;
    let hint = "log in with `capstan catalog login --api-url https://api.syn.example.org`, or";
    assert!(refused.contains(hint), "{refused}");
    assert_eq!(lab.forms().len(), 1, "an expired refresh token is not sent");
}

#[test]
fn a_refused_login_and_a_refused_code_are_errors() {
    let lab = Lab::new();
    let login = lab.log_in();
    let state = login.field("state");
    let path = format!("/?state={state}&error=access_denied&error_description=not+allowed");
    assert_eq!(login.browse(&path), "HTTP/1.1 403 Forbidden");
    let refused = "error: the identity provider refused the login: access_denied: not allowed";
    assert_eq!(login.end(), (Some(1), refused.to_owned()));

    lab.host.on(format!("{PROVIDER}/token"), Reply::json(400, r#"{"error": "invalid_grant"}"#));
    let login = lab.log_in();
    login.browse(&format!("/?state={}&code=used", login.field("state")));
    let refused = "error: IDP returned 400 for https://sso.example.org/token: invalid_grant";
    assert_eq!(login.end(), (Some(1), refused.to_owned()));
    assert!(!lab.world.home().join(".cache/commodore/token").exists());
}

#[test]
fn an_unusable_provider_is_an_error_before_the_login() {
    let lab = Lab::new();
    let mut out = String::new();
    let mut run = |title: &str, reply: Reply, flags: &str| {
        lab.host.on(DISCOVERY, reply);
        let run = lab.world.run_line(&format!("catalog login {flags}"));
        let _ = writeln!(out, "## {title}\n{}", run.messages());
    };
    run("a web page", Reply::web_page(), "");
    run("no endpoints", Reply::json(200, "{}"), "");
    let plain = r#"{"authorization_endpoint": "http://sso.example.org/a", "token_endpoint": "https://sso.example.org/t"}"#;
    run("no encryption", Reply::json(200, plain), "");
    run("not found", Reply::json(404, r#"{"error": "realm does not exist"}"#), "");
    run("no discovery url", Reply::status(200), "--oidc-client cli");
    run("no client", Reply::status(200), "--oidc-discovery-url https://sso.example.org/configuration");
    lab.host.on(format!("{API}/"), Reply::web_page());
    run("no client of the API", Reply::status(200), "");
    assert_data_eq!(
        out,
        str![[r#"
## a web page
exit 1
--- stderr
error: Unable to connect to IDP at https://sso.example.org/configuration
  cause: cannot fetch `https://sso.example.org/configuration`
  cause: received a web page instead of a file
hint: check for a login page or a captive portal between you and the host
hint: the request went through the proxy http://127.0.0.1:[..]/

## no endpoints
exit 1
--- stderr
error: cannot read the answer of https://sso.example.org/configuration: field `authorization_endpoint` is missing

## no encryption
exit 1
--- stderr
error: cannot log in with `http://sso.example.org/a`: the connection would not be encrypted
hint: use an `https://` URL

## not found
exit 1
--- stderr
error: IDP returned 404 for https://sso.example.org/configuration: realm does not exist

## no discovery url
exit 1
--- stderr
error: Required OIDC discovery URL not set
hint: set the URL with `--oidc-discovery-url` or `COMMODORE_OIDC_DISCOVERY_URL`

## no client
exit 1
--- stderr
error: Required OIDC client not set
hint: set the client with `--oidc-client` or `COMMODORE_OIDC_CLIENT`

## no client of the API
exit 1
--- stderr
error: Required OIDC client not set
hint: set the client with `--oidc-client` or `COMMODORE_OIDC_CLIENT`


"#]]
    );
}

#[test]
fn a_provider_that_does_not_answer_is_given_up() {
    let Lab { host, world } = Lab::new();
    let world = world.env("COMMODORE_REQUEST_TIMEOUT", "1");
    host.on(DISCOVERY, Reply::json(200, "{}").stall_after(1));
    assert_data_eq!(
        world.screens(["catalog fetch-token"]),
        str![[r#"
$ capstan catalog fetch-token
exit 1
--- stderr
error: no answer to the login within 1 s
hint: set another limit with `COMMODORE_REQUEST_TIMEOUT`, in seconds

"#]]
    );
    let world = world.env("COMMODORE_REQUEST_TIMEOUT", "soon");
    assert_data_eq!(
        world.screens(["catalog fetch-token"]),
        str![[r#"
$ capstan catalog fetch-token
exit 1
--- stderr
error: invalid value `soon` of COMMODORE_REQUEST_TIMEOUT: not a number of seconds

"#]]
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_login_and_keeps_no_token() {
    let lab = Lab::new();
    let login = lab.log_in();
    crate::testing::signal("INT", login.child.id().into());
    let (status, rest) = login.end();
    assert_eq!((status, rest.as_str()), (Some(130), "error: interrupted, nothing was written"));
    assert_eq!(lab.forms(), [""; 0]);
    assert!(lab.world.files().iter().all(|file| !file.contains("token")), "{:?}", lab.world.files());
}
