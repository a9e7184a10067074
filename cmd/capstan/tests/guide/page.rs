//! Runs a Markdown page as a shell session.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use support::skip::program_folders;
use tempfile::TempDir;

/// Ends the output of one command. The exit status follows.
const END: char = '\u{1e}';

/// A fenced block of a page.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    /// The words after the opening fence, such as `console,fails`.
    pub(crate) language: &'a str,
    /// The first line after the opening fence, counted from zero.
    pub(crate) first_line: usize,
    /// The lines between the fences.
    pub(crate) lines: Vec<&'a str>,
}

/// Returns the fenced blocks of a page in order.
pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            blocks.push(Block { language, first_line: number + 1, lines: inside.collect() });
        }
    }
    blocks
}

/// One command of a console block, with its prompt and its continuation lines.
#[derive(Debug)]
struct Typed {
    lines: String,
    fails: bool,
}

impl Typed {
    /// Returns the commands of a block. The line after a final `\` or `|` continues the command.
    fn of(block: &Block<'_>) -> Vec<Self> {
        let mut typed: Vec<Self> = Vec::new();
        let mut continues = false;
        for line in &block.lines {
            if line.starts_with("$ ") {
                typed.push(Self { lines: format!("{line}\n"), fails: block.language == "console,fails" });
            } else if let (true, Some(command)) = (continues, typed.last_mut()) {
                command.lines = format!("{}{line}\n", command.lines);
            } else {
                continue;
            }
            continues = line.ends_with(['\\', '|']);
        }
        typed
    }

    fn script(&self) -> &str {
        self.lines.trim_start_matches("$ ")
    }
}

/// True for a block whose commands run.
fn runs(block: &Block<'_>) -> bool {
    matches!(block.language, "console" | "console,fails")
}

/// A clone of the project and a separate home folder, with capstan on the `PATH`.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [machine.home(), machine.bin(), machine.clone_of_project()] {
            fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_capstan"), machine.bin().join("capstan")).unwrap();
        for folder in ["e2e/fixtures", "docs/examples"] {
            copy(&project(folder), &machine.clone_of_project().join(folder));
        }
        machine
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn clone_of_project(&self) -> PathBuf {
        self.folder.path().join("capstan")
    }

    /// Runs a bash script and returns both streams in one text.
    fn run(&self, script: &str) -> String {
        let path = self.folder.path().join("script");
        fs::write(&path, script).unwrap();
        let output = self.folder.path().join("output");
        let stdout = fs::File::create(&output).unwrap();
        let mut search = vec![self.bin()];
        search.extend(program_folders());
        Command::new("timeout")
            .args(["--kill-after=20", "300", "bash"])
            .arg(&path)
            .current_dir(self.clone_of_project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::join_paths(search).unwrap())
            .stdin(Stdio::null())
            .stderr(stdout.try_clone().unwrap())
            .stdout(stdout)
            .status()
            .unwrap();
        let output = fs::read(output).unwrap();
        let output = String::from_utf8_lossy(&output);
        output
            .replace(&self.clone_of_project().display().to_string(), "/srv/capstan")
            .replace(&self.home().display().to_string(), "/home/me")
    }
}

/// A page after its commands ran.
#[derive(Debug)]
pub(crate) struct Session {
    /// The page with the output of this run.
    pub(crate) page: String,
    /// Commands with an unexpected exit status.
    pub(crate) surprises: Vec<String>,
}

/// Runs the commands of a page in a shell.
///
/// A `yaml` block that starts with `# FILE.yaml` is the content of that file.
pub(crate) fn type_page(page: &str) -> Session {
    let machine = Machine::new();
    let blocks = blocks(page);
    for block in blocks.iter().filter(|block| block.language == "yaml") {
        let name = block.lines[0]
            .strip_prefix("# ")
            .filter(|name| Path::new(name).extension() == Some("yaml".as_ref()));
        if let Some(name) = name {
            let path = machine.clone_of_project().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, block.lines.join("\n") + "\n").unwrap();
        }
    }

    let mut script = "shopt -s expand_aliases\n".to_owned();
    script += "trap 'command capstan sandbox list | tail -n +2 |
        while read -r name _; do command capstan sandbox delete \"$name\"; done' EXIT\n";
    for block in blocks.iter().filter(|block| runs(block)) {
        for typed in Typed::of(block) {
            writeln!(script, "{{\n{}}} 2>&1\nprintf '{END}%s{END}' $?", typed.script()).unwrap();
        }
    }
    let output = machine.run(&script);
    let mut answers = output.split(END);

    let mut lines: Vec<String> = Vec::new();
    let mut surprises = Vec::new();
    let mut rest = page.lines().enumerate();
    let mut blocks = blocks.iter().filter(|block| runs(block)).peekable();
    while let Some((number, line)) = rest.next() {
        let Some(block) = blocks.next_if(|block| block.first_line == number) else {
            lines.push(line.to_owned());
            continue;
        };
        for typed in Typed::of(block) {
            let answer = answers.next().unwrap_or_default();
            let status = answers.next().unwrap_or("none, the page took too long");
            lines.extend(typed.lines.lines().map(str::to_owned));
            lines.extend(answer.trim_end().lines().map(|line| line.trim_end().to_owned()));
            if (status != "0") != typed.fails {
                surprises.push(format!("exit status {status}\n{}{answer}", typed.lines));
            }
        }
        for _ in 1..block.lines.len() {
            rest.next();
        }
    }
    Session { page: lines.join("\n") + "\n", surprises }
}

/// Returns a path from the project root.
pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
