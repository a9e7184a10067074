//! `.Files`: the files of a chart beside its templates.
//!
//! Source: Helm 3.22 pkg/engine/files.go.

use std::any::Any;
use std::collections::BTreeMap;

use base64::Engine as _;
use manifest::yaml;
use template::{Elem, Kind, List, Map, Object, Shared, Signature, Str, Type, Value};

use crate::files::ChartFile;
use crate::glob;

/// The program whose `.Files` templates expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesDialect {
    /// Helm, which ignores malformed patterns, and prints nothing for files that YAML cannot hold.
    Helm,
    /// The runtime of components, which fails, and ends YAML with a line break.
    Runtime,
}

/// The files of a chart, or only the files that match a pattern.
#[derive(Debug)]
struct Files {
    entries: BTreeMap<Str, Str>,
    dialect: FilesDialect,
}

/// Creates the `.Files` of templates from the files of a chart.
pub fn files_value(files: &[ChartFile], dialect: FilesDialect) -> Value {
    let entries = files.iter().map(|file| (Str::from(file.path.as_str()), file.content.clone()));
    Value::Object(Shared::new(Files { entries: entries.collect(), dialect }))
}

impl Files {
    fn content(&self, path: &Value) -> Option<&Str> {
        match path {
            Value::String(path) => self.entries.get(path),
            _ => None,
        }
    }

    fn glob(&self, pattern: &Value) -> Result<Value, String> {
        let Value::String(pattern) = pattern else { return Ok(Value::Nil) };
        // Helm takes all files if the pattern is malformed.
        let regex = glob::compile_glob(&pattern.to_str());
        if regex.is_none() && self.dialect == FilesDialect::Runtime {
            return Err(format!("the pattern `{}` is malformed", pattern.to_str()));
        }
        let is_match = |path: &Str| regex.as_ref().is_none_or(|regex| regex.is_match(&path.to_str()));
        let entries = self.entries.iter().filter(|(path, _)| is_match(path));
        let entries = entries.map(|(path, content)| (path.clone(), content.clone())).collect();
        Ok(Value::Object(Shared::new(Self { entries, dialect: self.dialect })))
    }

    /// Returns a YAML mapping from file names without folders.
    fn as_yaml(&self, text: impl Fn(&Str) -> String) -> Result<Value, String> {
        let entry = |(path, content): (&Str, &Str)| {
            let path = path.to_str();
            let name = path.rsplit('/').next().unwrap_or(&path);
            (name.to_owned(), serde_json::Value::String(text(content)))
        };
        let json = serde_json::Value::Object(self.entries.iter().map(entry).collect());
        let text = yaml::write(&json);
        match (yaml::is_printable(&json), self.dialect) {
            (true, FilesDialect::Helm) => Ok(text.strip_suffix('\n').unwrap_or(&text).into()),
            (true, FilesDialect::Runtime) => Ok(text.into()),
            (false, FilesDialect::Helm) => Ok("".into()),
            (false, FilesDialect::Runtime) => Err("yaml: control characters are not allowed".to_owned()),
        }
    }

    fn lines(&self, path: &Value) -> Value {
        let Some(content) = self.content(path).filter(|content| !content.is_empty()) else {
            return Value::List(List::new(Elem::String, Vec::new()));
        };
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        Value::strings(content.split(|byte| *byte == b'\n').map(Str::from))
    }
}

impl Object for Files {
    fn type_name(&self) -> &'static str {
        match self.dialect {
            FilesDialect::Helm => "engine.files",
            FilesDialect::Runtime => "helm.Files",
        }
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn method(&self, name: &str) -> Option<Signature> {
        match name {
            "Get" | "GetBytes" | "Glob" | "Lines" => Some(Signature::new(&[Type::String])),
            "AsConfig" | "AsSecrets" => Some(Signature::new(&[])),
            _ => None,
        }
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let path = args.first().unwrap_or(&Value::Nil);
        let content = || self.content(path).cloned().unwrap_or_else(|| Str::from(""));
        Ok(match name {
            "Get" => Value::String(content()),
            "GetBytes" => Value::List(List::bytes(content())),
            "Glob" => self.glob(path)?,
            "Lines" => self.lines(path),
            "AsConfig" => self.as_yaml(|content| content.to_str().into_owned())?,
            _ => self.as_yaml(|content| base64::engine::general_purpose::STANDARD.encode(&**content))?,
        })
    }

    fn entries(&self) -> Option<Map> {
        let entry = |(path, content): (&Str, &Str)| (path.clone(), Value::List(List::bytes(content.clone())));
        Some(Map::new(Elem::Bytes, self.entries.iter().map(entry).collect()))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.entries == other.entries)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
