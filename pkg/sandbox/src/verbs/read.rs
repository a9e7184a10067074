//! The get and list verbs, and the continue tokens of list pages.

use std::{num::NonZeroUsize, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::{Call, object};
use crate::{
    request::{body, options::ListOptions},
    selector::{FieldSelector, LabelSelector},
    status::Status,
    store::{self, Key, Page, Revision, StoredObject},
};

/// The message of a 410 during a paged list. Source: apiserver 1.36 `handleCompactedErrorForPaging`.
const TOO_OLD: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without \
     the continue parameter, or use the continue token in this response to retrieve the remainder of the results. \
     Continuing with the provided token results in an inconsistent list - objects that were created, modified, or \
     deleted between the time the first chunk was returned and now may show up in the list.";

#[derive(Debug)]
pub(crate) enum ListResult {
    Page(Page),
    /// Status 410, with a token that continues at the same key in the current state.
    Expired {
        status: Status,
        continue_token: String,
    },
}

/// The selectors of a list or a watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selectors {
    labels: Option<LabelSelector>,
    fields: Option<FieldSelector>,
}

impl Selectors {
    /// Parses the selectors.
    /// Errors: 400 if a selector is invalid.
    pub(crate) fn read(call: &Call<'_>, options: &ListOptions) -> Result<Self, Status> {
        let labels = match options.label_selector.as_str() {
            "" => None,
            text => Some(LabelSelector::parse(text)?).filter(|selector| !selector.is_empty()),
        };
        let fields = match options.field_selector.as_str() {
            "" => None,
            text => Some(FieldSelector::parse(text, &call.resource)?).filter(|selector| !selector.is_empty()),
        };
        Ok(Self { labels, fields })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_none() && self.fields.is_none()
    }

    pub(crate) fn matches(&self, object: &StoredObject) -> bool {
        self.labels.as_ref().is_none_or(|selector| selector.matches(&object.labels))
            && self.fields.as_ref().is_none_or(|selector| selector.matches(object))
    }
}

/// Returns the object that a call names.
/// Errors: 404 if the object does not exist; 504 if the requested revision is in the future.
pub(crate) fn get(call: &Call<'_>, resource_version: &str) -> Result<Arc<StoredObject>, Status> {
    let revision = object::parse_revision(resource_version).map_err(|why| {
        let shown = crate::go::quoted(resource_version);
        Status::internal_without_details(format!("resourceVersion: Invalid value: {shown}: {why}"))
    })?;
    check_revision_reached(call, revision)?;
    call.server.store.get(&call.object_key()).ok_or_else(|| call.not_found())
}

fn check_revision_reached(call: &Call<'_>, requested: Option<Revision>) -> Result<(), Status> {
    let current = call.server.store.revision();
    match requested {
        Some(requested) if requested > current => Err(Status::revision_too_large(requested.0, current.0)),
        _ => Ok(()),
    }
}

/// Returns a page of the objects in the scope of a call.
///
/// Source: kube-apiserver 1.36, measured, and the Kubernetes documentation of `resourceVersion`.
/// Errors: 400 for invalid options; 410 for expired revisions, 504 for future ones.
pub(crate) fn list(call: &Call<'_>, options: &ListOptions) -> Result<ListResult, Status> {
    let selectors = Selectors::read(call, options)?;
    let requested = object::parse_revision(&options.resource_version).map_err(|why| {
        let shown = crate::go::quoted(&options.resource_version);
        Status::bad_request(format!(
            "invalid resource version: resourceVersion: Invalid value: {shown}: {why}"
        ))
    })?;
    let exact = options.resource_version_match == "Exact";
    let (mut at, mut after) = (None, None);
    if !options.continue_token.is_empty() {
        let token = ContinueToken::decode(call, &options.continue_token)?;
        if requested.is_some() {
            return Err(Status::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        at = token.revision;
        after = Some(token.after);
    } else if exact || (options.resource_version_match.is_empty() && options.limit > 0) {
        at = requested;
    }
    check_revision_reached(call, requested.or(at))?;
    // Version 0 means any state, without a limit.
    let limit = if options.resource_version == "0" { 0 } else { options.limit };
    let filter = |stored: &StoredObject| selectors.matches(stored);
    let page = call.server.store.list(
        &call.scope(),
        store::ListOptions {
            after: after.as_ref(),
            limit: NonZeroUsize::new(limit),
            at,
            filter: (!selectors.is_empty()).then_some(&filter as &dyn Fn(&StoredObject) -> bool),
        },
    );
    match (page, after) {
        (Ok(page), _) => Ok(ListResult::Page(page)),
        (Err(_), Some(after)) => Ok(ListResult::Expired {
            status: Status::expired(TOO_OLD),
            continue_token: ContinueToken { revision: None, after }.encode(call),
        }),
        (Err(_), None) => Err(Status::expired("The resourceVersion for the provided list is too old.")),
    }
}

const VERSION: &str = "meta.k8s.io/v1";

/// The end of a list page.
/// Source: apiserver 1.36 `storage/continue.go`: base64 without padding of a small JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    /// The revision of the list. `None` means the newest revision for each page; such pages may be inconsistent.
    pub(crate) revision: Option<Revision>,
    pub(crate) after: Key,
}

#[derive(Deserialize, Serialize)]
struct TokenJson<'a> {
    #[serde(default, borrow)]
    v: std::borrow::Cow<'a, str>,
    #[serde(default)]
    rv: i64,
    #[serde(default, borrow)]
    start: std::borrow::Cow<'a, str>,
}

impl ContinueToken {
    /// Returns the token for clients.
    pub(crate) fn encode(&self, call: &Call<'_>) -> String {
        let rv = self.revision.map_or(-1, |revision| i64::try_from(revision.0).unwrap_or(i64::MAX));
        // The key is relative to the scope of the list; the trailing NUL makes it the first key after the last object.
        let start = if call.namespace.is_empty() && !self.after.namespace.is_empty() {
            format!("/{}/{}\0", self.after.namespace, self.after.name)
        } else {
            format!("/{}\0", self.after.name)
        };
        let form = TokenJson { v: VERSION.into(), rv, start: start.into() };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&form).expect("a struct of texts and a number is JSON"))
    }

    /// Parses a client's token.
    /// Errors: 400 if the token is invalid.
    pub(crate) fn decode(call: &Call<'_>, text: &str) -> Result<Self, Status> {
        let refuse = |why: &str| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| refuse(&illegal_base64(&error, text)))?;
        let form: TokenJson<'_> =
            serde_json::from_slice(&bytes).map_err(|error| refuse(&body::of_json_error(&error, &bytes)))?;
        if form.v != VERSION {
            let shown = crate::go::quoted(&form.v);
            return Err(refuse(&format!("server does not recognize this encoded version {shown}")));
        }
        if form.rv == 0 {
            return Err(refuse("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
        }
        let start = form.start.trim_start_matches('/').trim_end_matches('\0');
        if start.is_empty() {
            return Err(refuse("encoded start key empty (version meta.k8s.io/v1)"));
        }
        let across = call.resource.namespaced && call.namespace.is_empty();
        let (namespace, name) =
            if across { start.split_once('/').unwrap_or((start, "")) } else { (call.namespace, start) };
        let mut after = call.key(name);
        after.namespace = namespace.into();
        Ok(Self { revision: u64::try_from(form.rv).ok().map(Revision), after })
    }
}

fn illegal_base64(error: &base64::DecodeError, text: &str) -> String {
    let offset = match error {
        base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _) => {
            *offset
        }
        base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => text.len(),
    };
    format!("illegal base64 data at input byte {offset}")
}
