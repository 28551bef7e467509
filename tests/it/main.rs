//! Runs the built binary as a user would: in an empty home, without a network.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod commands;
#[cfg(unix)]
mod interrupted;
mod retrieval;
mod sandbox;
mod settings;
