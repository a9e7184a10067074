use std::path::{Path, PathBuf};

use apply::{diff_texts, masked};
use chart::Capabilities;
use component::{Preparation, RenderMode, SourceState};
use manifest::write_stream;
use repository::RepositoryContext;
use transport::disk::read_limited;

use super::{
    files::{is_manifest, read_components},
    render::render_files,
    source::{SourceFlag, read_given},
    values::read_values,
};
use crate::{
    Environment, Failure,
    failure::Kind,
    session::Session,
    ui::{format_count, write_file_atomically},
};

/// The file that makes a folder a case.
const COMPONENT: &str = "component.yaml";
/// The folder with the files of the source.
const SOURCE: &str = "source";
/// The file with values over those of the Component.
const VALUES: &str = "values.yaml";
/// The file with the recorded objects.
const EXPECTED: &str = "expected.yaml";
/// The largest file with recorded objects.
const MAX_RECORDED_BYTES: u64 = 256 << 20;
/// The most folders that are searched for cases.
const MAX_FOLDERS: usize = 100_000;
const UPDATE_HINT: &str = "if the objects are as intended, record them with `--update`";

/// Compare the objects of Components with recorded ones
///
/// Each folder with a file `component.yaml` is a case. Its other manifests have Secrets and sources, `values.yaml` has
/// values, and `source/` has the files of the source. `expected.yaml` has the recorded objects, with sizes in place of the
/// values of Secrets. A case without recorded objects fails, and a folder without a case is refused. Templates see a fixed
/// time, and the same random values in each run. Does not contact a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component test tests/ --source ./manifests

  # Record the objects, to review and commit them
  {bin} component test tests/ --source ./manifests --update")]
pub(crate) struct Test {
    /// Folder with cases
    #[arg(value_name = "DIR")]
    folder: String,

    #[command(flatten)]
    source: SourceFlag,

    /// Record the objects of all cases
    #[arg(long)]
    update: bool,
}

/// A case: its folder as the command line names it, and its objects.
struct Case {
    folder: PathBuf,
    /// The recorded objects. `None` if nothing is recorded.
    recorded: Option<String>,
    rendered: String,
}

pub(super) fn run(args: &Test, session: &mut Session) -> Result<(), Failure> {
    let folders = find_cases(&args.folder, session.environment())?;
    let source = args.source.read(session)?;
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for folder in &folders {
        match read_case(folder, source.clone(), session) {
            Ok(case) => cases.push(case),
            Err(interrupted) if interrupted.kind() == Kind::Interrupted => return Err(interrupted),
            Err(problem) => problems.push((folder.as_path(), problem.one_line())),
        }
    }
    cases.retain(|case| case.recorded.as_ref() != Some(&case.rendered));
    let count = format_count(folders.len(), "case");
    if args.update && problems.is_empty() {
        for case in &cases {
            let file = session.environment().resolve(&case.folder).join(EXPECTED);
            write_file_atomically(&file, case.rendered.as_bytes(), 0o644)?;
        }
        session.show_result(match cases.len() {
            0 => format!("{count} unchanged"),
            changed => format!("recorded {changed} of {count}"),
        });
        return Ok(());
    }
    for case in cases.iter().filter(|_| !args.update) {
        let problem = match &case.recorded {
            Some(recorded) => {
                let diff = diff_texts(recorded, &case.rendered);
                session.printer().write(format!("{}\n{diff}", case.folder.display()))?;
                "the objects differ from the recorded ones"
            }
            None => "no objects are recorded",
        };
        problems.push((&case.folder, problem.to_owned()));
    }
    if problems.is_empty() {
        session.show_result(format!("{count} passed"));
        return Ok(());
    }
    problems.sort();
    let failure = if args.update {
        Failure::user("cannot record the objects of all cases, and changed nothing")
    } else {
        Failure::user(format!("{} of {count} failed", problems.len()))
    };
    let can_record = !args.update && !cases.is_empty();
    let failure = if can_record { failure.hint(UPDATE_HINT) } else { failure };
    let cause = |(folder, problem): (&Path, String)| format!("{}: {problem}", folder.display());
    Err(problems.into_iter().map(cause).fold(failure, Failure::cause))
}

/// Returns the folders with a Component, in the order of their names.
/// # Errors
/// All folders without a case in them. A test that tests nothing must not pass.
fn find_cases(root: &str, environment: &Environment) -> Result<Vec<PathBuf>, Failure> {
    let (mut cases, mut barren, mut pending) = (Vec::new(), Vec::new(), vec![PathBuf::from(root)]);
    for searched in 0.. {
        let Some(folder) = pending.pop() else { break };
        if searched == MAX_FOLDERS {
            return Err(Failure::user(format!("`{root}` has more than {MAX_FOLDERS} folders")));
        }
        let path = environment.resolve(&folder);
        if path.join(COMPONENT).is_file() {
            cases.push(folder);
            continue;
        }
        let error = |error| Failure::io("read", &path, &error);
        let others = pending.len();
        for entry in path.read_dir().map_err(error)? {
            let entry = entry.map_err(error)?;
            if entry.file_type().map_err(error)?.is_dir() {
                pending.push(folder.join(entry.file_name()));
            } else if entry.path().is_dir() {
                let link = folder.join(entry.file_name());
                return Err(Failure::user(format!("`{}` is a link to a folder", link.display()))
                    .hint("replace the link by the folder; links are not followed"));
            }
        }
        if pending.len() == others || path.join(EXPECTED).exists() {
            barren.push(folder);
        }
    }
    barren.sort();
    cases.sort();
    let mut folders = barren.iter().map(|folder| format!("`{}` has no file `{COMPONENT}`", folder.display()));
    let Some(first) = folders.next() else { return Ok(cases) };
    let failure = Failure::user(first).hint(format!("a case is a folder with a file `{COMPONENT}`"));
    Err(folders.fold(failure, Failure::cause))
}

/// Reads a case and renders its objects, with sizes in place of the values of Secrets.
fn read_case(folder: &Path, source: Option<SourceState>, session: &mut Session) -> Result<Case, Failure> {
    let path = session.environment().resolve(folder);
    let error = |error| Failure::io("read", &path, &error);
    let place = |name: &str| folder.join(name).display().to_string();
    let mut manifests = Vec::new();
    for entry in path.read_dir().map_err(error)? {
        let entry = entry.map_err(error)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_manifest(&entry.path()) && name != VALUES && name != EXPECTED {
            manifests.push(place(&name));
        }
    }
    manifests.sort();
    let files = read_components(&manifests, "default", session)?;
    // A link that leads nowhere is an error, too.
    let own = |name: &str| path.join(name).symlink_metadata().is_ok().then(|| place(name));
    let source = match own(SOURCE) {
        Some(folder) => Some(read_given(&folder, session)?),
        None => source,
    };
    let repositories =
        if source.is_some() { RepositoryContext::default() } else { session.repositories()? };
    let values = read_values(own(VALUES).as_slice(), session)?;
    let mode = RenderMode { is_repeatable: true, ..RenderMode::default() };
    let preparation = Preparation { repositories, source, values, mode, ..Preparation::default() };
    let objects = render_files(&files, &preparation, Capabilities::default(), session)?;
    let mut rendered = write_stream(&objects.iter().map(masked).collect::<Vec<_>>());
    if !rendered.is_empty() {
        rendered.push('\n');
    }
    let recorded = read_limited(&path.join(EXPECTED), MAX_RECORDED_BYTES)?;
    let recorded = recorded.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Case { folder: folder.to_owned(), recorded, rendered })
}
