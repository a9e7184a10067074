//! Who may do what: roles, certificates, admission.

use serde_json::Value;

use super::{
    AGE, Column, NAME, Printer, age, cluster, integer, text,
    view::{NONE, UNSET, View},
};

const BINDING: &[Column] =
    &[NAME, text("Role"), AGE, text("Users").wide(), text("Groups").wide(), text("ServiceAccounts").wide()];

const ADMISSION: &str = "admissionregistration.k8s.io";
const WEBHOOKS: &[Column] = &[NAME, integer("Webhooks"), AGE];
const POLICY_BINDING: &[Column] = &[NAME, text("PolicyName"), text("ParamRef"), AGE];

pub(super) const PRINTERS: &[Printer] = &[
    Printer { group: "rbac.authorization.k8s.io", plural: "rolebindings", columns: BINDING, cells: binding },
    Printer {
        group: "rbac.authorization.k8s.io",
        plural: "clusterrolebindings",
        columns: BINDING,
        cells: binding,
    },
    Printer {
        group: "certificates.k8s.io",
        plural: "certificatesigningrequests",
        columns: &[
            NAME,
            AGE,
            text("SignerName"),
            text("Requestor"),
            text("RequestedDuration"),
            text("Condition"),
        ],
        cells: |object| {
            let duration = object.get("/spec/expirationSeconds").and_then(Value::as_i64);
            vec![
                object.name(),
                object.age(),
                object.str_or("/spec/signerName", NONE).into(),
                object.text("/spec/username"),
                duration.map_or_else(|| NONE.to_owned(), age::human).into(),
                request_state(object).into(),
            ]
        },
    },
    Printer { group: ADMISSION, plural: "mutatingwebhookconfigurations", columns: WEBHOOKS, cells: webhooks },
    Printer {
        group: ADMISSION,
        plural: "validatingwebhookconfigurations",
        columns: WEBHOOKS,
        cells: webhooks,
    },
    Printer {
        group: ADMISSION,
        plural: "validatingadmissionpolicies",
        columns: &[NAME, integer("Validations"), text("ParamKind"), AGE],
        cells: |object| policy(object, "/spec/validations"),
    },
    Printer {
        group: ADMISSION,
        plural: "mutatingadmissionpolicies",
        columns: &[NAME, integer("Mutations"), text("ParamKind"), AGE],
        cells: |object| policy(object, "/spec/mutations"),
    },
    Printer {
        group: ADMISSION,
        plural: "validatingadmissionpolicybindings",
        columns: POLICY_BINDING,
        cells: policy_binding,
    },
    Printer {
        group: ADMISSION,
        plural: "mutatingadmissionpolicybindings",
        columns: POLICY_BINDING,
        cells: policy_binding,
    },
];

fn binding(object: View<'_>) -> Vec<Value> {
    let subjects = |kind: &str| {
        let subjects = object.items("/subjects").filter(|subject| subject.str("/kind") == kind);
        let names = subjects.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", subject.str("/namespace"), subject.str("/name")),
            _ => subject.str("/name").to_owned(),
        });
        Value::from(names.collect::<Vec<_>>().join(", "))
    };
    vec![
        object.name(),
        format!("{}/{}", object.str("/roleRef/kind"), object.str("/roleRef/name")).into(),
        object.age(),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

fn request_state(request: View<'_>) -> String {
    let has = |kind| !request.condition(kind).is_empty();
    let decision = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = if request.str("/status/certificate").is_empty() { "" } else { ",Issued" };
    format!("{decision}{failed}{issued}")
}

fn webhooks(object: View<'_>) -> Vec<Value> {
    vec![object.name(), object.count("/webhooks").into(), object.age()]
}

fn policy(object: View<'_>, counted: &str) -> Vec<Value> {
    let kind = object.get("/spec/paramKind").map(|_| {
        format!("{}/{}", object.str("/spec/paramKind/apiVersion"), object.str("/spec/paramKind/kind"))
    });
    vec![
        object.name(),
        object.count(counted).into(),
        kind.unwrap_or_else(|| UNSET.to_owned()).into(),
        object.age(),
    ]
}

fn policy_binding(object: View<'_>) -> Vec<Value> {
    vec![object.name(), object.text("/spec/policyName"), cluster::parameter(object).into(), object.age()]
}
