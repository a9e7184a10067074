//! Validation of the conversion between versions.

use serde_json::Value;

use super::{list, text};
use crate::{builtin, status::FieldError};

const PATH: &str = "spec.conversion";

/// Checks `spec.conversion`. Errors have the paths of the internal form of the real server (`webhookClientConfig`).
pub(super) fn validate(definition: &Value, errors: &mut Vec<FieldError>) {
    let Some(conversion) = definition.pointer("/spec/conversion").filter(|value| value.is_object()) else {
        return;
    };
    let strategy = text(conversion, "/strategy");
    match strategy {
        "" => errors.push(FieldError::required(format!("{PATH}.strategy"), "")),
        "None" | "Webhook" => {}
        other => {
            errors.push(FieldError::not_supported(format!("{PATH}.strategy"), other, &["None", "Webhook"]));
        }
    }
    let config = conversion.pointer("/webhook/clientConfig").filter(|config| config.is_object());
    let versions = list(conversion, "/webhook/conversionReviewVersions");
    if strategy == "Webhook" {
        match config {
            None => {
                let path = format!("{PATH}.webhookClientConfig");
                errors.push(FieldError::required(path, "required when strategy is set to Webhook"));
            }
            Some(config) => {
                errors.extend(builtin::client_config_errors(config, "spec.conversion.webhookClientConfig"));
            }
        }
        if versions.is_empty() {
            errors.push(FieldError::required(format!("{PATH}.conversionReviewVersions"), ""));
        } else {
            let versions = &conversion["webhook"]["conversionReviewVersions"];
            errors
                .extend(builtin::review_version_errors(versions, "spec.conversion.conversionReviewVersions"));
        }
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    for (given, field) in
        [(config.is_some(), "webhookClientConfig"), (!versions.is_empty(), "conversionReviewVersions")]
    {
        if given {
            errors.push(FieldError::forbidden(format!("{PATH}.{field}"), detail));
        }
    }
}
