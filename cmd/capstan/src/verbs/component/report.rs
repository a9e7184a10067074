//! Plans of Components, as users see them.

use std::fmt::Write as _;

use api::output::{ComponentRunReport, ComponentSteps};
use component::ComponentPlan;
use management::DiffDetail;

use crate::{Failure, session::Session, settings::OutputFormat, verbs::lifecycle::steps_text};

/// Returns plans in their printed form.
pub(super) fn report<'p>(
    command: &str,
    plans: impl IntoIterator<Item = &'p ComponentPlan>,
    diffs: DiffDetail,
    carried_out: bool,
) -> ComponentRunReport {
    let one = |plan: &ComponentPlan| ComponentSteps {
        namespace: plan.key.namespace.clone(),
        name: plan.key.name.clone(),
        revision: plan.source.artifact.revision.clone(),
        digest: plan.source.artifact.digest.clone(),
        steps: management::report_steps(&plan.objects, diffs),
    };
    let components: Vec<ComponentSteps> = plans.into_iter().map(one).collect();
    let changes = components.iter().flat_map(|one| &one.steps).any(|step| step.action.is_change());
    ComponentRunReport { command: command.to_owned(), carried_out, changes, components }
}

/// Prints plans: a block with the changes for each Component.
pub(super) fn print(
    report: &ComponentRunReport,
    diffs: DiffDetail,
    format: OutputFormat,
    session: &mut Session,
) -> Result<(), Failure> {
    session.print(format, report, |report, width| {
        let mut text = String::new();
        for one in &report.components {
            let revision =
                if one.revision.is_empty() { String::new() } else { format!(" at {}", one.revision) };
            let _ = writeln!(text, "{}/{}{revision}", one.namespace, one.name);
            text.push_str(&steps_text(&one.steps, diffs, width));
        }
        if !report.changes {
            text.push_str("nothing would change\n");
        }
        text
    })
}
