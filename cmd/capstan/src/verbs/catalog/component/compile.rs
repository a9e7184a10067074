use std::path::{Path, PathBuf};

use catalog::WorkingFolder;
use catalog::component::{ComponentRequest, prepare};

use crate::verbs::catalog::{
    compile::Lines,
    tools::{SessionTools, evaluation_control, temporary_folder},
};
use crate::{Failure, session::Session};

/// Compile one component to files
///
/// Renders the component with the facts of an invented cluster, like `commodore component compile`. Jsonnet libraries are
/// installed into `vendor` of the component, and compiled files are written to `compiled/INSTANCE` of the output
/// folder. References to secrets become their paths.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog component compile . -f tests/defaults.yml
  {bin} catalog component compile component-nfs -a nfs-2 -o out")]
pub(crate) struct Compile {
    /// Folder of the component
    #[arg(value_name = "FOLDER")]
    path: PathBuf,

    /// Class with parameters; may be repeated
    #[arg(short = 'f', long, value_name = "FILE")]
    values: Vec<PathBuf>,

    /// Name of the instance [default: the name of the component]
    #[arg(short, long, value_name = "NAME")]
    alias: Option<String>,

    /// Additional folder of imported files; may be repeated
    #[arg(short = 'J', long, value_name = "FOLDER")]
    search_paths: Vec<PathBuf>,

    /// Folder that gets `compiled/INSTANCE`
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,

    #[arg(short, long, hide = true, value_name = "FOLDER")]
    repo_directory: Option<PathBuf>,

    /// Name of the component [default: the name of its folder, without `component-`]
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,

    /// Allow inputs of type `external` to run programs
    #[arg(long)]
    allow_external: bool,
}

pub(super) fn run(args: &Compile, session: &mut Session) -> Result<(), Failure> {
    let lines = Lines::default();
    let result = compile_into(args, &lines, session);
    lines.print(session)?;
    result.map_err(|failure| session.interruption_or(failure))
}

fn compile_into(args: &Compile, lines: &Lines, session: &Session) -> Result<(), Failure> {
    let component = existing(&args.path, session)?;
    if !component.is_dir() {
        return Err(Failure::user(format!("`{}` is not a folder", args.path.display())));
    }
    let all =
        |paths: &[PathBuf]| paths.iter().map(|path| existing(path, session)).collect::<Result<Vec<_>, _>>();
    let (values, search_paths) = (all(&args.values)?, all(&args.search_paths)?);
    let output = session.environment().resolve(&args.output);
    std::fs::create_dir_all(&output).map_err(|error| Failure::io("create", &output, &error))?;
    let output = output.canonicalize().map_err(|error| Failure::io("read", &output, &error))?;
    let temporary = temporary_folder(session)?;
    let folder = WorkingFolder::new(temporary.path());
    let report = |step| lines.add(&step);
    let context = session.repositories()?;
    let control = evaluation_control(session)?;
    let prepared = session.block_on(prepare(ComponentRequest {
        component: &component,
        name: args.name.as_deref(),
        alias: args.alias.as_deref(),
        values: &values,
        search_paths: &search_paths,
        output: &output,
        temporary: &folder,
        context: &context,
        control: &control,
        report: &report,
    }))?;
    let program_folder = args.allow_external.then(|| session.environment().current_dir());
    prepared.compile(&SessionTools::new(session, program_folder)?)?;
    Ok(())
}

fn existing(path: &Path, session: &Session) -> Result<PathBuf, Failure> {
    let resolved = session.environment().resolve(path);
    resolved.canonicalize().map_err(|error| Failure::io("read", path, &error))
}
