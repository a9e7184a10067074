//! Plans on their way into a file, and back: what a plan was made from is compared with what is there now.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use api::plan::{Observed, SavedObject, SavedPlan, SavedProvider, SavedRequest};
use apply::{ApiError, Desired, GroupKind, Live, ObjectKey, Observation, Step};
use manifest::{Map, Object, Value};
use sha2::{Digest as _, Sha256};

use super::{LifecyclePlan, ProviderPlan, report::action_of};
use crate::ManagementCluster;

/// What servers write into an object by themselves, or write anew without anybody changing it.
const VOLATILE: [&str; 3] = ["managedFields", "resourceVersion", "generation"];

/// The annotation in which kubectl keeps a whole object, values of Secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Something that is not as it was when a plan was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The plan is for another cluster.
    Cluster,
    /// Something else would be done about cert-manager.
    CertManager {
        /// What the plan says.
        saved: String,
        /// What would be done now.
        now: String,
    },
    /// A provider is planned in other versions, elsewhere, or only on one side.
    Provider {
        /// Its label.
        provider: String,
        /// What the plan says; none when it does not have it.
        saved: Option<String>,
        /// What would be done now; none when nothing would.
        now: Option<String>,
    },
    /// An object is not as it was.
    Object {
        /// Which one.
        object: ObjectKey,
        /// What about it.
        what: ObjectDifference,
    },
}

/// What about an object is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectDifference {
    /// The plan has it, and nothing would be done with it now.
    NoLongerPlanned,
    /// The plan does not have it.
    Added,
    /// It was changed on the cluster.
    Changed,
    /// It appeared on the cluster.
    Appeared,
    /// It is gone from the cluster.
    Gone,
    /// It was deleted and made anew.
    Replaced,
    /// Its manifest is another.
    Manifest,
    /// Something else would be done with it.
    Action {
        /// What the plan says.
        saved: String,
        /// What would be done now.
        now: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        match self {
            Self::Cluster => f.write_str("the plan was made for another cluster"),
            Self::CertManager { saved, now } => write!(f, "cert-manager: planned `{saved}`, now `{now}`"),
            Self::Provider { provider, saved, now } => {
                write!(f, "`{provider}`: planned {}, now {}", or_nothing(saved), or_nothing(now))
            }
            Self::Object { object, what } => write!(f, "{object} {what}"),
        }
    }
}

impl fmt::Display for ObjectDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLongerPlanned => f.write_str("is in the plan, and nothing would be done with it now"),
            Self::Added => f.write_str("is not in the plan"),
            Self::Changed => f.write_str("was changed on the cluster"),
            Self::Appeared => f.write_str("is on the cluster now"),
            Self::Gone => f.write_str("is gone from the cluster"),
            Self::Replaced => f.write_str("was deleted and made anew on the cluster"),
            Self::Manifest => f.write_str("has another manifest"),
            Self::Action { saved, now } => write!(f, "was planned to `{saved}`, now to `{now}`"),
        }
    }
}

impl ManagementCluster {
    /// What tells this cluster from every other: the uid of its Namespace `kube-system`. Empty where that is not there.
    pub async fn uid(&self) -> Result<String, ApiError> {
        let kind = self.server.kind(&GroupKind::new("", "Namespace")).await?;
        let namespace = self.server.get(&kind, "", "kube-system").await?;
        Ok(namespace.as_ref().map(uid_of).unwrap_or_default())
    }
}

impl LifecyclePlan {
    /// The plan as it is saved. Holds digests, never content.
    pub fn save(&self, request: SavedRequest, cluster: String) -> SavedPlan {
        SavedPlan {
            format: SavedPlan::FORMAT,
            request,
            cluster,
            cert_manager: self.cert_manager.to_string(),
            providers: self.providers.iter().map(save_provider).collect(),
        }
    }
}

fn save_provider(provider: &ProviderPlan) -> SavedProvider {
    let desired: BTreeMap<&ObjectKey, &Desired> =
        provider.desired.objects.iter().map(|desired| (&desired.key, desired)).collect();
    let save = |step: &Step| save_object(step, desired.get(&step.key).copied(), &provider.live);
    SavedProvider {
        provider: provider.id.clone(),
        namespace: provider.namespace.clone(),
        from: provider.from.clone(),
        to: provider.to.clone(),
        objects: provider.plan.steps.iter().map(save).collect(),
    }
}

fn save_object(step: &Step, desired: Option<&Desired>, live: &Live) -> SavedObject {
    let key = step.key.clone();
    SavedObject {
        action: action_of(step.action).as_str().to_owned(),
        desired: desired.map(digest_of_desired),
        observed: match live.get(&step.key) {
            Observation::Present(object) => {
                Observed::Present { uid: uid_of(object), digest: digest_of_live(object) }
            }
            Observation::Absent => Observed::Absent,
            Observation::Unseen => Observed::Unseen,
        },
        group: key.group,
        kind: key.kind,
        namespace: key.namespace,
        name: key.name,
    }
}

fn digest_of_desired(desired: &Desired) -> String {
    if is_secret(&desired.object) {
        digest(&Value::Object(without_values(desired.object.as_map())))
    } else {
        desired.digest.clone()
    }
}

fn digest_of_live(object: &Object) -> String {
    let mut fields =
        if is_secret(object) { without_values(object.as_map()) } else { object.as_map().clone() };
    fields.remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        for field in VOLATILE {
            metadata.remove(field);
        }
    }
    digest(&Value::Object(fields))
}

/// Mappings are sorted by key, so equal values have equal text.
fn digest(value: &Value) -> String {
    Sha256::digest(value.to_string()).iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn is_secret(object: &Object) -> bool {
    object.group().is_empty() && object.kind() == "Secret"
}

/// A Secret as plans show it: a digest of a short password would give it away to whoever tries all of them.
fn without_values(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = fields.clone();
    for field in ["data", "stringData"] {
        if let Some(Value::Object(values)) = shown.get_mut(field) {
            for value in values.values_mut() {
                *value = value.as_str().map_or(0, str::len).into();
            }
        }
    }
    if let Some(annotations) = shown.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
    {
        annotations.as_object_mut().map(|annotations| annotations.remove(LAST_APPLIED));
    }
    shown
}

fn uid_of(object: &Object) -> String {
    object.get(&["metadata", "uid"]).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Everything that is not as it was when a plan was saved; `now` is the same plan made again.
/// Shape: cluster, cert-manager, providers in their order, then objects in the order of the saved plan, what was added
/// last. Empty when the saved plan still holds.
pub fn differences(saved: &SavedPlan, now: &SavedPlan) -> Vec<Difference> {
    if saved.cluster != now.cluster {
        return vec![Difference::Cluster];
    }
    let mut found = Vec::new();
    if saved.cert_manager != now.cert_manager {
        let (saved, now) = (saved.cert_manager.clone(), now.cert_manager.clone());
        found.push(Difference::CertManager { saved, now });
    }
    for provider in &saved.providers {
        provider_differences(Some(provider), same(provider, now), &mut found);
    }
    for provider in now.providers.iter().filter(|provider| same(provider, saved).is_none()) {
        provider_differences(None, Some(provider), &mut found);
    }
    found
}

/// A provider may be installed in several namespaces.
fn same<'p>(provider: &SavedProvider, plan: &'p SavedPlan) -> Option<&'p SavedProvider> {
    let is_same = |other: &&SavedProvider| {
        (&other.provider, &other.namespace) == (&provider.provider, &provider.namespace)
    };
    plan.providers.iter().find(is_same)
}

fn provider_differences(
    saved: Option<&SavedProvider>,
    now: Option<&SavedProvider>,
    found: &mut Vec<Difference>,
) {
    let (was, is) = (saved.map(in_words), now.map(in_words));
    if was != is {
        let provider = saved.or(now).map(|provider| provider.provider.label()).unwrap_or_default();
        found.push(Difference::Provider { provider, saved: was, now: is });
        return;
    }
    let (Some(saved), Some(now)) = (saved, now) else { return };
    let by_key = |provider: &SavedProvider| -> BTreeMap<ObjectKey, SavedObject> {
        provider.objects.iter().map(|object| (key_of(object), object.clone())).collect()
    };
    let (before, after) = (by_key(saved), by_key(now));
    for object in &saved.objects {
        let key = key_of(object);
        let what = match after.get(&key) {
            Some(now) => object_difference(object, now),
            None => Some(ObjectDifference::NoLongerPlanned),
        };
        found.extend(what.map(|what| Difference::Object { object: key, what }));
    }
    let added = after.into_keys().filter(|key| !before.contains_key(key));
    found.extend(added.map(|object| Difference::Object { object, what: ObjectDifference::Added }));
}

/// What is on the cluster comes first: it explains why something else would be done.
fn object_difference(saved: &SavedObject, now: &SavedObject) -> Option<ObjectDifference> {
    match (&saved.observed, &now.observed) {
        (Observed::Present { uid: old, digest: before }, Observed::Present { uid: new, digest: after }) => {
            if old != new {
                return Some(ObjectDifference::Replaced);
            }
            if before != after {
                return Some(ObjectDifference::Changed);
            }
        }
        (Observed::Present { .. }, _) => return Some(ObjectDifference::Gone),
        (_, Observed::Present { .. }) => return Some(ObjectDifference::Appeared),
        _ => {}
    }
    if saved.desired != now.desired {
        return Some(ObjectDifference::Manifest);
    }
    let (saved, now) = (saved.action.clone(), now.action.clone());
    (saved != now).then_some(ObjectDifference::Action { saved, now })
}

fn in_words(provider: &SavedProvider) -> String {
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "nothing".to_owned());
    format!("{} to {} in `{}`", version(&provider.from), version(&provider.to), provider.namespace)
}

fn key_of(object: &SavedObject) -> ObjectKey {
    ObjectKey {
        group: object.group.clone(),
        kind: object.kind.clone(),
        namespace: object.namespace.clone(),
        name: object.name.clone(),
    }
}

#[cfg(test)]
mod tests;
