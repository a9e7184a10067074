use std::path::PathBuf;

use catalog::package::PackageRequest;
use catalog::run::{CompileOptions, CompileRun, Compiler};
use catalog::{Step, WorkingFolder};

use crate::verbs::{
    catalog::{
        compilation::WORKING_FOLDER,
        compile::Lines,
        tools::{SessionTools, evaluation_control, temporary_folder},
    },
    path_lock::{real_path, take_turn},
};
use crate::{Failure, session::Session};

/// Compile a package without a cluster
///
/// Compiles all components of a package for an invented cluster, like `commodore package compile`, so that its author can
/// compare the result with expected files. The files are in `compiled` of the package.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog package compile . tests/defaults.yml
  {bin} catalog package compile . tests/defaults.yml --tmp-dir work")]
pub(crate) struct Compile {
    /// Folder of the package
    #[arg(value_name = "FOLDER")]
    path: PathBuf,

    /// Class to compile, as a path in the package
    #[arg(value_name = "CLASS")]
    test_class: PathBuf,

    /// Class with parameters, merged before the package; repeatable
    #[arg(short = 'f', long, value_name = "FILE")]
    values: Vec<PathBuf>,

    /// Use the components in the folder of `--tmp-dir`, without Git
    #[arg(long)]
    local: bool,

    #[arg(long, overrides_with = "no_fetch_dependencies", hide = true)]
    fetch_dependencies: bool,

    /// Use the installed Jsonnet libraries and fetched files; only with `--local`
    #[arg(short = 'F', long, overrides_with = "fetch_dependencies")]
    no_fetch_dependencies: bool,

    /// Keep the temporary working folder
    #[arg(short, long, overrides_with = "no_keep_dir")]
    keep_dir: bool,

    #[arg(long, overrides_with = "keep_dir", hide = true)]
    no_keep_dir: bool,

    /// Working folder, which is kept
    #[arg(long, value_name = "FOLDER")]
    tmp_dir: Option<PathBuf>,

    /// Allow inputs of type `external` to run programs
    #[arg(long)]
    allow_external: bool,
}

pub(super) fn run(args: &Compile, session: &mut Session) -> Result<(), Failure> {
    if args.local && args.tmp_dir.is_none() {
        return Err(Failure::user("`--local` needs the working folder of an earlier run")
            .hint("name it with `--tmp-dir`"));
    }
    let lines = Lines::default();
    let result = compile_into(args, &lines, session);
    lines.print(session)?;
    result.map_err(|failure| session.interruption_or(failure))
}

fn compile_into(args: &Compile, lines: &Lines, session: &Session) -> Result<(), Failure> {
    let canonical = |path: &PathBuf| {
        let resolved = session.environment().resolve(path);
        resolved.canonicalize().map_err(|error| Failure::io("read", path, &error))
    };
    let package = canonical(&args.path)?;
    let values = args.values.iter().map(canonical).collect::<Result<Vec<_>, _>>()?;
    let temporary = temporary_folder(session)?;
    let root = match &args.tmp_dir {
        // Links of the hierarchy are relative, so that they need a path without links.
        Some(folder) => real_path(&session.environment().resolve(folder)),
        None => temporary.path().to_owned(),
    };
    let request = PackageRequest {
        package: &package,
        test_class: &args.test_class,
        values: &values,
        local: args.local,
    };
    let _lock = take_turn(&root, WORKING_FOLDER, &session.repositories()?, session)?;
    compile_package(&request, &WorkingFolder::new(&root), args, lines, session)?;
    if args.keep_dir && args.tmp_dir.is_none() {
        let folder = temporary.keep();
        lines.add(&Step::Text(format!(
            "Compilation working directory: {0}. Specify `--tmp-dir={0}`, if you want to use local mode for subsequent \
             compilations.",
            folder.display()
        )));
    }
    Ok(())
}

fn compile_package(
    request: &PackageRequest<'_>,
    folder: &WorkingFolder,
    args: &Compile,
    lines: &Lines,
    session: &Session,
) -> Result<(), Failure> {
    let context = session.repositories()?;
    let options = CompileOptions {
        fetch_dependencies: !args.local || !args.no_fetch_dependencies,
        control: evaluation_control(session)?,
        ..CompileOptions::default()
    };
    let report = |step| lines.add(&step);
    let run = CompileRun { folder, context: &context, options: &options, report: &report };
    let workspace = session.block_on(run.set_up_package(request))?;
    let prepared = session.block_on(run.prepare(&workspace))?;
    session.block_on(run.fetch_inputs(&workspace, &prepared))?;
    let tools = SessionTools::new(session, args.allow_external.then(|| folder.root()))?;
    let warn = |message| session.messages().warning(message);
    run.update_references(&workspace, &prepared)?;
    (run.report)(Step::Compile);
    run.compile_instances(
        &workspace,
        &prepared,
        Compiler { threads: 1, tools: &tools, results: None, warn: &warn },
    )?;
    Ok(run.copy_package(request)?)
}
