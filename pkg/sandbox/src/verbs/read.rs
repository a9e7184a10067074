//! The get and list verbs.

use std::{num::NonZeroUsize, sync::Arc};

use super::{Call, continue_token::ContinueToken, object};
use crate::{
    request::options::ListOptions,
    selector::{FieldSelector, LabelSelector},
    status::Status,
    store::{self, Page, Revision, StoredObject},
};

/// The message of a 410 during a paged list. Source: apiserver 1.36 `handleCompactedErrorForPaging`.
const TOO_OLD: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without \
     the continue parameter, or use the continue token in this response to retrieve the remainder of the results. \
     Continuing with the provided token results in an inconsistent list - objects that were created, modified, or \
     deleted between the time the first chunk was returned and now may show up in the list.";

/// The result of a list.
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

    /// True if the selectors match this object.
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
