//! Dispatch of requests to verbs.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Call,
    call::VerbResponse,
    create, decode,
    delete::{self, DeleteResult},
    kind, object,
    patch::{self, Patch, PatchType},
    pods,
    read::{self, ContinueToken, ListResult},
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

pub(crate) struct ResourceRequest<'a> {
    pub(crate) server: &'a Server,
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) info: &'a RequestInfo,
    pub(crate) content: Bytes,
    /// The formatter of watch events.
    pub(crate) presenter: Presenter,
}

/// Answers a request. The second part contains the warnings, for successes and failures.
pub(crate) async fn dispatch(request: &ResourceRequest<'_>) -> (Result<VerbResponse, Status>, Vec<String>) {
    let manager = request.info.manager();
    let mut call = Call::new(request.server, Arc::clone(&request.kinds), Arc::clone(&request.info.resource));
    call.namespace = &request.info.path.namespace;
    call.name = &request.info.path.name;
    call.subresource = &request.info.path.subresource;
    call.manager = &manager;
    if let Some(text) = kind::deprecation(&call.resource) {
        call.warn(text);
    }
    if let Some(custom) = call.resource.custom.as_ref().filter(|custom| custom.has_conversion_webhook) {
        call.warn(format!(
            "the sandbox does not call the conversion webhook of {}: objects of other versions are served \
             unconverted",
            custom.definition
        ));
    }
    let result = match call.subresource {
        "" | "status" | "finalize" | "approval" | "ephemeralcontainers" | "resize" => {
            dispatch_object(request, &mut call).await
        }
        "scale" => dispatch_scale(request, &mut call).await,
        _ => dispatch_subresource(request, &mut call).await,
    };
    let warnings = call.take_warnings();
    (result, warnings)
}

/// Handles verbs on the object itself, and on subresources with the body of the whole object.
async fn dispatch_object(request: &ResourceRequest<'_>, call: &mut Call<'_>) -> Result<VerbResponse, Status> {
    let query = &request.info.query;
    match request.info.verb {
        Verb::Get => {
            read::get(call, query.text("resourceVersion")).map(|stored| VerbResponse::Stored(200, stored))
        }
        Verb::List => list(call, &ListOptions::read(query, false)?),
        Verb::Watch => {
            let options = ListOptions::read(query, true)?;
            watch::watch(call, &options, request.presenter.clone())
                .map(|watch| VerbResponse::Watch(Box::new(watch)))
        }
        Verb::Create => {
            let object = decode_object(request, call, WriteKind::Create)?;
            if reviews::is_review(&call.resource) {
                let review = reviews::complete_review(call, object)?;
                return Ok(VerbResponse::OtherKind(201, review));
            }
            Ok(VerbResponse::from_write(201, create::create(call, object).await?))
        }
        Verb::Update => {
            let object = decode_object(request, call, WriteKind::Update)?;
            let (written, created) = update::update(call, object).await?;
            Ok(VerbResponse::from_write(if created { 201 } else { 200 }, written))
        }
        Verb::Patch => {
            let patch = read_patch(request, call, call.resource.custom.is_some())?;
            let (written, created) = patch::patch(call, &patch).await?;
            Ok(VerbResponse::from_write(if created { 201 } else { 200 }, written))
        }
        Verb::Delete => {
            let options = delete_options(request, call)?;
            Ok(deletion_response(call, delete::delete(call, &options).await?))
        }
        Verb::DeleteCollection => {
            let list = ListOptions::read(query, false)?;
            let options = delete_options(request, call)?;
            let page = delete::delete_collection(call, &list, &options).await?;
            Ok(VerbResponse::List(page.items, list_metadata(page.revision, None, None)))
        }
    }
}

fn list(call: &Call<'_>, options: &ListOptions) -> Result<VerbResponse, Status> {
    match read::list(call, options)? {
        ListResult::Page(Page { items, revision, last, remaining }) => {
            let token = last.map(|after| ContinueToken { revision: Some(revision), after }.encode(call));
            Ok(VerbResponse::List(items, list_metadata(revision, token, remaining)))
        }
        ListResult::Expired { status, continue_token } => {
            let mut value = status.to_value();
            value["metadata"]["continue"] = continue_token.into();
            Ok(VerbResponse::OtherKind(status.code, value))
        }
    }
}

/// Decodes the object of a create or an update, with its options.
fn decode_object(
    request: &ResourceRequest<'_>,
    call: &mut Call<'_>,
    kind: WriteKind,
) -> Result<Value, Status> {
    let options = WriteOptions::read(&request.info.query, kind)?;
    set_options(call, &options);
    decode::decode(call, &request.content, request.info.header("content-type"))
}

fn set_options(call: &mut Call<'_>, options: &WriteOptions) {
    call.dry_run = options.dry_run;
    call.field_validation = options.field_validation;
}

fn read_patch(request: &ResourceRequest<'_>, call: &mut Call<'_>, custom: bool) -> Result<Patch, Status> {
    let sort = PatchType::of(request.info.header("content-type"), custom)?;
    let options = WriteOptions::read(&request.info.query, sort.options())?;
    set_options(call, &options);
    call.is_patch = true;
    Patch::read(sort, &request.content, options.force)
}

fn delete_options(request: &ResourceRequest<'_>, call: &mut Call<'_>) -> Result<DeleteOptions, Status> {
    let info = request.info;
    let options = DeleteOptions::read(&info.query, &request.content, info.header("content-type"))?;
    call.dry_run = options.dry_run;
    Ok(options)
}

fn deletion_response(call: &Call<'_>, deleted: DeleteResult) -> VerbResponse {
    let resource = &call.resource;
    match deleted {
        DeleteResult::Pending(written) => VerbResponse::from_write(200, written),
        DeleteResult::Removed(written) if kind::returns_deleted_object(resource) => {
            VerbResponse::from_write(200, written)
        }
        DeleteResult::Removed(written) => {
            let object = written.into_value(call);
            let details = Details {
                name: call.name.to_owned(),
                group: resource.group.to_string(),
                kind: resource.plural.to_string(),
                uid: meta::uid(&object).to_owned(),
                ..Details::default()
            };
            VerbResponse::OtherKind(200, success(&details))
        }
    }
}

fn success(details: &Details) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    })
}

async fn dispatch_scale(request: &ResourceRequest<'_>, call: &mut Call<'_>) -> Result<VerbResponse, Status> {
    let info = request.info;
    if info.verb == Verb::Get {
        let stored = read::get(call, info.query.text("resourceVersion"))?;
        return Ok(VerbResponse::Object(
            200,
            scale::from_object(&call.resource, &object::read(&call.resource, &stored))?,
        ));
    }
    let scale = if info.verb == Verb::Update {
        let options = WriteOptions::read(&info.query, WriteKind::Update)?;
        set_options(call, &options);
        let sent = decode_other_kind(request, "Scale")?;
        decode::check_is_scale(call, &sent)?;
        decode::match_name(call, &sent)?;
        scale::update(call, |_| Ok(sent.clone())).await?
    } else {
        let patch = read_patch(request, call, false)?;
        patch.check_scale(call)?;
        scale::update(call, |current| patch.apply_to(current)).await?
    };
    Ok(VerbResponse::Object(200, scale))
}

/// Decodes a body of another kind than the resource. Unknown fields are ignored.
fn decode_other_kind(request: &ResourceRequest<'_>, kind: &str) -> Result<Value, Status> {
    let format = Format::of(request.info.header("content-type"))?;
    body::object(&request.content, format, kind).map(|decoded| decoded.value)
}

/// Handles subresources that are not part of the object.
async fn dispatch_subresource(
    resource_request: &ResourceRequest<'_>,
    call: &mut Call<'_>,
) -> Result<VerbResponse, Status> {
    let subresource = subresource_kind(&call.resource, call.subresource);
    if resource_request.info.verb == Verb::Create {
        let options = WriteOptions::read(&resource_request.info.query, WriteKind::Create)?;
        set_options(call, &options);
        call.field_validation = FieldValidation::Ignore;
    }
    match (call.subresource, resource_request.info.verb) {
        ("token", Verb::Create) => {
            let request = decode_other_kind(resource_request, &subresource)?;
            pods::token(call, request).map(|token| VerbResponse::OtherKind(201, token))
        }
        ("binding", Verb::Create) => {
            let binding = decode_other_kind(resource_request, &subresource)?;
            pods::bind(call, &binding).await.map(|done| VerbResponse::OtherKind(201, done))
        }
        ("eviction", Verb::Create) => {
            let eviction = decode_other_kind(resource_request, &subresource)?;
            pods::evict(call, &eviction).await.map(|done| VerbResponse::OtherKind(201, done))
        }
        ("log", Verb::Get) => read::get(call, "").map(|_| VerbResponse::Text(String::new())),
        _ => Err(Status::new(501, "NotImplemented", "the sandbox runs no containers")),
    }
}

fn subresource_kind(resource: &ResourceType, name: &str) -> String {
    resource.subresource(name).map(|subresource| subresource.kind.to_string()).unwrap_or_default()
}
