//! What runs containers, and what keeps watch over it.

use serde_json::Value;

use super::{
    AGE, NAME, Printer, age, boolean, integer, pods, text,
    view::{NONE, UNKNOWN, UNSET, View},
};
use crate::selector::LabelSelector;

const CONTAINERS: super::Column = text("Containers").wide();
const IMAGES: super::Column = text("Images").wide();
const SELECTOR: super::Column = text("Selector").wide();

/// What keeps a number of equal pods.
const REPLICA_COLUMNS: [super::Column; 8] =
    [NAME, integer("Desired"), integer("Current"), integer("Ready"), AGE, CONTAINERS, IMAGES, SELECTOR];

pub(super) const PRINTERS: &[Printer] = &[
    Printer { group: "", plural: "pods", columns: pods::COLUMNS, cells: pods::cells },
    Printer {
        group: "",
        plural: "podtemplates",
        columns: &[NAME, text("Containers"), text("Images"), text("Pod Labels")],
        cells: |object| {
            let mut cells = vec![object.name()];
            cells.extend(containers(object, "/template/spec"));
            cells.push(map(object, "/template/metadata/labels"));
            cells
        },
    },
    Printer {
        group: "",
        plural: "replicationcontrollers",
        columns: &REPLICA_COLUMNS,
        cells: |object| {
            let mut cells = replicas(object);
            cells.push(map(object, "/spec/selector"));
            cells
        },
    },
    Printer {
        group: "apps",
        plural: "replicasets",
        columns: &REPLICA_COLUMNS,
        cells: |object| {
            let mut cells = replicas(object);
            cells.push(selector(object, "/spec/selector"));
            cells
        },
    },
    Printer {
        group: "apps",
        plural: "deployments",
        columns: &[
            NAME,
            text("Ready"),
            text("Up-to-date"),
            text("Available"),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        cells: deployment,
    },
    Printer {
        group: "apps",
        plural: "statefulsets",
        columns: &[NAME, text("Ready"), AGE, CONTAINERS, IMAGES],
        cells: |object| {
            let mut cells = vec![object.name(), ready(object), object.age()];
            cells.extend(containers(object, "/spec/template/spec"));
            cells
        },
    },
    Printer {
        group: "apps",
        plural: "daemonsets",
        columns: &[
            NAME,
            integer("Desired"),
            integer("Current"),
            integer("Ready"),
            integer("Up-to-date"),
            integer("Available"),
            text("Node Selector"),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        cells: daemon_set,
    },
    Printer {
        group: "apps",
        plural: "controllerrevisions",
        columns: &[NAME, text("Controller"), text("Revision"), AGE],
        cells: |object| vec![object.name(), controller(object).into(), object.int("/revision"), object.age()],
    },
    Printer {
        group: "batch",
        plural: "jobs",
        columns: &[
            NAME,
            text("Status"),
            text("Completions"),
            text("Duration"),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        cells: job,
    },
    Printer {
        group: "batch",
        plural: "cronjobs",
        columns: &[
            NAME,
            text("Schedule"),
            text("Timezone"),
            boolean("Suspend"),
            integer("Active"),
            text("Last Schedule"),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        cells: cron_job,
    },
    Printer {
        group: "policy",
        plural: "poddisruptionbudgets",
        columns: &[NAME, text("Min Available"), text("Max Unavailable"), integer("Allowed Disruptions"), AGE],
        cells: |object| {
            let bound = |path| Value::from(object.scalar(path).unwrap_or_else(|| "N/A".to_owned()));
            vec![
                object.name(),
                bound("/spec/minAvailable"),
                bound("/spec/maxUnavailable"),
                object.int("/status/disruptionsAllowed"),
                object.age(),
            ]
        },
    },
    Printer {
        group: "autoscaling",
        plural: "horizontalpodautoscalers",
        columns: &[
            NAME,
            text("Reference"),
            text("Targets"),
            text("MinPods"),
            text("MaxPods"),
            text("Replicas"),
            AGE,
        ],
        cells: autoscaler,
    },
];

/// A selector as text, `<none>` when it selects everything.
pub(super) fn selector(object: View<'_>, path: &str) -> Value {
    let text = LabelSelector::of_object(object.get(path).unwrap_or(&Value::Null)).to_string();
    if text.is_empty() { NONE.into() } else { text.into() }
}

/// Labels as text.
pub(super) fn map(object: View<'_>, path: &str) -> Value {
    let text = LabelSelector::of_map(object.get(path).unwrap_or(&Value::Null)).to_string();
    if text.is_empty() { NONE.into() } else { text.into() }
}

/// The names and the images of the containers of a pod spec.
fn containers(object: View<'_>, spec: &str) -> [Value; 2] {
    let path = format!("{spec}/containers");
    ["/name", "/image"].map(|field| {
        let texts: Vec<_> = object.items(&path).map(|container| container.str(field)).collect();
        texts.join(",").into()
    })
}

fn replicas(object: View<'_>) -> Vec<Value> {
    let mut cells = vec![
        object.name(),
        object.int("/spec/replicas"),
        object.int("/status/replicas"),
        object.int("/status/readyReplicas"),
        object.age(),
    ];
    cells.extend(containers(object, "/spec/template/spec"));
    cells
}

fn ready(object: View<'_>) -> Value {
    format!("{}/{}", object.number("/status/readyReplicas"), object.number("/spec/replicas")).into()
}

fn deployment(object: View<'_>) -> Vec<Value> {
    let mut cells = vec![
        object.name(),
        ready(object),
        object.int("/status/updatedReplicas"),
        object.int("/status/availableReplicas"),
        object.age(),
    ];
    cells.extend(containers(object, "/spec/template/spec"));
    let selector = LabelSelector::of_object(object.get("/spec/selector").unwrap_or(&Value::Null));
    cells.push(selector.to_string().into());
    cells
}

fn daemon_set(object: View<'_>) -> Vec<Value> {
    let mut cells = vec![
        object.name(),
        object.int("/status/desiredNumberScheduled"),
        object.int("/status/currentNumberScheduled"),
        object.int("/status/numberReady"),
        object.int("/status/updatedNumberScheduled"),
        object.int("/status/numberAvailable"),
        map(object, "/spec/template/spec/nodeSelector"),
        object.age(),
    ];
    cells.extend(containers(object, "/spec/template/spec"));
    cells.push(selector(object, "/spec/selector"));
    cells
}

fn controller(object: View<'_>) -> String {
    let Some(owner) = object.items("/metadata/ownerReferences").find(|owner| owner.flag("/controller"))
    else {
        return NONE.to_owned();
    };
    let group =
        owner.str("/apiVersion").split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
    format!("{}{}/{}", owner.str("/kind").to_lowercase(), group.to_lowercase(), owner.str("/name"))
}

fn job(object: View<'_>) -> Vec<Value> {
    let (succeeded, parallelism) = (object.number("/status/succeeded"), object.number("/spec/parallelism"));
    let completions = match object.get("/spec/completions").and_then(Value::as_i64) {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    };
    let start = age::seconds(object.str("/status/startTime"));
    let end = age::seconds(object.str("/status/completionTime")).unwrap_or(object.now);
    let duration = start.map(|start| age::human(end.saturating_sub(start))).unwrap_or_default();
    let mut cells =
        vec![object.name(), job_state(object).into(), completions.into(), duration.into(), object.age()];
    cells.extend(containers(object, "/spec/template/spec"));
    cells.push(selector(object, "/spec/selector"));
    cells
}

fn job_state(job: View<'_>) -> &'static str {
    let is = |condition| job.condition(condition) == "True";
    if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if job.is_deleting() {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn cron_job(object: View<'_>) -> Vec<Value> {
    let suspend = match object.get("/spec/suspend").and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => UNSET,
    };
    let last = match object.get("/status/lastScheduleTime") {
        Some(_) => object.since("/status/lastScheduleTime"),
        None => NONE.to_owned(),
    };
    let mut cells = vec![
        object.name(),
        object.text("/spec/schedule"),
        object.str_or("/spec/timeZone", NONE).into(),
        suspend.into(),
        object.count("/status/active").into(),
        last.into(),
        object.age(),
    ];
    cells.extend(containers(object, "/spec/jobTemplate/spec/template/spec"));
    cells.push(selector(object, "/spec/jobTemplate/spec/selector"));
    cells
}

fn autoscaler(object: View<'_>) -> Vec<Value> {
    let reference =
        format!("{}/{}", object.str("/spec/scaleTargetRef/kind"), object.str("/spec/scaleTargetRef/name"));
    vec![
        object.name(),
        reference.into(),
        targets(object).into(),
        object.scalar("/spec/minReplicas").unwrap_or_else(|| UNSET.to_owned()).into(),
        object.int("/spec/maxReplicas"),
        object.int("/status/currentReplicas"),
        object.age(),
    ]
}

/// The first two metrics, current over wanted. `autoscaling/v1` has one metric, in fields of its own.
fn targets(object: View<'_>) -> String {
    let percent = |value: Option<&Value>| value.and_then(Value::as_i64).map(|value| format!("{value}%"));
    if let Some(target) = percent(object.get("/spec/targetCPUUtilizationPercentage")) {
        let current = percent(object.get("/status/currentCPUUtilizationPercentage"));
        return format!("cpu: {}/{target}", current.as_deref().unwrap_or(UNKNOWN));
    }
    let mut statuses = object.items("/status/currentMetrics");
    let metrics: Vec<_> =
        object.items("/spec/metrics").map(|metric| target(metric, statuses.next())).collect();
    match &metrics[..] {
        [] => NONE.to_owned(),
        [first, second, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second} + {} more...", rest.len())
        }
        metrics => metrics.join(", "),
    }
}

fn target(metric: View<'_>, status: Option<View<'_>>) -> String {
    let (field, per_pod) = match metric.str("/type") {
        "Resource" => ("resource", false),
        "ContainerResource" => ("containerResource", false),
        "Pods" => ("pods", true),
        "Object" => ("object", false),
        "External" => ("external", false),
        _ => return "<unknown type>".to_owned(),
    };
    let wanted = |what: &str| metric.scalar(&format!("/{field}/target/{what}"));
    let current = |what: &str| status.and_then(|status| status.scalar(&format!("/{field}/current/{what}")));
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let prefix = match field {
        "resource" | "containerResource" => format!("{}: ", metric.str(&format!("/{field}/name"))),
        _ => String::new(),
    };
    match (wanted("averageValue"), prefix.is_empty()) {
        (Some(average), true) if !per_pod => format!("{}/{average} (avg)", known(current("averageValue"))),
        (Some(average), _) => format!("{prefix}{}/{average}", known(current("averageValue"))),
        (None, true) => format!("{}/{}", known(current("value")), wanted("value").unwrap_or_default()),
        (None, false) => {
            let percent = |value: Option<String>| value.map(|value| format!("{value}%"));
            let target = percent(wanted("averageUtilization")).unwrap_or_else(|| "<auto>".to_owned());
            format!("{prefix}{}/{target}", known(percent(current("averageUtilization"))))
        }
    }
}
