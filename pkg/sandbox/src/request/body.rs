//! Request bodies: reading, decoding and detection of irregularities. Parse errors are in the words of Go's parsers, which
//! clients show to users.

mod duplicate_keys;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt as _;
use manifest::yaml::{self, YamlErrorKind};
use serde_json::Value;

use crate::{protobuf, status::Status};

/// The maximum body size, in bytes. Source: kube-apiserver 1.36 `MaxRequestBodyBytes`.
const LIMIT_BYTES: usize = 3 * 1024 * 1024;
/// The maximum nesting depth of a body, equal to the limit of serde_json.
const MAX_DEPTH: usize = 128;

#[derive(Debug)]
pub(crate) struct DecodedBody {
    /// The decoded value. Of duplicate keys, the last one counts.
    pub(crate) value: Value,
    /// Problems that strict readers reject: `duplicate field "data.a"`.
    pub(crate) strict_errors: Vec<String>,
}

/// The encodings of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`.
    Protobuf,
}

impl Format {
    /// Returns the format of a content type. An empty content type means JSON.
    /// Errors: 415 for other content types.
    pub(crate) fn of(content_type: &str) -> Result<Self, Status> {
        match media_type(content_type) {
            "" | "application/json" => Ok(Self::Json),
            "application/yaml" => Ok(Self::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Self::Protobuf),
            _ => Err(unsupported(&[
                "application/json",
                "application/yaml",
                "application/vnd.kubernetes.protobuf",
            ])),
        }
    }
}

/// Returns a content type without its parameters.
pub(crate) fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Returns status 415 with the accepted media types.
pub(crate) fn unsupported(accepted: &[&str]) -> Status {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {}",
        accepted.join(", ")
    );
    Status::new(415, "UnsupportedMediaType", message)
}

/// Reads a whole body.
/// Errors: 413 if the body is too long, 400 if the body ends early.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Status>
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let mut body = std::pin::pin!(body);
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Status::bad_request(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        if rest.len() + first.as_ref().map_or(0, Bytes::len) + data.len() > LIMIT_BYTES {
            let message = format!("Request entity too large: limit is {LIMIT_BYTES}");
            return Err(Status::new(413, "RequestEntityTooLarge", message));
        }
        match first.take() {
            None if rest.is_empty() => first = Some(data),
            None => rest.extend_from_slice(&data),
            Some(start) => {
                rest.extend_from_slice(&start);
                rest.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| rest.freeze()))
}

/// Decodes the object of a request for a kind.
/// Errors: 400 with the real server's message if the object is unreadable.
pub(crate) fn object(content: &[u8], format: Format, kind: &str) -> Result<DecodedBody, Status> {
    let unreadable = |why: &str| {
        let summary = summary(content);
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({summary})"
        ))
    };
    let decoded = match format {
        Format::Json => json(content)
            .map_err(|why| unreadable(&format!("couldn't get version/kind; json parse error: {why}")))?,
        Format::Yaml => yaml_text(content).map_err(|why| unreadable(&why))?,
        Format::Protobuf => return of_protobuf(content, kind),
    };
    if !decoded.value.is_object() {
        let found = crate::go::json_kind(&decoded.value);
        let target = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                      \"json:\\\"kind,omitempty\\\"\" }";
        let why = format!("json: cannot unmarshal {found} into Go value of type {target}");
        return Err(unreadable(&format!("couldn't get version/kind; json parse error: {why}")));
    }
    Ok(decoded)
}

fn of_protobuf(content: &[u8], kind: &str) -> Result<DecodedBody, Status> {
    if !content.starts_with(b"k8s\0") {
        let summary = summary(content);
        return Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): provided data does not appear to be a \
             protobuf message, expected prefix [107 56 115 0] ({summary})"
        )));
    }
    protobuf::decode(content).map(|value| DecodedBody { value, strict_errors: Vec::new() })
}

/// Decodes the options of a deletion.
/// Errors: 400 if the options are unreadable or of another kind.
pub(crate) fn delete_options(content: &[u8], content_type: &str) -> Result<Value, Status> {
    let value = match Format::of(content_type)? {
        Format::Json => {
            let parsed = json(content).map_err(|why| {
                Status::bad_request(format!("couldn't get version/kind; json parse error: {why}"))
            });
            parsed?.value
        }
        Format::Yaml => yaml_text(content).map_err(Status::bad_request)?.value,
        Format::Protobuf => protobuf::decode(content)?,
    };
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if !matches!(text("kind"), "" | "DeleteOptions") {
        let (kind, version) = (crate::go::quoted(text("kind")), crate::go::quoted(text("apiVersion")));
        return Err(Status::bad_request(format!(
            "no kind {kind} is registered for version {version} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    Ok(value)
}

pub(crate) fn json(content: &[u8]) -> Result<DecodedBody, String> {
    match serde_json::from_slice::<duplicate_keys::TrackedValue>(content) {
        Ok(tracked) => Ok(tracked.into()),
        Err(error) => Err(of_json_error(&error, content)),
    }
}

/// Decodes an applied configuration in YAML or JSON.
/// Errors: 400 if the configuration is unreadable.
pub(crate) fn configuration(content: &[u8]) -> Result<DecodedBody, Status> {
    if let Ok(tracked) = serde_json::from_slice::<duplicate_keys::TrackedValue>(content) {
        let decoded = DecodedBody::from(tracked);
        if decoded.strict_errors.is_empty() {
            return Ok(decoded);
        }
    }
    yaml_text(content).map_err(|why| {
        Status::bad_request(format!("error decoding YAML: error converting YAML to JSON: {why}"))
    })
}

fn yaml_text(content: &[u8]) -> Result<DecodedBody, String> {
    let limits = yaml::YamlLimits { size_bytes: LIMIT_BYTES, depth: MAX_DEPTH };
    let text = std::str::from_utf8(content).map_err(|_| "yaml: invalid leading UTF-8 octet".to_owned())?;
    let decode_error =
        |error: &yaml::YamlError| format!("line {}: {}", error.line, of_yaml_problem(&error.kind));
    let value = yaml::read_value(text, &limits).map_err(|error| format!("yaml: {}", decode_error(&error)))?;
    let strict_errors = yaml::read_value_strict(text, &limits).err().map(|error| decode_error(&error));
    Ok(DecodedBody { value, strict_errors: strict_errors.into_iter().collect() })
}

/// Returns the start of a body for messages.
/// Source: kube-apiserver 1.36 `summarizeData`.
fn summary(content: &[u8]) -> String {
    const SHOWN: usize = 30;
    let start = &content[..content.len().min(SHOWN)];
    let more = if content.len() > SHOWN { " ..." } else { "" };
    match start.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(start)),
        Some(_) => {
            let number = start.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
            format!("{number}{more}")
        }
    }
}

/// Translates an error of serde_json into the message of Go's `encoding/json`.
pub(crate) fn of_json_error(error: &serde_json::Error, content: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let message = error.to_string();
    let place = if message.starts_with("expected `:`") {
        "after object key"
    } else if message.starts_with("expected `,` or `}`") {
        "after object key:value pair"
    } else if message.starts_with("expected `,` or `]`") {
        "after array element"
    } else if message.starts_with("key must be a string") {
        "looking for beginning of object key string"
    } else if message.starts_with("trailing characters") {
        "after top-level value"
    } else if message.starts_with("control character") {
        "in string literal"
    } else if message.starts_with("expected ident") {
        return in_literal(content, error.line(), error.column());
    } else if message.starts_with("recursion limit exceeded") {
        return "exceeded max depth".to_owned();
    } else {
        "looking for beginning of value"
    };
    invalid_character(byte_at(content, error.line(), error.column()), place)
}

fn invalid_character(byte: Option<u8>, place: &str) -> String {
    let shown = match byte {
        None => return "unexpected end of JSON input".to_owned(),
        Some(b'\'') => "\\'".to_owned(),
        Some(b'"') => "\"".to_owned(),
        Some(byte) => {
            let quoted = crate::go::quoted(char::from(byte).encode_utf8(&mut [0; 4]));
            quoted[1..quoted.len() - 1].to_owned()
        }
    };
    format!("invalid character '{shown}' {place}")
}

/// Returns the error for a word that starts like `true`, `false` or `null` but ends differently.
fn in_literal(content: &[u8], line: usize, column: usize) -> String {
    let line = content.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let read = &line[..column.saturating_sub(1).min(line.len())];
    let literal_length = read.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    let word = ["true", "false", "null"]
        .into_iter()
        .find(|word| read.ends_with(&word.as_bytes()[..literal_length.min(word.len())]));
    let expected = word.and_then(|word| Some((word, char::from(*word.as_bytes().get(literal_length)?))));
    let place = expected.map_or_else(
        || "looking for beginning of value".to_owned(),
        |(word, next)| format!("in literal {word} (expecting '{next}')"),
    );
    invalid_character(line.get(read.len()).copied(), &place)
}

/// Returns the byte at a position of serde_json: lines from 1, columns in bytes from 1.
fn byte_at(content: &[u8], line: usize, column: usize) -> Option<u8> {
    let line = content.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    line.get(column.saturating_sub(1)).copied()
}

/// Translates a YAML error into the message of Go's YAML parser, if that message differs.
fn of_yaml_problem(problem: &YamlErrorKind) -> String {
    match problem {
        YamlErrorKind::DuplicateKey(key) => format!("key {} already set in map", crate::go::quoted(key)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_duplicate_key_counts_once_and_is_reported() {
        let text = br#"{"metadata":{"name":"a","name":"b"},"spec":{"list":[{"x":1,"x":2}]}}"#;
        let decoded = object(text, Format::Json, "ConfigMap").unwrap();
        assert_eq!(decoded.value, json!({"metadata": {"name": "b"}, "spec": {"list": [{"x": 2}]}}));
        assert_eq!(
            decoded.strict_errors,
            ["duplicate field \"metadata.name\"", "duplicate field \"spec.list[0].x\""]
        );
    }

    #[test]
    fn body_parse_errors_have_the_text_of_go() {
        for (text, why) in [
            ("{\"kind\":", "unexpected end of JSON input ({\"kind\":)"),
            (" ", "unexpected end of JSON input (20)"),
            ("x", "invalid character 'x' looking for beginning of value (78)"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair ({\"a\":1 \"b\"})"),
            ("[]", "(5b5d)"),
        ] {
            let status = object(text.as_bytes(), Format::Json, "ConfigMap").unwrap_err();
            assert!(status.message.ends_with(why), "{text}: {}", status.message);
            assert_eq!(status.code, 400);
        }
    }

    #[test]
    fn yaml_bodies_report_duplicate_keys_with_lines() {
        let decoded = object(b"kind: A\ndata: {a: b, a: c}\n", Format::Yaml, "A").unwrap();
        assert_eq!(decoded.value, json!({"kind": "A", "data": {"a": "c"}}));
        assert_eq!(decoded.strict_errors, ["line 2: key \"a\" already set in map"]);
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused() {
        let status = read(Full::new(Bytes::from(vec![b'a'; LIMIT_BYTES + 1]))).await.unwrap_err();
        assert_eq!(
            (status.code, status.message.as_str()),
            (413, "Request entity too large: limit is 3145728")
        );
        assert_eq!(read(Full::new(Bytes::from_static(b"ab"))).await.unwrap(), "ab");
    }
}
