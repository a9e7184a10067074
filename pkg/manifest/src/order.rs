//! The order of provider components for printing and installation.

use crate::Object;

/// Sorts provider components for installation.
///
/// Namespaces come first, then objects of the API group `cert-manager.io`, both in reverse input order. All others
/// follow in input order. So Certificates precede the webhooks and CRDs that use their CA.
/// Source: clusterctl v1.14 client/repository/components.go (`NewComponents`); its sort reverses the first two groups,
/// which shows in its output.
pub fn sort_for_installation(objects: &mut Vec<Object>) {
    let mut namespaces = Vec::new();
    let mut certificates = Vec::new();
    let mut others = Vec::with_capacity(objects.len());
    for object in objects.drain(..) {
        if object.kind() == "Namespace" {
            namespaces.push(object);
        } else if object.group() == "cert-manager.io" {
            certificates.push(object);
        } else {
            others.push(object);
        }
    }
    objects.extend(namespaces.into_iter().rev());
    objects.extend(certificates.into_iter().rev());
    objects.append(&mut others);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn objects(all: &[(&str, &str, &str)]) -> Vec<Object> {
        all.iter()
            .map(|(api_version, kind, name)| {
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
            })
            .map(|value| Object::try_from(value).unwrap())
            .collect()
    }

    fn names(objects: &[Object]) -> Vec<&str> {
        objects.iter().map(Object::name).collect()
    }

    #[test]
    fn namespaces_come_first_then_cert_manager_objects_then_the_rest() {
        let mut all = objects(&[
            ("v1", "ServiceAccount", "a"),
            ("cert-manager.io/v1", "Certificate", "b"),
            ("apps/v1", "Deployment", "c"),
            ("cert-manager.io/v1", "Issuer", "d"),
            ("acme.cert-manager.io/v1", "Order", "e"),
            ("v1", "Namespace", "f"),
        ]);
        sort_for_installation(&mut all);
        assert_eq!(names(&all), ["f", "d", "b", "a", "c", "e"]);
    }

    #[test]
    fn several_namespaces_are_printed_in_reverse() {
        let mut all = objects(&[("v1", "Namespace", "a"), ("v1", "Secret", "b"), ("x/v1", "Namespace", "c")]);
        sort_for_installation(&mut all);
        assert_eq!(names(&all), ["c", "a", "b"]);
    }
}
