//! Tests of charts in a lock.

use super::*;
use crate::{LockFile, LockSettings, ReleaseSettings, UnlockedPolicy};

/// Fetches a chart of the registry under a lock that has these versions and archives.
async fn fetch_under_lock(
    settings: Settings,
    (chart, range): (&str, &str),
    locked: &[(&str, &str)],
) -> Result<FetchedChart, ChartSourceError> {
    let versions =
        locked.iter().map(|(version, archive)| ((*version).to_owned(), Digest::of(archive.as_bytes())));
    let charts = [("oci://ghe.example.org/team/web".to_owned(), versions.collect())].into();
    let lock = LockSettings {
        lock: LockFile { charts, ..LockFile::default() },
        location: "capstan.lock".to_owned(),
        unlocked_policy: UnlockedPolicy::Refused,
        chart_folder: None,
    };
    let releases = ReleaseSettings { lock: Some(lock.into()), ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(settings, releases);
    let source = ChartSource::of_url(chart, AddressOrigin::User)?;
    source.fetch(&VersionRange::parse(range, false).unwrap(), &context).await
}

// Row: D-516
#[tokio::test]
async fn a_chart_of_a_registry_is_read_as_locked() {
    let host = FakeHost::internet();
    serve_tags(&host, &["1.2.0", "1.10.0", "2.0.0"]);
    push(&host, "1.10.0", "moved");
    push(&host, "2.0.0", "2.0.0");
    let digest = push(&host, "1.2.0", "1.2.0");
    let locked = [("1.2.0", "1.2.0"), ("1.10.0", "1.10.0"), ("2.0.0-rc.1", "2.0.0-rc.1")];
    let web = "oci://ghe.example.org/team/web";
    let mut shown = Vec::new();
    for request in [
        (web, "~1.2"),
        (web, "^1"),
        (web, "2.0.0"),
        (&format!("{web}:1.2.0"), ""),
        (&format!("{web}:1.2.0"), "1.3.0"),
        (&format!("{web}:latest"), ""),
        (&format!("{web}@{digest}"), ""),
        (&format!("{web}:1.10.0@{digest}"), ""),
        ("https://ghe.example.org/web.tgz", ""),
    ] {
        shown.push(show(fetch_under_lock(settings(&host), request, &locked).await));
    }
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
1.2.0 = 1.2.0 of oci://ghe.example.org/team/web:1.2.0

chart `oci://ghe.example.org/team/web` 1.10.0 does not match the lock: `oci://ghe.example.org/team/web:1.10.0` has sha256:5edd1832df25e2f1a72585c0ee55c1e585e7f4902eb1d15f7abf1c71c1b296ae, `capstan.lock` has sha256:e91dee3b412922e56d788d757cd30eaaae92b0846323abdb99eeb58b9cfe30c1
hint: review the change; accept it with `capstan lock --update oci://ghe.example.org/team/web:1.10.0`

chart `oci://ghe.example.org/team/web` is locked at 1.10.0, 1.2.0, 2.0.0-rc.1 in `capstan.lock`, not at `2.0.0`
hint: omit the version, or lock it with `capstan lock --chart oci://ghe.example.org/team/web:2.0.0`

1.2.0 = 1.2.0 of oci://ghe.example.org/team/web:1.2.0

cannot use version `1.3.0` of `oci://ghe.example.org/team/web`: the reference has the tag `1.2.0`
hint: omit `--version`, or omit the tag

chart `oci://ghe.example.org/team/web` is locked at 1.10.0, 1.2.0, 2.0.0-rc.1 in `capstan.lock`, not at `latest`
hint: omit the version, or lock it with `capstan lock --chart oci://ghe.example.org/team/web:latest`

1.2.0 = - of oci://ghe.example.org/team/web@sha256:10a1e445d52376a184a8bfb8ddada463317b2097115acbe6c997835ecb77ed92

the tag `1.10.0` of `oci://ghe.example.org/team/web` has digest sha256:6ecd9717aa6e1274d9b5f64999c15881545c3b908ca9af3d81b1a2ca5426a9b4, expected sha256:10a1e445d52376a184a8bfb8ddada463317b2097115acbe6c997835ecb77ed92
hint: the tag has moved; review the new chart, or omit the tag and the version

chart `https://ghe.example.org/web.tgz` is not in `capstan.lock`, and unlocked charts are not allowed
hint: lock it with `capstan lock --chart https://ghe.example.org/web.tgz`
"#]]
    );
}

#[tokio::test]
async fn a_damaged_copy_of_a_locked_chart_is_fetched_again() {
    let (host, folder) = (FakeHost::internet(), tempfile::tempdir().unwrap());
    push(&host, "1.2.0", "chart");
    let fetch = |settings| {
        fetch_under_lock(settings, ("oci://ghe.example.org/team/web", "^1"), &[("1.2.0", "chart")])
    };
    fetch(cached(&host, &folder)).await.unwrap();
    let requests = host.addresses().len();
    let offline = || Settings { network: NetworkAccess::Forbidden, ..cached(&host, &folder) };
    assert_eq!(fetch(offline()).await.unwrap().bytes, "chart");
    let hex = Digest::of(b"chart").hex();
    let blobs = walk(folder.path()).into_iter().filter(|path| path.ends_with(&hex));
    assert_eq!(blobs.map(|path| std::fs::write(path, "chars").unwrap()).count(), 1);
    assert!(fetch(offline()).await.unwrap_err().is_offline());
    assert_eq!(host.addresses().len(), requests);
    assert_eq!(fetch(cached(&host, &folder)).await.unwrap().bytes, "chart");
}

/// Returns all files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_chart_has_one_name_however_it_is_written() {
    let name = |chart: &str, repository: &str| {
        ChartSource::parse(chart, Some(repository), AddressOrigin::User).unwrap().name()
    };
    let of_url = |url: &str| ChartSource::of_url(url, AddressOrigin::User).map(|source| source.name());
    for (chart, repository, url) in [
        ("web", "https://Files.example.org:443/charts/", "https://files.example.org/charts/web"),
        ("web", "https://me:pa55@files.example.org?token=x", "https://files.example.org/web"),
        ("web", "oci://ghe.example.org/team/", "oci://ghe.example.org/team/web"),
        ("oci://ghe.example.org/team/web:1.2.0", "", "oci://ghe.example.org/team/web"),
        ("https://files.example.org/web-1.tgz#top", "", "https://files.example.org/web-1.tgz"),
    ] {
        assert_eq!(name(chart, repository), url);
        assert_eq!(of_url(url).unwrap(), url);
    }
    for url in ["https://files.example.org", "https://files.example.org//"] {
        assert!(matches!(of_url(url), Err(ChartSourceError::NoChartName { .. })), "{url}");
    }
}
