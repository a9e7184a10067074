//! Invokes templates and nested texts from functions: `include` and `tpl`.

use super::output::without_no_value;
use super::{Execution, Result};
use crate::engine::Engine;
use crate::error::Error;
use crate::fault::Fault;
use crate::limits::Limit;
use crate::parse::tree::Tree;
use crate::reads::ReadRange;
use crate::session::Session;
use crate::templates::Scope;
use crate::value::{Str, Value};

/// The maximum nesting of one template in itself, as in Helm.
const INCLUDED: usize = 1_000;

impl Engine for Execution<'_> {
    fn session(&mut self) -> &mut Session {
        self.session
    }

    fn include(&mut self, name: &Str, data: &Value) -> std::result::Result<Value, Fault> {
        let Some(tree) = self.scope.get(&name.to_str()) else {
            return Err(self.scope.no_template(&name.to_str()).into());
        };
        let nesting = self.session.included.entry(name.clone()).or_default();
        if *nesting > INCLUDED {
            let context = "rendering template has a nested reference name";
            return Err(format!("{context}: {}: unable to execute template", name.to_str()).into());
        }
        *nesting += 1;
        let result = nested(self.scope, self.session, tree, data)?;
        if let Some(nesting) = self.session.included.get_mut(&**name) {
            *nesting -= 1;
        }
        self.session.create(result.len())?;
        Ok(Value::string(result))
    }

    fn execute_text(&mut self, text: &Str, data: &Value) -> std::result::Result<Value, Fault> {
        if memchr::memmem::find(text, self.scope.left_delimiter().as_bytes()).is_none() {
            let mut bytes = text.to_vec();
            without_no_value(&mut bytes);
            return Ok(Value::string(bytes));
        }
        let quoted = || crate::format::quoted(text);
        let mut overlay = self.scope.overlay();
        let tree = self.scope.parse(&mut overlay, text);
        let tree =
            tree.map_err(|error| Fault::wrap(&format!("cannot parse template {}", quoted()), error))?;
        let scope = Scope { own: &overlay, base: Some(self.scope) };
        let result = nested(&scope, self.session, &tree, data);
        let mut bytes = result.map_err(|error| {
            Fault::wrap(&format!("error during tpl function execution for {}", quoted()), error)
        })?;
        without_no_value(&mut bytes);
        self.session.create(bytes.len())?;
        Ok(Value::string(bytes))
    }
}

/// Executes a template into an output of its own.
fn nested(
    scope: &Scope<'_>,
    session: &mut Session,
    tree: &Tree,
    data: &Value,
) -> std::result::Result<Vec<u8>, Error> {
    // Go passes nil data on as no value, whose fields have no value either.
    let data = if data.is_nil() { &Value::Missing } else { data };
    let limit = session.settings.limits.depth;
    let mut execution = Execution::new(scope, session, tree);
    let result: Result<()> = if execution.session.depth >= limit {
        Err(execution.limit(Limit::Depth(limit)))
    } else {
        execution.session.depth += 1;
        let result = crate::stack::grow(|| execution.start(data, ReadRange::default()));
        execution.session.depth -= 1;
        result
    };
    let out = execution.out;
    result.map(|()| out).map_err(Error::Render)
}
