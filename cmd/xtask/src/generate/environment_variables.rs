use std::fmt::Write as _;

use super::{Page, REFERENCE, heading};

/// Every variable that the program reads. A test compares the table with the code.
const TABLE: [(&str, &str); 50] = [
    ("CLUSTERCTL_LOG_LEVEL", "log level, 0 to 10; `-v` overrides it"),
    ("XDG_CONFIG_HOME", "folder of `cluster-api/clusterctl.yaml` and of `cluster-api/overrides`"),
    (
        "XDG_STATE_HOME",
        "folder of `capstan`, which contains the sandboxes, the tour of `quickstart`, and records of moves",
    ),
    ("XDG_CACHE_HOME", "folder of `capstan`, which contains the cache"),
    ("CAPSTAN_CACHE_DIR", "cache folder; `off` disables the cache"),
    ("CAPSTAN_OFFLINE", "same as `--offline`, unless `0` or `false`"),
    ("HOME", "default for the XDG folders above, and for `~/.kube/config`; `USERPROFILE` on Windows"),
    ("LOCALAPPDATA", "on Windows: default for the configuration, state and cache folders"),
    ("KUBECONFIG", "kubeconfig files, merged like kubectl; `--merge` writes to the first existing file"),
    ("HELM_NAMESPACE", "namespace of `chart template` without `--namespace`, as for helm"),
    ("GITHUB_TOKEN", "token for github.com; also `github-token` in clusterctl.yaml"),
    ("GITLAB_ACCESS_TOKEN", "token for GitLab; also `gitlab-access-token` in clusterctl.yaml"),
    ("GOPROXY", "Go module proxies for version lists, in the syntax of Go; `off` uses the GitHub API"),
    ("COMMODORE_API_URL", "address of the Lieutenant API; `--api-url` overrides it"),
    ("COMMODORE_API_TOKEN", "token for the Lieutenant API, or its file; `--api-token` overrides it"),
    ("COMMODORE_OIDC_CLIENT", "client for logins at the Lieutenant API; `--oidc-client` overrides it"),
    (
        "COMMODORE_OIDC_DISCOVERY_URL",
        "configuration of its identity provider; `--oidc-discovery-url` overrides it",
    ),
    ("COMMODORE_REQUEST_TIMEOUT", "seconds that a login waits for the identity provider; default 5"),
    (
        "COMMODORE_WORKING_DIR",
        "working folder of the `catalog` commands with `--working-dir`, which overrides it",
    ),
    ("COMMODORE_PROCESSES", "number of targets that `catalog compile` compiles at once"),
    ("COMMODORE_PUSH", "same as `--push` of `catalog compile`; each of its flags has such a variable"),
    (
        "COMMODORE_COMPONENT_NEW_",
        "start of the variables of `catalog component new`, such as `…_OWNER` for `--owner`",
    ),
    ("COMMODORE_GITHUB_TOKEN", "token for `catalog component sync`; `--github-token` overrides it"),
    ("COMMODORE_COMPONENT_UPDATE_", "start of the variables of `catalog component update`"),
    ("COMMODORE_PACKAGE_UPDATE_", "start of the variables of `catalog package update`"),
    ("COMMODORE_PACKAGE_NEW_", "start of the variables of `catalog package new`"),
    ("CAPSTAN_JSONNET_TIMEOUT", "maximum time of one Jsonnet program of a catalog; default 5m"),
    (
        "CAPSTAN_PROGRAM_TIMEOUT",
        "maximum time of one program that `catalog --allow-external` runs; default 5m",
    ),
    ("GIT_AUTHOR_NAME", "author of commits of `catalog`, with `GIT_AUTHOR_EMAIL`; else `user.name` of Git"),
    ("GIT_AUTHOR_EMAIL", "address of this author; else `user.email` of Git"),
    ("HTTPS_PROXY", "proxy for https; lower case works too"),
    ("HTTP_PROXY", "proxy for http"),
    ("ALL_PROXY", "proxy if the other two are not set"),
    ("NO_PROXY", "hosts, domains and networks that bypass the proxy"),
    ("SSL_CERT_FILE", "PEM certificates to trust in addition to those of the system"),
    ("CAPSTAN_CA_BUNDLE", "the same, for repository hosts only; `--ca-bundle` overrides it"),
    ("NETRC", "netrc file with logins for repository hosts, instead of `~/.netrc`"),
    ("REGISTRY_AUTH_FILE", "auth file with registry logins, read before all others"),
    ("DOCKER_CONFIG", "folder of `config.json` with registry logins, instead of `~/.docker`"),
    ("XDG_RUNTIME_DIR", "folder of `containers/auth.json`, which contains registry logins of podman"),
    ("NO_COLOR", "disables colour unless `--color` is given"),
    ("CLICOLOR_FORCE", "enables colour on pipes, unless `0`"),
    ("TERM", "`dumb` disables colour"),
    ("PATH", "search path for plugins, `clusterctl-*` and `capstan-*`"),
    ("SHELL", "shell whose completion `self check` looks for"),
    ("XDG_DATA_HOME", "folder of completions of bash that `self check` looks in"),
    ("PATHEXT", "on Windows: extensions of programs"),
    ("RUST_BACKTRACE", "`1` adds a backtrace to the report of a panic"),
    ("CAPSTAN_BACKUP_PASSPHRASE", "passphrase of backups; if not set, capstan prompts for it"),
    ("CAPSTAN_COMPLETE", "set by the completion script of a shell"),
];

/// Renders the table as a page.
pub(super) fn page() -> Page {
    let mut text = heading("Environment variables");
    text.push_str(
        "Besides these, every variable of a template is looked up in the environment ([variables](../concepts/variables.md)),\n\
         and so is every key of clusterctl.yaml, in upper case and with `_` for `-`.\n\n| Variable | Meaning |\n|---|---|\n",
    );
    for (name, meaning) in TABLE {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text.push_str("\n`CLUSTERCTL_DISABLE_VERSIONCHECK` has no effect: there is no check to disable.\n");
    (format!("{REFERENCE}/environment.md"), text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workspace::Workspace;

    /// The names in `environment.get("NAME")` and `environment.text("NAME")` in the program, without tests.
    fn names_read(workspace: &Workspace) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for source in workspace.rust().iter().filter(|source| source.path.starts_with("cmd/capstan/src/")) {
            for call in [".get(\"", ".text(\""] {
                for (at, _) in source.text.match_indices(call) {
                    let is_product = source.product.get(at..=at) == Some(".");
                    let name = source.text[at + call.len()..].split('"').next().unwrap_or_default();
                    let is_variable =
                        name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
                    if is_product && is_variable {
                        names.insert(name.to_owned());
                    }
                }
            }
        }
        names
    }

    #[test]
    fn every_environment_variable_is_documented() {
        let workspace = Workspace::read().unwrap();
        let read = names_read(&workspace);
        assert!(read.contains("NO_COLOR"), "the scan finds nothing: {read:?}");
        let undocumented: Vec<_> =
            read.iter().filter(|name| !TABLE.iter().any(|(known, _)| known == name)).collect();
        assert!(undocumented.is_empty(), "{undocumented:?}");
    }

    #[test]
    fn every_documented_environment_variable_is_used() {
        let workspace = Workspace::read().unwrap();
        let ours = || {
            workspace
                .files()
                .iter()
                .filter(|file| file.has_extension("rs") && !file.path.starts_with("cmd/xtask/"))
        };
        let unread: Vec<_> =
            TABLE.iter().filter(|(name, _)| !ours().any(|file| file.text.contains(name))).collect();
        assert!(unread.is_empty(), "{unread:?}");
    }
}
