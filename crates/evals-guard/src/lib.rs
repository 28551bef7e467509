//! Guards against foreign files that may never end or lose rows, foreign libraries that may panic, and files that are half written.
//!
//! [`csv`] reads tables and refuses those of which other readers lose rows silently.
//! [`regular_file`] opens and reads files without waiting for a pipe or filling the memory from a device. [`panics`] turns a panic
//! of a library that reads damaged bytes into an error. [`atomic_file`] writes a file as a whole or not at all.

pub mod atomic_file;
pub mod csv;
pub mod panics;
pub mod regular_file;
