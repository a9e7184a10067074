//! The changes of a plan by importance: workloads, permissions, definitions, everything else.

use std::{collections::BTreeMap, fmt::Write as _};

use api::output::{ChangeEffect, ChangedPart, ObjectChange, StepAction, StepReport};

use super::text::qualified_name;
use crate::ui::first_chars;

pub(super) const LEGEND: &str = "`!` marks stricter validation; `--diff=full` shows every line\n";

/// The limit of changes shown per object. The others are counted.
const MAX_SHOWN: usize = 16;
const MAX_SHOWN_NEW: usize = 6;
const MAX_VALUE_CHARS: usize = 60;

/// Adds every changed object with its changes. Changed labels and annotations follow at the end.
pub(super) fn add(steps: &[&StepReport], text: &mut String) {
    let (aside, mut shown): (Vec<&StepReport>, Vec<&StepReport>) =
        steps.iter().partition(|step| has_only_minor_changes(step));
    shown.sort_by_key(|step| rank(step));
    for step in shown {
        add_object(step, text);
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for step in aside {
        *kinds.entry(&step.object.kind).or_default() += 1;
    }
    for (kind, count) in kinds {
        let _ = writeln!(text, "  update {count} {kind}: only labels, annotations or descriptions");
    }
    for line in metadata(steps) {
        let _ = writeln!(text, "  {line}");
    }
}

/// True if no change of an object has its own line.
fn has_only_minor_changes(step: &StepReport) -> bool {
    let is_aside = step.changes.iter().all(|change| is_minor(change.part));
    step.action == StepAction::Update && step.diff.is_none() && step.why.is_none() && is_aside
}

/// Returns the sort position: workloads first, then permissions, then definitions.
fn rank(step: &StepReport) -> usize {
    let of_part = |change: &ObjectChange| match change.part {
        ChangedPart::Image | ChangedPart::Argument | ChangedPart::Environment => 0,
        ChangedPart::Permission => 1,
        ChangedPart::Label | ChangedPart::Annotation => 3,
        _ => 2,
    };
    let of_kind = if step.object.kind == "CustomResourceDefinition" { 2 } else { 3 };
    step.changes.iter().map(of_part).min().unwrap_or(of_kind).min(of_kind)
}

fn add_object(step: &StepReport, text: &mut String) {
    let why = step.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let heading =
        format!("{} {} {}{why}", step.action.as_str(), step.object.kind, qualified_name(&step.object));
    let descriptions = step.changes.iter().filter(|change| change.part == ChangedPart::Description).count();
    let note = match descriptions {
        0 => String::new(),
        1 => ": one description".to_owned(),
        several => format!(": {several} descriptions"),
    };
    let _ = writeln!(text, "  {heading}{note}");
    let is_new =
        step.changes.iter().all(|change| change.effect == ChangeEffect::Added) && step.diff.is_none();
    let shown = if is_new { MAX_SHOWN_NEW } else { MAX_SHOWN };
    let lines = lines(&step.changes);
    for line in lines.iter().take(shown) {
        let _ = writeln!(text, "    {line}");
    }
    if let Some(more) = lines.len().checked_sub(shown).filter(|more| *more > 0) {
        let _ = writeln!(text, "    and {more} more");
    }
    for line in step.diff.as_deref().unwrap_or_default().lines() {
        let _ = writeln!(text, "    {line}");
    }
}

/// Returns a line per change, except for texts and metadata. A change common to several versions is one line.
fn lines(changes: &[ObjectChange]) -> Vec<String> {
    let mut versions: BTreeMap<(ChangedPart, ChangeEffect, String), Vec<&str>> = BTreeMap::new();
    for change in changes.iter().filter(|change| !is_minor(change.part)) {
        let of = versions.entry((change.part, change.effect, words(change))).or_default();
        of.extend(change.version.as_deref());
    }
    let line = |((_, effect, words), versions): (&(_, ChangeEffect, String), &Vec<&str>)| {
        let versions = if versions.is_empty() { String::new() } else { format!("{}: ", versions.join(", ")) };
        format!("{} {versions}{words}", mark(*effect))
    };
    versions.iter().map(line).collect()
}

fn is_minor(part: ChangedPart) -> bool {
    matches!(part, ChangedPart::Label | ChangedPart::Annotation | ChangedPart::Description)
}

fn mark(effect: ChangeEffect) -> char {
    match effect {
        ChangeEffect::Added => '+',
        ChangeEffect::Removed => '-',
        ChangeEffect::Tightened => '!',
        ChangeEffect::Changed | ChangeEffect::Loosened => '~',
    }
}

fn words(change: &ObjectChange) -> String {
    let name = &change.name;
    let rule = change.rule.as_deref().unwrap_or_default();
    match change.part {
        ChangedPart::Image => image(change),
        ChangedPart::Argument if rule.is_empty() => format!("argument of {name}: {}", values(change)),
        ChangedPart::Argument => format!("argument {rule} of {name}: {}", values(change)),
        ChangedPart::Environment => format!("environment {rule} of {name}: {}", values(change)),
        ChangedPart::Permission => format!("permission to {} {name}", values(change)),
        ChangedPart::Version if change.version.is_some() || name == "conversion" => {
            format!("{name}: {}", values(change))
        }
        ChangedPart::Version => format!("version {name}: {}", values(change)),
        ChangedPart::Column => format!("column {name}: {}", values(change)),
        ChangedPart::Field => format!("{name} ({})", values(change)),
        ChangedPart::Default => format!("{name} default {}", values(change)),
        ChangedPart::Validation => {
            let verb = if change.after.is_none() { "no longer " } else { "" };
            let name = if name.is_empty() { String::new() } else { format!("{name} ") };
            format!("{name}{verb}{rule} {}", values(change))
        }
        ChangedPart::Label | ChangedPart::Annotation | ChangedPart::Description => name.clone(),
    }
}

/// Returns the change of an image, without the common part of both names.
fn image(change: &ObjectChange) -> String {
    if let (Some(before), Some(after)) = (&change.before, &change.after)
        && let (Some((from, old)), Some((to, new))) = (before.rsplit_once(':'), after.rsplit_once(':'))
        && from == to
    {
        let short = from.rsplit_once('/').map_or(from, |(_, name)| name);
        return format!("image {short}: {old} to {new}");
    }
    format!("image of {}: {}", change.name, values(change))
}

fn values(change: &ObjectChange) -> String {
    match (change.before.as_deref().map(short), change.after.as_deref().map(short)) {
        (Some(before), Some(after)) => format!("{before} to {after}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => String::new(),
    }
}

fn short(value: &str) -> String {
    first_chars(&value.replace('\n', " "), MAX_VALUE_CHARS)
}

/// Returns changed labels and annotations with the number of objects.
fn metadata(steps: &[&StepReport]) -> Vec<String> {
    let mut counts: BTreeMap<(ChangeEffect, String), usize> = BTreeMap::new();
    for change in steps.iter().flat_map(|step| &step.changes) {
        let word = match change.part {
            ChangedPart::Label => "label",
            ChangedPart::Annotation => "annotation",
            _ => continue,
        };
        let text = format!("{word} {}: {}", change.name, values(change));
        *counts.entry((change.effect, text)).or_default() += 1;
    }
    let line = |((effect, text), count): (&(ChangeEffect, String), &usize)| {
        let objects = if *count == 1 { "one object".to_owned() } else { format!("{count} objects") };
        format!("{} {text} ({objects})", mark(*effect))
    };
    counts.iter().map(line).collect()
}
