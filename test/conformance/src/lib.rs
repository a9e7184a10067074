//! Compares capstan with what its peers do and print.
//!
//! The golden cases of the peers are data outside the project. The cases of the API server are pages in `api/`: see
//! [`api`].

pub mod api;
