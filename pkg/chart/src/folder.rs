//! The files of a chart in a folder.

use crate::archive::MAX_FILE_BYTES;
use crate::files::ChartFile;
use crate::ignore::{IgnoreError, IgnoreRules};
use crate::tree::{ResolvedPath, Tree, TreeError, TreePath};

/// The deepest nesting of folders.
const MAX_DEPTH: usize = 100;

/// A folder that cannot be read as a chart.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum FolderError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("cannot read `{path}`: {error}")]
    Ignore { path: TreePath, error: IgnoreError },
    #[error("chart file `{path}` is larger than {MAX_FILE_BYTES} bytes")]
    TooLarge { path: TreePath },
    #[error("the link `{path}` points to a folder that contains it")]
    Loop { path: TreePath },
    #[error("`{path}` is outside `{top}`")]
    Outside { path: TreePath, top: TreePath },
}

/// Reads the files of a chart in the order of names, without those in `.helmignore`. Links are followed, as Helm does,
/// but not out of `top`.
/// # Errors
/// A folder or file that cannot be read, a file that is too large, a link to a folder that contains it.
pub fn read_folder(
    tree: &dyn Tree,
    folder: &TreePath,
    top: Option<&TreePath>,
) -> Result<Vec<ChartFile>, FolderError> {
    let path = folder.join(".helmignore");
    let rules = match tree.resolve(&path)? {
        ResolvedPath::File(file) => IgnoreRules::parse(&String::from_utf8_lossy(&tree.read(&file)?))
            .map_err(|error| FolderError::Ignore { path, error })?,
        ResolvedPath::Folder(_) | ResolvedPath::Missing => IgnoreRules::default(),
    };
    let mut reader = FolderReader { tree, top, rules, open: Vec::new(), files: Vec::new() };
    reader.read_folder(folder, "")?;
    Ok(reader.files)
}

struct FolderReader<'a> {
    tree: &'a dyn Tree,
    top: Option<&'a TreePath>,
    rules: IgnoreRules,
    /// The canonical paths of the open folders, to detect a link to one of them.
    open: Vec<TreePath>,
    files: Vec<ChartFile>,
}

impl FolderReader<'_> {
    fn read_folder(&mut self, folder: &TreePath, prefix: &str) -> Result<(), FolderError> {
        if self.open.contains(folder) || self.open.len() > MAX_DEPTH {
            return Err(FolderError::Loop { path: folder.clone() });
        }
        self.open.push(folder.clone());
        for name in self.tree.list(folder)? {
            self.read_entry(&folder.join(&name), format!("{prefix}{name}"))?;
        }
        self.open.pop();
        Ok(())
    }

    fn read_entry(&mut self, entry: &TreePath, path: String) -> Result<(), FolderError> {
        match self.tree.resolve(entry)? {
            // A link without a target.
            ResolvedPath::Missing => {
                self.tree.read(entry)?;
                Ok(())
            }
            ResolvedPath::Folder(_) if self.rules.ignores(&path, true) => Ok(()),
            ResolvedPath::File(_) if self.rules.ignores(&path, false) => Ok(()),
            ResolvedPath::Folder(folder) => {
                self.check_top(&folder)?;
                self.read_folder(&folder, &format!("{path}/"))
            }
            ResolvedPath::File(file) => {
                self.check_top(&file)?;
                let content = self.tree.read(&file)?;
                if content.len() as u64 > MAX_FILE_BYTES {
                    return Err(FolderError::TooLarge { path: file });
                }
                self.files.push(ChartFile::new(path, content));
                Ok(())
            }
        }
    }

    fn check_top(&self, path: &TreePath) -> Result<(), FolderError> {
        match self.top.filter(|top| !path.is_in(top)) {
            None => Ok(()),
            Some(top) => Err(FolderError::Outside { path: path.clone(), top: top.clone() }),
        }
    }
}
