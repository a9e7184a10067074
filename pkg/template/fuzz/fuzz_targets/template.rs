#![no_main]
//! Every text parses or fails, and what parses renders or fails within its limits.

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use template::{Functions, Limits, Session, Settings, Templates, Value};

static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| {
    let mut functions = Functions::helm();
    // They take seconds, which is their purpose.
    for slow in ["genPrivateKey", "genCA", "genSelfSignedCert", "genSignedCert", "bcrypt", "htpasswd", "derivePassword"]
    {
        functions.remove(slow);
    }
    Arc::new(functions)
});

fuzz_target!(|text: &str| {
    let mut templates = Templates::new("set", FUNCTIONS.clone());
    if templates.parse("t", text).is_err() {
        return;
    }
    let limits = Limits { depth: 100, steps: 20_000, output_bytes: 1 << 20, created_bytes: 16 << 20 };
    let settings = Settings { limits, trace: true, seed: Some(1), ..Settings::helm() };
    let data = Value::map([
        ("name", Value::from("web")),
        ("count", Value::Float(3.0)),
        ("list", Value::strings(["a", "b"])),
        ("map", Value::map([("k", Value::Nil), ("t", Value::Bool(true))])),
    ]);
    let Ok(output) = templates.render("t", &data, &mut Session::new(settings)) else { return };
    let mut end = 0;
    for span in output.spans {
        assert_eq!(span.output.start, end, "spans follow each other");
        end = span.output.end;
    }
    assert_eq!(end, output.bytes.len(), "spans cover the output");
});
