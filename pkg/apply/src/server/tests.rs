mod conformance;
mod faults;
mod objects;
mod scripts;
mod watches;
