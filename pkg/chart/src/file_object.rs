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

/// The files of a chart, or only the files that match a pattern.
#[derive(Debug)]
struct Files(BTreeMap<Str, Str>);

/// Creates the `.Files` of templates from the files of a chart.
pub fn files_value(files: &[ChartFile]) -> Value {
    let entries = files.iter().map(|file| (Str::from(file.path.as_str()), file.content.clone()));
    Value::Object(Shared::new(Files(entries.collect())))
}

impl Files {
    fn content(&self, path: &Value) -> Option<&Str> {
        match path {
            Value::String(path) => self.0.get(path),
            _ => None,
        }
    }

    fn glob(&self, pattern: &Value) -> Value {
        let Value::String(pattern) = pattern else { return Value::Nil };
        // Helm takes all files if the pattern is malformed.
        let regex = glob::compile_glob(&pattern.to_str());
        let is_match = |path: &Str| regex.as_ref().is_none_or(|regex| regex.is_match(&path.to_str()));
        let entries = self.0.iter().filter(|(path, _)| is_match(path));
        let entries = entries.map(|(path, content)| (path.clone(), content.clone())).collect();
        Value::Object(Shared::new(Self(entries)))
    }

    /// Returns a YAML mapping from file names without folders.
    fn as_yaml(&self, text: impl Fn(&Str) -> String) -> Value {
        let entry = |(path, content): (&Str, &Str)| {
            let path = path.to_str();
            let name = path.rsplit('/').next().unwrap_or(&path);
            (name.to_owned(), serde_json::Value::String(text(content)))
        };
        let mut out = yaml::write(&serde_json::Value::Object(self.0.iter().map(entry).collect()));
        if out.ends_with('\n') {
            out.pop();
        }
        out.into()
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
        "engine.files"
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
            "Glob" => self.glob(path),
            "Lines" => self.lines(path),
            "AsConfig" => self.as_yaml(|content| content.to_str().into_owned()),
            _ => self.as_yaml(|content| base64::engine::general_purpose::STANDARD.encode(&**content)),
        })
    }

    fn entries(&self) -> Option<Map> {
        let entry = |(path, content): (&Str, &Str)| (path.clone(), Value::List(List::bytes(content.clone())));
        Some(Map::new(Elem::Any, self.0.iter().map(entry).collect()))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
