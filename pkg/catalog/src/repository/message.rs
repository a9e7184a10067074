//! The commits of a compilation: the message of a catalog, and the report to the API.

use std::fmt::Write as _;

use manifest::{Map, Value};
use serde_json::json;

use super::ConfigCheckout;
use crate::dependencies::Dependency;

/// The commits that a catalog is compiled from.
#[derive(Clone, Debug)]
pub struct CompileReport {
    pub(crate) instances: Vec<Dependency>,
    pub(crate) packages: Vec<Dependency>,
    pub(crate) global: Option<ConfigCheckout>,
    pub(crate) tenant: Option<ConfigCheckout>,
    /// The time of the compilation, as RFC 3339 with milliseconds.
    pub(crate) time: String,
}

impl CompileReport {
    /// Returns the message for the commit of the catalog.
    pub fn commit_message(&self) -> String {
        let mut out = "Automated catalog update from Commodore\n\nComponent instance commits:\n".to_owned();
        out.push_str(&list(&self.instances));
        out.push_str("\n\nPackage commits:\n");
        out.push_str(&list(&self.packages));
        out.push_str("\n\nConfiguration commits:\n");
        for (at, (name, config)) in
            [("global", &self.global), ("tenant", &self.tenant)].into_iter().enumerate()
        {
            let Some(config) = config else { continue };
            let ConfigCheckout { url, version, commit } = config;
            let line_break = if at == 0 { "" } else { "\n" };
            let _ = write!(out, "{line_break} * {name}: {version} ({})\n   url: {url}", commit.short);
        }
        let _ = write!(out, "\n\nCompilation timestamp: {}\n", self.time);
        out
    }

    /// Returns the report for the API.
    pub fn to_value(&self, version: &str) -> Value {
        let config = |config: &Option<ConfigCheckout>| {
            config.as_ref().map(
                |config| json!({"gitSha": config.commit.full, "url": config.url, "version": config.version}),
            )
        };
        json!({
            "commodoreBuildInfo": {"version": version, "gitVersion": version},
            "global": config(&self.global),
            "instances": entries(&self.instances, true),
            "lastCompile": self.time,
            "packages": entries(&self.packages, false),
            "tenant": config(&self.tenant),
        })
    }
}

fn list(dependencies: &[Dependency]) -> String {
    let lines = dependencies.iter().map(|dependency| {
        let Dependency { name, component, url, version, path, commit, .. } = dependency;
        let component = if name == component { String::new() } else { format!(" ({component})") };
        let short = commit.as_ref().map(|commit| commit.short.as_str()).unwrap_or_default();
        let path = if path.is_empty() { String::new() } else { format!("\n   path: {path}") };
        format!(" * {name}{component}: {version} ({short})\n   url: {url}{path}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn entries(dependencies: &[Dependency], are_instances: bool) -> Map<String, Value> {
    let entry = |dependency: &Dependency| {
        let commit = dependency.commit.as_ref().map(|commit| commit.full.clone());
        let mut entry = json!({"gitSha": commit, "url": dependency.url, "version": dependency.version});
        if !dependency.path.is_empty() {
            entry["path"] = dependency.path.as_str().into();
        }
        if are_instances {
            entry["component"] = dependency.component.as_str().into();
        }
        (dependency.name.clone(), entry)
    };
    dependencies.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::dependencies::CommitId;

    #[test]
    fn the_message_lists_all_commits() {
        let commit = CommitId { full: "29c95272bf20".to_owned(), short: "29c952".to_owned() };
        let dependency = |name: &str, component: &str, path: &str| Dependency {
            name: name.to_owned(),
            component: component.to_owned(),
            url: "https://git.example.com/one.git".to_owned(),
            version: "v1.0.0".to_owned(),
            path: path.to_owned(),
            worktree: "/w".into(),
            commit: Some(commit.clone()),
        };
        let config = ConfigCheckout {
            url: "https://git.example.com/global.git".to_owned(),
            version: "master".to_owned(),
            commit: commit.clone(),
        };
        let report = CompileReport {
            instances: vec![dependency("one", "one", ""), dependency("two", "one", "sub")],
            packages: vec![],
            global: Some(config.clone()),
            tenant: Some(config),
            time: "2026-01-01T00:00:00.000+00:00".to_owned(),
        };
        assert_data_eq!(
            report.commit_message(),
            str![[r#"
Automated catalog update from Commodore

Component instance commits:
 * one: v1.0.0 (29c952)
   url: https://git.example.com/one.git
 * two (one): v1.0.0 (29c952)
   url: https://git.example.com/one.git
   path: sub

Package commits:


Configuration commits:
 * global: master (29c952)
   url: https://git.example.com/global.git
 * tenant: master (29c952)
   url: https://git.example.com/global.git

Compilation timestamp: 2026-01-01T00:00:00.000+00:00

"#]]
        );
        assert_eq!(
            report.to_value("1")["instances"]["two"],
            json!({"component": "one", "gitSha": "29c95272bf20", "path": "sub", "url": "https://git.example.com/one.git", "version": "v1.0.0"})
        );
    }
}
