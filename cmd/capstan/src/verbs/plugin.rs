use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Environment, Failure, cli, program::Program, session::Session};

/// Runs a plugin: an executable on the PATH named after the first words of the command line.
/// Source: clusterctl v1.14, run.
pub(crate) fn run(words: &[OsString], session: &mut Session) -> Result<(), Failure> {
    let program = session.program();
    let prefixes = match program {
        Program::Capstan | Program::KubectlPlugin => ["capstan", "clusterctl"],
        Program::Clusterctl => ["clusterctl", "capstan"],
    };
    let Some((path, rest)) = find(words, &prefixes, session.environment()) else {
        let word = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        return Err(cli::unknown_command(&(session.interpreter().tree)(program), &word));
    };
    session.messages().log(1, format!("running plugin {}", path.display()));
    hand_over(&path, rest)
}

/// The commands of clusterctl v1.14, which no plugin replaces.
const CLUSTERCTL_VERBS: [&str; 13] = [
    "alpha",
    "completion",
    "config",
    "convert",
    "delete",
    "describe",
    "generate",
    "get",
    "help",
    "init",
    "move",
    "upgrade",
    "version",
];

/// Returns the plugin of clusterctl that a command line names, and its arguments. Under the name of clusterctl, it has precedence
/// over commands that clusterctl does not have.
pub(crate) fn find_before_verbs<'a>(
    argv: &'a [OsString],
    environment: &Environment,
) -> Option<(PathBuf, &'a [OsString])> {
    let (first, words) = (argv.get(1)?, &argv[1..]);
    let is_verb = CLUSTERCTL_VERBS.iter().any(|verb| first == verb);
    if is_verb { None } else { find(words, &["clusterctl"], environment) }
}

/// Returns the executable that matches the most words, and its arguments.
/// Shape: the leading words before any flag are joined by `-`, and a `-` inside a word becomes `_`. Longer names come
/// first. At the same length, earlier prefixes have precedence.
fn find<'a>(
    words: &'a [OsString],
    prefixes: &[&str],
    environment: &Environment,
) -> Option<(PathBuf, &'a [OsString])> {
    let folders: Vec<PathBuf> = std::env::split_paths(environment.get("PATH")?).collect();
    let names: Vec<String> = words
        .iter()
        .map_while(|word| word.to_str().filter(|word| !word.starts_with('-')))
        .map(|word| word.replace('-', "_"))
        .collect();
    (1..=names.len()).rev().find_map(|count| {
        let joined = names[..count].join("-");
        // A word with a folder would leave the PATH.
        if joined.contains(['/', '\\']) {
            return None;
        }
        let executable = prefixes.iter().find_map(|prefix| {
            let name = format!("{prefix}-{joined}");
            folders.iter().find_map(|folder| executable_in(folder, &name, environment))
        })?;
        Some((executable, &words[count..]))
    })
}

/// Returns the first executable of a name on the PATH.
pub(super) fn find_program(name: &str, environment: &Environment) -> Option<PathBuf> {
    let mut folders = std::env::split_paths(environment.get("PATH")?);
    folders.find_map(|folder| executable_in(&environment.resolve(folder), name, environment))
}

#[cfg(unix)]
fn executable_in(folder: &Path, name: &str, _: &Environment) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    let found = std::fs::metadata(&path).ok()?;
    (found.is_file() && found.permissions().mode() & 0o111 != 0).then_some(path)
}

#[cfg(not(unix))]
fn executable_in(folder: &Path, name: &str, environment: &Environment) -> Option<PathBuf> {
    let extensions = environment.text("PATHEXT").unwrap_or(".COM;.EXE;.BAT;.CMD");
    extensions
        .split(';')
        .map(|extension| folder.join(format!("{name}{extension}")))
        .find(|path| path.is_file())
}

/// Replaces this process with the plugin, which then receives signals and sets the exit status.
#[cfg(unix)]
pub(crate) fn hand_over(path: &Path, arguments: &[OsString]) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt as _;
    let error = Command::new(path).args(arguments).exec();
    Err(cannot_run(path, &error))
}

#[cfg(not(unix))]
pub(crate) fn hand_over(path: &Path, arguments: &[OsString]) -> Result<(), Failure> {
    match Command::new(path).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::user(format!("plugin `{}` failed with {status}", path.display()))),
        Err(error) => Err(cannot_run(path, &error)),
    }
}

fn cannot_run(path: &Path, error: &std::io::Error) -> Failure {
    Failure::io("run plugin", path, error)
}
