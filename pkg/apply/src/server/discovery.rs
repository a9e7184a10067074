//! Discovery of the kinds of a server.

mod aggregated;
mod legacy;

use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join;
use manifest::Object;
use serde::Deserialize;

use super::{Server, call::ApiCall};
use crate::{ApiError, ApiKind, GroupKind, ServedKinds};

/// The aggregated form; a server that does not support it answers in the second form.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// The field that distinguishes the two forms of answers.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: String,
}

impl Server {
    /// Returns all kinds of the server. They are requested once, and again after [`Server::forget_kinds`].
    pub async fn kinds(&self) -> Result<Arc<ServedKinds>, ApiError> {
        self.kinds_except(None).await
    }

    /// Makes the next use request the kinds again, after a definition was created or deleted.
    pub fn forget_kinds(&self) {
        self.shared.kinds.clear();
    }

    /// Returns all kinds of the server. They are requested again if the known kinds are incomplete, and definitions
    /// were written that were not yet established.
    pub async fn kinds_with(
        &self,
        has_all: impl Fn(&ServedKinds) -> bool,
    ) -> Result<Arc<ServedKinds>, ApiError> {
        let known = self.kinds().await?;
        if has_all(&known) || !self.shared.kinds.may_be_incomplete() {
            return Ok(known);
        }
        self.forget_kinds();
        self.kinds().await
    }

    /// Notes written definitions. Established definitions are added to the known kinds. The others cause a new request
    /// if a kind is missing.
    pub(crate) fn add_established_kinds<'o>(
        &self,
        established: impl Iterator<Item = &'o Object>,
        are_all: bool,
    ) {
        self.shared.kinds.add_established(established, are_all);
    }

    /// Returns a kind in its preferred version.
    /// # Errors
    /// `UnknownKind`, or `UnavailableGroup` for a kind in a group without an answer, after another request to the server.
    pub async fn kind(&self, kind: &GroupKind) -> Result<ApiKind, ApiError> {
        let known = self.kinds().await?;
        if let Some(found) = known.preferred(kind) {
            return Ok(found.clone());
        }
        let fresh = self.kinds_except(Some(&known)).await?;
        fresh.preferred(kind).cloned().ok_or_else(|| unknown_kind(&fresh, kind))
    }

    /// Requests the kinds again, unless newer ones than `old` are known.
    /// # Errors
    /// `UnavailableGroup` for one of the needed kinds in a group without an answer, whose objects may exist.
    pub(crate) async fn newer_kinds(
        &self,
        old: &Arc<ServedKinds>,
        mut needed: impl Iterator<Item = GroupKind>,
    ) -> Result<Arc<ServedKinds>, ApiError> {
        let fresh = self.kinds_except(Some(old)).await?;
        let unavailable = needed.find_map(|kind| {
            let error = fresh.preferred(&kind).is_none().then(|| unknown_kind(&fresh, &kind))?;
            (!error.is_not_found()).then_some(error)
        });
        unavailable.map_or(Ok(fresh), Err)
    }

    async fn kinds_except(&self, old: Option<&Arc<ServedKinds>>) -> Result<Arc<ServedKinds>, ApiError> {
        self.shared.kinds.get(old, || discover(self)).await
    }
}

fn unknown_kind(kinds: &ServedKinds, kind: &GroupKind) -> ApiError {
    let action = format!("find kind `{kind}`");
    let broken = kinds
        .unavailable()
        .find(|broken| broken.split_once('/').map_or("", |(group, _)| group) == kind.group);
    match broken {
        Some(broken) => {
            ApiError::UnavailableGroup { action, kind: kind.to_string(), group_version: broken.to_owned() }
        }
        None => ApiError::UnknownKind { action, kind: kind.to_string() },
    }
}

/// Discovers kinds with two requests, or group by group if the server does not support that. A group without an answer,
/// such as one of a dead aggregated API, is noted as broken and is no error.
async fn discover(server: &Server) -> Result<ServedKinds, ApiError> {
    let (core, groups) = try_join(get_discovery(server, "/api"), get_discovery(server, "/apis")).await?;
    let mut kinds = ServedKinds::default();
    for (call, answer) in [core, groups] {
        let head: Head = server.parse(&call, &answer)?;
        if head.kind == "APIGroupDiscoveryList" {
            aggregated::add(&mut kinds, server.parse(&call, &answer)?);
        } else {
            legacy::add(&mut kinds, server, &call, &answer).await?;
        }
    }
    Ok(kinds)
}

async fn get_discovery(server: &Server, path: &str) -> Result<(ApiCall, Bytes), ApiError> {
    let call = ApiCall::get("list the APIs of the server", path).accept(ACCEPT);
    let answer = server.send(&call).await?;
    Ok((call, answer))
}

#[cfg(test)]
mod tests;
