//! `backup inspect` and `backup verify`: show and check a backup without a cluster.

use std::{fmt::Write as _, path::PathBuf};

use api::output::BackupReport;
use mover::BackupManifest;

use super::encryption::DecryptionFlags;
use crate::{
    Failure,
    session::Session,
    settings::{OutputFlag, OutputFormat},
    ui::{Messages, NarrowingStep, format_count, sanitize_line, table},
};

/// The flags of both verbs.
#[derive(clap::Args)]
pub(super) struct InputFlags {
    /// Backup file to read
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    opening: DecryptionFlags,
}

impl InputFlags {
    fn verify(&self, session: &Session) -> Result<(OutputFormat, BackupManifest, BackupReport), Failure> {
        let format = self.output.format()?;
        let (index, lock) = self.opening.verify(&self.file, session)?;
        let backup = index.report(&self.file.display().to_string(), lock);
        Ok((format, index.manifest, backup))
    }
}

pub(super) fn inspect(args: &InputFlags, session: &mut Session) -> Result<(), Failure> {
    let (format, _, backup) = args.verify(session)?;
    session.print(format, &backup, text)
}

pub(super) fn verify(args: &InputFlags, session: &mut Session) -> Result<(), Failure> {
    let (format, manifest, backup) = args.verify(session)?;
    summarize(&manifest, session.messages());
    session.messages().status(format!("verified `{}`: {}", backup.file, contents_summary(&backup)));
    session.print(format, &backup, |_, _| String::new())
}

/// Returns the text of `backup inspect`.
pub(super) fn text(backup: &BackupReport, width: Option<usize>) -> String {
    let mut text = String::new();
    let made_by = backup.made_by.as_ref().map(|version| format!(" by capstan {version}")).unwrap_or_default();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<13}{}", sanitize_line(value));
    };
    line("created", &format!("{}{made_by}", backup.created));
    line("source", &backup.source.address);
    line("cluster uid", &backup.source.uid);
    line("paused", if backup.paused { "yes" } else { "no" });
    line("encryption", backup.encryption.as_str());
    line("namespaces", &backup.namespaces.join(", "));
    line("objects", &backup.objects.to_string());
    let clusters = backup.clusters.iter().map(|one| {
        [
            format!("{}/{}", one.namespace, one.name),
            one.version.clone().unwrap_or_else(|| "-".to_owned()),
            one.machines.to_string(),
            if one.paused { "yes" } else { "no" }.to_owned(),
        ]
    });
    let ways = [NarrowingStep::Shorten("CLUSTER", 24)];
    add(&mut text, width, &ways, ["CLUSTER", "VERSION", "MACHINES", "PAUSED"], clusters);
    let providers =
        backup.providers.iter().map(|one| [one.provider.label(), one.version.clone(), one.namespace.clone()]);
    let ways = [NarrowingStep::Shorten("NAMESPACE", 12), NarrowingStep::Shorten("PROVIDER", 16)];
    add(&mut text, width, &ways, ["PROVIDER", "VERSION", "NAMESPACE"], providers);
    let kinds = backup.kinds.iter().map(|one| {
        let group = if one.group.is_empty() { "-" } else { &one.group };
        [one.kind.clone(), one.objects.to_string(), group.to_owned()]
    });
    let ways = [NarrowingStep::Shorten("GROUP", 16), NarrowingStep::Shorten("KIND", 16)];
    add(&mut text, width, &ways, ["KIND", "OBJECTS", "GROUP"], kinds);
    if !backup.left_out.is_empty() {
        text.push_str("\nskipped\n");
        for one in &backup.left_out {
            let _ =
                writeln!(text, "  {}: {}", sanitize_line(&one.object.to_string()), sanitize_line(&one.why));
        }
    }
    if !backup.not_ready.is_empty() {
        text.push_str("\nnot ready\n");
        for note in &backup.not_ready {
            let _ = writeln!(text, "  {}", sanitize_line(note));
        }
    }
    text
}

/// Adds a table after an empty line, if the table has rows.
fn add<const N: usize>(
    text: &mut String,
    width: Option<usize>,
    ways: &[NarrowingStep],
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let rows: Vec<[String; N]> = rows.collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(width, ways, head, &rows));
    }
}

/// Shows the origin of a backup and warns about missing objects.
pub(in crate::verbs) fn summarize(manifest: &BackupManifest, messages: &Messages) {
    let about = &manifest.origin;
    let paused = if about.at_rest { "with Clusters paused" } else { "without a pause" };
    let (address, created) = (sanitize_line(&about.source.address), sanitize_line(&about.created));
    messages.status(format!("backup of {address} at {created}, {paused}"));
    for note in &about.notes {
        messages.warning(format!("not ready at the time of the backup: {}", sanitize_line(note)));
    }
    for one in &manifest.left_out {
        let object = one.object.to_string();
        messages.warning(format!(
            "not in the backup: {} ({})",
            sanitize_line(&object),
            sanitize_line(&one.why)
        ));
    }
}

/// Returns a text such as `8 objects of 1 Cluster`.
pub(super) fn contents_summary(backup: &BackupReport) -> String {
    format!(
        "{} of {}",
        format_count(backup.objects, "object"),
        format_count(backup.clusters.len(), "Cluster")
    )
}

#[cfg(test)]
mod tests {
    use api::{
        ObjectKey, ProviderId, ProviderType,
        output::{BackupCluster, BackupEncryption, BackupKind, BackupProvider, BackupSource, StayingObject},
    };
    use snapbox::{assert_data_eq, str};

    use super::*;

    // Row: D-302
    #[test]
    fn inspect_shows_clusters_providers_kinds_and_gaps() {
        let cluster = |name: &str, version: Option<&str>, paused| BackupCluster {
            namespace: "team".to_owned(),
            name: name.to_owned(),
            version: version.map(str::to_owned),
            machines: 3,
            paused,
        };
        let backup = BackupReport {
            file: "a.tar.gz".to_owned(),
            created: "2026-01-02T03:04:05Z".to_owned(),
            made_by: Some("0.1.0".to_owned()),
            source: BackupSource { address: "https://one".to_owned(), uid: "u-1".to_owned() },
            paused: false,
            encryption: BackupEncryption::PublicKeys,
            namespaces: vec!["team".to_owned()],
            objects: 9,
            clusters: vec![cluster("blue", Some("v1.35.0"), false), cluster("red", None, true)],
            kinds: vec![BackupKind { kind: "Secret".to_owned(), group: String::new(), objects: 9 }],
            providers: vec![BackupProvider {
                provider: ProviderId::new(ProviderType::Infrastructure, "docker"),
                version: "v1.14.0".to_owned(),
                namespace: "capd-system".to_owned(),
            }],
            left_out: vec![StayingObject {
                object: ObjectKey {
                    group: String::new(),
                    kind: "Secret".to_owned(),
                    namespace: "team".to_owned(),
                    name: "gone".to_owned(),
                },
                why: "it is being deleted".to_owned(),
            }],
            not_ready: vec!["there is no node yet: Machine team/blue-0".to_owned()],
            removed: Vec::new(),
        };
        assert_data_eq!(
            text(&backup, None),
            str![[r#"
created      2026-01-02T03:04:05Z by capstan 0.1.0
source       https://one
cluster uid  u-1
paused       no
encryption   age public keys
namespaces   team
objects      9

CLUSTER     VERSION   MACHINES   PAUSED
team/blue   v1.35.0   3          no
team/red    -         3          yes

PROVIDER                VERSION   NAMESPACE
infrastructure-docker   v1.14.0   capd-system

KIND      OBJECTS   GROUP
Secret    9         -

skipped
  Secret team/gone: it is being deleted

not ready
  there is no node yet: Machine team/blue-0

"#]]
        );
        assert_data_eq!(contents_summary(&backup), str!["9 objects of 2 Clusters"]);
    }
}
