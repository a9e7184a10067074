mod aborted;
mod carried;
mod disturbed;
mod foreign;
mod killed;
mod resting;
mod trouble;
pub(in crate::mover) mod world;
