use anyhow::{Context as _, Result, bail};

/// A platform of a release, from a target triple of rustc.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    /// The triple, such as `x86_64-unknown-linux-musl`.
    triple: String,
    /// The operating system in the words of Go and OCI: `linux`, `darwin` or `windows`.
    pub(super) os: &'static str,
    pub(super) architecture: Architecture,
}

/// A processor architecture, with its name in each format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Architecture {
    /// The name in target triples and in rpm packages.
    pub(super) rust: &'static str,
    /// The name in Go, OCI images and deb packages.
    pub(super) go: &'static str,
    /// The number of the architecture in an ELF file.
    pub(super) elf_machine: u16,
}

const ARCHITECTURES: [Architecture; 2] = [
    Architecture { rust: "x86_64", go: "amd64", elf_machine: 62 },
    Architecture { rust: "aarch64", go: "arm64", elf_machine: 183 },
];

impl Target {
    /// Parses a triple.
    ///
    /// # Errors
    /// Fails for a platform without releases.
    pub(super) fn parse(triple: &str) -> Result<Self> {
        let architecture = ARCHITECTURES.into_iter().find(|it| triple.starts_with(&format!("{}-", it.rust)));
        let os = [("-linux-", "linux"), ("-apple-darwin", "darwin"), ("-windows-", "windows")];
        let os = os.into_iter().find(|(part, _)| triple.contains(part)).map(|(_, os)| os);
        match (os, architecture) {
            (Some(os), Some(architecture)) => Ok(Self { triple: triple.to_owned(), os, architecture }),
            _ => bail!(
                "cannot make a release for `{triple}`: use Linux, macOS or Windows on x86_64 or aarch64"
            ),
        }
    }

    /// Returns the target of this machine, from the output of `rustc -vV`.
    pub(super) fn of_host(version: &str) -> Result<Self> {
        Self::parse(
            version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?,
        )
    }

    pub(super) fn triple(&self) -> &str {
        &self.triple
    }

    pub(super) fn is_linux(&self) -> bool {
        self.os == "linux"
    }

    /// True if the C library is glibc, which releases link statically.
    pub(super) fn is_glibc(&self) -> bool {
        self.triple.ends_with("-linux-gnu")
    }

    pub(super) fn is_musl(&self) -> bool {
        self.triple.contains("-linux-musl")
    }

    /// Returns the file name of a program on this platform.
    pub(super) fn program(&self, name: &str) -> String {
        if self.os == "windows" { format!("{name}.exe") } else { name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triple_gives_the_names_of_all_formats() {
        let musl = Target::parse("aarch64-unknown-linux-musl").unwrap();
        assert_eq!((musl.os, musl.architecture.go, musl.is_glibc()), ("linux", "arm64", false));
        let windows = Target::of_host("rustc 1.95.0\nhost: x86_64-pc-windows-msvc\n").unwrap();
        assert_eq!((windows.os, windows.program("capstan").as_str()), ("windows", "capstan.exe"));
        for unknown in ["", "riscv64gc-unknown-linux-gnu", "x86_64-unknown-freebsd", "x86_64"] {
            assert!(Target::parse(unknown).is_err(), "{unknown}");
        }
    }
}
