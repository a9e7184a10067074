use std::fmt::Write as _;

use super::{Page, REFERENCE, heading};

/// Every variable that the program reads. A test compares the table with the code.
const TABLE: [(&str, &str); 30] = [
    ("CLUSTERCTL_LOG_LEVEL", "how much to log, 0 to 10; `-v` wins"),
    ("XDG_CONFIG_HOME", "folder of `cluster-api/clusterctl.yaml` and of `cluster-api/overrides`"),
    ("XDG_STATE_HOME", "folder of `capstan/sandboxes`, where sandboxes are kept"),
    ("XDG_CACHE_HOME", "folder of `capstan`, where fetched files are kept"),
    ("CAPSTAN_CACHE_DIR", "where fetched files are kept instead; `off` keeps none"),
    ("CAPSTAN_OFFLINE", "set, and neither `0` nor `false`: as `--offline`"),
    ("HOME", "used where the folders above are not set, and for `~/.kube/config`; `USERPROFILE` on Windows"),
    ("LOCALAPPDATA", "on Windows: used where these two are not set"),
    (
        "KUBECONFIG",
        "kubeconfig files, joined as kubectl joins them; the first that is there gets what is merged",
    ),
    ("GITHUB_TOKEN", "token for github.com; also `github-token` in clusterctl.yaml"),
    ("GITLAB_ACCESS_TOKEN", "token for GitLab; also `gitlab-access-token` in clusterctl.yaml"),
    ("GOPROXY", "Go module proxies asked for lists of versions, as Go reads it; `off` asks the GitHub API"),
    ("HTTPS_PROXY", "proxy for https; lower case works too"),
    ("HTTP_PROXY", "proxy for http"),
    ("ALL_PROXY", "proxy where the other two are not set"),
    ("NO_PROXY", "hosts, domains and networks that are asked without a proxy"),
    ("SSL_CERT_FILE", "PEM certificates that are trusted besides those of the system"),
    ("CAPSTAN_CA_BUNDLE", "the same, for hosts of repositories alone; `--ca-bundle` wins"),
    ("NETRC", "file of logins for hosts of repositories, in place of `~/.netrc`"),
    ("REGISTRY_AUTH_FILE", "file of logins for registries, before all others"),
    ("DOCKER_CONFIG", "folder of `config.json` with logins for registries, in place of `~/.docker`"),
    ("XDG_RUNTIME_DIR", "folder of `containers/auth.json`, where podman keeps logins for registries"),
    ("NO_COLOR", "no colour, unless `--color` says so"),
    ("CLICOLOR_FORCE", "colour on a pipe too, unless it is `0`"),
    ("TERM", "`dumb` means no colour"),
    ("PATH", "where plugins, `clusterctl-*` and `capstan-*`, are looked for"),
    ("PATHEXT", "on Windows: endings of programs"),
    ("RUST_BACKTRACE", "`1` adds a trace to the report of a defect of capstan"),
    ("CAPSTAN_BACKUP_PASSPHRASE", "passphrase of backups; where it is not set, it is asked for"),
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
