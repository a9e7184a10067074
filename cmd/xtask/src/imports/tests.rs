use super::*;

/// The imports of a crate with these files, as `from > to`.
fn imports_in<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
    let mut all =
        vec![crate::workspace::TextFile { path: "pkg/a/Cargo.toml".to_owned(), text: String::new() }];
    all.extend(files.map(|(path, text)| crate::workspace::TextFile {
        path: format!("pkg/a/src/{path}"),
        text: text.to_owned(),
    }));
    let workspace = Workspace::new(all);
    let crates = Imports::of_crates(&workspace);
    let imports = &crates["pkg/a"];
    let of_module = |id: ModuleId| {
        imports.imports_of(id).iter().map(move |to| format!("{} > {}", imports.name(id), imports.name(*to)))
    };
    imports.modules().flat_map(of_module).collect()
}

#[test]
fn trees_and_inline_paths_are_imports() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "use crate::{b::{self, Item as Other}, r#move};\nfn f() { crate::c::run(); }\n"),
        ("b.rs", "pub(in crate::c) struct Item;\nfn f() { super::c::X::new(std::io::stdin()) }\n"),
        ("c.rs", "pub struct X;\nimpl X { fn f(x: impl Iterator) -> impl Sized + use<> {} }\n"),
        ("move.rs", "struct A;\n"),
    ];
    assert_eq!(imports_in(files), ["a > b", "a > c", "a > move", "b > c"]);
}

#[test]
fn a_reexport_resolves_to_the_defining_module() {
    let files = [
        ("lib.rs", "mod a;\nmod list;\npub use list::Item;\npub use serde_json::Value;\n"),
        ("a.rs", "use crate::{Item, Value};\nuse crate::list::{Other, run as go};\n"),
        ("list.rs", "mod inner;\nmod more;\npub use inner::{Item, Deep as Other};\npub use self::more::*;\n"),
        ("list/inner.rs", "pub struct Item;\npub enum Deep {}\n"),
        ("list/more.rs", "pub fn run() {}\n"),
    ];
    assert_eq!(imports_in(files), ["a > list/inner", "a > list/more"]);
}

#[test]
fn a_reexport_that_its_module_uses_is_an_import() {
    let files = [
        ("lib.rs", "mod list;\n"),
        ("list.rs", "mod inner;\npub use inner::{Item, Other};\nfn f(item: Item) { inner::run() }\n"),
        ("list/inner.rs", "use super::helper;\npub struct Item;\npub struct Other;\n"),
    ];
    assert_eq!(imports_in(files), ["list > list/inner", "list/inner > list"]);
}

#[test]
fn glob_imports_are_followed() {
    let files = [
        ("lib.rs", "mod a;\nmod list;\n"),
        ("a.rs", "use super::list::*;\nfn f(item: Item) {}\n"),
        ("list.rs", "use crate::deep::Item;\npub struct Unused;\n"),
        ("deep.rs", "pub struct Item;\n"),
    ];
    assert_eq!(imports_in(files), ["a > deep", "list > deep"]);
}

#[test]
fn imports_of_tests_do_not_count() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "#[cfg(test)]\nuse crate::b::X;\n#[cfg(test)]\nmod tests { use crate::b::Y; }\nfn f() {}\n"),
        ("b.rs", "#[cfg(test)]\nmod fakes;\nfn f() {}\n"),
        ("b/fakes.rs", "use crate::a::f;\n"),
    ];
    assert_eq!(imports_in(files), Vec::<String>::new());
}
