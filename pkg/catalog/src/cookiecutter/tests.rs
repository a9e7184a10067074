use std::collections::BTreeMap;
use std::fs;

use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use super::*;

const VARIABLES: &str = r#"{
  "name": "{{ cookiecutter.slug }}", "slug": "the-component", "key": "{{ cookiecutter.slug.replace('-', '_') }}",
  "kind": ["a", "b"], "flag": true, "number": 3, "all": {"slug": "{{ cookiecutter.slug }}"}, "add_lib": "n",
  "__hidden": "h-{{ cookiecutter.slug }}", "_copy_without_render": ["raw", "*.txt"]
}"#;

fn template(variables: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("cookiecutter.json"), variables).unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn chosen(values: &[(&str, &str)]) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Renders a template, and prints its files.
fn rendered(folder: &TempDir, values: &[(&str, &str)]) -> Result<String, CookiecutterError> {
    let variables = variables(folder.path(), &chosen(values))?;
    let files = render(folder.path(), &variables)?;
    let print = |file: &repository::git::NewFile| {
        format!("--- {}\n{}", file.path, String::from_utf8_lossy(&file.content))
    };
    Ok(files.iter().map(print).collect())
}

#[test]
fn variables_are_rendered_in_their_order_with_chosen_values() {
    let folder = template(VARIABLES, &[]);
    let values = [("slug", "my-thing"), ("kind", "b"), ("flag", "no"), ("unknown", "x")];
    let variables = variables(folder.path(), &chosen(&values));
    // A variable that is used before its definition is an error; `name` comes before `slug`.
    let error = variables.unwrap_err().to_string();
    assert_eq!(error, "cannot render variable `name`: `cookiecutter.slug` is undefined, at name:1");

    let folder = template(&VARIABLES.replacen(r#""name": "{{ cookiecutter.slug }}", "#, "", 1), &[]);
    let variables = super::variables(folder.path(), &chosen(&values)).unwrap();
    assert_data_eq!(
        serde_json::to_string_pretty(&variables).unwrap(),
        str![[r#"
{
  "slug": "my-thing",
  "key": "my_thing",
  "kind": "b",
  "flag": false,
  "number": "3",
  "add_lib": "n",
  "__hidden": "h-my-thing",
  "_copy_without_render": [
    "raw",
    "*.txt"
  ],
  "all": {
    "slug": "my-thing"
  }
}
"#]]
    );
}

#[test]
fn paths_and_texts_are_rendered_and_other_files_are_copied() {
    let root = "{{ cookiecutter.slug }}";
    let folder = template(
        r#"{"slug": "x", "cases": "a b", "add_lib": "n", "_copy_without_render": ["raw", "*.txt"]}"#,
        &[
            (
                &format!("{root}/class/{{{{ cookiecutter.slug }}}}.yml"),
                "=_metadata: {}\n{%- if cookiecutter.add_lib == \"y\" %}\nlib\n{%- endif %}\nlast\n",
            ),
            (
                &format!("{root}/list"),
                "{% set all = cookiecutter.cases.split(' ') -%}\n{{ all }} {{ cookiecutter | jsonify(indent=0) }}",
            ),
            (&format!("{root}/raw/a"), "{{ kept }}"),
            (&format!("{root}/{{{{ cookiecutter.slug }}}}.txt"), "{{ kept }}"),
            (&format!("{root}/{{% if cookiecutter.add_lib == 'y' %}}lib{{% endif %}}"), "not wanted"),
            ("README.md", "{{ outside }}"),
            ("hooks/post_gen_project.py", "raise"),
            ("hooks/notes.md", ""),
        ],
    );
    assert_data_eq!(
        rendered(&folder, &[("slug", "my-thing")]).unwrap(),
        str![[r#"
--- class/my-thing.yml
=_metadata: {}
last
--- list
['a', 'b'] {
"_copy_without_render": [
"raw",
"*.txt"
],
"add_lib": "n",
"cases": "a b",
"slug": "my-thing"
}--- my-thing.txt
{{ kept }}--- raw/a
{{ kept }}
"#]]
    );
    assert_eq!(hooks(folder.path()), ["hooks/post_gen_project.py"]);
}

// Row: D-473
#[test]
fn unusable_templates_name_their_problem() {
    let problem = |variables: &str, path: &str, text: &str, values: &[(&str, &str)]| {
        let error = rendered(&template(variables, &[(path, text)]), values).unwrap_err();
        std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source())
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ")
    };
    let root = "{{ cookiecutter.slug }}";
    let file = format!("{root}/a");
    let lines = [
        problem("{}", "other/a", "", &[]),
        problem("{", &file, "", &[]),
        problem(r#"{"slug": "x"}"#, &file, "\n{{ cookiecutter.nope }}", &[]),
        problem(r#"{"slug": "x"}"#, &file, "{% now 'utc' %}", &[]),
        problem(r#"{"slug": ".."}"#, &format!("{root}/{root}/b"), "", &[]),
        problem(r#"{"slug": "x"}"#, &format!("{root}/.git/config"), "", &[]),
        problem(r#"{"slug": "x", "kind": ["a"]}"#, &file, "", &[("kind", "b")]),
        problem(r#"{"slug": "x", "flag": true}"#, &file, "", &[("flag", "maybe")]),
        problem(r#"{"slug": "x", "_extensions": ["own.Extension"]}"#, &file, "", &[]),
        problem(r#"{"slug": "x", "_jinja2_env_vars": {"cache_size": 1}}"#, &file, "", &[]),
        problem(
            r#"{"slug": "x"}"#,
            &file,
            "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
            &[],
        ),
    ];
    assert_data_eq!(
        lines.join("\n"),
        str![[r#"
it has no folder such as `{{cookiecutter.slug}}`
cannot parse `cookiecutter.json`: EOF while parsing an object at line 1 column 1
cannot render `a`: `cookiecutter.nope` is undefined, at a:2
cannot render `a`: unknown statement now, at a:1
the path `../b` leads out of the new folder
the path `.git/config` leads out of the new folder
`b` is no choice for variable `kind`: "a"
`maybe` is no yes or no for variable `flag`
it needs the extension `own.Extension`, which is not supported
it sets `cache_size` in `_jinja2_env_vars`, which is not supported
cannot render `a`: the template takes too many steps, at a:1
"#]]
    );
}
