use snapbox::{assert_data_eq, str};

use super::*;

fn parse(url: &str) -> Result<Location, LocationError> {
    Location::parse(url, "infrastructure-aws", None)
}

/// Returns the errors of invalid URLs, one per line.
fn refusals(urls: &[&str]) -> String {
    let lines: Vec<String> = urls.iter().map(|url| parse(url).expect_err(url).to_string()).collect();
    lines.join("\n")
}

fn github(host: &str, version: &str, root: &str) -> Location {
    Location::GitHub(GitHubLocation {
        host: host.into(),
        owner: "o".into(),
        repo: "r".into(),
        version: version.into(),
        root: root.into(),
        file: "c.yaml".into(),
    })
}

// Row: PRV-04, D-21
#[test]
fn github_urls_name_owner_repository_version_and_file() {
    assert_eq!(
        parse("https://github.com/o/r/releases/latest/c.yaml"),
        Ok(github("github.com", "latest", ""))
    );
    assert_eq!(
        parse(" https://github.com/o/r/releases/v1.2.3/c.yaml "),
        Ok(github("github.com", "v1.2.3", ""))
    );
    let with_folders = parse("https://github.com/o/r/releases/main/a/b/c.yaml");
    assert_eq!(with_folders, Ok(github("github.com", "main", "a/b")));
    let www = parse("https://www.github.com/o/r/releases/latest/c.yaml");
    assert_eq!(www, Ok(github("github.com", "latest", "")));
    let escaped = parse("https://github.com/o/r/releases/v1.0.0%2Bb/c.yaml");
    assert_eq!(escaped, Ok(github("github.com", "v1.0.0+b", "")));
}

// Row: D-21
#[test]
fn github_enterprise_is_known_by_its_path() {
    let url = "https://ghe.example.org/o/r/releases/v1.2.3/c.yaml";
    assert_eq!(parse(url), Ok(github("ghe.example.org", "v1.2.3", "")));
    let port = "https://ghe.example.org:8443/o/r/releases/v1.2.3/c.yaml";
    assert_eq!(parse(port), Ok(github("ghe.example.org:8443", "v1.2.3", "")));
}

#[test]
fn an_invalid_github_url_is_reported_with_its_problem() {
    assert_data_eq!(
        refusals(&[
            "https://github.com/o/r/releases/v1",
            "https://github.com/o",
            "https://github.com/o/r/tags/v1/c.yaml",
            "https://github.com/o/r/releases/v1/",
            "https://github.com/o/r/releases/v1/..%2f..%2fx"
        ]),
        str![[r#"
a GitHub URL has the form https://github.com/{owner}/{repository}/releases/{latest|tag}/{file}; tag or file is missing
a GitHub URL has the form https://github.com/{owner}/{repository}/releases/{latest|tag}/{file}; it is too short
a GitHub URL has the form https://github.com/{owner}/{repository}/releases/{latest|tag}/{file}; the third part is not `releases`
a GitHub URL has the form https://github.com/{owner}/{repository}/releases/{latest|tag}/{file}; a part of it is empty or not a plain name
a GitHub URL has the form https://github.com/{owner}/{repository}/releases/{latest|tag}/{file}; a part of it is empty or not a plain name
"#]]
    );
}

// Row: PRV-08
// Row: PRV-10
#[test]
fn gitlab_urls_keep_project_and_package_as_written() {
    let gitlab = |url: &str| match parse(url) {
        Ok(Location::GitLab(location)) => location,
        other => panic!("{other:?}"),
    };
    let base = "https://gitlab.example.org/api/v4/projects";
    let found = gitlab(&format!("{base}/myorg%2Fmyrepo/packages/generic/capi/v1.2.3/c.yaml"));
    assert_eq!((found.host.as_str(), found.project.as_str()), ("gitlab.example.org", "myorg%2Fmyrepo"));
    assert_eq!((found.version.as_str(), found.file.as_str()), ("v1.2.3", "c.yaml"));
    assert_eq!(gitlab(&format!("{base}/42/packages/generic/capi/v1/c.yaml")).project, "42");
}

// Row: PRV-08
#[test]
fn an_invalid_gitlab_url_is_reported_with_its_problem() {
    let base = "https://gitlab.com/api/v4/projects";
    assert_data_eq!(
        refusals(&[
            &format!("{base}/myorg/myrepo/packages/generic/p/v1/c.yaml"),
            &format!("{base}/42/packages/generic/p/v1/a/c.yaml"),
            &format!("{base}/42/packages/npm/p/v1/c.yaml"),
            &format!("{base}/42/packages/generic//v1/c.yaml"),
            &format!("{base}/42/packages/generic/p/v1/%2e%2e%2fx")
        ]),
        str![[r#"
a GitLab URL has the form https://gitlab.com/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}; it does not have nine parts
a GitLab URL has the form https://gitlab.com/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}; it does not have nine parts
a GitLab URL has the form https://gitlab.com/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}; it does not have nine parts
a GitLab URL has the form https://gitlab.com/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}; a part of it is empty
a GitLab URL has the form https://gitlab.com/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}; version or file is not a plain name
"#]]
    );
}

// Row: PRV-09, D-22
#[test]
fn gitlab_is_known_by_its_path_on_any_host() {
    let url = "https://code.example.org/api/v4/projects/42/packages/generic/p/v1.0.0/c.yaml";
    assert!(matches!(parse(url), Ok(Location::GitLab(_))));
    assert_data_eq!(
        refusals(&["https://gitlab.com/o/r/c.yaml", "https://example.org/x/c.yaml"]),
        str![[r#"
`gitlab.com` is not a known release host, and the path does not end with /infrastructure-aws/{version}/{file} of a web folder
`example.org` is not a known release host, and the path does not end with /infrastructure-aws/{version}/{file} of a web folder
"#]]
    );
}

// Row: PRV-15, D-25
#[test]
fn local_paths_end_with_label_version_and_file() {
    let expected = Location::Local(LocalLocation {
        base: "/srv/repo".into(),
        label: "infrastructure-aws".into(),
        version: "v1.2.3".into(),
        file: "c.yaml".into(),
    });
    assert_eq!(parse("/srv/repo/infrastructure-aws/v1.2.3/c.yaml"), Ok(expected.clone()));
    assert_eq!(parse("file:///srv/repo/infrastructure-aws/v1.2.3/c.yaml"), Ok(expected));
    let Ok(Location::Local(spaced)) = parse("file:///srv/my%20repo/infrastructure-aws/latest/c.yaml") else {
        panic!()
    };
    assert_eq!(spaced.base, Path::new("/srv/my repo"));
    let Ok(Location::Local(literal)) = parse("/srv/100%20#1/infrastructure-aws/latest/c.yaml") else {
        panic!()
    };
    assert_eq!(literal.base, Path::new("/srv/100%20#1"));
    let Ok(Location::Local(top)) = parse("/infrastructure-aws/latest/c.yaml") else { panic!() };
    assert_eq!(top.base, Path::new("/"));
}

// Row: PRV-16, D-24
#[test]
fn an_invalid_local_path_is_reported_with_its_problem() {
    assert_data_eq!(
        refusals(&[
            "/srv/infrastructure-gcp/v1.2.3/c.yaml",
            "/srv/infrastructure-aws/v1/c.yaml",
            "/srv/x/../infrastructure-aws/v1.0.0/c.yaml",
            "/c.yaml"
        ]),
        str![[r#"
a local path has the form {base}/infrastructure-aws/{version}/{file}; it has `infrastructure-gcp` in place of `infrastructure-aws`
a local path has the form {base}/infrastructure-aws/{version}/{file}; `v1` is neither a semantic version nor `latest`
a local path has the form {base}/infrastructure-aws/{version}/{file}; it must not contain `.` or `..`
a local path has the form {base}/infrastructure-aws/{version}/{file}; it is too short
"#]]
    );
    assert_eq!(parse("repo/infrastructure-aws/v1.0.0/c.yaml"), Err(LocationError::NotAbsolute));
    let host = LocationError::FileHost { host: "srv".into() };
    assert_eq!(parse("file://srv/repo/infrastructure-aws/v1.0.0/c.yaml"), Err(host));
}

#[test]
fn a_registry_url_pins_by_tag_and_digest_or_not_at_all() {
    let read = |url: &str| match parse(url) {
        Ok(Location::Oci(found)) => (found.registry, found.repository, found.tag, found.digest.is_some()),
        other => panic!("{url}: {other:?}"),
    };
    let found = |tag: Option<&str>, pinned| {
        ("registry.lab:5000".to_owned(), "capi/aws".to_owned(), tag.map(str::to_owned), pinned)
    };
    assert_eq!(read("oci://registry.lab:5000/capi/aws"), found(None, false));
    assert_eq!(read("oci://registry.lab:5000/capi/aws:latest"), found(None, false));
    assert_eq!(read("oci://registry.lab:5000/capi/aws:v1.2.3_lab.1"), found(Some("v1.2.3+lab.1"), false));
    for host in ["[::1]:5000", "[2001:db8::7]"] {
        let Location::Oci(found) = parse(&format!("oci://{host}/capi/aws:v1.2.3")).unwrap() else {
            panic!("{host}")
        };
        assert_eq!((found.registry.as_str(), found.tag.as_deref()), (host, Some("v1.2.3")));
    }
    for host in ["::1", "[::1", "[::1]5000", "[::1]:x", "[lab]:5000"] {
        let error = parse(&format!("oci://{host}/capi/aws")).unwrap_err();
        assert!(matches!(error, LocationError::OciForm { .. }), "{host}: {error}");
    }
    let digest = format!("sha256:{}", "0".repeat(64));
    let pinned = format!("oci://registry.lab:5000/capi/aws:v1.2.3@{digest}");
    assert_eq!(read(&pinned), found(Some("v1.2.3"), true));
    assert_data_eq!(
        refusals(&[
            &format!("oci://registry.lab/capi/aws@{digest}"),
            "oci://registry.lab/capi/aws@sha256:12",
            "oci://registry.lab/Capi/aws",
            "oci://registry.lab/a/../b",
            "oci://registry.lab/aws:main",
            "oci://registry.lab"
        ]),
        str![[r#"
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; a digest requires a tag; put the tag before the digest
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; `sha256:12` is not a digest; write `sha256:` and 64 hexadecimal digits
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; `Capi` is not a repository name; use lower-case letters, digits, `-`, `_` and `.`
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; `..` is not a repository name; use lower-case letters, digits, `-`, `_` and `.`
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; the tag `main` is neither a semantic version nor `latest`
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; the repository is missing
"#]]
    );
    assert_eq!(parse("oci://me:pw@registry.lab/aws"), Err(LocationError::HasCredential));
}

#[test]
fn a_git_url_names_repository_file_and_reference() {
    let read = |url: &str| match parse(url) {
        Ok(Location::Git(found)) => found,
        other => panic!("{url}: {other:?}"),
    };
    let found = read("git+https://git.lab:8443/o/r.git//deploy/aws/c.yaml?ref=v1.2.3");
    assert_eq!(found.remote, "https://git.lab:8443/o/r.git");
    assert_eq!((&*found.folder, &*found.file), ("deploy/aws", "c.yaml"));
    assert_eq!(found.reference, GitReference::Tag("v1.2.3".to_owned()));
    let found = read("git+ssh://git@git.lab/o/r//c.yaml");
    assert_eq!((&*found.remote, &*found.folder), ("ssh://git@git.lab/o/r", ""));
    assert_eq!(found.reference, GitReference::Latest);
    let found = read("git+file:///srv/r.git//c.yaml?ref=main&version=v1.2.3-dev");
    assert_eq!(found.remote, "file:///srv/r.git");
    let at = GitReference::Pinned { tree_ish: "main".to_owned(), version: "v1.2.3-dev".to_owned() };
    assert_eq!(found.reference, at);
    assert_data_eq!(
        refusals(&["git+https://git.lab/o/r.git/c.yaml"]),
        str![
            "a Git URL has the form git+https://{host}/{repository}//{path}/{file}?ref={tag, or latest}; `//` is missing after the repository"
        ]
    );
    assert!(parse("git+https://git.lab/o/r.git//../c.yaml").is_err(), "a path is cut short where it climbs");
    assert_data_eq!(
        refusals(&[
            "git+https://git.lab/o/r.git//c.yaml?ref=main",
            "git+https://git.lab/o/r.git//c.yaml?ref=--upload-pack=x",
            "git+https://git.lab/o/r.git//c.yaml?depth=1"
        ]),
        str![[r#"
a Git URL has the form git+https://{host}/{repository}//{path}/{file}?ref={tag, or latest}; `main` is not a semantic version; add a version with `&version=v1.2.3`
a Git URL has the form git+https://{host}/{repository}//{path}/{file}?ref={tag, or latest}; `ref` is not a valid branch, tag or commit
a Git URL has the form git+https://{host}/{repository}//{path}/{file}?ref={tag, or latest}; `depth` is neither `ref` nor `version`
"#]]
    );
    assert_eq!(parse("git+https://me@git.lab/o/r//c.yaml"), Err(LocationError::HasCredential));
}

#[test]
fn a_web_folder_is_detected_by_its_path_or_configured_by_kind() {
    let Ok(Location::Folder(folder)) = parse("https://mirror.lab/capi/infrastructure-aws/v1.2.3/c.yaml")
    else {
        panic!()
    };
    assert_eq!(folder.base.as_str(), "https://mirror.lab/capi/infrastructure-aws/");
    assert_eq!((&*folder.version, &*folder.file), ("v1.2.3", "c.yaml"));
    let as_folder = |url| Location::parse(url, "infrastructure-aws", Some(HostKind::Folder));
    let error = as_folder("https://mirror.lab/capi/aws/v1.2.3/c.yaml").unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str![
            "the URL of a web folder has the form https://{host}/{path}/infrastructure-aws/{version}/{file}; it has `aws` in place of `infrastructure-aws`"
        ]
    );
    let named_otherwise = "https://code.lab/api/v4/projects/7/packages/generic/p/v1.0.0/c.yaml";
    let as_gitlab = Location::parse(named_otherwise, "infrastructure-aws", Some(HostKind::GitLab));
    assert!(matches!(as_gitlab, Ok(Location::GitLab(_))));
    let as_github = Location::parse(named_otherwise, "infrastructure-aws", Some(HostKind::GitHub));
    assert!(matches!(as_github, Err(LocationError::GitHubForm { .. })));
}

// Row: D-26
#[test]
fn other_schemes_and_passwords_are_refused() {
    let plain = LocationError::UnknownScheme { scheme: "http".into() };
    assert_eq!(parse("http://github.com/o/r/releases/v1.0.0/c.yaml"), Err(plain));
    let with_password = "https://me:pw@github.com/o/r/releases/v1.0.0/c.yaml";
    assert_eq!(parse(with_password), Err(LocationError::HasCredential));
    assert!(matches!(parse("https://"), Err(LocationError::NotAUrl { .. })));
}

proptest::proptest! {
    #[test]
    fn any_text_parses_or_fails_and_local_paths_survive_a_round_trip(
        tail in "[a-z%./:@#?\\\\év0-9-]{0,40}",
        start in proptest::sample::select(vec!["", "/", "file://", "https://github.com/", "https://gitlab.com/api/v4/"]),
    ) {
        let _ = parse(&format!("{start}{tail}"));
        let path = format!("/{tail}/infrastructure-aws/v1.0.0/c.yaml");
        if let Ok(Location::Local(local)) = parse(&path) {
            let again = local.base.join(local.label).join(local.version).join(local.file);
            proptest::prop_assert_eq!(again, Path::new(&path));
        }
    }
}
