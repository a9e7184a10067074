//! Walks the nodes of a template and writes the output.

use super::output::RawSpan;
use super::{At, Dot, Execution, Result, Slot};
use crate::error::{Error, Problem};
use crate::limits::Limit;
use crate::parse::tree::{Branch, Invocation, Node};
use crate::reads::ReadRange;
use crate::value::{Elem, Value};

/// The way on after a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
}

/// The actions with a body that choose by a truth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    If,
    With,
}

impl<'r> Execution<'r> {
    /// Executes the current template with its data and the reads behind them.
    pub(super) fn start(&mut self, data: &Value, reads: ReadRange) -> Result<()> {
        self.variables.push(Slot { number: 0, value: data.clone(), is_interface: false, reads });
        let body = self.tree.body(self.scope.own.functions()).map_err(|error| {
            let mut failure = self.failure("the template cannot be parsed");
            failure.cause = Some(Box::new(Error::Parse(error)));
            failure
        })?;
        self.walk(Dot { value: data, is_interface: false, reads }, body).map(|_| ())
    }

    fn walk(&mut self, dot: Dot<'_>, nodes: &'r [Node]) -> Result<Flow> {
        for node in nodes {
            self.session.step().map_err(|limit| self.limit(limit))?;
            let flow = match node {
                Node::Text(part) => {
                    self.at = At::Text(part.start());
                    self.mark(part.start(), ReadRange::default());
                    self.write(self.tree.source.part(*part))?;
                    Flow::Next
                }
                Node::Action(pipe) => {
                    let start = self.session.reads.len();
                    let value = self.pipeline(dot, pipe)?;
                    if pipe.declared.is_empty() {
                        self.mark(pipe.offset, self.session.reads.since(start));
                        self.print(&value)?;
                    }
                    Flow::Next
                }
                Node::If(branch) => crate::stack::grow(|| self.choose(Choice::If, dot, branch))?,
                Node::With(branch) => crate::stack::grow(|| self.choose(Choice::With, dot, branch))?,
                Node::Range(branch) => crate::stack::grow(|| self.range(dot, branch))?,
                Node::Template(invocation) => crate::stack::grow(|| self.invoke(dot, invocation))?,
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Records the origin of the output that follows.
    fn mark(&mut self, offset: u32, reads: ReadRange) {
        if let Some(spans) = &mut self.spans {
            spans.push(RawSpan { start: self.out.len(), tree: self.tree, offset, reads });
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.reserve(bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Checks the limit of output before more is written.
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let limit = self.session.settings.limits.output_bytes;
        if self.out.len() + bytes > limit {
            return Err(self.limit(Limit::Output(limit)));
        }
        Ok(())
    }

    fn print(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::String(text) => self.write(text),
            Value::Missing => self.write(b"<no value>"),
            Value::Object(object) if let Some(text) = object.action_text() => self.write(text.as_bytes()),
            _ => {
                let limit = self.session.settings.limits.output_bytes;
                let printed = crate::format::print(&mut self.out, value, limit);
                printed.map_err(|error| self.failure(error.to_string()))?;
                self.reserve(0)
            }
        }
    }

    fn choose(&mut self, choice: Choice, dot: Dot<'_>, branch: &'r Branch) -> Result<Flow> {
        let mark = self.variables.len();
        let start = self.session.reads.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let flow = if value.is_true() {
            let inner = match choice {
                Choice::If => dot,
                Choice::With => {
                    Dot { value: &value, is_interface: false, reads: self.session.reads.since(start) }
                }
            };
            self.walk(inner, &branch.body)
        } else {
            branch.otherwise.as_ref().map_or(Ok(Flow::Next), |body| self.walk(dot, body))
        };
        self.variables.truncate(mark);
        flow
    }

    fn range(&mut self, dot: Dot<'_>, branch: &'r Branch) -> Result<Flow> {
        let outer = self.variables.len();
        let start = self.session.reads.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let reads = self.session.reads.since(start);
        let count = match &value {
            Value::Missing | Value::Nil => 0,
            Value::Int(_) | Value::Int64(_) | Value::Uint8(_) | Value::Uint64(_) => {
                self.range_numbers(&value, branch, reads)?
            }
            Value::List(list) => {
                let is_interface = is_interface(list.elem());
                let rounds = list.iter().cloned().enumerate();
                #[expect(clippy::cast_possible_wrap, reason = "no list is that long")]
                let rounds = rounds.map(|(index, item)| (Value::Int(index as i64), item));
                self.rounds(branch, rounds, is_interface, reads)?
            }
            Value::Map(map) => {
                let entries = map.to_vec().into_iter().map(|(key, value)| (Value::String(key), value));
                self.rounds(branch, entries, is_interface(map.elem()), reads)?
            }
            Value::Object(object) => {
                let Some(map) = object.entries() else { return Err(self.cannot_range(&value)) };
                let entries = map.to_vec().into_iter().map(|(key, value)| (Value::String(key), value));
                self.rounds(branch, entries, is_interface(map.elem()), reads)?
            }
            _ => return Err(self.cannot_range(&value)),
        };
        let flow = match &branch.otherwise {
            Some(body) if count == 0 => self.walk(dot, body)?,
            _ => Flow::Next,
        };
        self.variables.truncate(outer);
        // A `break` in the `else` of a loop ends this loop.
        Ok(if flow == Flow::Break { Flow::Next } else { flow })
    }

    #[cold]
    fn cannot_range(&self, value: &Value) -> super::Failure {
        self.failure(format!("range can't iterate over {}", crate::format::display(value)))
    }

    fn range_numbers(&mut self, value: &Value, branch: &'r Branch, reads: ReadRange) -> Result<usize> {
        if branch.pipe.declared.len() > 1 {
            let shown = crate::format::display(value);
            return Err(self.failure(format!("can't use {shown} to iterate over more than one variable")));
        }
        match value {
            Value::Int(end) => {
                self.rounds(branch, (0..*end).map(|i| (Value::Missing, Value::Int(i))), false, reads)
            }
            Value::Int64(end) => {
                self.rounds(branch, (0..*end).map(|i| (Value::Missing, Value::Int64(i))), false, reads)
            }
            Value::Uint8(end) => {
                self.rounds(branch, (0..*end).map(|i| (Value::Missing, Value::Uint8(i))), false, reads)
            }
            Value::Uint64(end) => {
                self.rounds(branch, (0..*end).map(|i| (Value::Missing, Value::Uint64(i))), false, reads)
            }
            _ => Ok(0),
        }
    }

    /// Executes the body of a loop for each pair. Returns the number of rounds.
    fn rounds(
        &mut self,
        branch: &'r Branch,
        pairs: impl Iterator<Item = (Value, Value)>,
        is_interface: bool,
        reads: ReadRange,
    ) -> Result<usize> {
        let mark = self.variables.len();
        let mut count = 0;
        for (key, value) in pairs {
            count += 1;
            self.session.step().map_err(|limit| self.limit(limit))?;
            let item = Dot { value: &value, is_interface, reads };
            self.set_loop_variables(branch, key, item)?;
            let flow = self.walk(item, &branch.body)?;
            self.variables.truncate(mark);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(count)
    }

    fn set_loop_variables(&mut self, branch: &'r Branch, key: Value, item: Dot<'_>) -> Result<()> {
        let Dot { value, is_interface, reads } = item;
        let declared = &branch.pipe.declared;
        let Some(last) = declared.last() else { return Ok(()) };
        let has_key = declared.len() > 1;
        if branch.pipe.is_assignment {
            if has_key {
                let number = declared[0].number;
                self.assign(&declared[0], Slot { number, value: key, is_interface: false, reads })?;
            }
            let slot = Slot { number: last.number, value: value.clone(), is_interface, reads };
            return self.assign(last, slot);
        }
        let top = self.variables.len();
        let slot = &mut self.variables[top - 1];
        (slot.value, slot.is_interface, slot.reads) = (value.clone(), is_interface, reads);
        if has_key {
            let slot = &mut self.variables[top - 2];
            (slot.value, slot.reads) = (key, reads);
        }
        Ok(())
    }

    fn invoke(&mut self, dot: Dot<'_>, invocation: &'r Invocation) -> Result<Flow> {
        self.at = At::Invocation(invocation);
        let Some(tree) = self.scope.get(&invocation.name) else {
            let name = invocation.name.to_string();
            let near = self.scope.near(&name);
            let message = format!("template {} not defined", crate::format::quoted(name.as_bytes()));
            return Err(self.failure_of(message, Problem::NoTemplate { name, near }));
        };
        let depth = self.session.settings.limits.depth;
        if self.session.depth >= depth {
            return Err(self.limit(Limit::Depth(depth)));
        }
        let start = self.session.reads.len();
        let value = match &invocation.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Value::Missing,
        };
        let reads = self.session.reads.since(start);
        let (outer, base) = (std::mem::replace(&mut self.tree, tree), self.base);
        self.base = self.variables.len();
        self.session.depth += 1;
        self.start(&value, reads)?;
        self.session.depth -= 1;
        self.variables.truncate(self.base);
        (self.tree, self.base) = (outer, base);
        Ok(Flow::Next)
    }
}

fn is_interface(elem: Elem) -> bool {
    matches!(elem, Elem::Any | Elem::Values)
}
