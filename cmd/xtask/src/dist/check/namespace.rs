use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::run;
use crate::{print::print_line, workspace};

/// The packages of the empty root besides those of every system.
const PACKAGES: &str = "bash-completion,ca-certificates,less,man-db,rpm";
const SOURCES: [&str; 2] = ["/etc/apt/sources.list", "/etc/apt/sources.list.d"];

/// Makes a root with the packages of every Debian system. The packages are downloaded once.
pub(super) fn empty_root() -> Result<TempDir> {
    let archive = workspace::target().join("empty-root.tar");
    if !archive.is_file() {
        print_line("dist: downloading the packages of an empty root");
        download_root(&archive)?;
    }
    let root = tempfile::Builder::new().prefix("root-").tempdir().context("cannot make a folder")?;
    let mut command = Command::new("tar");
    command.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(root.path());
    run(command.args(["--same-permissions", "--numeric-owner"]), "tar")?;
    Ok(root)
}

/// Downloads the packages with the sources of this machine, and unpacks them.
fn download_root(archive: &Path) -> Result<()> {
    let incomplete = archive.with_extension("incomplete.tar");
    let mut command = Command::new("mmdebstrap");
    // Pages of the manual are a part of the check.
    command.args(["--quiet", "--variant=minbase", "--dpkgopt=path-include=/usr/share/man/*"]);
    command.arg(format!("--include={PACKAGES}")).arg("").arg(&incomplete).args(package_sources()?);
    run(&mut command, "mmdebstrap")?;
    fs::rename(&incomplete, archive).with_context(|| format!("cannot write `{}`", archive.display()))
}

/// The files that name the hosts of packages on this machine.
fn package_sources() -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for source in SOURCES.map(PathBuf::from) {
        if source.is_dir() {
            for entry in
                fs::read_dir(&source).with_context(|| format!("cannot list `{}`", source.display()))?
            {
                sources.push(entry?.path());
            }
        } else if source.is_file() {
            sources.push(source);
        }
    }
    sources.retain(|path| path.extension().is_some_and(|it| it == "list" || it == "sources"));
    if sources.is_empty() {
        bail!("this machine has no package sources; an empty root needs those of Debian or Ubuntu");
    }
    sources.sort();
    Ok(sources)
}

/// Runs a program in a folder as root, with a network of its own that has only the loopback interface. Returns the output.
pub(super) fn run_isolated(
    root: &Path,
    is_read_only: bool,
    options: &[&str],
    command: &[&str],
) -> Result<String> {
    // The arguments of the script are the root, the options and the command.
    let read_only = if is_read_only {
        "mount --bind \"$root\" \"$root\" && mount -o remount,bind,ro \"$root\" && "
    } else {
        "mount -t proc proc \"$root/proc\" && "
    };
    let script = format!(
        "root=$1; shift; ip link set lo up && {read_only}exec chroot {} \"$root\" \"$@\"",
        options.join(" ")
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", &script, "sh"]);
    unshare.arg(root).args(command);
    unshare
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("TERM", "dumb")
        .env("LC_ALL", "C.UTF-8");
    if !is_read_only {
        unshare.env("HOME", "/root");
    }
    run(&mut unshare, "util-linux iproute2")
}
