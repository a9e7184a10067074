//! Reading all objects of a kind without holding them: page by page.

use manifest::{Map, Object, Value};
use serde::Deserialize;

use super::{
    List, Server,
    read::{list_call, typed},
};
use crate::{ApiError, ApiKind};

/// Objects a server is asked for at once.
const PAGE: usize = 500;

/// The objects of a kind, a page at a time; nothing is kept of the pages before.
#[derive(Debug)]
pub struct Pages {
    server: Server,
    kind: ApiKind,
    list: List,
    size: usize,
    place: Place,
    /// Objects handed over since the first page.
    handed: usize,
    is_second_go: bool,
    /// The version of the server's content the last page was of.
    pub(super) version: String,
}

/// Some of the objects of a kind. They carry `apiVersion` and `kind`.
#[derive(Debug)]
pub enum Page {
    /// The first ones. They come once more when the server has forgotten what the pages behind were to be of: all that
    /// was handed over before is then void.
    First(Vec<Object>),
    /// The ones behind those of the page before.
    Next(Vec<Object>),
}

/// Where the next page is.
#[derive(Debug)]
enum Place {
    Start,
    Behind(String),
    End,
}

/// A page as it is answered. What is of no use here is never made.
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
    /// Reads objects of a kind page by page, for those who need not hold them all. Nothing is asked yet.
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
    /// Asks for so many objects at once, where they are known to be large.
    #[must_use]
    pub fn of(self, size: usize) -> Self {
        Self { size: size.max(1), ..self }
    }

    /// The next page; none behind the last. There is a first page even when there are no objects.
    ///
    /// A server remembers for some minutes what the pages behind one are to be of. When it has forgotten, reading begins
    /// anew with [`Page::First`], once.
    pub async fn next(&mut self) -> Result<Option<Page>, ApiError> {
        match self.ask().await {
            // Another go has all its time before it.
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

    /// Takes what is needed of every object, and drops the object with its page. Nothing is taken twice: what was taken of
    /// pages that became void is dropped as well.
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
