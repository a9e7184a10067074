use std::collections::HashMap;

use proptest::prelude::*;
use snapbox::{assert_data_eq, str};

use super::{
    MissingVariables, NestedVariable, ParseError, RenderError, SubstitutionErrorKind, Template, TextPosition,
    Variable,
};

/// The values of the tables below; every other name is unset.
fn value(name: &str) -> Option<&'static str> {
    Some(match name {
        "HOST" => "registry.example.com",
        "FILE" => "/etc/pki/ca.tar.gz",
        "WORD" => "Straße",
        "EMPTY" => "",
        "TWO" => "2",
        "MINUS" => "-2",
        "GLOB" => "*.",
        "DOLLARS" => "$$ ${HOST}",
        "CLASSES" => "[x]y\\z",
        "Größe1" => "groß",
        "0_" => "zero",
        _ => return None,
    })
}

fn render(text: &str) -> Result<String, RenderError> {
    Template::parse(text).unwrap().render(&mut |name| value(name).map(Into::into))
}

fn faults(text: &str) -> Vec<(SubstitutionErrorKind, TextPosition, String)> {
    let ParseError { faults } = Template::parse(text).unwrap_err();
    faults.into_iter().map(|fault| (fault.kind, fault.position, fault.excerpt)).collect()
}

fn at(line: usize, column: usize) -> TextPosition {
    TextPosition { line, column }
}

#[track_caller]
fn same(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(render(text).as_deref(), Ok(*expected), "{text}");
    }
}

// Row: PRV-28
#[test]
fn a_name_becomes_its_value_and_nothing_else_changes() {
    same(&[
        ("${HOST}", "registry.example.com"),
        ("https://${HOST}/v2", "https://registry.example.com/v2"),
        ("${Größe1}${0_}", "großzero"),
        ("$HOST $(HOST) $ {HOST} {HOST} $", "$HOST $(HOST) $ {HOST} {HOST} $"),
        ("# ${EMPTY} in a comment", "#  in a comment"),
        ("a }} b \\${TWO} \\\\", "a }} b \\2 \\\\"),
        ("", ""),
    ]);
}

#[test]
fn a_value_is_never_substituted_again() {
    same(&[("${DOLLARS}", "$$ ${HOST}"), ("${NONE:=${DOLLARS}}", "$$ ${HOST}")]);
}

#[test]
fn two_dollars_escape_a_variable() {
    same(&[
        ("$$", "$"),
        ("$${HOST}", "${HOST}"),
        ("$$${TWO}", "$2"),
        ("$$$$", "$$"),
        ("$$$", "$$"),
        ("$$HOST", "$HOST"),
        ("$${NONE=${TWO}}", "${NONE=2}"),
        ("${NONE:=$$}", "$$"),
        ("${NONE:=\\\\}", "\\\\"),
    ]);
}

// Row: PRV-30
#[test]
fn every_default_form_replaces_unset_and_empty_values() {
    for operator in [":=", ":-", "=", ":?", ":+"] {
        for (name, expected) in [("NONE", "a-2 b"), ("EMPTY", "a-2 b"), ("WORD", "Straße")] {
            let text = format!("${{{name}{operator}a-${{TWO}} b}}");
            assert_eq!(render(&text).as_deref(), Ok(expected), "{text}");
        }
    }
    same(&[
        ("${NONE:=${NEITHER:=${HOST}}}", "registry.example.com"),
        ("${NONE:=x${UNSET}y}", "xy"),
        ("${NONE==x}", "=x"),
        ("${NONE:=\"\"}", "\"\""),
        ("${NONE:=$x}", "$x"),
        ("${NONE:={a: 1}}", "{a: 1}"),
        ("${TWO:={a: 1}}", "2}"),
    ]);
}

// Row: PRV-47
#[test]
fn white_space_around_a_plain_name_is_allowed() {
    same(&[
        ("${ TWO }${TWO }${ TWO}", "222"),
        ("${\n\tTWO\r\n}", "2"),
        ("${NONE:=${ TWO }}", "2"),
        ("$${ TWO }", "${TWO}"),
        ("$${ a$ } ", "${a$} "),
        ("$${ a b }", "${ a b }"),
    ]);
    assert_eq!(
        faults("${ TWO:=x }"),
        [(SubstitutionErrorKind::VariableName, at(1, 1), "${ TWO:=x }".into())]
    );
    assert_eq!(faults("${\u{b}TWO}")[0].0, SubstitutionErrorKind::VariableName);
}

// Row: PRV-31
#[test]
fn case_changes_map_each_character_to_one() {
    same(&[
        ("${WORD^^}", "STRAßE"),
        ("${WORD,,}", "straße"),
        ("${WORD,}", "straße"),
        ("${Größe1^}", "Groß"),
        ("${WORD^,}", "Straße"),
        ("${WORD,^}", "Straße"),
        ("${EMPTY^}${EMPTY,}${EMPTY^^}", ""),
    ]);
}

// Row: D-83
#[test]
fn a_name_may_contain_unicode_letters_and_numbers() {
    for name in ["Ⅷ", "x²", "a_๓"] {
        let text = format!("${{{name}}}");
        let result =
            Template::parse(&text).unwrap().render(&mut |lookups| (lookups == name).then(|| "v".into()));
        assert_eq!(result.as_deref(), Ok("v"), "{name}");
    }
}

// Row: D-84
#[test]
fn case_changes_use_simple_mappings() {
    for (text, letter, expected) in [
        ("${X,,}", "İ", "i"),
        ("${X^^}", "ß", "ß"),
        ("${X^^}", "ŉ", "ŉ"),
        ("${X^^}", "ﬁ", "ﬁ"),
        ("${X^^}", "ᾳ", "ᾼ"),
        ("${X^^}", "ᾐ", "ᾘ"),
        ("${X^^}", "ǆ", "Ǆ"),
        ("${X^}", "ǆ", "Ǆ"),
        // Unicode 16 has this letter; the Unicode version of drone/envsubst lacks it.
        ("${X,,}", "\u{a7cb}", "ɤ"),
    ] {
        let result = Template::parse(text).unwrap().render(&mut |_| Some(letter.into()));
        assert_eq!(result.as_deref(), Ok(expected), "{text} of {letter}");
    }
}

// Row: PRV-31
#[test]
fn length_and_substrings_count_bytes() {
    same(&[
        ("${#WORD}", "7"),
        ("${#EMPTY}", "0"),
        ("${FILE:5}", "pki/ca.tar.gz"),
        ("${FILE:5:3}", "pki"),
        ("${FILE:5::3}", "pki"),
        ("${FILE:0:100}", "/etc/pki/ca.tar.gz"),
        ("${FILE:100}", ""),
        ("${FILE:100:2}", ""),
        ("${FILE:5:0}", ""),
        ("${FILE:${MINUS}}", "gz"),
        ("${FILE:${MINUS}:1}", "g"),
        ("${TWO:${MINUS}}", "2"),
        ("${FILE:-5}", "/etc/pki/ca.tar.gz"),
        ("${FILE: -5}", "/etc/pki/ca.tar.gz"),
        ("${FILE:0-1}", "/etc/pki/ca.tar.gz"),
        ("${FILE:1:x}", "/etc/pki/ca.tar.gz"),
        ("${FILE:99999999999999999999}", "/etc/pki/ca.tar.gz"),
        ("${FILE:1:9223372036854775807}", "etc/pki/ca.tar.gz"),
        ("${TWO:5:${MINUS}}", ""),
    ]);
}

// Row: PRV-31
#[test]
fn prefixes_and_suffixes_are_removed_by_pattern() {
    same(&[
        ("${FILE#*/}", "etc/pki/ca.tar.gz"),
        ("${FILE##*/}", "ca.tar.gz"),
        ("${FILE%.*}", "/etc/pki/ca.tar"),
        ("${FILE%%.*}", "/etc/pki/ca"),
        ("${FILE#/etc}", "/pki/ca.tar.gz"),
        ("${FILE#etc}", "/etc/pki/ca.tar.gz"),
        ("${FILE#*}", "etc/pki/ca.tar.gz"),
        ("${FILE##*}", ""),
        ("${FILE#?[a-e]}", "tc/pki/ca.tar.gz"),
        ("${FILE#?[^a-d]*/[p]}", "ki/ca.tar.gz"),
        ("${FILE#/[!e]}", "tc/pki/ca.tar.gz"),
        ("${CLASSES#\\[x\\]}", "y\\z"),
        ("${CLASSES#[x]}", "[x]y\\z"),
        ("${HOST##${GLOB}}", "com"),
        ("${HOST#${EMPTY}}", "registry.example.com"),
        ("${HOST###x}", "registry.example.com"),
        ("${EMPTY#*}", ""),
    ]);
}

#[test]
fn a_malformed_pattern_removes_nothing() {
    same(&[
        ("${FILE#/[}", "/etc/pki/ca.tar.gz"),
        ("${FILE#/[]}", "/etc/pki/ca.tar.gz"),
        ("${FILE#/[a-]}", "/etc/pki/ca.tar.gz"),
        ("${FILE#/etc\\}", "/etc/pki/ca.tar.gz"),
        ("${FILE##x[}", "/etc/pki/ca.tar.gz"),
        ("${FILE##*/[}", "/etc/pki/ca.tar.gz"),
        ("${FILE%[}", "/etc/pki/ca.tar.gz"),
    ]);
}

#[test]
fn suffix_patterns_match_backwards() {
    same(&[
        ("${FILE%[a-z]}", "/etc/pki/ca.tar.gz"),
        ("${FILE%]z[}", "/etc/pki/ca.tar.g"),
        ("${CLASSES%z\\}", "[x]y\\"),
        ("${WORD%aß?}", "Str"),
        // The reversed pattern matches half of the last remaining character; the other half is lost.
        ("${WORD%?e}", "Stra\u{fffd}"),
    ]);
}

// Row: PRV-31
#[test]
fn replacements_match_text_and_not_patterns() {
    same(&[
        ("${HOST/e/E}", "rEgistry.example.com"),
        ("${HOST//e/E}", "rEgistry.ExamplE.com"),
        ("${HOST/#reg/g}", "gistry.example.com"),
        ("${HOST/#xeg/g}", "registry.example.com"),
        ("${HOST/%com/org}", "registry.example.org"),
        ("${HOST/%org/com}", "registry.example.com"),
        ("${HOST//./}", "registryexamplecom"),
        ("${HOST/#reg/}", "registry.example.com"),
        ("${HOST/%com/}", "registry.example.com"),
        ("${HOST/#reg/${EMPTY}}", "istry.example.com"),
        ("${HOST/*/x}", "registry.example.com"),
        ("${FILE//\\//-}", "-etc-pki-ca.tar.gz"),
        ("${FILE/etc///opt/x}", "/opt/x/pki/ca.tar.gz"),
        ("${FILE/etc/a\\\\b\\c$$d}", "/a\\b\\c$d/pki/ca.tar.gz"),
        ("${DOLLARS/$$$$/E}", "E ${HOST}"),
        ("${TWO//${EMPTY}/-}", "-2-"),
        ("${TWO/${EMPTY}/-}", "-2"),
        ("${TWO/%${EMPTY}/-}", "2-"),
        ("${HOST/${NONE:=.}/${TWO}}", "registry2example.com"),
    ]);
}

#[test]
fn a_replacement_without_its_second_slash_extends_to_the_next() {
    same(&[("a: ${TWO/2} b/c} d", "a: 2 d"), ("a: ${TWO/2/5} b/c} d", "a: 5 b/c} d")]);
    assert_eq!(faults("a: ${TWO/2} b")[0].0, SubstitutionErrorKind::BadSubstitution);
}

// Row: D-40
#[test]
fn text_ends_at_a_nul_character() {
    same(&[("a ${TWO}\0 ${", "a 2")]);
    assert_eq!(faults("${TWO:=x\0}"), [(SubstitutionErrorKind::Argument, at(1, 1), "${TWO:=x".into())]);
}

// Row: D-37
#[test]
fn a_negative_length_is_an_error_with_its_position() {
    let error = render("a: b\n  ${FILE:3:${MINUS}}").unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["`${FILE:3:${MINUS}` at line 2, column 3 requests a substring of -2 bytes"]
    );
}

// Row: D-38
#[test]
fn half_a_character_is_an_error_unless_completed() {
    let error = render("é ${WORD:0:5}").unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["`${WORD:0:5}` at line 1, column 3 splits a character of its value"]
    );
    same(&[
        ("${WORD:0:5}${WORD:5}", "Straße"),
        ("${NONE:=${WORD:0:5}${WORD:5}}", "Straße"),
        ("${HOST/${WORD:0:5}/x}", "registry.example.com"),
        ("${WORD//${WORD:4:2}/ss}", "Strasse"),
    ]);
}

// Row: PRV-29
#[test]
fn every_missing_variable_is_named_with_its_lines() {
    let text = "b: ${B}\na: ${A:=${C}}${ A }\n  ${B} ${B^^} ${D/x/y} ${Z}${HOST}";
    let error = render(text).unwrap_err();
    assert_data_eq!(error.to_string(), str!["variables not set: `B` (line 1, 3), `Z` (line 3)"]);
    let RenderError::Missing(MissingVariables { variables }) = error else { panic!("{error}") };
    assert_eq!(variables[0].positions, [at(1, 4), at(3, 3), at(3, 8)]);
    assert_eq!(variables[1].positions, [at(3, 24)]);
}

#[test]
fn the_first_use_of_a_variable_decides_if_it_is_required() {
    same(&[("[${N:=x}${N}]", "[x]"), ("[${N:2}]", "[]"), ("[${N/a/b}]", "[]"), ("[${N%y}]", "[]")]);
    for text in ["${N}${N:=x}", "${N:=}", "${N:-}", "${N^^}", "${#N}"] {
        assert!(matches!(render(text), Err(RenderError::Missing(_))), "{text}");
    }
    assert_eq!(render("${EMPTY}").as_deref(), Ok(""), "an empty value is a value");
}

// Row: PRV-32
#[test]
fn variables_are_listed_in_text_order_with_positions() {
    let text = "${B:=1-${ C }-${D:=${E}}}\n${A} ${B}\n${F/\\/a/$$b} ${D} ${C:${G}:3}x${G}";
    let variables = Template::parse(text).unwrap().variables();
    let variable = |name: &str, default: Option<&str>, places: &[TextPosition]| Variable {
        name: name.into(),
        default: default.map(Into::into),
        positions: places.to_vec(),
    };
    assert_eq!(
        variables.top_level,
        [
            variable("B", Some("1-${C}-${D}"), &[at(1, 1), at(2, 6)]),
            variable("A", None, &[at(2, 1)]),
            variable("F", Some("/a$b"), &[at(3, 1)]),
            variable("D", None, &[at(3, 14)]),
            variable("C", Some("${G}3"), &[at(3, 19)]),
            variable("G", None, &[at(3, 31)]),
        ]
    );
    assert_eq!(variables.nested, [NestedVariable { name: "E".into(), positions: vec![at(1, 20)] }]);
    assert!(variables.top_level[1].is_required() && !variables.top_level[0].is_required());
}

#[test]
fn invalid_substitutions_are_refused_by_kind() {
    use SubstitutionErrorKind::{Argument, BadSubstitution, MissingClosingBrace, VariableName};
    for (text, kind) in [
        ("${V", MissingClosingBrace),
        ("${V.x}", MissingClosingBrace),
        ("${V-x}", MissingClosingBrace),
        ("${V+x}", MissingClosingBrace),
        ("${V[@]}", MissingClosingBrace),
        ("${V$W}", MissingClosingBrace),
        ("${", VariableName),
        ("${}", VariableName),
        ("${!V}", VariableName),
        ("${${V}}", VariableName),
        ("${V:=x", Argument),
        ("${V:=x${W}", Argument),
        ("${V#}", Argument),
        ("${V:}", Argument),
        ("${V::1}", Argument),
        ("${V:1:}", Argument),
        ("${V///x}", Argument),
        ("${V/x}", BadSubstitution),
        ("${V/x${W}/y}", BadSubstitution),
        ("${V#x${W}}", BadSubstitution),
        ("${V:1${W}}", BadSubstitution),
        ("${V:é}", BadSubstitution),
        ("${V^x}", BadSubstitution),
        ("${V^^^}", BadSubstitution),
        ("${#V:1}", BadSubstitution),
        ("${#}", BadSubstitution),
        ("${##V}", BadSubstitution),
    ] {
        assert_eq!(faults(text)[0].0, kind, "{text}");
    }
}

// Row: D-41
#[test]
fn all_faults_are_reported_with_the_text_at_fault() {
    let text = "é: ${ok} ${V.x}\nb: ${ W }${X:=${Y-z} ${fine}}\n${}";
    assert_eq!(
        faults(text),
        [
            (SubstitutionErrorKind::MissingClosingBrace, at(1, 10), "${V.x}".into()),
            (SubstitutionErrorKind::MissingClosingBrace, at(2, 15), "${Y-z}".into()),
            (SubstitutionErrorKind::VariableName, at(3, 1), "${}".into()),
        ]
    );
    let one = Template::parse("a: ${V.x}").unwrap_err();
    assert_data_eq!(
        one.to_string(),
        str![
            "cannot read the substitution `${V.x}` at line 1, column 4: expected `}` or an operator after the name"
        ]
    );
    assert_eq!(faults(&"${}".repeat(1000)).len(), ParseError::MAX_FAULTS);
    assert_eq!(faults(&format!("${{{}", "x-".repeat(100)))[0].2.chars().count(), 61);
}

// Row: D-85
#[test]
fn oversized_replacements_are_an_error_with_a_position() {
    let long = "a".repeat(100_000);
    let template = Template::parse("x: ${A//a/${A//a/${A}}}").unwrap();
    let error = template.render(&mut |_| Some(long.as_str().into())).unwrap_err();
    let RenderError::TooLong { at: place, written, .. } = error else { panic!("{error}") };
    assert_eq!((place, written.as_str()), (at(1, 11), "${A//a/${A}"));
}

// Row: D-262
#[test]
fn patterns_with_several_stars_have_a_step_limit() {
    let long = "/".repeat(100_000);
    for text in ["x: ${A##*x*/}", "x: ${A%%/*x*}", "x: ${A#*?*x*/}"] {
        let template = Template::parse(text).unwrap();
        let error = template.render(&mut |_| Some(long.as_str().into())).unwrap_err();
        let RenderError::PatternTooSlow { at: place, .. } = error else { panic!("{error}") };
        assert_eq!(place, at(1, 4));
    }
    let honest = "${A##*/}${A%%/*}".repeat(50);
    let honest = Template::parse(&honest).unwrap();
    assert_eq!(honest.render(&mut |_| Some(long.as_str().into())).unwrap(), "");
}

// Row: D-39
#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| format!("{}x{}", "${A:=".repeat(depth), "}".repeat(depth));
    assert_eq!(render(&nested(super::MAX_DEPTH)).as_deref(), Ok("x"));
    assert_eq!(faults(&nested(super::MAX_DEPTH + 1))[0].0, SubstitutionErrorKind::TooDeep);
    assert_eq!(faults(&"${A:=".repeat(100_000))[0].0, SubstitutionErrorKind::TooDeep);
}

#[test]
fn each_name_is_looked_up_once() {
    let mut lookups = HashMap::<String, usize>::new();
    let template = Template::parse("${A:=${B}${A}} ${B:=x} ${A}").unwrap();
    let text = template.render(&mut |name| {
        *lookups.entry(name.into()).or_default() += 1;
        None
    });
    assert_eq!(text.as_deref(), Ok(" x "));
    assert_eq!(lookups, HashMap::from([("A".into(), 1), ("B".into(), 1)]));
}

/// Generates texts that likely contain valid and invalid substitutions.
fn template_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,3}",
        proptest::sample::select(
            [
                "${", "}", "$", "$$", "A", "B", ":", "=", "/", "#", "%", "^", ",", "\\", "-", "1", " ", "*",
                "[", "]", "\n", "\0", "é"
            ]
            .as_slice()
        )
        .prop_map(str::to_owned),
        Just("${A}".to_owned()),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_rendered_or_refused(text in template_text(), a in "\\PC{0,8}", b in "[-0-9*?\\[\\]é]{0,4}") {
        if let Ok(template) = Template::parse(&text) {
            let names = template.variables();
            let result = template.render(&mut |name| Some(if name == "A" { &a } else { &b }.into()));
            prop_assert!(!matches!(result, Err(RenderError::Missing(_))));
            let unset = template.render(&mut |_| None);
            let required = names.top_level.iter().any(Variable::is_required);
            prop_assert_eq!(matches!(unset, Err(RenderError::Missing(_))), required);
        }
    }

    #[test]
    fn a_text_without_dollars_stays_as_it_is(text in "[^$\0]*") {
        prop_assert_eq!(render(&text).unwrap(), text);
    }

    #[test]
    fn doubled_dollars_escape_any_text(text in template_text()) {
        // A legacy name loses its white space even if escaped, and a NUL ends the text.
        let text: String = text.chars().filter(|c| *c != '\0' && !c.is_ascii_whitespace()).collect();
        prop_assert_eq!(render(&text.replace('$', "$$")).unwrap(), text);
    }

    #[test]
    fn positions_point_at_the_dollar(text in template_text()) {
        let Ok(template) = Template::parse(&text) else { return Ok(()) };
        for place in template.variables().top_level.iter().flat_map(|variable| &variable.positions) {
            let line = text.split('\n').nth(place.line - 1).unwrap();
            let rest: String = line.chars().skip(place.column - 1).take(2).collect();
            prop_assert_eq!(rest, "${");
        }
    }
}

#[test]
fn a_marked_text_has_a_mark_for_each_outermost_substitution() {
    let text = "a: ${A}\nb: x${B:=d}y${C:=${D}}${ E }\n$${F} $G ${H/a/b} ";
    let marked = Template::parse(text).unwrap().mark(&|name| format!("<{name}>"));
    assert_eq!(marked, "a: <A>\nb: x<B>y<C><E>\n$${F} $G <H> ".replace("$${F}", "${F}"));
}

// Row: CMP-52
#[test]
fn components_have_all_functions() {
    use super::Dialect;
    for (text, expected) in [
        ("${WORD^} ${WORD^^} ${WORD,} ${WORD,,}", "Straße STRAßE straße straße"),
        ("${#WORD} ${FILE:5} ${FILE:5:3}", "7 pki/ca.tar.gz pki"),
        ("${NONE=a} ${NONE:=b} ${NONE:-${TWO}} ${EMPTY:-c} ${TWO:-d}", "a b 2 c 2"),
        ("${FILE#*/} ${FILE##*/}", "etc/pki/ca.tar.gz ca.tar.gz"),
        ("${FILE%.*} ${FILE%%.*}", "/etc/pki/ca.tar /etc/pki/ca"),
        ("${HOST/e/E} ${HOST//e/E}", "rEgistry.example.com rEgistry.ExamplE.com"),
        ("${HOST/#registry/r} ${HOST/%com/org}", "r.example.com registry.example.org"),
        ("${NONE} $$${TWO} $${TWO} $TWO", " $2 ${TWO} $TWO"),
    ] {
        let template = Template::parse_in(text, Dialect::Components).unwrap();
        let result = template.render(&mut |name| Some(value(name).unwrap_or_default().into()));
        assert_eq!(result.as_deref(), Ok(expected), "{text}");
    }
    for text in ["${TWO-a}", "${TWO+a}", "${", "${}"] {
        assert!(Template::parse_in(text, Dialect::Components).is_err(), "{text}");
    }
}

#[test]
fn components_escape_backslashes_and_have_no_spaced_names() {
    use super::Dialect;
    let render = |text| {
        let template = Template::parse_in(text, Dialect::Components)?;
        Ok::<_, ParseError>(template.render(&mut |_| Some("v".into())).unwrap())
    };
    for (text, expected) in [
        (r"a\\b", r"a\b"),
        (r"a\/b", "a/b"),
        (r"a\nb \", r"a\nb \"),
        (r"\\${X}", r"\v"),
        ("$${X} $X", "${X} $X"),
    ] {
        assert_eq!(render(text).unwrap(), expected, "{text}");
    }
    assert!(render("${ X }").is_err());
    let cluster = Template::parse(r"a\\b ${ X }").unwrap();
    assert_eq!(cluster.render(&mut |_| Some("v".into())).unwrap(), r"a\\b v");
}
