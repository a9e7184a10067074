//! Asking a server what it serves.

mod aggregated;
mod legacy;

use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join;
use manifest::Object;
use serde::Deserialize;

use super::{Server, call::Call};
use crate::{ApiError, ApiKind, GroupKind, Kinds};

/// The whole at once; a server that cannot give it takes the second.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// What tells the two sorts of answers apart.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: String,
}

impl Server {
    /// Everything it serves; asked once, and again after [`Server::forget_kinds`].
    pub async fn kinds(&self) -> Result<Arc<Kinds>, ApiError> {
        self.kinds_other_than(None).await
    }

    /// Asks for kinds anew when they are next needed: a definition came or went.
    pub fn forget_kinds(&self) {
        self.shared.kinds.forget();
    }

    /// Everything it serves; asked anew where what is known lacks something and definitions were written since that were
    /// not established then.
    pub async fn kinds_with(&self, has_all: impl Fn(&Kinds) -> bool) -> Result<Arc<Kinds>, ApiError> {
        let known = self.kinds().await?;
        if has_all(&known) || !self.shared.kinds.may_lack_some() {
            return Ok(known);
        }
        self.forget_kinds();
        self.kinds().await
    }

    /// Takes note of definitions that were written: established ones are added to the kinds that are known, others are
    /// asked for when something is missing.
    pub(crate) fn learn_kinds<'o>(&self, established: impl Iterator<Item = &'o Object>, are_all: bool) {
        self.shared.kinds.learn(established, are_all);
    }

    /// A kind in its preferred version.
    /// # Errors
    /// `NoSuchKind`, or `BrokenGroup` for one of a group that does not answer, after the server was asked once more.
    pub async fn kind(&self, kind: &GroupKind) -> Result<ApiKind, ApiError> {
        let known = self.kinds().await?;
        if let Some(found) = known.preferred(kind) {
            return Ok(found.clone());
        }
        let fresh = self.kinds_other_than(Some(&known)).await?;
        fresh.preferred(kind).cloned().ok_or_else(|| no_kind(&fresh, kind))
    }

    async fn kinds_other_than(&self, old: Option<&Arc<Kinds>>) -> Result<Arc<Kinds>, ApiError> {
        self.shared.kinds.get(old, || discover(self)).await
    }
}

fn no_kind(kinds: &Kinds, kind: &GroupKind) -> ApiError {
    let action = format!("find kind `{kind}`");
    let broken =
        kinds.broken().find(|broken| broken.split_once('/').map_or("", |(group, _)| group) == kind.group);
    match broken {
        Some(broken) => {
            ApiError::BrokenGroup { action, kind: kind.to_string(), group_version: broken.to_owned() }
        }
        None => ApiError::NoSuchKind { action, kind: kind.to_string() },
    }
}

/// Asks in two requests where the server can answer so, else group by group.
/// A group that cannot be asked, such as that of a dead aggregated API, is noted as broken and stops nothing.
async fn discover(server: &Server) -> Result<Kinds, ApiError> {
    let (core, groups) = try_join(ask(server, "/api"), ask(server, "/apis")).await?;
    let mut kinds = Kinds::default();
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

async fn ask(server: &Server, path: &str) -> Result<(Call, Bytes), ApiError> {
    let call = Call::get("ask what the server serves", path).accept(ACCEPT);
    let answer = server.send(&call).await?;
    Ok((call, answer))
}

#[cfg(test)]
mod tests;
