use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use snapbox::{IntoData as _, assert_data_eq, str};
use tempfile::TempDir;

use super::*;

fn rendered(text: &str, variables: &Value) -> Result<String, String> {
    let folder = TempDir::new().unwrap();
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("part.txt"), "part of {{ name }}\n").unwrap();
    let file = folder.path().join("t.txt");
    fs::write(&file, text).unwrap();
    render(&file, &[shared], variables, &Arc::default()).map_err(|error| error.to_string())
}

/// Renders an expression.
fn shown(expression: &str) -> String {
    let variables = json!({"name": "web", "list": ["b", 1, 1.0, null, true], "map": {"a": {"b": "it's"}}});
    rendered(&format!("{{{{ {expression} }}}}"), &variables).unwrap_or_else(|error| error)
}

#[test]
fn blocks_are_trimmed_and_values_printed_as_in_python() {
    let text = "{% set x = [] %}\n  {% do x.append(1) %}\n{% for key, value in map.items() %}\n{{ key }}={{ value }} {{ list }}\n{% endfor %}\n{% include 'part.txt' %}\n\n";
    let variables = json!({"name": "web", "list": [1.0, null, true, "x"], "map": {"k": {"a": 1e20}}});
    assert_data_eq!(
        rendered(&text.replace("{% do x.append(1) %}", "{% do map.get('a') %}"), &variables).unwrap(),
        str![[r#"
k={'a': 1e+20} [1.0, None, True, 'x']
part of web
"#]]
        .raw()
    );
}

#[test]
fn assigned_lists_and_mappings_are_mutable() {
    for (text, expected) in [
        (
            "{% set l = [] %}{% for i in [1, 2] %}{% do l.append(i * 2) %}{% endfor %}{{ l }} {{ l | length }}",
            "[2, 4] 2",
        ),
        (
            "{%- set l = ['b'] -%} {% do l.extend(['a', 'c']) %}{% do l.insert(0, 'x') %}{{ l.pop() }}{{ l }}",
            "c['x', 'b', 'a']",
        ),
        (
            "{% set l = [] %}{% do l.append({'b': {'c': [1]}, 'a': 2}) %}{{ l }}",
            "[{'b': {'c': [1]}, 'a': 2}]",
        ),
        (
            "{% set l = [3, 1] %}{% do l.sort() %}{% do l.remove(3) %}{{ l }}{{ l.append(l) }}{{ l }}",
            "[1]None[1, [1]]",
        ),
        (
            "{% set d = {'b': 1} %}{% do d.update({'a': [2]}) %}{{ d }} {{ d.pop('b') }} {{ d.setdefault('c', 5) }} {{ d.items() | list }}",
            "{'b': 1, 'a': [2]} 1 5 [('a', [2]), ('c', 5)]",
        ),
        (
            "{% set l = [1, 2] + [3] %}{{ l }} {{ l[0] }} {{ l | join('-') }} {{ 2 in l }}",
            "[1, 2, 3] 1 1-2-3 True",
        ),
        ("{# {% set x = [] %} #}{% raw %}{% set x = [] %}{% endraw %}", "{% set x = [] %}"),
        ("{% for x in [1, 2] %}{{ loop.nextitem | default('-') }}{% endfor %}{{ ('a',) }}", "2-('a',)"),
    ] {
        assert_eq!(rendered(text, &json!({})).as_deref(), Ok(expected), "{text}");
    }
    let text = "{% set l = [1] %}{% for i in range(100000) %}{% for j in range(1000) %}{% do l.append(l) %}{% endfor %}{% endfor %}";
    assert!(rendered(text, &json!({})).is_err());
}

#[test]
fn texts_are_formatted_as_in_python() {
    for (expression, expected) in [
        ("'%s-%d' % ('a', 3)", "a-3"),
        ("'%s' % name", "web"),
        ("'%s' % name|upper + '!'", "WEB!"),
        (
            "'%5.2f|%-5s|%05d|%x|%X|%o|%%|%r' % (1.5, 'a', 42, 255, 255, 8, 'q')",
            " 1.50|a    |00042|ff|FF|10|%|'q'",
        ),
        ("'%s %s' % (list, map)", "['b', 1, 1.0, None, True] {'a': {'b': \"it's\"}}"),
        ("'%(a)s' % {'a': 1}", "1"),
        ("'%i %s %s' % (2.7, none, 1.0)", "2 None 1.0"),
        ("'%+d|%*d|%#x|%.3s' % (1, 5, 2, 255, 'abcdef')", "+1|    2|0xff|abc"),
        ("'x' if false else '%s' % true", "True"),
        ("'%d' % 'a'", "%d format: a real number is required, not string, at t.txt:1"),
        ("'%s %s' % 'a'", "not enough arguments for format string, at t.txt:1"),
        ("'a' % 1", "not all arguments converted during string formatting, at t.txt:1"),
        ("'%s' % nothing", "a value of the text is undefined, at t.txt:1"),
        ("'%1000000000d' % 1", "`1000000000` is no width up to 100000, at t.txt:1"),
        ("7 % 3", "1"),
        ("'a' if false", ""),
        ("'x' ~ ('a' if false)", "x"),
    ] {
        assert_eq!(shown(expression), expected, "{expression}");
    }
    let text = "{% set l = ['%}', '}}'] %}{% do l.append('{{') %}{{ l }}";
    assert_eq!(rendered(text, &json!({})).as_deref(), Ok("['%}', '}}', '{{']"));
}

// Row: D-451, D-452
#[test]
fn filters_convert_values() {
    let cases = [
        ("'a' | sha256", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
        ("'a' | b64encode | b64decode", "a"),
        ("map | yaml", "a:\n  b: it's\n"),
        ("{'a': 1} | toml", "a = 1\n"),
        ("{'b': 1.0, 'a': [true, none, '<é']} | tojson", r#"{"a": [true, null, "\u003c\u00e9"], "b": 1.0}"#),
        ("{'a': [1, {}]} | tojson(indent=1)", "{\n \"a\": [\n  1,\n  {}\n ]\n}"),
        ("[0] | tojson(indent=16)", "[\n                0\n]"),
        ("[[0]] | tojson(indent=17)", "the indent is larger than 16, at t.txt:1"),
        ("[[0]] | tojson(indent=9223372036854775808)", "the indent is larger than 16, at t.txt:1"),
        ("{'b': 1, 'a': 2}", "{'b': 1, 'a': 2}"),
        ("'yes' | bool", "True"),
        ("none | bool", "None"),
        ("'no' | bool | ternary('x', 'y')", "y"),
        ("none | ternary('x', 'y', 'z')", "z"),
        ("'2001-02-03 04:05:06' | to_datetime", "2001-02-03 04:05:06"),
        ("'%Y-%m-%d' | strftime(86400)", "1970-01-02"),
        ("'a1b22' | regex_replace('([a-z])(\\\\d+)', '\\\\2\\\\1')", "1a22b"),
        ("'A1' | regex_replace('a', 'b', ignorecase=true)", "b1"),
        ("'a.b' | regex_escape", "a\\.b"),
        ("'ab12' | regex_search('\\\\d+')", "12"),
        ("'ab12' | regex_search('(\\\\w)(\\\\d+)', '\\\\2')", "['12']"),
        ("'ab12' | regex_search('x')", "None"),
        ("'a1b2' | regex_findall('[a-z]')", "['a', 'b']"),
        ("'a1b2' | regex_findall('([a-z])(.)')", "[('a', '1'), ('b', '2')]"),
        (
            "[{'name': 'a', 'x': 1}, {'y': 2, 'name': 'a', 'a': [none]}] | merge_strategic",
            "[{'name': 'a', 'x': 1, 'y': 2, 'a': [None]}]",
        ),
        ("[1, 2, 3] | shuffle(7) | sort", "[1, 2, 3]"),
        ("list", "['b', 1, 1.0, None, True]"),
        ("map", "{'a': {'b': \"it's\"}}"),
        ("name.upper() + name.replace('w', 'v')", "WEBveb"),
        ("map.get('none', 'x')", "x"),
    ];
    for (expression, expected) in cases {
        assert_eq!(shown(expression), expected, "{expression}");
    }
}

#[test]
fn filters_and_methods_of_python_take_arguments_in_order() {
    let cases = [
        ("'x' | center(4) ~ '|' ~ 'x' | center | length", " x  |80"),
        ("{'B': 1, 'a': 2} | dictsort(true)", "[('B', 1), ('a', 2)]"),
        ("{'b': 1, 'a': 2} | dictsort(false, 'value')", "[('b', 1), ('a', 2)]"),
        ("[['b', 'A'] | min(true), [{'a': 1}, {'a': 5}] | max(attribute='a')]", "['A', {'a': 5}]"),
        ("[1, 3, 2] | sort(true)", "[3, 2, 1]"),
        ("['a', 'A'] | unique(true) | list", "['a', 'A']"),
        ("['a', 'A'] | unique(true, 'x', 'y')", "too many arguments, at t.txt:1"),
        ("'hello world foo' | truncate(9, true, '..')", "hello w.."),
        ("'one two  x-y' | wordcount", "4"),
        ("'<' | forceescape", "&lt;"),
        ("'é /?~' | urlencode", "%C3%A9%20/%3F~"),
        ("{'a b': 'c&d/', 'e': 1} | urlencode", "a+b=c%26d%2F&e=1"),
        ("[('x', 'y z')] | urlencode", "x=y+z"),
        ("['-7'.zfill(4), 'a'.ljust(2), 'a'.rjust(2, '*'), 'ab'.center(5)]", "['-007', 'a ', '*a', '  ab ']"),
        ("'a'.ljust(100001)", "the width is too large, at t.txt:1"),
        ("['a.b.c'.rsplit('.', 1), 'éx'.index('x')]", "[['a.b', 'c'], 1]"),
        ("'x'.index('y')", "substring not found, at t.txt:1"),
        ("['a-b-c'.partition('-'), 'a'.rpartition('-')]", "[('a', '-', 'b-c'), ('', '', 'a')]"),
        ("'abc'.removeprefix('a') ~ 'abc'.removesuffix('c')", "bcab"),
        ("list.index(none)", "3"),
    ];
    for (expression, expected) in cases {
        assert_eq!(shown(expression), expected, "{expression}");
    }
    let text = "{% set d = map.copy() %}{% do d.update({'c': 1}) %}{{ d }}{{ map }}";
    let expected = "{'a': 1, 'c': 1}{'a': 1}";
    assert_eq!(rendered(text, &json!({"map": {"a": 1}})).as_deref(), Ok(expected));
}

#[test]
fn errors_name_the_undefined_value_and_its_line() {
    assert_eq!(rendered("a\n{{ nothing }}", &json!({})).unwrap_err(), "`nothing` is undefined, at t.txt:2");
    assert_eq!(rendered("{{ a.b }}", &json!({"a": {}})).unwrap_err(), "`a.b` is undefined, at t.txt:1");
    assert_eq!(
        rendered("{% if nothing.x %}{% endif %}", &json!({})).unwrap_err(),
        "`nothing.x` is undefined, at t.txt:1"
    );
    assert_data_eq!(
        rendered("{% for %}", &json!({})).unwrap_err(),
        str!["unexpected end of block, expected in, at t.txt:1"]
    );
    assert_data_eq!(
        rendered("{% include '../x' %}", &json!({})).unwrap_err(),
        str!["tried to include non-existing template '../x', at t.txt:1"]
    );
}

// Row: D-451
#[test]
fn endless_templates_are_errors() {
    let text = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}";
    assert_data_eq!(
        rendered(text, &json!({})).unwrap_err(),
        str!["the template takes too many steps, at t.txt:1"]
    );
    let text = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}";
    assert_data_eq!(rendered(text, &json!({})).unwrap_err(), str!["recursion limit exceeded, at t.txt:1"]);
}
