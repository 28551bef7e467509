//! The depth of searches, which does not change rankings.

use evals_index::{CachePolicy, Profile, SearchOptions};

use crate::corpus::{Fixture, chunks_of, documents, embedded, generated, pairs};

fn candidates(count: usize) -> SearchOptions {
    SearchOptions {
        candidates: count.try_into().unwrap(),
        ..SearchOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_smaller_k_gives_the_start_of_the_same_ranking() {
    let fixture = Fixture::new(&embedded(), generated(1_500)).await;
    for profile in Profile::all().map(|profile| profile.to_string()) {
        for question in ["amber dune", "indigo kelp harbor fjord"] {
            let many = fixture.ranking(&profile, question, 100).await;
            assert_eq!(many.len(), 100);
            for k in [1, 10, 26, 99] {
                let few = fixture.ranking(&profile, question, k).await;
                assert_eq!(few, many[..k], "{profile}, k = {k}");
                // Without a shared cache, a search stops at a smaller depth.
                let options = SearchOptions {
                    cache: CachePolicy::Fresh,
                    ..SearchOptions::default()
                };
                let alone = fixture.retrieve_with(&profile, question, k, options).await;
                assert_eq!(pairs(&alone), many[..k], "{profile} alone, k = {k}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn candidates_do_not_change_the_ranking_of_a_single_search() {
    let fixture = Fixture::new(&embedded(), generated(1_500)).await;
    for profile in ["unranked", "bm25", "semantic"] {
        let expected = fixture.ranking(profile, "amber dune", 50).await;
        for count in [1, 60, 5_000] {
            let options = candidates(count);
            let found = fixture
                .retrieve_with(profile, "amber dune", 50, options)
                .await;
            assert_eq!(pairs(&found), expected, "{profile}, {count} candidates");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_raises_too_small_a_number_of_candidates() {
    let recipe = embedded_in_chunks();
    let texts = [("a", "kelp kelp kelp kelp"), ("b", "kelp"), ("c", "dune")];
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    for profile in ["bm25", "hybrid", "hybrid-linear", "hybrid-log-bm25"] {
        let found = fixture
            .retrieve_with(profile, "kelp", 2, candidates(1))
            .await;
        assert_eq!(found.ranking.len(), 2, "{profile}");
    }
}

fn embedded_in_chunks() -> evals_index::Recipe {
    evals_index::Recipe::new("test", chunks_of(1))
        .with_embedder(crate::corpus::Letters::named("letters"))
}

#[tokio::test(flavor = "multi_thread")]
async fn k_may_exceed_the_number_of_documents() {
    let fixture = Fixture::new(&embedded(), generated(300)).await;
    for profile in Profile::all().map(|profile| profile.to_string()) {
        let all = fixture.ranking(&profile, "amber dune", 300).await;
        assert_eq!(
            fixture.ranking(&profile, "amber dune", usize::MAX).await,
            all
        );
        let options = SearchOptions {
            passages: usize::MAX,
            candidates: usize::MAX.try_into().unwrap(),
            ..SearchOptions::default()
        };
        let found = fixture
            .retrieve_with(&profile, "amber dune", usize::MAX, options)
            .await;
        assert_eq!(pairs(&found), all);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn passages_do_not_depend_on_the_cache_policy() {
    let recipe = evals_index::Recipe::new("test", chunks_of(2));
    // The second passage of the best document ranks behind the passages of all other documents.
    let others: Vec<String> = (0..100).map(|number| format!("b{number}")).collect();
    let others = others.iter().map(|uri| (uri.as_str(), "kelp dune"));
    let texts: Vec<_> = [("a", "kelp kelp dune kelp")]
        .into_iter()
        .chain(others)
        .collect();
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    for cache in [CachePolicy::Shared, CachePolicy::Fresh] {
        let options = SearchOptions {
            passages: 5,
            cache,
            ..SearchOptions::default()
        };
        let found = fixture.retrieve_with("bm25", "kelp", 1, options).await;
        let texts: Vec<&str> = found.passages.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["kelp kelp", "dune kelp"], "{cache:?}");
    }
}
