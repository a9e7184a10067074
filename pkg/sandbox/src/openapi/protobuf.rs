//! An OpenAPI 2.0 document in protobuf.
//!
//! Source: `openapiv2/OpenAPIv2.proto` of github.com/google/gnostic-models, the numbers of the fields. Only what our
//! documents have is written: whatever they gain must be added here.

use serde_json::{Map, Value};

/// The document as `gnostic.openapi.v2.Document`.
pub(super) fn document(document: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, &document["swagger"]);
    message.message(2, |info| {
        info.text(1, &document["info"]["title"]);
        info.text(2, &document["info"]["version"]);
    });
    message.message(8, |paths| paths.named(2, &document["paths"], path_item));
    message.message(9, |definitions| definitions.named(1, &document["definitions"], schema));
    message.0
}

/// A message as it is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push((value & 0x7f) as u8);
    }

    fn bytes(&mut self, number: u64, bytes: &[u8]) {
        self.varint(number << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, number: u64, value: &Value) {
        if let Some(text) = value.as_str() {
            self.bytes(number, text.as_bytes());
        }
    }

    fn boolean(&mut self, number: u64, value: &Value) {
        if value.as_bool() == Some(true) {
            self.varint(number << 3);
            self.varint(1);
        }
    }

    fn integer(&mut self, number: u64, value: &Value) {
        if let Some(value) = value.as_i64() {
            self.varint(number << 3);
            self.varint(value.cast_unsigned());
        }
    }

    fn double(&mut self, number: u64, value: &Value) {
        if let Some(value) = value.as_f64() {
            self.varint(number << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn texts(&mut self, number: u64, value: &Value) {
        value.as_array().into_iter().flatten().for_each(|text| self.text(number, text));
    }

    fn message(&mut self, number: u64, fill: impl FnOnce(&mut Self)) {
        let mut message = Self::default();
        fill(&mut message);
        self.bytes(number, &message.0);
    }

    /// A message with a name and a value for each field of an object.
    fn named(&mut self, number: u64, value: &Value, fill: fn(&mut Self, &Value)) {
        for (name, value) in value.as_object().into_iter().flatten() {
            self.message(number, |entry| {
                entry.bytes(1, name.as_bytes());
                entry.message(2, |message| fill(message, value));
            });
        }
    }

    /// The `x-` fields of an object, each as the text of its value (JSON, which is YAML).
    fn extensions(&mut self, number: u64, fields: &Map<String, Value>) {
        for (name, value) in fields.iter().filter(|(name, _)| name.starts_with("x-")) {
            self.message(number, |entry| {
                entry.bytes(1, name.as_bytes());
                entry.message(2, |message| any(message, value));
            });
        }
    }
}

fn any(message: &mut Message, value: &Value) {
    message.bytes(2, value.to_string().as_bytes());
}

fn path_item(message: &mut Message, value: &Value) {
    for (number, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(Value::Object(fields)) = value.get(method) {
            message.message(number, |message| operation(message, fields));
        }
    }
    for parameter in value["parameters"].as_array().into_iter().flatten() {
        message.message(9, |message| self::parameter(message, parameter));
    }
}

fn operation(message: &mut Message, fields: &Map<String, Value>) {
    let field = |name: &str| fields.get(name).unwrap_or(&Value::Null);
    message.text(5, field("operationId"));
    message.texts(6, field("produces"));
    message.texts(7, field("consumes"));
    for parameter in field("parameters").as_array().into_iter().flatten() {
        message.message(8, |message| self::parameter(message, parameter));
    }
    message.message(9, |responses| {
        responses.named(1, field("responses"), |message, response| {
            message.message(1, |message| {
                message.text(1, &response["description"]);
                message.message(2, |item| item.message(1, |message| schema(message, &response["schema"])));
            });
        });
    });
    message.extensions(13, fields);
}

/// `ParametersItem`: each sort of parameter has a message of its own.
fn parameter(message: &mut Message, value: &Value) {
    message.message(1, |parameter| match value["in"].as_str() {
        Some("body") => parameter.message(1, |body| {
            body.text(2, &value["name"]);
            body.text(3, &value["in"]);
            body.boolean(4, &value["required"]);
            body.message(5, |message| schema(message, &value["schema"]));
        }),
        Some("path") => parameter.message(2, |other| {
            other.message(4, |path| {
                path.boolean(1, &value["required"]);
                path.text(2, &value["in"]);
                path.text(4, &value["name"]);
                path.text(5, &value["type"]);
                path.boolean(18, &value["uniqueItems"]);
            });
        }),
        _ => parameter.message(2, |other| {
            other.message(3, |query| {
                query.text(2, &value["in"]);
                query.text(4, &value["name"]);
                query.text(6, &value["type"]);
                query.boolean(20, &value["uniqueItems"]);
            });
        }),
    });
}

fn schema(message: &mut Message, value: &Value) {
    let Value::Object(fields) = value else { return };
    for (name, value) in fields {
        match name.as_str() {
            "$ref" => message.text(1, value),
            "format" => message.text(2, value),
            "title" => message.text(3, value),
            "description" => message.text(4, value),
            "multipleOf" => message.double(6, value),
            "maximum" => message.double(7, value),
            "exclusiveMaximum" => message.boolean(8, value),
            "minimum" => message.double(9, value),
            "exclusiveMinimum" => message.boolean(10, value),
            "maxLength" => message.integer(11, value),
            "minLength" => message.integer(12, value),
            "pattern" => message.text(13, value),
            "maxItems" => message.integer(14, value),
            "minItems" => message.integer(15, value),
            "uniqueItems" => message.boolean(16, value),
            "maxProperties" => message.integer(17, value),
            "minProperties" => message.integer(18, value),
            "required" => message.texts(19, value),
            "enum" => {
                value.as_array().into_iter().flatten().for_each(|one| message.message(20, |m| any(m, one)));
            }
            "additionalProperties" => message.message(21, |item| match value {
                Value::Bool(_) => item.boolean(2, value),
                _ => item.message(1, |message| schema(message, value)),
            }),
            "type" => message.message(22, |item| item.text(1, value)),
            "items" => message.message(23, |item| item.message(1, |message| schema(message, value))),
            "properties" => message.message(25, |message| message.named(1, value, schema)),
            "example" => message.message(30, |message| any(message, value)),
            _ => {}
        }
    }
    message.extensions(31, fields);
}
