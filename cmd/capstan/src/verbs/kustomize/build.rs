use std::{collections::BTreeMap, path::Path};

use jiff::Timestamp;
use kustomize::{BuildOptions, BuildOutput, BuildReport, ChartOptions, LoadRestrictor, Reorder};

use super::CURRENT_FOLDER;
use crate::{
    Failure,
    kustomizations::{self, FileNames, KustomizationBuild, distinct_problems},
    session::Session,
    settings::OutputFormat,
    ui::Messages,
    verbs::{
        generate::print::write_objects,
        provenance::{self, Provenance, ProvenanceFlag},
    },
};

/// Print the objects of a kustomization
///
/// Builds a kustomization in a folder or a Git repository like `kustomize build`, with the same flags. The command reports all
/// errors at once, and prints objects only without errors.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} kustomize build config/default
  {bin} kustomize build 'https://github.com/my/repo//prod?ref=v1.0.0'
  {bin} kustomize build overlays/prod -o out.yaml

  # The file or patch that set each field
  {bin} kustomize build overlays/prod --provenance")]
pub(crate) struct Build {
    /// Folder with a kustomization, or URL of a repository [default: the current folder]
    #[arg(value_name = "DIR|URL")]
    place: Option<String>,

    /// File to write, or existing folder for one file per object
    #[arg(short, long, value_name = "FILE|DIR", default_value = "")]
    output: String,

    /// Order of objects without sortOptions: legacy, or none for the listed order
    #[arg(long, value_name = "ORDER", default_value = "legacy")]
    reorder: String,

    /// Add the label of kustomize to every object
    #[arg(long)]
    enable_managedby_label: bool,

    #[command(flatten)]
    provenance: ProvenanceFlag,

    #[command(flatten)]
    load: LoadFlags,

    #[command(flatten)]
    functions: FunctionFlags,
}

pub(super) fn run(args: &Build, session: &mut Session) -> Result<(), Failure> {
    let mut options = args.load.options()?;
    options.reorder = args.reorder()?;
    options.managed_by_label = args.enable_managedby_label;
    let provenance = args.provenance.parse(OutputFormat::Yaml)?;
    options.trace = provenance.trace();
    let place = args.place.as_deref().unwrap_or(CURRENT_FOLDER);
    let KustomizationBuild { result, names, hints, .. } = kustomizations::build(place, &options, session)?;
    match result {
        Ok(output) => {
            warn(&output, &names, session.messages());
            match provenance {
                Provenance::Off | Provenance::Comments => write(&output, &args.output, session),
                Provenance::Json => write_text(provenance::report(&output.objects)?, &args.output, session),
            }
        }
        Err(report) => {
            let failure = failure(place, &report, &names);
            Err(hints.into_iter().fold(failure, Failure::hint))
        }
    }
}

impl Build {
    fn reorder(&self) -> Result<Reorder, Failure> {
        match self.reorder.as_str() {
            "legacy" => Ok(Reorder::Legacy),
            "none" => Ok(Reorder::None),
            other => {
                Err(Failure::user(format!("invalid value `{other}` for `--reorder`"))
                    .hint("use legacy or none"))
            }
        }
    }
}

fn warn(output: &BuildOutput, names: &FileNames, messages: &Messages) {
    for warning in distinct_problems(&output.warnings) {
        messages.warning(names.problem_text(warning));
    }
}

fn failure(place: &str, report: &BuildReport, names: &FileNames) -> Failure {
    let problems = distinct_problems(&report.errors);
    let message = match problems.len() {
        1 => format!("cannot build `{place}`"),
        count => format!("cannot build `{place}`: {count} errors"),
    };
    let hints: Vec<String> = problems.iter().flat_map(|problem| problem.hints()).collect();
    let causes = problems.into_iter().map(|it| names.problem_text(it));
    let failure = causes.fold(Failure::user(message), Failure::cause);
    hints.into_iter().fold(failure, Failure::hint)
}

/// Writes the build result to stdout, to a file, or to an existing folder with a file per object.
pub(super) fn write(output: &BuildOutput, to: &str, session: &mut Session) -> Result<(), Failure> {
    let path = session.environment().resolve(to);
    if !is_stdout(to) && path.is_dir() {
        return write_files(output, &path);
    }
    write_text(output.text(), to, session)
}

pub(super) fn write_text(text: String, to: &str, session: &mut Session) -> Result<(), Failure> {
    if is_stdout(to) {
        return session.printer().write(text);
    }
    write_objects(&session.environment().resolve(to), &text)
}

fn is_stdout(to: &str) -> bool {
    to.is_empty() || to == "-"
}

/// Writes no file if a name is duplicate or cannot be a file name in the folder.
fn write_files(output: &BuildOutput, folder: &Path) -> Result<(), Failure> {
    let mut files = BTreeMap::new();
    for (name, text) in output.files() {
        let is_free = !name.contains(['/', '\\']) && !files.contains_key(&name);
        if !is_free {
            let message =
                format!("`{name}` is not a unique and valid file name for an object; nothing was written");
            return Err(Failure::user(message).hint("write to one file instead of a folder"));
        }
        files.insert(name, text);
    }
    for (name, text) in files {
        write_objects(&folder.join(name), &text)?;
    }
    Ok(())
}

/// The flags common to `build` and `lint`.
#[derive(clap::Args)]
pub(super) struct LoadFlags {
    /// Files that a kustomization may read: its own folder, or all with LoadRestrictionsNone
    #[arg(long, value_name = "WHICH", default_value = ROOT_ONLY)]
    load_restrictor: String,

    /// Default Kubernetes API version for charts; repeatable
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',', help_heading = HELM)]
    helm_api_versions: Vec<String>,

    /// Default Kubernetes version for charts
    #[arg(long, value_name = "VERSION", help_heading = HELM)]
    helm_kube_version: Option<String>,

    #[command(flatten)]
    without_effect: IgnoredFlags,
}

/// Flags of kustomize for the program `helm`, which capstan does not run, and for its own errors. They have no effect.
#[derive(clap::Args)]
struct IgnoredFlags {
    #[arg(long, hide = true)]
    enable_helm: bool,
    #[arg(long, hide = true, value_name = "PROGRAM")]
    helm_command: Option<String>,
    #[arg(long, hide = true)]
    helm_debug: bool,
    #[arg(long, hide = true)]
    stack_trace: bool,
}

const HELM: &str = "Charts";

const ROOT_ONLY: &str = "LoadRestrictionsRootOnly";
const NONE: &str = "LoadRestrictionsNone";

impl LoadFlags {
    pub(super) fn options(&self) -> Result<BuildOptions, Failure> {
        let load_restrictor = match self.load_restrictor.as_str() {
            ROOT_ONLY => LoadRestrictor::RootOnly,
            NONE => LoadRestrictor::None,
            other => {
                return Err(Failure::user(format!("invalid value `{other}` for `--load-restrictor`"))
                    .hint(format!("use {ROOT_ONLY} or {NONE}")));
            }
        };
        Ok(BuildOptions {
            load_restrictor,
            charts: ChartOptions {
                kube_version: self.helm_kube_version.clone().unwrap_or_default(),
                api_versions: self.helm_api_versions.clone(),
                now: Timestamp::now(),
            },
            ..BuildOptions::default()
        })
    }
}

/// Accepted flags for functions in containers and programs, which capstan never runs. The build reports a kustomization
/// that needs one.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of kustomize")]
pub(super) struct FunctionFlags {
    #[arg(long, hide = true)]
    enable_alpha_plugins: bool,

    #[arg(long, hide = true)]
    enable_exec: bool,

    #[arg(long, hide = true)]
    enable_star: bool,

    #[arg(long, hide = true)]
    as_current_user: bool,

    #[arg(long, hide = true)]
    network: bool,

    #[arg(long, hide = true, value_name = "NAME")]
    network_name: Option<String>,

    #[arg(long, hide = true, value_name = "OPTIONS")]
    mount: Vec<String>,

    #[arg(short, long, hide = true, value_name = "NAME=VALUE")]
    env: Vec<String>,
}
