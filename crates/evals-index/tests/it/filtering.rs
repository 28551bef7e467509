use evals_index::{Profile, SearchOptions};

use crate::corpus::{Fixture, chain, documents, embedded, ids, pairs};

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
async fn every_profile_finds_only_what_passes() {
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
async fn quoted_quotes_are_characters() {
    let fixture = fixture().await;
    let options = filtered("uri = 'blog/o''hara'");
    let found = fixture.retrieve_with("unranked", "x", 10, options).await;
    assert_eq!(ids(&pairs(&found)), ["blog/o'hara"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bm25_scores_stay_those_of_the_corpus() {
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
async fn invalid_filters_name_the_columns() {
    let fixture = fixture().await;
    for (sql, cause) in [
        ("uri =", "Expected"),
        ("author = 'x'", "author"),
        ("text LIKE '%harbor%'", "text"),
        ("uri", "uri"),
        ("", ""),
    ] {
        let error = fixture
            .index
            .searcher(Profile::Bm25, &filtered(sql))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the filter `{sql}` is not a condition over the columns `uri`, `title`, `metadata`"
            )
        );
        assert!(chain(&error).contains(cause), "{}", chain(&error));
    }
}
