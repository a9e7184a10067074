//! INI: sections with fields, and comments above them.
//!
//! Source: sops v3.13 stores/ini; gopkg.in/ini.v1 1.67.3, which it uses with repeated sections allowed. A comment
//! above a section is the first entry of the section; a comment above a field follows the field. The fields before the
//! first section are those of the section `DEFAULT`.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

/// The section of fields without a section.
const DEFAULT_SECTION: &str = "DEFAULT";
/// The texts that separate a key from its value.
const DELIMITERS: [char; 2] = ['=', ':'];
