//! What the user of a connection may do.

use std::fmt;

use futures::future::try_join_all;
use http::Method;
use serde::Deserialize;
use serde_json::json;

use crate::{ApiError, Server, server::call::Call};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// Something the user of the connection wants to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Permission {
    /// `get`, `list`, `watch`, `create`, `patch`, `update`, `delete`; `*` for all.
    pub verb: String,
    /// The API group; `*` for all.
    pub group: String,
    /// The plural; `*` for all.
    pub resource: String,
    /// The namespace; empty for the whole cluster.
    pub namespace: String,
}

/// What the user may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// What is not allowed, each with the authorizer's words.
    pub denied: Vec<Denied>,
    /// Whether everything is allowed to this user.
    pub is_admin: bool,
}

/// A permission that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// Which one.
    pub permission: Permission,
    /// Why, as far as the server tells.
    pub reason: String,
}

/// What a SelfSubjectAccessReview answers.
#[derive(Deserialize)]
struct Review {
    #[serde(default)]
    status: Answer,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    allowed: bool,
    reason: String,
    evaluation_error: String,
}

impl Server {
    /// Asks which of these the user has, by SelfSubjectAccessReview: one question for an administrator, else one each,
    /// side by side.
    pub async fn access(&self, wanted: &[Permission]) -> Result<Access, ApiError> {
        let all = || "*".to_owned();
        let everything = Permission { verb: all(), group: all(), resource: all(), namespace: String::new() };
        if self.review(&everything).await?.allowed {
            return Ok(Access { denied: Vec::new(), is_admin: true });
        }
        let answers = try_join_all(wanted.iter().map(|permission| self.review(permission))).await?;
        let denied = wanted.iter().zip(answers).filter(|(_, answer)| !answer.allowed);
        let denied = denied.map(|(permission, answer)| Denied {
            permission: permission.clone(),
            reason: if answer.reason.is_empty() { answer.evaluation_error } else { answer.reason },
        });
        Ok(Access { denied: denied.collect(), is_admin: false })
    }

    async fn review(&self, permission: &Permission) -> Result<Answer, ApiError> {
        let (resource, subresource) =
            permission.resource.split_once('/').unwrap_or((&permission.resource, ""));
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": permission.verb, "group": permission.group, "resource": resource,
                "subresource": subresource, "namespace": permission.namespace,
            }},
        });
        let call = Call::new(Method::POST, format!("ask whether one may {permission}"), REVIEWS)
            .body("application/json", review.to_string().into_bytes());
        let Review { status } = self.parse(&call, &self.send(&call).await?)?;
        Ok(status)
    }
}

/// As in messages: `create deployments.apps in namespace x`.
impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if self.namespace.is_empty() { Ok(()) } else { write!(f, " in namespace {}", self.namespace) }
    }
}

#[cfg(test)]
mod tests;
