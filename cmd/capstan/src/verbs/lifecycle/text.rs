//! Plans as text for people.

use std::{collections::BTreeMap, fmt::Write as _};

use api::{
    ObjectKey,
    output::{CertManagerAction, CertManagerPlan, LifecycleReport, ProviderReport, StepAction, StepReport},
};
use management::DiffDetail;

use super::summary;
use crate::ui::{NarrowingStep, table};

/// Returns a block with the changes for cert-manager and each provider, and a line with counts.
pub(crate) fn plan(report: &LifecycleReport, diffs: DiffDetail, width: Option<usize>) -> String {
    let mut text = String::new();
    if let Some(line) = cert_manager(&report.cert_manager.plan) {
        let _ = writeln!(text, "cert-manager: {line}");
        add_labels("cert-manager", report, &mut text);
        add_steps(&report.cert_manager.steps, diffs, width, &mut text);
    }
    for provider in &report.providers {
        add_provider(provider, report, diffs, width, &mut text);
    }
    let _ = writeln!(text, "{}", counts(report));
    if diffs == DiffDetail::Summary && report.changes {
        text.push_str(summary::LEGEND);
    }
    text
}

fn cert_manager(report: &CertManagerPlan) -> Option<String> {
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "unknown".to_owned());
    let line = match report.action {
        CertManagerAction::None => return None,
        CertManagerAction::External => "managed by another tool".to_owned(),
        CertManagerAction::Keep => match report.from.as_deref() {
            None => "unchanged".to_owned(),
            Some(version) => format!("stays at {version}"),
        },
        CertManagerAction::Install => format!("install {}", version(&report.to)),
        CertManagerAction::Upgrade => {
            format!("upgrade from {} to {}", version(&report.from), version(&report.to))
        }
    };
    Some(match &report.why {
        Some(why) => format!("{line} ({why})"),
        None => line,
    })
}

fn add_labels(owner: &str, report: &LifecycleReport, text: &mut String) {
    if let Some(labels) = report.labels.get(owner) {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let _ = writeln!(text, "  labels: {}", labels.join(","));
    }
}

fn add_provider(
    provider: &ProviderReport,
    report: &LifecycleReport,
    diffs: DiffDetail,
    width: Option<usize>,
    text: &mut String,
) {
    let what = match (&provider.from, &provider.to) {
        (None, Some(to)) => format!("install {to}"),
        (Some(from), Some(to)) if from == to => format!("stays at {to}"),
        (Some(from), Some(to)) => format!("{from} to {to}"),
        (Some(from), None) => format!("delete {from}"),
        (None, None) => "nothing to do".to_owned(),
    };
    let _ = writeln!(text, "{}: {what} in {}", provider.provider, provider.namespace);
    if let Some(place) = &provider.kustomization {
        let _ = writeln!(text, "  kustomization: {place}");
    }
    add_labels(&provider.provider, report, text);
    add_steps(&provider.steps, diffs, width, text);
}

/// Returns the changes of objects, and the number of unchanged objects.
pub(crate) fn steps(steps: &[StepReport], diffs: DiffDetail, width: Option<usize>) -> String {
    let mut text = String::new();
    add_steps(steps, diffs, width, &mut text);
    text
}

fn add_steps(steps: &[StepReport], diffs: DiffDetail, width: Option<usize>, text: &mut String) {
    let changes: Vec<&StepReport> = steps.iter().filter(|step| step.action.is_change()).collect();
    if diffs == DiffDetail::Summary {
        summary::add(&changes, text);
    } else if !changes.is_empty() {
        add_changes(&changes, width, text);
    }
    let unchanged = steps.len() - changes.len();
    if unchanged > 0 {
        let _ = writeln!(text, "  {unchanged} unchanged");
    }
    text.push('\n');
}

/// Adds a table of the changes, with the diff of each change after its line.
fn add_changes(changes: &[&StepReport], width: Option<usize>, text: &mut String) {
    let row = |step: &&StepReport| {
        let why = step.why.clone().unwrap_or_default();
        [step.action.as_str().to_owned(), step.object.kind.clone(), qualified_name(&step.object), why]
    };
    let rows: Vec<[String; 4]> = changes.iter().map(row).collect();
    let diffs = changes.iter().map(|step| step.diff.as_deref().unwrap_or_default());
    let heading_has_none = std::iter::once("");
    // Each line is indented by two.
    let width = width.map(|width| width.saturating_sub(2));
    for (line, diff) in lines(&rows, width).lines().zip(heading_has_none.chain(diffs)) {
        let _ = writeln!(text, "  {}", line.trim_end());
        for line in diff.lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
}

/// Returns the table of changes. Drops the column `WHY` if it is empty.
fn lines(rows: &[[String; 4]], width: Option<usize>) -> String {
    let ways = [
        NarrowingStep::Shorten("OBJECT", 24),
        NarrowingStep::Shorten("KIND", 16),
        NarrowingStep::Shorten("OBJECT", 12),
    ];
    if rows.iter().all(|[.., why]| why.is_empty()) {
        let rows: Vec<[&str; 3]> =
            rows.iter().map(|[action, kind, object, _]| [&**action, &**kind, &**object]).collect();
        return table(width, &ways, ["ACTION", "KIND", "OBJECT"], &rows);
    }
    table(width, &ways, ["ACTION", "KIND", "OBJECT", "WHY"], rows)
}

pub(super) fn qualified_name(object: &ObjectKey) -> String {
    if object.namespace.is_empty() {
        object.name.clone()
    } else {
        format!("{}/{}", object.namespace, object.name)
    }
}

fn counts(report: &LifecycleReport) -> String {
    let mut counts: BTreeMap<StepAction, usize> = BTreeMap::new();
    let of_providers = report.providers.iter().flat_map(|provider| &provider.steps);
    for step in report.cert_manager.steps.iter().chain(of_providers) {
        *counts.entry(step.action).or_default() += 1;
    }
    let listed: Vec<String> = counts
        .iter()
        .filter(|(action, _)| action.is_change())
        .map(|(action, count)| format!("{count} to {}", action.as_str()))
        .collect();
    match (report.changes, listed.as_slice()) {
        (false, _) => "nothing would change".to_owned(),
        (true, []) => "no object would change".to_owned(),
        (true, listed) => format!("objects: {}", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use api::{
        ProviderId, ProviderType,
        labels::{Labels, LabelsByOwner},
        output::CertManagerReport,
    };
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn step(action: StepAction, kind: &str, namespace: &str, name: &str) -> StepReport {
        let object = ObjectKey {
            group: String::new(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        StepReport { action, object, why: None, diff: None, changes: Vec::new() }
    }

    fn report(steps: Vec<StepReport>) -> LifecycleReport {
        let provider = ProviderReport {
            provider: "cluster-api".to_owned(),
            id: ProviderId::new(ProviderType::Core, "cluster-api"),
            namespace: "capi-system".to_owned(),
            from: Some("v1.13.5".to_owned()),
            to: Some("v1.14.0".to_owned()),
            kustomization: None,
            steps,
        };
        LifecycleReport {
            command: "upgrade apply".to_owned(),
            carried_out: false,
            changes: true,
            cert_manager: CertManagerReport {
                plan: CertManagerPlan::install("v1.21.1", Some("two objects are missing".to_owned())),
                steps: Vec::new(),
            },
            providers: vec![provider],
            labels: LabelsByOwner::from([(
                "cluster-api".to_owned(),
                Labels::from([("team".to_owned(), "a".to_owned()), ("env".to_owned(), String::new())]),
            )]),
            warnings: Vec::new(),
            not_ready: Vec::new(),
        }
    }

    #[test]
    fn changes_are_listed_and_unchanged_objects_are_counted() {
        let steps = vec![
            step(StepAction::Create, "Namespace", "", "capi-system"),
            StepReport {
                why: Some("selector cannot be changed".to_owned()),
                diff: Some("-a\n+b\n".to_owned()),
                ..step(StepAction::Recreate, "Deployment", "capi-system", "manager")
            },
            step(StepAction::Keep, "Secret", "capi-system", "certificate"),
        ];
        assert_data_eq!(
            plan(&report(steps), DiffDetail::Full, None),
            str![[r"
cert-manager: install v1.21.1 (two objects are missing)

cluster-api: v1.13.5 to v1.14.0 in capi-system
  labels: env=,team=a
  ACTION     KIND         OBJECT                WHY
  create     Namespace    capi-system
  recreate   Deployment   capi-system/manager   selector cannot be changed
      -a
      +b
  1 unchanged

objects: 1 to create, 1 to recreate

"]]
        );
    }

    #[test]
    fn the_kustomization_is_listed_below_its_provider() {
        let mut report = report(vec![step(StepAction::Keep, "Secret", "ns", "a")]);
        report.providers[0].kustomization = Some("/etc/capi/core".to_owned());
        assert_data_eq!(
            plan(&report, DiffDetail::Hidden, None),
            str![[r#"
cert-manager: install v1.21.1 (two objects are missing)

cluster-api: v1.13.5 to v1.14.0 in capi-system
  kustomization: /etc/capi/core
  labels: env=,team=a
  1 unchanged

no object would change

"#]]
        );
    }

    #[test]
    fn a_plan_without_changes_is_reported() {
        let mut report = report(vec![step(StepAction::Keep, "Secret", "ns", "a")]);
        report.changes = false;
        assert_data_eq!(
            plan(&report, DiffDetail::Hidden, None),
            str![[r#"
cert-manager: install v1.21.1 (two objects are missing)

cluster-api: v1.13.5 to v1.14.0 in capi-system
  labels: env=,team=a
  1 unchanged

nothing would change

"#]]
        );
    }
}
