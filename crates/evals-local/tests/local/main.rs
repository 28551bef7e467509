//! Local models against the Python libraries: see `make_checkpoints.py` for where the expected values come from.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod calls;
mod checkpoints;
mod decoders;
mod failures;
mod late_interaction;
mod minilm;
mod pytorch;
mod roles;
mod stated;
mod steps;
mod templates;
