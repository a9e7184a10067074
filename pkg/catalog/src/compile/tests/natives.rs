use serde_json::json;
use snapbox::{IntoData as _, assert_data_eq, str};

use super::*;

/// Evaluates an expression with the library of Kapitan as `kap`.
fn evaluated(expression: &str) -> String {
    let program = format!("local kap = import 'lib/kapitan.libjsonnet';\n{{ r: [{expression}] }}");
    let workshop = Workshop::new(&[
        ("m.jsonnet", &program),
        ("d/a.yaml", "a: yes\n---\nb: 012\n"),
        ("d/t.txt", "{{ x }}{% include 'd/u.txt' ignore missing %}"),
    ]);
    let input = json!([{"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": ".", "output_type": "json"}]);
    workshop.compiled(input).lines().skip(1).collect::<Vec<_>>().join("\n")
}

// Row: CAT-71
#[test]
fn files_are_read_from_the_search_paths() {
    let expression = "kap.yaml_load('one/d/a.yaml'), std.parseJson(kap.yaml_load_stream('one/d/a.yaml'))[1],
kap.file_read('one/d/t.txt'), kap.file_exists('one/d/a.yaml').exists, kap.file_exists('one/none'),
kap.dir_files_list('one/d'), std.objectFields(kap.dir_files_read('one/d')), kap.jinja2_template('one/d/t.txt', { x: 5 })";
    assert_data_eq!(
        evaluated(expression),
        str![[r#"
[
  "{\"a\":true}",
  {
    "b": 10
  },
  "{{ x }}{% include 'd/u.txt' ignore missing %}",
  true,
  {
    "exists": false,
    "path": ""
  },
  [
    "a.yaml",
    "t.txt"
  ],
  [
    "a.yaml",
    "t.txt"
  ],
  "5"
]
"#]]
        .raw()
    );
}

#[test]
fn values_are_printed_and_hashed() {
    let expression = "kap.yaml_dump({ b: [{ c: 1 }], a: 'x\\ny' }), kap.yaml_dump_stream([1, { a: null }]), kap.sha256('a'),
kap.inventory().parameters._instance, std.objectFields(kap.inventory_global()),
kap.jsonschema({ a: 1 }, { type: 'object' }).valid, kap.jsonschema({ a: 1 }, { properties: { a: { type: 'string' } } }).valid";
    assert_data_eq!(
        evaluated(expression),
        str![[r#"
[
  "a: 'x\n\n  y'\nb:\n- c: 1\n",
  "1\n---\na: null\n",
  "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
  "one",
  [
    "one"
  ],
  true,
  false
]
"#]]
        .raw()
    );
}

#[test]
fn errors_of_native_functions_name_the_file() {
    let problem = |expression: &str| evaluated(expression).lines().next().unwrap_or_default().to_owned();
    assert_data_eq!(
        problem("kap.yaml_load('one/none.yaml')"),
        str![
            "Error compiling targets: Error compiling one: lib/kapitan.libjsonnet:25:21: could not find file or folder `one/none.yaml` in the search paths"
        ]
    );
    assert_data_eq!(
        problem("kap.yaml_load('one/d/t.txt')"),
        str![
            "Error compiling targets: Error compiling one: lib/kapitan.libjsonnet:25:21: `one/d/t.txt` has neither the extension `.yml` nor `.yaml`"
        ]
    );
    assert_data_eq!(
        problem("kap.inventory('none')"),
        str![
            "Error compiling targets: Error compiling one: lib/kapitan.libjsonnet:7:17: no target `none` in the inventory"
        ]
    );
    assert_data_eq!(
        problem("kap.dir_files_list('one/none')"),
        str![
            "Error compiling targets: Error compiling one: lib/kapitan.libjsonnet:22:26: could not find file or folder `one/none` in the search paths"
        ]
    );
}

/// Evaluates an expression with the libraries of Commodore and of Kubernetes objects.
fn library(expression: &str) -> String {
    evaluated(&format!(
        "(local com = import 'lib/commodore.libjsonnet', kube = import 'lib/kube.libjsonnet'; {expression})"
    ))
}

#[test]
fn the_library_of_commodore_changes_objects() {
    let expression = "[
  com.namespaced('ns', { metadata: { name: 'a' } }),
  com.envList({ A: 1, B: { secretKeyRef: {} }, C: null }),
  com.getValueOrDefault({ a: 1 }, 'b', 2),
  { a: { b: [1], c: 1 } } + com.makeMergeable({ a: { b: [2], d: 2 } }),
  com.renderArray(['b', 'a', '~b', 'c', '~c', 'c']),
  com.generateResources({ a_b: { data: { x: 'y' } }, c: null }, kube.ConfigMap),
  com.Kustomization('https://example.com/x', 'v1', { i: { newTag: 't', newName: 'n' } }, { namespace: 'ns' }),
  com.proxyVars,
]";
    assert_data_eq!(
        library(expression),
        str![[r#"
[
  [
    {
      "metadata": {
        "name": "a",
        "namespace": "ns"
      }
    },
    [
      {
        "name": "A",
        "value": "1"
      },
      {
        "name": "B",
        "valueFrom": {
          "secretKeyRef": {}
        }
      },
      {
        "name": "C",
        "value": null
      }
    ],
    2,
    {
      "a": {
        "b": [
          1,
          2
        ],
        "c": 1,
        "d": 2
      }
    },
    [
      "a",
      "c"
    ],
    [
      {
        "apiVersion": "v1",
        "data": {
          "x": "y"
        },
        "kind": "ConfigMap",
        "metadata": {
          "annotations": {},
          "labels": {
            "name": "a-b"
          },
          "name": "a-b"
        }
      }
    ],
    {
      "kustomization": {
        "images": [
          {
            "name": "i",
            "newName": "n",
            "newTag": "t"
          }
        ],
        "namespace": "ns",
        "resources": [
          "https://example.com/x?ref=v1"
        ]
      }
    },
    {}
  ]
]
"#]]
        .raw()
    );
}

#[test]
fn the_library_of_objects_fills_in_arrays_from_their_objects() {
    let expression = "[
  kube.Deployment('web') { spec+: { template+: { spec+: {
    containers_:: { web: kube.Container('web') { image: 'x:latest', env_:: { A: 'b' }, ports_:: { http: { containerPort: 80 } } } },
    volumes_:: { data: kube.PersistentVolumeClaimVolume(kube.PersistentVolumeClaim('pvc')) },
  } } } },
  kube.Service('web') { target_pod:: { metadata: { labels: { l: 'x' } }, spec: { containers: [{ ports: [{ name: 'http', containerPort: 80 }] }] } } },
  kube.ClusterRoleBinding('b') { subjects_:: [kube.ServiceAccount('sa') { metadata+: { namespace: 'ns' } }], roleRef_:: kube.ClusterRole('r') },
  kube.Secret('s:x') { data_:: { k: 'v' } },
  kube.siToNum('2Ki') + kube.siToNum('3K'),
]";
    assert_data_eq!(
        library(expression),
        str![[r#"
[
  [
    {
      "apiVersion": "apps/v1",
      "kind": "Deployment",
      "metadata": {
        "annotations": {},
        "labels": {
          "name": "web"
        },
        "name": "web"
      },
      "spec": {
        "minReadySeconds": 30,
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "selector": {
          "matchLabels": {
            "name": "web"
          }
        },
        "strategy": {
          "rollingUpdate": {
            "maxSurge": 0,
            "maxUnavailable": 1
          },
          "type": "RollingUpdate"
        },
        "template": {
          "metadata": {
            "annotations": {},
            "labels": {
              "name": "web"
            }
          },
          "spec": {
            "containers": [
              {
                "args": [],
                "env": [
                  {
                    "name": "A",
                    "value": "b"
                  }
                ],
                "image": "x:latest",
                "imagePullPolicy": "Always",
                "name": "web",
                "ports": [
                  {
                    "containerPort": 80,
                    "name": "http"
                  }
                ],
                "stdin": false,
                "tty": false,
                "volumeMounts": []
              }
            ],
            "imagePullSecrets": [],
            "initContainers": [],
            "terminationGracePeriodSeconds": 30,
            "volumes": [
              {
                "name": "data",
                "persistentVolumeClaim": {
                  "claimName": "pvc"
                }
              }
            ]
          }
        }
      }
    },
    {
      "apiVersion": "v1",
      "kind": "Service",
      "metadata": {
        "annotations": {},
        "labels": {
          "name": "web"
        },
        "name": "web"
      },
      "spec": {
        "ports": [
          {
            "name": "http",
            "port": 80,
            "targetPort": 80
          }
        ],
        "selector": {
          "l": "x"
        },
        "type": "ClusterIP"
      }
    },
    {
      "apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRoleBinding",
      "metadata": {
        "annotations": {},
        "labels": {
          "name": "b"
        },
        "name": "b"
      },
      "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "r"
      },
      "subjects": [
        {
          "kind": "ServiceAccount",
          "name": "sa",
          "namespace": "ns"
        }
      ]
    },
    {
      "apiVersion": "v1",
      "data": {
        "k": "dg=="
      },
      "kind": "Secret",
      "metadata": {
        "annotations": {},
        "labels": {
          "name": "s-x"
        },
        "name": "s:x"
      },
      "type": "Opaque"
    },
    5048
  ]
]
"#]]
        .raw()
    );
}

#[test]
fn the_library_of_objects_checks_their_fields() {
    let problem = |expression: &str| {
        let text = library(expression);
        let text = text.lines().next().unwrap_or_default();
        text.rsplit(": ").next().unwrap_or_default().to_owned()
    };
    assert_eq!(problem("kube.ConfigMap('c') { data: { a: 1 } }"), "[\"a\"]");
    assert_eq!(problem("kube.Container('c')"), "missing field `image` of a container");
    assert_eq!(problem("kube.Pod('p')"), "a Pod needs a container");
}
