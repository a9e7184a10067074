//! Permissions of the user of a connection.

mod rules;

use std::{collections::BTreeMap, fmt};

use futures::future::try_join_all;
use http::Method;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use self::rules::{Rules, RulesReview};
use crate::{ApiError, Server, server::call::ApiCall};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const USERS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const RULES: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

/// Asks for the rules of a namespace from this number of questions on. The rules may answer none of the questions.
const MIN_PERMISSIONS_FOR_RULES: usize = 3;

/// An action that the user of the connection wants to perform.
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

/// The result of a check of permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessReview {
    /// Denied permissions, each with the reason of the authorizer.
    pub denied: Vec<DeniedPermission>,
    /// True if the user may do everything.
    pub is_admin: bool,
}

/// A permission that the user does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedPermission {
    /// The denied permission.
    pub permission: Permission,
    /// The reason, as far as the server gives one.
    pub reason: String,
}

/// The answer to a SelfSubjectAccessReview.
#[derive(Deserialize)]
struct Review {
    #[serde(default)]
    status: ReviewStatus,
}

/// The answer to a SelfSubjectReview.
#[derive(Deserialize)]
struct UserReview {
    status: UserStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserStatus {
    user_info: UserInfo,
}

#[derive(Deserialize)]
struct UserInfo {
    username: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReviewStatus {
    allowed: bool,
    reason: String,
    evaluation_error: String,
}

impl Server {
    /// Checks which of the permissions the user has. Asks one question to recognise an administrator. Otherwise asks
    /// for the rules of namespaces, then concurrently for each permission that the rules leave open.
    pub async fn check_permissions(&self, wanted: &[Permission]) -> Result<AccessReview, ApiError> {
        let all = || "*".to_owned();
        let everything = Permission { verb: all(), group: all(), resource: all(), namespace: String::new() };
        if self.review(&everything).await?.allowed {
            return Ok(AccessReview { denied: Vec::new(), is_admin: true });
        }
        let rules = self.rules_for(wanted).await?;
        let is_open = |permission: &&Permission| {
            let rules = rules.get(&*permission.namespace);
            !rules.is_some_and(|rules| rules.certainly_allow(permission))
        };
        let open: Vec<_> = wanted.iter().filter(is_open).collect();
        let answers = try_join_all(open.iter().map(|permission| self.review(permission))).await?;
        let denied = open.into_iter().zip(answers).filter(|(_, answer)| !answer.allowed);
        let denied = denied.map(|(permission, answer)| DeniedPermission {
            permission: permission.clone(),
            reason: if answer.reason.is_empty() { answer.evaluation_error } else { answer.reason },
        });
        Ok(AccessReview { denied: denied.collect(), is_admin: false })
    }

    /// Reads the rules of namespaces with several wanted permissions. There are no rules for the whole cluster, because
    /// the rules of a namespace do not tell roles and cluster roles apart.
    async fn rules_for<'p>(&self, wanted: &'p [Permission]) -> Result<BTreeMap<&'p str, Rules>, ApiError> {
        let mut questions: BTreeMap<&str, usize> = BTreeMap::new();
        for permission in wanted.iter().filter(|permission| !permission.namespace.is_empty()) {
            *questions.entry(&permission.namespace).or_default() += 1;
        }
        let namespaces = questions.into_iter().filter(|(_, count)| *count >= MIN_PERMISSIONS_FOR_RULES);
        let rules =
            namespaces.map(|(namespace, _)| async move { Ok((namespace, self.rules(namespace).await?)) });
        Ok(try_join_all(rules).await?.into_iter().collect())
    }

    async fn rules(&self, namespace: &str) -> Result<Rules, ApiError> {
        let action = format!("list the permissions in namespace {namespace}");
        let spec = json!({"namespace": namespace});
        match self.post_review(RULES, "SelfSubjectRulesReview", &spec, action).await {
            Ok(RulesReview { status }) => Ok(status),
            // Single questions may be allowed or answered nevertheless.
            Err(ApiError::Status { code: 403 | 404, .. }) => Ok(Rules::default()),
            Err(error) => Err(error),
        }
    }

    async fn review(&self, permission: &Permission) -> Result<ReviewStatus, ApiError> {
        let (resource, subresource) =
            permission.resource.split_once('/').unwrap_or((&permission.resource, ""));
        let spec = json!({"resourceAttributes": {
            "verb": permission.verb, "group": permission.group, "resource": resource,
            "subresource": subresource, "namespace": permission.namespace,
        }});
        let action = format!("check the permission to {permission}");
        let Review { status } = self.post_review(REVIEWS, "SelfSubjectAccessReview", &spec, action).await?;
        Ok(status)
    }

    /// Returns the name of the user, as the server knows it. None if the server does not report the name: before
    /// Kubernetes 1.28, or if the request is forbidden.
    pub async fn user(&self) -> Result<Option<String>, ApiError> {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let call = ApiCall::new(Method::POST, "read the name of the user", USERS)
            .read_only()
            .body("application/json", review.to_string().into_bytes());
        match self.send(&call).await {
            Ok(answer) => Ok(self.parse::<UserReview>(&call, &answer)?.status.user_info.username),
            Err(ApiError::Status { code: 403..=405, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn post_review<T: DeserializeOwned>(
        &self,
        path: &str,
        kind: &str,
        spec: &Value,
        action: String,
    ) -> Result<T, ApiError> {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
        let call = ApiCall::new(Method::POST, action, path)
            .read_only()
            .body("application/json", review.to_string().into_bytes());
        self.parse(&call, &self.send(&call).await?)
    }
}

/// Formats the permission for messages: `create deployments.apps in namespace x`.
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
