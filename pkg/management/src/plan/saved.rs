//! Saves plans to a file, and compares the state behind a saved plan with the current state.

use std::{collections::BTreeMap, fmt};

use api::{
    output::CertManagerPlan,
    plan::{ObservedState, SavedComponent, SavedObject, SavedPlan, SavedProvider, SavedRequest},
};
use apply::{
    ApiError, DesiredObject, LiveObjects, ObjectKey, ObjectRevision, Observation, PlanStep, PlannedSet,
    StepAction,
};
use data_encoding::HEXLOWER;
use inventory::ManagementCluster;
use manifest::{Map, Object, Value};
use ring::{
    hmac,
    rand::{SecureRandom as _, SystemRandom},
};
use sha2::{Digest as _, Sha256};

use super::{LifecyclePlan, ProviderPlan};

/// Fields that servers set themselves, or rewrite without a change by a user.
const VOLATILE_FIELDS: [&str; 3] = ["managedFields", "resourceVersion", "generation"];

/// The annotation in which kubectl keeps the whole object, values of Secrets included.
const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A difference between a saved plan and the current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanDifference {
    /// The plan is for another cluster.
    Cluster,
    /// Another user made the plan.
    User {
        /// The user who made the plan.
        saved: String,
        /// The user of this run.
        now: String,
    },
    /// The plan for cert-manager differs.
    CertManager {
        /// The plan in the file.
        saved: CertManagerPlan,
        /// The current plan.
        now: CertManagerPlan,
    },
    /// A provider has other versions, another namespace, or only one of the plans contains it.
    Provider {
        /// The label of the provider.
        provider: String,
        /// The provider in the saved plan. `None` if the saved plan lacks it.
        saved: Option<String>,
        /// The provider in the current plan. `None` if the provider does not change.
        now: Option<String>,
    },
    /// A Component or its source differs, or only one of the plans contains the Component.
    Component {
        /// The namespace and name of the Component.
        component: String,
        /// The revision in the saved plan. `None` if the saved plan lacks the Component.
        saved: Option<String>,
        /// The current revision. `None` if the Component is not planned any more.
        now: Option<String>,
    },
    /// An object differs.
    Object {
        /// The key of the object.
        object: ObjectKey,
        /// The difference of the object.
        what: ObjectDifference,
    },
}

/// A difference of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectDifference {
    /// The saved plan changes the object, but the current plan does not.
    NoLongerPlanned,
    /// The saved plan lacks the object.
    Added,
    /// The object changed on the cluster.
    Changed,
    /// The object appeared on the cluster.
    Appeared,
    /// The object no longer exists from the cluster.
    Deleted,
    /// The object was deleted and recreated.
    Replaced,
    /// The manifest of the object differs.
    Manifest,
    /// The action on the object differs.
    Action {
        /// The action in the saved plan.
        saved: StepAction,
        /// The action in the current plan.
        now: StepAction,
    },
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        match self {
            Self::Cluster => f.write_str("the plan belongs to another cluster"),
            Self::User { saved, now } => {
                write!(f, "user `{saved}` created the plan, but the current user is `{now}`")
            }
            Self::CertManager { saved, now } => write!(f, "cert-manager: planned `{saved}`, now `{now}`"),
            Self::Provider { provider, saved, now } => {
                write!(f, "`{provider}`: planned {}, now {}", or_nothing(saved), or_nothing(now))
            }
            Self::Component { component, saved, now } if saved == now => {
                write!(f, "Component `{component}` has a different manifest")
            }
            Self::Component { component, saved, now } => {
                write!(f, "Component `{component}`: planned {}, now {}", or_nothing(saved), or_nothing(now))
            }
            Self::Object { object, what } => write!(f, "{object} {what}"),
        }
    }
}

impl fmt::Display for ObjectDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLongerPlanned => f.write_str("is in the plan but needs no change now"),
            Self::Added => f.write_str("is not in the plan"),
            Self::Changed => f.write_str("was changed on the cluster"),
            Self::Appeared => f.write_str("now exists on the cluster"),
            Self::Deleted => f.write_str("no longer exists on the cluster"),
            Self::Replaced => f.write_str("was deleted and created again on the cluster"),
            Self::Manifest => f.write_str("has a different manifest"),
            Self::Action { saved, now } => {
                write!(f, "was planned for `{}`, now for `{}`", saved.as_str(), now.as_str())
            }
        }
    }
}

/// An error if the system provides no random bytes for a salt.
#[derive(Debug, thiserror::Error)]
#[error("cannot create a salt for the plan: the system provides no random bytes")]
pub struct RandomBytesError;

/// The cluster and the user of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOrigin {
    /// The uid of the Namespace `kube-system`, which identifies the cluster.
    pub cluster: String,
    /// The user name according to the server. `None` if the server does not report the name.
    pub user: Option<String>,
}

/// Reads the identity of the cluster and of the user from the server.
pub async fn plan_origin(cluster: &ManagementCluster) -> Result<PlanOrigin, ApiError> {
    Ok(PlanOrigin { cluster: cluster.identity().await?.uid, user: cluster.server.user().await? })
}

impl LifecyclePlan {
    /// Returns the plan in its saved form with a new salt. The saved form contains digests, never content.
    /// # Errors
    /// Fails if the system provides no random bytes.
    pub fn save(&self, request: SavedRequest, origin: PlanOrigin) -> Result<SavedPlan, RandomBytesError> {
        Ok(self.with_salt(request, origin, Some(new_salt()?)))
    }

    /// Returns the current plan in its saved form with the salt of a saved plan, so that equal Secrets have
    /// equal digests.
    pub fn save_with_salt_of(
        &self,
        saved: &SavedPlan,
        request: SavedRequest,
        origin: PlanOrigin,
    ) -> SavedPlan {
        self.with_salt(request, origin, saved.salt.clone())
    }

    fn with_salt(&self, request: SavedRequest, origin: PlanOrigin, salt: Option<String>) -> SavedPlan {
        let save = |provider| save_provider(provider, salt.as_deref());
        SavedPlan {
            format: SavedPlan::FORMAT,
            request,
            cluster: origin.cluster,
            user: origin.user,
            cert_manager: self.cert_manager.clone(),
            providers: self.providers.iter().map(save).collect(),
            components: Vec::new(),
            salt,
        }
    }
}

/// Returns a new key for digests of Secrets.
/// # Errors
/// Fails if the system provides no random bytes.
pub fn new_salt() -> Result<String, RandomBytesError> {
    let mut salt = [0; 32];
    SystemRandom::new().fill(&mut salt).map_err(|_| RandomBytesError)?;
    Ok(HEXLOWER.encode(&salt))
}

/// A planned Component. Its manifest counts as secret, because its values may be.
#[derive(Clone, Copy, Debug)]
pub struct PlannedComponent<'a> {
    /// The Component in its file.
    pub manifest: &'a Object,
    /// The revision of its source.
    pub revision: &'a str,
    /// The digest of its source.
    pub digest: &'a str,
    /// Its planned objects.
    pub objects: &'a PlannedSet,
}

/// Returns a planned Component in its saved form.
pub fn save_component(component: PlannedComponent<'_>, salt: &str) -> SavedComponent {
    let PlannedComponent { manifest, revision, digest, objects } = component;
    SavedComponent {
        namespace: manifest.namespace().to_owned(),
        name: manifest.name().to_owned(),
        desired: secret_digest(manifest.as_map().clone(), Some(salt)),
        revision: revision.to_owned(),
        digest: digest.to_owned(),
        objects: save_objects(objects, Some(salt)),
    }
}

fn save_provider(provider: &ProviderPlan, salt: Option<&str>) -> SavedProvider {
    SavedProvider {
        provider: provider.id.clone(),
        namespace: provider.namespace.clone(),
        from: provider.from.clone(),
        to: provider.to.clone(),
        objects: save_objects(&provider.objects, salt),
    }
}

fn save_objects(objects: &PlannedSet, salt: Option<&str>) -> Vec<SavedObject> {
    let desired: BTreeMap<&ObjectKey, &DesiredObject> =
        objects.desired.objects.iter().map(|desired| (&desired.key, desired)).collect();
    let save = |step: &PlanStep| save_object(step, desired.get(&step.key).copied(), &objects.live, salt);
    objects.plan.steps.iter().map(save).collect()
}

fn save_object(
    step: &PlanStep,
    desired: Option<&DesiredObject>,
    live: &LiveObjects,
    salt: Option<&str>,
) -> SavedObject {
    let key = step.key.clone();
    SavedObject {
        action: step.action,
        desired: desired.map(|desired| desired_digest(desired, salt)),
        observed: match live.get(&step.key) {
            Observation::Present(object) => ObservedState::Present {
                uid: ObjectRevision::of(object).uid,
                digest: live_digest(object, salt),
            },
            Observation::Absent => ObservedState::Absent,
            Observation::Unobserved => ObservedState::Unseen,
        },
        group: key.group,
        kind: key.kind,
        namespace: key.namespace,
        name: key.name,
    }
}

fn desired_digest(desired: &DesiredObject, salt: Option<&str>) -> String {
    if is_secret(&desired.object) {
        secret_digest(desired.object.as_map().clone(), salt)
    } else {
        desired.digest.clone()
    }
}

fn live_digest(object: &Object, salt: Option<&str>) -> String {
    let mut fields = object.as_map().clone();
    fields.remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        for field in VOLATILE_FIELDS {
            metadata.remove(field);
        }
    }
    if is_secret(object) { secret_digest(fields, salt) } else { digest(&Value::Object(fields)) }
}

/// Returns a keyed digest of a Secret, because brute force could recover a short password from a plain digest.
fn secret_digest(fields: Map<String, Value>, salt: Option<&str>) -> String {
    match salt {
        Some(salt) => {
            let key = hmac::Key::new(hmac::HMAC_SHA256, salt.as_bytes());
            HEXLOWER.encode(hmac::sign(&key, Value::Object(fields).to_string().as_bytes()).as_ref())
        }
        None => digest(&Value::Object(without_values(fields))),
    }
}

/// Returns the digest of a value. Mappings are sorted by key, so equal values have equal text.
fn digest(value: &Value) -> String {
    HEXLOWER.encode(&Sha256::digest(value.to_string()))
}

fn is_secret(object: &Object) -> bool {
    object.group().is_empty() && object.kind() == "Secret"
}

/// Returns a Secret in the form that plans without salt digest.
fn without_values(mut shown: Map<String, Value>) -> Map<String, Value> {
    for field in ["data", "stringData"] {
        if let Some(Value::Object(values)) = shown.get_mut(field) {
            for value in values.values_mut() {
                *value = value.as_str().map_or(0, str::len).into();
            }
        }
    }
    if let Some(annotations) = shown.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
    {
        annotations.as_object_mut().map(|annotations| annotations.remove(LAST_APPLIED_ANNOTATION));
    }
    shown
}

/// Returns every difference between a saved plan and the current one, `now`.
/// Shape: cluster, user, cert-manager, providers in order, then objects in the order of the saved plan, added
/// objects last. Empty if the saved plan is still valid.
pub fn plan_differences(saved: &SavedPlan, now: &SavedPlan) -> Vec<PlanDifference> {
    if saved.cluster != now.cluster {
        return vec![PlanDifference::Cluster];
    }
    let mut differences = Vec::new();
    if let (Some(maker), Some(user)) = (&saved.user, &now.user)
        && maker != user
    {
        differences.push(PlanDifference::User { saved: maker.clone(), now: user.clone() });
    }
    if saved.cert_manager != now.cert_manager {
        let (saved, now) = (saved.cert_manager.clone(), now.cert_manager.clone());
        differences.push(PlanDifference::CertManager { saved, now });
    }
    for provider in &saved.providers {
        provider_differences(Some(provider), find_provider(provider, now), &mut differences);
    }
    for provider in now.providers.iter().filter(|provider| find_provider(provider, saved).is_none()) {
        provider_differences(None, Some(provider), &mut differences);
    }
    component_differences(&saved.components, &now.components, &mut differences);
    differences
}

fn component_differences(
    saved: &[SavedComponent],
    now: &[SavedComponent],
    differences: &mut Vec<PlanDifference>,
) {
    for was in saved {
        component_difference(Some(was), find_component(was, now), differences);
    }
    for is in now.iter().filter(|is| find_component(is, saved).is_none()) {
        component_difference(None, Some(is), differences);
    }
}

fn find_component<'c>(component: &SavedComponent, all: &'c [SavedComponent]) -> Option<&'c SavedComponent> {
    let is_same =
        |one: &&SavedComponent| (&one.namespace, &one.name) == (&component.namespace, &component.name);
    all.iter().find(is_same)
}

fn component_difference(
    saved: Option<&SavedComponent>,
    now: Option<&SavedComponent>,
    differences: &mut Vec<PlanDifference>,
) {
    if let (Some(was), Some(is)) = (saved, now)
        && (&was.desired, &was.revision, &was.digest) == (&is.desired, &is.revision, &is.digest)
    {
        return object_differences(&was.objects, &is.objects, differences);
    }
    let Some(SavedComponent { namespace, name, .. }) = saved.or(now) else { return };
    let component = format!("{namespace}/{name}");
    let revision = |one: &SavedComponent| one.revision.clone();
    differences.push(PlanDifference::Component {
        component,
        saved: saved.map(revision),
        now: now.map(revision),
    });
}

/// Finds a provider by label and namespace, because a provider may be installed in several namespaces.
fn find_provider<'p>(provider: &SavedProvider, plan: &'p SavedPlan) -> Option<&'p SavedProvider> {
    let is_same = |other: &&SavedProvider| {
        (&other.provider, &other.namespace) == (&provider.provider, &provider.namespace)
    };
    plan.providers.iter().find(is_same)
}

fn provider_differences(
    saved: Option<&SavedProvider>,
    now: Option<&SavedProvider>,
    differences: &mut Vec<PlanDifference>,
) {
    let (was, is) = (saved.map(versions_text), now.map(versions_text));
    if was != is {
        let provider = saved.or(now).map(|provider| provider.provider.label()).unwrap_or_default();
        differences.push(PlanDifference::Provider { provider, saved: was, now: is });
        return;
    }
    let (Some(saved), Some(now)) = (saved, now) else { return };
    object_differences(&saved.objects, &now.objects, differences);
}

fn object_differences(saved: &[SavedObject], now: &[SavedObject], differences: &mut Vec<PlanDifference>) {
    let by_key = |objects: &[SavedObject]| -> BTreeMap<ObjectKey, SavedObject> {
        objects.iter().map(|object| (object_key(object), object.clone())).collect()
    };
    let (before, after) = (by_key(saved), by_key(now));
    for object in saved {
        let key = object_key(object);
        let what = match after.get(&key) {
            Some(now) => object_difference(object, now),
            None => Some(ObjectDifference::NoLongerPlanned),
        };
        differences.extend(what.map(|what| PlanDifference::Object { object: key, what }));
    }
    let added = after.into_keys().filter(|key| !before.contains_key(key));
    differences.extend(added.map(|object| PlanDifference::Object { object, what: ObjectDifference::Added }));
}

/// Compares the state on the cluster first, because that explains a different action.
fn object_difference(saved: &SavedObject, now: &SavedObject) -> Option<ObjectDifference> {
    match (&saved.observed, &now.observed) {
        (
            ObservedState::Present { uid: old, digest: before },
            ObservedState::Present { uid: new, digest: after },
        ) => {
            if old != new {
                return Some(ObjectDifference::Replaced);
            }
            if before != after {
                return Some(ObjectDifference::Changed);
            }
        }
        (ObservedState::Present { .. }, _) => return Some(ObjectDifference::Deleted),
        (_, ObservedState::Present { .. }) => return Some(ObjectDifference::Appeared),
        _ => {}
    }
    if saved.desired != now.desired {
        return Some(ObjectDifference::Manifest);
    }
    let (saved, now) = (saved.action, now.action);
    (saved != now).then_some(ObjectDifference::Action { saved, now })
}

fn versions_text(provider: &SavedProvider) -> String {
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "nothing".to_owned());
    format!("{} to {} in `{}`", version(&provider.from), version(&provider.to), provider.namespace)
}

fn object_key(object: &SavedObject) -> ObjectKey {
    ObjectKey {
        group: object.group.clone(),
        kind: object.kind.clone(),
        namespace: object.namespace.clone(),
        name: object.name.clone(),
    }
}

#[cfg(test)]
mod tests;
