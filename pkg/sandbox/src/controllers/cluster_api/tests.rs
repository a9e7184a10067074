//! Tests of complete clusters on an in-memory server, under both contracts.

mod fixture;
mod lifecycle;
mod rolling;
mod topology;
