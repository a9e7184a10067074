//! Whole clusters on a server in memory, under both contracts.

mod fixture;
mod life;
mod managed;
mod rolling;
