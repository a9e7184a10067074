use std::sync::Arc;

use jiff::Timestamp;
use manifest::{Object, Value};

use super::extract::InternedTexts;

/// The conditions of an object to read, by contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConditionSet {
    /// The conditions of contract v1beta2.
    #[default]
    V1Beta2,
    /// The conditions of contract v1beta1, if objects still have them.
    V1Beta1,
}

/// A condition of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The type, such as `Ready`.
    pub condition_type: Arc<str>,
    /// `True`, `False` or `UnknownResource`; any text for core objects.
    pub status: Arc<str>,
    /// The severity of a false condition; empty except for contract v1beta1.
    pub severity: Arc<str>,
    /// The reason, in one word.
    pub reason: Arc<str>,
    /// The explanation; may have several lines.
    pub message: Arc<str>,
    /// The time of the last change, if known.
    pub since: Option<Timestamp>,
}

/// The default reason of a condition.
/// Source: clusterctl v1.14, util/conditions (NoReasonReported).
const NO_REASON: &str = "NoReasonReported";

impl Condition {
    /// True if the status is `True`.
    pub fn is_true(&self) -> bool {
        &*self.status == "True"
    }

    /// True if both conditions have equal status, severity and reason; two missing conditions are equal.
    pub(super) fn is_same_state(one: Option<&Self>, other: Option<&Self>) -> bool {
        one.map(Self::comparison_key) == other.map(Self::comparison_key)
    }

    /// Returns the parts that decide about equality: status, severity and reason.
    pub(super) fn comparison_key(&self) -> [&str; 3] {
        [&self.status, &self.severity, &self.reason]
    }

    fn parse(value: &Value, texts: &mut InternedTexts) -> Option<Self> {
        let fields = value.as_object()?;
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Some(""),
            Some(value) => value.as_str(),
        };
        let since = text("lastTransitionTime")?;
        let mut one = |name: &str| Some(texts.intern(text(name)?));
        Some(Self {
            condition_type: one("type")?,
            status: one("status")?,
            severity: one("severity")?,
            reason: one("reason")?,
            message: one("message")?,
            since: if since.is_empty() { None } else { Some(since.parse().ok()?) },
        })
    }

    /// Clears the severity, which contract v1beta2 does not have.
    fn without_severity(mut self) -> Self {
        self.severity = Arc::default();
        self
    }

    /// Fills in optional fields. `None` if the condition is invalid.
    fn normalized(mut self, texts: &mut InternedTexts) -> Option<Self> {
        let is_valid =
            !self.condition_type.is_empty() && matches!(&*self.status, "True" | "False" | "Unknown");
        if self.reason.is_empty() {
            self.reason = texts.intern(NO_REASON);
        }
        is_valid.then(|| self.without_severity())
    }
}

/// Reads the conditions of an object of Cluster API itself.
pub(super) fn core_conditions(
    object: &Object,
    set: ConditionSet,
    texts: &mut InternedTexts,
) -> Vec<Condition> {
    let mut read = |path: &[&str]| {
        let conditions = condition_list(object, path).into_iter().flatten();
        conditions.filter_map(|condition| Condition::parse(condition, texts)).collect::<Vec<_>>()
    };
    match set {
        ConditionSet::V1Beta2 => {
            read(&["status", "conditions"]).into_iter().map(Condition::without_severity).collect()
        }
        ConditionSet::V1Beta1 => read(&["status", "deprecated", "v1beta1", "conditions"]),
    }
}

/// Reads the conditions of a provider object of any contract. A single invalid condition discards all of them.
/// Source: clusterctl v1.14, util/conditions (UnstructuredGetAll): the conditions of contract v1beta2, else any
/// conditions. For contract v1beta1, only `status.conditions`.
pub(super) fn provider_conditions(
    object: &Object,
    set: ConditionSet,
    texts: &mut InternedTexts,
) -> Vec<Condition> {
    let plain = || condition_list(object, &["status", "conditions"]);
    let all: Option<Vec<Condition>> = match set {
        ConditionSet::V1Beta1 => {
            plain().and_then(|all| all.iter().map(|condition| Condition::parse(condition, texts)).collect())
        }
        ConditionSet::V1Beta2 => condition_list(object, &["status", "v1beta2", "conditions"])
            .or_else(plain)
            .and_then(|conditions| {
                let objects = conditions.iter().filter(|condition| condition.is_object());
                objects.map(|condition| Condition::parse(condition, texts)?.normalized(texts)).collect()
            }),
    };
    all.unwrap_or_default()
}

fn condition_list<'o>(object: &'o Object, path: &[&str]) -> Option<&'o Vec<Value>> {
    object.get(path)?.as_array()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(status: &Value) -> Object {
        Object::try_from(json!({"apiVersion": "a/v1", "kind": "A", "status": status})).unwrap()
    }

    fn provider(object: &Object, set: ConditionSet) -> Vec<Condition> {
        provider_conditions(object, set, &mut InternedTexts::default())
    }

    fn core(object: &Object, set: ConditionSet) -> Vec<Condition> {
        core_conditions(object, set, &mut InternedTexts::default())
    }

    fn reported(conditions: &[Condition]) -> Vec<String> {
        let reported =
            |c: &Condition| format!("{}={} {}{}", c.condition_type, c.status, c.severity, c.reason);
        conditions.iter().map(reported).collect()
    }

    #[test]
    fn a_provider_may_use_any_contract() {
        let ready = |reason: &str| json!([{"type": "Ready", "status": "True", "reason": reason}]);
        let newer = object(&json!({"conditions": ready("Old"), "v1beta2": {"conditions": ready("New")}}));
        assert_eq!(reported(&provider(&newer, ConditionSet::V1Beta2)), ["Ready=True New"]);
        assert_eq!(reported(&provider(&newer, ConditionSet::V1Beta1)), ["Ready=True Old"]);
        let older =
            object(&json!({"conditions": [{"type": "Ready", "status": "False", "severity": "Error"}]}));
        assert_eq!(reported(&provider(&older, ConditionSet::V1Beta2)), ["Ready=False NoReasonReported"]);
        assert_eq!(reported(&provider(&older, ConditionSet::V1Beta1)), ["Ready=False Error"]);
    }

    #[test]
    fn one_invalid_condition_discards_all_of_a_provider() {
        let good = json!({"type": "Ready", "status": "True"});
        for bad in [
            json!({"type": "", "status": "True"}),
            json!({"type": "X", "status": "Maybe"}),
            json!({"type": "X", "status": 7}),
            json!({"type": "X", "status": "True", "lastTransitionTime": "yesterday"}),
        ] {
            let object = object(&json!({"conditions": [good, bad]}));
            assert_eq!(provider(&object, ConditionSet::V1Beta2), [], "{bad}");
        }
        let foreign = object(&json!({"conditions": [good, "no object"]}));
        assert_eq!(reported(&provider(&foreign, ConditionSet::V1Beta2)), ["Ready=True NoReasonReported"]);
        assert_eq!(provider(&object(&json!({"conditions": "none"})), ConditionSet::V1Beta2), []);
    }

    #[test]
    fn cluster_api_objects_keep_v1beta1_conditions_separate() {
        let both = object(&json!({
            "conditions": [{"type": "Ready", "status": "True"}],
            "deprecated": {"v1beta1": {"conditions": [{"type": "Ready", "status": "False", "severity": "Info"}]}},
        }));
        assert_eq!(reported(&core(&both, ConditionSet::V1Beta2)), ["Ready=True "]);
        assert_eq!(reported(&core(&both, ConditionSet::V1Beta1)), ["Ready=False Info"]);
    }
}
