//! Tokens with three tokens of look-ahead.

use super::lex::{Kind, Lexer, Token};

pub(super) struct Tokens<'t> {
    lexer: Lexer<'t>,
    /// Tokens that were put back; the last one comes next.
    pending: Vec<Token<'t>>,
    /// The line of the token that the lexer returned last, or that was put back deepest, as Go reports it.
    line: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(lexer: Lexer<'t>) -> Self {
        Self { lexer, pending: Vec::new(), line: 1 }
    }

    /// The line of errors.
    pub(super) fn last_line(&self) -> usize {
        self.line
    }

    fn read(&mut self) -> Token<'t> {
        let token = self.lexer.next_token();
        self.line = token.line;
        token
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        match self.pending.pop() {
            Some(token) => token,
            None => self.read(),
        }
    }

    pub(super) fn peek(&mut self) -> &Token<'t> {
        if self.pending.is_empty() {
            let token = self.read();
            self.pending.push(token);
        }
        &self.pending[self.pending.len() - 1]
    }

    pub(super) fn next_non_space(&mut self) -> Token<'t> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    /// Skips spaces and returns the next token without reading it.
    pub(super) fn peek_non_space(&mut self) -> &Token<'t> {
        while self.peek().kind == Kind::Space {
            self.next();
        }
        self.peek()
    }

    pub(super) fn back_up(&mut self, token: Token<'t>) {
        self.pending.push(token);
    }
}
