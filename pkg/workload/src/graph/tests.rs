//! The rules of a move, tested on facts.

pub(crate) mod builder;
mod full_move;
mod order;
mod random;
mod scope;
mod subset;
