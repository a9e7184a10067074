use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use api::{TARGET_PLACEHOLDER, is_plain_word, shell_word};
use apply::Credentials;

use crate::{
    Environment,
    program::{CommandTree, Program},
    sandboxes::SandboxesFolder,
    settings::KubeFlags,
};

/// Completes suggested commands in messages, so that each can be pasted. Adds the program name, and the flags of this
/// run for clusters, catalogs, configuration and lock.
///
/// Messages contain suggestions in backticks that start with `capstan` or `kubectl`, with their specific flags. A
/// flag of this run is added if the command accepts the flag and does not set it.
///
/// In place of a kubeconfig, a suggestion may have `TARGET_VERSION`, the cluster this run writes to, or the address of an API
/// server. Both are replaced by the flags of that cluster, or by `FILE` if no local kubeconfig is known for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SuggestedCommands {
    program: Program,
    /// The command tree with the flags of suggested commands. `None` if the flags of this run are unknown.
    tree: Option<CommandTree>,
    environment: Environment,
    /// The source cluster of this run: `--kubeconfig` and related flags. The target has `--to-kubeconfig` and related
    /// flags.
    source: KubeFlags,
    target: KubeFlags,
    /// The flags for the catalog, the configuration and the lock.
    others: Vec<(&'static str, String)>,
}

/// The placeholder for a kubeconfig that only the user knows.
const UNKNOWN_FILE: &str = "FILE";

impl SuggestedCommands {
    /// Returns the completion of suggestions for a run with these flags.
    pub(crate) fn new(
        program: Program,
        tree: CommandTree,
        environment: Environment,
        source: KubeFlags,
        target: KubeFlags,
        others: Vec<(&'static str, String)>,
    ) -> Self {
        Self { program, tree: Some(tree), environment, source, target, others }
    }

    /// Returns the completion of suggestions for a run with unknown flags.
    pub(crate) fn of_program(program: Program) -> Self {
        Self { program, ..Self::default() }
    }

    /// Completes every command in a text. The remaining text stays unchanged.
    pub(crate) fn complete<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains("`capstan ") && !text.contains("`kubectl ") {
            return Cow::Borrowed(text);
        }
        let parts = text.split('`').enumerate();
        let completed = parts.map(|(at, part)| match at % 2 {
            1 => self.complete_command(part),
            _ => part.to_owned(),
        });
        Cow::Owned(completed.collect::<Vec<_>>().join("`"))
    }

    /// Completes one command, or several commands joined by pipes.
    pub(crate) fn complete_command(&self, command: &str) -> String {
        let completed = command.split(" | ").map(|command| {
            if let Some(words) = command.strip_prefix("capstan ") {
                self.complete_own_command(words)
            } else if let Some(words) = command.strip_prefix("kubectl ") {
                self.complete_kubectl(words)
            } else {
                command.to_owned()
            }
        });
        completed.collect::<Vec<_>>().join(" | ")
    }

    fn complete_own_command(&self, words: &str) -> String {
        let mut command = format!("{} {}", self.program.name(), self.resolve_clusters(words));
        if !self.source.is_given() && !self.target.is_given() && self.others.is_empty() {
            return command;
        }
        let taken = self.accepted_flags(words);
        for (kube, prefix) in [(&self.source, "--"), (&self.target, "--to-")] {
            // A save to a folder has no target cluster, and a restore from a folder has no source cluster.
            let folder = if prefix == "--" { " --from-directory " } else { " --to-directory " };
            let has_cluster = !words.contains(folder);
            if has_cluster && !names_cluster(words, prefix) {
                self.add_flags(&cluster_flags(kube, prefix), &taken, &mut command);
            }
        }
        for (flag, value) in self.others.iter().filter(|(flag, _)| !words.contains(flag)) {
            self.add_flags(&[((*flag).to_owned(), value.clone())], &taken, &mut command);
        }
        command
    }

    fn add_flags(&self, flags: &[(String, String)], taken: &[String], command: &mut String) {
        for (flag, value) in flags.iter().filter(|(flag, _)| taken.contains(flag)) {
            command.extend([" ", flag, " ", &*self.quoted(value)]);
        }
    }

    /// Returns the long flags of a command. Empty if the command only shows help.
    fn accepted_flags(&self, words: &str) -> Vec<String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let Some(tree) = self.tree.filter(|_| !words.contains(&"--help")) else { return Vec::new() };
        let mut tree = tree(self.program);
        tree.build();
        let verbs = words.iter().map_while({
            let mut command = &tree;
            move |word| {
                command = command.find_subcommand(word)?;
                Some(command)
            }
        });
        let command = verbs.last().unwrap_or(&tree);
        command.get_arguments().filter_map(|arg| arg.get_long().map(|long| format!("--{long}"))).collect()
    }

    /// Replaces placeholders and addresses of clusters with the flags that select the cluster.
    fn resolve_clusters(&self, words: &str) -> String {
        let mut resolved = words.to_owned();
        for prefix in ["--to-", "--"] {
            let flag = format!(" {prefix}kubeconfig ");
            let Some((before, behind)) = resolved.split_once(&flag) else { continue };
            let (cluster, rest) = behind.split_once(' ').map_or((behind, ""), |(one, rest)| (one, rest));
            let kube = match cluster {
                TARGET_PLACEHOLDER if self.target.is_given() => Some(self.target.clone()),
                TARGET_PLACEHOLDER => Some(self.source.clone()),
                address if address.starts_with("https://") => self.flags_for_address(address, prefix),
                _ => continue,
            };
            let unknown = || KubeFlags { kubeconfig: Some(UNKNOWN_FILE.into()), ..KubeFlags::default() };
            let mut words = before.to_owned();
            for (flag, value) in cluster_flags(&kube.unwrap_or_else(unknown), prefix) {
                words.extend([" ", &*flag, " ", &*self.quoted(&value)]);
            }
            if !rest.is_empty() {
                words.extend([" ", rest]);
            }
            resolved = words;
        }
        resolved
    }

    /// Returns the flags for the cluster at an address: those of this run, or a sandbox.
    /// The current context needs no flags, except as a target.
    fn flags_for_address(&self, address: &str, prefix: &str) -> Option<KubeFlags> {
        let address = address.trim_end_matches('/');
        let reaches = |kube: &KubeFlags| self.server_address(kube).is_some_and(|known| known == address);
        let current = KubeFlags::default();
        if prefix == "--" && reaches(&current) {
            return Some(current);
        }
        let mut given = [&self.source, &self.target].into_iter().filter(|kube| kube.is_given());
        given.find(|kube| reaches(kube)).cloned().or_else(|| self.sandbox_at(address))
    }

    fn sandbox_at(&self, address: &str) -> Option<KubeFlags> {
        let home = SandboxesFolder::of(&self.environment).ok()?;
        let serves = |name: &String| {
            let server = home.folder(name).and_then(|folder| folder.last_server()).ok().flatten();
            server.as_deref() == Some(address)
        };
        let name = home.names().ok()?.into_iter().find(serves)?;
        Some(KubeFlags { sandbox: Some(name), ..KubeFlags::default() })
    }

    fn server_address(&self, kube: &KubeFlags) -> Option<String> {
        let Credentials::Kubeconfig { config, context } = kube.credentials(&self.environment).ok()? else {
            return None;
        };
        let context = config.contexts.iter().find(|one| one.name == context)?.context.as_ref()?;
        let cluster = config.clusters.iter().find(|one| one.name == context.cluster)?.cluster.as_ref()?;
        cluster.server.as_ref().map(|server| server.trim_end_matches('/').to_owned())
    }

    fn complete_kubectl(&self, words: &str) -> String {
        let (kube, words) = match words.strip_prefix("--kubeconfig TARGET ") {
            Some(words) if self.target.is_given() => (&self.target, words),
            on_source => (&self.source, on_source.unwrap_or(words)),
        };
        if words.starts_with("--kubeconfig ") || words.starts_with("--context ") {
            return format!("kubectl {words}");
        }
        let mut command = "kubectl".to_owned();
        let sandbox = kube.sandbox.as_deref().and_then(|name| self.kubeconfig_of(name));
        if let Some(path) = sandbox.as_ref().or(kube.kubeconfig.as_ref()) {
            command.extend([" --kubeconfig ", &*self.quoted(&path.display().to_string())]);
        }
        if let Some(context) = &kube.kubeconfig_context {
            command.extend([" --context ", &*self.quoted(context)]);
        }
        format!("{command} {words}")
    }

    fn kubeconfig_of(&self, sandbox: &str) -> Option<PathBuf> {
        SandboxesFolder::of(&self.environment).ok()?.folder(sandbox).ok().map(|folder| folder.kubeconfig())
    }

    fn quoted(&self, word: &str) -> String {
        quoted(word, self.environment.home())
    }
}

/// True if a command selects a cluster.
fn names_cluster(words: &str, prefix: &str) -> bool {
    let padded = format!(" {words}");
    ["kubeconfig", "kubeconfig-context", "sandbox"]
        .iter()
        .any(|flag| padded.contains(&format!(" {prefix}{flag} ")))
}

/// Returns the cluster flags of a command line with their values.
fn cluster_flags(kube: &KubeFlags, prefix: &str) -> Vec<(String, String)> {
    let path = kube.kubeconfig.as_ref().map(|path| path.display().to_string());
    [
        ("sandbox", kube.sandbox.clone()),
        ("kubeconfig", path),
        ("kubeconfig-context", kube.kubeconfig_context.clone()),
    ]
    .into_iter()
    .filter_map(|(flag, value)| Some((format!("{prefix}{flag}"), value?)))
    .collect()
}

/// Quotes a word for a shell if necessary. A path below the home folder starts with `~`.
pub(crate) fn quoted(word: &str, home: Option<&Path>) -> String {
    let below_home = home.and_then(|home| Path::new(word).strip_prefix(home).ok()?.to_str());
    match below_home.filter(|rest| is_plain_word(rest)) {
        Some(rest) => format!("~/{rest}"),
        None => shell_word(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: KubeFlags, target: KubeFlags, config: Option<&str>) -> SuggestedCommands {
        let environment = Environment::new([("HOME", "/home/me")], "/");
        let others = config.map(|path| ("--config", path.to_owned())).into_iter().collect();
        SuggestedCommands::new(Program::Capstan, crate::cli::tree_of, environment, source, target, others)
    }

    fn sandbox(name: &str) -> KubeFlags {
        KubeFlags { sandbox: Some(name.to_owned()), ..KubeFlags::default() }
    }

    fn file(path: &str, context: Option<&str>) -> KubeFlags {
        let kubeconfig_context = context.map(str::to_owned);
        KubeFlags { kubeconfig: Some(path.into()), kubeconfig_context, sandbox: None }
    }

    #[test]
    fn a_suggested_command_gets_the_flags_that_it_supports() {
        let commands = of(sandbox("lab"), KubeFlags::default(), Some("my file.yaml"));
        for (suggested, completed) in [
            ("capstan upgrade resume", "capstan upgrade resume --sandbox lab --config 'my file.yaml'"),
            ("capstan config repositories", "capstan config repositories --config 'my file.yaml'"),
            ("capstan upgrade --help", "capstan upgrade --help"),
            ("capstan init --sandbox other", "capstan init --sandbox other --config 'my file.yaml'"),
            (
                "kubectl get pods -n x",
                "kubectl --kubeconfig ~/.local/state/capstan/sandboxes/lab/kubeconfig get pods -n x",
            ),
            ("age-keygen -o key.txt", "age-keygen -o key.txt"),
        ] {
            assert_eq!(commands.complete_command(suggested), completed);
        }
        let commands = of(file("~/it's", Some("prod")), KubeFlags::default(), None);
        assert_eq!(
            commands.complete("run `capstan status`, or `kubectl get ns | head`, not `status`"),
            r"run `capstan status --kubeconfig '~/it'\''s' --kubeconfig-context prod`, or `kubectl --kubeconfig '~/it'\''s' --context prod get ns | head`, not `status`"
        );
    }

    #[test]
    fn a_move_is_suggested_with_both_of_its_clusters() {
        let commands = of(sandbox("one"), file("two.yaml", None), None);
        for (suggested, completed) in [
            ("capstan move status", "capstan move status --sandbox one --to-kubeconfig two.yaml"),
            (
                "capstan move --abort --to-directory DIR",
                "capstan move --abort --to-directory DIR --sandbox one",
            ),
            (
                "capstan init --core x:v1 --kubeconfig TARGET",
                "capstan init --core x:v1 --kubeconfig two.yaml",
            ),
            (
                "capstan move --kubeconfig https://a --to-kubeconfig https://b --abort",
                "capstan move --kubeconfig FILE --to-kubeconfig FILE --abort",
            ),
        ] {
            assert_eq!(commands.complete_command(suggested), completed);
        }
        let commands = of(sandbox("one"), file("two.yaml", Some("prod")), None);
        assert_eq!(
            commands.complete(
                "see `capstan status --kubeconfig TARGET` and `kubectl --kubeconfig TARGET get ns`"
            ),
            "see `capstan status --kubeconfig two.yaml --kubeconfig-context prod` and \
             `kubectl --kubeconfig two.yaml --context prod get ns`"
        );
        let restoring = of(sandbox("one"), KubeFlags::default(), None);
        assert_eq!(
            restoring.complete_command("capstan init --kubeconfig TARGET"),
            "capstan init --sandbox one"
        );
    }

    #[test]
    fn the_name_is_the_one_the_program_was_called_by() {
        let commands = SuggestedCommands::of_program(Program::Clusterctl);
        assert_eq!(commands.complete("see `capstan --help`"), "see `clusterctl --help`");
        let plugin = SuggestedCommands::of_program(Program::KubectlPlugin);
        assert_eq!(plugin.complete("see `capstan --help`"), "see `kubectl capi --help`");
    }

    #[test]
    fn words_are_quoted_if_a_shell_would_expand_them() {
        let home = Some(Path::new("/home/me"));
        for (word, typed) in [
            ("--wait", "--wait"),
            ("/home/me/a.yaml", "~/a.yaml"),
            ("/home/me", "/home/me"),
            ("/home/me/my files", "'/home/me/my files'"),
            ("/home/men/a", "/home/men/a"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("~/a", "'~/a'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word, home), typed);
        }
    }
}
