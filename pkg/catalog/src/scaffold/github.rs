//! The repositories and pull requests of GitHub.

use serde_json::{Value, json};
use transport::http::{self, Request, RequestBody};
use transport::{Context, Credential, RequestFailure, Secret};

/// The address of the API.
const API: &str = "https://api.github.com";

/// The API for one repository.
pub(super) struct GitHub<'a> {
    pub(super) context: &'a Context,
    pub(super) token: &'a Secret,
    /// The repository, as `organization/name`.
    pub(super) repository: &'a str,
}

/// The description of a repository.
pub(super) struct HostedRepository {
    pub(super) clone_url: String,
    pub(super) default_branch: String,
    pub(super) is_archived: bool,
}

impl GitHub<'_> {
    /// Reads the description of the repository. None if there is no such repository.
    pub(super) async fn describe(&self) -> Result<Option<HostedRepository>, transport::Error> {
        let answer = match self.send("", ::http::Method::GET, None).await {
            Err(error) if status(&error) == Some(404) => return Ok(None),
            answer => answer?,
        };
        let text = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Some(HostedRepository {
            clone_url: text("clone_url"),
            default_branch: text("default_branch"),
            is_archived: answer.get("archived").and_then(Value::as_bool).unwrap_or_default(),
        }))
    }

    /// Finds the open pull request of a branch.
    pub(super) async fn pull_request(&self, branch: &str) -> Result<Option<u64>, transport::Error> {
        let owner = self.repository.split('/').next().unwrap_or_default();
        let path = format!("/pulls?state=open&head={owner}:{branch}");
        let open = self.send(&path, ::http::Method::GET, None).await?;
        let of_branch = |pull: &&Value| pull.pointer("/head/ref").and_then(Value::as_str) == Some(branch);
        let found = open.as_array().into_iter().flatten().find(of_branch);
        Ok(found.and_then(|pull| pull.get("number")).and_then(Value::as_u64))
    }

    /// Creates a pull request. Returns its number.
    pub(super) async fn create_pull_request(
        &self,
        title: &str,
        body: &str,
        (branch, base): (&str, &str),
    ) -> Result<u64, transport::Error> {
        let request = json!({"title": title, "body": body, "head": branch, "base": base});
        let created = self.send("/pulls", ::http::Method::POST, Some(request)).await?;
        Ok(created.get("number").and_then(Value::as_u64).unwrap_or_default())
    }

    /// Replaces the text of a pull request.
    pub(super) async fn edit_pull_request(&self, number: u64, body: &str) -> Result<(), transport::Error> {
        let request = json!({ "body": body });
        self.send(&format!("/pulls/{number}"), ::http::Method::PATCH, Some(request)).await.map(|_| ())
    }

    /// Adds labels to a pull request.
    pub(super) async fn add_labels(&self, number: u64, labels: &[String]) -> Result<(), transport::Error> {
        if labels.is_empty() {
            return Ok(());
        }
        let path = format!("/issues/{number}/labels");
        self.send(&path, ::http::Method::POST, Some(json!({ "labels": labels }))).await.map(|_| ())
    }

    async fn send(
        &self,
        path: &str,
        method: ::http::Method,
        body: Option<Value>,
    ) -> Result<Value, transport::Error> {
        let url = http::parse_address(&format!("{API}/repos/{}{path}", self.repository))?;
        let mut request = Request::get(url)
            .with_accept("application/vnd.github+json")
            .with_credential(Some(Credential::Bearer(self.token.clone())));
        request.method = method;
        if let Some(body) = body {
            request.body = RequestBody::Bytes(body.to_string().into());
            request = request.with_static_header("content-type", "application/json");
        }
        let answer = http::send(self.context, &request).await?;
        Ok(serde_json::from_slice(&answer).unwrap_or_default())
    }
}

/// The status of a refused request.
pub(super) fn status(error: &transport::Error) -> Option<u16> {
    match &error.request()?.failure {
        RequestFailure::Unauthorized { status, .. } | RequestFailure::Status { status, .. } => Some(*status),
        _ => None,
    }
}
