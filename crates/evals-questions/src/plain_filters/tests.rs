use evals_rag::EvidenceSpan;

use super::{PlainFilters, deictic};
use crate::{DropReason, Item, Kind};

const TEXT: &str = "The Stormwick ferry carries 450 passengers from Harwell to Sandby in summer. Its deck was rebuilt by the yard in 1987.";

fn item(id: &str, question: &str, quote: &str) -> Item {
    Item {
        id: id.to_owned(),
        question: question.to_owned(),
        answer: Some("450".to_owned()),
        kind: Kind::SingleFact,
        asker: None,
        relevant: vec!["ferry".to_owned()],
        evidence: vec![EvidenceSpan {
            document: "ferry".to_owned(),
            quote: quote.to_owned(),
            start: None,
            end: None,
        }],
    }
}

fn reason(filters: &mut PlainFilters, id: &str, question: &str) -> Option<DropReason> {
    let checked = filters.check(&item(id, question, "450  Passengers"), &[("ferry", TEXT)]);
    checked.map(|(reason, _)| reason)
}

#[test]
fn a_quote_has_to_be_in_its_document() {
    let mut filters = PlainFilters::new();
    let question = "How many people fit on the boat to Sandby?";
    let mut check = |item: &Item| filters.check(item, &[("ferry", TEXT)]);
    let (reason, detail) = check(&item("a", question, "451 passengers")).unwrap();
    assert_eq!(reason, DropReason::NoEvidence);
    assert_eq!(
        detail,
        "document `ferry` does not hold the quote `451 passengers`"
    );

    let mut elsewhere = item("b", question, "450 passengers");
    elsewhere.evidence[0].document = "boat".to_owned();
    assert_eq!(check(&elsewhere).unwrap().1, "there is no document `boat`");
    elsewhere.evidence.clear();
    assert_eq!(check(&elsewhere).unwrap().0, DropReason::NoEvidence);
    elsewhere.answer = None;
    assert_eq!(check(&elsewhere), None);
}

#[test]
fn a_sentence_of_the_passage_is_no_question() {
    let mut filters = PlainFilters::new();
    let copies = [
        "Is it true that the Stormwick ferry carries 450 passengers from Harwell to Sandby?",
        "What ferry carries 450 passengers from Harwell to Sandby in summer?",
    ];
    for copy in copies {
        assert_eq!(reason(&mut filters, copy, copy), Some(DropReason::Copied));
    }
    assert_eq!(
        reason(&mut filters, "keywords", "deck was rebuilt by yard"),
        None
    );
    assert_eq!(
        reason(
            &mut filters,
            "own",
            "How many people can cross from Harwell to Sandby at once?"
        ),
        None
    );
}

#[test]
fn a_repeated_question_goes_and_a_dropped_one_is_not_remembered() {
    let mut filters = PlainFilters::new();
    let question = "How many people can the Stormwick take?";
    assert_eq!(
        reason(
            &mut filters,
            "gone",
            "In this passage, how many people can the Stormwick take?"
        ),
        Some(DropReason::NotAlone)
    );
    assert_eq!(reason(&mut filters, "a", question), None);
    for again in [
        question,
        "how many people could the STORMWICK take",
        "Please: how many people can the Stormwick take?",
    ] {
        assert_eq!(
            reason(&mut filters, "b", again),
            Some(DropReason::Duplicate),
            "{again}"
        );
    }
    let other = item("c", question, "450 passengers");
    let detail = filters.check(&other, &[("ferry", TEXT)]).unwrap().1;
    assert_eq!(
        detail,
        "nearly the same as question `a`: How many people can the Stormwick take?"
    );

    assert_eq!(
        reason(&mut filters, "d", "Who rebuilt the deck of the Stormwick?"),
        None
    );
    assert_eq!(
        reason(
            &mut filters,
            "e",
            "When was the deck of the Stormwick rebuilt?"
        ),
        None
    );
    assert_eq!(
        reason(
            &mut filters,
            "f",
            "When was the deck of the Stormwick rebuilt after 1990?"
        ),
        None
    );
    assert_eq!(
        reason(&mut filters, "g", "¿De qué año es la cubierta?"),
        None
    );
    assert_eq!(reason(&mut filters, "h", "この船は何人乗りですか"), None);
    assert_eq!(
        reason(&mut filters, "i", "この船は何人乗りですか？"),
        Some(DropReason::Duplicate)
    );
}

#[test]
fn phrases_that_point_to_an_unseen_text_are_found() {
    let pointing = [
        (
            "What is the capacity mentioned in this passage?",
            "this passage",
        ),
        (
            "According to the text, who rebuilt the deck?",
            "to the text",
        ),
        (
            "According to the document, who rebuilt the deck?",
            "to the document",
        ),
        (
            "What does the author say about ferries in Sandby?",
            "the author",
        ),
        (
            "Which reasons for the delay are given in the document?",
            "in the document",
        ),
        (
            "Which ports does the short article list?",
            "does the short article",
        ),
        (
            "Why was the deck rebuilt, as described above?",
            "described above",
        ),
        ("When was it rebuilt?", "it"),
    ];
    for (question, phrase) in pointing {
        assert_eq!(
            deictic::found(question).as_deref(),
            Some(phrase),
            "{question}"
        );
    }
    let plain = [
        "How do I change the text of a button?",
        "I would like to customize the text in automated emails for bookings",
        "Who is the author of the Harwell chronicle?",
        "Which name has to be in the document that proves my identity?",
        "How do I hide the author's name on my blog?",
        "Is the temperature in Sandby above the average in summer?",
        "Im having trouble finding the payments section in my dashboard. Can you help me with this?",
        "What did the report of the harbour office cost?",
    ];
    for question in plain {
        assert_eq!(deictic::found(question), None, "{question}");
    }
}

/// The time is that of a debug build; it is there so that comparing all pairs, which takes minutes, fails.
#[test]
fn thousands_of_questions_are_compared_in_seconds() {
    let begin = std::time::Instant::now();
    let mut questions = super::Questions::default();
    for number in 0..5_000 {
        let text = format!(
            "How does the ferry of harbour w{} reach town v{} in u{}?",
            number % 97,
            number % 89,
            number % 83
        );
        if questions.similar(&text).is_none() {
            questions.add(&number.to_string(), &text);
        }
    }
    assert!(
        questions
            .similar("How does the ferry of harbour w1 reach town v1 in u1?")
            .is_some()
    );
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}
