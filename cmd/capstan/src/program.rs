use std::{ffi::OsStr, path::Path};

/// The program name of this run in help, usage, messages and completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// Run under its own name or an unknown name.
    #[default]
    Capstan,
    /// Run under the name of clusterctl.
    Clusterctl,
    /// Run by kubectl through a link named `kubectl-capi`.
    KubectlPlugin,
}

impl Program {
    /// Returns the program for the first argument, such as `/usr/bin/clusterctl` or `clusterctl.exe`.
    pub(crate) fn from_argument(argument: Option<&OsStr>) -> Self {
        let stem = argument.map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str);
        match stem {
            Some(stem) if stem.eq_ignore_ascii_case("clusterctl") => Self::Clusterctl,
            Some(stem) if stem.eq_ignore_ascii_case("kubectl-capi") => Self::KubectlPlugin,
            _ => Self::Capstan,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Capstan => "capstan",
            Self::Clusterctl => "clusterctl",
            Self::KubectlPlugin => "kubectl capi",
        }
    }
}

/// The function that builds the commands of a program with their flags.
pub(crate) type CommandTree = fn(Program) -> clap::Command;

pub(crate) fn operating_system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        "powerpc64" => "ppc64le",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_named_clusterctl_runs_as_clusterctl() {
        let named = |argument: &str| Program::from_argument(Some(OsStr::new(argument)));
        assert_eq!(named("/usr/local/bin/clusterctl"), Program::Clusterctl);
        assert_eq!(named("clusterctl.exe"), Program::Clusterctl);
        assert_eq!(named("/usr/local/bin/kubectl-capi"), Program::KubectlPlugin);
        assert_eq!(named("capstan"), Program::Capstan);
        assert_eq!(named("clusterctl-old"), Program::Capstan);
        assert_eq!(Program::from_argument(None), Program::Capstan);
    }
}
