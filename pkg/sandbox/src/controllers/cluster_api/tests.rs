//! Tests of complete clusters on an in-memory server, under both contracts.

mod fixture;
mod life;
mod managed;
mod rolling;
