//! Prints values of every type by a verb.

use super::integer::Integer;
use super::printer::{FormatError, Printer};
use crate::value::{List, Map, NESTING, Shared, TooDeep, Value};

type Printed = Result<(), FormatError>;

impl Printer<'_> {
    /// Prints one argument.
    pub(super) fn argument(&mut self, value: &Value, verb: char) -> Printed {
        if verb == 'T' {
            if value.is_nil() {
                self.pad(b"<nil>");
                return Ok(());
            }
            let name = value.type_name();
            self.string(name.as_bytes(), 's');
            return Ok(());
        }
        if verb == 'w' {
            return self.bad_verb(value, verb, NESTING);
        }
        if value.is_nil() {
            if verb == 'v' {
                self.pad(b"<nil>");
                return Ok(());
            }
            return self.bad_verb(value, verb, NESTING);
        }
        self.value(value, verb, NESTING)
    }

    fn value(&mut self, value: &Value, verb: char, depth: usize) -> Printed {
        self.check()?;
        let is_printed = match value {
            Value::Missing | Value::Nil => {
                let text = if self.flags.sharp_v { "interface {}(nil)" } else { "<nil>" };
                self.push(text);
                true
            }
            Value::Bool(flag) => {
                let is_valid = matches!(verb, 't' | 'v');
                if is_valid {
                    self.pad(if *flag { b"true" } else { b"false" });
                }
                is_valid
            }
            Value::Int(number) | Value::Int64(number) => {
                let number = Integer { magnitude: number.unsigned_abs(), is_negative: *number < 0 };
                self.integer(number, verb, true)
            }
            Value::Uint8(number) => {
                self.integer(Integer { magnitude: (*number).into(), is_negative: false }, verb, false)
            }
            Value::Uint64(number) => {
                self.integer(Integer { magnitude: *number, is_negative: false }, verb, false)
            }
            Value::Float(number) => {
                let is_valid = "vbgGxXfFeE".contains(verb);
                if is_valid {
                    self.float(*number, verb);
                }
                is_valid
            }
            Value::String(text) => self.string(text, verb),
            Value::List(list) => return crate::stack::grow(|| self.list(list, verb, depth)),
            Value::Map(map) => return crate::stack::grow(|| self.map(map, verb, depth)),
            Value::Object(object) => return crate::stack::grow(|| self.object(object, verb, depth)),
        };
        if is_printed { Ok(()) } else { self.bad_verb(value, verb, depth) }
    }

    /// Prints `%!d(string=x)` for a verb that does not fit.
    fn bad_verb(&mut self, value: &Value, verb: char, depth: usize) -> Printed {
        self.push("%!");
        self.push_character(verb);
        if value.is_nil() {
            self.push("(<nil>)");
            return Ok(());
        }
        self.push("(");
        self.push(&value.type_name());
        self.push("=");
        self.value(value, 'v', depth)?;
        self.push(")");
        Ok(())
    }

    fn list(&mut self, list: &List, verb: char, depth: usize) -> Printed {
        let depth = depth.checked_sub(1).ok_or(FormatError::TooDeep(TooDeep))?;
        if matches!(verb, 's' | 'q' | 'x' | 'X')
            && let Some(bytes) = list.as_bytes()
        {
            self.string(&bytes, verb);
            return Ok(());
        }
        if self.flags.sharp_v {
            self.push(&list.elem().list_name());
            if list.is_nil() {
                self.push("(nil)");
                return Ok(());
            }
        }
        let (open, between, close) = if self.flags.sharp_v { ("{", ", ", "}") } else { ("[", " ", "]") };
        self.push(open);
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                self.push(between);
            }
            self.value(item, verb, depth)?;
        }
        self.push(close);
        Ok(())
    }

    fn map(&mut self, map: &Map, verb: char, depth: usize) -> Printed {
        let depth = depth.checked_sub(1).ok_or(FormatError::TooDeep(TooDeep))?;
        let between = if self.flags.sharp_v {
            self.push(&map.elem().map_name());
            if map.is_nil() {
                self.push("(nil)");
                return Ok(());
            }
            self.push("{");
            ", "
        } else {
            self.push("map[");
            " "
        };
        for (index, (key, value)) in map.entries().iter().enumerate() {
            if index > 0 {
                self.push(between);
            }
            if !self.string(key, verb) {
                self.bad_verb(&Value::String(key.clone()), verb, depth)?;
            }
            self.push(":");
            self.value(value, verb, depth)?;
        }
        self.push(if self.flags.sharp_v { "}" } else { "]" });
        Ok(())
    }

    fn object(&mut self, object: &Shared, verb: char, depth: usize) -> Printed {
        let depth = depth.checked_sub(1).ok_or(FormatError::TooDeep(TooDeep))?;
        if let Some(text) = object.text().filter(|_| "vsxXq".contains(verb)) {
            self.string(text.as_bytes(), verb);
            return Ok(());
        }
        if let Some(map) = object.entries() {
            return self.map(&map, verb, depth);
        }
        let is_pointer = object.type_name().starts_with('*');
        self.push(if is_pointer { "&{" } else { "{" });
        for (index, (name, value)) in object.members().iter().enumerate() {
            if index > 0 {
                self.push(" ");
            }
            if self.flags.plus_v {
                self.push(name);
                self.push(":");
            }
            self.value(value, verb, depth)?;
        }
        self.push("}");
        Ok(())
    }
}
