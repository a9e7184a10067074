//! Renders Helm charts: the text that `helm template` prints, from files in memory.
//!
//! ```text
//! files or archive ─► Chart ─► instances: aliases, enabled subcharts, imported values
//! files, --set ─────► Values ─► coalesce ─► data of each chart ─► templates ─► manifests, hooks, notes ─► text
//! ```
//!
//! | module | content |
//! |---|---|
//! | `tree`, `folder`, `archive`, `ignore`, `files` | the files of a chart, in a folder or packed |
//! | `metadata`, `lock`, `decode` | `Chart.yaml` and `Chart.lock`, read as Go reads them |
//! | `values` | the values of a user |
//! | `instance`, `coalesce` | subcharts and the merging of values |
//! | `objects`, `file_object`, `capabilities` | `.Chart`, `.Capabilities`, `.Files` |
//! | `schema` | checks of values |
//! | `compile`, `chart` | rendering; templates are parsed once |
//! | `lookup` | the objects of a cluster that templates read |
//! | `provenance` | the template and the values behind each field |
//! | `manifest`, `print`, `show` | documents, hooks, order, and the text |
//! | `lint` | findings in a chart, those of `helm lint` and more |
//! | `index`, `version_range` | the index of a repository, and the choice of a version |
//!
//! Deliberately absent: disk, network, clock, environment.

mod archive;
mod capabilities;
mod chart;
mod coalesce;
mod compile;
mod decode;
mod error;
mod file_object;
mod files;
mod folder;
mod glob;
mod hints;
mod ignore;
mod index;
mod instance;
mod lint;
mod lock;
mod lookup;
mod manifest;
mod metadata;
mod objects;
mod options;
mod print;
mod provenance;
mod release;
mod schema;
mod show;
#[cfg(test)]
mod tests;
mod tree;
mod value_tree;
mod values;
mod version_range;

pub use archive::{ArchiveError, read_archive};
pub use capabilities::{Capabilities, KubeVersion, KubeVersionError};
pub use chart::{Chart, Rendered};
pub use decode::TypeError;
pub use error::{ChartError, TemplatePosition};
pub use file_object::{FilesDialect, files_value};
pub use files::ChartFile;
pub use folder::{FolderError, read_folder};
pub use glob::{BadPattern, compile_glob, matches_path};
pub use ignore::{IgnoreError, IgnoreReason};
pub use index::{IndexError, IndexedVersion, chart_versions};
pub use lint::{Finding, Severity, lint};
pub use lock::locked_dependencies;
pub use lookup::{ObjectLookup, ObjectQuery, object_value};
pub use manifest::{Hook, HookEvent, Manifest};
pub use metadata::{Dependency, Maintainer, Metadata, MetadataError};
pub use options::RenderOptions;
pub use print::{NoSuchTemplate, PrintOptions, RenderedDocument};
pub use provenance::{ObjectsError, OutputPieces, TemplateSources};
pub use release::{Release, ReleaseNameError};
pub use schema::{SchemaProblem, SchemaReport};
pub use template::{Limit, Problem, is_version};
pub use tree::{MemoryTree, ResolvedPath, Tree, TreeError, TreePath};
pub use value_tree::TableError;
pub use values::{AssignmentError, Values, ValuesError};
pub use version_range::{VersionRange, VersionRangeError, sort_newest_first};
