use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use super::{elf, functions, link, source::FALLBACK_TIME, target::Target};
use crate::{print::print_line, workspace};

/// The source of the library that makes macros deterministic.
const FIXED_RANDOM: &str = include_str!("fixed_random.c");
/// The separator of `CARGO_ENCODED_RUSTFLAGS`.
const FLAG_SEPARATOR: &str = "\u{1f}";

/// Returns the target of this machine.
pub(super) fn host() -> Result<Target> {
    Target::of_host(&rustc(&["-vV"])?)
}

/// Builds the binary of a release from the sources in `root`, and returns its path.
///
/// # Errors
/// Fails if the toolchain cannot build for this target, or if the build fails.
pub(super) fn build(root: &Path, build_folder: &Path, target: &Target, profile: &str) -> Result<PathBuf> {
    run_cargo(root, build_folder, target, profile, false)
}

/// Builds the binary with its symbols, and without the list of functions, which may be out of date.
pub(super) fn build_with_symbols(
    root: &Path,
    build_folder: &Path,
    target: &Target,
    profile: &str,
) -> Result<PathBuf> {
    run_cargo(root, build_folder, target, profile, true)
}

fn run_cargo(
    root: &Path,
    build_folder: &Path,
    target: &Target,
    profile: &str,
    keeps_symbols: bool,
) -> Result<PathBuf> {
    require_standard_library(target)?;
    let mut cargo = Command::new("cargo");
    cargo
        .args(["rustc", "--locked", "--package=capstan", "--bin=capstan", "--profile", profile])
        .args(["--target", target.triple()])
        .arg("--target-dir")
        .arg(build_folder);
    if host()?.is_linux() {
        cargo.arg("--config").arg(format!("env.LD_PRELOAD='{}'", fixed_random(build_folder)?.display()));
    }
    cargo.arg("--");
    if keeps_symbols {
        cargo.arg("-Cstrip=none");
    }
    if let Some(folder) = folder_of_lld(target)? {
        let variable = format!("CARGO_TARGET_{}_LINKER", target.triple().to_uppercase().replace('-', "_"));
        let linker = workspace::variable(&variable).unwrap_or_else(|| link::DEFAULT_LINKER.into());
        let list = root.join(functions::LIST);
        if !keeps_symbols {
            // Cargo does not know the list, and links again if this argument differs.
            let digest = transport::Digest::of(&read(&list)?);
            cargo.arg(format!("-Clink-arg={}{digest}", link::MARK));
        }
        cargo
            .env(variable, env::current_exe().context("cannot find this program")?)
            .env(link::LINKER, linker)
            .env(link::LLD_FOLDER, folder)
            .env(link::LIST, list);
    }
    cargo
        .env("CARGO_ENCODED_RUSTFLAGS", flags(root, target).join(FLAG_SEPARATOR))
        // The C code of a library contains the time of its compilation.
        .env("SOURCE_DATE_EPOCH", FALLBACK_TIME.to_string())
        // Incremental compilation makes larger binaries.
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root);
    if !cargo.status().context("cannot start `cargo`")?.success() {
        bail!("cannot build capstan for `{}`", target.triple());
    }
    let profile_folder = if profile == "dev" { "debug" } else { profile };
    Ok(build_folder.join(target.triple()).join(profile_folder).join(target.program("capstan")))
}

/// Returns the folder of the linker of the toolchain, for a target whose functions it can put together.
fn folder_of_lld(target: &Target) -> Result<Option<PathBuf>> {
    let sysroot = PathBuf::from(rustc(&["--print", "sysroot"])?.trim());
    let folder = sysroot.join("lib/rustlib").join(host()?.triple()).join("bin/gcc-ld");
    Ok(Some(folder).filter(|folder| target.is_linux() && folder.is_dir()))
}

/// Compiles the library that replaces random numbers, and returns its path.
fn fixed_random(build_folder: &Path) -> Result<PathBuf> {
    let (source, library) = (build_folder.join("fixed_random.c"), build_folder.join("fixed_random.so"));
    fs::create_dir_all(build_folder)
        .and_then(|()| fs::write(&source, FIXED_RANDOM))
        .with_context(|| format!("cannot write `{}`", source.display()))?;
    let mut compiler = Command::new(link::DEFAULT_LINKER);
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    if !compiler.status().context("cannot start the C compiler")?.success() {
        bail!("cannot compile `{}`", source.display());
    }
    Ok(library)
}

/// Builds the binary from two copies of the committed sources in different folders. Returns false if they differ; they are
/// then kept in `folder`.
pub(super) fn is_reproducible(folder: &Path, target: &Target, profile: &str) -> Result<bool> {
    let mut binaries = Vec::new();
    for name in ["one", "a-longer-name"] {
        let work = tempfile::Builder::new().prefix(name).tempdir().context("cannot make a folder")?;
        let (sources, build_folder) = (work.path().join("sources"), work.path().join("build"));
        copy_commit(&sources)?;
        let binary = read(&build(&sources, &build_folder, target, profile)?)?;
        print_line(&format!("dist: {}  build in `{}`", transport::Digest::of(&binary), sources.display()));
        binaries.push((folder.join(name), binary));
    }
    let is_equal = binaries[0].1 == binaries[1].1;
    if !is_equal {
        for (path, binary) in binaries {
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, binary))
                .with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        print_line(&format!("dist: the binaries are in `{}`", folder.display()));
    }
    Ok(is_equal)
}

fn copy_commit(folder: &Path) -> Result<()> {
    let arguments = ["clone", "--quiet", "--no-hardlinks"];
    let status = Command::new("git").args(arguments).arg(workspace::root()).arg(folder).status();
    if !status.context("cannot start `git`")?.success() {
        bail!("cannot copy the commit to `{}`", folder.display());
    }
    Ok(())
}

/// Reads a binary and checks that it runs on every machine of the target.
///
/// # Errors
/// Fails for another architecture, and for a Linux binary that needs shared libraries.
pub(super) fn read_binary(path: &Path, target: &Target) -> Result<Vec<u8>> {
    let binary = read(path)?;
    if target.is_linux() {
        elf::check(&binary, target.architecture)
            .with_context(|| format!("cannot use the binary `{}`", path.display()))?;
    }
    Ok(binary)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// Returns the flags of rustc. A release for Linux is linked statically, at a fixed address (ADR 0026). The paths of this
/// machine are replaced.
fn flags(root: &Path, target: &Target) -> Vec<String> {
    let mut flags = Vec::new();
    if target.is_linux() {
        flags.extend(["-Ctarget-feature=+crt-static", "-Crelocation-model=static"].map(str::to_owned));
        // Symbols of this form have the type arguments of a function, which the list of functions needs.
        flags.push("-Csymbol-mangling-version=v0".to_owned());
    }
    if let Some(cargo) = cargo_home() {
        flags.push(format!("--remap-path-prefix={}=/cargo", cargo.display()));
    }
    flags.push(format!("--remap-path-prefix={}=/capstan", root.display()));
    flags
}

fn cargo_home() -> Option<PathBuf> {
    let home = |name: &str| workspace::variable(name).map(PathBuf::from);
    home("CARGO_HOME").or_else(|| Some(home("HOME").or_else(|| home("USERPROFILE"))?.join(".cargo")))
}

/// Checks that the toolchain has the standard library of a target.
fn require_standard_library(target: &Target) -> Result<()> {
    let triple = target.triple();
    let folder = rustc(&["--print", "target-libdir", "--target", triple])
        .with_context(|| format!("cannot build for `{triple}`"))?;
    if !Path::new(folder.trim()).is_dir() {
        bail!(
            "cannot build for `{triple}`: the toolchain lacks its standard library; run `rustup target add {triple}`"
        );
    }
    Ok(())
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let program = workspace::variable("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(program).args(arguments).output().context("cannot start `rustc`")?;
    if !output.status.success() {
        bail!("rustc: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_a_standard_library_names_the_command_that_adds_it() {
        let host = host().unwrap();
        require_standard_library(&host).unwrap();
        let missing = Target::parse("aarch64-pc-windows-gnullvm").unwrap();
        let error = require_standard_library(&missing).unwrap_err().to_string();
        assert!(error.ends_with("run `rustup target add aarch64-pc-windows-gnullvm`"), "{error}");
    }

    #[test]
    fn no_path_of_this_machine_stays_in_the_binary() {
        let target = Target::parse("x86_64-unknown-linux-gnu").unwrap();
        let flags = flags(Path::new("/somewhere/sources"), &target).join(" ");
        assert!(flags.contains("--remap-path-prefix=/somewhere/sources=/capstan"), "{flags}");
        assert!(flags.starts_with("-Ctarget-feature=+crt-static -Crelocation-model=static "), "{flags}");
    }
}
