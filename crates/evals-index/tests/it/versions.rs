//! The versions that identities record.

use std::fs;
use std::path::Path;

use evals_index::{ChunkingIdentity, Recipe};

use crate::corpus::chunks_of;

/// The versions of `package` in the lock file of the workspace.
fn locked(package: &str) -> Vec<String> {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap();
    let name = format!("name = \"{package}\"\n");
    lock.split("[[package]]\n")
        .filter_map(|entry| entry.strip_prefix(&name))
        .filter_map(|entry| entry.lines().next()?.strip_prefix("version = "))
        .map(|version| version.trim_matches('"').to_owned())
        .collect()
}

#[test]
fn identities_record_the_versions_in_the_lock_file() {
    let identity = Recipe::new("test", chunks_of(2)).identity();
    assert_eq!(locked("lance").len(), 1);
    assert_eq!(identity.analyzer(), format!("lance {}", locked("lance")[0]));
    assert_eq!(locked("lance-tokenizer"), locked("lance"));
    let ChunkingIdentity::Tokens { splitter, .. } = identity.chunking() else {
        panic!("the recipe has chunks of two tokens");
    };
    let expected = format!("text-splitter {}, ", locked("text-splitter")[0]);
    assert!(splitter.starts_with(&expected), "{splitter}");
}
