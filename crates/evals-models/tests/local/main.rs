//! Local models against the Python libraries: see `make_checkpoints.py` for where the expected values come from.

mod checkpoints;
mod failures;
mod minilm;
