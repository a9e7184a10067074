//! Checks of a release: digests, the rules of Debian and rpm, the syntax of completions, and the use of packages and image
//! in empty roots without a network.

mod namespace;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use self::namespace::{empty_root, run_isolated};
use super::{
    file_tree::FileTree,
    image::USER,
    product::{BASH, CLUSTERCTL, FISH, ZSH},
    release::CHECKSUMS,
    target::Target,
};
use crate::print::print_line;

/// The work of the package in an empty root, from installation to removal.
const INSTALLED: &str = include_str!("check/installed.sh");

/// The release to check.
struct Release<'r> {
    folder: &'r Path,
    files: &'r FileTree,
    /// The target of this machine.
    host: Target,
}

type Check = fn(&Release<'_>) -> Result<()>;

/// The checks by name.
const CHECKS: [(&str, Check); 8] = [
    ("checksums", checksums),
    ("completions", completions),
    ("formula", formula),
    ("lintian", lintian),
    ("rpm digests", rpm_digests),
    ("image in a namespace", image),
    ("deb package in an empty root", deb_package),
    ("rpm package in an empty root", rpm_package),
];

/// Runs all checks. Returns false if one failed.
pub(super) fn check(folder: &Path, files: &FileTree, host: Target) -> bool {
    let release = Release { folder, files, host };
    let mut passed = true;
    for (name, check) in CHECKS {
        let start = std::time::Instant::now();
        let result = check(&release);
        passed &= result.is_ok();
        let verdict = result.map_or_else(|error| format!("FAILED: {error:#}"), |()| "ok".to_owned());
        print_line(&format!("dist: {name}: {verdict} ({:.1} s)", start.elapsed().as_secs_f64()));
    }
    passed
}

impl Release<'_> {
    /// Returns the path of the file with this start and end that runs on this machine.
    fn file(&self, start: &str, end: &str) -> Result<PathBuf> {
        let name = self.files.entries().find(|(name, _)| name.starts_with(start) && name.ends_with(end));
        let (name, _) = name.with_context(|| format!("the release has no file `{start}*{end}`"))?;
        Ok(self.folder.join(name))
    }

    /// Returns the files of an archive of this machine.
    fn archive(&self) -> Result<FileTree> {
        let entries = self.files.entries();
        let is_of_host = |name: &str| {
            name.ends_with(".tar.gz") && name.contains("linux") && name.contains(self.host.architecture.rust)
        };
        let (name, _) = entries
            .into_iter()
            .find(|(name, _)| is_of_host(name))
            .context("no archive is for this machine")?;
        FileTree::read_tar_gz(self.files.content(name).context("an archive is a file")?)
    }
}

fn checksums(release: &Release<'_>) -> Result<()> {
    run(
        Command::new("sha256sum").args(["--check", "--quiet", CHECKSUMS]).current_dir(release.folder),
        "coreutils",
    )?;
    Ok(())
}

fn completions(release: &Release<'_>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    release.archive()?.write_to(folder.path())?;
    let file = |path: &str, name: &str| folder.path().join(path).join(name);
    for (shell, paths) in [
        ("bash", [file(BASH, "capstan"), file(CLUSTERCTL, "clusterctl.bash")]),
        ("zsh", [file(ZSH, "_capstan"), file(CLUSTERCTL, "_clusterctl")]),
        ("fish", [file(FISH, "capstan.fish"), file(CLUSTERCTL, "clusterctl.fish")]),
    ] {
        for path in paths {
            run(Command::new(shell).arg("-n").arg(path), shell)?;
        }
    }
    Ok(())
}

fn formula(release: &Release<'_>) -> Result<()> {
    run(Command::new("ruby").arg("-c").arg(release.file("capstan", ".rb")?), "ruby")?;
    Ok(())
}

fn lintian(release: &Release<'_>) -> Result<()> {
    let mut command = Command::new("lintian");
    command.args(["--profile=debian", "--fail-on=error,warning", "--allow-root"]);
    run(command.arg(deb_of_host(release)?), "lintian")?;
    Ok(())
}

fn rpm_digests(release: &Release<'_>) -> Result<()> {
    run(Command::new("rpm").args(["--checksig", "--nosignature"]).arg(rpm_of_host(release)?), "rpm")?;
    Ok(())
}

/// Runs the image for this machine as its user, with a root that cannot be written.
fn image(release: &Release<'_>) -> Result<()> {
    let layout = fs::read(release.file("capstan-", "-image.tar")?)?;
    let layout = FileTree::read_tar(&layout[..])?;
    let json = |bytes: &[u8]| Ok::<Value, anyhow::Error>(serde_json::from_slice(bytes)?);
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap_or_default().replace("sha256:", "");
        let content = layout.content(&format!("blobs/sha256/{digest}"));
        content.with_context(|| format!("the image lacks the blob `{digest}`")).cloned()
    };
    let index = json(layout.content("index.json").context("the image has no index")?)?;
    let index = json(&blob(&index["manifests"][0])?)?;
    let of_host = |image: &&Value| image["platform"]["architecture"] == release.host.architecture.go;
    let image = index["manifests"].as_array().and_then(|images| images.iter().find(of_host));
    let manifest = json(&blob(image.context("the image is not for this machine")?)?)?;
    let layer = blob(&manifest["layers"][0])?;
    let root = tempfile::tempdir()?;
    let folder = root.path().join("root");
    FileTree::read_tar(flate2::read::GzDecoder::new(&layer[..]))?.write_to(&folder)?;
    let program = json(&blob(&manifest["config"])?)?["config"]["Entrypoint"][0].clone();
    let program = program.as_str().context("the image has no entry point")?;
    let user = format!("--userspec={USER}:{USER}");
    let output = run_isolated(&folder, true, &[&user], &[program, "version", "-o", "short"])?;
    if !output.starts_with('v') {
        bail!("`{program} version` printed `{}`", output.trim());
    }
    Ok(())
}

fn deb_package(release: &Release<'_>) -> Result<()> {
    use_package(&deb_of_host(release)?, "dpkg --install /package", "dpkg --purge capstan")
}

fn rpm_package(release: &Release<'_>) -> Result<()> {
    // The empty root is that of Debian, so the dependencies of packages are unknown to rpm.
    use_package(
        &rpm_of_host(release)?,
        "rpm --force-debian --install --nodeps /package",
        "rpm --erase capstan",
    )
}

/// Installs a package in an empty root, uses it and removes it. Fails if a file stays.
fn use_package(package: &Path, install: &str, remove: &str) -> Result<()> {
    let root = empty_root()?;
    fs::copy(package, root.path().join("package")).context("cannot copy the package")?;
    fs::write(root.path().join("installed.sh"), INSTALLED)?;
    run_isolated(root.path(), false, &[], &["/bin/sh", "/installed.sh", install, remove])?;
    Ok(())
}

fn deb_of_host(release: &Release<'_>) -> Result<PathBuf> {
    release.file("capstan_", &format!("_{}.deb", release.host.architecture.go))
}

fn rpm_of_host(release: &Release<'_>) -> Result<PathBuf> {
    release.file("capstan-", &format!(".{}.rpm", release.host.architecture.rust))
}

/// Runs a program and returns its output. `package` contains the program.
fn run(command: &mut Command, package: &str) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output
        .with_context(|| format!("cannot run `{program}`; install it with `apt-get install {package}`"))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if !output.status.success() {
        bail!("`{program}` failed with {}:\n{}", output.status, text.trim());
    }
    Ok(text)
}
