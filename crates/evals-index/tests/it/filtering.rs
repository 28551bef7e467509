//! Filters by SQL conditions: kept documents, and refused conditions.

use evals_index::{BuildOptions, Index, Profile, SearchOptions, Store, Unobserved};

use crate::corpus::{Fixture, chain, chunks_of, documents, embedded, generated, ids, ok, pairs};

async fn fixture() -> Fixture {
    let texts = [
        ("news/1", "storm over the harbor"),
        ("blog/1", "harbor harbor harbor"),
        ("news/2", "quiet harbor"),
        ("blog/o'hara", "nothing here"),
    ];
    Fixture::new(&embedded(), documents(&texts)).await
}

fn filtered(sql: &str) -> SearchOptions {
    SearchOptions {
        filter: Some(sql.to_owned()),
        ..SearchOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_profile_finds_only_documents_that_pass() {
    let fixture = fixture().await;
    for profile in Profile::all().map(|profile| profile.to_string()) {
        let options = filtered(r#"uri LIKE 'news/%' AND metadata LIKE '%"topic":"n"%'"#);
        let found = pairs(&fixture.retrieve_with(&profile, "harbor", 10, options).await);
        let mut ids = ids(&found);
        ids.sort_unstable();
        assert_eq!(ids, ["news/1", "news/2"], "{profile}");
        let nothing = filtered("title = 'no such title'");
        let found = fixture.retrieve_with(&profile, "harbor", 10, nothing).await;
        assert!(found.ranking.is_empty(), "{profile}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doubled_quote_stands_for_one_quote() {
    let fixture = fixture().await;
    let options = filtered("uri = 'blog/o''hara'");
    let found = fixture.retrieve_with("unranked", "x", 10, options).await;
    assert_eq!(ids(&pairs(&found)), ["blog/o'hara"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_does_not_change_bm25_scores() {
    let fixture = fixture().await;
    let all = fixture.ranking("bm25", "harbor", 10).await;
    let options = filtered("uri LIKE 'news/%'");
    let some = pairs(&fixture.retrieve_with("bm25", "harbor", 10, options).await);
    let expected: Vec<_> = all
        .into_iter()
        .filter(|(id, _)| id.starts_with("news/"))
        .collect();
    assert_eq!(some, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_is_of_documents_not_chunks() {
    let recipe = evals_index::Recipe::new("test", chunks_of(1));
    let texts = [
        ("news/1", "one two three"),
        ("blog/1", "four five"),
        ("news/2", ""),
    ];
    let fixture = Fixture::new(&recipe, documents(&texts)).await;
    for (sql, count) in [
        ("uri LIKE 'news/%'", 2),
        ("uri LIKE 'news/%' OR uri LIKE 'blog/%'", 3),
        ("title = 'Title of blog/1' -- the only one", 1),
        ("title = 'no such title'", 0),
    ] {
        assert_eq!(fixture.index.count(sql).await.unwrap(), count, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_reach_every_fragment_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).await.unwrap();
    let options = BuildOptions {
        commit_bytes: 1,
        ..BuildOptions::default()
    };
    let texts = generated(1_000);
    let built = Index::build(
        &store,
        &embedded(),
        ok(texts.clone()),
        &options,
        &Unobserved,
    )
    .await
    .unwrap();
    let fixture = Fixture {
        index: built.index,
        folder,
    };
    // A fragment has 128 documents: the third starts with document 256, and the last ends with 999.
    let kept = [0, 300, 301, 640, 999].map(|number: usize| texts[number].uri.as_str());
    let sql = format!("uri IN ('{}')", kept.join("', '"));
    assert_eq!(fixture.index.count(&sql).await.unwrap(), kept.len());
    for profile in ["bm25", "semantic", "unranked"] {
        let all = fixture.ranking(profile, "amber dune kelp", 1_000).await;
        let mut expected = all;
        expected.retain(|(id, _)| kept.contains(&id.as_str()));
        if profile == "unranked" {
            // Ranks count the documents that pass.
            let scores = [1.0, 0.5, 1.0 / 3.0, 0.25, 0.2];
            for ((_, score), rank) in expected.iter_mut().zip(scores) {
                *score = rank;
            }
        }
        let some = fixture
            .retrieve_with(profile, "amber dune kelp", 10, filtered(&sql))
            .await;
        assert!(!expected.is_empty());
        assert_eq!(pairs(&some), expected, "{profile}");
    }
}

const NO_CONDITION: &str = "is not a condition over the columns `uri`, `title`, `metadata`";

async fn refusal(fixture: &Fixture, sql: &str) -> String {
    let error = fixture
        .index
        .searcher(Profile::Bm25, &filtered(sql))
        .await
        .unwrap_err();
    assert_eq!(
        fixture.index.count(sql).await.unwrap_err().to_string(),
        error.to_string()
    );
    chain(&error)
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_filters_name_the_columns_and_the_cause() {
    let fixture = fixture().await;
    for (sql, cause) in [
        ("uri =", "Expected: an expression"),
        ("author = 'x'", "No field named author"),
        ("text LIKE '%harbor%'", "No field named text"),
        ("uri", "it is of type Utf8 instead of Boolean"),
        ("", "Expected: an expression"),
    ] {
        let message = refusal(&fixture, sql).await;
        let start = format!("the filter `{sql}` {NO_CONDITION}: ");
        let found = message.strip_prefix(&start);
        assert!(
            found.is_some_and(|found| found.contains(cause)),
            "{message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_by_a_metadata_field_is_refused_with_advice() {
    let fixture = fixture().await;
    for sql in [
        "metadata['topic'] = 'n'",
        "metadata.topic = 'n'",
        "metadata->>'topic' = 'n'",
    ] {
        let message = refusal(&fixture, sql).await;
        let start = format!(
            r#"the filter `{sql}` {NO_CONDITION}; `metadata` is one JSON text without spaces: match it as in `metadata LIKE '%"topic":"Sports"%'`: "#
        );
        assert!(message.starts_with(&start), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_that_could_crash_the_engine_are_refused() {
    let fixture = fixture().await;
    let chain = vec!["uri = 'a'"; 3_000].join(" OR ");
    for (sql, cause) in [
        ("uri = ?", "`?` is a placeholder"),
        ("uri = $1", "`$1` is a placeholder"),
        ("lpad(uri, 2000000000, 'x') = 'a'", "cannot call `lpad`"),
        ("repeat(uri, 2000000000) = 'a'", "cannot call `repeat`"),
        ("random() < 0.5", "cannot call `random`"),
        (&chain, "joins more than 100 conditions"),
    ] {
        let message = refusal(&fixture, sql).await;
        assert!(message.contains(NO_CONDITION), "{message}");
        assert!(message.contains(cause), "{message}");
        assert!(message.len() < 1_000, "{message}");
    }
}

/// Runs the deepest and longest accepted filters, and every function, in a count and in each kind of search.
#[tokio::test(flavor = "multi_thread")]
async fn the_engine_runs_the_most_complex_accepted_filters() {
    let fixture = fixture().await;
    let joined = |word| {
        (0..100)
            .map(|number| format!("uri <> 'x{number}'"))
            .collect::<Vec<_>>()
            .join(word)
    };
    let conditions = [
        joined(" OR "),
        joined(" AND "),
        format!("{}uri IS NOT NULL", "NOT ".repeat(8)),
        "(uri <> 'x' AND (length(uri) > 0 OR ".repeat(4) + "uri IS NOT NULL" + &"))".repeat(4),
        format!("{}uri{} <> 'A'", "lower(".repeat(9), ")".repeat(9)),
        format!("uri IN ('news/1', {})", vec!["'x'"; 5_000].join(", ")),
        "lower(title) LIKE 'title%' AND upper(uri) > 'A'".to_owned(),
        "length(uri) = 6 OR character_length(title) > 0 OR octet_length(uri) > 0".to_owned(),
        "starts_with(uri, 'n') OR ends_with(uri, '1') OR contains(uri, 'o')".to_owned(),
        "left(uri, 1) = 'n' OR right(uri, -1) = 'x' OR reverse(uri) = '1/swen'".to_owned(),
        "split_part(uri, '/', 1) = 'news' AND coalesce(title, '') <> ''".to_owned(),
        "nullif(uri, 'x') IS NOT NULL AND btrim(uri) = ltrim(rtrim(uri))".to_owned(),
        "TRY_CAST(split_part(uri, '/', 2) AS INT) < 2".to_owned(),
        "uri BETWEEN 'a' AND 'z' AND (uri = 'x') IS NOT TRUE".to_owned(),
    ];
    for sql in conditions {
        let count = fixture.index.count(&sql).await;
        let count = count.unwrap_or_else(|error| panic!("{}", chain(&error)));
        for profile in ["unranked", "bm25", "semantic"] {
            let found = fixture.retrieve_with(profile, "harbor nothing", 10, filtered(&sql));
            let found = found.await.ranking.len();
            assert!(
                found <= count && (count == 0 || found > 0),
                "{profile}: {sql}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_fails_on_a_document_names_itself() {
    let fixture = fixture().await;
    let sql = "CAST(title AS INT) = 1";
    let message = refusal(&fixture, sql).await;
    let start = format!("the filter `{sql}` cannot be applied to the documents: ");
    let found = message.strip_prefix(&start);
    assert!(
        found.is_some_and(|found| found.contains("Title of")),
        "{message}"
    );
}
