//! Runs the built binary as a user would: in an empty home, without a network.

mod bad_input;
mod commands;
mod retrieval;
mod sandbox;
mod settings;
