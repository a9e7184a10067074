//! Compares capstan with the behaviour and output of reference programs.
//!
//! The golden cases of these programs are data outside the project. The cases of the API server are pages in `api/`:
//! see [`api`].

pub mod api;
