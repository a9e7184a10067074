//! The places of comments: which list or mapping a comment belongs to.
//!
//! A comment on its own line belongs to the innermost list or mapping that is not indented more than the comment. A
//! comment behind a value belongs to the value. A comment behind `key:` comes before this key.
//! Source: go.yaml.in/yaml/v3 3.0.4 as used by sops v3.13, for documents as sops prints them.

use zeroize::Zeroizing;

use crate::tree::Comment;

/// The comments since the last value.
#[derive(Default)]
pub(super) struct PendingComments(Vec<PendingComment>);

struct PendingComment {
    comment: Comment,
    column: usize,
    /// True if there is something before the comment on its line.
    is_behind: bool,
}

impl PendingComments {
    pub(super) fn push(&mut self, text: &str, column: usize, is_behind: bool) {
        let comment = Comment { text: Zeroizing::new(text.as_bytes().to_vec()), is_inline: false };
        self.0.push(PendingComment { comment, column, is_behind });
    }

    /// Takes all comments.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Comment> {
        std::mem::take(&mut self.0).into_iter().map(|pending| pending.comment)
    }

    /// Takes the comment behind the last key, if there is one.
    pub(super) fn take_behind(&mut self) -> Option<Comment> {
        self.0.first().is_some_and(|pending| pending.is_behind).then(|| self.0.remove(0).comment)
    }

    /// Takes the first comments as long as they have at least this column.
    pub(super) fn take_from(&mut self, column: usize) -> impl Iterator<Item = Comment> {
        let count = self.0.iter().take_while(|pending| pending.column >= column).count();
        self.0.drain(..count).map(|pending| pending.comment).collect::<Vec<_>>().into_iter()
    }

    /// Takes the first comments as long as they have at most this column and are on their own line.
    pub(super) fn take_up_to(&mut self, column: usize) -> impl Iterator<Item = Comment> {
        let count =
            self.0.iter().take_while(|pending| pending.column <= column && !pending.is_behind).count();
        self.0.drain(..count).map(|pending| pending.comment).collect::<Vec<_>>().into_iter()
    }
}
