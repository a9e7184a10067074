use std::{
    ffi::OsStr,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::{print::print_line, workspace};

/// Build the real Kubernetes API server that tests compare the sandbox with, and kubectl, from `e2e/apiserver`.
#[derive(clap::Args)]
pub(crate) struct ApiServer {
    /// Build the programs even if they are up to date.
    #[arg(long)]
    force: bool,
}

/// A Go program of the module.
struct Program {
    name: &'static str,
    package: &'static str,
    /// True if the program depends on files of the module other than `go.mod` and `go.sum`.
    has_own_sources: bool,
}

const PROGRAMS: [Program; 2] = [
    Program { name: "apiserver", package: ".", has_own_sources: true },
    Program { name: "kubectl", package: "k8s.io/kubernetes/cmd/kubectl", has_own_sources: false },
];

/// Builds each program into `target/apiserver` if its sources have changed. The first build takes some minutes.
pub(crate) fn run(args: &ApiServer) -> Result<bool> {
    let sources = workspace::root().join("e2e/apiserver");
    let folder = workspace::target().join("apiserver");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    for program in &PROGRAMS {
        let binary = folder.join(format!("{}{}", program.name, std::env::consts::EXE_SUFFIX));
        let stamp = folder.join(format!("{}.built-from", program.name));
        let built_from = fingerprint(&sources, program)?;
        let is_fresh = fs::read_to_string(&stamp).is_ok_and(|text| text == built_from) && binary.is_file();
        if is_fresh && !args.force {
            print_line(&format!("apiserver: `{}` is up to date", binary.display()));
            continue;
        }
        build(program, &sources, &binary)?;
        fs::write(&stamp, built_from).with_context(|| format!("cannot write `{}`", stamp.display()))?;
        print_line(&format!("apiserver: built `{}`", binary.display()));
    }
    Ok(true)
}

fn build(program: &Program, sources: &Path, binary: &Path) -> Result<()> {
    let status = Command::new("go")
        .args(["build", "-trimpath", "-buildvcs=false", "-ldflags", &linker_flags(sources)?, "-o"])
        .arg(binary)
        .arg(program.package)
        .current_dir(sources)
        // A C compiler would only slow it down and tie the binary to this machine's libc.
        .env("CGO_ENABLED", "0")
        .status()
        .context("cannot run `go`; the real API server is a Go program, so building it needs Go 1.26")?;
    if !status.success() {
        bail!("`go build {}` in `{}` failed", program.package, sources.display());
    }
    Ok(())
}

/// A hash of the files that the program is built from.
fn fingerprint(sources: &Path, program: &Program) -> Result<String> {
    let mut files: Vec<_> = fs::read_dir(sources)
        .with_context(|| format!("cannot list `{}`", sources.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            is_module_file(path) || program.has_own_sources && path.extension() == Some("go".as_ref())
        })
        .collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    for path in files {
        let content = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        (path.file_name(), content).hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

fn is_module_file(path: &Path) -> bool {
    [OsStr::new("go.mod"), OsStr::new("go.sum")].iter().any(|name| path.file_name() == Some(name))
}

/// The linker flags that set the version; without them both programs report 0.0.0.
fn linker_flags(sources: &Path) -> Result<String> {
    let path = sources.join("go.mod");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let (version, major, minor) = kubernetes_version(&text)
        .with_context(|| format!("`{}` requires no release of k8s.io/kubernetes", path.display()))?;
    let variable = |name, value| format!("-X k8s.io/component-base/version.{name}={value}");
    Ok([
        "-s -w".to_owned(),
        variable("gitVersion", version),
        variable("gitMajor", major),
        variable("gitMinor", minor),
        variable("gitTreeState", "clean"),
    ]
    .join(" "))
}

/// The version required by `go.mod`, with its major and minor number.
fn kubernetes_version(go_mod: &str) -> Option<(&str, &str, &str)> {
    let version = go_mod.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "))?.trim();
    let mut numbers = version.strip_prefix('v')?.split('.');
    Some((version, numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_clients_see_is_the_one_that_is_linked() {
        let go_mod = "require (\n\tk8s.io/apiserver v0.36.3\n\tk8s.io/kubernetes v1.36.3\n)\n";
        assert_eq!(kubernetes_version(go_mod), Some(("v1.36.3", "1", "36")));
    }

    #[test]
    fn our_own_module_names_a_release() {
        let flags = linker_flags(&workspace::root().join("e2e/apiserver")).unwrap();
        assert!(flags.contains("version.gitMajor=1 "), "{flags}");
    }
}
