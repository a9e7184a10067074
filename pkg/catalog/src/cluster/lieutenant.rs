//! The API that knows clusters and tenants.

use manifest::Value;
use transport::http::{self, Request, RequestBody};
use transport::{Context, Credential, RequestFailure, Secret};

/// Access to the API.
pub struct Lieutenant<'c> {
    context: &'c Context,
    url: String,
    token: Option<Secret>,
}

/// A failed request to the API.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LieutenantError {
    /// The API answers with an error.
    #[error("API returned {status}{}", reason.as_ref().map_or_else(|| ".".to_owned(), |reason| format!(": {reason}")))]
    Status { status: u16, reason: Option<String> },
    /// The API does not answer.
    #[error("Unable to connect to Lieutenant at {url}")]
    Connect { url: String, source: Box<transport::Error> },
    /// The answer is no JSON.
    #[error("Client error: Unable to parse JSON")]
    Json(#[source] serde_json::Error),
    /// The address is not valid.
    #[error("`{url}` is not a valid URL")]
    Address { url: String },
}

impl<'c> Lieutenant<'c> {
    /// Takes the address of the API, with or without scheme, and a token. Opens no connection.
    pub fn new(url: &str, token: Option<Secret>, context: &'c Context) -> Self {
        let scheme = if url.contains("://") { "" } else { "https://" };
        Self { context, url: format!("{scheme}{}", url.trim_end_matches('/')), token }
    }

    /// Reads an object, such as the cluster `c-1` of `clusters`.
    ///
    /// # Errors
    /// The API does not answer, or with an error.
    pub async fn get(&self, kind: &str, id: &str) -> Result<Value, LieutenantError> {
        self.send(&self.request(&[kind, id], &[])?).await
    }

    /// Lists objects.
    ///
    /// # Errors
    /// The API does not answer, or with an error.
    pub async fn list(&self, kind: &str, query: &[(&str, &str)]) -> Result<Value, LieutenantError> {
        self.send(&self.request(&[kind, ""], query)?).await
    }

    /// Sends a value to an endpoint of an object.
    ///
    /// # Errors
    /// The API does not answer, or with an error.
    pub async fn post(&self, path: &[&str], value: &Value) -> Result<(), LieutenantError> {
        let mut request = self.request(path, &[])?;
        request.method = ::http::Method::POST;
        request.body = RequestBody::Bytes(value.to_string().into());
        let request = request.with_static_header("content-type", "application/json");
        self.send(&request).await.map(|_| ())
    }

    fn request(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Request, LieutenantError> {
        let bad = || LieutenantError::Address { url: transport::address::redact_text(&self.url) };
        let mut url = http::parse_address(&self.url).map_err(|_| bad())?;
        url.path_segments_mut().map_err(|()| bad())?.pop_if_empty().extend(path);
        for (key, value) in query {
            url.query_pairs_mut().append_pair(key, value);
        }
        Ok(Request::get(url).with_credential(self.token.clone().map(Credential::Bearer)))
    }

    async fn send(&self, request: &Request) -> Result<Value, LieutenantError> {
        let body = http::send(self.context, request).await.map_err(|error| self.error(error))?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(LieutenantError::Json)
    }

    fn error(&self, error: transport::Error) -> LieutenantError {
        match error.request().map(|request| &request.failure) {
            Some(
                RequestFailure::Unauthorized { status, message } | RequestFailure::Status { status, message },
            ) => LieutenantError::Status { status: *status, reason: message.clone() },
            _ => LieutenantError::Connect {
                url: transport::address::redact_text(&self.url),
                source: Box::new(error),
            },
        }
    }
}
