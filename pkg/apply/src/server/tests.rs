mod both;
mod faults;
mod objects;
mod scripts;
mod watches;
