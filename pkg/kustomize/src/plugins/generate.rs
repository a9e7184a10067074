//! Generators with settings of their own.

use std::sync::Arc;

use manifest::Object;
use serde_json::json;

use crate::accumulator::Accumulator;
use crate::generators::{self, GeneratedKind};
use crate::helm;
use crate::kustomization::generators::Generator;
use crate::resource::{ObjectOrigin, Resource};
use crate::scope::Scope;

use super::config::{PluginConfig, PluginError};
use super::settings::{ConfigMapSettings, HelmSettings, IamPolicy, SecretSettings};

/// Runs a generator; its kind is already checked.
pub(super) fn run(scope: &mut Scope<'_, '_>, config: &PluginConfig, objects: &mut Accumulator) {
    let field = &config.field;
    match config.object.kind() {
        "ConfigMapGenerator" => {
            let Some(ConfigMapSettings(generator)) = config.read(scope) else { return };
            let generator = with_default_name(config, generator);
            generators::generate(scope, field, GeneratedKind::ConfigMap, &generator, origin(config), objects);
        }
        "SecretGenerator" => {
            let Some(SecretSettings(generator)) = config.read(scope) else { return };
            let generator = with_default_name(config, generator);
            generators::generate(scope, field, GeneratedKind::Secret, &generator, origin(config), objects);
        }
        "HelmChartInflationGenerator" => {
            let Some(HelmSettings { chart, globals }) = config.read(scope) else { return };
            helm::inflate(scope, field, &chart, &globals, origin(config), objects);
        }
        _ => {
            let Some(policy) = config.read(scope) else { return };
            add_account(scope, config, &policy, objects);
        }
    }
}

fn origin(config: &PluginConfig) -> ObjectOrigin {
    ObjectOrigin::Field { file: config.file.clone(), field: config.field.clone(), plugin: config.plugin() }
}

/// Fills in the name and namespace of the settings if the generator has none.
fn with_default_name(config: &PluginConfig, mut generator: Generator) -> Generator {
    if generator.name.is_empty() {
        config.object.name().clone_into(&mut generator.name);
    }
    if generator.namespace.is_empty() {
        config.object.namespace().clone_into(&mut generator.namespace);
    }
    generator
}

/// Runs `IAMPolicyGenerator`: a service account of the cluster that acts as an account of the cloud.
fn add_account(
    scope: &mut Scope<'_, '_>,
    config: &PluginConfig,
    policy: &IamPolicy,
    objects: &mut Accumulator,
) {
    if policy.cloud != "gke" {
        let (kind, file, found) = (config.kind(), config.file.clone(), policy.cloud.clone());
        let problem = PluginError::InvalidChoice { kind, file, field: "cloud", choice: "`gke`", found };
        scope.report(&config.field, problem);
        return;
    }
    let mut object = Object::default();
    object
        .as_map_mut()
        .extend([("apiVersion".to_owned(), json!("v1")), ("kind".to_owned(), json!("ServiceAccount"))]);
    object.set_name(&policy.service.name);
    if !policy.service.namespace.is_empty() {
        object.set_namespace(&policy.service.namespace);
    }
    let account = format!("{}@{}.iam.gserviceaccount.com", policy.account.name, policy.account.project);
    object.set_annotation("iam.gke.io/gcp-service-account", &account);
    let added = objects.append(Resource::new(object, Arc::new(origin(config))));
    scope.ok(&config.field, added);
}
