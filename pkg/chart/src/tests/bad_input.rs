//! Charts that must be refused without harm.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::{chart, render};
use crate::{ArchiveError, Chart, ChartError, Limit, MetadataError, Problem, Values};

fn packed(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, kind, content) in entries {
        let mut header = Header::new_gnu();
        // `set_path` refuses what these tests need.
        header.as_gnu_mut().expect("a header of GNU").name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, *content).expect("an entry");
    }
    archive.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

fn refused(entries: &[(&str, EntryType, &[u8])]) -> ArchiveError {
    match Chart::from_archive(&packed(entries)) {
        Err(ChartError::Archive(error)) => error,
        other => panic!("expected an error of the archive, got {other:?}"),
    }
}

const METADATA: &[u8] = b"{apiVersion: v2, name: web, version: 1.0.0}";

#[test]
fn an_archive_is_read_with_its_subcharts() {
    let inner =
        packed(&[("db/Chart.yaml", EntryType::Regular, b"{apiVersion: v2, name: db, version: 1.0.0}")]);
    let bytes = packed(&[
        ("web/Chart.yaml", EntryType::Regular, METADATA),
        ("web/templates/a.yaml", EntryType::Regular, b"a: {{ .Subcharts | keys }}"),
        ("web/charts/db-1.0.0.tgz", EntryType::Regular, &inner),
    ]);
    let chart = Chart::from_archive(&bytes).expect("a chart");
    let rendered = chart.render(&Values::default(), &super::options()).expect("a rendered chart");
    assert_eq!(rendered.manifests[0].content, "a: [db]");
}

// Row: D-388
#[test]
fn archives_that_climb_link_or_lack_a_folder_are_refused() {
    let file = EntryType::Regular;
    assert!(matches!(refused(&[("web/../../x", file, b"")]), ArchiveError::ParentDirectory { .. }));
    assert!(matches!(refused(&[("web//etc/passwd", file, b"")]), ArchiveError::AbsolutePath { .. }));
    assert!(matches!(refused(&[("web/c:/x", file, b"")]), ArchiveError::IllegalName { .. }));
    assert!(matches!(refused(&[("x", file, b"")]), ArchiveError::OutsideBase { .. }));
    assert!(matches!(refused(&[("Chart.yaml", file, METADATA)]), ArchiveError::ChartFileOutsideBase));
    assert!(matches!(refused(&[("web/x", EntryType::Symlink, b"")]), ArchiveError::Link { .. }));
    assert!(matches!(refused(&[]), ArchiveError::Empty));
    let large = vec![0; 6 << 20];
    assert!(matches!(refused(&[("web/x", file, &large)]), ArchiveError::FileTooLarge { .. }));
    assert!(matches!(Chart::from_archive(b"text"), Err(ChartError::Archive(ArchiveError::NotGzip))));
    let cut = &packed(&[("web/Chart.yaml", file, METADATA)])[..40];
    assert!(matches!(Chart::from_archive(cut), Err(ChartError::Archive(ArchiveError::Unreadable(_)))));
}

// Row: D-564
#[test]
fn a_damaged_archive_is_refused() {
    let good = packed(&[("web/Chart.yaml", EntryType::Regular, METADATA)]);
    let is_refused = |bytes: &[u8]| match Chart::from_archive(bytes) {
        Err(ChartError::Archive(ArchiveError::Unreadable(_))) => true,
        Err(other) => panic!("{other:?}"),
        Ok(_) => false,
    };
    assert!(!is_refused(&good));
    let mut damaged = good.clone();
    let checksum = good.len() - 8;
    damaged[checksum] ^= 1;
    assert!(is_refused(&damaged));
    assert!(!is_refused(&[&*good, b"more"].concat()));
}

#[test]
fn an_archive_that_unpacks_without_end_is_refused() {
    let mut bytes = GzEncoder::new(Vec::new(), Compression::fast());
    let mut header = Header::new_gnu();
    header.set_path("web/Chart.yaml").expect("a path");
    header.set_size(1 << 40);
    header.set_cksum();
    bytes.write_all(header.as_bytes()).expect("a header");
    let bytes = bytes.finish().expect("an archive");
    assert!(matches!(Chart::from_archive(&bytes), Err(ChartError::Archive(ArchiveError::TooLarge { .. }))));
}

#[test]
fn files_that_are_no_chart_are_refused_with_the_reason() {
    let metadata = |text: &str| match chart(&[("Chart.yaml", text)]) {
        Err(ChartError::Metadata(error)) => error,
        other => panic!("expected an error of the metadata, got {other:?}"),
    };
    assert_eq!(metadata("name: web"), MetadataError::Missing("version"));
    assert_eq!(metadata("{name: web, version: x}"), MetadataError::InvalidVersion("x".to_owned()));
    assert_eq!(metadata("{name: a/b, version: '1'}"), MetadataError::InvalidName("a/b".to_owned()));
    let twice = "{name: web, version: '1', dependencies: [{name: a}, {name: b, alias: a}]}";
    assert_eq!(metadata(twice), MetadataError::DuplicateDependency("a".to_owned()));
    assert!(matches!(chart(&[("Chart.yaml", "[1]")]), Err(ChartError::Field { .. })));
    assert!(matches!(chart(&[("values.yaml", "- 1")]), Err(ChartError::Values(_))));
    match Chart::from_files([crate::ChartFile::new("chart.yml", "")]) {
        Err(ChartError::NoChartFile { near }) => assert_eq!(near, ["chart.yml"]),
        other => panic!("expected an error, got {other:?}"),
    }
}

#[test]
fn missing_dependencies_are_named_together() {
    let text = "{name: web, version: '1', dependencies: [{name: a}, {name: db}, {name: b}]}";
    let files = [("Chart.yaml", text), ("charts/db/Chart.yaml", "{name: db, version: '1'}")];
    match render(&files, &[]) {
        Err(ChartError::MissingDependencies { names, present }) => {
            assert_eq!((names, present), (vec!["a".to_owned(), "b".to_owned()], vec!["db".to_owned()]));
        }
        other => panic!("expected an error, got {other:?}"),
    }
}

// Row: D-556
#[test]
fn templates_without_end_are_refused_at_their_line() {
    let position = |template: &str| match render(&[("templates/a.yaml", template)], &[]) {
        Err(ChartError::Template { position: Some(position), .. }) => *position,
        other => panic!("expected an error, got {other:?}"),
    };
    let looped = position("\n{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}");
    assert_eq!((looped.line, looped.file.as_str()), (2, "web/templates/a.yaml"));
    let defined = position("{{ define \"x\" }}{{ template \"x\" }}{{ end }}\n{{ template \"x\" }}");
    assert!(matches!(defined.problem, Problem::Limit(Limit::Depth(2_000))), "{defined:?}");
    let nested =
        position("{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t \"Template\" .Template) }}");
    assert!(matches!(nested.problem, Problem::Limit(Limit::Depth(_))), "{nested:?}");
    let long = position("{{ range until 100000 }}{{ repeat 10000 \"x\" }}{{ end }}");
    assert!(matches!(long.problem, Problem::Limit(_)), "{long:?}");
    let nil = position("\n\n{{ .Values.image.tag }}");
    assert_eq!((nil.line, nil.column), (3, Some(10)));
}

#[test]
fn all_values_that_templates_require_are_named() {
    let files = [
        (
            "templates/b.yaml",
            "b: {{ required \"need b\" .Values.b }}\nc: {{ required \"need c\" .Values.c }}",
        ),
        ("templates/a.yaml", "a: {{ required \"need a\" .Values.a }}"),
    ];
    let Err(error) = render(&files, &["c=1"]) else { panic!("an error") };
    assert_eq!(error.to_string(), "execution error at (web/templates/b.yaml:1:6): need b");
    let ChartError::Template { required, .. } = error else { panic!("an error of a template") };
    let named: Vec<_> = required.iter().map(|position| (position.message(), position.line)).collect();
    assert_eq!(named, [(Some("need b"), 1), (Some("need a"), 1)]);
}

#[test]
fn an_output_that_is_no_object_names_its_template() {
    match render(&[("templates/a.yaml", "text")], &[]) {
        Err(ChartError::ManifestField { template, output, .. }) => {
            assert_eq!((template.as_str(), output.as_str()), ("web/templates/a.yaml", "text"));
        }
        other => panic!("expected an error, got {other:?}"),
    }
    match render(&[("templates/a.yaml", "a: b\n---\nc: d: e")], &[]) {
        Err(ChartError::ManifestYaml { error, output, .. }) => {
            assert_eq!((error.line, output.as_str()), (1, "c: d: e"));
        }
        other => panic!("expected an error, got {other:?}"),
    }
}

#[test]
fn the_first_file_that_cannot_be_parsed_is_the_error_of_a_chart() {
    let position = |files: &[(&str, &str)]| {
        let Err(ChartError::Template { position: Some(position), .. }) = render(files, &[]) else {
            panic!("an error with a position");
        };
        (position.file, position.line)
    };
    let fails = ("templates/z.yaml", "a: {{ fail \"no\" }}");
    let broken = ("templates/b.yaml", "a: 1\nb: {{ if }}");
    assert_eq!(position(&[fails]), ("web/templates/z.yaml".to_owned(), 1));
    // Helm renders z first, but parses all files before.
    assert_eq!(position(&[fails, broken]), ("web/templates/b.yaml".to_owned(), 2));
    // Files are parsed backwards by name.
    let definition = ("templates/a.yaml", "{{ define \"d\" }}{{ x }}{{ end }}");
    assert_eq!(position(&[definition, broken]), ("web/templates/b.yaml".to_owned(), 2));
    assert_eq!(position(&[definition]), ("web/templates/a.yaml".to_owned(), 1));
    // A file that is never rendered.
    assert_eq!(position(&[("templates/_a.tpl", "{{ x }}")]), ("web/templates/_a.tpl".to_owned(), 1));
    // Of two equal files, the one that is parsed first.
    let subchart = ("charts/a/Chart.yaml", "{apiVersion: v2, name: a, version: 1.0.0}");
    let (first, second) = (("charts/a/templates/_a.tpl", "{{ x }}"), ("templates/_a.tpl", "{{ x }}"));
    assert_eq!(position(&[subchart, first, second]), ("web/charts/a/templates/_a.tpl".to_owned(), 1));
    // A file that is only included before it is rendered.
    let includes = ("templates/z.yaml", "a: {{ include \"web/templates/b.yaml\" . }}");
    assert_eq!(position(&[includes, broken]), ("web/templates/b.yaml".to_owned(), 2));
}
