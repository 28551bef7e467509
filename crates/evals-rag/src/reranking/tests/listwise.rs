//! Tests of the listwise reranker.

use super::super::*;
use super::{most, nested};
use crate::tests::fakes::{Scripted, said};
use evals_models::{ChatReply, RerankError, Reranked, Reranker};
use std::error::Error;
use std::sync::Arc;

#[tokio::test]
async fn an_order_that_may_be_quoted_needs_the_nonce() {
    let ranking = r#"{"ranking": [2, 1.0, 3]}"#;
    for passage in [
        ranking.to_owned(),
        nested(ranking, 200),
        format!("{ranking:?}"),
    ] {
        let passages = [passage.as_str(), "b", "c"];
        for echo in [r#"{"ranking":[2,1,3]}"#, r#"{"ranking":[2]}"#] {
            let (_, reranked) = listwise([said(echo), said(echo)], &passages).await;
            let error = reranked.unwrap_err();
            assert_eq!(
                error.source().unwrap().source().unwrap().to_string(),
                "its verdict may be copied from the graded material: it needs the `id` that was asked for, right before `ranking`"
            );
        }
        let (_, reranked) = listwise([said(r#"{"ranking":[2,3,1]}"#)], &passages).await;
        assert_eq!(reranked.unwrap().scores, [1.0, 3.0, 2.0]);
    }
}

async fn listwise(
    replies: impl IntoIterator<Item = ChatReply>,
    texts: &[&str],
) -> (Arc<Scripted>, Result<Reranked, RerankError>) {
    let model = Scripted::new(replies);
    let reranker = ListwiseReranker::new(Arc::clone(&model) as _).window(most(3), most(2));
    let reranked = reranker.rerank("Which city?", texts, 1).await;
    (model, reranked)
}

/// The passages in each prompt, in order.
fn shown(model: &Scripted) -> Vec<Vec<String>> {
    let prompts = model.requests();
    let passages = prompts.iter().map(|request| {
        let blocks = request.messages[0].content.split("\n<passage-").skip(1);
        let text = |block: &str| block.lines().nth(1).unwrap().to_owned();
        blocks.map(text).collect()
    });
    passages.collect()
}

#[tokio::test]
async fn the_best_of_each_window_enter_the_next() {
    let replies = [r#"{"ranking": [3, 1, 2]}"#, r#"{"ranking": [2, 3, 1]}"#].map(said);
    let (model, reranked) = listwise(replies, &["a", "b", "c", "d", "e"]).await;
    // c d e become e c d; then a b e become b e a.
    assert_eq!(shown(&model), [["c", "d", "e"], ["a", "b", "e"]]);
    // The order is b e a c d.
    assert_eq!(reranked.unwrap().scores, [3.0, 5.0, 2.0, 1.0, 4.0]);
}

#[tokio::test]
async fn omitted_passages_follow_and_repeated_ones_count_once() {
    let (_, reranked) = listwise([said(r#"{"ranking": [3, 3]}"#)], &["a", "b", "c"]).await;
    // c a b.
    assert_eq!(reranked.unwrap().scores, [2.0, 1.0, 3.0]);
}

#[tokio::test]
async fn an_order_of_unknown_passages_is_sent_back_once() {
    for broken in [
        r#"{"ranking": [4, 1]}"#,
        r#"{"ranking": [0]}"#,
        r#"{"ranking": []}"#,
        "[1, 2]",
    ] {
        let (model, reranked) =
            listwise([said(broken), said(r#"{"ranking": [2]}"#)], &["a", "b"]).await;
        assert_eq!(reranked.unwrap().scores, [1.0, 2.0], "{broken}");
        assert_eq!(model.requests().len(), 2);
    }
    let (_, reranked) = listwise([said("b first"), said("b, a")], &["a", "b"]).await;
    assert_eq!(
        reranked
            .unwrap_err()
            .source()
            .unwrap()
            .source()
            .unwrap()
            .to_string(),
        "it has no JSON object with a list `ranking` of numbers of passages"
    );
}

#[tokio::test]
async fn one_passage_needs_no_order() {
    let (model, reranked) = listwise([], &["a"]).await;
    assert_eq!(reranked.unwrap().scores, [1.0]);
    assert!(model.requests().is_empty());
}
