//! Integration tests: run the built binary as a user would, in an empty home and without a network.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent;
mod answering;
mod answering_faults;
mod approximate;
mod bad_input;
mod batches;
mod bench;
mod calibration;
mod changed_verdicts;
#[cfg(unix)]
mod command_sessions;
mod commands;
mod compare;
mod conversations;
mod damage;
mod docs;
mod download;
mod eval;
mod export;
#[path = "../../crates/evals-data/tests/it/fake_hub/mod.rs"]
#[expect(dead_code, reason = "the tests of the library use more of it")]
mod fake_hub;
mod figures;
#[cfg(unix)]
mod full_disk;
mod gate;
mod groups;
mod haiku;
#[path = "../../crates/evals-html/tests/it/html.rs"]
mod html;
mod init;
#[cfg(unix)]
mod interrupted;
mod judge_estimates;
mod judged_by;
mod judges;
#[cfg(unix)]
mod labelled_answers;
mod labelling;
mod labels;
mod lancedb;
mod local_models;
mod manual;
mod minilm;
#[cfg(feature = "stores")]
#[expect(dead_code, reason = "the tests with real servers pass requests on")]
mod object_server;
#[cfg(feature = "stores")]
mod object_stores;
#[cfg(target_os = "linux")]
mod opened_viewer;
mod own_documents;
mod pages;
mod pool;
#[cfg(target_os = "linux")]
mod pseudo_terminal;
mod pull;
#[cfg(unix)]
mod pull_request;
mod qa_server;
mod question_sets;
mod questions;
mod recorded_replies;
#[cfg(target_os = "linux")]
mod releases;
mod reranking;
mod retrieval;
mod reviewing;
mod rewriting;
mod sandbox;
mod score;
#[path = "../../crates/evals-providers/tests/http/scripted_server/mod.rs"]
#[expect(dead_code, reason = "the tests of the library use more of it")]
mod scripted_server;
mod secrets;
mod selection;
mod servers;
mod settings;
#[cfg(unix)]
mod shards;
#[cfg(unix)]
mod signals;
mod simulated_users;
mod standings;
#[cfg(feature = "stores")]
mod store_addresses;
#[cfg(feature = "stores")]
mod store_scenarios;
mod stored_runs;
mod tables;
mod target_faults;
#[cfg(unix)]
mod target_processes;
mod target_runs;
mod terminal;
mod test_set;
mod trends;
mod tune;
mod unanswerable;
mod untimed_report;
mod validate;
mod variants;
mod vectors;
mod view;
#[cfg(target_os = "linux")]
mod view_opening;
mod viewer;
#[cfg(unix)]
mod watch;
mod watched_run;
