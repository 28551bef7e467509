use std::convert::Infallible;

use super::*;
use crate::Kind;

const QUOTE: &str = "The Stormwick ferry carries 450 passengers in summer";

fn item(id: &str, spans: &[(&str, &str, usize)]) -> Item {
    let span = |&(document, quote, start): &(&str, &str, usize)| EvidenceSpan {
        document: document.to_owned(),
        quote: quote.to_owned(),
        start: Some(start),
        end: Some(start + quote.chars().count()),
    };
    Item {
        id: id.to_owned(),
        question: format!("What is {id}?"),
        answer: "450".to_owned(),
        kind: Kind::SingleFact,
        asker: None,
        relevant: spans
            .iter()
            .map(|(document, ..)| (*document).to_owned())
            .collect(),
        evidence: spans.iter().map(span).collect(),
        nuggets: Vec::new(),
    }
}

fn check(items: &[Item], documents: &[(&str, &str)]) -> Check {
    let documents = documents.iter();
    let documents =
        documents.map(|(id, text)| Ok::<_, Infallible>(((*id).to_owned(), (*text).to_owned())));
    Check::of(items, &[], documents).unwrap()
}

fn only(items: &[Item], documents: &[(&str, &str)]) -> (DropReason, String) {
    let check = check(items, documents);
    assert_eq!(check.stale.len(), 1, "{check:?}");
    let stale = &check.stale[0];
    (stale.reason, stale.detail.clone())
}

#[test]
fn a_quote_stays_or_moves_with_its_document() {
    let items = [
        item("a", &[("ferry", QUOTE, 0)]),
        item("b", &[("gate", "opens at 9", 10)]),
    ];
    let ferry = format!("Überfahrt.\n{}.", QUOTE.replace(' ', "  "));
    let check = check(
        &items,
        &[
            ("ferry", &ferry),
            ("gate", "The gate\n opens at 9."),
            ("other", "Nothing."),
        ],
    );
    assert_eq!(check.stale, []);
    assert_eq!(check.moved, ["a"]);
    let span = &check.updated[0].evidence[0];
    assert_eq!(
        (span.start, span.end),
        (Some(11), Some(11 + QUOTE.len() + 7))
    );
    assert_eq!(check.updated[1], items[1]);
}

#[test]
fn what_is_stale_has_a_reason() {
    let items = [item("a", &[("ferry", QUOTE, 0)])];
    let changed =
        "News. The Stormwick ferry carries 480 passengers in summer, and fewer in winter.";
    let (reason, detail) = only(&items, &[("ferry", changed)]);
    assert_eq!(reason, DropReason::Changed);
    assert_eq!(
        detail,
        format!(
            "document `ferry` does not hold the quote `{QUOTE}`; 88 % of its words stand in `The Stormwick ferry carries 480 \
             passengers in summer, and fewer in winter.`"
        )
    );
    assert_eq!(
        only(&items, &[("ferry", "A gate.")]).0,
        DropReason::Vanished
    );
    assert_eq!(only(&items, &[("ferry", "")]).0, DropReason::Vanished);
    assert_eq!(
        only(&items, &[("gate", "A gate.")]),
        (
            DropReason::DocumentGone,
            "there is no document `ferry`".to_owned()
        )
    );
    let (reason, detail) = only(&items, &[("boat", QUOTE)]);
    assert_eq!(reason, DropReason::DocumentGone);
    assert!(
        detail.ends_with("its quote stands in `boat`: was it renamed?"),
        "{detail}"
    );
}

#[test]
fn a_twin_is_a_long_quote_in_a_document_that_is_not_relevant() {
    let long = item("a", &[("ferry", QUOTE, 0)]);
    let short = item("b", &[("ferry", "450 passengers", 28)]);
    let documents = [
        ("ferry", QUOTE),
        (
            "copy",
            "THE STORMWICK FERRY carries\n450 passengers in summer.",
        ),
    ];
    let items = [long.clone(), short];
    assert_eq!(
        only(&items, &documents),
        (
            DropReason::Twin,
            "its quote also stands in `copy`, which may answer the question".to_owned()
        )
    );
    let mut both = long;
    both.relevant.push("copy".to_owned());
    assert_eq!(check(&[both], &documents).stale, []);
    // A longer word at the end is not the quote.
    let longer = [
        ("ferry", QUOTE),
        (
            "copy",
            "The Stormwick ferry carries 450 passengers in summertime.",
        ),
    ];
    assert_eq!(check(&items, &longer).stale, []);
}

/// Every question of an edited corpus that is stale, and none else.
#[test]
fn edits_of_a_corpus_are_found() {
    let text = |number: usize| {
        format!(
            "Harbour {number} was opened in {} by the crew of boat {number}. It is large.",
            1800 + number
        )
    };
    let quote = |number: usize| format!("Harbour {number} was opened in {}", 1800 + number);
    let items: Vec<Item> = (0..100)
        .map(|number| {
            item(
                &number.to_string(),
                &[(&format!("d{number}"), &quote(number), 0)],
            )
        })
        .collect();
    let mut documents: Vec<(String, String)> = (0..100)
        .map(|number| (format!("d{number}"), text(number)))
        .collect();
    for number in 0..20 {
        documents[number].1 = format!("Welcome. {}", documents[number].1);
        documents[number + 20].1 = documents[number + 20].1.replace("was opened", "shut");
    }
    documents.push(("copy".to_owned(), text(50)));
    documents.remove(70);
    let check = Check::of(&items, &[], documents.into_iter().map(Ok::<_, Infallible>)).unwrap();
    let stale: Vec<&str> = check
        .stale
        .iter()
        .map(|stale| stale.item.id.as_str())
        .collect();
    let expected: Vec<String> = (20..40)
        .chain([50, 70])
        .map(|number: usize| number.to_string())
        .collect();
    assert_eq!(stale, expected);
    assert_eq!((check.moved.len(), check.updated.len()), (20, 78));
}

#[test]
fn an_update_leaves_stale_questions_to_the_history() {
    let home = tempfile::tempdir().unwrap();
    let folder = crate::SetFolder::new(home.path());
    let items = [
        item("a", &[("ferry", QUOTE, 0)]),
        item("b", &[("gate", "opens at 9", 9)]),
    ];
    let lock = folder.lock().unwrap();
    let before = crate::set_folder::lines_of(&items);
    lock.write(crate::SetFolder::QUESTIONS, &before).unwrap();
    let check = check(&items, &[("ferry", &format!("See: {QUOTE}"))]);
    lock.update(&items, &check, "2026-05-01T12:00:00Z").unwrap();
    let again = lock.update(&items, &check, "2026-05-01T12:00:00Z");
    assert!(matches!(again, Err(crate::SetError::Changed)));
    let update = &folder.history().unwrap()[0];
    let digest = crate::set_folder::digest;
    assert_eq!(
        (&update.from, &update.to),
        (&digest(&items), &digest(&folder.questions().unwrap()))
    );
    assert_eq!(update.stale[0].item, items[1]);
    assert_eq!(folder.questions().unwrap()[0].evidence[0].start, Some(5));
}

/// What people found defective stays in the rate of defects, whatever became of its evidence.
#[test]
fn a_dropped_question_is_never_stale() {
    let items = [
        item("a", &[("ferry", QUOTE, 0)]),
        item("b", &[("ferry", QUOTE, 0)]),
    ];
    let review = Review {
        id: "a".to_owned(),
        verdict: ReviewVerdict::Drop,
        defect: None,
        question: None,
        answer: None,
        author: "Ada".to_owned(),
        time: "2026-05-01T12:00:00Z".to_owned(),
        seed: Some(7),
    };
    let gone = [Ok::<_, Infallible>(("other".to_owned(), String::new()))];
    let check = Check::of(&items, &[review], gone).unwrap();
    assert_eq!(check.updated, items[..1]);
    assert_eq!(check.stale[0].item, items[1]);
}
