//! Query options of verbs, validated in the words of the real server.
//!
//! Source: apimachinery 1.36 `ListOptions` and similar types, their conversion from a query, and their validation. Each
//! verb ignores unknown options.

use serde_json::Value;

use super::body;
use crate::{
    meta,
    status::{FieldError, FieldErrors, Status},
};

/// The query of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses a query without its question mark.
    pub(crate) fn parse(query: &str) -> Self {
        Self { pairs: form_urlencoded::parse(query.as_bytes()).into_owned().collect() }
    }

    /// Returns the first value of a parameter; empty if the parameter is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// True if a flag is present and neither `false` nor `0`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.switch(name).unwrap_or_default()
    }

    fn switch(&self, name: &str) -> Option<bool> {
        self.get(name).map(|text| !text.eq_ignore_ascii_case("false") && text != "0")
    }

    fn all(&self, name: &str) -> Vec<String> {
        self.pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.clone()).collect()
    }

    fn integer(&self, name: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.get(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let quoted = crate::go::quoted(text);
            Status::bad_request(format!("strconv.ParseInt: parsing {quoted}: invalid syntax"))
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    /// The maximum number of objects per response; 0 means no limit.
    pub(crate) limit: usize,
    /// The token of the previous page.
    pub(crate) continue_token: String,
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    /// The requested revision; empty means the newest.
    pub(crate) resource_version: String,
    /// `Exact`, `NotOlderThan` or empty.
    pub(crate) resource_version_match: String,
    /// Sends bookmarks with the current revision from time to time.
    pub(crate) allow_watch_bookmarks: bool,
    /// Starts the watch with all existing objects.
    pub(crate) send_initial_events: Option<bool>,
    /// The duration of the watch, in seconds.
    pub(crate) timeout_seconds: Option<u64>,
}

impl ListOptions {
    /// Parses and validates the options.
    /// Errors: 400 for an invalid number, 422 for contradictory options.
    pub(crate) fn read(query: &Query, watch: bool) -> Result<Self, Status> {
        let options = Self {
            limit: query.integer("limit")?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or_default(),
            continue_token: query.text("continue").to_owned(),
            label_selector: query.text("labelSelector").to_owned(),
            field_selector: query.text("fieldSelector").to_owned(),
            resource_version: query.text("resourceVersion").to_owned(),
            resource_version_match: query.text("resourceVersionMatch").to_owned(),
            allow_watch_bookmarks: query.flag("allowWatchBookmarks"),
            send_initial_events: query.switch("sendInitialEvents"),
            timeout_seconds: query
                .integer("timeoutSeconds")?
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0),
        };
        let errors = if watch { options.watch_errors() } else { options.list_errors() };
        if errors.is_empty() { Ok(options) } else { Err(Status::invalid_options("ListOptions", &errors)) }
    }

    fn list_errors(&self) -> Vec<FieldError> {
        const PATH: &str = "resourceVersionMatch";
        let mut errors = Vec::new();
        let wanted = self.resource_version_match.as_str();
        if !wanted.is_empty() {
            if self.resource_version.is_empty() {
                let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.forbidden(PATH, detail);
            }
            if !self.continue_token.is_empty() {
                let detail = "resourceVersionMatch is forbidden when continue is provided";
                errors.forbidden(PATH, detail);
            }
            if !matches!(wanted, "Exact" | "NotOlderThan") {
                errors.not_supported(PATH, wanted, &["Exact", "NotOlderThan", ""]);
            }
            if wanted == "Exact" && self.resource_version == "0" {
                let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.forbidden(PATH, detail);
            }
        }
        if self.send_initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.forbidden("sendInitialEvents", detail);
        }
        errors
    }

    fn watch_errors(&self) -> Vec<FieldError> {
        const PATH: &str = "resourceVersionMatch";
        let mut errors = Vec::new();
        let wanted = self.resource_version_match.as_str();
        if self.send_initial_events.is_some() && wanted != "NotOlderThan" {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.forbidden(PATH, detail);
        }
        if !wanted.is_empty() {
            if self.send_initial_events.is_none() {
                let detail =
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                errors.forbidden(PATH, detail);
            }
            if wanted != "NotOlderThan" {
                errors.not_supported(PATH, wanted, &["NotOlderThan"]);
            }
            if !self.continue_token.is_empty() {
                let detail = "resourceVersionMatch is forbidden when continue is provided";
                errors.forbidden(PATH, detail);
            }
        }
        errors
    }
}

/// The handling of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Ignores such fields.
    Ignore,
    /// Warns about such fields.
    #[default]
    Warn,
    /// Rejects the request.
    Strict,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    /// Does everything except the write.
    pub(crate) dry_run: bool,
    pub(crate) field_validation: FieldValidation,
    /// Lets an apply take over fields of other managers.
    pub(crate) force: bool,
}

/// The kinds of writes. Each has a separate options type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind {
    /// `CreateOptions`.
    Create,
    /// `UpdateOptions`.
    Update,
    /// `PatchOptions` of a patch other than an apply.
    Patch,
    /// `PatchOptions` of an apply.
    Apply,
}

impl WriteOptions {
    /// Parses and validates the options.
    /// Errors: 422 if an option has an invalid value.
    pub(crate) fn read(query: &Query, kind: WriteKind) -> Result<Self, Status> {
        let mut errors = Vec::new();
        if kind == WriteKind::Apply && query.text("fieldManager").is_empty() {
            errors.required("fieldManager", "is required for apply patch");
        }
        if kind == WriteKind::Patch && query.get("force").is_some() {
            errors.forbidden("force", "may not be specified for non-apply patch");
        }
        errors.extend(meta::manager_errors(query.text("fieldManager"), "fieldManager"));
        let dry_run = query.all("dryRun");
        errors.extend(dry_run_error(&dry_run));
        let field_validation = match query.text("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                errors.not_supported("fieldValidation", other, &supported);
                FieldValidation::Warn
            }
        };
        if errors.is_empty() {
            return Ok(Self { dry_run: !dry_run.is_empty(), field_validation, force: query.flag("force") });
        }
        let name = match kind {
            WriteKind::Create => "CreateOptions",
            WriteKind::Update => "UpdateOptions",
            WriteKind::Patch | WriteKind::Apply => "PatchOptions",
        };
        Err(Status::invalid_options(name, &errors))
    }
}

fn dry_run_error(dry_run: &[String]) -> Option<FieldError> {
    let fits = dry_run.iter().all(|word| word == "All");
    (!fits).then(|| FieldError::not_supported("dryRun", dry_run.to_vec(), &["All"]))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropagationPolicy {
    /// Deletes dependents afterwards.
    Background,
    /// Deletes dependents first.
    Foreground,
    /// Keeps dependents and removes their owner reference.
    Orphan,
}

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    /// Does everything except the write.
    pub(crate) dry_run: bool,
    /// The grace period of the object, in seconds.
    pub(crate) grace_period_seconds: Option<i64>,
    /// The propagation policy. `None` leaves the decision to existing finalizers and the default of the kind.
    pub(crate) propagation_policy: Option<PropagationPolicy>,
    /// The required uid of the object.
    pub(crate) uid: Option<String>,
    /// The required revision of the object.
    pub(crate) resource_version: Option<String>,
}

impl DeleteOptions {
    /// Parses and validates the options from the body, or from the query without a body.
    /// Errors: 400 for an invalid body, 422 if an option has an invalid value.
    pub(crate) fn read(query: &Query, content: &[u8], content_type: &str) -> Result<Self, Status> {
        let body =
            if content.is_empty() { of_query(query)? } else { body::delete_options(content, content_type)? };
        let text = |name: &str| body.get(name).and_then(Value::as_str);
        let condition = |name: &str| body.get("preconditions")?.get(name)?.as_str().map(str::to_owned);
        let orphan = body.get("orphanDependents").and_then(Value::as_bool);
        let mut errors = Vec::new();
        if let (Some(_), Some(policy)) = (orphan, text("propagationPolicy")) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.invalid("propagationPolicy", policy, detail);
        }
        let dependents = match (text("propagationPolicy"), orphan) {
            (Some("Background"), _) | (None, Some(false)) => Some(PropagationPolicy::Background),
            (Some("Foreground"), _) => Some(PropagationPolicy::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(PropagationPolicy::Orphan),
            (None, None) => None,
            (Some(other), _) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.not_supported("propagationPolicy", other, &supported);
                None
            }
        };
        let dry_run: Vec<String> = body
            .get("dryRun")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|word| word.as_str().unwrap_or_default().to_owned())
            .collect();
        errors.extend(dry_run_error(&dry_run));
        if !errors.is_empty() {
            return Err(Status::invalid_options("DeleteOptions", &errors));
        }
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            grace_period_seconds: body.get("gracePeriodSeconds").and_then(Value::as_i64),
            propagation_policy: dependents,
            uid: condition("uid"),
            resource_version: condition("resourceVersion"),
        })
    }
}

fn of_query(query: &Query) -> Result<Value, Status> {
    let mut body = serde_json::Map::new();
    if let Some(seconds) = query.integer("gracePeriodSeconds")? {
        body.insert("gracePeriodSeconds".to_owned(), seconds.into());
    }
    if let Some(policy) = query.get("propagationPolicy") {
        body.insert("propagationPolicy".to_owned(), policy.into());
    }
    if let Some(orphan) = query.switch("orphanDependents") {
        body.insert("orphanDependents".to_owned(), orphan.into());
    }
    body.insert("dryRun".to_owned(), query.all("dryRun").into());
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictory_list_options_are_refused() {
        for (query, watch, part) in [
            ("resourceVersionMatch=Exact", false, "is forbidden unless resourceVersion is provided"),
            ("resourceVersion=0&resourceVersionMatch=Exact", false, "is forbidden for resourceVersion \"0\""),
            ("resourceVersion=1&resourceVersionMatch=X", false, "\"Exact\", \"NotOlderThan\", \"\""),
            ("sendInitialEvents=true", false, "sendInitialEvents is forbidden for list"),
            ("sendInitialEvents=true", true, "requires setting resourceVersionMatch to NotOlderThan"),
            (
                "resourceVersion=1&resourceVersionMatch=NotOlderThan",
                true,
                "unless sendInitialEvents is provided",
            ),
            ("limit=x", false, "strconv.ParseInt: parsing \"x\": invalid syntax"),
        ] {
            let status = ListOptions::read(&Query::parse(query), watch).unwrap_err();
            assert!(status.message.contains(part), "{query}: {}", status.message);
        }
        assert!(ListOptions::read(&Query::parse("limit=-1&watch=0"), false).is_ok());
    }

    #[test]
    fn delete_options_in_the_body_override_the_query() {
        let query = Query::parse("propagationPolicy=Orphan&dryRun=All&gracePeriodSeconds=3");
        let options = DeleteOptions::read(&query, b"", "").unwrap();
        assert_eq!(options.propagation_policy, Some(PropagationPolicy::Orphan));
        assert_eq!((options.dry_run, options.grace_period_seconds), (true, Some(3)));
        let body = br#"{"preconditions":{"uid":"x"},"orphanDependents":false}"#;
        let options = DeleteOptions::read(&query, body, "application/json").unwrap();
        assert_eq!(
            (options.propagation_policy, options.uid.as_deref()),
            (Some(PropagationPolicy::Background), Some("x"))
        );
        assert!(!options.dry_run);
    }

    #[test]
    fn apply_requires_a_manager_and_only_apply_may_force() {
        let unnamed = WriteOptions::read(&Query::parse("force=true"), WriteKind::Apply).unwrap_err();
        assert!(unnamed.message.ends_with("fieldManager: Required value: is required for apply patch"));
        let forced = WriteOptions::read(&Query::parse("force=true"), WriteKind::Patch).unwrap_err();
        assert!(forced.message.ends_with("force: Forbidden: may not be specified for non-apply patch"));
        let options = WriteOptions::read(&Query::parse("fieldManager=a&force=1"), WriteKind::Apply).unwrap();
        assert!(options.force && !options.dry_run);
    }
}
