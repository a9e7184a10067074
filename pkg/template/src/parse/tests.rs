//! Properties of the parser and of `printf`: any text parses or fails, and nothing panics.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use crate::{Functions, Session, Settings, Templates, Value};

static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| Arc::new(Functions::helm()));

/// Pieces that occur in templates.
const PIECES: [&str; 40] = [
    "{{",
    "}}",
    "{{-",
    "-}}",
    "if",
    "else",
    "end",
    "range",
    "with",
    "define",
    "block",
    "template",
    "break",
    "continue",
    ".",
    ".name",
    "$x",
    ":=",
    "=",
    "|",
    "(",
    ")",
    "\"s\"",
    "`r`",
    "5",
    "1.5",
    "'a'",
    "nil",
    "printf",
    "len",
    "$",
    ",",
    " ",
    "\n",
    "{{/* c */}}",
    "{{ end }}",
    "é",
    "include",
    "{{ range .list }}",
    "\"%+05.2[1]*v\"",
];

fn run(text: &str) {
    let mut templates = Templates::new("set", FUNCTIONS.clone());
    if templates.parse("t", text).is_ok() {
        let mut settings = Settings::helm();
        settings.limits.steps = 10_000;
        settings.limits.depth = 50;
        let data = Value::map([("name", Value::from("n")), ("list", Value::strings(["a", "b"]))]);
        let _ = templates.render("t", &data, &mut Session::new(settings));
    }
}

proptest! {
    #[test]
    fn any_text_parses_or_fails(text in "\\PC*") {
        run(&text);
        run(&format!("{{{{ {text} }}}}"));
    }

    #[test]
    fn any_pieces_parse_or_fail(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12)) {
        run(&pieces.concat());
        run(&format!("{{{{ {} }}}}", pieces.join(" ")));
    }

    #[test]
    fn any_format_prints(format in "[%a-zA-Z0-9+# .*\\[\\]-]*", number in any::<f64>(), integer in any::<i64>()) {
        let args = [Value::Float(number), Value::Int(integer), Value::from("é"), Value::Nil, Value::strings(["x"])];
        let _ = crate::format::sprintf(format.as_bytes(), &args, 1 << 20);
    }
}
