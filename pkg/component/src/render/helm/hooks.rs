//! Hooks of Helm as waves: annotations that say when an object is applied, purged and recreated.

use manifest::Object;
use serde_json::Value;

use crate::RECONCILER;
use crate::render::request::RenderRequest;

const HOOK: &str = "helm.sh/hook";
const WEIGHT: &str = "helm.sh/hook-weight";
const DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
const RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// The weights of hooks are from -100 to 100.
const MAX_WEIGHT: i64 = 100;

/// The wave behind all hooks.
const LAST_WAVE: i64 = 2 * MAX_WEIGHT + 1;

/// Sets the annotations of an object. False for a hook that is not deployed. The error is the reason.
pub(super) fn apply(object: &mut Object, request: &RenderRequest<'_>) -> Result<bool, String> {
    normalize(object)?;
    let prefix = RECONCILER;
    for (key, _) in object.annotations() {
        if key.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/')) {
            return Err(format!("a chart must not set the annotation `{key}`"));
        }
    }
    match object.annotation(RESOURCE_POLICY) {
        None => {}
        Some("keep") => object.set_annotation(&format!("{prefix}/delete-policy"), "orphan"),
        Some(other) => return Err(format!("`{RESOURCE_POLICY}: {other}` is not supported; use `keep`")),
    }
    let Some(hook) = Hook::parse(object)? else { return Ok(true) };
    let Some(wave) = hook.wave(request.is_install()) else { return Ok(false) };
    let mut set = |name: &str, value: &str| object.set_annotation(&format!("{prefix}/{name}"), value);
    if hook.is_recreated {
        set("update-policy", "recreate");
    }
    set("reconcile-policy", wave.reconcile);
    set("apply-order", &wave.apply_order.to_string());
    if let Some(order) = wave.purge_order {
        set("purge-order", &order.to_string());
    }
    Ok(true)
}

/// Makes annotations texts: those that are null are empty, as for an API server; other values are refused.
fn normalize(object: &mut Object) -> Result<(), String> {
    let Some(Value::Object(metadata)) = object.get_mut(&["metadata"]) else { return Ok(()) };
    match metadata.get_mut("annotations") {
        Some(Value::Object(annotations)) => {
            for (key, value) in annotations {
                match value {
                    Value::String(_) => {}
                    Value::Null => *value = Value::String(String::new()),
                    _ => {
                        let hint = "put quotes around its value";
                        return Err(format!("the annotation `{key}` is not a string; {hint}"));
                    }
                }
            }
        }
        Some(Value::Null) => drop(metadata.remove("annotations")),
        Some(_) => return Err("`metadata.annotations` is not a mapping".to_owned()),
        None => {}
    }
    Ok(())
}

/// A hook that is deployed with a Component.
struct Hook {
    events: Vec<String>,
    weight: i64,
    /// True if the object is deleted and created again at each change.
    is_recreated: bool,
    /// True if the object is deleted once it succeeded.
    is_purged: bool,
}

/// The time at which a hook is applied.
struct Wave {
    reconcile: &'static str,
    apply_order: i64,
    purge_order: Option<i64>,
}

impl Hook {
    /// Reads the annotations of a hook; `None` for other objects.
    fn parse(object: &Object) -> Result<Option<Self>, String> {
        let Some(events) = object.annotation(HOOK) else { return Ok(None) };
        let events: Vec<String> = events.split(',').map(str::to_owned).collect();
        for event in &events {
            match event.as_str() {
                "pre-install" | "post-install" | "pre-upgrade" | "post-upgrade" | "pre-rollback"
                | "post-rollback" | "test" | "test-success" => {}
                "pre-delete" | "post-delete" => return Err(format!("the hook `{event}` is not supported")),
                _ => return Err(format!("`{event}` in `{HOOK}` is no hook")),
            }
        }
        let weight = match object.annotation(WEIGHT) {
            None => 0,
            Some(text) => match text.parse() {
                Ok(weight) if (-MAX_WEIGHT..=MAX_WEIGHT).contains(&weight) => weight,
                _ => {
                    return Err(format!(
                        "`{WEIGHT}: {text}` is no number from -{MAX_WEIGHT} to {MAX_WEIGHT}"
                    ));
                }
            },
        };
        let policies = object.annotation(DELETE_POLICY).unwrap_or("before-hook-creation");
        let (mut is_recreated, mut is_purged) = (false, false);
        for policy in policies.split(',') {
            match policy {
                "before-hook-creation" => is_recreated = true,
                "hook-succeeded" => is_purged = true,
                "hook-failed" => return Err(format!("`{DELETE_POLICY}: {policy}` is not supported")),
                _ => return Err(format!("`{policy}` in `{DELETE_POLICY}` is no policy")),
            }
        }
        Ok(Some(Self { events, weight, is_recreated, is_purged }))
    }

    fn has(&self, event: &str) -> bool {
        self.events.iter().any(|found| found == event)
    }

    /// Returns the wave of the hook, or `None` if it has no event of a deployment.
    fn wave(&self, is_first: bool) -> Option<Wave> {
        let upgrade = || self.wave_of("pre-upgrade", "post-upgrade", "on-object-or-component-change");
        let install = || self.wave_of("pre-install", "post-install", "once");
        if is_first { install() } else { upgrade().or_else(install) }
    }

    fn wave_of(&self, before: &str, after: &str, reconcile: &'static str) -> Option<Wave> {
        let (is_before, is_after) = (self.has(before), self.has(after));
        if !is_before && !is_after {
            return None;
        }
        let first = MAX_WEIGHT + 1;
        let apply_order = if is_before { self.weight - first } else { self.weight + first };
        let purge_order = if is_after { LAST_WAVE } else { -1 };
        Some(Wave { reconcile, apply_order, purge_order: self.is_purged.then_some(purge_order) })
    }
}
