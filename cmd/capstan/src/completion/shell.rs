use std::ffi::OsString;

use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use crate::program::Program;

/// The variable with the shell name, which a completion script sets.
pub(crate) const COMPLETION_VARIABLE: &str = "CAPSTAN_COMPLETE";

/// The script for bash. The script of clap passes words as bash splits them, so `aws:` would have no candidates.
const BASH: &str = include_str!("bash.sh");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl Shell {
    pub(crate) const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::Powershell];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shell| shell.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        self.engine().name()
    }

    pub(super) fn engine(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Zsh => &Zsh,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
        }
    }
}

/// Returns the registration script of a shell. The script calls the program by name, as the user does.
pub(crate) fn script(shell: Shell, program: Program) -> std::io::Result<Vec<u8>> {
    if shell == Shell::Bash {
        let name = program.name().replace(' ', "-");
        let script = BASH.replace("VARIABLE", COMPLETION_VARIABLE).replace("PROGRAM", &name);
        return Ok(script.replace("NAME", &name.replace('-', "_")).into_bytes());
    }
    let mut script = Vec::new();
    // kubectl completes plugins in another way. The executable itself is completed like any other program.
    let name = program.name().replace(' ', "-");
    shell.engine().write_registration(COMPLETION_VARIABLE, &name, &name, &name, &mut script)?;
    Ok(script)
}

/// Returns true or false, with or without descriptions, if a completion script of clusterctl asks for candidates.
/// Source: clusterctl v1.14 (cobra 1.10), run.
pub(crate) fn requested_by_cobra(argv: &[OsString]) -> Option<bool> {
    match argv.get(1)?.to_str()? {
        "__complete" => Some(true),
        "__completeNoDesc" => Some(false),
        _ => None,
    }
}

/// Returns candidates in the form for a completion script of clusterctl. `lines` have candidates in the form for fish, which
/// differs only in the last line. Without candidates, the script completes files.
pub(crate) fn cobra_answer(lines: &str, with_descriptions: bool) -> String {
    let candidate =
        |line| if with_descriptions { line } else { str::split(line, '\t').next().unwrap_or(line) };
    let candidates: String = lines.lines().flat_map(|line| [candidate(line), "\n"]).collect();
    format!("{candidates}:{}\n", if candidates.is_empty() { 0 } else { 4 })
}
