use std::time::Duration;

use super::*;

fn status(code: u16, reason: &str, message: &str) -> ApiError {
    ApiError::Status {
        action: "apply Thing a".into(),
        code,
        reason: reason.into(),
        message: message.into(),
        causes: Vec::new(),
        retry_after: None,
    }
}

#[test]
fn temporary_errors_are_recognised() {
    for (code, reason, message, expected) in [
        (429, "TooManyRequests", "storage is (re)initializing", true),
        (503, "ServiceUnavailable", "the server is currently unable to handle the request", true),
        (504, "Timeout", "request did not complete within the allotted timeout", true),
        (502, "", "Bad Gateway", true),
        (500, "ServerTimeout", "try again", true),
        (500, "InternalError", "Internal error occurred: failed calling webhook \"a.b\": no endpoints", true),
        (
            500,
            "",
            "conversion webhook for example.org/v1, Kind=Widget failed: Post \"https://a\": refused",
            true,
        ),
        (500, "", "conversion webhook for example.org/v1, Kind=Widget returned 1 objects, expected 2", false),
        (500, "", "etcdserver: leader changed", true),
        (500, "", "etcdserver: request timed out", true),
        (409, "Conflict", "etcdserver: request timed out", true),
        (500, "InternalError", "Internal error occurred: something else", false),
        (500, "", "etcdserver: mvcc: database space exceeded", false),
        (503, "", "etcdserver: mvcc: database space exceeded", false),
        (507, "", "no room", false),
        (409, "Conflict", "please apply your changes to the latest version and try again", false),
        (409, "AlreadyExists", "things \"a\" already exists", false),
        (403, "Forbidden", "admission webhook \"a.b\" denied the request: no", false),
        (400, "BadRequest", "", false),
        (401, "Unauthorized", "", false),
        (404, "NotFound", "", false),
        (410, "Expired", "", false),
        (422, "Invalid", "", false),
    ] {
        assert_eq!(status(code, reason, message).is_temporary(), expected, "{code} {reason} {message}");
    }
}

#[test]
fn network_errors_are_temporary_except_for_a_wrong_server() {
    let certificate = NetworkError::Certificate { problem: "it is for another host".into() };
    let lost = NetworkError::Connection { problem: "reset".into() };
    let timed_out = NetworkError::TimedOut { after: Duration::from_secs(1) };
    for (source, expected) in [
        (NetworkError::Refused, true),
        (NetworkError::UnknownHost, true),
        (lost, true),
        (timed_out, true),
        (certificate, false),
        (NetworkError::Protocol { https: false }, false),
    ] {
        let (action, server) = (String::new(), String::new());
        let error = ApiError::Unreachable { action, server, unsent: true, source };
        assert_eq!(error.is_temporary(), expected, "{error:?}");
    }
}

#[test]
fn an_exhausted_retry_keeps_the_properties_of_the_last_error() {
    let last = Box::new(status(500, "InternalError", "failed calling webhook \"a.b\""));
    let error =
        ApiError::RetriesExhausted { action: "create Thing a".into(), tried: Duration::from_secs(61), last };
    assert!(error.is_temporary());
    assert_eq!(error.code(), Some(500));
}

#[test]
fn conflicts_differ_from_existing_objects() {
    let (conflict, there) = (status(409, "Conflict", ""), status(409, "AlreadyExists", ""));
    assert_eq!((conflict.is_conflict(), conflict.is_already_exists()), (true, false));
    assert_eq!((there.is_conflict(), there.is_already_exists()), (false, true));
    assert!(status(404, "NotFound", "").is_not_found() && !conflict.is_not_found());
}

#[test]
fn an_error_names_the_object_once() {
    // The prefix names the object, with the action.
    let prefix = status(422, "Invalid", "").to_string();
    assert!(prefix.contains("apply Thing a"), "{prefix}");
    let invalid = |message| status(422, "Invalid", message).to_string();
    for (message, expected) in [
        (r#"Thing.example.org "a" is invalid: spec.size: Required value"#, "spec.size: Required value"),
        (r#"Thing "" is invalid: : Invalid value: "x": no"#, r#": Invalid value: "x": no"#),
        (r#"spec.a: "b" and "c" is invalid: d"#, r#"spec.a: "b" and "c" is invalid: d"#),
        ("no", "no"),
    ] {
        assert_eq!(invalid(message), format!("{prefix}{expected}"));
    }
    let refused = r#"admission webhook "a" denied the request: Thing "b" is invalid: no"#;
    assert_eq!(status(403, "Forbidden", refused).to_string(), format!("{prefix}{refused}"));
}
