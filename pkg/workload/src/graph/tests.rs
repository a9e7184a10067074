//! The rules of a move, tested on facts.

pub(crate) mod builder;
mod order;
mod random;
mod scope;
mod subset;
mod whole;
