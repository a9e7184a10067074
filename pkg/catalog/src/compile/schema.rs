//! The check of a value against a JSON schema.

use boon::{Compiler, Schemas, UrlLoader};
use serde_json::{Value, json};

/// The name of a schema, by which it refers to itself.
const URL: &str = "file:///schema.json";

/// Returns `valid`, and the `reason` if a value does not fit.
pub(super) fn validate(value: &Value, schema: &Value) -> Value {
    match problem(value, schema) {
        None => json!({"valid": true, "reason": ""}),
        Some(reason) => json!({"valid": false, "reason": reason}),
    }
}

fn problem(value: &Value, schema: &Value) -> Option<String> {
    let mut compiler = Compiler::new();
    compiler.enable_format_assertions();
    compiler.use_loader(Box::new(NoLoader));
    let mut schemas = Schemas::new();
    if let Err(error) = compiler.add_resource(URL, schema.clone()) {
        return Some(format!("{error:#}"));
    }
    match compiler.compile(URL, &mut schemas) {
        Ok(root) => schemas.validate(value, root).err().map(|error| error.to_string()),
        Err(error) => Some(format!("{error:#}")),
    }
}

/// Loads no other schemas.
struct NoLoader;

impl UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("a schema refers to `{url}`, which is not fetched").into())
    }
}
