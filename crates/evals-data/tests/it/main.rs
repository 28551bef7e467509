//! Datasets from end to end: against a hub that misbehaves on request, the bundled samples, and real data where it is.

mod fake_hub;
mod hub_cache;
mod hub_failures;
mod hub_protocol;
mod real_data;
mod samples;
mod tables;
