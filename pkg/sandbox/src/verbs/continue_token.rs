//! Continue tokens: the end of a list page.
//!
//! Source: apiserver 1.36 `storage/continue.go`: base64 without padding of a small JSON object.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::Call;
use crate::{
    request::body,
    status::Status,
    store::{Key, Revision},
};

const VERSION: &str = "meta.k8s.io/v1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    /// The revision of the list. `None` means the newest revision for each page; such pages may be inconsistent.
    pub(crate) revision: Option<Revision>,
    pub(crate) after: Key,
}

#[derive(Deserialize, Serialize)]
struct TokenJson<'a> {
    #[serde(default, borrow)]
    v: std::borrow::Cow<'a, str>,
    #[serde(default)]
    rv: i64,
    #[serde(default, borrow)]
    start: std::borrow::Cow<'a, str>,
}

impl ContinueToken {
    /// Returns the token for clients.
    pub(crate) fn encode(&self, call: &Call<'_>) -> String {
        let rv = self.revision.map_or(-1, |revision| i64::try_from(revision.0).unwrap_or(i64::MAX));
        // The key is relative to the scope of the list; the trailing NUL makes it the first key after the last object.
        let start = if call.namespace.is_empty() && !self.after.namespace.is_empty() {
            format!("/{}/{}\0", self.after.namespace, self.after.name)
        } else {
            format!("/{}\0", self.after.name)
        };
        let form = TokenJson { v: VERSION.into(), rv, start: start.into() };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&form).expect("a struct of texts and a number is JSON"))
    }

    /// Parses a client's token.
    /// Errors: 400 if the token is invalid.
    pub(crate) fn decode(call: &Call<'_>, text: &str) -> Result<Self, Status> {
        let refuse = |why: &str| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| refuse(&illegal_base64(&error, text)))?;
        let form: TokenJson<'_> =
            serde_json::from_slice(&bytes).map_err(|error| refuse(&body::of_json_error(&error, &bytes)))?;
        if form.v != VERSION {
            let shown = crate::go::quoted(&form.v);
            return Err(refuse(&format!("server does not recognize this encoded version {shown}")));
        }
        if form.rv == 0 {
            return Err(refuse("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
        }
        let start = form.start.trim_start_matches('/').trim_end_matches('\0');
        if start.is_empty() {
            return Err(refuse("encoded start key empty (version meta.k8s.io/v1)"));
        }
        let across = call.resource.namespaced && call.namespace.is_empty();
        let (namespace, name) =
            if across { start.split_once('/').unwrap_or((start, "")) } else { (call.namespace, start) };
        let mut after = call.key(name);
        after.namespace = namespace.into();
        Ok(Self { revision: u64::try_from(form.rv).ok().map(Revision), after })
    }
}

fn illegal_base64(error: &base64::DecodeError, text: &str) -> String {
    let offset = match error {
        base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _) => {
            *offset
        }
        base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => text.len(),
    };
    format!("illegal base64 data at input byte {offset}")
}
