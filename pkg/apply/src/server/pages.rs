//! Lists of a kind page by page, without holding all objects.

use manifest::{Map, Object, Value};
use serde::Deserialize;

use super::{
    List, Server,
    read::{list_call, typed},
};
use crate::{ApiError, ApiKind};

/// The number of objects in one request.
const PAGE: usize = 500;

/// The objects of a kind, page by page; earlier pages are not kept.
#[derive(Debug)]
pub struct Pages {
    server: Server,
    kind: ApiKind,
    list: List,
    size: usize,
    place: Place,
    /// The number of objects returned since the first page.
    handed: usize,
    is_second_go: bool,
    /// The resource version of the last page.
    pub(super) version: String,
}

/// Some of the objects of a kind, with `apiVersion` and `kind`.
#[derive(Debug)]
pub enum Page {
    /// The first objects. This page repeats if the server has lost the state for the following pages. All objects
    /// returned before are then void.
    First(Vec<Object>),
    /// The objects after the previous page.
    Next(Vec<Object>),
}

/// The position of the next page.
#[derive(Debug)]
enum Place {
    Start,
    Behind(String),
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
    pub fn pages(&self, kind: &ApiKind, list: &List) -> Pages {
        Pages {
            server: self.clone(),
            kind: kind.clone(),
            list: list.clone(),
            size: PAGE,
            place: Place::Start,
            handed: 0,
            is_second_go: false,
            version: String::new(),
        }
    }
}

impl Pages {
    /// Sets the number of objects in one request, for large objects.
    #[must_use]
    pub fn of(self, size: usize) -> Self {
        Self { size: size.max(1), ..self }
    }

    /// Returns the next page. None after the last. The first page exists even without objects.
    ///
    /// A server keeps the state for the following pages for some minutes. Once it is lost, reading restarts with
    /// [`Page::First`], one time.
    pub async fn next(&mut self) -> Result<Option<Page>, ApiError> {
        match self.ask().await {
            // The second attempt has the full time again.
            Err(ApiError::Status { code: 410, .. })
                if matches!(self.place, Place::Behind(_)) && !self.is_second_go =>
            {
                self.is_second_go = true;
                self.place = Place::Start;
                self.handed = 0;
                self.ask().await
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
                Page::First(objects) => {
                    taken = T::default();
                    objects
                }
                Page::Next(objects) => objects,
            };
            for object in objects {
                take(&mut taken, object);
            }
        }
        Ok(taken)
    }

    async fn ask(&mut self) -> Result<Option<Page>, ApiError> {
        let behind = match &self.place {
            Place::Start => "",
            Place::Behind(token) => token,
            Place::End => return Ok(None),
        };
        let limit = self.list.at_most.map_or(self.size, |most| (most - self.handed).clamp(1, self.size));
        let call =
            list_call(&self.kind, &self.list).with("limit", &limit.to_string()).with("continue", behind);
        let answer: Answer = self.server.parse(&call, &self.server.send(&call).await?)?;
        let is_first = matches!(self.place, Place::Start);
        let left = self.list.at_most.map_or(usize::MAX, |most| most - self.handed);
        let objects = answer.items.unwrap_or_default().into_iter().take(left);
        let objects: Vec<Object> = objects.map(|fields| typed(&self.kind, fields)).collect();
        self.handed += objects.len();
        self.version = answer.metadata.resource_version;
        let enough = self.list.at_most.is_some_and(|most| self.handed >= most);
        self.place = match answer.metadata.r#continue {
            token if token.is_empty() || enough => Place::End,
            token => Place::Behind(token),
        };
        Ok(Some(if is_first { Page::First(objects) } else { Page::Next(objects) }))
    }
}
