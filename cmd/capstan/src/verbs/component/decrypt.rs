use std::path::Path;

use sops::{DecryptionKeys, Zeroizing};

use super::values::read_file;
use crate::{Failure, WithContext as _, session::Session};

/// Decrypt a file of SOPS with age and PGP keys
///
/// The file name determines the format of the output: `.yaml`, `.yml`, `.json`, `.env`, `.ini`, or else binary. A file that
/// is not encrypted is printed unchanged. A file that was changed after its encryption is an error. Keys of the
/// environment and of the home folder are never used.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component decrypt secret.yaml --keys keys

  # keys/team.agekey has age identities, keys/ops.asc has a PGP private key
  {bin} component decrypt values.env --keys keys > values.plain.env")]
pub(crate) struct Decrypt {
    /// File to decrypt
    #[arg(value_name = "FILE")]
    file: String,

    /// Folder with age identities (`*.agekey`) and armored PGP private keys (`*.asc`)
    #[arg(long, value_name = "DIR")]
    keys: String,
}

/// Source: component-operator, which decrypts the files of a source in the same way. Differs: it ignores the MAC.
pub(super) fn run(args: &Decrypt, session: &mut Session) -> Result<(), Failure> {
    let keys = read_keys(&args.keys, session)?;
    let content = read_file(&args.file, session.environment())?;
    if !sops::is_encrypted(&content) {
        return session.printer().write(content);
    }
    let name = Path::new(&args.file).file_name().unwrap_or_default().to_string_lossy();
    let text =
        sops::decrypt(&name, &content, &keys).with_context(|| format!("cannot decrypt `{}`", args.file))?;
    session.printer().write(&*text)
}

/// Reads the keys of a folder, in the order of their names.
fn read_keys(folder: &str, session: &Session) -> Result<DecryptionKeys, Failure> {
    let path = session.environment().resolve(folder);
    let cannot = |error| Failure::io("read", &path, &error);
    let mut files = Vec::new();
    for entry in path.read_dir().map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name().to_string_lossy().into_owned();
        if DecryptionKeys::is_key_file(&name) {
            let content = Zeroizing::new(read_file(&format!("{folder}/{name}"), session.environment())?);
            files.push((name, content));
        }
    }
    files.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(DecryptionKeys::from_files(files.iter().map(|(name, content)| (name, content.as_slice())))?)
}
