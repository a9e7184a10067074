//! The variables of a text.

use std::borrow::Cow;
use std::collections::HashMap;

use super::position::PositionCursor;
use super::{Expression, MissingVariable, MissingVariables, Step, Template, TextPosition};

/// The variable names in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// The names outside of arguments, each once, in the order of first use.
    pub top_level: Vec<Variable>,
    /// The names that occur only in arguments, each once, in the order of first use.
    ///
    /// They are never required: an unset name counts as empty.
    pub nested: Vec<NestedVariable>,
}

/// A name outside of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name without `$` and braces.
    pub name: String,
    /// The default of the first use: all its arguments, joined, with nested names as `${NAME}`.
    ///
    /// Source: simple_processor.go (traverse): the arguments of any function count, so `${X:2}` has the default `2`.
    pub default: Option<String>,
    /// Every position outside of arguments, in the order of the text.
    pub positions: Vec<TextPosition>,
}

impl Variable {
    /// True if rendering fails without a value for the name.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}

/// A name that occurs only in arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedVariable {
    /// The name without `$` and braces.
    pub name: String,
    /// Every position, in the order of the text.
    pub positions: Vec<TextPosition>,
}

pub(super) fn list(template: &Template<'_>) -> Variables {
    let mut top = vec![false; template.names.len()];
    for expression in template.expressions.iter().filter(|expression| !expression.nested) {
        top[expression.name] = true;
    }
    let mut variables = Variables::default();
    let mut seen = HashMap::new();
    let mut cursor = PositionCursor::new(template.source);
    for (index, expression) in template.expressions.iter().enumerate() {
        let nested_only = !top[expression.name];
        if expression.nested && !nested_only {
            continue;
        }
        let place = cursor.position(template.legacy.original(expression.offset));
        let name = || template.name(expression.name).to_owned();
        if nested_only {
            let slot = *seen.entry(expression.name).or_insert_with(|| {
                variables.nested.push(NestedVariable { name: name(), positions: Vec::new() });
                variables.nested.len() - 1
            });
            variables.nested[slot].positions.push(place);
        } else {
            let slot = *seen.entry(expression.name).or_insert_with(|| {
                let default = expression.has_default().then(|| default_text(template, index));
                variables.top_level.push(Variable { name: name(), default, positions: Vec::new() });
                variables.top_level.len() - 1
            });
            variables.top_level[slot].positions.push(place);
        }
    }
    variables
}

/// Lists the names without a value and without a default at their first use outside of arguments.
pub(super) fn missing(template: &Template<'_>, values: &[Option<Cow<'_, str>>]) -> Option<MissingVariables> {
    let top = || template.expressions.iter().filter(|expression| !expression.nested);
    let mut required: Vec<Option<bool>> = vec![None; template.names.len()];
    for expression in top() {
        let unset = values[expression.name].is_none();
        required[expression.name].get_or_insert(unset && !expression.has_default());
    }
    let is_missing = |expression: &&Expression| required[expression.name] == Some(true);
    let mut cursor = PositionCursor::new(template.source);
    let mut places: HashMap<usize, Vec<TextPosition>> = HashMap::new();
    for expression in top().filter(is_missing) {
        let place = cursor.position(template.legacy.original(expression.offset));
        places.entry(expression.name).or_default().push(place);
    }
    let named = |(name, places)| MissingVariable { name: template.name(name).to_owned(), positions: places };
    let mut variables: Vec<_> = places.into_iter().map(named).collect();
    variables.sort_by(|a, b| a.name.cmp(&b.name));
    (!variables.is_empty()).then_some(MissingVariables { variables })
}

/// Joins the arguments of an expression as written, without the inside of nested substitutions.
fn default_text(template: &Template<'_>, index: usize) -> String {
    let steps = template.expressions[index].steps.clone();
    let mut inner = template.expressions[index + 1..].iter().peekable();
    let mut text = String::new();
    let mut at = steps.start;
    while at + 1 < steps.end {
        if let Some(nested) = inner.next_if(|nested| nested.steps.start == at) {
            text.extend(["${", template.name(nested.name), "}"]);
            at = nested.steps.end;
            while inner.next_if(|deeper| deeper.steps.start < at).is_some() {}
            continue;
        }
        if let Step::Text(range) = &template.steps[at] {
            text.push_str(&template.legacy.text()[range.clone()]);
        }
        at += 1;
    }
    text
}
