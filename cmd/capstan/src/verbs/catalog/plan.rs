use std::{collections::BTreeSet, fmt::Write as _, path::PathBuf};

use api::output::{CatalogFileChange, CatalogObjectChange, CatalogPlan, StepAction};
use apply::{ObjectDifference, compare_objects};
use catalog::manifests::Manifests;
use catalog::repository::{DiffPolicy, is_hidden};

use super::{
    compilation::{Compilation, CompileFlags, SourceFlags, missing_catalog, text},
    compile::diff_policy,
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{OutputFlag, OutputFormat},
    ui::{NarrowingStep, format_count, table},
};

/// The maximum number of fields in a line of the table.
const MAX_FIELDS: usize = 3;

/// Show the objects that a push of the catalog would change
///
/// Compiles the catalog, and compares its objects with those of the repository of the catalog. The order of objects and the
/// format of files do not matter. Nothing is committed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog plan c-green-1
  {bin} catalog plan c-green-1 --local --diff

  # Two compiled folders
  {bin} catalog plan --manifests work/catalog --against released/catalog

  # In a script: exit status 3 if anything changes
  {bin} catalog plan c-green-1 --exit-status -o json")]
pub(crate) struct Plan {
    /// Id of the cluster
    #[arg(value_name = "CLUSTER")]
    cluster: Option<String>,

    /// Compiled folder, instead of a compilation
    #[arg(long, value_name = "FOLDER", conflicts_with = "cluster", requires = "against")]
    manifests: Option<PathBuf>,

    /// Compiled folder to compare with, instead of the repository of the catalog
    #[arg(long, value_name = "FOLDER")]
    against: Option<PathBuf>,

    /// Also show the changed lines; masks Secrets
    #[arg(long)]
    diff: bool,

    /// Exit with status 3 if anything changes
    #[arg(long = "exit-status")]
    fails_if_different: bool,

    /// Hide changes of a migration: kapitan-0.29-to-0.30 or ignore-yaml-formatting
    #[arg(short, long, value_name = "MIGRATION")]
    migration: Option<String>,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    source: SourceFlags,
}

pub(super) fn run(args: &Plan, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let migration = text(args.migration.as_deref(), &["COMMODORE_MIGRATION"], session.environment());
    let policy = diff_policy(migration.as_deref())?;
    let (before, after) = args.versions(session)?;
    let plan = compare(before, after, policy);
    session.print(format, &plan, |plan, width| plan_text(plan, args.diff, width))?;
    if args.fails_if_different && plan.changes {
        return Err(Failure::new(Kind::Unhealthy, "the catalog differs from its last version"));
    }
    if format == OutputFormat::Text {
        session.printer().flush()?;
        session.show_result(result(&plan));
    }
    Ok(())
}

impl Plan {
    /// Returns the catalog before and after the change.
    fn versions(&self, session: &Session) -> Result<(Manifests, Manifests), Failure> {
        let folder = |folder: &PathBuf| {
            let folder = session.environment().resolve(folder);
            Manifests::read_folder(&folder).map_err(Failure::from)
        };
        let against = self.against.as_ref().map(folder).transpose()?;
        let cluster = match (&self.cluster, &self.manifests) {
            (Some(cluster), _) => cluster,
            (None, Some(manifests)) => return Ok((against.unwrap_or_default(), folder(manifests)?)),
            (None, None) => return Err(missing_catalog()),
        };
        let compilation = Compilation::new(cluster, &self.source, &CompileFlags::default(), session)?;
        let compiled = compilation.compile_quietly(session)?;
        let after = folder(&compilation.folder.manifests())?;
        let before = match (against, &compiled.workspace.catalog) {
            (Some(against), _) => against,
            (None, Some(catalog)) => {
                let files = session.block_on(catalog.committed_manifests())?;
                Manifests::from_files(files)?
            }
            (None, None) => {
                return Err(Failure::user(format!(
                    "cannot compare the catalog: `{}` is no checkout of its repository",
                    compilation.folder.catalog().display()
                ))
                .hint(
                    "name a compiled folder with `--against`, or compile the catalog once without `--local`",
                ));
            }
        };
        Ok((before, after))
    }
}

fn compare(before: Manifests, after: Manifests, policy: DiffPolicy) -> CatalogPlan {
    let paths: BTreeSet<&String> = before.others.keys().chain(after.others.keys()).collect();
    let file = |path: &String| {
        let action = match (before.others.get(path), after.others.get(path)) {
            (None, _) => StepAction::Create,
            (_, None) => StepAction::Delete,
            (before, after) => return (before != after).then(|| (StepAction::Update, path.clone())),
        };
        Some((action, path.clone()))
    };
    let files: Vec<CatalogFileChange> =
        paths.into_iter().filter_map(file).map(|(action, path)| CatalogFileChange { action, path }).collect();
    let objects = |manifests: Manifests| manifests.objects.into_iter().map(|one| one.object).collect();
    let comparison = compare_objects(objects(before), objects(after));
    let mut unchanged = comparison.unchanged;
    let mut changed = Vec::new();
    for difference in comparison.differences {
        if let (Some(before), Some(after)) = (&difference.pair.before, &difference.pair.after)
            && is_hidden(before, after, policy)
        {
            unchanged += 1;
            continue;
        }
        changed.push(object_change(difference));
    }
    CatalogPlan { changes: !changed.is_empty() || !files.is_empty(), objects: changed, files, unchanged }
}

fn object_change(difference: ObjectDifference) -> CatalogObjectChange {
    let action = match (&difference.pair.before, &difference.pair.after) {
        (None, _) => StepAction::Create,
        (_, None) => StepAction::Delete,
        _ => StepAction::Update,
    };
    CatalogObjectChange {
        action,
        object: difference.key.clone(),
        diff: Some(apply::diff(&difference.pair)).filter(|diff| !diff.is_empty()),
        fields: difference.fields,
    }
}

fn plan_text(plan: &CatalogPlan, shows_diff: bool, width: Option<usize>) -> String {
    let mut rows: Vec<[String; 4]> = Vec::new();
    for change in &plan.objects {
        let object = &change.object;
        let name = if object.namespace.is_empty() {
            object.name.clone()
        } else {
            format!("{}/{}", object.namespace, object.name)
        };
        rows.push([
            change.action.as_str().to_owned(),
            object.kind.clone(),
            name,
            fields_text(&change.fields),
        ]);
    }
    for file in &plan.files {
        rows.push([file.action.as_str().to_owned(), "(file)".to_owned(), file.path.clone(), String::new()]);
    }
    if rows.is_empty() {
        return "nothing would change\n".to_owned();
    }
    let ways = [
        NarrowingStep::Shorten("FIELDS", 24),
        NarrowingStep::Shorten("OBJECT", 24),
        NarrowingStep::Shorten("KIND", 16),
    ];
    let lines = table(width, &ways, ["ACTION", "KIND", "OBJECT", "FIELDS"], &rows);
    let diffs = plan.objects.iter().map(|change| change.diff.as_deref().filter(|_| shows_diff));
    let mut diffs = std::iter::once(None).chain(diffs);
    let mut text = String::new();
    for line in lines.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
        for line in diffs.next().flatten().unwrap_or_default().lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn fields_text(fields: &[String]) -> String {
    let shown = fields.iter().take(MAX_FIELDS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match fields.len().saturating_sub(MAX_FIELDS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn result(plan: &CatalogPlan) -> String {
    let count = |action| plan.objects.iter().filter(|change| change.action == action).count();
    let parts: Vec<String> = [
        (StepAction::Create, "to create"),
        (StepAction::Update, "to update"),
        (StepAction::Delete, "to delete"),
    ]
    .into_iter()
    .filter_map(|(action, words)| {
        Some(count(action)).filter(|count| *count > 0).map(|count| format!("{count} {words}"))
    })
    .collect();
    let unchanged = format!("{} unchanged", format_count(plan.unchanged, "object"));
    if parts.is_empty() { unchanged } else { format!("{}; {unchanged}", parts.join(", ")) }
}
