//! Tests of faults at every request, and of the number of requests.

mod faults;
mod requests;
