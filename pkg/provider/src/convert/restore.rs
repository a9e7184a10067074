//! The annotation in which the webhooks store v1beta2 data that v1beta1 cannot represent.

use manifest::{Map, Value};

use super::error::ConversionProblem;
use super::field_converter::FieldConverter;

const CONVERSION_DATA: &str = "cluster.x-k8s.io/conversion-data";

/// Removes the annotation from an object that an API server returned as v1beta1.
pub(super) fn take_annotation(object: &mut Map<String, Value>) -> Option<Value> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let data = annotations.remove(CONVERSION_DATA);
    if annotations.is_empty() && data.is_some() {
        metadata.remove("annotations");
    }
    data
}

/// Restores the v1beta2 data in the annotation of a Machine.
///
/// Source: core/webhooks/conversion/machine.go (ConvertMachineV1Beta1ToHub): minimum ready seconds, phase and failure
/// domain, even if absent. The annotations of other kinds only distinguish `false` from unset, which has no effect.
pub(super) fn restore_fields(
    data: &Value,
    kind: &str,
    object: &mut Map<String, Value>,
    walk: &mut FieldConverter<'_>,
) {
    let stored: Option<Value> = data.as_str().and_then(|text| serde_json::from_str(text).ok());
    let Some(stored) = stored.filter(Value::is_object) else {
        walk.fault_at(
            &format!("metadata.annotations[{CONVERSION_DATA}]"),
            ConversionProblem::BadConversionData,
        );
        return;
    };
    if kind != "Machine" {
        return;
    }
    for (part, field) in [("spec", "minReadySeconds"), ("status", "phase"), ("status", "failureDomain")] {
        let value = stored.get(part).and_then(|fields| fields.get(field)).filter(|value| !value.is_null());
        match (value, object.get_mut(part)) {
            (Some(value), Some(Value::Object(fields))) => {
                fields.insert(field.to_owned(), value.clone());
            }
            (Some(value), None) => {
                object.insert(
                    part.to_owned(),
                    Value::Object(Map::from_iter([(field.to_owned(), value.clone())])),
                );
            }
            (None, Some(Value::Object(fields))) => {
                fields.remove(field);
            }
            _ => {}
        }
    }
}
