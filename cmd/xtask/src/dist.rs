//! `dist`: everything that a release consists of, in one folder.
//!
//! ```text
//! cargo build ─► binary ─┐
//! command tree ──────────┼─► archive of a target ─┐
//! cargo metadata ────────┘   (licences, SBOM)     ├─► packages, image, manifests of package managers
//!              archives of other machines ────────┘   ─► provenance, SHA256SUMS ─► target/distrib
//! ```
//!
//! Equal sources give equal bytes. Nothing is published.

mod archive;
mod build;
mod check;
mod deb;
mod elf;
mod file_tree;
mod functions;
mod image;
mod licences;
mod link;
mod linked_crates;
mod package_managers;
mod package_tree;
mod product;
mod provenance;
mod release;
mod rpm_package;
mod sbom;
mod source;
mod target;
#[cfg(test)]
mod tests;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

pub(crate) use self::link::link;
use self::{archive::Archive, file_tree::FileTree, source::Source, target::Target};
use crate::{print::print_line, workspace};

/// The folder of the results. `dist` is the folder of cargo for the profile of that name.
const FOLDER: &str = "distrib";

/// Make the files of a release in `target/distrib`: archives, packages, image, SBOM, provenance and checksums.
#[derive(clap::Args)]
pub(crate) struct Dist {
    /// The target triple. Default: the target of this machine.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Pack this binary instead of building one.
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    binary: Option<PathBuf>,
    /// The profile of cargo.
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,
    /// Build nothing, and complete the release of the archives in `target/distrib`.
    #[arg(long, conflicts_with_all = ["target", "binary", "profile"])]
    assemble: bool,
    /// Also check the result: install, use and remove the packages, and run the image, in empty roots. Needs root.
    #[arg(long)]
    check: bool,
    /// Only build the binary twice, in different folders, and fail if the two differ.
    #[arg(long, conflicts_with_all = ["binary", "assemble", "check"])]
    verify_reproducible: bool,
    /// Only list the functions that usual commands execute, which the linker puts together. Needs valgrind.
    #[arg(long, conflicts_with_all = ["binary", "assemble", "check", "verify_reproducible"])]
    list_functions: bool,
}

/// Makes the release. Returns false if a check failed.
pub(crate) fn run(args: &Dist) -> Result<bool> {
    if args.verify_reproducible {
        let folder = workspace::target().join("differing-builds");
        let is_reproducible = build::is_reproducible(&folder, &args.target()?, &args.profile)?;
        print_line(if is_reproducible { "dist: both builds are equal" } else { "dist: the builds differ" });
        return Ok(is_reproducible);
    }
    if args.list_functions {
        let (root, folder) = (workspace::root(), workspace::target());
        functions::write_list(&build::build_with_symbols(&root, &folder, &args.target()?, &args.profile)?)?;
        return Ok(true);
    }
    let (source, folder) = (Source::read()?, workspace::target().join(FOLDER));
    let mut files = FileTree::default();
    let archives = if args.assemble {
        read_archives(&folder, &source, &mut files)?
    } else {
        vec![args.archive(&source, &mut files)?]
    };
    let files = release::complete(files, &archives, &source)?;
    replace(&folder, &files)?;
    for (path, _) in files.entries() {
        let bytes = files.content(path).map_or(0, |content| content.len());
        print_line(&format!("{:>7} KB  {path}", bytes.div_ceil(1000)));
    }
    if source.commit.is_none() {
        print_line(
            "dist: this release names no commit, because files differ from the commit or Git is missing",
        );
    }
    print_line(&format!("dist: wrote {} files to `{}`", files.entries().count(), folder.display()));
    if args.check { Ok(check::check(&folder, &files, build::host()?)) } else { Ok(true) }
}

impl Dist {
    fn target(&self) -> Result<Target> {
        self.target.as_deref().map_or_else(build::host, Target::parse)
    }

    /// Builds the binary, unless one is given, and packs it.
    fn archive(&self, source: &Source, files: &mut FileTree) -> Result<Archive> {
        let target = self.target()?;
        let binary = match &self.binary {
            Some(binary) => binary.clone(),
            None => build::build(&workspace::root(), &workspace::target(), &target, &self.profile)?,
        };
        let binary = build::read_binary(&binary, &target)?;
        let (archive, bytes) = Archive::create(&binary, target, source)?;
        files.add(archive.name.clone(), bytes);
        Ok(archive)
    }
}

/// Reads the archives of this version.
fn read_archives(folder: &Path, source: &Source, files: &mut FileTree) -> Result<Vec<Archive>> {
    let mut archives = Vec::new();
    let failed = || format!("cannot list `{}`", folder.display());
    for entry in fs::read_dir(folder).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.is_file() || !name.ends_with(".tar.gz") {
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        if let Some(archive) = Archive::read(&name, &bytes, source)? {
            files.add(name, bytes);
            archives.push(archive);
        }
    }
    if archives.is_empty() {
        bail!("`{}` contains no archive of capstan {}", folder.display(), source.version);
    }
    archives.sort_by(|one, other| one.target.cmp(&other.target));
    Ok(archives)
}

/// Replaces the folder by a complete one. An interrupted run leaves the old folder.
fn replace(folder: &Path, files: &FileTree) -> Result<()> {
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    let made = tempfile::Builder::new().prefix(".dist-").tempdir_in(parent);
    let made = made.with_context(|| format!("cannot make a folder in `{}`", parent.display()))?;
    let (new, old) = (made.path().join("new"), made.path().join("old"));
    files.write_to(&new)?;
    if folder.exists() {
        fs::rename(folder, &old).with_context(|| format!("cannot replace `{}`", folder.display()))?;
    }
    fs::rename(&new, folder).with_context(|| format!("cannot write `{}`", folder.display()))
}
