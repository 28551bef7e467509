//! How deep searches go, and that the depth does not change rankings.

use evals_index::{CachePolicy, Profile, SearchOptions};

use crate::corpus::{Fixture, chunks_of, documents, embedded, generated, pairs};

fn candidates(count: usize) -> SearchOptions {
    SearchOptions {
        candidates: count.try_into().unwrap(),
        ..SearchOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fewer_documents_are_the_first_of_more() {
    let fixture = Fixture::new(&embedded(), generated(1_500)).await;
    for profile in Profile::all().map(|profile| profile.to_string()) {
        for question in ["amber dune", "indigo kelp harbor fjord"] {
            let many = fixture.ranking(&profile, question, 100).await;
            assert_eq!(many.len(), 100);
            for k in [1, 10, 26, 99] {
                let few = fixture.ranking(&profile, question, k).await;
                assert_eq!(few, many[..k], "{profile}, k = {k}");
                // A search that shares nothing goes less deep.
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
async fn a_single_search_ranks_alike_at_any_depth() {
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
async fn too_few_candidates_give_way_to_k() {
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
async fn any_number_of_documents_may_be_asked_for() {
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
async fn a_search_on_its_own_finds_the_same_passages() {
    let recipe = evals_index::Recipe::new("test", chunks_of(2));
    // The second passage of the best document comes behind those of all others.
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
