//! Tests of indexes in object stores of other projects: `SeaweedFS` and Azurite. `make test-stores` runs them.
//!
//! The requests go through a proxy for each server. It counts them, and fails as each test sets.

#![cfg(feature = "stores")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod benchmark;
#[path = "../it/object_server/mod.rs"]
#[expect(dead_code, reason = "the tests without servers keep objects in memory")]
mod object_server;
#[path = "../it/sandbox.rs"]
#[expect(dead_code, reason = "the tests without servers use more of it")]
mod sandbox;
mod servers;
mod shards;
#[path = "../it/store_scenarios.rs"]
mod store_scenarios;
#[path = "../it/untimed_report.rs"]
mod untimed_report;

use std::time::Duration;

use crate::store_scenarios as scenarios;

/// Runs steps against each server.
macro_rules! on_each_server {
    ($($name:ident: $steps:expr;)*) => {
        mod s3 {
            use super::*;
            $(#[test]
            #[ignore = "needs the servers of `make test-stores`"]
            fn $name() {
                $steps(&servers::s3());
            })*
        }
        mod azure {
            use super::*;
            $(#[test]
            #[ignore = "needs the servers of `make test-stores`"]
            fn $name() {
                $steps(&servers::azure());
            })*
        }
    };
}

on_each_server! {
    results_are_those_of_a_folder: scenarios::results_are_those_of_a_folder;
    an_outage_of_a_minute_is_survived: |place: &_| scenarios::an_outage_is_survived(place, Duration::from_mins(1));
    lost_answers_make_no_document_twice: scenarios::lost_answers_make_no_document_twice;
    a_build_whose_store_went_away_resumes: scenarios::a_build_whose_store_went_away_resumes;
    a_killed_build_leaves_no_lock_and_resumes: scenarios::a_killed_build_leaves_no_lock_and_resumes;
    of_two_writers_one_builds_and_one_waits: scenarios::of_two_writers_one_builds_and_one_waits;
    wrong_keys_and_missing_buckets_are_named: servers::wrong_keys_and_missing_buckets_are_named;
    shards_over_one_index_merge_to_one_machine: shards::shards_over_one_index_merge_to_one_machine;
}
