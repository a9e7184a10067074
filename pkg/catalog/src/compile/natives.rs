//! The native functions of programs in the inputs of targets.
//!
//! Source: Kapitan 0.36 resources.py.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::context::{TargetContext, node_value};
use super::schema;
use crate::file_reading::{self, MAX_FILE_BYTES};
use crate::jinja;
use crate::jsonnet::{NativeFunction, Natives};
use crate::reclass::Node;
use crate::yaml::{YamlStyle, read_documents, write_document, write_documents};

const FUNCTIONS: [NativeFunction; 18] = [
    native("dir_files_list", &["name"]),
    native("dir_files_read", &["name"]),
    native("file_exists", &["name"]),
    native("file_read", &["name"]),
    native("gzip_b64", &["obj"]),
    native("inventory", &["target", "inv_path"]),
    native("jinja2_render_file", &["name", "ctx"]),
    native("jsonschema_validate", &["obj", "schema_obj"]),
    native("node_field", &["target", "name"]),
    native("node_names", &[]),
    native("parameter", &["target", "name"]),
    native("parameter_names", &["target"]),
    native("sha256_string", &["obj"]),
    native("topics", &["name"]),
    native("yaml_dump", &["obj"]),
    native("yaml_dump_stream", &["obj"]),
    native("yaml_load", &["name"]),
    native("yaml_load_stream", &["name"]),
];

const fn native(name: &'static str, parameters: &'static [&'static str]) -> NativeFunction {
    NativeFunction { name, parameters }
}

/// The native functions for the programs of one target.
pub(super) struct TargetNatives<'a>(pub(super) &'a TargetContext<'a>);

impl Natives for TargetNatives<'_> {
    fn functions(&self) -> &'static [NativeFunction] {
        &FUNCTIONS
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        let text = |index: usize| text_argument(name, arguments, index);
        match name {
            "inventory" => self.inventory(arguments.first().unwrap_or(&Value::Null)),
            "node_names" => Ok(self.node_names()),
            "node_field" => self.node_field(text(0)?, text(1)?),
            "parameter_names" => self.parameter_names(text(0)?),
            "parameter" => self.parameter(text(0)?, text(1)?),
            "file_read" => self.read_text(&self.existing(text(0)?)?).map(Value::String),
            "file_exists" => Ok(match self.find(text(0)?) {
                Some(path) => json!({"exists": true, "path": path.display().to_string()}),
                None => json!({"exists": false, "path": ""}),
            }),
            "dir_files_list" => Ok(self.file_names(&self.existing(text(0)?)?)?.into()),
            "dir_files_read" => self.files(&self.existing(text(0)?)?),
            // Programs parse the result themselves.
            "yaml_load" => Ok(json_text(&self.yaml(text(0)?)?.into_iter().next().unwrap_or_default())),
            "yaml_load_stream" => Ok(json_text(&Value::Array(self.yaml(text(0)?)?))),
            "yaml_dump" => Ok(Value::from(write_document(&parsed(text(0)?)?, YamlStyle::EMBEDDED))),
            "yaml_dump_stream" => dump_stream(&parsed(text(0)?)?),
            "sha256_string" => Ok(Value::from(sha256(text(0)?))),
            "gzip_b64" => gzip(text(0)?).map(Value::from),
            "jsonschema_validate" => Ok(schema::validate(&parsed(text(0)?)?, &parsed(text(1)?)?)),
            "jinja2_render_file" => self.render(text(0)?, text(1)?),
            "topics" => Ok(Value::Object(Map::new())),
            other => Err(format!("unknown native function `{other}`")),
        }
    }
}

impl TargetNatives<'_> {
    fn inventory(&self, target: &Value) -> Result<Value, String> {
        let Value::String(target) = target else {
            self.0.reads.note_nodes(self.0.nodes);
            return Ok(Value::Object(
                self.0.nodes.iter().map(|(name, node)| (name.clone(), node_value(node))).collect(),
            ));
        };
        self.0.reads.note_node(target, self.0.nodes.get(target));
        self.node(target).map(node_value)
    }

    /// Finds a target. Its read is not recorded.
    fn node(&self, target: &str) -> Result<&Node, String> {
        self.0.nodes.get(target).ok_or_else(|| format!("no target `{target}` in the inventory"))
    }

    fn node_names(&self) -> Value {
        self.0.reads.note_node_names(self.0.nodes);
        self.0.nodes.keys().map(String::as_str).collect()
    }

    fn node_field(&self, target: &str, name: &str) -> Result<Value, String> {
        let node = self.node(target)?;
        self.0.reads.note_node(target, Some(node));
        Ok(node_value(node)[name].take())
    }

    fn parameter_names(&self, target: &str) -> Result<Value, String> {
        let parameters = &self.node(target)?.parameters;
        self.0.reads.note_parameter_names(target, Some(parameters));
        Ok(parameters.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect())
    }

    fn parameter(&self, target: &str, name: &str) -> Result<Value, String> {
        let value = self.node(target)?.parameters.get(name);
        self.0.reads.note_parameter(target, name, value);
        Ok(value.cloned().unwrap_or_default())
    }

    fn read_text(&self, path: &Path) -> Result<String, String> {
        self.0.reads.read_text(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
    }

    fn file_names(&self, folder: &Path) -> Result<Vec<String>, String> {
        let failed = |error| format!("cannot read `{}`: {error}", folder.display());
        let entries = self.0.reads.entries(folder).map_err(failed)?;
        let is_file =
            |(name, is_folder): &(String, bool)| !is_folder && self.0.reads.is_file(&folder.join(name));
        Ok(entries.into_iter().filter(is_file).map(|(name, _)| name).collect())
    }

    fn files(&self, folder: &Path) -> Result<Value, String> {
        let mut files = Map::new();
        for name in self.file_names(folder)? {
            let text = self.read_text(&folder.join(&name))?;
            files.insert(name, Value::String(text));
        }
        Ok(Value::Object(files))
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        self.0.search_paths.iter().map(|folder| folder.join(name)).find(|path| self.0.reads.exists(path))
    }

    fn existing(&self, name: &str) -> Result<PathBuf, String> {
        self.find(name).ok_or_else(|| format!("could not find file or folder `{name}` in the search paths"))
    }

    fn yaml(&self, name: &str) -> Result<Vec<Value>, String> {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("yml" | "yaml")) {
            return Err(format!("`{name}` has neither the extension `.yml` nor `.yaml`"));
        }
        let path = self.existing(name)?;
        read_documents(&self.read_text(&path)?)
            .map_err(|error| format!("cannot read `{}`: {error}", path.display()))
    }

    fn render(&self, name: &str, context: &str) -> Result<Value, String> {
        let path = self.existing(name)?;
        let text = jinja::render(&path, &self.0.search_paths, &parsed(context)?, &self.0.reads)
            .map_err(|error| format!("cannot render `{}`: {error}", path.display()))?;
        Ok(Value::String(text))
    }
}

/// Returns an argument that must be a text.
pub(crate) fn text_argument<'a>(
    function: &str,
    arguments: &'a [Value],
    index: usize,
) -> Result<&'a str, String> {
    let text = arguments.get(index).and_then(Value::as_str);
    text.ok_or_else(|| format!("argument {} of native function `{function}` must be a string", index + 1))
}

pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    file_reading::read_text(path, MAX_FILE_BYTES)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("the argument is not JSON: {error}"))
}

/// Returns the names of the files in a folder, in order.
pub(crate) fn file_names(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("cannot read `{}`: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().is_file()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn json_text(value: &Value) -> Value {
    Value::String(value.to_string())
}

fn dump_stream(value: &Value) -> Result<Value, String> {
    match value {
        Value::Array(documents) => Ok(Value::from(write_documents(documents, YamlStyle::EMBEDDED))),
        _ => Err("`yaml_dump_stream` needs a list of documents".to_owned()),
    }
}

pub(crate) fn sha256(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

/// Compresses a text, without a time.
fn gzip(text: &str) -> Result<String, String> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let packed = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    packed.map(|bytes| STANDARD.encode(bytes)).map_err(|error| error.to_string())
}
