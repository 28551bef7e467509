//! Repeated builds of an index, which give the same rankings to the bit.

use evals_index::{BuildOptions, Index, Profile, Store};

use crate::corpus::{Fixture, embedded, generated, ok};

#[tokio::test(flavor = "multi_thread")]
async fn two_builds_give_the_same_bytes() {
    let first = Fixture::new(&embedded(), generated(900)).await;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    // Smaller commits, and more tasks.
    let options = BuildOptions {
        commit_bytes: 1,
        concurrency: 4.try_into().unwrap(),
        ..BuildOptions::default()
    };
    let built = Index::build(
        &store,
        &embedded(),
        ok(generated(900)),
        &options,
        &evals_index::Unobserved,
    )
    .await
    .unwrap();
    let second = Fixture {
        index: built.index,
        folder,
    };
    for profile in Profile::all().map(|profile| profile.to_string()) {
        for question in [
            "amber",
            "birch dune kelp",
            "harbor harbor indigo jasper",
            "fjord ember cobalt",
        ] {
            let bits = |ranking: Vec<(String, f32)>| -> Vec<(String, u32)> {
                ranking
                    .into_iter()
                    .map(|(id, score)| (id, score.to_bits()))
                    .collect()
            };
            assert_eq!(
                bits(first.ranking(&profile, question, 25).await),
                bits(second.ranking(&profile, question, 25).await),
                "{profile}: {question}"
            );
        }
    }
}
