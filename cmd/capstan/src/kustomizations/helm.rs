use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use kustomize::{ChartPull, ChartTemplate, ChartValues, FetchedContent};
use repository::RepositoryContext;
use tokio::process::Command;
use transport::{Digest, Digester, NetworkAccess};

use super::disk::{disk_path, tree_path};
use crate::{Environment, Failure, failure::Kind};

/// The `helm` program and its options from the command line.
#[derive(Clone, Debug)]
pub(crate) struct HelmProgram {
    pub(crate) command: String,
    /// The default of `--api-versions`, for charts without their own list.
    pub(crate) api_versions: Vec<String>,
    /// The default of `--kube-version`, for charts without their own version.
    pub(crate) kube_version: Option<String>,
    pub(crate) debug: bool,
}

/// The runs of `helm` in one build. Charts without an exact version are fetched again, into a temporary folder.
pub(super) struct Helm<'a> {
    program: &'a HelmProgram,
    environment: &'a Environment,
    context: &'a RepositoryContext,
    temporary_folder: &'a Path,
}

impl<'a> Helm<'a> {
    /// Creates no files. `temporary_folder` is a folder that outlives the build.
    pub(super) fn new(
        program: &'a HelmProgram,
        environment: &'a Environment,
        context: &'a RepositoryContext,
        temporary: &'a Path,
    ) -> Self {
        Self { program, environment, context, temporary_folder: temporary }
    }

    /// Fetches a chart. A chart with an exact version is fetched once, into the cache.
    pub(super) async fn pull(&self, pull: &ChartPull) -> Result<FetchedContent, Failure> {
        refuse_flag(&pull.name)?;
        let kept = self.cached_chart(pull)?;
        if let Some(kept) = kept.as_deref().filter(|kept| is_complete(kept, &pull.name)) {
            return chart_result(kept, &pull.name);
        }
        if self.context.settings().network == NetworkAccess::Forbidden {
            let is_damaged = kept.is_some_and(|kept| kept.exists());
            let problem = if is_damaged {
                "the chart in the cache is damaged"
            } else {
                "the chart is not in the cache"
            };
            return Err(Failure::new(Kind::Environment, format!("offline: {problem}")));
        }
        let home = kept.as_deref().and_then(Path::parent).unwrap_or(self.temporary_folder);
        let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(home)?;
        let mut arguments: Vec<OsString> = vec!["pull".into(), "--untar".into(), "--untardir".into()];
        arguments.push(fresh.path().into());
        if pull.repo.starts_with("oci://") {
            arguments.push(format!("{}/{}", pull.repo.trim_end_matches('/'), pull.name).into());
        } else {
            arguments.extend(["--repo".into(), pull.repo.clone().into(), pull.name.clone().into()]);
        }
        if !pull.version.is_empty() {
            arguments.extend(["--version".into(), pull.version.clone().into()]);
        }
        if pull.devel {
            arguments.push("--devel".into());
        }
        self.run(arguments, &pull.config_home).await?;
        let Some(kept) = kept else { return chart_result(&fresh.keep(), &pull.name) };
        write_digest(fresh.path(), &pull.name)?;
        if !is_complete(&kept, &pull.name) {
            // If the removal fails, the rename reports the error.
            let _ = fs::remove_dir_all(&kept);
        }
        match fs::rename(fresh.path(), &kept) {
            Err(error) if !is_complete(&kept, &pull.name) => Err(error.into()),
            // Another run created the folder at the same time.
            _ => chart_result(&kept, &pull.name),
        }
    }

    pub(super) async fn template(&self, chart: &ChartTemplate) -> Result<FetchedContent, Failure> {
        refuse_flag(&chart.release)?;
        let release = if chart.release.is_empty() { "--generate-name" } else { &chart.release };
        let mut arguments: Vec<OsString> =
            vec!["template".into(), release.into(), disk_path(&chart.chart).into()];
        let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
        if !chart.namespace.is_empty() {
            add("--namespace", chart.namespace.clone().into());
        }
        for values in &chart.values {
            add("-f", self.values_file(values)?.into());
        }
        let own = Some(&chart.kube_version).filter(|version| !version.is_empty());
        if let Some(version) = own.or(self.program.kube_version.as_ref()) {
            add("--kube-version", version.clone().into());
        }
        let own = Some(&chart.api_versions).filter(|versions| !versions.is_empty());
        for version in own.unwrap_or(&self.program.api_versions) {
            add("--api-versions", version.clone().into());
        }
        arguments.extend(chart.flags.iter().map(OsString::from));
        let printed = self.run(arguments, &chart.config_home).await?;
        Ok(FetchedContent::Bytes(printed.into()))
    }

    /// Returns the cache folder of a chart. `None` without an exact version or without a cache.
    fn cached_chart(&self, pull: &ChartPull) -> Result<Option<PathBuf>, Failure> {
        let is_pinned = api::Version::parse(&pull.version).is_ok();
        let Some(store) = self.context.store().filter(|_| is_pinned) else { return Ok(None) };
        let key = Digest::of([&*pull.repo, &pull.name, &pull.version].join("\n").as_bytes());
        Ok(Some(store.folder("charts")?.join(key.hex())))
    }

    fn values_file(&self, values: &ChartValues) -> Result<PathBuf, Failure> {
        match values {
            ChartValues::File(path) => Ok(disk_path(path)),
            ChartValues::Text(text) => {
                let file = tempfile::Builder::new().suffix(".yaml").tempfile_in(self.temporary_folder)?;
                fs::write(file.path(), text)?;
                let (_, path) = file.keep().map_err(|error| error.error)?;
                Ok(path)
            }
        }
    }

    async fn run(&self, mut arguments: Vec<OsString>, config_home: &str) -> Result<Vec<u8>, Failure> {
        if self.program.debug {
            arguments.push("--debug".into());
        }
        // The Helm configuration of the user is ignored, unless a kustomization names a folder.
        let home = match config_home {
            "" => self.temporary_folder.to_owned(),
            named => self.environment.resolve(named),
        };
        let name = &self.program.command;
        let program = if name.contains('/') { self.environment.resolve(name) } else { name.into() };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(self.environment.all())
            .env("HELM_CONFIG_HOME", &home)
            .env("HELM_CACHE_HOME", home.join(".cache"))
            .env("HELM_DATA_HOME", home.join(".data"))
            .current_dir(self.environment.current_dir())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let Output { status, stdout, stderr } =
            command.output().await.map_err(|error| cannot_start(name, &error))?;
        if status.success() {
            return Ok(stdout);
        }
        let said = String::from_utf8_lossy(&stderr).trim().to_owned();
        Err(Failure::new(Kind::Environment, format!("`{name}` failed with {status}")).cause(said))
    }
}

/// Rejects a name that Helm would parse as a flag, because flags can make Helm run other programs.
fn refuse_flag(name: &str) -> Result<(), Failure> {
    if name.starts_with('-') { Err(Failure::user(format!("`{name}` is not a valid name"))) } else { Ok(()) }
}

fn cannot_start(name: &str, error: &io::Error) -> Failure {
    let failure = Failure::new(Kind::Environment, format!("cannot run the program `{name}`"));
    let failure = failure.because(error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.hint("install helm, or set its path with `--helm-command PATH`"),
        _ => failure,
    }
}

fn chart_result(home: &Path, name: &str) -> Result<FetchedContent, Failure> {
    let real = |path: &Path| path.canonicalize().ok().as_deref().and_then(tree_path);
    match (real(home), real(&home.join(name))) {
        (Some(top), Some(root)) => Ok(FetchedContent::Folder { top, root }),
        _ => Err(Failure::new(Kind::Environment, format!("the fetched archive contains no chart `{name}`"))),
    }
}

/// The name of the file with the digest, next to the chart.
const DIGEST_FILE: &str = ".digest";

/// Writes the digest of a fetched chart.
fn write_digest(home: &Path, name: &str) -> io::Result<()> {
    fs::write(home.join(DIGEST_FILE), digest_of(&home.join(name))?.to_string())
}

/// True if the chart exists and has the digest recorded after the fetch.
fn is_complete(home: &Path, name: &str) -> bool {
    let sealed = fs::read_to_string(home.join(DIGEST_FILE)).ok().and_then(|text| text.parse::<Digest>().ok());
    sealed.is_some_and(|sealed| digest_of(&home.join(name)).is_ok_and(|found| found == sealed))
}

/// Returns the digest of the paths and contents of all files in a folder.
fn digest_of(folder: &Path) -> io::Result<Digest> {
    let mut files = Vec::new();
    add_files(folder, &mut files)?;
    files.sort_unstable();
    let mut all = Digester::default();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy();
        all.update(format!("{} {name}\0", Digest::of(&fs::read(&file)?)).as_bytes());
    }
    Ok(all.finish())
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { add_files(&entry.path(), files)? } else { files.push(entry.path()) }
    }
    Ok(())
}
