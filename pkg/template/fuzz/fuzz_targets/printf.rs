#![no_main]
//! Every format prints values of every type.

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use template::{Functions, Session, Settings, Templates, Value};

static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    let mut templates = Templates::new("set", Arc::new(Functions::text()));
    let text = "{{ printf .format .float .int .text nil .list .map true }}";
    templates.parse("t", text).expect("a valid template");
    templates
});

fuzz_target!(|input: (&[u8], f64, i64, &[u8])| {
    let (format, float, int, text) = input;
    let data = Value::map([
        ("format", Value::string(format)),
        ("float", Value::Float(float)),
        ("int", Value::Int(int)),
        ("text", Value::string(text)),
        ("list", Value::strings(["a", "é"])),
        ("map", Value::map([("k", Value::Nil)])),
    ]);
    let _ = TEMPLATES.render("t", &data, &mut Session::new(Settings::default()));
});
