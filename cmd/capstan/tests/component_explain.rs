//! Tests of `component explain`: the steps that set a field.

use std::path::Path;

use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::world;

const COMPONENT: &str = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web, namespace: shop}
spec:
  sourceRef: {fluxBucket: {name: s}}
  path: deploy
  values: {replicas: 2, web: {port: 80}}
  valuesFrom: [{name: values}]
  postBuild:
    substitute: {STAGE: test}
    substituteFrom: [{name: variables}]
    patches:
    - patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {stage: patched}}}'
    - patch: '[{op: replace, path: /data/zone, value: b}]'
      target: {kind: ConfigMap}
---
apiVersion: v1
kind: Secret
metadata: {name: values, namespace: shop}
stringData: {values: 'password: correct horse'}
---
apiVersion: v1
kind: Secret
metadata: {name: variables, namespace: shop}
stringData: {ZONE: secret-zone}
";

const TEMPLATE: &str = "
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  labels:
    stage: ${STAGE}
data:
  fixed: text
  replicas: {{ .replicas | quote }}
  {{- with .web }}
  port: {{ .port | quote }}
  {{- end }}
  size: {{ .size | quote }}
  zone: ${ZONE}
---
apiVersion: v1
kind: Secret
metadata:
  name: web
stringData:
  password: {{ .password }}
";

/// A kustomization of templates with default values, a patch and a prefix; its Component has values, variables, patches.
fn kustomization() -> TestEnvironment {
    let world = world();
    world.write("web.yaml", COMPONENT);
    world.write("src/deploy/map.yaml", TEMPLATE);
    world.write("src/deploy/.component-config.yaml", "values: {replicas: 1, size: 5}");
    world.write(
        "src/deploy/kustomization.yaml",
        "resources: [map.yaml]\npatches:\n- path: patch.yaml\n  target: {kind: ConfigMap}\n",
    );
    world.write("src/deploy/patch.yaml", "- {op: replace, path: /data/size, value: '6'}\n");
    world
}

#[test]
fn every_step_that_set_a_field_is_listed() {
    let world = kustomization();
    let explain =
        |field: &str| format!("component explain web.yaml {field} --source src --object ConfigMap/web");
    assert_data_eq!(
        world.screens([
            explain("metadata.labels.stage"),
            explain("/data"),
            "component explain web.yaml stringData.password --source src".to_owned(),
        ]),
        str![[r#"
$ capstan component explain web.yaml metadata.labels.stage --source src --object ConfigMap/web
exit 0
--- stdout
ConfigMap web
/metadata/labels/stage: "patched"
  deploy/map.yaml: line 7
  ${STAGE} (spec.postBuild.substitute)
  spec.postBuild.patches[0]

$ capstan component explain web.yaml /data --source src --object ConfigMap/web
exit 0
--- stdout
ConfigMap web
/data/fixed: "text"
  deploy/map.yaml: line 9
/data/port: "80"
  deploy/map.yaml: line 12
/data/replicas: "2"
  deploy/map.yaml: line 10 (spec.values: replicas)
/data/size: "6"
  deploy/map.yaml: line 14 (deploy/.component-config.yaml: size)
  deploy/kustomization.yaml: patches[0] (deploy/patch.yaml)
/data/zone: "b"
  deploy/map.yaml: line 15
  ${ZONE} (Secret shop/variables)
  spec.postBuild.patches[1]

$ capstan component explain web.yaml stringData.password --source src
exit 0
--- stdout
Secret web
/stringData/password: "(13 bytes)"
  deploy/map.yaml: line 22 (Secret shop/values: password)

"#]]
    );
}

#[test]
fn an_explanation_as_json_has_the_value_and_its_setters() {
    let world = kustomization();
    assert_data_eq!(
        world.run_line("component explain web.yaml data.zone --source src -o json").to_string(),
        str![[r#"
exit 0
--- stdout
{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "name": "web",
  "fields": [
    {
      "path": "/data/zone",
      "value": "b",
      "setBy": [
        {
          "file": "deploy/map.yaml",
          "field": "line 15"
        },
        {
          "field": "${ZONE}",
          "content": "Secret shop/variables"
        },
        {
          "field": "spec.postBuild.patches[1]"
        }
      ]
    }
  ]
}

"#]]
    );
}

#[test]
fn fields_of_charts_have_the_line_of_the_template_and_their_values() {
    let world = world();
    let component = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web, namespace: shop}
spec:
  sourceRef: {fluxBucket: {name: s}}
  path: charts/web
  values: {db: {size: 3}}
";
    let template = "
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Chart.Name }}
  annotations: {helm.sh/hook: pre-install}
data:
  size: {{ .Values.size | quote }}
  zone: {{ .Values.global.zone }}
";
    world.write("web.yaml", component);
    world.write("src/charts/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}");
    world.write("src/charts/web/values.yaml", "{size: 1, global: {zone: a}}");
    world.write("src/charts/web/templates/map.yaml", template);
    world.write("src/charts/web/charts/db/Chart.yaml", "{apiVersion: v2, name: db, version: 1.0.0}");
    world.write("src/charts/web/charts/db/values.yaml", "size: 2");
    world.write("src/charts/web/charts/db/templates/map.yaml", template);
    world.write("values.yaml", "global: {zone: b}");
    assert_data_eq!(
        world.screens([
            "component explain web.yaml data --source src --object ConfigMap/web",
            "component explain web.yaml data --source src --object configmap/db --values values.yaml",
        ]),
        str![[r#"
$ capstan component explain web.yaml data --source src --object ConfigMap/web
exit 0
--- stdout
ConfigMap web
/data/size: "1"
  charts/web/templates/map.yaml: line 8 (charts/web/values.yaml: size)
/data/zone: "a"
  charts/web/templates/map.yaml: line 9 (charts/web/values.yaml: global.zone)

$ capstan component explain web.yaml data --source src --object configmap/db --values values.yaml
exit 0
--- stdout
ConfigMap db
/data/size: "3"
  charts/web/charts/db/templates/map.yaml: line 8 (spec.values: size)
/data/zone: "b"
  charts/web/charts/db/templates/map.yaml: line 9 (--values: global.zone)

"#]]
    );
}

#[test]
fn the_example_of_the_guide_is_explained() {
    let world = world();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/component");
    for file in ["db.yaml", "web.yaml", "files.yaml"] {
        world.write(format!("shop/{file}"), std::fs::read(example.join(file)).unwrap());
    }
    assert_data_eq!(
        world.screens([
            "component explain shop spec.replicas",
            "component explain shop metadata.labels.stage",
            "component explain shop stringData.password",
            "component explain shop data.port",
        ]),
        str![[r#"
$ capstan component explain shop spec.replicas
exit 0
--- stdout
Deployment web
/spec/replicas: 2
  web/templates/deployment.yaml: line 8 (spec.values: replicas)

$ capstan component explain shop metadata.labels.stage
exit 0
--- stdout
Deployment web
/metadata/labels/stage: "test"
  web/templates/deployment.yaml: line 6
  ${STAGE} (spec.postBuild.substitute)

$ capstan component explain shop stringData.password
exit 0
--- stdout
Secret db
/stringData/password: "(13 bytes)"
  db/secret.yaml: line 6

$ capstan component explain shop data.port
exit 0
--- stdout
ConfigMap db
/data/port: "5432"
  db/config.yaml: line 6 (spec.values: port)

"#]]
    );
}

#[test]
fn a_field_of_no_object_or_several_objects_is_refused() {
    let world = kustomization();
    assert_data_eq!(
        world.screens([
            "component explain web.yaml metadata.name --source src",
            "component explain web.yaml spec.replicas --source src",
            "component explain web.yaml data --source src --object Pod/web",
            "component explain web.yaml data..x --source src",
        ]),
        str![[r#"
$ capstan component explain web.yaml metadata.name --source src
exit 1
--- stderr
error: 2 objects have the field `metadata.name`
hint: select one of them with `--object`: ConfigMap/web, Secret/web

$ capstan component explain web.yaml spec.replicas --source src
exit 1
--- stderr
error: no object has the field `spec.replicas`
hint: print the objects with `capstan component render` and the same file and flags

$ capstan component explain web.yaml data --source src --object Pod/web
exit 1
--- stderr
error: cannot find object `Pod/web`
hint: the Components have `ConfigMap/web` or `Secret/web`

$ capstan component explain web.yaml data..x --source src
exit 1
--- stderr
error: `data..x` is not a field
hint: use names with dots such as `spec.ports[0].name`, or a JSON pointer such as `/spec/ports/0`

"#]]
    );
}
