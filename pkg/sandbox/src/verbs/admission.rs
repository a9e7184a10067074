//! Admission: changes and refusals between the decoding and the storage of an object.
//!
//! The server itself enforces the lifecycle of namespaces; webhooks run afterwards. Each change of a configuration
//! registers the webhooks again.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use super::{Call, kind, object, resource_name};
pub(crate) use crate::admission::Operation;
use crate::{
    admission::{self, AdmissionContext, User, Webhooks, WriteRequest},
    identity::{USER, USER_GROUPS},
    kinds::ResourceType,
    meta,
    request::options::FieldValidation,
    server::Server,
    status::{Cause, Status},
    store::{Key, ListOptions, ResourceName, Scope},
};

/// Namespaces that cannot be deleted. Source: kube-apiserver 1.36, admission plugin `NamespaceLifecycle`.
const PROTECTED_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Runs mutating admission before validation. `old` is the stored object, absent at creation.
pub(crate) async fn mutate(
    call: &Call<'_>,
    operation: Operation,
    old: Option<&Value>,
    object: Value,
) -> Result<Value, Status> {
    if operation == Operation::Create {
        check_definition_accepts_objects(call, meta::name(&object))?;
        check_namespace_accepts_objects(call, meta::name(&object))?;
    }
    let webhooks = call.server.webhooks();
    if webhooks.mutating().is_empty() {
        return Ok(object);
    }
    let admission_call = AdmissionCall::new(call, operation, meta::name(&object));
    Ok(admission_call.mutate(&webhooks, old, Some(object)).await?.unwrap_or_default())
}

/// Runs validating admission on the object to store.
pub(crate) async fn validate(
    call: &Call<'_>,
    operation: Operation,
    old: Option<&Value>,
    object: &Value,
) -> Result<(), Status> {
    let webhooks = call.server.webhooks();
    if webhooks.validating().is_empty() {
        return Ok(());
    }
    AdmissionCall::new(call, operation, meta::name(object)).validate(&webhooks, old, Some(object)).await
}

/// Runs both kinds of admission before a deletion.
pub(crate) async fn delete(call: &Call<'_>) -> Result<(), Status> {
    check_namespace_deletable(call, call.name)?;
    let webhooks = call.server.webhooks();
    if webhooks.is_empty() {
        return Ok(());
    }
    // Webhooks are not called for a missing object.
    let Some(stored) = call.server.store.get(&call.object_key()) else { return Ok(()) };
    let live = object::read(&call.resource, &stored);
    let admission_call = AdmissionCall::new(call, Operation::Delete, call.name);
    admission_call.mutate(&webhooks, Some(&live), None).await?;
    admission_call.validate(&webhooks, Some(&live), None).await
}

/// The description of a call for webhooks.
struct AdmissionCall<'a, 'b> {
    call: &'a Call<'b>,
    operation: Operation,
    name: String,
    user: User,
    options: Value,
}

impl<'a, 'b> AdmissionCall<'a, 'b> {
    fn new(call: &'a Call<'b>, operation: Operation, name: &str) -> Self {
        let user = User {
            name: USER.to_owned(),
            uid: USER.to_owned(),
            groups: USER_GROUPS.map(str::to_owned).to_vec(),
        };
        Self { call, operation, name: name.to_owned(), user, options: options(call, operation) }
    }

    async fn mutate(
        &self,
        webhooks: &Webhooks,
        old: Option<&Value>,
        object: Option<Value>,
    ) -> Result<Option<Value>, Status> {
        let call = self.call;
        let (namespace, set_defaults) = (
            |name: &str| namespace(call, name),
            |object: &mut Value| {
                kind::set_defaults(&call.resource, object);
            },
        );
        let around = self.context(&namespace, &set_defaults);
        let (object, warnings) = admission::mutate(webhooks, &self.request(old), &around, object).await?;
        call.warn_all(warnings);
        Ok(object)
    }

    async fn validate(
        &self,
        webhooks: &Webhooks,
        old: Option<&Value>,
        object: Option<&Value>,
    ) -> Result<(), Status> {
        let call = self.call;
        let (namespace, set_defaults) = (|name: &str| namespace(call, name), |_: &mut Value| {});
        let around = self.context(&namespace, &set_defaults);
        let warnings = admission::validate(webhooks, &self.request(old), &around, object).await?;
        call.warn_all(warnings);
        Ok(())
    }

    fn request<'r>(&'r self, old: Option<&'r Value>) -> WriteRequest<'r> {
        let call = self.call;
        let is_namespace = kind::is_core(&call.resource, "namespaces");
        WriteRequest {
            operation: self.operation,
            resource: &call.resource,
            subresource: call.subresource,
            namespace: if is_namespace { &self.name } else { call.namespace },
            name: &self.name,
            old,
            user: &self.user,
            dry_run: call.dry_run,
            options: &self.options,
        }
    }

    fn context<'r>(
        &'r self,
        namespace: &'r (dyn Fn(&str) -> Option<Value> + Send + Sync),
        set_defaults: &'r (dyn Fn(&mut Value) + Send + Sync),
    ) -> AdmissionContext<'r> {
        let services = self.call.server.service_webhooks;
        AdmissionContext { kinds: &self.call.kinds, namespace, set_defaults, services }
    }
}

/// Returns the options of a call in the form that a client could have sent.
fn options(call: &Call<'_>, operation: Operation) -> Value {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update if call.is_patch => "PatchOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
    };
    let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
    if call.dry_run {
        options["dryRun"] = json!(["All"]);
    }
    if operation != Operation::Delete {
        options["fieldManager"] = call.manager.into();
        options["fieldValidation"] = match call.field_validation {
            FieldValidation::Ignore => "Ignore",
            FieldValidation::Warn => "Warn",
            FieldValidation::Strict => "Strict",
        }
        .into();
    }
    options
}

fn namespace(call: &Call<'_>, name: &str) -> Option<Value> {
    let resource = call.kinds.find("", "v1", "namespaces")?;
    Some(object::read(resource, &*call.server.store.get(&namespace_key(name))?))
}

fn namespace_key(name: &str) -> Key {
    let resource = ResourceName { group: "".into(), plural: "namespaces".into() };
    Key { resource, namespace: "".into(), name: name.into() }
}

fn check_namespace_deletable(call: &Call<'_>, name: &str) -> Result<(), Status> {
    if kind::is_core(&call.resource, "namespaces") && PROTECTED_NAMESPACES.contains(&name) {
        return Err(Status::forbidden("", "namespaces", name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Refuses new objects of a definition that is being deleted.
/// Source: apiextensions-apiserver 1.36 `forbidCreateAdmission`.
fn check_definition_accepts_objects(call: &Call<'_>, name: &str) -> Result<(), Status> {
    match &call.resource.custom {
        Some(custom) if call.server.definitions.is_terminating(&custom.definition) => {
            let why = "create not allowed while custom resource definition is terminating";
            Err(Status::forbidden(&call.resource.group, &call.resource.plural, name, why))
        }
        _ => Ok(()),
    }
}

/// Fails if the namespace does not exist or is being deleted.
fn check_namespace_accepts_objects(call: &Call<'_>, name: &str) -> Result<(), Status> {
    let namespace = call.namespace;
    if namespace.is_empty() || &*call.resource.group == "authorization.k8s.io" {
        return Ok(());
    }
    let Some(stored) = call.server.store.get(&namespace_key(namespace)) else {
        return Err(Status::not_found("", "namespaces", namespace));
    };
    // The text of a namespace contains the word only if the namespace is being deleted, apart from odd annotations. A
    // match is therefore parsed.
    let leaving = contains_word(&stored.body, b"deletionTimestamp")
        && meta::is_deleting(&json!({"metadata": object::read_metadata(&stored)}));
    if !leaving {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut status = Status::forbidden(&call.resource.group, &call.resource.plural, name, &why);
    if let Some(details) = &mut status.details {
        details.causes.push(Cause {
            reason: "NamespaceTerminating".into(),
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_owned(),
        });
    }
    Err(status)
}

fn contains_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

pub(crate) fn remove_duplicate_owners(call: &Call<'_>, object: &mut Value) {
    if let Some(warning) = meta::remove_duplicate_owners(object) {
        call.warn(warning);
    }
}

const GROUP: &str = "admissionregistration.k8s.io";
const MUTATING: &str = "mutatingwebhookconfigurations";
const VALIDATING: &str = "validatingwebhookconfigurations";

/// True if objects of this resource register webhooks.
pub(crate) fn is_webhook_configuration(resource: &ResourceType) -> bool {
    &*resource.group == GROUP && matches!(&*resource.plural, MUTATING | VALIDATING)
}

/// Loads all configurations. Call this function after each change of a configuration.
pub(crate) fn load_webhooks(server: &Server) {
    // The lock covers the read, so that the last writer has the newest configurations.
    let mut current = server.webhooks.write().unwrap_or_else(PoisonError::into_inner);
    *current = Arc::new(Webhooks::of(&all(server, MUTATING), &all(server, VALIDATING)));
}

fn all(server: &Server, plural: &str) -> Vec<Value> {
    let kinds = server.kinds();
    let Some(resource) = kinds.find(GROUP, "v1", plural) else { return Vec::new() };
    let scope = Scope { resource: resource_name(resource), namespace: None };
    // The newest revision is always available.
    let items = server.store.list(&scope, ListOptions::default()).map(|page| page.items).unwrap_or_default();
    items.iter().map(|stored| object::read(resource, stored)).collect()
}
