use std::{ffi::OsString, io, path::Path, sync::Arc};

use api::{Contract, ProviderId, ProviderType};
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter};

use super::{Candidates, Shell};
use crate::cli::typed;

/// Answers a completion script: what may stand where the cursor is.
/// Shape: `words` is the command line as typed so far, the program's name first.
pub(crate) fn answer(
    shell: Shell,
    tree: Command,
    words: Vec<OsString>,
    current_dir: &Path,
    candidates: &Arc<dyn Candidates>,
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

fn with_candidates(command: Command, words: &Arc<[OsString]>, candidates: &Arc<dyn Candidates>) -> Command {
    command
        .mut_args(|arg| {
            let completer = completer(&arg, words, candidates);
            match completer {
                Some(completer) => arg.add(completer),
                None => arg,
            }
        })
        .mut_subcommands(|subcommand| with_candidates(subcommand, words, candidates))
}

/// Hides the flags: they are offered only where nothing else can stand.
fn without_flags(command: Command) -> Command {
    command
        .mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) })
        .mut_subcommands(without_flags)
}

/// A flag means the same in every verb, so its name tells what it takes; of arguments their id does.
fn completer(
    arg: &Arg,
    words: &Arc<[OsString]>,
    candidates: &Arc<dyn Candidates>,
) -> Option<ArgValueCompleter> {
    let candidates = Arc::clone(candidates);
    let Some(long) = arg.get_long() else { return argument(arg.get_id().as_str(), candidates) };
    if let Some(provider_type) = ProviderType::ALL.into_iter().find(|known| known.flag() == long) {
        let complete =
            move |typed: &std::ffi::OsStr| providers(&*candidates, provider_type, &typed.to_string_lossy());
        return Some(ArgValueCompleter::new(complete));
    }
    let words = Arc::clone(words);
    match long {
        "flavor" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), flavors(&*candidates, &words))
        })),
        "kubeconfig-context" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), candidates.contexts())
        })),
        "to-kubeconfig-context" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), candidates.target_contexts())
        })),
        "sandbox" | "to-sandbox" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), candidates.sandboxes())
        })),
        "namespace" | "target-namespace" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), candidates.namespaces())
        })),
        "output" => output_formats(arg),
        "contract" => Some(ArgValueCompleter::new(|current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), [Contract::CURRENT.to_owned()])
        })),
        "output-dir" | "to-directory" | "from-directory" => {
            Some(ArgValueCompleter::new(PathCompleter::dir()))
        }
        "config" | "kubeconfig" | "to-kubeconfig" | "from" | "write-to" | "plan" | "out" => {
            Some(ArgValueCompleter::new(PathCompleter::file()))
        }
        "type" => Some(ArgValueCompleter::new(|current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), ProviderType::ALL.map(|known| known.flag().to_owned()))
        })),
        _ => None,
    }
}

/// The formats of a result. Files and values that clap knows are completed without it.
fn output_formats(arg: &Arg) -> Option<ArgValueCompleter> {
    let is_format = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "FORMAT"));
    if !is_format || !arg.get_possible_values().is_empty() {
        return None;
    }
    let for_people = arg.get_default_values().first().and_then(|value| value.to_str()).unwrap_or_default();
    // `version` prints all fields unless a format is named.
    let for_people = if for_people.is_empty() { "short" } else { for_people };
    let formats = [for_people.to_owned(), "json".to_owned(), "yaml".to_owned()];
    Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
        starting_with(&current.to_string_lossy(), formats.clone())
    }))
}

fn argument(id: &str, candidates: Arc<dyn Candidates>) -> Option<ArgValueCompleter> {
    match id {
        "workload_cluster" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            starting_with(&current.to_string_lossy(), candidates.clusters())
        })),
        "rollouts" => Some(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
            rollouts(&*candidates, &current.to_string_lossy())
        })),
        _ => None,
    }
}

/// Types first; behind `type/` the names.
fn rollouts(candidates: &dyn Candidates, typed: &str) -> Vec<CompletionCandidate> {
    let names: Vec<String> = match typed.split_once('/') {
        Some((resource, _)) => {
            candidates.rollouts(resource).into_iter().map(|name| format!("{resource}/{name}")).collect()
        }
        None => ["kubeadmcontrolplane/", "machinedeployment/", "machinepool/"].map(str::to_owned).into(),
    };
    starting_with(typed, names)
}

/// Names first; behind `name:` the versions; a comma begins the next one.
fn providers(
    candidates: &dyn Candidates,
    provider_type: ProviderType,
    typed: &str,
) -> Vec<CompletionCandidate> {
    let (done, current) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let names = match current.split_once(':') {
        Some((name, _)) => candidates
            .versions(&ProviderId::new(provider_type, name))
            .into_iter()
            .map(|version| format!("{done}{name}:{version}"))
            .collect(),
        None => candidates
            .providers(provider_type)
            .into_iter()
            .map(|name| format!("{done}{name}"))
            .collect::<Vec<_>>(),
    };
    starting_with(typed, names)
}

/// The flavors of the infrastructure provider that has been typed.
fn flavors(candidates: &dyn Candidates, words: &[OsString]) -> Vec<String> {
    let Some(reference) = typed(words, ProviderType::Infrastructure.flag(), Some('i')) else {
        return Vec::new();
    };
    let (name, version) = match reference.split_once(':') {
        Some((name, version)) => (name, Some(version)),
        None => (reference, None),
    };
    candidates.flavors(&ProviderId::new(ProviderType::Infrastructure, name), version)
}

fn starting_with(typed: &str, names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    names.into_iter().filter(|name| name.starts_with(typed)).map(CompletionCandidate::new).collect()
}
