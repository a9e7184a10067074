//! Tokens of an identity provider.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use manifest::{Map, Value};
use transport::Secret;

/// The number of seconds that a token must still be valid.
const MARGIN_SECONDS: f64 = 10.0;

/// The tokens of one login, as the provider sent them. They are never printed by `Debug`.
#[derive(Clone, Default, PartialEq)]
pub struct Tokens(pub(super) Map<String, Value>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.0.keys()).finish()
    }
}

impl Tokens {
    /// The token for the API, if it is still valid.
    pub fn api_token(&self) -> Option<Secret> {
        self.field("id_token")
            .filter(|token| !is_expired(token))
            .and_then(|token| Secret::new("the cached token", token))
    }

    /// True if the provider sends new tokens without a login.
    pub fn can_be_renewed(&self) -> bool {
        self.refresh_token().is_some()
    }

    /// The token for new tokens, if it is known to be still valid.
    pub(super) fn refresh_token(&self) -> Option<&str> {
        self.field("refresh_token").filter(|token| expiry(token).is_some() && !is_expired(token))
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }
}

/// True if a token says that it is not valid any more. A token of unknown format does not expire.
fn is_expired(token: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
    expiry(token).is_some_and(|expiry| expiry < now + MARGIN_SECONDS)
}

/// Reads the time of expiry of a JSON web token, in seconds. The signature is not checked, because only the API can.
fn expiry(token: &str) -> Option<f64> {
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims.get("exp")?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> String {
        format!("e30.{}.signature", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn a_token_expires_at_its_time() {
        for (text, expected) in [
            (token(r#"{"exp": 1000}"#), true),
            (token(r#"{"exp": 1000.5}"#), true),
            (token(r#"{"exp": -5}"#), true),
            (token(r#"{"exp": 99999999999}"#), false),
            (token("{}"), false),
            ("opaque".to_owned(), false),
            ("a.%%%.c".to_owned(), false),
        ] {
            assert_eq!(is_expired(&text), expected, "{text}");
        }
    }

    #[test]
    fn tokens_are_not_printed() {
        let tokens = Tokens(Map::from_iter([("id_token".to_owned(), Value::from("secret"))]));
        assert_eq!(
            format!("{tokens:?} {:?}", tokens.api_token()),
            r#"["id_token"] Some(Secret(the cached token (***)))"#
        );
    }
}
