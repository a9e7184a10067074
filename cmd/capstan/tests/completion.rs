use snapbox::{assert_data_eq, str};
use support::skip::program;

use crate::world;

pub(crate) fn candidates(world: &support::binary::TestEnvironment, words: &[&str]) -> Vec<String> {
    let mut command = world.command(["--"].iter().chain(words));
    let index = (words.len() - 1).to_string();
    let output = command.env("CAPSTAN_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

// Row: D-70
#[test]
fn completion_scripts_call_the_program_by_its_name() {
    let world = world();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let outcome = world.run(["completion", shell]);
        assert_eq!(outcome.status, 0, "{outcome}");
        assert!(
            outcome.stdout.contains("CAPSTAN_COMPLETE") && outcome.stdout.contains("capstan"),
            "{outcome}"
        );
    }
}

#[cfg(unix)]
#[test]
fn the_completion_script_of_clusterctl_completes_clusterctl() {
    let script = world().run_as("clusterctl", ["completion", "bash"]).stdout;
    assert!(script.contains("\"clusterctl\" -- "), "{script}");
    assert!(script.contains("-F _clap_complete_clusterctl clusterctl"), "{script}");
}

#[test]
fn scripts_that_clusterctl_installed_still_complete() {
    let world = world();
    assert_data_eq!(
        world.run_as("clusterctl", ["__complete", "config", "rep"]).stdout,
        str![[r#"
repositories	List the providers and the URLs of their releases
:4

"#]]
    );
    assert_eq!(
        world.run_as("clusterctl", ["__completeNoDesc", "config", "rep"]).stdout,
        "repositories\n:4\n"
    );
    assert_eq!(world.run_as("clusterctl", ["__complete", "config", "zzz"]).stdout, ":0\n");
}

#[test]
fn an_unknown_shell_is_refused() {
    assert_data_eq!(
        world().run(["completion", "tcsh"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown shell `tcsh`
hint: use one of bash, zsh, fish, powershell

"#]]
    );
}

#[test]
fn verbs_and_flags_are_completed() {
    let world = world();
    assert_eq!(candidates(&world, &["capstan", "conf"]), ["config"]);
    assert_eq!(candidates(&world, &["capstan", "config", "rep"]), ["repositories"]);
    assert_eq!(candidates(&world, &["capstan", "provider", "add", "x", "--repl"]), ["--replace"]);
}

#[test]
fn files_and_folders_are_completed() {
    let world = world();
    world.write("lab.tar", "");
    world.write("charts/web/Chart.yaml", "");
    for words in [
        &["capstan", "bundle", "verify", "la"][..],
        &["capstan", "component", "apply", "la"],
        &["capstan", "restore", "la"],
    ] {
        assert_eq!(candidates(&world, words), ["lab.tar"], "{words:?}");
    }
    for words in [
        &["capstan", "kustomize", "build", "ch"][..],
        &["capstan", "chart", "template", "x", "ch"],
        &["capstan", "chart", "show", "values", "ch"],
    ] {
        assert_eq!(candidates(&world, words), ["charts/"], "{words:?}");
    }
}

// Row: PRV-83, D-70
#[test]
fn providers_versions_and_flavors_are_completed() {
    let world = world();
    let folder = world.current_dir().join("repository/infrastructure-mine");
    for file in [
        "v1.0.0/cluster-template.yaml",
        "v1.2.0/cluster-template-small.yaml",
        "v1.10.0/cluster-template-large.yaml",
    ] {
        world.write(folder.join(file), "");
    }
    let url = folder.join("v1.10.0/infrastructure-components.yaml");
    world.configure(format!(
        "providers:\n- name: mine\n  type: InfrastructureProvider\n  url: {}\n",
        url.display()
    ));
    let generate = ["capstan", "generate", "cluster", "x"];
    let complete = |words: &[&str]| candidates(&world, &[&generate[..], words].concat());
    assert_eq!(complete(&["--infrastructure", "min"]), ["mine"]);
    assert_eq!(complete(&["-i", "mine:"]), ["mine:v1.10.0", "mine:v1.2.0", "mine:v1.0.0"]);
    assert_eq!(complete(&["-i", "mine", "--flavor", ""]), ["large", "small"]);
    assert_eq!(complete(&["-i", "mine:v1.2.0", "--flavor", ""]), ["small"]);
    assert_eq!(complete(&["-i", "gone", "--flavor", ""]), Vec::<String>::new());
    let upgrade = ["capstan", "upgrade", "apply", "--infrastructure", "mine:v1.1"];
    assert_eq!(candidates(&world, &upgrade), ["mine:v1.10.0"]);
    assert_eq!(candidates(&world, &["capstan", "upgrade", "apply", "--contract", ""]), ["v1beta2"]);
}

#[test]
fn contexts_are_completed_from_the_kubeconfig() {
    let world = world();
    world.write(
        "kubeconfig",
        "contexts:\n- name: prod\n  context: {cluster: c}\n- name: staging\n  context: {cluster: c}\n",
    );
    let words = ["capstan", "generate", "cluster", "--kubeconfig", "kubeconfig", "--kubeconfig-context", "p"];
    assert_eq!(candidates(&world, &words), ["prod"]);
    for verb in ["init", "upgrade apply", "upgrade rollback", "plan delete", "delete", "status"] {
        let words = ["capstan"].into_iter().chain(verb.split(' '));
        let flags = ["--kubeconfig", "kubeconfig", "--kubeconfig-context", "s"];
        let words: Vec<&str> = words.chain(flags).collect();
        assert_eq!(candidates(&world, &words), ["staging"], "{verb}");
    }
}

#[test]
fn provider_types_are_completed() {
    let types = candidates(&world(), &["capstan", "provider", "add", "x", "--type", "i"]);
    assert_eq!(types, ["infrastructure", "ipam"]);
}

// Row: D-320
#[test]
fn output_formats_are_completed() {
    let formats = |words: &[&str]| candidates(&world(), words);
    assert_eq!(formats(&["capstan", "status", "-o", ""]), ["text", "json", "yaml"]);
    assert_eq!(formats(&["capstan", "version", "-o", ""]), ["short", "json", "yaml"]);
    assert_eq!(formats(&["capstan", "upgrade", "plan", "--output=j"]), ["--output=json"]);
}

#[cfg(unix)]
#[test]
fn namespaces_and_clusters_are_completed_from_the_management_cluster() {
    let lab = crate::testing::Lab::start(&[]);
    let sandbox = ["capstan", "describe", "cluster", "--sandbox", "lab", "-n"];
    let namespaces = candidates(lab.world(), &[&sandbox[..], &["kube-"]].concat());
    assert!(namespaces.contains(&"kube-system".to_owned()), "{namespaces:?}");
}

// Row: D-320
#[test]
fn flags_are_completed_after_a_dash_or_without_arguments() {
    let world = world();
    let verbs = candidates(&world, &["capstan", "upgrade", ""]);
    assert!(
        verbs.contains(&"apply".to_owned()) && !verbs.iter().any(|word| word.starts_with('-')),
        "{verbs:?}"
    );
    let flags = candidates(&world, &["capstan", "upgrade", "apply", "--contra"]);
    assert_eq!(flags, ["--contract"]);
    assert!(candidates(&world, &["capstan", "status", ""]).contains(&"--output".to_owned()));
}

/// Returns the candidates of the bash script, with words as bash splits them.
#[cfg(unix)]
fn in_bash(world: &support::binary::TestEnvironment, words: &[&str]) -> Option<Vec<String>> {
    use std::process::Command;
    let bash = program("bash")?;
    world.write("script", world.run(["completion", "bash"]).stdout);
    let binary = world.command([""; 0]).get_program().to_owned();
    std::os::unix::fs::symlink(binary, world.bin().join("capstan")).unwrap();
    let line = words.concat();
    let array: String =
        words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let last = if line.ends_with(' ') { " ''" } else { "" };
    let ask = format!(
        r#"COMP_WORDBREAKS=' =:'; source ./script; COMP_WORDS=({array}{last}); COMP_LINE='{line}'
        COMP_POINT=${{#COMP_LINE}}; COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _clap_complete_capstan
        printf '%s\n' "${{COMPREPLY[@]}}""#
    );
    let mut shell = Command::new(bash);
    shell.args(["--norc", "-c", &ask]).current_dir(world.current_dir()).env_clear();
    shell.env("HOME", world.home()).env("PATH", world.bin());
    let output = shell.output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[cfg(unix)]
#[test]
fn bash_completes_after_a_colon_and_an_equals_sign() {
    for (words, expected) in [
        (&["capstan", " ", "init", " ", "-i", " ", "mine", ":"][..], &["v1.10.0", "v1.2.0"][..]),
        (&["capstan", " ", "init", " ", "-i", " ", "mine", ":", "v1.2"], &["v1.2.0"]),
        (&["capstan", " ", "init", " ", "--infrastructure", "=", "mine", ":", "v1.1"], &["v1.10.0"]),
        (&["capstan", " ", "init", " ", "--infrastructure", "=", "min"], &["mine"]),
        (&["capstan", " ", "config", " "], &["repositories"]),
    ] {
        let world = world();
        let folder = world.current_dir().join("repository/infrastructure-mine");
        for version in ["v1.2.0", "v1.10.0"] {
            world.write(folder.join(version).join("metadata.yaml"), "");
        }
        let url = folder.join("v1.10.0/infrastructure-components.yaml");
        world.configure(format!(
            "providers:\n- name: mine\n  type: InfrastructureProvider\n  url: {}\n",
            url.display()
        ));
        let Some(replies) = in_bash(&world, words) else { return };
        assert_eq!(replies, expected, "{words:?}");
    }
}
