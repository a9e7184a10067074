//! Jsonnet programs: each field of the result becomes a file.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::compile::context::TargetContext;
use crate::compile::error::InputError;
use crate::compile::natives::TargetNatives;
use crate::compile::output_tree::OutputTree;
use crate::compile::settings::Input;
use crate::jsonnet::{Evaluation, evaluate};

/// Evaluates a program. A result that is no object becomes a file with the name of the program.
pub(in crate::compile) fn compile(
    context: &TargetContext<'_>,
    input: &Input,
    path: &Path,
    output: &OutputTree,
    messages: &mut Vec<String>,
) -> Result<(), InputError> {
    let evaluation = Evaluation {
        search_paths: &context.search_paths,
        external_variables: BTreeMap::from([("target".to_owned(), context.name.to_owned())]),
        reads: &context.reads,
        natives: &TargetNatives(context),
        control: context.control,
    };
    let evaluated = evaluate(path, &evaluation)?;
    messages.extend(evaluated.traces.iter().map(|trace| format!("TRACE: {trace}")));
    let files = match evaluated.value {
        Value::Object(files) => files,
        other => {
            let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            Map::from_iter([(name, other)])
        }
    };
    for (name, value) in files {
        let (name, content) = context.format(input).file(&name, value)?;
        output.write(&name, content.as_bytes())?;
    }
    Ok(())
}
