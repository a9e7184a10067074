//! The deletecollection verb.

use std::sync::Arc;

use super::{Call, delete, read};
use crate::{
    request::options::{DeleteOptions, ListOptions},
    status::Status,
    store::{Page, StoredObject},
};

/// Deletes the objects of a list. Returns the list before the deletion.
///
/// # Errors
/// Fails with the first status other than success and 404.
pub(crate) async fn delete_collection(
    call: &Call<'_>,
    list: &ListOptions,
    options: &DeleteOptions,
) -> Result<Page, Status> {
    let read::ListResult::Page(page) = read::list(call, list)? else {
        return Err(Status::expired("the list to delete is too old"));
    };
    for item in &page.items {
        delete_one(call, item, options).await?;
    }
    Ok(page)
}

async fn delete_one(
    call: &Call<'_>,
    item: &Arc<StoredObject>,
    options: &DeleteOptions,
) -> Result<(), Status> {
    let mut one = Call::new(call.server, Arc::clone(&call.kinds), Arc::clone(&call.resource));
    one.namespace = &item.key.namespace;
    one.name = &item.key.name;
    one.manager = call.manager;
    one.dry_run = call.dry_run;
    let result = delete::delete(&one, options).await;
    call.warn_all(one.take_warnings());
    match result {
        Ok(_) => Ok(()),
        Err(status) if status.code == 404 => Ok(()),
        Err(status) => Err(status),
    }
}
