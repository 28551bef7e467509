//! Tests of matching: what decides, and in which order.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evals_targets::ReplyDocument;
use serde_json::{Map, json};

use super::matcher::How;
use super::{
    Corpus, CorpusError, IdRule, MatchBy, MatchCounts, MatchRecord, Matcher, Matching, Returned,
};
use crate::Document;

const CATS: &str = "Cats sleep for most of the day and hunt at night.";
const DOGS: &str = "Dogs were the first animals that people kept at home.";

/// Two documents; counts how often it is read.
#[derive(Debug, Default)]
struct Pets {
    read: AtomicUsize,
}

impl Corpus for Pets {
    fn read(
        &self,
        each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
    ) -> Result<(), CorpusError> {
        self.read.fetch_add(1, Ordering::SeqCst);
        for (uri, text) in [("cats", CATS), ("dogs", DOGS)] {
            each(Document {
                uri: uri.to_owned(),
                title: None,
                text: text.to_owned(),
                metadata: Map::new(),
            })?;
        }
        Ok(())
    }
}

fn matcher(by: MatchBy, rule: Option<&str>) -> (Matcher, Arc<Pets>) {
    let pets = Arc::new(Pets::default());
    let matching = Matching {
        by,
        rule: rule.map(|rule| IdRule::parse(rule).unwrap()),
        ..Matching::default()
    };
    let ids: HashSet<String> = ["cats", "dogs"].map(str::to_owned).into();
    let corpus = Arc::clone(&pets) as Arc<dyn Corpus>;
    (Matcher::new(matching, ids, corpus), pets)
}

fn document(id: Option<&str>, text: Option<&str>) -> ReplyDocument {
    ReplyDocument {
        id: id.map(str::to_owned),
        text: text.map(str::to_owned),
        ..ReplyDocument::default()
    }
}

async fn matched(matcher: &Matcher, id: Option<&str>, text: Option<&str>) -> (String, How) {
    let found = matcher.documents(&[document(id, text)]).await.unwrap();
    (found[0].id.clone(), found[0].how)
}

#[tokio::test]
async fn by_default_the_id_comes_before_the_rule_and_the_rule_before_the_text() {
    let (matcher, pets) = matcher(MatchBy::Auto, Some("last path segment"));
    let found = |id, text| matched(&matcher, id, text);
    assert_eq!(
        found(Some("cats"), Some(DOGS)).await,
        ("cats".to_owned(), How::Id)
    );
    assert_eq!(
        found(Some("a/cats.md"), Some(DOGS)).await,
        ("cats".to_owned(), How::Rule)
    );
    assert_eq!(pets.read.load(Ordering::SeqCst), 0, "no text was needed");
    assert_eq!(
        found(
            Some("chunk 7"),
            Some("for most of the day and hunt at night")
        )
        .await,
        ("cats".to_owned(), How::Text)
    );
    assert_eq!(
        found(None, Some(DOGS)).await,
        ("dogs".to_owned(), How::Text)
    );
    assert_eq!(pets.read.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn each_way_can_be_the_only_one() {
    let (by_id, pets) = matcher(MatchBy::Id, Some("last path segment"));
    let unmatched = |name: &str| (format!("unmatched:{name}"), How::Unmatched);
    assert_eq!(
        matched(&by_id, Some("a/cats"), Some(CATS)).await,
        unmatched("a/cats")
    );
    assert_eq!(pets.read.load(Ordering::SeqCst), 0);
    let (by_rule, _) = matcher(MatchBy::Rule, Some("last path segment"));
    assert_eq!(
        matched(&by_rule, Some("a/dogs"), Some(CATS)).await.0,
        "dogs"
    );
    let (by_text, _) = matcher(MatchBy::Text, None);
    assert_eq!(matched(&by_text, Some("dogs"), Some(CATS)).await.0, "cats");
    assert_eq!(
        matched(&by_text, Some("dogs"), None).await,
        unmatched("dogs")
    );
}

#[tokio::test]
async fn an_unmatched_document_has_a_name_that_the_corpus_has_not() {
    let pets = Arc::new(Pets::default());
    let ids: HashSet<String> = ["unmatched:x".to_owned()].into();
    let matcher = Matcher::new(Matching::default(), ids, pets);
    assert_eq!(
        matched(&matcher, Some("x"), None).await.0,
        "unmatched:unmatched:x"
    );
    assert_eq!(
        matched(&matcher, None, None).await.0,
        "unmatched:position 1"
    );
    let by_text = matched(&matcher, None, Some("about birds")).await.0;
    assert_eq!(
        by_text,
        matched(&matcher, None, Some("about birds")).await.0
    );
    assert_ne!(by_text, matched(&matcher, None, Some("about fish")).await.0);
}

#[tokio::test]
async fn a_corpus_that_cannot_be_read_is_an_error() {
    #[derive(Debug)]
    struct Broken;
    impl Corpus for Broken {
        fn read(
            &self,
            _each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
        ) -> Result<(), CorpusError> {
            Err("row 7 is damaged".into())
        }
    }
    let matcher = Matcher::new(Matching::default(), HashSet::new(), Arc::new(Broken));
    let error = matcher
        .documents(&[document(None, Some(CATS))])
        .await
        .unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "row 7 is damaged");
}

#[tokio::test]
async fn texts_are_compared_only_where_matching_is_automatic_and_by_id() {
    for (by, compared) in [(MatchBy::Auto, 2), (MatchBy::Id, 0), (MatchBy::Text, 0)] {
        let (matcher, pets) = matcher(by, None);
        let reply = [
            document(Some("cats"), Some(CATS)),
            document(Some("dogs"), Some(CATS)),
            document(Some("dogs"), None),
            document(Some("elsewhere"), None),
        ];
        matcher.documents(&reply).await.unwrap();
        let before = pets.read.load(Ordering::SeqCst);
        let check = matcher.check_ids().await.unwrap();
        assert_eq!((check.compared, check.differ), (compared, compared / 2));
        assert_eq!(matcher.check_ids().await.unwrap(), check);
        let read = pets.read.load(Ordering::SeqCst) - before;
        assert_eq!(read, usize::from(compared > 0));
    }
}

#[tokio::test]
async fn a_short_text_is_unmatched_for_that_reason() {
    let (matcher, _) = matcher(MatchBy::Auto, None);
    let reply = [
        document(None, Some("hunt at night")),
        document(None, Some("Birds sing in the morning and in the evening.")),
        document(Some("x"), None),
    ];
    let matched = matcher.documents(&reply).await.unwrap();
    let how: Vec<How> = matched.iter().map(|it| it.how).collect();
    assert_eq!(how, [How::TooShort, How::Unmatched, How::Unmatched]);
    let record = MatchRecord::of(&matched);
    assert_eq!((record.unmatched, record.too_short), (3, 1));
}

#[tokio::test]
async fn a_passage_that_several_documents_contain_is_counted() {
    #[derive(Debug)]
    struct Twins;
    impl Corpus for Twins {
        fn read(
            &self,
            each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
        ) -> Result<(), CorpusError> {
            ["one", "two"].into_iter().try_for_each(|uri| {
                each(Document {
                    uri: uri.to_owned(),
                    title: None,
                    text: format!("{CATS} So says document {uri}."),
                    metadata: Map::new(),
                })
            })
        }
    }
    let matcher = Matcher::new(Matching::default(), HashSet::new(), Arc::new(Twins));
    let own = format!("{CATS} So says document one.");
    let passages = [document(None, Some(CATS)), document(None, Some(&own))];
    let matched = matcher.documents(&passages).await.unwrap();
    let ids: Vec<&str> = matched.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["two", "one"]);
    let record = MatchRecord::of(&matched);
    assert_eq!((record.text, record.ambiguous), (2, 1));
}

#[tokio::test]
async fn a_run_counts_what_its_cases_record() {
    let (matcher, _) = matcher(MatchBy::Auto, None);
    let first = [
        document(Some("cats"), None),
        document(Some("x"), None),
        document(Some("x"), None),
    ];
    let second = [document(Some("x"), None), document(Some("a"), None)];
    let mut cases = Vec::new();
    for reply in [&first[..], &second[..]] {
        let record = MatchRecord::of(&matcher.documents(reply).await.unwrap());
        let record = serde_json::to_value(record).unwrap();
        cases.push([(MatchRecord::ATTRIBUTE.to_owned(), record)].into());
    }
    let counts = MatchCounts::of(&cases);
    assert_eq!((counts.all.id, counts.all.unmatched), (1, 4));
    assert_eq!(counts.all.unmatched_names, ["unmatched:x", "unmatched:a"]);
    assert_eq!(counts.cases_without_match, 1);
    assert!(counts.mostly_unmatched());
    let returned = serde_json::to_value(Returned::of(&cases)).unwrap();
    let both = json!({"median": 2.0, "least": 2, "most": 2});
    let passages = json!({"median": 2.5, "least": 2, "most": 3});
    assert_eq!(
        returned,
        json!({"questions": 2, "documents": both, "passages": passages})
    );
    let older = [(MatchRecord::ATTRIBUTE.to_owned(), json!({"id": 3}))].into();
    assert_eq!(Returned::of([&older]), None);
}
