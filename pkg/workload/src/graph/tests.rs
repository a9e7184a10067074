//! The rules of a move, on facts alone.

pub(crate) mod builder;
mod order;
mod random;
mod scope;
mod subset;
mod whole;
