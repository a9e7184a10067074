//! Volumes, claims and storage classes.

use serde_json::Value;

use super::{SPEC, selector};
use crate::builtin::rules::{
    faults::{Faults, Path, entries, items, text},
    formats,
    quantity::Quantity,
};

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// Fields of a volume that are no source.
const VOLUME_FIELDS: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

fn access_modes(spec: &Value, missing: &str, to: &mut Faults) {
    let path = SPEC.field("accessModes");
    if items(&spec["accessModes"]).next().is_none() {
        to.required(&path, missing);
    }
}

fn known_modes(spec: &Value, to: &mut Faults) {
    for (_, mode) in items(&spec["accessModes"]) {
        to.one_of(&SPEC.field("accessModes"), mode, &ACCESS_MODES);
    }
}

fn class_name(spec: &Value, to: &mut Faults) {
    let name = text(&spec["storageClassName"]);
    if !name.is_empty() {
        to.format(&SPEC.field("storageClassName"), name, formats::dns_subdomain(name));
    }
}

fn volume_mode(spec: &Value, to: &mut Faults) {
    to.one_of(&SPEC.field("volumeMode"), &spec["volumeMode"], &["Block", "Filesystem"]);
}

fn storage(path: &Path<'_>, amount: &Value, to: &mut Faults) {
    match amount.as_str().and_then(Quantity::parse) {
        None => to.required(path, ""),
        Some(quantity) if quantity.compare(Quantity::default()).is_le() => {
            to.invalid(path, text(amount), "must be greater than zero");
        }
        Some(quantity) if !quantity.is_whole() => to.invalid(path, text(amount), "must be an integer"),
        Some(_) => {}
    }
}

/// PersistentVolumeClaim.
pub(super) fn claim(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let spec = &object["spec"];
    access_modes(spec, "at least 1 access mode is required", to);
    if !spec["selector"].is_null() {
        selector::validate(&spec["selector"], &SPEC.field("selector"), to);
    }
    known_modes(spec, to);
    let resources = SPEC.field("resources");
    storage(&resources.key("storage"), &spec["resources"]["requests"]["storage"], to);
    class_name(spec, to);
    volume_mode(spec, to);
    if let Some(old) = old {
        claim_unchanged(object, old, to);
    }
}

fn claim_unchanged(object: &Value, old: &Value, to: &mut Faults) {
    let bound = object["status"]["phase"] == "Bound";
    let unnamed = text(&old["spec"]["volumeName"]).is_empty();
    let unclassed = old["spec"]["storageClassName"].is_null();
    let fixed = |spec: &Value| {
        let mut spec = spec.clone();
        if unclassed && let Some(fields) = spec.as_object_mut() {
            fields.remove("storageClassName");
        }
        if unnamed && let Some(fields) = spec.as_object_mut() {
            fields.remove("volumeName");
        }
        if bound && let Some(fields) = spec.as_object_mut() {
            fields.remove("volumeAttributesClassName");
            let requests = fields.get_mut("resources").and_then(|resources| resources.get_mut("requests"));
            if let Some(requests) = requests.and_then(Value::as_object_mut) {
                requests.remove("storage");
            }
        }
        spec
    };
    let (new_spec, old_spec) = (&object["spec"], &old["spec"]);
    if fixed(new_spec) != fixed(old_spec) {
        to.forbidden(
            &SPEC,
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        );
    }
    let size = |spec: &Value| Quantity::parse(text(&spec["resources"]["requests"]["storage"]));
    let capacity = Quantity::parse(text(&old["status"]["capacity"]["storage"])).unwrap_or_default();
    if let (Some(new), Some(before)) = (size(new_spec), size(old_spec))
        && new.compare(before).is_lt()
        && new.compare(capacity).is_le()
    {
        let path = SPEC.field("resources.requests.storage");
        to.forbidden(&path, "field can not be less than status.capacity");
    }
    to.immutable(&Path::Root("volumeMode"), &old_spec["volumeMode"], &new_spec["volumeMode"]);
}

/// PersistentVolume.
pub(super) fn volume(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let spec = &object["spec"];
    access_modes(spec, "", to);
    known_modes(spec, to);
    let capacity = SPEC.field("capacity");
    if entries(&spec["capacity"]).next().is_none() {
        to.required(&capacity, "");
    }
    if spec["capacity"]["storage"].is_null() {
        to.unsupported(&capacity, spec["capacity"].clone(), &["storage"]);
    } else {
        storage(&capacity.key("storage"), &spec["capacity"]["storage"], to);
    }
    let policies = ["Delete", "Recycle", "Retain"];
    to.one_of(
        &SPEC.field("persistentVolumeReclaimPolicy"),
        &spec["persistentVolumeReclaimPolicy"],
        &policies,
    );
    let sources = |spec: &Value| -> Vec<(String, Value)> {
        let fields = entries(spec).filter(|(field, _)| !VOLUME_FIELDS.contains(field));
        fields.map(|(field, source)| (field.to_owned(), source.clone())).collect()
    };
    let given = sources(spec);
    if given.is_empty() {
        to.required(&SPEC, "must specify a volume type");
    }
    if let Some((extra, _)) = given.get(1) {
        to.forbidden(&SPEC.field(extra), "may not specify more than 1 volume type");
    }
    class_name(spec, to);
    volume_mode(spec, to);
    if let Some(old) = old {
        if given != sources(&old["spec"]) {
            to.forbidden(
                &Path::Root("spec.persistentvolumesource"),
                "spec.persistentvolumesource is immutable after creation",
            );
        }
        to.immutable(&Path::Root("volumeMode"), &old["spec"]["volumeMode"], &spec["volumeMode"]);
    }
}

/// StorageClass.
pub(super) fn class(object: &Value, old: Option<&Value>, to: &mut Faults) {
    if let Some(old) = old {
        for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
            to.immutable(&Path::Root(field), &old[field], &object[field]);
        }
        return;
    }
    let provisioner = text(&object["provisioner"]);
    if provisioner.is_empty() {
        to.required(&Path::Root("provisioner"), "");
    } else {
        let lower = provisioner.to_lowercase();
        to.format(&Path::Root("provisioner"), &lower, formats::qualified_name(&lower));
    }
    to.one_of(&Path::Root("reclaimPolicy"), &object["reclaimPolicy"], &["Delete", "Retain"]);
    let modes = ["Immediate", "WaitForFirstConsumer"];
    to.one_of(&Path::Root("volumeBindingMode"), &object["volumeBindingMode"], &modes);
}
