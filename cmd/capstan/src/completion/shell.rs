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
