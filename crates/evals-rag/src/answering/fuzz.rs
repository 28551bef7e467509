//! Fuzz tests of the readers of answers: citations, refusals and sentences are found in any text.

use std::collections::BTreeSet;

use evals_fuzz::Target;

use super::{Citations, Refusals};
use crate::text::sentences;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");
const PASSAGES: usize = 5;

const TOKENS: [&str; 26] = [
    "[1]",
    "[",
    "]",
    "【",
    "】",
    "[5-1]",
    "[1-999]",
    "–",
    "[0]",
    "[999999999999999999999]",
    "[passage 2; 3]",
    ", ",
    ". ",
    "! ",
    "…",
    "。",
    "\n\n",
    "\n- ",
    "\u{a0}",
    "\u{2028}",
    "Dr. ",
    "No. 5",
    "\"",
    "I don't know.",
    "Unanswerable",
    "\u{130}",
];

fn blankless(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .collect()
}

#[test]
fn citations_cite_passages_and_keep_the_other_text() {
    Target::new("citations", CORPUS)
        .seed("Paris [1], the capital [2][3]. It is old [4-5] . In [2024] he said [sic] [a1] [].")
        .seed("そうです【1】。 [see [2]] [Passage 2, 4] [1–3; 5]")
        .dictionary(TOKENS)
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let citations = Citations::find(&text, PASSAGES);
            let distinct: BTreeSet<_> = citations.passages.iter().collect();
            assert_eq!(distinct.len(), citations.passages.len(), "each once");
            assert!(
                citations
                    .passages
                    .iter()
                    .all(|number| (1..=PASSAGES).contains(number))
            );
            let plain = Citations::plain(&text, PASSAGES);
            if citations.passages.is_empty() {
                assert_eq!(plain, text.trim());
            }
            let mut letters = text.chars();
            assert!(
                plain
                    .chars()
                    .all(|kept| letters.any(|letter| letter == kept)),
                "{plain}"
            );
            let cited_again = format!("{text} [1]");
            assert_eq!(Citations::plain(&cited_again, PASSAGES), plain);
            let more = Citations::find(&cited_again, PASSAGES);
            assert_eq!(more.unknown, citations.unknown);
            assert!(more.passages.starts_with(&citations.passages) && more.passages.contains(&1));
            assert_eq!(
                Citations::plain(&text, 0),
                text.trim(),
                "without passages nothing is cited"
            );
        });
}

#[test]
fn a_refusal_is_recognised_despite_explanations_and_citations() {
    let refusals = Refusals::new(["Das steht nicht im Text."]);
    Target::new("refusal", CORPUS)
        .seed("I don't know. The passages are about cats [2].")
        .seed("Das steht nicht im Text.")
        .seed("He said: I don't know. [1]")
        .dictionary(TOKENS)
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let refuses = refusals.refuses(&text);
            assert_eq!(refusals.refuses(&format!("{text} [1]")), refuses);
            assert_eq!(refusals.refuses(&format!(" \n{text}\n ")), refuses);
            let explained = format!("{}\n\n{text}", refusals.sentence());
            assert!(refusals.refuses(&explained));
        });
}

#[test]
fn sentences_are_the_whole_text() {
    Target::new("sentences", CORPUS)
        .seed("It rains. “Why?” she asked. Look! (It stopped.) Then… See no. 5 of Dr. A. Smith. Nothing")
        .seed("# Title\n\nA wrapped\nline\n- one\n* two\n3. three\n| a |\r\n\r\n「本当？」はい！")
        .dictionary(TOKENS)
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let found = sentences(&text);
            for sentence in &found {
                assert!(!sentence.is_empty() && sentence.trim() == *sentence, "{sentence:?}");
            }
            assert_eq!(blankless(&found.concat()), blankless(&text));
        });
}
