use super::*;

fn parse(url: &str) -> Result<Location, LocationError> {
    Location::parse(url, "infrastructure-aws", None)
}

fn refusal(url: &str) -> String {
    parse(url).expect_err(url).to_string()
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
fn a_github_url_of_another_form_says_where_it_departs() {
    assert!(refusal("https://github.com/o/r/releases/v1").contains("tag or file is missing"));
    assert!(refusal("https://github.com/o").contains("too short"));
    assert!(refusal("https://github.com/o/r/tags/v1/c.yaml").contains("not `releases`"));
    assert!(refusal("https://github.com/o/r/releases/v1/").contains("no plain name"));
    assert!(refusal("https://github.com/o/r/releases/v1/..%2f..%2fx").contains("no plain name"));
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
fn a_gitlab_url_of_another_form_says_where_it_departs() {
    let base = "https://gitlab.com/api/v4/projects";
    assert!(refusal(&format!("{base}/myorg/myrepo/packages/generic/p/v1/c.yaml")).contains("nine parts"));
    assert!(refusal(&format!("{base}/42/packages/generic/p/v1/a/c.yaml")).contains("nine parts"));
    assert!(refusal(&format!("{base}/42/packages/npm/p/v1/c.yaml")).contains("nine parts"));
    assert!(refusal(&format!("{base}/42/packages/generic//v1/c.yaml")).contains("empty"));
    assert!(refusal(&format!("{base}/42/packages/generic/p/v1/%2e%2e%2fx")).contains("no plain name"));
}

// Row: PRV-09, D-22
#[test]
fn gitlab_is_known_by_its_path_on_any_host() {
    let url = "https://code.example.org/api/v4/projects/42/packages/generic/p/v1.0.0/c.yaml";
    assert!(matches!(parse(url), Ok(Location::GitLab(_))));
    assert!(refusal("https://gitlab.com/o/r/c.yaml").contains("`gitlab.com` is not known to hold releases"));
    assert!(refusal("https://example.org/x/c.yaml").contains("`example.org` is not known"));
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
fn a_local_path_of_another_form_says_where_it_departs() {
    assert!(refusal("/srv/infrastructure-gcp/v1.2.3/c.yaml").contains("`infrastructure-gcp` stands where"));
    assert!(refusal("/srv/infrastructure-aws/v1/c.yaml").contains("`v1` is neither a semantic version"));
    assert!(refusal("/srv/x/../infrastructure-aws/v1.0.0/c.yaml").contains("`..`"));
    assert!(refusal("/c.yaml").contains("too short"));
    assert_eq!(parse("repo/infrastructure-aws/v1.0.0/c.yaml"), Err(LocationError::NotAbsolute));
    let host = LocationError::FileHost { host: "srv".into() };
    assert_eq!(parse("file://srv/repo/infrastructure-aws/v1.0.0/c.yaml"), Err(host));
}

#[test]
fn a_registry_reference_pins_by_tag_and_digest_or_not_at_all() {
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
        assert!(refusal(&format!("oci://{host}/capi/aws")).contains("is no host"), "{host}");
    }
    let digest = format!("sha256:{}", "0".repeat(64));
    let pinned = format!("oci://registry.lab:5000/capi/aws:v1.2.3@{digest}");
    assert_eq!(read(&pinned), found(Some("v1.2.3"), true));
    assert!(refusal(&format!("oci://registry.lab/capi/aws@{digest}")).contains("does not tell the version"));
    assert!(refusal("oci://registry.lab/capi/aws@sha256:12").contains("is no digest"));
    assert!(refusal("oci://registry.lab/Capi/aws").contains("`Capi` is no name"));
    assert!(refusal("oci://registry.lab/a/../b").contains("`..` is no name"));
    assert!(refusal("oci://registry.lab/aws:main").contains("`main` is neither"));
    assert!(refusal("oci://registry.lab").contains("repository is missing"));
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
    assert!(refusal("git+https://git.lab/o/r.git/c.yaml").contains("no `//`"));
    assert!(parse("git+https://git.lab/o/r.git//../c.yaml").is_err(), "a path is cut short where it climbs");
    assert!(refusal("git+https://git.lab/o/r.git//c.yaml?ref=main").contains("&version="));
    assert!(refusal("git+https://git.lab/o/r.git//c.yaml?ref=--upload-pack=x").contains("names no branch"));
    assert!(refusal("git+https://git.lab/o/r.git//c.yaml?depth=1").contains("`depth`"));
    assert_eq!(parse("git+https://me@git.lab/o/r//c.yaml"), Err(LocationError::HasCredential));
}

#[test]
fn a_web_folder_is_known_by_its_form_and_a_kind_settles_what_the_form_leaves_open() {
    let Ok(Location::Folder(folder)) = parse("https://mirror.lab/capi/infrastructure-aws/v1.2.3/c.yaml")
    else {
        panic!()
    };
    assert_eq!(folder.base.as_str(), "https://mirror.lab/capi/infrastructure-aws/");
    assert_eq!((&*folder.version, &*folder.file), ("v1.2.3", "c.yaml"));
    let as_folder = |url| Location::parse(url, "infrastructure-aws", Some(HostKind::Folder));
    let error = as_folder("https://mirror.lab/capi/aws/v1.2.3/c.yaml").unwrap_err();
    assert!(error.to_string().contains("`aws` stands where `infrastructure-aws` belongs"), "{error}");
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
    fn any_text_is_read_or_refused_and_a_local_one_can_be_put_together_again(
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
