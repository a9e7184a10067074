//! Lines such as `NAME=value`, in which `\n` stands for a line feed.
//!
//! Source: sops v3.13 stores/dotenv.

use zeroize::Zeroizing;

use crate::SopsError;
use crate::tree::{Branch, Comment, Entry, Secret, Value, flat_text};

pub(crate) fn read(text: &str) -> Result<Branch, SopsError> {
    let lines = text.split('\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(index, line)| {
            if let Some(comment) = line.strip_prefix('#') {
                return Ok(Entry::Comment(Comment::new(comment.as_bytes())));
            }
            let Some((key, value)) = line.split_once('=') else {
                let problem = format!("line {} has no `=`", index + 1);
                return Err(SopsError::Syntax { format: "dotenv", problem });
            };
            Ok(Entry::field(key, Value::text(value.replace("\\n", "\n"))))
        })
        .collect()
}

pub(crate) fn write(branch: &[Entry]) -> Result<Secret, SopsError> {
    let mut out = Zeroizing::new(Vec::new());
    for entry in branch {
        match entry {
            Entry::Comment(comment) => {
                out.push(b'#');
                out.extend_from_slice(&comment.text);
            }
            Entry::Field { key, value } => {
                let text = flat_text(value).ok_or_else(|| {
                    let problem = format!("`{key}` is a list or a mapping");
                    SopsError::Output { format: "dotenv", problem }
                })?;
                out.extend_from_slice(key.as_bytes());
                out.push(b'=');
                for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
                    if index > 0 {
                        out.extend_from_slice(b"\\n");
                    }
                    out.extend_from_slice(line);
                }
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}
