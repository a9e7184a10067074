use super::*;

/// Describes the repository, folder and reference of an entry.
fn repository(entry: &str) -> Option<String> {
    RemoteEntry::of_entry(entry)?.methods.into_iter().find_map(|way| match way {
        FetchMethod::Repository(Checkout { url, folder, reference, .. }) => {
            let reference = reference.map(|name| format!(" @ {name}")).unwrap_or_default();
            Some(format!("{url} / {folder}{reference}"))
        }
        FetchMethod::File(_) => None,
    })
}

/// Lists the ways of an entry, `file` or `repository`, in order of attempt.
fn methods(entry: &str) -> Vec<&'static str> {
    let name = |way: &FetchMethod| if matches!(way, FetchMethod::File(_)) { "file" } else { "repository" };
    RemoteEntry::of_entry(entry).map(|remote| remote.methods.iter().map(name).collect()).unwrap_or_default()
}

// Row: D-225
#[test]
fn every_repository_url_of_kustomize_is_parsed() {
    for (entry, expected) in [
        ("https://git.lab/org/repo//path/to?ref=v1", "https://git.lab/org/repo / path/to @ v1"),
        ("https://git.lab/org/repo/path/to?version=v1", "https://git.lab/org/repo / path/to @ v1"),
        ("https://git.lab/org/repo?version=v1&ref=release%2F2", "https://git.lab/org/repo /  @ release/2"),
        ("https://git.lab/a/b/c.git/path", "https://git.lab/a/b/c.git / path"),
        ("https://git.lab/org/a.github.io/path", "https://git.lab/org/a.github.io / path"),
        ("https://dev.azure.com/o/p/_git/repo/a/b", "https://dev.azure.com/o/p/_git/repo / a/b"),
        ("git@git.lab:org/repo.git//path", "git@git.lab:org/repo.git / path"),
        ("git@git.lab:org/repo/path", "git@git.lab:org/repo / path"),
        ("ssh://git@git.lab:2222/org/repo//p", "ssh://git@git.lab:2222/org/repo / p"),
        ("ssh://git@github.com/org/repo//p", "git@github.com:org/repo / p"),
        ("github.com/org/repo/config?ref=main", "https://github.com/org/repo / config @ main"),
        ("GitHub.com/org/repo", "https://github.com/org/repo / "),
        ("git@github.com/org/repo", "git@github.com:org/repo / "),
        ("http://github.com/org/repo", "https://github.com/org/repo / "),
        ("git::https://git.lab/org/repo//p", "https://git.lab/org/repo / p"),
        ("file:///srv/git/repo", "file:///srv/git/repo / "),
        ("file:///srv/git/repo//a/./b?ref=v1", "file:///srv/git/repo / a/b @ v1"),
        ("file:///srv/repo.git/a", "file:///srv/repo.git / a"),
    ] {
        assert_eq!(repository(entry).as_deref(), Some(expected), "{entry}");
    }
}

#[test]
fn paths_are_not_remote_and_stay_inside_a_repository() {
    for path in ["../base", "/srv/base", "base/github.com", "git.lab/org/repo", "a@b/c"] {
        assert!(RemoteEntry::of_entry(path).is_none(), "{path}");
    }
    for none in ["https://git.lab/org/repo//../x", "git@git.lab:org/repo//a/../../x", "oci://git.lab/a"] {
        assert_eq!(repository(none), None, "{none}");
    }
    assert_eq!(methods("oci://git.lab/a"), Vec::<&str>::new());
}

// Row: D-225
#[test]
fn unambiguous_entries_have_one_fetch_method() {
    assert_eq!(methods("https://a.example/x/y/z.yaml"), ["file"]);
    assert_eq!(methods("https://a.example/x/y/z"), ["file", "repository"]);
    assert_eq!(methods("https://a.example/x/y.git/z"), ["repository", "file"]);
    assert_eq!(methods("https://github.com/o/r/config?ref=v1"), ["repository", "file"]);
    assert_eq!(methods("https://github.com/o/r/releases/download/v1/x.yaml"), ["file"]);
    assert_eq!(methods("git@git.lab:o/r"), ["repository"]);
    assert_eq!(methods("git::https://git.lab/o/r"), ["repository"]);
    assert!(RemoteEntry::of_file_entry("git@git.lab:o/r").is_none());
    assert_eq!(RemoteEntry::of_file_entry("https://git.lab/o/r").unwrap().methods.len(), 1);
}

#[test]
fn limits_and_submodules_are_parameters() {
    let of = |query: &str| match RemoteEntry::of_entry(&format!("git@git.lab:o/r?{query}"))
        .unwrap()
        .methods
        .remove(0)
    {
        FetchMethod::Repository(checkout) => {
            (checkout.timeout.map(|limit| limit.as_millis()), checkout.submodules)
        }
        FetchMethod::File(_) => unreachable!("scp has no files"),
    };
    assert_eq!(of("timeout=61"), (Some(61_000), true));
    assert_eq!(of("timeout=1m1.5s&submodules=false"), (Some(61_500), false));
    assert_eq!(of("timeout=soon&submodules=maybe"), (None, true));
    assert_eq!(of("timeout=0&submodules=0"), (None, false));
}

#[test]
fn neither_a_password_nor_a_token_is_shown() {
    let shown = |entry: &str| RemoteEntry::of_entry(entry).unwrap().redacted();
    assert_eq!(shown("https://ann:s3cret@git.lab/o/r?ref=v1"), "https://git.lab/o/r?ref=v1");
    assert_eq!(shown("https://token@git.lab/o/r"), "https://git.lab/o/r");
    assert_eq!(shown("ssh://git@git.lab/o/r"), "ssh://git@git.lab/o/r");
    assert_eq!(shown("https://files.lab/k.yaml?token=abc&b"), "https://files.lab/k.yaml?token=***&b");
    assert_eq!(
        shown("git::https://ann:pw@git.lab/o/r//k?ref=v1&timeout=9&sshkey=abc"),
        "git::https://git.lab/o/r//k?ref=v1&timeout=9&sshkey=***"
    );
    assert!(!format!("{:?}", RemoteEntry::of_entry("https://ann:s3cret@git.lab/o/r")).contains("s3cret"));
}
