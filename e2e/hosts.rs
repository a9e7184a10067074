//! Releases on hosts: the binary uses a fake internet through `HTTPS_PROXY`, under the real host names.

use support::{
    binary::TestEnvironment,
    host::{FakeHost, GitHubRelease, Reply},
};

use crate::{COMPONENTS, METADATA, REPOSITORY, project, world};

/// An environment that can connect only to the host.
pub(super) fn connected(host: &FakeHost) -> TestEnvironment {
    let world = world();
    let ca = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca)
}

fn release(tag: &str) -> GitHubRelease {
    GitHubRelease::new(REPOSITORY, tag)
        .file("metadata.yaml", METADATA)
        .file("infrastructure-components.yaml", COMPONENTS)
        .file(
            "cluster-template.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${CLUSTER_NAME}\"}\n",
        )
}

// Row: PRV-04
// Row: PRV-06, D-10
#[test]
fn a_pinned_release_on_github_is_generated_without_asking_the_api() {
    let host = FakeHost::internet();
    release("v2.1.0").publish(&host);
    let run = connected(&host).run(["generate", "provider", "-i", "aws:v2.1.0"]);
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stdout.contains("cluster.x-k8s.io/provider: infrastructure-aws\n"), "{run}");
    let addresses = host.addresses();
    assert!(!addresses.iter().any(|address| address.starts_with("api.github.com")), "{addresses:?}");
    assert!(host.received().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn goproxy_off_affects_only_version_lists() {
    let host = FakeHost::internet();
    release("v2.1.0").publish(&host);
    let run = connected(&host).env("GOPROXY", "off").run(["generate", "provider", "-i", "aws:v2.1.0"]);
    assert_eq!(run.status, 0, "{run}");
    let addresses = host.addresses();
    assert!(!addresses.iter().any(|address| address.starts_with("api.github.com")), "{addresses:?}");
}

#[test]
fn local_providers_send_no_requests() {
    let host = FakeHost::internet();
    let fixtures = project("e2e/fixtures/clusterctl.yaml").display().to_string();
    let world = connected(&host);
    for arguments in [
        &["init", "list-images", "--infrastructure", "sandbox"][..],
        &[
            "generate",
            "cluster",
            "demo",
            "-i",
            "sandbox:v1.1.0",
            "-f",
            "development",
            "-n",
            "x",
            "--kubernetes-version",
            "v1.35.0",
        ],
    ] {
        let run = world.run(arguments.iter().copied().chain(["--config", &fixtures]));
        assert_eq!(run.status, 0, "{run}");
    }
    assert!(host.received().is_empty(), "{:?}", host.received());
}

// Row: PRV-04
// Row: PRV-05
#[test]
fn the_newest_release_is_the_highest_of_the_current_contract() {
    let host = FakeHost::internet();
    release("v2.0.3").publish(&host);
    release("v2.1.0").publish(&host);
    host.on(format!("proxy.golang.org/github.com/{REPOSITORY}/@v/list"), Reply::text(""));
    host.on(
        format!("proxy.golang.org/github.com/{REPOSITORY}/v2/@v/list"),
        Reply::text("v2.0.3\nv2.1.0\nv2.2.0-rc.0\njunk\n"),
    );
    let run = connected(&host).run(["generate", "provider", "-i", "aws", "--describe"]);
    assert!(run.stdout.contains("Version:            v2.1.0\n"), "{run}");
}

// Row: PRV-07
// Row: PRV-10
// Row: PRV-13
#[test]
fn a_gitlab_package_is_read_with_its_token_only() {
    let host = FakeHost::internet();
    let base = "gitlab.com/api/v4/projects/group%2Faws/packages/generic/aws/v2.1.0";
    host.on(format!("{base}/metadata.yaml"), Reply::file(METADATA));
    host.on(format!("{base}/infrastructure-components.yaml"), Reply::file(COMPONENTS));
    let world = connected(&host).env("GITLAB_ACCESS_TOKEN", "glpat-secret");
    world.configure(format!(
        "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"https://{base}/infrastructure-components.yaml\"}}\n"
    ));
    let run = world.run(["generate", "provider", "-i", "aws"]);
    assert_eq!(run.status, 0, "{run}");
    let received = host.received();
    let files: Vec<_> = received.iter().filter(|request| request.header("authorization").is_some()).collect();
    assert_eq!(files.len(), 2, "{received:?}");
    assert!(files.iter().all(|request| request.header("authorization") == Some("Bearer glpat-secret")));
}

#[test]
fn a_release_on_a_host_without_lists_is_shown_partly() {
    let host = FakeHost::internet();
    let base = "gitlab.com/api/v4/projects/42/packages/generic/aws/v2.1.0";
    host.on(format!("{base}/metadata.yaml"), Reply::file(METADATA));
    let world = connected(&host);
    world.configure(format!(
        "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"https://{base}/infrastructure-components.yaml\"}}\n"
    ));
    let run = world.run(["provider", "show", "-i", "aws"]);
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stdout.ends_with("Version:  v2.1.0\nContract: v1beta2\n"), "{run}");
    assert!(run.stderr.contains("does not list files"), "{run}");
}

#[test]
fn an_unavailable_version_list_is_an_error() {
    let host = FakeHost::internet();
    release("v2.1.0").publish(&host);
    let api = format!("api.github.com/repos/{REPOSITORY}/releases?per_page=100");
    host.on(api, Reply::status(401));
    let run = connected(&host).env("GOPROXY", "off").run(["provider", "show", "-i", "aws:v2.1.0"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(run.stderr.contains("status 401"), "{run}");
}

// Row: D-21
#[test]
fn github_enterprise_uses_its_own_api_and_token() {
    let host = FakeHost::internet();
    let api = "ghe.example.org/api/v3/repos/team/aws/releases";
    for (id, file, body) in
        [(1, "metadata.yaml", METADATA), (2, "infrastructure-components.yaml", COMPONENTS)]
    {
        host.on(format!("ghe.example.org/team/aws/releases/download/v2.1.0/{file}"), Reply::status(404));
        host.on(format!("{api}/assets/{id}"), Reply::file(body));
    }
    let assets = r#"{"id":7,"tag_name":"v2.1.0","draft":false,"prerelease":false,"assets":[
        {"id":1,"name":"metadata.yaml"},{"id":2,"name":"infrastructure-components.yaml"}]}"#;
    host.on(format!("{api}/tags/v2.1.0"), Reply::json(200, assets));
    let world = connected(&host).env("GITHUB_TOKEN", "for-github-com-alone");
    world.configure(
        "github-enterprise-tokens: {ghe.example.org: ghe-secret}
providers:
- {name: aws, type: InfrastructureProvider, url: \"https://ghe.example.org/team/aws/releases/v2.1.0/infrastructure-components.yaml\"}
",
    );
    let run = world.run(["generate", "provider", "-i", "aws"]);
    assert_eq!(run.status, 0, "{run}");
    let sent: Vec<String> = host
        .received()
        .iter()
        .filter_map(|request| request.header("authorization").map(str::to_owned))
        .collect();
    assert!(!sent.is_empty() && sent.iter().all(|value| value.ends_with(" ghe-secret")), "{sent:?}");
}

// Row: PRV-13, D-199
#[test]
fn hosts_of_any_name_get_their_kind_by_configuration() {
    let host = FakeHost::internet();
    let files = [("metadata.yaml", METADATA), ("infrastructure-components.yaml", COMPONENTS)];
    let world = connected(&host).env("LAB_TOKEN", "lab-secret");
    let places = [
        (
            "github",
            "files.example.org/team/aws/releases",
            "files.example.org/team/aws/releases/download/v2.1.0",
        ),
        (
            "gitlab",
            "files.example.org/api/v4/projects/7/packages/generic/aws",
            "files.example.org/api/v4/projects/7/packages/generic/aws/v2.1.0",
        ),
        ("folder", "files.example.org/infrastructure-aws", "files.example.org/infrastructure-aws/v2.1.0"),
    ];
    for (kind, base, folder) in places {
        for (file, body) in files {
            host.on(format!("{folder}/{file}"), Reply::file(body));
        }
        world.configure("hosts: {files.example.org: {token: '${LAB_TOKEN}'}}\n");
        let url = format!("https://{base}/v2.1.0/infrastructure-components.yaml");
        let added =
            world.run(["provider", "add", "aws", "--type", "infrastructure", "--url", &url, "--kind", kind]);
        assert_eq!(added.status, 0, "{added}");
        let run = world.run(["generate", "provider", "-i", "aws"]);
        assert_eq!(run.status, 0, "{run}");
        let of_kind = host.received();
        let last = of_kind.last().unwrap();
        // Downloads from GitHub need no token.
        let expected = (kind != "github").then_some("Bearer lab-secret");
        assert_eq!(last.header("authorization"), expected, "{kind}");
    }
}

// Row: D-198
#[test]
fn a_folder_on_a_web_server_with_an_index_has_a_latest_version() {
    let host = FakeHost::internet();
    let base = "files.example.org/infrastructure-aws";
    host.on(format!("{base}/index.json"), Reply::json(200, r#"{"versions": {"v2.0.0": {}, "v2.1.0": {}}}"#));
    for (file, body) in [("metadata.yaml", METADATA), ("infrastructure-components.yaml", COMPONENTS)] {
        host.on(format!("{base}/v2.1.0/{file}"), Reply::file(body));
    }
    let world = connected(&host);
    world.configure(format!(
        "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"https://{base}/latest/infrastructure-components.yaml\"}}\n"
    ));
    let run = world.run(["generate", "provider", "-i", "aws", "--describe"]);
    assert!(run.stdout.contains("Version:            v2.1.0\n"), "{run}");
}

// Row: D-196
#[test]
fn a_private_ca_is_set_by_flag_variable_or_host() {
    let host = FakeHost::internet();
    let base = "files.example.org/infrastructure-aws";
    for (file, body) in [("metadata.yaml", METADATA), ("infrastructure-components.yaml", COMPONENTS)] {
        host.on(format!("{base}/v2.1.0/{file}"), Reply::file(body));
    }
    let world = world().env("HTTPS_PROXY", host.proxy_url());
    let ca = world.write("ca.pem", host.ca_pem());
    let provider = format!(
        "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"https://{base}/v2.1.0/infrastructure-components.yaml\"}}\n"
    );
    world.configure(&provider);
    let ca = ca.display().to_string();
    let generate = ["generate", "provider", "-i", "aws"];
    let run = world.run(generate);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(
        run.stderr.contains("cause: its certificate is signed by `CN=authority of a fake host`"),
        "{run}"
    );
    assert!(run.stderr.contains("the host presented `CN=a fake host`"), "{run}");
    assert!(run.stderr.contains("--ca-bundle FILE"), "{run}");
    let flagged = world.run(generate.into_iter().chain(["--ca-bundle", &ca]));
    assert_eq!(flagged.status, 0, "{flagged}");
    world.configure(format!("{provider}hosts: {{files.example.org: {{caBundle: \"{ca}\"}}}}\n"));
    let configured = world.run(generate);
    assert_eq!(configured.status, 0, "{configured}");
    world.configure(&provider);
    let variable = world.env("CAPSTAN_CA_BUNDLE", &ca).run(generate);
    assert_eq!(variable.status, 0, "{variable}");
}

#[test]
fn a_netrc_login_is_sent_to_its_host() {
    let host = FakeHost::internet();
    let base = "files.example.org/infrastructure-aws";
    for (file, body) in [("metadata.yaml", METADATA), ("infrastructure-components.yaml", COMPONENTS)] {
        host.on(format!("{base}/v2.1.0/{file}"), Reply::file(body));
    }
    let world = connected(&host);
    let netrc = world.write("netrc", "machine files.example.org login ann password s3cret\n");
    world.configure(format!(
        "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"https://{base}/v2.1.0/infrastructure-components.yaml\"}}\n"
    ));
    let run = world.env("NETRC", netrc).run(["generate", "provider", "-i", "aws", "-v", "10"]);
    assert_eq!(run.status, 0, "{run}");
    assert!(!run.stderr.contains("s3cret"), "{run}");
    let requests = host.received().into_iter().filter(|request| request.method == "GET");
    assert!(
        requests.into_iter().all(|request| request.header("authorization") == Some("Basic YW5uOnMzY3JldA=="))
    );
}

#[test]
fn a_rejected_token_is_named_and_never_shown() {
    let host = FakeHost::internet();
    let base = "gitlab.com/api/v4/projects/42/packages/generic/aws/v2.1.0";
    for file in ["metadata.yaml", "infrastructure-components.yaml"] {
        host.on(format!("{base}/{file}"), Reply::json(401, "{\"message\":\"401 Unauthorized\"}"));
    }
    let world = connected(&host).env("GITLAB_ACCESS_TOKEN", "glpat-secret");
    world.configure(format!(
        "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"https://{base}/infrastructure-components.yaml\"}}\n"
    ));
    for verbosity in ["0", "10"] {
        let run = world.run(["generate", "provider", "-i", "aws", "-v", verbosity]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
        assert!(run.stderr.contains("GITLAB_ACCESS_TOKEN"), "{run}");
        assert!(!run.stderr.contains("glpat-secret"), "{run}");
    }
}

// Row: D-19
#[test]
fn an_exhausted_rate_limit_reports_its_reset_and_a_hint() {
    let host = FakeHost::internet();
    let api = format!("api.github.com/repos/{REPOSITORY}/releases?per_page=100");
    host.on(api, Reply::github_rate_limit(60, 1_900_000_000));
    let run = connected(&host).env("GOPROXY", "off").run(["generate", "provider", "-i", "aws"]);
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stderr.contains("60") && run.stderr.contains("GITHUB_TOKEN"), "{run}");
}

// Row: D-03
#[test]
fn a_configuration_url_is_used_and_not_stored() {
    let host = FakeHost::internet();
    host.on("gitlab.com/team/clusterctl.yaml", Reply::text("VALUE: from-url\n"));
    let world = connected(&host);
    let before = world.files();
    let run = world.run_with_stdin(
        ["generate", "yaml", "--config", "https://gitlab.com/team/clusterctl.yaml"],
        "a: ${VALUE}\n",
    );
    assert_eq!(run.stdout, "a: from-url\n", "{run}");
    assert_eq!(world.files(), before);
}

// Row: D-32
#[test]
fn a_web_page_instead_of_a_file_is_refused() {
    let host = FakeHost::internet();
    host.on(format!("github.com/{REPOSITORY}/releases/download/v2.1.0/metadata.yaml"), Reply::web_page());
    let run = connected(&host).run(["generate", "provider", "-i", "aws:v2.1.0"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(run.stderr.contains("web page"), "{run}");
}
