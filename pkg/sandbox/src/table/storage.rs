//! Volumes and what makes them.

use serde_json::Value;

use super::{
    AGE, Column, NAME, Printer, boolean, integer, text,
    view::{NONE, UNSET, View},
};

pub(super) const PRINTERS: &[Printer] = &[
    Printer {
        group: "",
        plural: "persistentvolumes",
        columns: &[
            NAME,
            text("Capacity"),
            text("Access Modes"),
            text("Reclaim Policy"),
            text("Status"),
            text("Claim"),
            text("StorageClass"),
            text("VolumeAttributesClass"),
            text("Reason"),
            AGE,
            text("VolumeMode").wide(),
        ],
        cells: |object| {
            let claim = object.get("/spec/claimRef").map(|_| {
                format!("{}/{}", object.str("/spec/claimRef/namespace"), object.str("/spec/claimRef/name"))
            });
            vec![
                object.name(),
                object.str_or("/spec/capacity/storage", "0").into(),
                access_modes(object, "/spec/accessModes").into(),
                object.text("/spec/persistentVolumeReclaimPolicy"),
                phase(object),
                claim.unwrap_or_default().into(),
                class(object),
                object.str_or("/spec/volumeAttributesClassName", UNSET).into(),
                object.text("/status/reason"),
                object.age(),
                object.str_or("/spec/volumeMode", UNSET).into(),
            ]
        },
    },
    Printer {
        group: "",
        plural: "persistentvolumeclaims",
        columns: &[
            NAME,
            text("Status"),
            text("Volume"),
            text("Capacity"),
            text("Access Modes"),
            text("StorageClass"),
            text("VolumeAttributesClass"),
            AGE,
            text("VolumeMode").wide(),
        ],
        cells: |object| {
            // What it has counts only once it has a volume.
            let bound = !object.str("/spec/volumeName").is_empty();
            let (capacity, modes) = if bound {
                (object.str_or("/status/capacity/storage", "0"), access_modes(object, "/status/accessModes"))
            } else {
                ("", String::new())
            };
            vec![
                object.name(),
                phase(object),
                object.text("/spec/volumeName"),
                capacity.into(),
                modes.into(),
                class(object),
                object.str_or("/spec/volumeAttributesClassName", UNSET).into(),
                object.age(),
                object.str_or("/spec/volumeMode", UNSET).into(),
            ]
        },
    },
    Printer {
        group: "storage.k8s.io",
        plural: "storageclasses",
        columns: &[
            NAME,
            text("Provisioner"),
            text("ReclaimPolicy"),
            text("VolumeBindingMode"),
            text("AllowVolumeExpansion"),
            AGE,
        ],
        cells: |object| {
            let default = ["storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"]
                .into_iter()
                .any(|prefix| object.annotation(&format!("{prefix}/is-default-class")) == Some("true"));
            let mark = if default { " (default)" } else { "" };
            vec![
                format!("{}{mark}", object.str("/metadata/name")).into(),
                object.text("/provisioner"),
                object.str_or("/reclaimPolicy", "Delete").into(),
                object.str_or("/volumeBindingMode", "Immediate").into(),
                object.flag("/allowVolumeExpansion").into(),
                object.age(),
            ]
        },
    },
    Printer {
        group: "storage.k8s.io",
        plural: "volumeattributesclasses",
        columns: &[NAME, text("DriverName"), AGE],
        cells: |object| vec![object.name(), object.text("/driverName"), object.age()],
    },
    Printer {
        group: "storage.k8s.io",
        plural: "volumeattachments",
        columns: &[
            NAME,
            Column { format: "name", ..text("Attacher") },
            text("PV"),
            text("Node"),
            boolean("Attached"),
            AGE,
        ],
        cells: |object| {
            vec![
                object.name(),
                object.text("/spec/attacher"),
                object.text("/spec/source/persistentVolumeName"),
                object.text("/spec/nodeName"),
                object.flag("/status/attached").into(),
                object.age(),
            ]
        },
    },
    Printer {
        group: "storage.k8s.io",
        plural: "csinodes",
        columns: &[NAME, integer("Drivers"), AGE],
        cells: |object| vec![object.name(), object.count("/spec/drivers").into(), object.age()],
    },
    Printer {
        group: "storage.k8s.io",
        plural: "csidrivers",
        columns: &[
            NAME,
            boolean("AttachRequired"),
            boolean("PodInfoOnMount"),
            boolean("StorageCapacity"),
            text("TokenRequests"),
            boolean("RequiresRepublish"),
            text("Modes"),
            AGE,
        ],
        cells: driver,
    },
];

fn phase(object: View<'_>) -> Value {
    if object.is_deleting() { "Terminating".into() } else { object.text("/status/phase") }
}

fn class(object: View<'_>) -> Value {
    let class = object.annotation("volume.beta.kubernetes.io/storage-class");
    class.unwrap_or_else(|| object.str("/spec/storageClassName")).into()
}

fn access_modes(object: View<'_>, path: &str) -> String {
    let modes = object.strings(path);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let short = short.iter().filter(|(mode, _)| modes.contains(mode)).map(|(_, short)| *short);
    short.collect::<Vec<_>>().join(",")
}

fn driver(object: View<'_>) -> Vec<Value> {
    let audiences = object.items("/spec/tokenRequests").map(|request| request.str("/audience"));
    let audiences = audiences.collect::<Vec<_>>().join(",");
    let modes = object.strings("/spec/volumeLifecycleModes").join(",");
    vec![
        object.name(),
        object.get("/spec/attachRequired").and_then(Value::as_bool).unwrap_or(true).into(),
        object.flag("/spec/podInfoOnMount").into(),
        object.flag("/spec/storageCapacity").into(),
        if object.get("/spec/tokenRequests").is_some() { audiences.into() } else { UNSET.into() },
        object.flag("/spec/requiresRepublish").into(),
        if modes.is_empty() { NONE.into() } else { modes.into() },
        object.age(),
    ]
}
