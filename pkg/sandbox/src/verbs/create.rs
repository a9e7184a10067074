//! The create verb.

use serde_json::Value;

use super::{Call, admission, call::WriteResult, decode, kind, managed, object};
use crate::{
    builtin, meta,
    status::Status,
    store::{CommitError, Precondition},
    verbs::admission::Operation,
};

/// The maximum number of attempts for `generateName`. Source: kube-apiserver 1.36 `RetryGenerateName`.
const NAME_ATTEMPTS: usize = 8;
/// The maximum prefix length of a generated name.
const NAME_PREFIX_LIMIT: usize = 63 - 5;

pub(crate) async fn create(call: &Call<'_>, mut object: Value) -> Result<WriteResult, Status> {
    for fixed in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        meta::remove(&mut object, fixed);
    }
    decode::match_namespace(call, &mut object)?;
    kind::set_defaults(&call.resource, &mut object);
    admission::remove_duplicate_owners(call, &mut object);
    managed::track(call, None, &mut object);
    finish(call, object).await
}

/// Completes a creation after managed fields were set, also for a creation through an apply.
pub(crate) async fn finish(call: &Call<'_>, mut object: Value) -> Result<WriteResult, Status> {
    object = admission::mutate(call, Operation::Create, None, object).await?;
    admission::remove_duplicate_owners(call, &mut object);
    let generated = meta::name(&object).is_empty() && !meta::text(&object, "generateName").is_empty();
    let mut attempts = if generated { NAME_ATTEMPTS } else { 1 };
    loop {
        attempts -= 1;
        let mut attempt = if attempts > 0 { object.clone() } else { std::mem::take(&mut object) };
        if generated {
            let name = generate_name(meta::text(&attempt, "generateName"));
            meta::set(&mut attempt, "name", name);
        }
        match commit(call, attempt).await {
            Err(status) if status.reason == "AlreadyExists" && attempts > 0 => {}
            Err(mut status) if status.reason == "AlreadyExists" && generated => {
                status.message.push_str(", the server was not able to generate a unique name for the object");
                return Err(status);
            }
            result => {
                let written = result?;
                if let WriteResult::Stored(stored) = &written {
                    super::definitions::after_write(call, &stored.key.name, false)?;
                }
                return Ok(written);
            }
        }
    }
}

/// Returns a name with this prefix and a random suffix.
fn generate_name(prefix: &str) -> String {
    let mut name = prefix.to_owned();
    while name.len() > NAME_PREFIX_LIMIT {
        name.pop();
    }
    name + &meta::random_suffix()
}

async fn commit(call: &Call<'_>, mut object: Value) -> Result<WriteResult, Status> {
    let resource = &call.resource;
    meta::set(&mut object, "uid", uuid::Uuid::new_v4().to_string());
    meta::set(&mut object, "creationTimestamp", call.server.clock.now());
    let _addresses = assign_addresses(call, &mut object, None).await?;
    kind::prepare_for_create(resource, &mut object);
    let name = meta::name(&object).to_owned();
    let errors = kind::validate(resource, &object);
    if !errors.is_empty() {
        // The message contains the sent kind and the name after admission.
        let sent_kind = object.get("kind").and_then(Value::as_str).unwrap_or(&resource.kind);
        return Err(Status::invalid(&resource.group, sent_kind, &name, &errors));
    }
    call.warn_all(kind::warnings(resource, &object, None));
    admission::validate(call, Operation::Create, None, &object).await?;
    if !meta::text(&object, "resourceVersion").is_empty() {
        return Err(Status::internal_without_details(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    if call.dry_run {
        if call.server.store.get(&call.key(&name)).is_some() {
            return Err(Status::already_exists(&resource.group, &resource.plural, &name));
        }
        return Ok(WriteResult::DryRun(object));
    }
    let pending = object::EncodedObject::new(resource, &object)?;
    let committed =
        call.server.store.commit_with(&call.key(&name), Precondition::Absent, |at| pending.with_revision(at));
    committed.map(WriteResult::Stored).map_err(|error: CommitError| call.commit_failure(error, &name))
}

/// Assigns addresses to a Service. The returned guard blocks assignments to other Services.
/// Errors: 422 if the requested addresses are unavailable.
pub(crate) async fn assign_addresses<'a>(
    call: &Call<'a>,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<Option<tokio::sync::MutexGuard<'a, ()>>, Status> {
    if !kind::is_core(&call.resource, "services") || !call.subresource.is_empty() {
        return Ok(None);
    }
    let guard = call.server.addresses.lock().await;
    let scope = crate::store::Scope { namespace: None, ..call.scope() };
    let page = call.server.store.list(&scope, crate::store::ListOptions::default());
    let page = page.map_err(|_| Status::internal("the newest revision is always there"))?;
    let own = call.key(meta::name(object));
    let others: Vec<Value> = page
        .items
        .iter()
        .filter(|other| other.key != own)
        .map(|other| object::read(&call.resource, other))
        .collect();
    builtin::assign_addresses(object, old, &others)
        .map_err(|error| Status::invalid("", "Service", meta::name(object), &[error]))?;
    Ok(Some(guard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_have_the_kubernetes_suffix() {
        let name = generate_name("web-");
        let end = name.strip_prefix("web-").unwrap();
        assert!(end.len() == 5 && end.bytes().all(|letter| meta::SAFE_LETTERS.contains(&letter)), "{name}");
        assert_eq!(generate_name(&"é".repeat(40)).len(), 63);
    }
}
