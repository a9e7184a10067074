//! The settings of one plugin, and their errors.

use manifest::{Object, Value};

use crate::TreePath;
use crate::accumulator::Accumulator;
use crate::kustomization::decode::{DecodeError, FromFields, decode};
use crate::report::format_suggestions;
use crate::resource::Plugin;
use crate::scope::Scope;

use super::settings::PluginSettings;

/// A plugin that cannot run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PluginError {
    #[error(
        "`{kind}` of `{api_version}` is {what}: capstan runs only built-in plugins (`apiVersion: builtin`)"
    )]
    External { api_version: String, kind: String, what: &'static str },
    #[error("unknown built-in plugin `{kind}`{}", format_suggestions(suggestions))]
    Unknown { kind: String, suggestions: Vec<&'static str> },
    #[error("`{kind}` is not a {wanted}: list it under `{list}`")]
    WrongList { kind: String, wanted: &'static str, list: &'static str },
    #[error("`{kind}` in `{file}`: {fault}")]
    Settings { kind: String, file: TreePath, fault: DecodeError },
    #[error("`{kind}` in `{file}` requires `{field}`")]
    MissingField { kind: String, file: TreePath, field: &'static str },
    #[error("`{kind}` in `{file}`: `{field}` must be {choice}, not `{found}`")]
    InvalidChoice { kind: String, file: TreePath, field: &'static str, choice: &'static str, found: String },
    #[error("`{kind}` in `{file}` changes objects, but a validator cannot: list it under `transformers`")]
    ValidatorChangesObject { kind: String, file: TreePath },
}

/// The settings of one plugin.
pub(super) struct PluginConfig {
    /// The entry that names the settings, such as `transformers[0]`.
    pub(super) field: String,
    /// The file with the settings.
    pub(super) file: TreePath,
    pub(super) object: Object,
}

impl PluginConfig {
    /// Returns the plugin, as annotations name it.
    pub(super) fn plugin(&self) -> Plugin {
        let [kind, name, namespace] =
            [self.object.kind(), self.object.name(), self.object.namespace()].map(str::to_owned);
        Plugin { kind, name, namespace }
    }

    /// Reads the settings, and reports errors. Unknown fields are only warnings, as kustomize accepts them.
    pub(super) fn read<T: FromFields>(&self, scope: &mut Scope<'_, '_>) -> Option<T> {
        let mut faults = Vec::new();
        let value = Value::Object(self.object.as_map().clone());
        let settings: PluginSettings<T> = decode(&value, "", &mut faults);
        let mut is_sound = true;
        for fault in faults {
            let means_nothing = matches!(fault, DecodeError::UnknownField { .. });
            let problem = PluginError::Settings { kind: self.kind(), file: self.file.clone(), fault };
            if means_nothing {
                scope.warn(&self.field, problem);
            } else {
                is_sound = false;
                scope.report(&self.field, problem);
            }
        }
        is_sound.then_some(settings.settings)
    }

    /// Records the provenance of the plugin's changes.
    pub(super) fn record_provenance(&self, scope: &Scope<'_, '_>, objects: &mut Accumulator) {
        let is_written_out = self.file == scope.root.file;
        scope.record_provenance_from(&self.field, || (!is_written_out).then(|| self.file.clone()), objects);
    }

    pub(super) fn kind(&self) -> String {
        self.object.kind().to_owned()
    }

    pub(super) fn missing_field(&self, field: &'static str) -> PluginError {
        PluginError::MissingField { kind: self.kind(), file: self.file.clone(), field }
    }
}
