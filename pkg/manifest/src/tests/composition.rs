//! All steps from the text of provider components or of a cluster template to the output, compared with the golden
//! output of clusterctl.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use support::skip::{corpus, golden};

use crate::Object;
use crate::images::ImageOverride;
use crate::typed::KindSet;
use crate::{
    Value, YamlLimits, envsubst, images, labels, namespace, order, read_stream, typed, write_stream, yaml,
};

/// One `generate` call.
struct Case {
    folder: PathBuf,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    overrides: Value,
}

impl Case {
    fn read(folder: PathBuf) -> Self {
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let config = yaml::read_value(&text("clusterctl.yaml"), &YamlLimits::default()).unwrap();
        let pairs = text("env");
        let pairs = pairs.lines().filter_map(|line| line.split_once('='));
        Self {
            arguments: text("cmd").lines().map(str::to_owned).collect(),
            environment: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            overrides: config.get("images").cloned().unwrap_or_default(),
            folder,
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.arguments.iter().any(|argument| argument == flag)
    }

    fn value(&self, flag: &str) -> Option<&str> {
        let at = self.arguments.iter().position(|argument| argument == flag)?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    /// Returns the provider label and the path of the components in the corpus; `None` for a call that fails early.
    fn components(&self) -> Option<(String, String)> {
        let types = [
            ("--core", "", "core"),
            ("--bootstrap", "bootstrap-", "bootstrap"),
            ("--control-plane", "control-plane-", "control-plane"),
            ("--infrastructure", "infrastructure-", "infrastructure"),
        ];
        let mut found =
            types.iter().filter_map(|(flag, prefix, file)| Some((self.value(flag)?, prefix, file)));
        let ((name, version), prefix, file) =
            found.next().and_then(|(id, prefix, file)| Some((id.split_once(':')?, prefix, file)))?;
        let label = format!("{prefix}{name}");
        Some((label.clone(), format!("providers/{label}/{version}/{file}-components.yaml")))
    }

    fn image_override(&self, label: &str, image: &str) -> ImageOverride {
        let mut change = ImageOverride::default();
        for key in ["all", label, &format!("{label}/{image}")] {
            let part = |name: &str| self.overrides.get(key)?.get(name)?.as_str().map(str::to_owned);
            change.repository = part("repository").unwrap_or(change.repository);
            change.name = part("name").unwrap_or(change.name);
            change.tag = part("tag").unwrap_or(change.tag);
        }
        change
    }

    fn substitute(&self, text: &str) -> String {
        let template = envsubst::Template::parse(text).unwrap();
        let flags = [
            ("CLUSTER_NAME", self.arguments.get(2).map(String::as_str)),
            ("NAMESPACE", self.value("-n")),
            ("KUBERNETES_VERSION", self.value("--kubernetes-version")),
            ("CONTROL_PLANE_MACHINE_COUNT", self.value("--control-plane-machine-count").or(Some("1"))),
            ("WORKER_MACHINE_COUNT", self.value("--worker-machine-count").or(Some("0"))),
        ];
        let set = |name: &str| self.environment.get(name).map(String::as_str);
        let flag = |name: &str| flags.iter().find(|(flag, _)| *flag == name).and_then(|(_, value)| *value);
        template.render(&mut |name| set(name).or_else(|| flag(name)).map(Cow::Borrowed)).unwrap()
    }

    fn print_components(&self, label: &str, text: &str) -> String {
        let rendered = if self.has("--raw") { text.to_owned() } else { self.substitute(text) };
        let mut objects = read_stream(rendered.as_bytes(), &YamlLimits::default()).unwrap().objects;
        for object in &mut objects {
            typed::round_trip(object, KindSet::Workloads).unwrap();
            images::override_images(object, &|image| Some(self.image_override(label, image.name))).unwrap();
        }
        let default = namespace::target_namespace(&objects).unwrap().map(str::to_owned);
        let target = self.value("--target-namespace").map(str::to_owned).or(default).unwrap();
        namespace::ensure_namespace_object(&mut objects, &target);
        move_all(&mut objects, &target);
        let common = [("clusterctl.cluster.x-k8s.io", ""), ("cluster.x-k8s.io/provider", label)];
        assert_eq!(labels::add_labels(&mut objects, &common), []);
        order::sort_for_installation(&mut objects);
        write_stream(&objects) + "\n"
    }

    fn print_template(&self, text: &str) -> String {
        let rendered = self.substitute(text);
        let mut objects = read_stream(rendered.as_bytes(), &YamlLimits::default()).unwrap().objects;
        move_all(&mut objects, self.value("-n").unwrap());
        write_stream(&objects) + "\n"
    }
}

fn move_all(objects: &mut [Object], target: &str) {
    namespace::set_namespace(objects, target).unwrap();
    for object in objects.iter_mut() {
        typed::round_trip(object, KindSet::References).unwrap();
    }
    namespace::move_references(objects, target).unwrap();
}

/// Lists the successful calls whose name begins with one of `starts`.
fn succeeding(golden: &Path, starts: &[&str]) -> Vec<(String, Case)> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(golden.join("cases")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let succeeds = fs::read_to_string(folder.join("exit")).unwrap().trim() == "0";
        if succeeds && starts.iter().any(|start| name.starts_with(start)) {
            cases.push((name, Case::read(folder)));
        }
    }
    cases
}

fn assert_printed(name: &str, case: &Case, printed: &str) {
    let expected = fs::read_to_string(case.folder.join("stdout")).unwrap();
    let differs = expected.lines().zip(printed.lines()).enumerate().find(|(_, (a, b))| a != b);
    assert!(printed == expected, "{name}: first difference {differs:?}");
}

// Row: PRV-21, PRV-24, PRV-56, PRV-57, PRV-58, PRV-59
#[test]
fn provider_components_are_printed_as_by_clusterctl() {
    let (Some(golden), Some(corpus)) = (golden(), corpus()) else { return };
    let mut compared = 0;
    for (name, case) in succeeding(&golden, &["provider-", "images-"]) {
        let Some((label, path)) = case.components().filter(|_| !case.has("--describe")) else { continue };
        let text = fs::read_to_string(corpus.join(&path)).unwrap();
        assert_printed(&name, &case, &case.print_components(&label, &text));
        compared += 1;
    }
    assert!(compared >= 40, "only {compared} cases were found");
}

// Row: PRV-41, PRV-60
#[test]
fn cluster_templates_are_printed_as_by_clusterctl() {
    let Some(golden) = golden() else { return };
    let mut compared = 0;
    for (name, case) in succeeding(&golden, &["cluster-", "yaml-"]) {
        let is_cluster = case.arguments.get(1).is_some_and(|verb| verb == "cluster");
        if !is_cluster || case.value("--from") != Some("{CASE}/in.yaml") || case.has("--list-variables") {
            continue;
        }
        let text = fs::read_to_string(case.folder.join("in.yaml")).unwrap();
        assert_printed(&name, &case, &case.print_template(&text));
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} cases were found");
}
