use super::{PlainFilters, deictic};
use crate::{DropReason, Item, Kind};

const TEXT: &str = "The Stormwick ferry carries 450 passengers from Harwell to Sandby in summer. Its deck was rebuilt by the yard in 1987.";

fn item(id: &str, question: &str) -> Item {
    Item::new(id, question, Kind::SingleFact)
}

fn reason(filters: &mut PlainFilters, id: &str, question: &str) -> Option<DropReason> {
    let checked = filters.check(&item(id, question), &[TEXT]);
    checked.map(|(reason, _)| reason)
}

#[test]
fn a_sentence_of_the_passage_is_no_question() {
    let mut filters = PlainFilters::default();
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
    let mut filters = PlainFilters::default();
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
    let detail = filters.check(&item("c", question), &[TEXT]).unwrap().1;
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
