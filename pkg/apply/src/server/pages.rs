//! Lists of a kind page by page, without holding all objects.

use manifest::{Map, Object, Value};
use serde::Deserialize;

use super::{
    ListQuery, Server,
    read::{list_call, with_kind},
};
use crate::{ApiError, ApiKind};

/// The number of objects in one request.
const PAGE: usize = 500;

/// The objects of a kind, page by page; earlier pages are not kept.
#[derive(Debug)]
pub struct ObjectPages {
    server: Server,
    kind: ApiKind,
    list: ListQuery,
    size: usize,
    position: PagePosition,
    /// The number of objects returned since the first page.
    returned: usize,
    is_restarted: bool,
    /// The resource version of the last page.
    pub(super) version: String,
}

/// Some of the objects of a kind, with `apiVersion` and `kind`.
#[derive(Debug)]
pub enum ObjectPage {
    /// The first objects. This page repeats if the server has lost the state for the following pages. All objects
    /// returned before are then void.
    First(Vec<Object>),
    /// The objects after the previous page.
    Next(Vec<Object>),
}

/// The position of the next page.
#[derive(Debug)]
enum PagePosition {
    Start,
    After(String),
    End,
}

/// The content of a page in an answer. Other fields are not parsed.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    metadata: AnswerMetadata,
    items: Option<Vec<Map<String, Value>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AnswerMetadata {
    resource_version: String,
    r#continue: String,
}

impl Server {
    /// Returns the objects of a kind page by page, for callers that need not hold them all. Sends no request.
    pub fn pages(&self, kind: &ApiKind, list: &ListQuery) -> ObjectPages {
        ObjectPages {
            server: self.clone(),
            kind: kind.clone(),
            list: list.clone(),
            size: PAGE,
            position: PagePosition::Start,
            returned: 0,
            is_restarted: false,
            version: String::new(),
        }
    }
}

impl ObjectPages {
    /// Sets the number of objects in one request, for large objects.
    #[must_use]
    pub fn with_size(self, size: usize) -> Self {
        Self { size: size.max(1), ..self }
    }

    /// Returns the next page. None after the last. The first page exists even without objects.
    ///
    /// A server keeps the state for the following pages for some minutes. Once it is lost, reading restarts with
    /// [`ObjectPage::First`], one time.
    pub async fn next(&mut self) -> Result<Option<ObjectPage>, ApiError> {
        match self.request_page().await {
            // The second attempt has the full time again.
            Err(ApiError::Status { code: 410, .. })
                if matches!(self.position, PagePosition::After(_)) && !self.is_restarted =>
            {
                self.is_restarted = true;
                self.position = PagePosition::Start;
                self.returned = 0;
                self.request_page().await
            }
            page => page,
        }
    }

    /// Collects a part of every object, and drops the object with its page. If pages become void, their parts are
    /// dropped too.
    pub async fn gather<T: Default>(&mut self, mut take: impl FnMut(&mut T, Object)) -> Result<T, ApiError> {
        let mut taken = T::default();
        while let Some(page) = self.next().await? {
            let objects = match page {
                ObjectPage::First(objects) => {
                    taken = T::default();
                    objects
                }
                ObjectPage::Next(objects) => objects,
            };
            for object in objects {
                take(&mut taken, object);
            }
        }
        Ok(taken)
    }

    async fn request_page(&mut self) -> Result<Option<ObjectPage>, ApiError> {
        let token = match &self.position {
            PagePosition::Start => "",
            PagePosition::After(token) => token,
            PagePosition::End => return Ok(None),
        };
        let limit = self.list.limit.map_or(self.size, |most| (most - self.returned).clamp(1, self.size));
        let call =
            list_call(&self.kind, &self.list).with("limit", &limit.to_string()).with("continue", token);
        let answer: Answer = self.server.parse(&call, &self.server.send(&call).await?)?;
        let is_first = matches!(self.position, PagePosition::Start);
        let remaining = self.list.limit.map_or(usize::MAX, |most| most - self.returned);
        let objects = answer.items.unwrap_or_default().into_iter().take(remaining);
        let objects: Vec<Object> = objects.map(|fields| with_kind(&self.kind, fields)).collect();
        self.returned += objects.len();
        self.version = answer.metadata.resource_version;
        let enough = self.list.limit.is_some_and(|most| self.returned >= most);
        self.position = match answer.metadata.r#continue {
            token if token.is_empty() || enough => PagePosition::End,
            token => PagePosition::After(token),
        };
        Ok(Some(if is_first { ObjectPage::First(objects) } else { ObjectPage::Next(objects) }))
    }
}
