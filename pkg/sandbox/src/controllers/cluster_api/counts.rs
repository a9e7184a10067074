//! Replica counts in the status of objects that own Machines.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition},
    contract::Contract,
    object::{desired_replicas, number, set},
};

/// The numbers of desired, existing, up-to-date, ready and available Machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MachineCounts {
    pub(super) desired: usize,
    pub(super) replicas: usize,
    pub(super) up_to_date: usize,
    pub(super) ready: usize,
    pub(super) available: usize,
}

impl MachineCounts {
    /// Counts Machines by their conditions.
    pub(super) fn of(machines: &[Value], desired: usize) -> Self {
        let having = |kind: &str| machines.iter().filter(|machine| has_condition(machine, kind)).count();
        Self {
            desired,
            replicas: machines.len(),
            up_to_date: having("UpToDate"),
            ready: having("Ready"),
            available: having("Available"),
        }
    }

    pub(super) fn from_status(object: &Value, contract: Contract) -> Self {
        let count = |pointer: &str| usize::try_from(number(object, pointer).unwrap_or(0)).unwrap_or(0);
        let newer = |field: &str| {
            if contract == Contract::V1Beta1 {
                format!("/status/v1beta2/{field}")
            } else {
                format!("/status/{field}")
            }
        };
        // A control plane without the field `replicas` desires no replicas.
        let wanted = if object["spec"].get("replicas").is_some() { desired_replicas(object) } else { 0 };
        Self {
            desired: wanted,
            replicas: count("/status/replicas"),
            up_to_date: count(&newer("upToDateReplicas")),
            ready: count(&newer("readyReplicas")),
            available: count(&newer("availableReplicas")),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        // The caller adds the desired number.
        self.replicas += other.replicas;
        self.up_to_date += other.up_to_date;
        self.ready += other.ready;
        self.available += other.available;
    }

    pub(super) fn is_zero(&self) -> bool {
        self.desired == 0 && self.replicas == 0
    }

    pub(super) fn is_available(&self) -> bool {
        self.available >= self.desired
    }

    pub(super) fn is_scaling_up(&self) -> bool {
        self.replicas < self.desired
    }

    pub(super) fn is_scaling_down(&self) -> bool {
        self.replicas > self.desired
    }

    pub(super) fn is_rolling_out(&self) -> bool {
        self.up_to_date < self.replicas
    }

    pub(super) fn all_ready(&self, kind: &'static str) -> Condition {
        self.all_condition(kind, "Ready", self.ready)
    }

    pub(super) fn all_up_to_date(&self, kind: &'static str) -> Condition {
        self.all_condition(kind, "UpToDate", self.up_to_date)
    }

    fn all_condition(&self, kind: &'static str, reason: &str, count: usize) -> Condition {
        if self.replicas == 0 {
            Condition::new(kind, true, "NoReplicas")
        } else {
            Condition::positive(kind, reason, count == self.replicas)
        }
    }

    pub(super) fn to_cluster_status(&self) -> Value {
        json!({
            "desiredReplicas": self.desired, "replicas": self.replicas, "upToDateReplicas": self.up_to_date,
            "readyReplicas": self.ready, "availableReplicas": self.available,
        })
    }

    /// Writes the counts to the status of a Machine owner. `older` are the fields of the kind under contract v1beta1.
    pub(super) fn write(&self, object: &mut Value, contract: Contract, older: &[&str]) {
        let unavailable = self.replicas.max(self.desired).saturating_sub(self.available);
        let newer = json!({
            "upToDateReplicas": self.up_to_date, "readyReplicas": self.ready, "availableReplicas": self.available,
        });
        let mut all = json!({
            "readyReplicas": self.ready, "availableReplicas": self.available, "unavailableReplicas": unavailable,
            "updatedReplicas": self.up_to_date, "fullyLabeledReplicas": self.replicas,
        });
        let older = older.iter().map(|field| ((*field).to_owned(), all[*field].take())).collect();
        set(object, &["status", "replicas"], json!(self.replicas));
        let (new_place, old_place): (&[&str], &[&str]) = match contract {
            Contract::V1Beta1 => (&["status", "v1beta2"], &["status"]),
            Contract::V1Beta2 => (&["status"], &["status", "deprecated", "v1beta1"]),
        };
        for (place, counts) in [(new_place, newer), (old_place, Value::Object(older))] {
            for (field, count) in counts.as_object().into_iter().flatten() {
                set(object, &[place, &[field.as_str()]].concat(), count.clone());
            }
        }
    }
}

/// True if a Machine or another object has a true `metav1` condition of this type.
pub(super) fn has_condition(object: &Value, kind: &str) -> bool {
    let status = match Contract::of(object) {
        Contract::V1Beta1 => &object["status"]["v1beta2"],
        Contract::V1Beta2 => &object["status"],
    };
    conditions::is_true(status, kind)
}
