use snapbox::{assert_data_eq, str};
use std::path::PathBuf;

use api::{
    ProviderId, ProviderType,
    output::{Origin, ProviderSource},
};

use manifest::images::ImageReference;

use super::{CertManagerMode, Config, ConfigError, ConfigFile, ConfigFormat, Environment, Variables};

fn yaml(text: &str) -> ConfigFile {
    ConfigFile {
        origin: "/etc/clusterctl.yaml".to_owned(),
        folder: Some(PathBuf::from("/etc")),
        format: ConfigFormat::Yaml,
        text: text.to_owned(),
    }
}

fn config(text: &str, environment: &[(&str, &str)]) -> Config {
    Config::new(Some(yaml(text)), Environment::new(environment.iter().copied())).unwrap()
}

fn value(text: &str, name: &str) -> Option<String> {
    config(text, &[]).setting(name).map(|setting| setting.text)
}

#[test]
fn values_become_text_as_in_clusterctl() {
    let file = "
flag: true
word: yes
switch: on
octal: 0123
octal_new: 0o17
hex: 0x1F
long: 1_000
version: 1.30
exponent: 1e3
huge: 1e21
nothing: null
tilde: ~
empty: \"\"
list: [a, b]
map: {a: b}
";
    let found = |name| value(file, name);
    let expected = [
        ("flag", Some("true")),
        ("word", Some("yes")),
        ("switch", Some("on")),
        ("octal", Some("83")),
        ("octal_new", Some("15")),
        ("hex", Some("31")),
        ("long", Some("1000")),
        ("version", Some("1.3")),
        ("exponent", Some("1000")),
        ("huge", Some("1000000000000000000000")),
        ("nothing", None),
        ("tilde", None),
        ("empty", Some("")),
        ("list", Some("")),
        ("map", Some("")),
        ("absent", None),
    ];
    for (name, text) in expected {
        assert_eq!(found(name).as_deref(), text, "{name}");
    }
}

// Row: PRV-42
// Row: PRV-48
#[test]
fn command_line_wins_over_environment_and_environment_over_file() {
    let config = config(
        "region: from-file\nzone: from-file\nname: from-file\n",
        &[("ZONE", "from-environment"), ("NAME", "from-environment"), ("EMPTY_WINS", "")],
    );
    let mut variables = Variables::new(&config);
    variables.set("NAME", "from-flag", "--name");
    let found = |name: &str| variables.get(name).map(|found| (found.text.into_owned(), found.origin));
    let file = Origin::ConfigFile { file: "/etc/clusterctl.yaml".to_owned() };
    assert_eq!(found("REGION"), Some(("from-file".to_owned(), file)));
    let environment = Origin::Environment { variable: "ZONE".to_owned() };
    assert_eq!(found("zone"), Some(("from-environment".to_owned(), environment)));
    assert_eq!(
        found("name"),
        Some(("from-flag".to_owned(), Origin::CommandLine { flag: "--name".to_owned() }))
    );
    assert_eq!(found("EMPTY_WINS").map(|(text, _)| text).as_deref(), Some(""));
    assert!(found("OTHER").is_none());
}

#[test]
fn a_dash_in_a_key_is_an_underscore_in_its_environment_variable() {
    let config = config("github-token: from-file\n", &[("GITHUB_TOKEN", "from-environment")]);
    assert_eq!(config.setting("github-token").unwrap().text, "from-environment");
}

// Row: PRV-13
#[test]
fn an_entry_of_the_file_replaces_a_built_in_provider() {
    let url = "https://gitlab.example.com/api/v4/projects/group%2Faws/packages/generic/aws/v2.0.0/infrastructure-components.yaml";
    let config = config(
        &format!(
            "providers:\n- {{name: aws, type: InfrastructureProvider, url: \"{url}\"}}\n- {{NAME: mine, Type: AddonProvider, URL: /x/v1.0.0/f.yaml}}\n"
        ),
        &[],
    );
    let providers = config.providers().unwrap();
    let find = |name| providers.iter().find(|provider| provider.id.name == name).unwrap();
    assert_eq!((find("aws").url.as_str(), find("aws").source), (url, ProviderSource::ConfigOverBuiltIn));
    assert_eq!(find("mine").source, ProviderSource::Config);
    assert_eq!(find("azure").source, ProviderSource::BuiltIn);
    assert!(providers.is_sorted_by(|a, b| a.id < b.id));
}

// Row: PRV-34
// Row: PRV-82
#[test]
fn the_providers_of_the_contract_are_built_in_under_their_labels() {
    let labels: Vec<String> = Config::new(None, Environment::default())
        .unwrap()
        .providers()
        .unwrap()
        .iter()
        .map(|p| p.id.label())
        .collect();
    for label in [
        "cluster-api",
        "bootstrap-kubeadm",
        "bootstrap-microk8s",
        "bootstrap-kubekey-k3s",
        "bootstrap-talos",
        "bootstrap-k0sproject-k0smotron",
        "bootstrap-rke2",
        "bootstrap-canonical-kubernetes",
        "control-plane-kubeadm",
        "control-plane-microk8s",
        "control-plane-nested",
        "control-plane-talos",
        "control-plane-k0sproject-k0smotron",
        "control-plane-rke2",
        "infrastructure-aws",
        "infrastructure-azure",
        "infrastructure-docker",
        "infrastructure-gcp",
        "infrastructure-openstack",
        "infrastructure-vsphere",
        "infrastructure-metal3",
        "ipam-in-cluster",
        "ipam-metal3",
        "runtime-extension-nutanix",
        "addon-helm",
    ] {
        assert!(labels.iter().any(|known| known == label), "{label}");
    }
    assert_eq!(labels.len(), 64);
}

// Row: D-05
#[test]
fn all_invalid_provider_entries_are_reported_at_once() {
    let error = config(
        "
providers:
- {type: AddonProvider, url: /x}
- {name: Upper, type: AddonProvider, url: /x}
- {name: cluster-api, type: AddonProvider, url: /x}
- {name: other, type: CoreProvider, url: /x}
- {name: a_b, type: AddonProvider, url: /x}
- {name: nourl, type: AddonProvider, url: \"${UNSET}\"}
- {name: badtype, type: addonProvider, url: /x}
- {name: badurl, type: AddonProvider, url: \"${\"}
- just text
- {name: fine, type: AddonProvider, url: /x}
",
        &[],
    )
    .providers()
    .unwrap_err();
    let ConfigError::Providers { problems, .. } = error else { panic!("{error}") };
    let reported: Vec<String> = problems.iter().map(|p| format!("{} {}", p.index, p.reason)).collect();
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
0 name is empty
1 name must be in lower case
2 the name `cluster-api` is reserved for CoreProvider
3 a CoreProvider must be named `cluster-api`
4 `a_b` is not a valid DNS-1123 subdomain: lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part
5 url is empty
6 unknown provider type `addonProvider`; known types: CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider, IPAMProvider, RuntimeExtensionProvider, AddonProvider
7 cannot substitute variables in url: cannot read the substitution `${` at line 1, column 1: expected a name after `${`
8 an entry must be a mapping with name, type and url
"#]]
    );
}

// Row: D-06
#[test]
fn urls_take_environment_variables_and_start_at_the_folder_of_the_file() {
    let url = |text: &str| {
        let file =
            format!("ROOT: from-file\nproviders:\n- {{name: x, type: AddonProvider, url: \"{text}\"}}\n");
        let config = config(&file, &[("BASE", "/srv/providers")]);
        config.provider(&ProviderId::new(ProviderType::Addon, "x")).unwrap().unwrap().url
    };
    assert_eq!(url("${BASE}/addon-x/v1.0.0/f.yaml"), "/srv/providers/addon-x/v1.0.0/f.yaml");
    assert_eq!(url("${ROOT}/srv/f.yaml"), "/srv/f.yaml", "variables of the file are not seen");
    assert_eq!(url("repository/addon-x/v1.0.0/f.yaml"), "/etc/repository/addon-x/v1.0.0/f.yaml");
    assert_eq!(url("../srv/./addon-x/v1.0.0/f.yaml"), "/srv/addon-x/v1.0.0/f.yaml");
    assert_eq!(url("https://example.com/x"), "https://example.com/x");
}

// Row: D-81
#[test]
fn an_environment_variable_cannot_replace_a_section() {
    let set = [("PROVIDERS", "x"), ("IMAGES", "x"), ("CERT_MANAGER", "x")];
    let config = config("images: {all: {tag: v1}}\n", &set);
    assert_eq!(config.providers().unwrap().len(), 64);
    assert_eq!(config.image_overrides().unwrap().resolve("any", &image("image")).unwrap().tag, "v1");
    assert!(config.cert_manager().is_ok());
}

#[test]
fn an_unknown_provider_gets_suggestions() {
    let config = Config::new(None, Environment::default()).unwrap();
    let unknown = |provider_type, name: &str| {
        config.provider(&ProviderId::new(provider_type, name)).unwrap().unwrap_err()
    };
    assert_eq!(unknown(ProviderType::Infrastructure, "opnstack").suggestions, ["openstack"]);
    let kubeadm = unknown(ProviderType::Infrastructure, "kubeadm");
    assert_eq!(kubeadm.other_types, [ProviderType::Bootstrap, ProviderType::ControlPlane]);
}

/// An image with this name.
fn image(name: &str) -> ImageReference<'_> {
    ImageReference { repository: "registry.example.com", name, tag: None, digest: None }
}

#[test]
fn image_overrides_join_from_wide_to_narrow() {
    let config = config(
        "
images:
  all: {repository: mirror.local/all}
  infrastructure-docker: {tag: v9}
  Infrastructure-Docker/Manager: {name: custom, tag: 1.30}
  bootstrap-own: {tag: true}
",
        &[],
    );
    let overrides = config.image_overrides().unwrap();
    let rule = |component, name| {
        overrides
            .resolve(component, &image(name))
            .map(|rule| format!("{}|{}|{}", rule.repository, rule.name, rule.tag))
    };
    assert_eq!(rule("infrastructure-docker", "manager").as_deref(), Some("mirror.local/all|custom|1.3"));
    assert_eq!(rule("infrastructure-docker", "other").as_deref(), Some("mirror.local/all||v9"));
    assert_eq!(rule("bootstrap-own", "x").as_deref(), Some("mirror.local/all||1"));
    assert_eq!(rule("cert-manager", "x").as_deref(), Some("mirror.local/all||"));
}

// Row: D-78
#[test]
fn sections_of_the_wrong_type_are_refused_with_their_key() {
    let reported = [
        config("images: [a]\n", &[]).image_overrides().unwrap_err(),
        config("images: {all: {tag: [1]}}\n", &[]).image_overrides().unwrap_err(),
        config("providers: text\n", &[]).providers().unwrap_err(),
        config("cert-manager: {externallyProvisioned: maybe}\n", &[]).cert_manager().unwrap_err(),
    ];
    assert_data_eq!(
        reported.map(|error| error.to_string()).join("\n"),
        str![[r#"
`images` in `/etc/clusterctl.yaml` must be a mapping from components to repository, name or tag, not a list
`images.all.tag` in `/etc/clusterctl.yaml` must be text, not a list
`providers` in `/etc/clusterctl.yaml` must be a list of entries with name, type and url, not text
`cert-manager.externallyProvisioned` in `/etc/clusterctl.yaml` must be true or false, not text
"#]]
    );
}

#[test]
fn invalid_files_are_refused_with_line_and_column() {
    let chain = |format, text: &str| {
        let file = ConfigFile { format, ..yaml(text) };
        let error = Config::new(Some(file), Environment::default()).unwrap_err();
        let mut lines = vec![error.to_string()];
        let mut source = std::error::Error::source(&error);
        while let Some(error) = source {
            lines.push(error.to_string());
            source = error.source();
        }
        lines.join(" / ")
    };
    let toml = chain(ConfigFormat::Toml, "a = 1\ngithub-token = \"s3cret\n");
    assert!(!toml.contains("s3cret"), "{toml}");
    let reported = [
        chain(ConfigFormat::Yaml, "providers:\n- name: aws\n  url: \"https://exa"),
        chain(ConfigFormat::Yaml, "a: 1\na: 2\n"),
        chain(ConfigFormat::Json, "{\"a\": "),
        toml,
        chain(ConfigFormat::Dotenv, "a\n"),
        chain(ConfigFormat::Yaml, "- a\n"),
    ];
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
cannot read the configuration `/etc/clusterctl.yaml` / the file is not valid YAML / line 3, column 8: found the end of the text inside quotes
cannot read the configuration `/etc/clusterctl.yaml` / the file is not valid YAML / line 2, column 1: key `a` is already set in this mapping
cannot read the configuration `/etc/clusterctl.yaml` / the file is not valid JSON / EOF while parsing a value at line 1 column 6
cannot read the configuration `/etc/clusterctl.yaml` / the file is not valid TOML: line 2, column 23: invalid basic string, expected `"`
cannot read the configuration `/etc/clusterctl.yaml` / line 1 is not `NAME=value`, or a quote is not closed
cannot read the configuration `/etc/clusterctl.yaml` / the file must be a mapping, not a list
"#]]
    );
}

#[test]
fn toml_json_and_dotenv_equal_yaml() {
    let read = |format, text: &str| {
        let file = ConfigFile { format, ..yaml(text) };
        let config = Config::new(Some(file), Environment::default()).unwrap();
        (config.setting("REGION").unwrap().text, config.providers().unwrap().len())
    };
    let toml = "Region = \"x\"\n[[providers]]\nname = \"new\"\ntype = \"AddonProvider\"\nurl = \"/x\"\n";
    assert_eq!(read(ConfigFormat::Toml, toml), ("x".to_owned(), 65));
    let json = r#"{"region": "x", "providers": {"name": "new", "type": "AddonProvider", "url": "/x"}}"#;
    assert_eq!(read(ConfigFormat::Json, json), ("x".to_owned(), 65));
    assert_eq!(read(ConfigFormat::Dotenv, "export region=x\n"), ("x".to_owned(), 64));
}

// Row: D-80
#[test]
fn of_keys_differing_in_case_the_capitalized_one_wins() {
    for text in ["WHO: upper\nwho: lower\n", "who: lower\nWHO: upper\n"] {
        assert_eq!(value(text, "who").as_deref(), Some("upper"), "{text}");
    }
    for text in ["Who: b\nwho: c\nWHO: a\n", "WHO: a\nwho: c\nWho: b\n"] {
        assert_eq!(value(text, "WHO").as_deref(), Some("b"), "{text}");
    }
}

#[test]
fn cert_manager_has_defaults_for_every_field() {
    let default = Config::new(None, Environment::default()).unwrap().cert_manager().unwrap();
    assert_eq!(
        default.url,
        "https://github.com/cert-manager/cert-manager/releases/v1.21.1/cert-manager.yaml"
    );
    let set = config(
        "cert-manager: {url: \"${BASE}/cert-manager.yaml\", version: v1.20.3, timeout: soon, externallyProvisioned: true}\n",
        &[("BASE", "/srv/cert-manager/v1.20.3")],
    )
    .cert_manager()
    .unwrap();
    assert_eq!(set.url, "/srv/cert-manager/v1.20.3/cert-manager.yaml");
    assert_eq!((set.version.as_str(), set.mode), ("v1.20.3", CertManagerMode::External));
    assert_eq!(set.invalid_timeout.as_deref(), Some("soon"));
}

// Row: D-106
#[test]
fn cert_manager_mode_wins_over_the_clusterctl_field() {
    for (section, mode) in [
        ("{}", CertManagerMode::Managed),
        ("{mode: managed}", CertManagerMode::Managed),
        ("{mode: external}", CertManagerMode::External),
        ("{mode: none}", CertManagerMode::None),
        ("{externallyProvisioned: false}", CertManagerMode::Managed),
        ("{externallyProvisioned: \"true\"}", CertManagerMode::External),
        ("{mode: managed, externallyProvisioned: true}", CertManagerMode::Managed),
    ] {
        let read = config(&format!("cert-manager: {section}\n"), &[]).cert_manager().unwrap();
        assert_eq!(read.mode, mode, "{section}");
    }
    let error = config("cert-manager: {mode: yes please}\n", &[]).cert_manager().unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["`cert-manager.mode` in `/etc/clusterctl.yaml` must be managed, external or none, not text"]
    );
}

// Row: D-07
#[test]
fn unknown_keys_get_suggestions_and_variables_are_ignored() {
    let file = "
provider: []
AWS_REGION: x
images: {all: {repo: x}}
providers: [{name: a, type: AddonProvider, uri: /x}]
cert-manager: {externalyProvisioned: true}
somethings: {a: b}
HOST: x
hosts: {git.lab: {tokn: x}}
";
    let found = config(file, &[]).unknown_keys();
    let reported: Vec<String> =
        found.iter().map(|key| format!("{} {:?}", key.key, key.suggestions)).collect();
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
provider ["providers"]
somethings []
providers[0].uri ["url"]
cert-manager.externalyprovisioned ["externallyProvisioned"]
images.all.repo ["repository"]
hosts.git.lab.tokn ["token"]
"#]]
    );
}

#[test]
fn dates_infinities_and_merged_keys_become_text_as_in_clusterctl() {
    let file = "
date: 2020-01-01
time: 2020-01-01T10:00:00.5+02:00
endless: .inf
base: &base {a: b}
derived: {<<: *base, a: c}
";
    assert_eq!(value(file, "date").as_deref(), Some("2020-01-01 00:00:00 +0000 UTC"));
    assert_eq!(value(file, "time").as_deref(), Some("2020-01-01 10:00:00.5 +0200 +0200"));
    assert_eq!(value(file, "endless").as_deref(), Some("+Inf"));
}

#[test]
fn an_environment_variable_has_one_capital_for_each_letter() {
    let config = config("", &[("STRAßE_É", "a")]);
    assert_eq!(config.setting("straße-é").unwrap().text, "a");
}

#[test]
fn an_overrides_folder_keeps_blanks_and_a_blank_one_is_none() {
    let folder = |text: &str| {
        config(&format!("overridesFolder: '{text}'"), &[("UP", "/up")]).overrides_folder().unwrap()
    };
    assert_eq!(folder("${UP}/ ov "), Some(PathBuf::from("/up/ ov ")));
    assert_eq!(folder("  "), None);
    assert_eq!(folder("${UNSET}"), Some(PathBuf::new()), "the working folder");
}

#[test]
fn an_absolute_path_is_shown_unchanged() {
    for url in ["/a/../b//./f.yaml", "file:/a/../b//./f.yaml"] {
        let file = format!("providers: [{{name: mine, type: AddonProvider, url: '{url}'}}]\n");
        let providers = config(&file, &[]).providers().unwrap();
        let mine = providers.iter().find(|provider| provider.id.name == "mine").unwrap();
        assert_eq!(mine.url, url);
    }
}

#[test]
fn an_invalid_url_is_refused_with_a_reason() {
    let file = "providers: [{name: mine, type: AddonProvider, url: '%zz/f.yaml'}]\n";
    let error = config(file, &[]).providers().unwrap_err().to_string();
    assert_data_eq!(
        error,
        str![[
            r#"1 invalid provider in `/etc/clusterctl.yaml`: providers[0] ("mine", "AddonProvider"): invalid url: a `%` is not followed by two hexadecimal digits"#
        ]]
    );
}

#[test]
fn empty_sections_of_another_shape_count_as_nothing() {
    assert!(config("providers: {}\n", &[]).providers().is_ok());
    assert!(
        config("images: []\n", &[])
            .image_overrides()
            .unwrap()
            .resolve("cluster-api", &image("manager"))
            .is_none()
    );
}
