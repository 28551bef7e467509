//! Guards against foreign files that may never end, and foreign libraries that may panic.
//!
//! [`regular_file`] opens and reads files without waiting for a pipe or filling the memory from a device. [`panics`] turns a panic
//! of a library that reads damaged bytes into an error.

pub mod panics;
pub mod regular_file;
