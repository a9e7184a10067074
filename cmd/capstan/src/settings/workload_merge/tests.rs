use std::{fs, thread};

use super::*;
use crate::settings::UnsafeFields;

fn kubeconfig(name: &str, server: &str, token: &str) -> Value {
    json!({
        "current-context": format!("{name}-admin@{name}"),
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": "Q0E="}}],
        "users": [{"name": format!("{name}-admin"), "user": {"token": token}}],
        "contexts": [{
            "name": format!("{name}-admin@{name}"), "context": {"cluster": name, "user": format!("{name}-admin")},
        }],
    })
}

fn parse(content: &Value, name: Option<&str>) -> WorkloadContext {
    WorkloadContext::parse(content.to_string().as_bytes(), name, UnsafeFields::Reject).unwrap()
}

/// A folder with the kubeconfig `config` of a user.
struct User {
    folder: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn with(config: &Value) -> Self {
        let user = Self::new();
        fs::write(user.file("config"), config.to_string()).unwrap();
        user
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self) -> Value {
        Value::Object(read(&self.file("config")).unwrap().unwrap_or_default())
    }

    fn merge(&self, content: &Value, name: Option<&str>) -> Result<Value, Failure> {
        let kubeconfig = std::env::join_paths([self.file("config"), self.file("second")]).unwrap();
        let environment = Environment::new([("KUBECONFIG", kubeconfig)], "/");
        let path = merge_workload(&parse(content, name), Path::new(""), &environment)?;
        assert_eq!(path, self.file("config"));
        Ok(self.read())
    }

    /// Asserts that a merge fails and leaves the file unchanged.
    fn refused(&self, content: &Value, name: Option<&str>) {
        let before = fs::read(self.file("config")).unwrap();
        let failure = self.merge(content, name).unwrap_err();
        assert_eq!(failure.kind(), Kind::Environment, "{failure:?}");
        assert_eq!(fs::read(self.file("config")).unwrap(), before);
    }
}

fn hub() -> Value {
    json!({
        "current-context": "hub",
        "clusters": [{"name": "hub", "cluster": {"server": "https://hub", "certificate-authority-data": "SFVC"}}],
        "users": [{"name": "hub-admin", "user": {"token": "admin"}}],
        "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "hub-admin"}}],
    })
}

fn names(document: &Value, list: &str) -> Vec<String> {
    let entries = document[list].as_array().unwrap();
    entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

// Row: D-260
#[test]
fn a_secret_cannot_redirect_a_context_of_the_user() {
    let user = User::with(&hub());
    let attack = |cluster: Value, name: &str, token: &str| {
        json!({
            "current-context": "demo",
            "clusters": [{"name": "hub", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": "demo", "context": {"cluster": "hub", "user": name}}],
        })
    };
    let other_ca = json!({"server": "https://hub", "certificate-authority-data": "RVZJTA=="});
    let other_server = json!({"server": "https://evil", "certificate-authority-data": "SFVC"});
    for cluster in [other_ca, other_server] {
        user.refused(&attack(cluster, "demo", "evil"), None);
    }
    let same = json!({"server": "https://hub", "certificate-authority-data": "SFVC"});
    user.refused(&attack(same.clone(), "hub-admin", "evil"), None);
    let mut taking_the_context = attack(same.clone(), "demo", "evil");
    taking_the_context["current-context"] = json!("hub");
    taking_the_context["contexts"][0]["name"] = json!("hub");
    user.refused(&taking_the_context, None);
    // The same cluster with its own user is harmless.
    let merged = user.merge(&attack(same, "demo", "mine"), None).unwrap();
    assert_eq!(merged["clusters"], hub()["clusters"]);
    assert_eq!(names(&merged, "contexts"), ["hub", "demo"]);
}

// Row: D-260
#[test]
fn entries_in_the_other_files_of_the_user_count_too() {
    let user = User::with(&json!({"clusters": []}));
    fs::write(user.file("second"), hub().to_string()).unwrap();
    let mut attack = kubeconfig("hub", "https://evil", "evil");
    user.refused(&attack, None);
    attack["clusters"][0]["name"] = json!("demo");
    attack["contexts"][0]["context"] = json!({"cluster": "demo", "user": "hub-admin"});
    attack["users"][0]["name"] = json!("hub-admin");
    user.refused(&attack, None);
    assert!(user.merge(&attack, Some("demo")).is_ok());
}

#[test]
fn a_context_without_its_entries_is_not_completed() {
    let user = User::with(&json!({"contexts": hub()["contexts"]}));
    user.refused(&kubeconfig("hub", "https://evil", "evil"), None);
}

#[test]
fn other_entries_and_the_current_context_stay() {
    let mut theirs = hub();
    theirs["extensions"] = json!(["kept"]);
    let merged = User::with(&theirs).merge(&kubeconfig("demo", "https://demo", "t"), None).unwrap();
    assert_eq!((&merged["current-context"], &merged["extensions"]), (&json!("hub"), &json!(["kept"])));
    assert_eq!(names(&merged, "contexts"), ["hub", "demo-admin@demo"]);
    assert_eq!(names(&merged, "users"), ["hub-admin", "demo-admin"]);
}

#[test]
fn a_new_file_is_private_and_starts_with_the_context() {
    let user = User::new();
    let kubeconfig = kubeconfig("demo", "https://demo", "t");
    let environment = Environment::new([("KUBECONFIG", user.file("config"))], "/");
    merge_workload(&parse(&kubeconfig, None), Path::new(""), &environment).unwrap();
    assert_eq!(user.read()["current-context"], "demo-admin@demo");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(user.file("config")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_repeated_merge_renews_credentials_and_keeps_added_fields() {
    let user = User::with(&json!({}));
    user.merge(&kubeconfig("demo", "https://demo", "old"), None).unwrap();
    let mut edited = user.read();
    edited["contexts"][0]["context"]["namespace"] = json!("team");
    edited["clusters"][0]["cluster"]["proxy-url"] = json!("http://mine");
    fs::write(user.file("config"), edited.to_string()).unwrap();
    let merged = user.merge(&kubeconfig("demo", "https://demo/", "new"), None).unwrap();
    edited["users"][0]["user"]["token"] = json!("new");
    assert_eq!(merged, edited);
}

#[test]
fn another_cluster_of_the_same_name_needs_another_name() {
    let user = User::with(&json!({}));
    user.merge(&kubeconfig("demo", "https://one", "one"), None).unwrap();
    let other = kubeconfig("demo", "https://two", "two");
    user.refused(&other, None);
    user.refused(&other, Some("demo-admin@demo"));
    let merged = user.merge(&other, Some("two")).unwrap();
    assert_eq!(names(&merged, "clusters"), ["demo", "two"]);
    assert_eq!(merged["contexts"][1], json!({"name": "two", "context": {"cluster": "two", "user": "two"}}));
    assert_eq!(user.merge(&other, Some("two")).unwrap(), merged);
}

// Row: D-260
#[test]
fn eight_merges_at_once_leave_eight_contexts() {
    let user = User::with(&hub());
    thread::scope(|scope| {
        for number in 0..8 {
            let user = &user;
            let name = format!("demo-{number}");
            scope.spawn(move || user.merge(&kubeconfig(&name, "https://demo", "t"), None).unwrap());
        }
    });
    let merged = user.read();
    for list in ["clusters", "users", "contexts"] {
        assert_eq!(names(&merged, list).len(), 9, "{list}");
    }
    assert!(!user.file("config.lock").exists());
}
