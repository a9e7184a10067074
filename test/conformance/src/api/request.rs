//! Converts the text of a step to a request.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use manifest::{YamlLimits, yaml};

/// Parses a request of a page: the first line, header lines, an empty line, the body.
///
/// The body is YAML and is sent as JSON. If `raw` is true, the body is sent as written.
///
/// # Errors
/// A description of the syntax error.
pub(super) fn parse_request(text: &str, raw: bool) -> Result<Request<Full<Bytes>>, String> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let (method, target) = first.split_once(' ').ok_or_else(|| format!("invalid request line: {first:?}"))?;
    let method = Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
    let mut request = Request::builder().method(method).uri(target.trim());
    let mut has_type = false;
    for line in lines {
        let (name, value) = line.split_once(": ").ok_or_else(|| format!("invalid header line: {line:?}"))?;
        has_type |= name.eq_ignore_ascii_case("content-type");
        request = request.header(name, value);
    }
    if !has_type && !body.is_empty() {
        request = request.header("Content-Type", "application/json");
    }
    let body = if raw || body.is_empty() { body.trim_end().to_owned() } else { as_json(body)? };
    request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())
}

fn as_json(text: &str) -> Result<String, String> {
    let value = yaml::read_value(text, &YamlLimits::default()).map_err(|error| error.to_string())?;
    Ok(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    #[tokio::test]
    async fn a_yaml_body_is_sent_as_json() {
        let request = parse_request("POST /a?b=c\nX-A: 1\n\na: [1]\n", false).unwrap();
        assert_eq!(request.uri(), "/a?b=c");
        assert_eq!(request.headers()["content-type"], "application/json");
        assert_eq!(request.headers()["x-a"], "1");
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), r#"{"a":[1]}"#);
    }

    #[tokio::test]
    async fn a_raw_body_is_sent_unchanged() {
        let request = parse_request("PUT /a\nContent-Type: text/x\n\n{\"a\":\n", true).unwrap();
        assert_eq!(request.headers()["content-type"], "text/x");
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), "{\"a\":");
    }
}
