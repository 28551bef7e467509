//! Datasets from end to end: a hub that fails on request, the bundled samples, and real data if available.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test fails, in the functions that tests share too"
)]

mod fake_hub;
mod fuzz;
mod hub_cache;
mod hub_failures;
mod hub_hostile;
mod hub_models;
mod hub_partial;
mod hub_protocol;
mod published;
mod questions_of_people;
mod real_data;
mod samples;
mod tables;
