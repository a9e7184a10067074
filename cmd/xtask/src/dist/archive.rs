use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result, bail};
use transport::Digest;

use super::{
    file_tree::{FileTree, gzip},
    licences::licences,
    linked_crates::{certificate_crate, linked_crates},
    product::{BASH, CLUSTERCTL, FISH, LICENCES, MAN, POWERSHELL, PRODUCT, SBOM, ZSH},
    sbom::sbom,
    source::Source,
    target::Target,
};
use crate::{generate::man_pages, workspace};

/// The archive of a release for one target.
pub(super) struct Archive {
    pub(super) target: Target,
    /// The files below the top folder.
    pub(super) files: FileTree,
    /// The name of the archive.
    pub(super) name: String,
    pub(super) digest: Digest,
}

/// Returns the start of the name of each file of a release.
pub(super) fn stem(source: &Source) -> String {
    format!("{}-{}", PRODUCT.name, source.version)
}

/// The ending of archives.
const EXTENSION: &str = ".tar.gz";

impl Archive {
    /// Makes the archive of a binary. Returns it with its compressed bytes.
    pub(super) fn create(binary: &[u8], target: Target, source: &Source) -> Result<(Self, Vec<u8>)> {
        let files = files(binary, &target, source)?;
        let top = format!("{}-{}", stem(source), target.triple());
        let bytes = gzip(&files.to_tar(&format!("{top}/"), source.time)?)?;
        let name = format!("{top}{EXTENSION}");
        Ok((Self { target, files, name, digest: Digest::of(&bytes) }, bytes))
    }

    /// Reads an archive of this version. `None` if the name is that of another file.
    pub(super) fn read(name: &str, bytes: &[u8], source: &Source) -> Result<Option<Self>> {
        let triple =
            name.strip_prefix(&format!("{}-", stem(source))).and_then(|rest| rest.strip_suffix(EXTENSION));
        let Some(target) = triple.and_then(|triple| Target::parse(triple).ok()) else { return Ok(None) };
        let files =
            FileTree::read_tar_gz(bytes).with_context(|| format!("cannot read the archive `{name}`"))?;
        Ok(Some(Self { target, files, name: name.to_owned(), digest: Digest::of(bytes) }))
    }

    /// Returns the binary.
    ///
    /// # Errors
    /// Fails if the archive does not contain it.
    pub(super) fn binary(&self) -> Result<&Arc<[u8]>> {
        let path = format!("bin/{}", self.target.program(PRODUCT.name));
        self.files.content(&path).with_context(|| format!("the archive `{}` lacks `{path}`", self.name))
    }
}

/// The files of an archive: the binary, man pages, completions, licences, the bill of materials and the readme.
fn files(binary: &[u8], target: &Target, source: &Source) -> Result<FileTree> {
    let mut files = FileTree::default();
    files.add_program(format!("bin/{}", target.program(PRODUCT.name)), binary);
    if target.os != "windows" {
        files.add_link("bin/kubectl-capi", PRODUCT.name);
    }
    add_documents(&mut files)?;
    let mut crates = linked_crates(target)?;
    files.add_text(SBOM, sbom(&crates, binary, target, source));
    crates.push(certificate_crate(target)?);
    files.add_text(LICENCES, licences(&crates, target)?);
    for name in ["README.md", "CHANGELOG.md", "LICENSE"] {
        let path = workspace::root().join(name);
        files.add(name, fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?);
    }
    Ok(files)
}

/// Adds man pages and completions. They depend on the code and not on the target.
pub(super) fn add_documents(files: &mut FileTree) -> Result<()> {
    for (name, page) in man_pages()? {
        files.add_text(format!("{MAN}{name}"), page);
    }
    files.add(format!("{BASH}capstan"), completion("capstan", "bash")?);
    files.add(format!("{ZSH}_capstan"), completion("capstan", "zsh")?);
    files.add(format!("{FISH}capstan.fish"), completion("capstan", "fish")?);
    files.add(format!("{POWERSHELL}capstan.ps1"), completion("capstan", "powershell")?);
    files.add(format!("{CLUSTERCTL}clusterctl.bash"), completion("clusterctl", "bash")?);
    files.add(format!("{CLUSTERCTL}_clusterctl"), completion("clusterctl", "zsh")?);
    files.add(format!("{CLUSTERCTL}clusterctl.fish"), completion("clusterctl", "fish")?);
    Ok(())
}

fn completion(program: &str, shell: &str) -> Result<Vec<u8>> {
    run_capstan(&[program, "completion", shell])
}

/// Runs a command of capstan in this process, without an environment, and returns its output.
pub(super) fn run_capstan(command: &[&str]) -> Result<Vec<u8>> {
    let (stdout, stderr) = (Output::default(), Output::default());
    let streams = capstan::Streams {
        stdin: Box::new(io::empty()),
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
        stdin_is_terminal: false,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
    };
    let environment = capstan::Environment::new::<&str, &str>([], workspace::root());
    let status = capstan::run(command.iter().map(OsString::from), environment, streams);
    if status != std::process::ExitCode::SUCCESS {
        bail!("`{}` failed: {}", command.join(" "), String::from_utf8_lossy(&stderr.bytes()).trim());
    }
    Ok(stdout.bytes())
}

/// A stream that keeps its bytes.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
