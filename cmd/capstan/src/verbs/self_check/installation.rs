//! The program, its names, completion, and the programs that some commands run.

use std::{
    fs,
    path::{Path, PathBuf},
};

use api::output::{
    SelfCheckEntry,
    SelfCheckState::{Error, Note, Ok as Fine, Warning},
};

use super::{entry, entry_with_advice};
use crate::{
    Environment, completion::Shell, session::Session, settings::config_home, verbs::plugin::find_program,
};

/// The maximum size of a start file of a shell that is searched for the completion script.
const MAX_START_FILE_BYTES: u64 = 1 << 20;

pub(super) fn checks(session: &Session) -> Vec<SelfCheckEntry> {
    let environment = session.environment();
    let executable = std::env::current_exe().and_then(|path| path.canonicalize());
    let Ok(executable) = executable else {
        return vec![entry("program", Error, "the running program is not a file that still exists")];
    };
    let mut checks = vec![program(&executable, environment)];
    checks.push(alias("clusterctl", &executable, environment));
    checks.push(alias("kubectl-capi", &executable, environment));
    checks.push(completion(environment));
    checks.push(tool("kubectl", "`quickstart` suggests commands that use it", environment));
    checks.push(tool("git", "providers, charts and catalogs in Git repositories need it", environment));
    checks
}

/// Compares the running program with the first one on the PATH.
fn program(executable: &Path, environment: &Environment) -> SelfCheckEntry {
    let running = format!("{}, version {}", executable.display(), env!("CARGO_PKG_VERSION"));
    let folder = executable.parent().unwrap_or(executable).display();
    match find_program("capstan", environment) {
        None => entry_with_advice(
            "program",
            Warning,
            format!("{running}; `capstan` is not on the PATH"),
            format!("run `export PATH=\"{folder}:$PATH\"`, also in the start file of your shell"),
        ),
        Some(first) if is_same(&first, executable) => entry("program", Fine, running),
        Some(first) => entry_with_advice(
            "program",
            Warning,
            format!("{running}; `capstan` runs {}", first.display()),
            format!("remove {}, or put `{folder}` before it on the PATH", first.display()),
        ),
    }
}

/// Checks a further name of the program.
fn alias(name: &'static str, executable: &Path, environment: &Environment) -> SelfCheckEntry {
    let link =
        |folder: &Path| format!("run `ln -s {} {}`", executable.display(), folder.join(name).display());
    let own_folder = executable.parent().unwrap_or(executable);
    match find_program(name, environment) {
        None => entry_with_advice(
            name,
            Note,
            "not on the PATH",
            format!("to use this name, {}", link(own_folder)),
        ),
        Some(first) if is_same(&first, executable) => {
            entry(name, Fine, format!("{} runs this program", first.display()))
        }
        Some(first) => entry_with_advice(
            name,
            Note,
            format!("{} is another program", first.display()),
            format!("to replace it, put a folder with a link before it on the PATH: {}", link(own_folder)),
        ),
    }
}

fn is_same(path: &Path, executable: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == executable)
}

fn tool(name: &'static str, reason: &str, environment: &Environment) -> SelfCheckEntry {
    match find_program(name, environment) {
        Some(path) => entry(name, Fine, path.display().to_string()),
        None => entry(name, Note, format!("not on the PATH; {reason}")),
    }
}

/// Checks that completion is installed for the shell of the user.
fn completion(environment: &Environment) -> SelfCheckEntry {
    let shell = environment.text("SHELL").and_then(|path| Path::new(path).file_name()?.to_str());
    let Some(shell) = shell.and_then(Shell::parse) else {
        return entry(
            "completion",
            Note,
            "the shell is unknown, because `SHELL` names none of bash, zsh and fish",
        );
    };
    let name = shell.name();
    if let Some(file) = script_files(shell, environment).into_iter().find(|path| path.is_file()) {
        return entry("completion", Fine, format!("{name}: {}", file.display()));
    }
    let start = start_file(shell, environment);
    if let Some(file) = start.filter(|file| names_completion(file)) {
        return entry("completion", Fine, format!("{name}: {} runs `completion {name}`", file.display()));
    }
    entry_with_advice(
        "completion",
        Note,
        format!("not found for {name}"),
        format!("run `capstan completion --help` for the command that installs it in {name}"),
    )
}

/// The files from which a shell loads completions of a program.
fn script_files(shell: Shell, environment: &Environment) -> Vec<PathBuf> {
    let home = environment.home();
    let data = environment.text("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| home.map(|home| home.join(".local/share")));
    let shared =
        ["/usr/local/share", "/usr/share", "/opt/homebrew/share", "/home/linuxbrew/.linuxbrew/share"];
    let shared = || shared.iter().map(PathBuf::from);
    let below = |folder: PathBuf, path: &str| folder.join(path);
    match shell {
        Shell::Bash => {
            let folders = data.into_iter().chain(shared());
            folders.map(|folder| below(folder, "bash-completion/completions/capstan")).collect()
        }
        Shell::Zsh => shared()
            .flat_map(|folder| {
                ["zsh/site-functions/_capstan", "zsh/vendor-completions/_capstan"]
                    .map(|path| folder.join(path))
            })
            .collect(),
        Shell::Fish => {
            let own = config_home(environment).map(|folder| below(folder, "fish/completions/capstan.fish"));
            let vendor = shared().map(|folder| below(folder, "fish/vendor_completions.d/capstan.fish"));
            own.into_iter().chain(vendor).collect()
        }
        Shell::Powershell => Vec::new(),
    }
}

fn start_file(shell: Shell, environment: &Environment) -> Option<PathBuf> {
    let home = environment.home()?;
    match shell {
        Shell::Bash => Some(home.join(".bashrc")),
        Shell::Zsh => Some(home.join(".zshrc")),
        Shell::Fish => Some(config_home(environment)?.join("fish/config.fish")),
        Shell::Powershell => None,
    }
}

fn names_completion(file: &Path) -> bool {
    let is_small = fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() <= MAX_START_FILE_BYTES);
    is_small && fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains("capstan completion"))
}
