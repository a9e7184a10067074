use std::{collections::HashMap, sync::Arc};

use super::{
    conditions::{Condition, ConditionSet},
    extract::LinkedSummary,
    tree::MachineGroup,
};

/// One machine, or a group of machines.
#[derive(Debug)]
pub(super) enum Member<'f> {
    Machine(&'f LinkedSummary),
    Group(MachineGroup),
}

/// The conditions that all machines of a group share.
type ConditionKey<'f> = Vec<Option<[&'f str; 3]>>;

/// Groups machines with equal deciding conditions.
/// Source: clusterctl v1.14 client/tree/tree.go (Add), where a machine forms a group with the first equal machine.
pub(super) fn group_equal(machines: Vec<&LinkedSummary>, set: ConditionSet) -> Vec<Member<'_>> {
    let mut indexes: HashMap<ConditionKey<'_>, usize> = HashMap::new();
    let mut alike: Vec<Vec<&LinkedSummary>> = Vec::new();
    for machine in machines {
        let gist = |kind: &&str| Some(machine.summary.condition(kind)?.comparison_key());
        let place =
            *indexes.entry(grouping_conditions(set).iter().map(gist).collect()).or_insert(alike.len());
        match alike.get_mut(place) {
            Some(others) => others.push(machine),
            None => alike.push(vec![machine]),
        }
    }
    alike.into_iter().filter_map(|machines| machine_or_group(&machines, set)).collect()
}

/// Returns the conditions that must be equal within a group.
fn grouping_conditions(set: ConditionSet) -> &'static [&'static str] {
    match set {
        ConditionSet::V1Beta2 => &["Available", "Ready", "UpToDate"],
        ConditionSet::V1Beta1 => &["Ready"],
    }
}

/// Makes a member of machines with equal conditions.
fn machine_or_group<'f>(machines: &[&'f LinkedSummary], set: ConditionSet) -> Option<Member<'f>> {
    let first = match machines {
        [] => return None,
        [machine] => return Some(Member::Machine(machine)),
        [first, ..] => &first.summary,
    };
    let mut names: Vec<String> = machines.iter().map(|machine| machine.name().to_owned()).collect();
    names.sort_unstable();
    // For conditions of contract v1beta1, clusterctl compares the times of the first two machines only.
    let compared = if set == ConditionSet::V1Beta1 { 2 } else { machines.len() };
    let since =
        machines.iter().take(compared).filter_map(|machine| machine.summary.condition("Ready")?.since).min();
    let holds = |kind: &str| first.condition(kind).is_some_and(Condition::is_true);
    let ready = first.condition("Ready").cloned();
    Some(Member::Group(MachineGroup {
        ready: ready.map(|ready| Condition { message: Arc::default(), since, ..ready }),
        are_available: holds("Available"),
        are_up_to_date: holds("UpToDate"),
        names,
    }))
}

#[cfg(test)]
mod tests {
    use manifest::Object;
    use serde_json::{Value, json};

    use super::*;
    use api::output::PartRole;

    use crate::describe::extract::Extractor;

    /// Parses `name: Type=Status/Reason@day, …`.
    fn machine(text: &str) -> Object {
        let (name, conditions) = text.split_once(": ").unwrap();
        let condition = |text: &str| {
            let (kind, rest) = text.split_once('=').unwrap();
            let (gist, day) = rest.split_once('@').unwrap_or((rest, "1"));
            let (status, reason) = gist.split_once('/').unwrap_or((gist, "R"));
            json!({
                "type": kind, "status": status, "reason": reason, "message": name, "severity": "Info",
                "lastTransitionTime": format!("2026-01-0{day}T00:00:00Z"),
            })
        };
        let all: Vec<Value> = conditions.split(", ").filter(|text| !text.is_empty()).map(condition).collect();
        let status = json!({"conditions": all, "deprecated": {"v1beta1": {"conditions": all}}});
        let fields =
            json!({"apiVersion": "c/v1", "kind": "Machine", "metadata": {"name": name}, "status": status});
        Object::try_from(fields).unwrap()
    }

    fn shown(machines: &[&str], set: ConditionSet) -> Vec<String> {
        let mut taker = Extractor::new(set);
        let taken: Vec<LinkedSummary> =
            machines.iter().map(|text| taker.extract(&machine(text), PartRole::Machine)).collect();
        let members = group_equal(taken.iter().collect(), set);
        let reported = |member: Member<'_>| match member {
            Member::Machine(machine) => machine.name().to_owned(),
            Member::Group(group) => {
                let ready = group.ready.map(|ready| {
                    assert_eq!(&*ready.message, "");
                    format!("{} since {:.10}", ready.status, ready.since.unwrap().to_string())
                });
                format!(
                    "[{}] available {} ready {} up to date {}",
                    group.names.join(" "),
                    group.are_available,
                    ready.as_deref().unwrap_or("-"),
                    group.are_up_to_date
                )
            }
        };
        members.into_iter().map(reported).collect()
    }

    #[test]
    fn machines_with_equal_conditions_are_grouped_with_the_earliest_time() {
        let set = ConditionSet::V1Beta2;
        assert_eq!(
            shown(&["c: Ready=True@3", "a: Ready=True@2", "b: Ready=True@1", "d: Ready=True/Other"], set),
            ["[a b c] available false ready True since 2026-01-01 up to date false", "d"]
        );
        assert_eq!(shown(&["a: ", "b: "], set), ["[a b] available false ready - up to date false"]);
    }

    #[test]
    fn grouped_machines_agree_in_available_ready_and_up_to_date() {
        let all = "Available=True, Ready=True, UpToDate=True";
        let same = [&*format!("a: {all}, Paused=True"), &format!("b: {all}, Paused=False")];
        assert_eq!(
            shown(&same, ConditionSet::V1Beta2),
            ["[a b] available true ready True since 2026-01-01 up to date true"]
        );
        for other in
            ["Available=False, Ready=True, UpToDate=True", "Available=True, Ready=True", "Ready=True"]
        {
            let machines = [&*format!("a: {all}"), &format!("b: {other}")];
            assert_eq!(shown(&machines, ConditionSet::V1Beta2), ["a", "b"], "{other}");
            // Contract v1beta1 has only the condition `Ready`.
            assert_eq!(shown(&machines, ConditionSet::V1Beta1).len(), 1, "{other}");
        }
    }

    #[test]
    fn a_group_of_v1beta1_conditions_has_the_time_of_its_first_two() {
        let machines = ["a: Ready=True@3", "b: Ready=True@2", "c: Ready=True@1"];
        assert_eq!(
            shown(&machines, ConditionSet::V1Beta1),
            ["[a b c] available false ready True since 2026-01-02 up to date false"]
        );
    }
}
