//! Removes CA bundles that cert-manager injects.

use manifest::{Map, Object, Value};

const INJECT_PREFIX: &str = "cert-manager.io/inject-";
const INJECT_ANNOTATIONS: [&str; 3] = ["ca-from", "ca-from-secret", "apiserver-ca"];

/// Removes `caBundle` from objects that request CA injection from cert-manager.
///
/// Manifests of providers contain a placeholder. A forced apply would overwrite the injected CA, and webhooks
/// and conversions would fail until the next injection.
/// Shape: webhook configurations, APIServices and conversions of definitions. Nothing else of an object changes.
/// Source: the injection targets of cert-manager 1.21 (cainjector).
pub(crate) fn remove_injected_ca_bundles(object: &mut Object) {
    let requests_injection = |(key, _): (&str, &str)| {
        key.strip_prefix(INJECT_PREFIX).is_some_and(|what| INJECT_ANNOTATIONS.contains(&what))
    };
    if !object.annotations().any(requests_injection) {
        return;
    }
    match object.kind() {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            let webhooks = object.get_mut(&["webhooks"]).and_then(Value::as_array_mut);
            for config in webhooks.into_iter().flatten().filter_map(|webhook| webhook.get_mut("clientConfig"))
            {
                remove_ca_bundle(config);
            }
        }
        "CustomResourceDefinition" => {
            let conversion = ["spec", "conversion", "webhook", "clientConfig"];
            object.get_mut(&conversion).into_iter().for_each(remove_ca_bundle);
        }
        "APIService" => object.get_mut(&["spec"]).into_iter().for_each(remove_ca_bundle),
        _ => {}
    }
}

fn remove_ca_bundle(holder: &mut Value) {
    holder.as_object_mut().and_then(|fields: &mut Map<String, Value>| fields.remove("caBundle"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn without(kind: &str, annotation: &str, body: &Value) -> Value {
        let mut whole = json!({"kind": kind, "metadata": {"annotations": {annotation: "a/b"}}});
        for (key, value) in body.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let mut object = Object::try_from(whole).unwrap();
        remove_injected_ca_bundles(&mut object);
        let mut left = object.into_value();
        left.as_object_mut().unwrap().retain(|key, _| body.get(key).is_some());
        left
    }

    #[test]
    fn a_ca_placeholder_is_set_wherever_a_bundle_is_injected() {
        const FROM: &str = "cert-manager.io/inject-ca-from";
        let hook = json!({"webhooks": [{"name": "a", "clientConfig": {"caBundle": "Cg==", "url": "u"}}, {"name": "b"}]});
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            assert_eq!(
                without(kind, FROM, &hook),
                json!({"webhooks": [{"name": "a", "clientConfig": {"url": "u"}}, {"name": "b"}]})
            );
        }
        let conversion = |config: Value| json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": config}}}});
        assert_eq!(
            without(
                "CustomResourceDefinition",
                FROM,
                &conversion(json!({"caBundle": "Cg==", "service": {}}))
            ),
            conversion(json!({"service": {}}))
        );
        let service = json!({"spec": {"caBundle": "Cg==", "group": "g"}});
        for annotation in
            [FROM, "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca"]
        {
            assert_eq!(without("APIService", annotation, &service), json!({"spec": {"group": "g"}}));
        }
    }

    #[test]
    fn a_ca_bundle_without_injector_is_kept() {
        let own = json!({"webhooks": [{"clientConfig": {"caBundle": "LS0t"}}]});
        assert_eq!(without("ValidatingWebhookConfiguration", "cert-manager.io/other", &own), own);
        let other_field = json!({"spec": {"caBundle": "LS0t"}});
        assert_eq!(without("Widget", "cert-manager.io/inject-ca-from", &other_field), other_field);
    }
}
