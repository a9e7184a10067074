use kustomize::{BuildErrors, Output, Reorder};

use super::{
    HERE,
    flags::{FunctionFlags, LoadFlags},
    write::{write, write_text},
};
use crate::{
    Failure,
    kustomizations::{self, Built, FileNames, distinct},
    session::Session,
    settings::OutputFormat,
    verbs::provenance::{self, Provenance, ProvenanceFlag},
};

/// Print the objects of a kustomization
///
/// Builds the kustomization in a folder, or behind the url of a repository, as `kustomize build` and `kubectl kustomize`
/// do, and takes their flags. Nothing is printed unless everything could be built; all that is wrong is told at once.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} kustomize build config/default
  {bin} kustomize build 'https://github.com/my/repo//prod?ref=v1.0.0'
  {bin} kustomize build overlays/prod -o out.yaml

  # Which file or patch set which field?
  {bin} kustomize build overlays/prod --provenance")]
pub(crate) struct Build {
    /// Folder with a kustomization, or url of a repository with the folder in it; the current folder without
    #[arg(value_name = "DIR|URL")]
    place: Option<String>,

    /// Write to this file, or, into a folder that is there, a file for each object
    #[arg(short, long, value_name = "FILE|DIR", default_value = "")]
    output: String,

    /// Order of the objects where the kustomization has no sortOptions: legacy, or none for the order they are listed in
    #[arg(long, value_name = "ORDER", default_value = "legacy")]
    reorder: String,

    /// Label every object as managed by kustomize
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
    let mut how = args.load.how()?;
    how.options.reorder = args.reorder()?;
    how.options.managed_by_label = args.enable_managedby_label;
    let provenance = args.provenance.of(OutputFormat::Yaml)?;
    how.options.trace = provenance.trace();
    let place = args.place.as_deref().unwrap_or(HERE);
    let Built { result, names, hints } = kustomizations::build(place, &how, session)?;
    match result {
        Ok(output) => {
            warn(&output, &names, session);
            match provenance {
                Provenance::Untold | Provenance::Comments => write(&output, &args.output, session),
                Provenance::Json => write_text(provenance::report(&output.objects)?, &args.output, session),
            }
        }
        Err(errors) => {
            let failure = failure(place, &errors, &names);
            Err(hints.into_iter().fold(failure, Failure::hint))
        }
    }
}

impl Build {
    fn reorder(&self) -> Result<Reorder, Failure> {
        match self.reorder.as_str() {
            "legacy" => Ok(Reorder::Legacy),
            "none" => Ok(Reorder::None),
            other => Err(Failure::user(format!("invalid value `{other}` of `--reorder`"))
                .hint("take one of legacy, none")),
        }
    }
}

fn warn(output: &Output, names: &FileNames, session: &Session) {
    for warning in distinct(&output.warnings) {
        session.messages().warning(names.in_short(warning));
    }
}

fn failure(place: &str, errors: &BuildErrors, names: &FileNames) -> Failure {
    let problems = distinct(&errors.problems);
    let message = match problems.len() {
        1 => format!("cannot build `{place}`"),
        count => format!("cannot build `{place}`, for {count} reasons"),
    };
    let causes = problems.into_iter().map(|it| names.in_short(it));
    causes.fold(Failure::user(message), Failure::cause)
}
