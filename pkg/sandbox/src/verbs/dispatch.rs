//! Dispatch of requests to verbs.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Call,
    answer::Answer,
    collection,
    continue_token::ContinueToken,
    create, decode, delete,
    delete::Deleted,
    kind, object, patch,
    patch::{Patch, PatchType},
    pods, read,
    read::Listing,
    reviews, scale, update, watch,
};
use crate::{
    kinds::{Kinds, ResourceType},
    meta,
    request::{
        RequestInfo, Verb,
        body::{self, Format},
        options::{DeleteOptions, FieldValidation, ListOptions, WriteKind, WriteOptions},
    },
    respond::{Presenter, list_metadata},
    server::Server,
    status::{Details, Status},
    store::Page,
};

/// A request for a resource with its body.
pub(crate) struct Asked<'a> {
    pub(crate) server: &'a Server,
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) info: &'a RequestInfo,
    pub(crate) content: Bytes,
    /// The formatter of watch events.
    pub(crate) presenter: Presenter,
}

/// Answers a request. The second part contains the warnings, for successes and failures.
pub(crate) async fn dispatch(asked: &Asked<'_>) -> (Result<Answer, Status>, Vec<String>) {
    let manager = asked.info.manager();
    let mut call = Call::new(asked.server, Arc::clone(&asked.kinds), Arc::clone(&asked.info.resource));
    call.namespace = &asked.info.path.namespace;
    call.name = &asked.info.path.name;
    call.subresource = &asked.info.path.subresource;
    call.manager = &manager;
    if let Some(text) = kind::deprecation(&call.resource) {
        call.warn(text);
    }
    if let Some(custom) = call.resource.custom.as_ref().filter(|custom| custom.wants_conversion) {
        call.warn(format!(
            "the sandbox does not call the conversion webhook of {}: objects are served as they were written, in \
             the form of another version",
            custom.definition
        ));
    }
    let result = match call.subresource {
        "" | "status" | "finalize" | "approval" | "ephemeralcontainers" | "resize" => {
            whole(asked, &mut call).await
        }
        "scale" => scaled(asked, &mut call).await,
        _ => special(asked, &mut call).await,
    };
    let warnings = call.take_warnings();
    (result, warnings)
}

/// Handles verbs on the object itself, and on subresources with the body of the whole object.
async fn whole(asked: &Asked<'_>, call: &mut Call<'_>) -> Result<Answer, Status> {
    let query = &asked.info.query;
    match asked.info.verb {
        Verb::Get => read::get(call, query.text("resourceVersion")).map(|stored| Answer::Stored(200, stored)),
        Verb::List => list(call, &ListOptions::read(query, false)?),
        Verb::Watch => {
            let options = ListOptions::read(query, true)?;
            watch::watch(call, &options, asked.presenter.clone()).map(|watch| Answer::Watch(Box::new(watch)))
        }
        Verb::Create => {
            let object = decoded(asked, call, WriteKind::Create)?;
            if reviews::is_review(&call.resource) {
                let review = reviews::answer(call, object)?;
                return Ok(Answer::Other(201, review));
            }
            Ok(Answer::written(201, create::create(call, object).await?))
        }
        Verb::Update => {
            let object = decoded(asked, call, WriteKind::Update)?;
            let (written, created) = update::update(call, object).await?;
            Ok(Answer::written(if created { 201 } else { 200 }, written))
        }
        Verb::Patch => {
            let patch = read_patch(asked, call, call.resource.custom.is_some())?;
            let (written, created) = patch::patch(call, &patch).await?;
            Ok(Answer::written(if created { 201 } else { 200 }, written))
        }
        Verb::Delete => {
            let options = delete_options(asked, call)?;
            Ok(deleted(call, delete::delete(call, &options).await?))
        }
        Verb::DeleteCollection => {
            let list = ListOptions::read(query, false)?;
            let options = delete_options(asked, call)?;
            let page = collection::delete_collection(call, &list, &options).await?;
            Ok(Answer::List(page.items, list_metadata(page.revision, None, None)))
        }
    }
}

fn list(call: &Call<'_>, options: &ListOptions) -> Result<Answer, Status> {
    match read::list(call, options)? {
        Listing::Page(Page { items, revision, last, remaining }) => {
            let token = last.map(|after| ContinueToken { revision: Some(revision), after }.encode(call));
            Ok(Answer::List(items, list_metadata(revision, token, remaining)))
        }
        Listing::Expired { status, continue_token } => {
            let mut value = status.to_value();
            value["metadata"]["continue"] = continue_token.into();
            Ok(Answer::Other(status.code, value))
        }
    }
}

/// Decodes the object of a create or an update, with its options.
fn decoded(asked: &Asked<'_>, call: &mut Call<'_>, kind: WriteKind) -> Result<Value, Status> {
    let options = WriteOptions::read(&asked.info.query, kind)?;
    set_options(call, &options);
    decode::decode(call, &asked.content, asked.info.header("content-type"))
}

fn set_options(call: &mut Call<'_>, options: &WriteOptions) {
    call.dry_run = options.dry_run;
    call.field_validation = options.field_validation;
}

fn read_patch(asked: &Asked<'_>, call: &mut Call<'_>, custom: bool) -> Result<Patch, Status> {
    let sort = PatchType::of(asked.info.header("content-type"), custom)?;
    let options = WriteOptions::read(&asked.info.query, sort.options())?;
    set_options(call, &options);
    call.patches = true;
    Patch::read(sort, &asked.content, options.force)
}

fn delete_options(asked: &Asked<'_>, call: &mut Call<'_>) -> Result<DeleteOptions, Status> {
    let info = asked.info;
    let options = DeleteOptions::read(&info.query, &asked.content, info.header("content-type"))?;
    call.dry_run = options.dry_run;
    Ok(options)
}

fn deleted(call: &Call<'_>, deleted: Deleted) -> Answer {
    let resource = &call.resource;
    match deleted {
        Deleted::Pending(written) => Answer::written(200, written),
        Deleted::Gone(written) if kind::returns_deleted_object(resource) => Answer::written(200, written),
        Deleted::Gone(written) => {
            let object = written.into_value(call);
            let details = Details {
                name: call.name.to_owned(),
                group: resource.group.to_string(),
                kind: resource.plural.to_string(),
                uid: meta::uid(&object).to_owned(),
                ..Details::default()
            };
            Answer::Other(200, success(&details))
        }
    }
}

fn success(details: &Details) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details.to_value(),
    })
}

async fn scaled(asked: &Asked<'_>, call: &mut Call<'_>) -> Result<Answer, Status> {
    let info = asked.info;
    if info.verb == Verb::Get {
        let stored = read::get(call, info.query.text("resourceVersion"))?;
        return Ok(Answer::Object(200, scale::of(&call.resource, &object::read(&call.resource, &stored))?));
    }
    let scale = if info.verb == Verb::Update {
        let options = WriteOptions::read(&info.query, WriteKind::Update)?;
        set_options(call, &options);
        let sent = other_kind(asked, "Scale")?;
        decode::is_scale(call, &sent)?;
        decode::match_name(call, &sent)?;
        scale::update(call, |_| Ok(sent.clone())).await?
    } else {
        let patch = read_patch(asked, call, false)?;
        patch.fits_a_scale(call)?;
        scale::update(call, |current| patch.on(current)).await?
    };
    Ok(Answer::Object(200, scale))
}

/// Decodes a body of another kind than the resource. Unknown fields are ignored.
fn other_kind(asked: &Asked<'_>, kind: &str) -> Result<Value, Status> {
    let format = Format::of(asked.info.header("content-type"))?;
    body::object(&asked.content, format, kind).map(|decoded| decoded.value)
}

/// Handles subresources that are not part of the object.
async fn special(asked: &Asked<'_>, call: &mut Call<'_>) -> Result<Answer, Status> {
    let subresource = subresource_kind(&call.resource, call.subresource);
    if asked.info.verb == Verb::Create {
        let options = WriteOptions::read(&asked.info.query, WriteKind::Create)?;
        set_options(call, &options);
        call.field_validation = FieldValidation::Ignore;
    }
    match (call.subresource, asked.info.verb) {
        ("token", Verb::Create) => {
            let request = other_kind(asked, &subresource)?;
            pods::token(call, request).map(|token| Answer::Other(201, token))
        }
        ("binding", Verb::Create) => {
            let binding = other_kind(asked, &subresource)?;
            pods::bind(call, &binding).await.map(|done| Answer::Other(201, done))
        }
        ("eviction", Verb::Create) => {
            let eviction = other_kind(asked, &subresource)?;
            pods::evict(call, &eviction).await.map(|done| Answer::Other(201, done))
        }
        ("log", Verb::Get) => read::get(call, "").map(|_| Answer::Text(String::new())),
        _ => Err(Status::new(501, "NotImplemented", "the sandbox runs no containers to reach")),
    }
}

fn subresource_kind(resource: &ResourceType, name: &str) -> String {
    resource.subresource(name).map(|subresource| subresource.kind.to_string()).unwrap_or_default()
}
