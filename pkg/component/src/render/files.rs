//! Reads the files of a folder: decrypted, limited, in a fixed order.

use std::borrow::Cow;
use std::sync::Arc;

use chart::{ResolvedPath, Tree, TreePath};

use super::error::RenderProblem;
use super::request::RenderRequest;

/// The most files of one rendering.
const MAX_FILES: usize = 20_000;

/// The most bytes of all files of one rendering.
const MAX_BYTES: usize = 256 << 20;

/// The deepest nesting of folders.
const MAX_DEPTH: usize = 100;

/// A file of a folder.
pub(super) struct SourceFile {
    /// The path relative to the folder.
    pub(super) path: String,
    /// The content, decrypted.
    pub(super) content: Arc<[u8]>,
}

/// Reads files within the limits of one rendering.
pub(super) struct FileReader<'a> {
    tree: &'a dyn Tree,
    request: &'a RenderRequest<'a>,
    files: usize,
    bytes: usize,
}

impl<'a> FileReader<'a> {
    pub(super) fn new(request: &'a RenderRequest<'a>) -> Self {
        Self { tree: request.tree, request, files: 0, bytes: 0 }
    }

    /// Reads the files of a folder and of the folders in it, in the order of their names. Links are left out.
    pub(super) fn read_folder(&mut self, folder: &TreePath) -> Result<Vec<SourceFile>, RenderProblem> {
        let mut files = Vec::new();
        self.walk(folder, folder, 0, &mut files)?;
        Ok(files)
    }

    fn walk(
        &mut self,
        top: &TreePath,
        folder: &TreePath,
        depth: usize,
        files: &mut Vec<SourceFile>,
    ) -> Result<(), RenderProblem> {
        if depth > MAX_DEPTH {
            return Err(RenderProblem::TooDeep { path: folder.clone(), limit: MAX_DEPTH });
        }
        for name in self.tree.list(folder)? {
            let path = folder.join(&name);
            match self.tree.resolve(&path)? {
                ResolvedPath::Folder(target) if target == path => self.walk(top, &path, depth + 1, files)?,
                ResolvedPath::File(target) if target == path => {
                    let content = self.read(&path)?;
                    files.push(SourceFile { path: path.relative_to(top), content });
                }
                ResolvedPath::Folder(_) | ResolvedPath::File(_) | ResolvedPath::Missing => {}
            }
        }
        Ok(())
    }

    /// Reads one file.
    pub(super) fn read(&mut self, path: &TreePath) -> Result<Arc<[u8]>, RenderProblem> {
        let content = self.read_encrypted(path)?;
        let Some(decrypt) = self.request.decrypt else { return Ok(content) };
        match decrypt(path.as_str(), &content) {
            Ok(None) => Ok(content),
            Ok(Some(plain)) => Ok(plain.into()),
            Err(error) => Err(RenderProblem::Decrypt { path: path.clone(), error }),
        }
    }

    /// Reads one file without decrypting it.
    pub(super) fn read_encrypted(&mut self, path: &TreePath) -> Result<Arc<[u8]>, RenderProblem> {
        let content = self.tree.read(path)?;
        self.files += 1;
        self.bytes = self.bytes.saturating_add(content.len());
        if self.files > MAX_FILES {
            return Err(RenderProblem::TooManyFiles { limit: MAX_FILES });
        }
        if self.bytes > MAX_BYTES {
            return Err(RenderProblem::TooLarge { limit: MAX_BYTES });
        }
        Ok(content)
    }

    /// Reads a file without decrypting it, if it exists.
    pub(super) fn read_optional(&mut self, path: &TreePath) -> Result<Option<Arc<[u8]>>, RenderProblem> {
        match self.tree.resolve(path)? {
            ResolvedPath::File(file) => self.read_encrypted(&file).map(Some),
            ResolvedPath::Folder(_) | ResolvedPath::Missing => Ok(None),
        }
    }
}

/// Returns the text of a file; bytes that are not UTF-8 become U+FFFD.
pub(super) fn text(content: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(content)
}

/// True if a name ends with a dot and this extension.
pub(super) fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}
