use super::*;

fn source(text: &str) -> RustSource<'_> {
    RustSource::new("pkg/a/src/lib.rs", text, &BTreeSet::new())
}

#[test]
fn comments_and_literals_are_not_code() {
    let text = r##"
// std::env in a comment /* not opened
/* std::env /* nested */ std::env */
let a = "std::env \" std::env";
let b = r#"std::env " std::env"#;
let c = b"std::env"; let d = br"std::env\"; let q = '"'; let e = '\''; let f: &'static str = x;
"##;
    assert_eq!(source(text).uses_of("std", "env"), Vec::<usize>::new());
    assert!(source(text).code.contains("let f: &'static str = x;"));
}

#[test]
fn a_mask_keeps_every_position() {
    let text = "let ü = \"ü\"; // ü\nfn ä() {}\n";
    let masked = source(text).code;
    assert_eq!(masked.len(), text.len());
    assert_eq!(masked.find("fn"), text.find("fn"));
}

#[test]
fn a_module_is_found_alone_and_in_a_list() {
    let text = "use std::{\n    io,\n    env::vars,\n    fs,\n};\nfn a() { std::env::var(\"A\"); std::environment(); }\n";
    assert_eq!(source(text).uses_of("std", "env"), [6, 3]);
    assert_eq!(source(text).uses_of("std", "fs"), [4]);
    assert_eq!(source(text).uses_of("std", "net"), Vec::<usize>::new());
}

#[test]
fn test_only_code_is_not_product_code() {
    let text = "use std::io;\n#[cfg(test)]\nmod tests {\n    use std::env;\n}\nuse std::fs;\n";
    assert_eq!(source(text).uses_of("std", "env"), Vec::<usize>::new());
    assert_eq!(source(text).uses_of("std", "fs"), [6]);
}

#[test]
fn a_test_only_module_file_is_not_product_code() {
    let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
    let files = [
        file("pkg/a/src/b.rs", "#[cfg(test)]\nmod fakes;\n"),
        file("pkg/a/src/b/fakes.rs", "use std::env;\n"),
    ];
    let modules = RustSource::test_only_modules(&files);
    assert_eq!(modules, BTreeSet::from(["pkg/a/src/b/fakes".to_owned()]));
    assert_eq!(RustSource::new(&files[1].path, &files[1].text, &modules).product, "");
}

#[test]
fn a_function_is_measured_to_its_closing_brace() {
    let text = "trait A {\n    fn declared(&self);\n}\nfn long() {\n    if x {\n    }\n    \"}\";\n}\n";
    assert_eq!(source(text).functions(), [Function { name: "long", line: 4, lines: 5 }]);
}

#[test]
fn test_lines_are_not_product_lines() {
    let text =
        "fn a() {}\n#[cfg(test)]\nmod fakes;\nfn b() {}\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
    assert_eq!(source(text).product_lines(), 3);
    assert_eq!(RustSource::new("pkg/a/src/b/tests.rs", text, &BTreeSet::new()).product_lines(), 0);
    assert_eq!(RustSource::new("test/a/src/b.rs", text, &BTreeSet::new()).product_lines(), 0);
    let modules = BTreeSet::from(["pkg/a/src/fakes".to_owned()]);
    for (path, lines) in [("pkg/a/src/fakes.rs", 0), ("pkg/a/src/fakes/b.rs", 0), ("pkg/a/src/fakes_b.rs", 3)]
    {
        assert_eq!(RustSource::new(path, text, &modules).product_lines(), lines, "{path}");
    }
}
