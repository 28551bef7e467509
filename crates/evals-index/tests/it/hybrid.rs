//! Hybrid profiles.

use std::time::Duration;

use evals_index::{CachePolicy, SearchOptions};

use crate::corpus::{Fixture, documents, embedded, generated, ids, pairs};

#[tokio::test(flavor = "multi_thread")]
async fn a_hybrid_ranking_joins_both_searches() {
    let texts = [("a", "kelp forest"), ("b", "forest of pines"), ("c", "zzz")];
    let fixture = Fixture::new(&embedded(), documents(&texts)).await;
    let lexical = fixture.ranking("bm25", "kelp", 10).await;
    assert_eq!(ids(&lexical), ["a"]);
    let semantic = fixture.ranking("semantic", "kelp", 10).await;
    assert_eq!(semantic.len(), 3);
    let first = 1.0
        + f64::from(u8::try_from(semantic.iter().position(|(id, _)| id == "a").unwrap()).unwrap());
    let fused = fixture.ranking("hybrid", "kelp", 10).await;
    assert_eq!(fused.len(), 3);
    assert_eq!(fused[0].0, "a");
    // `a` is first of the lexical search and has rank `first` in the semantic one.
    let expected = 1.0 / 61.0 + 1.0 / (60.0 + first);
    assert!((f64::from(fused[0].1) - expected).abs() < 1e-7);
}

#[tokio::test(flavor = "multi_thread")]
async fn weight_1_gives_the_semantic_ranking() {
    let fixture = Fixture::new(&embedded(), generated(150)).await;
    for question in ["amber dune", "indigo kelp harbor"] {
        let semantic = fixture.ranking("semantic", question, 20).await;
        let weighted = fixture.ranking("hybrid-linear-1", question, 20).await;
        assert_eq!(ids(&weighted), ids(&semantic));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_share_searches_unless_the_cache_policy_is_fresh() {
    let fixture = Fixture::new(&embedded(), generated(200)).await;
    let stages = |timings: &[evals_rag::StageTiming]| -> Vec<(String, bool)> {
        timings
            .iter()
            .map(|timing| (timing.stage.clone(), timing.cached))
            .collect()
    };
    let stage = |name: &str, cached| (name.to_owned(), cached);
    let bm25 = fixture.retrieve("bm25", "amber", 10).await.timings;
    assert_eq!(stages(&bm25), [stage("bm25", false)]);
    let hybrid = fixture.retrieve("hybrid", "amber", 10).await.timings;
    assert_eq!(
        stages(&hybrid),
        [
            stage("embed", false),
            stage("bm25", true),
            stage("semantic", false),
            stage("fuse", false)
        ]
    );
    let of = |timings: &[evals_rag::StageTiming], name: &str| -> Duration {
        timings
            .iter()
            .find(|timing| timing.stage == name)
            .unwrap()
            .duration
    };
    assert_eq!(of(&hybrid, "bm25"), of(&bm25, "bm25"));
    let fresh = SearchOptions {
        cache: CachePolicy::Fresh,
        ..SearchOptions::default()
    };
    let fresh = fixture.retrieve_with("semantic", "amber", 10, fresh).await;
    assert_eq!(
        stages(&fresh.timings),
        [stage("embed", false), stage("semantic", false)]
    );
    assert_eq!(
        pairs(&fresh),
        fixture.ranking("semantic", "amber", 10).await
    );
}
