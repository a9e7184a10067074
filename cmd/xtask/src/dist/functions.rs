//! The functions that usual commands execute, for the linker.
//!
//! valgrind runs a few commands and writes a file with the called functions for each process.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use super::link;
use crate::{print::print_line, workspace};

/// The list, relative to the root. Each line has the digest of the name of a function.
pub(super) const LIST: &str = "cmd/xtask/src/dist/functions.txt";

/// Short commands, the first of which touch the fewest pages. `{folder}` has copies of [`FOLDERS`].
const SHORT_COMMANDS: [&[&str]; 4] = [
    &["version"],
    &["chart", "template", "web", "{folder}/chart"],
    &["component", "render", "{folder}/component"],
    &["catalog", "compile", "c-green", "--local", "-d", "{folder}/catalog", "--cluster-file", CLUSTER],
];
const CLUSTER: &str = "{folder}/catalog/clusters/c-green.yml";
/// Commands that start many processes.
const TOURS: [&[&str]; 4] = [
    &["quickstart", "--components"],
    &["quickstart", "--remove"],
    &["quickstart"],
    &["quickstart", "--remove"],
];

/// The folders that the commands use, relative to the root. The chart calls the functions that most charts use.
const FOLDERS: [&str; 3] = ["cmd/xtask/src/dist/chart", "docs/examples/component", "docs/examples/catalog"];

/// The time of the controller, which is slow under valgrind.
const CONTROLLER_TIME: Duration = Duration::from_secs(30);

/// Runs the commands, and writes the list.
///
/// # Errors
/// Fails if valgrind is missing or a command fails.
pub(super) fn write_list(binary: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let run = TracedRun { binary, folder: folder.path() };
    for copied in FOLDERS {
        let copied = workspace::root().join(copied);
        workspace::copy_folder(&copied, &folder.path().join(copied.file_name().unwrap_or_default()))?;
    }
    run.commands(0, &SHORT_COMMANDS)?;
    run.controller(SHORT_COMMANDS.len())?;
    run.commands(SHORT_COMMANDS.len() + 1, &TOURS)?;
    let list = run.functions()?;
    let path = workspace::root().join(LIST);
    fs::write(&path, list.join("\n") + "\n").with_context(|| format!("cannot write `{}`", path.display()))?;
    print_line(&format!("dist: wrote {} functions to `{LIST}`", list.len()));
    Ok(())
}

/// Runs of a binary that write the functions that they call into a folder.
struct TracedRun<'a> {
    binary: &'a Path,
    folder: &'a Path,
}

impl TracedRun<'_> {
    /// Runs commands, the first of which has this index.
    fn commands(&self, first: usize, commands: &[&[&str]]) -> Result<()> {
        for (command, index) in commands.iter().zip(first..) {
            print_line(&format!("dist: {}", command.join(" ")));
            let status = self.command(index, command).status().context("cannot start `valgrind`")?;
            if !status.success() {
                bail!("`capstan {}` failed", command.join(" "));
            }
        }
        Ok(())
    }

    /// Returns a command of the binary under valgrind.
    fn command(&self, index: usize, arguments: &[&str]) -> Command {
        let folder = self.folder.display().to_string();
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--demangle=no", "--trace-children=yes"])
            .arg(format!("--callgrind-out-file={folder}/{index}.%p.calls"))
            .arg(self.binary)
            .args(arguments.iter().map(|argument| argument.replace("{folder}", &folder)));
        self.isolate(&mut command);
        command
    }

    /// Keeps the files of this user out of a run.
    fn isolate(&self, command: &mut Command) {
        command.env("HOME", self.folder).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "KUBECONFIG"] {
            command.env_remove(name);
        }
    }

    /// Runs the controller beside a sandbox, and ends it.
    fn controller(&self, index: usize) -> Result<()> {
        let sandbox = |arguments: &[&str]| -> Result<()> {
            let mut command = Command::new(self.binary);
            command.arg("sandbox").args(arguments);
            self.isolate(&mut command);
            if !command.status().context("cannot start capstan")?.success() {
                bail!("`capstan sandbox {}` failed", arguments.join(" "));
            }
            Ok(())
        };
        // A sandbox with a controller has the definition of Components.
        sandbox(&["start", "functions", "--with", "controller"])?;
        print_line("dist: controller");
        let arguments = [
            "controller",
            "--sandbox",
            "functions",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
        ];
        let mut controller = self.command(index, &arguments).spawn().context("cannot start `valgrind`")?;
        thread::sleep(CONTROLLER_TIME);
        if controller.try_wait()?.is_some() {
            bail!("the controller ended by itself");
        }
        Command::new("kill").arg(controller.id().to_string()).status().context("cannot start `kill`")?;
        controller.wait()?;
        sandbox(&["stop", "functions"])
    }

    /// Returns the digests of the called functions, by the first command that calls them; of those, the functions of most
    /// processes first.
    fn functions(&self) -> Result<Vec<String>> {
        let mut uses: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for entry in fs::read_dir(self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some((index, _)) = name.strip_suffix(".calls").and_then(|name| name.split_once('.')) else {
                continue;
            };
            let index = index.parse()?;
            for symbol in called(&String::from_utf8_lossy(&fs::read(&path)?)) {
                let (first, processes) = uses.entry(link::digest(symbol)).or_insert((index, 0));
                (*first, *processes) = ((*first).min(index), *processes + 1);
            }
        }
        let mut functions: Vec<_> = uses.into_iter().collect();
        functions.sort_by_key(|(_, (first, processes))| (*first, Reverse(*processes)));
        Ok(functions.into_iter().map(|(function, _)| function).collect())
    }
}

/// Returns the symbols in a file of callgrind, which names each in a line such as `cfn=(12) symbol'2`.
fn called(calls: &str) -> BTreeSet<&str> {
    calls
        .lines()
        .filter_map(|line| {
            let (_, name) =
                line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn="))?.split_once(") ")?;
            Some(name.split('\'').next().unwrap_or(name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn called_functions_are_read_from_the_file_of_callgrind() {
        let calls = "fl=(1) a.rs\nfn=(12) main\n3 4\ncfn=(13) _RNvC1a1b'2\ncalls=1 0\nfn=(12)\n";
        assert_eq!(called(calls), BTreeSet::from(["_RNvC1a1b", "main"]));
    }
}
