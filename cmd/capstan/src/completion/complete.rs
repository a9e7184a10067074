use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
    sync::Arc,
};

use api::{Contract, ProviderId, ProviderType};
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter};

use super::{Candidates, Shell};
use crate::cli::raw_flag_value;

/// Returns the candidates at the cursor, for a completion script.
/// Shape: `words` is the typed command line, starting with the program name.
pub(crate) fn complete(
    shell: Shell,
    tree: Command,
    words: Vec<OsString>,
    current_dir: &Path,
    candidates: &Arc<Candidates>,
) -> io::Result<Vec<u8>> {
    let words: Arc<[OsString]> = words.into();
    let is_flag = words.last().is_some_and(|word| word.to_string_lossy().starts_with('-'));
    let mut tree = with_candidates(tree, &words, candidates);
    if !is_flag {
        tree = without_flags(tree);
    }
    tree.build();
    let mut answer = Vec::new();
    shell.engine().write_complete(&mut tree, words.to_vec(), Some(current_dir), &mut answer)?;
    Ok(answer)
}

fn with_candidates(command: Command, words: &Arc<[OsString]>, candidates: &Arc<Candidates>) -> Command {
    command
        .mut_args(|arg| match completer(&arg, words, candidates) {
            Some(completer) => arg.add(completer),
            None => arg,
        })
        .mut_subcommands(|subcommand| with_candidates(subcommand, words, candidates))
}

/// Hides the flags, which are offered only if nothing else can follow.
fn without_flags(command: Command) -> Command {
    command
        .mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) })
        .mut_subcommands(without_flags)
}

/// Returns the completer of an argument. A flag name has the same meaning in every verb, so the name selects the
/// completer. The id selects the completer of other arguments.
fn completer(arg: &Arg, words: &Arc<[OsString]>, candidates: &Arc<Candidates>) -> Option<ArgValueCompleter> {
    let (words, candidates) = (Arc::clone(words), Arc::clone(candidates));
    let Some(long) = arg.get_long() else {
        return Some(match arg.get_id().as_str() {
            "workload_cluster" => completer_from(move |_| candidates.clusters()),
            "rollouts" => completer_from(move |typed| rollouts(&candidates, typed)),
            _ if is_named(arg, &["CHART", "DIR", "FILE", "FOLDER", "PATH"]) => {
                ArgValueCompleter::new(PathCompleter::any())
            }
            _ if is_named(arg, &["NAME"]) && words.iter().any(|word| word == "sandbox") => {
                completer_from(move |_| candidates.sandboxes())
            }
            _ => return None,
        });
    };
    if let Some(provider_type) = ProviderType::ALL.into_iter().find(|known| known.flag() == long) {
        return Some(completer_from(move |typed| providers(&candidates, provider_type, typed)));
    }
    Some(match long {
        "flavor" => completer_from(move |_| flavors(&candidates, &words)),
        "kubeconfig-context" => completer_from(move |_| candidates.contexts()),
        "to-kubeconfig-context" => completer_from(move |_| candidates.target_contexts()),
        "sandbox" | "to-sandbox" => completer_from(move |_| candidates.sandboxes()),
        "namespace" | "target-namespace" => completer_from(move |_| candidates.namespaces()),
        "output" => return output_formats(arg),
        "contract" => completer_from(|_| vec![Contract::CURRENT.to_owned()]),
        "output-dir" | "to-directory" | "from-directory" => ArgValueCompleter::new(PathCompleter::dir()),
        "config" | "kubeconfig" | "to-kubeconfig" | "from" | "write-to" | "plan" | "out" => {
            ArgValueCompleter::new(PathCompleter::file())
        }
        "type" => completer_from(|_| ProviderType::ALL.map(|known| known.flag().to_owned()).into()),
        _ => return None,
    })
}

/// True if the help shows the value of an argument by one of these names, as in `FILE|DIR`.
fn is_named(arg: &Arg, names: &[&str]) -> bool {
    let words = arg.get_value_names().into_iter().flatten();
    let mut words = words.flat_map(|shown| shown.split(|character: char| !character.is_ascii_uppercase()));
    words.any(|word| names.contains(&word))
}

/// Offers the names that start with the typed text. The names may depend on the text.
fn completer_from(names: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let names = names(&typed).into_iter().filter(|name| name.starts_with(&*typed));
        names.map(CompletionCandidate::new).collect::<Vec<_>>()
    })
}

/// Offers output formats. clap already completes files and known values.
fn output_formats(arg: &Arg) -> Option<ArgValueCompleter> {
    let is_format = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "FORMAT"));
    if !is_format || !arg.get_possible_values().is_empty() {
        return None;
    }
    let for_people = arg.get_default_values().first().and_then(|value| value.to_str()).unwrap_or_default();
    // `version` prints all fields without a format.
    let for_people = if for_people.is_empty() { "short" } else { for_people };
    let formats = [for_people, "json", "yaml"].map(str::to_owned).to_vec();
    Some(completer_from(move |_| formats.clone()))
}

/// Offers types first, and names after `type/`.
fn rollouts(candidates: &Candidates, typed: &str) -> Vec<String> {
    match typed.split_once('/') {
        Some((resource, _)) => {
            candidates.rollouts(resource).into_iter().map(|name| format!("{resource}/{name}")).collect()
        }
        None => ["kubeadmcontrolplane/", "machinedeployment/", "machinepool/"].map(str::to_owned).into(),
    }
}

/// Offers names first, and versions after `name:`. A comma starts the next provider.
fn providers(candidates: &Candidates, provider_type: ProviderType, typed: &str) -> Vec<String> {
    let (done, current) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    match current.split_once(':') {
        Some((name, _)) => {
            let versions = candidates.versions(&ProviderId::new(provider_type, name)).into_iter();
            versions.map(|version| format!("{done}{name}:{version}")).collect()
        }
        None => candidates.providers(provider_type).into_iter().map(|name| format!("{done}{name}")).collect(),
    }
}

/// Returns the flavors of the typed infrastructure provider.
fn flavors(candidates: &Candidates, words: &[OsString]) -> Vec<String> {
    let Some(reference) = raw_flag_value(words, ProviderType::Infrastructure.flag(), Some('i')) else {
        return Vec::new();
    };
    let (name, version) = match reference.split_once(':') {
        Some((name, version)) => (name, Some(version)),
        None => (reference, None),
    };
    candidates.flavors(&ProviderId::new(ProviderType::Infrastructure, name), version)
}
