mod aborted;
mod carried;
mod disturbed;
mod killed;
mod trouble;
pub(in crate::mover) mod world;
