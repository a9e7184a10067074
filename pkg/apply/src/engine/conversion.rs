//! Definitions that lose their conversion webhook.

use manifest::{Object, Value};

const CONVERSION: [&str; 2] = ["spec", "conversion"];

/// True if the live definition has a conversion webhook and the desired definition has none.
///
/// An apply cannot remove the webhook: its CA bundle belongs to the manager that injected the bundle, and stays. The
/// server refuses a webhook with another strategy.
/// Source: kube-apiserver 1.36, apiextensions-apiserver/pkg/apis/apiextensions/validation (measured).
pub(super) fn loses_webhook(desired: &Object, live: &Object) -> bool {
    let strategy = desired.get(&CONVERSION).and_then(|conversion| conversion["strategy"].as_str());
    let webhook = live.get(&CONVERSION).map_or(&Value::Null, |conversion| &conversion["webhook"]);
    live.kind() == "CustomResourceDefinition" && !webhook.is_null() && strategy != Some("Webhook")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(conversion: &Value) -> Object {
        let whole = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.org"}, "spec": {"conversion": conversion},
        });
        Object::try_from(whole).unwrap()
    }

    #[test]
    fn a_webhook_is_lost_without_the_webhook_strategy() {
        let webhook = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "YQ=="}}});
        let none = json!({"strategy": "None"});
        for (desired, live, expected) in [
            (&Value::Null, &webhook, true),
            (&none, &webhook, true),
            (&webhook, &webhook, false),
            (&none, &none, false),
            (&none, &Value::Null, false),
            (&webhook, &none, false),
        ] {
            assert_eq!(
                loses_webhook(&definition(desired), &definition(live)),
                expected,
                "{live} to {desired}"
            );
        }
    }
}
