//! What the filters without a model make of the questions of people, and of defects that are planted into them: on the samples in the
//! Hugging Face home that `EVALUATIONS_REAL_HF_HOME` names.
#![expect(
    clippy::print_stdout,
    reason = "what the filters drop is for whoever reads the test's output"
)]

use std::collections::BTreeMap;

use evals_questions::{Diversity, DropReason, Item, Kind, PlainFilters, diversity};
use evals_rag::EvidenceSpan;
use evals_rag::text::{content_words, sentences, words};

use crate::real_data;

/// Questions of people, each with the sentence of a relevant document that shares most words with it for its evidence.
struct Sample {
    name: &'static str,
    documents: BTreeMap<String, String>,
    items: Vec<Item>,
}

/// A sample; `None` if the variable is not set.
async fn sample(name: &'static str) -> Option<Sample> {
    let collection = real_data::collection(name).await?;
    let documents = collection.documents().unwrap().map(Result::unwrap);
    let documents: BTreeMap<String, String> = documents
        .map(|document| (document.uri, document.text))
        .collect();
    let questions = collection.questions().unwrap().questions.into_iter();
    let items = questions.map(|question| {
        let relevant: Vec<String> = question.relevant.relevant().map(str::to_owned).collect();
        let document = relevant[0].clone();
        let quote = nearest_sentence(&documents[&document], &question.text);
        Item {
            relevant,
            evidence: vec![EvidenceSpan {
                document,
                quote,
                start: None,
                end: None,
            }],
            ..Item::new(question.id, question.text, Kind::Logged)
        }
    });
    let items = items.collect();
    Some(Sample {
        name,
        documents,
        items,
    })
}

fn nearest_sentence(text: &str, question: &str) -> String {
    let content = content_words(question);
    let shared = |sentence: &&str| words(sentence).intersection(&content).count();
    let nearest = sentences(text).into_iter().max_by_key(shared);
    nearest.unwrap_or(text).to_owned()
}

impl Sample {
    fn check(&self, filters: &mut PlainFilters, item: &Item) -> Option<(DropReason, String)> {
        // About a page around the evidence.
        let EvidenceSpan {
            document, quote, ..
        } = &item.evidence[0];
        let text = &self.documents[document];
        let at = text.find(quote).unwrap();
        let start = text.floor_char_boundary(at.saturating_sub(2_000));
        let end = text.ceil_char_boundary((at + quote.len() + 2_000).min(text.len()));
        filters.check(item, &[&text[start..end]])
    }

    /// Prints which of the questions of people go, and returns the filters with the others.
    fn good(&self) -> (PlainFilters, Vec<&Item>) {
        let mut filters = PlainFilters::default();
        let mut kept = Vec::new();
        for item in &self.items {
            match self.check(&mut filters, item) {
                None => kept.push(item),
                Some((reason, detail)) => {
                    println!("{}: {reason:?}: {}: {detail}", self.name, item.question);
                }
            }
        }
        println!("{}: {} of {} kept", self.name, kept.len(), self.items.len());
        (filters, kept)
    }

    /// How many of the planted items the filters find for this reason, by name of the defect.
    fn found(
        &self,
        name: &str,
        reason: DropReason,
        filters: &mut PlainFilters,
        planted: &[Item],
    ) -> f64 {
        let mut found = 0;
        for item in planted {
            match self.check(filters, item) {
                Some((other, _)) if other == reason => found += 1,
                other => println!(
                    "{}: {name}: not found ({other:?}): {}",
                    self.name, item.question
                ),
            }
        }
        println!("{}: {name}: {found} of {} found", self.name, planted.len());
        f64::from(found) / f64::from(u32::try_from(planted.len()).unwrap())
    }

    /// Questions made of sentences of the documents: whole, without their last words, and without their first ones.
    fn copied(&self) -> Vec<Item> {
        let mut planted = Vec::new();
        for (document, text) in &self.documents {
            for quote in sentences(text) {
                let words: Vec<&str> = quote.split_whitespace().collect();
                if !(8..=30).contains(&words.len()) {
                    continue;
                }
                let question = match planted.len() % 3 {
                    0 => format!("Is it true that {quote}?"),
                    1 => format!("What {}?", words[..words.len() - 3].join(" ")),
                    _ => format!("What does {} mean?", words[words.len() / 3..].join(" ")),
                };
                planted.push(Item {
                    id: format!("copied {}", planted.len()),
                    question,
                    relevant: vec![document.clone()],
                    evidence: vec![EvidenceSpan {
                        document: document.clone(),
                        quote: quote.to_owned(),
                        start: None,
                        end: None,
                    }],
                    ..self.items[0].clone()
                });
            }
        }
        planted
    }
}

/// Every item with a changed question.
fn changed(items: &[&Item], change: impl Fn(usize, &str) -> String) -> Vec<Item> {
    let items = items.iter().enumerate();
    let items = items.map(|(place, item)| Item {
        id: format!("changed {place}"),
        question: change(place, &item.question),
        ..(*item).clone()
    });
    items.collect()
}

fn duplicated(place: usize, question: &str) -> String {
    match place % 4 {
        0 => format!("Please tell me: {question}"),
        1 => question.to_uppercase().replace(['.', ',', '?', '\''], ""),
        2 => format!("Hello! {question} Thank you"),
        // A usual word less, and another one more.
        _ => format!("So {}", question.replacen(" the ", " ", 1)),
    }
}

fn not_alone(place: usize, question: &str) -> String {
    match place % 6 {
        0 => format!("According to the passage, {question}"),
        1 => format!("{question} Answer from the text above."),
        2 => format!("What does this article say: {question}"),
        3 => format!("{question} Use what is mentioned in the document."),
        4 => format!("As the author explains, {question}"),
        _ => format!("In the given context, {question}"),
    }
}

async fn measure(name: &'static str) -> Option<Diversity> {
    let sample = sample(name).await?;
    let (mut filters, kept) = sample.good();
    assert!(
        kept.len() * 100 >= sample.items.len() * 95,
        "{} of {}",
        kept.len(),
        sample.items.len()
    );

    let duplicates = changed(&kept, duplicated);
    let unclear = changed(&kept, not_alone);
    let shares = [
        sample.found(
            "duplicated",
            DropReason::Duplicate,
            &mut filters,
            &duplicates,
        ),
        sample.found("not alone", DropReason::NotAlone, &mut filters, &unclear),
        sample.found("copied", DropReason::Copied, &mut filters, &sample.copied()),
    ];
    assert!(
        shares.iter().all(|share| *share >= 0.95),
        "{name}: {shares:?}"
    );

    let text = |id: &str| sample.documents.get(id).map(String::as_str);
    let diversity = Diversity::of(&sample.items, text, &[]);
    println!("{diversity:?}");
    Some(diversity)
}

fn assert_near(measured: &Diversity, constant: &Diversity) {
    let rounded = |it: Option<f64>| it.map(|it| (it * 1e4).round());
    assert_eq!(measured.words, constant.words);
    assert_eq!(
        rounded(measured.distinct_trigrams),
        rounded(constant.distinct_trigrams)
    );
    assert_eq!(rounded(measured.overlap), rounded(constant.overlap));
    assert_eq!(measured.questions, constant.questions);
}

#[tokio::test]
async fn of_wix() {
    if let Some(diversity) = measure("wix").await {
        assert_near(&diversity, &diversity::wixqa());
    }
}

#[tokio::test]
async fn of_repliqa() {
    if let Some(diversity) = measure("repliqa").await {
        assert_near(&diversity, &diversity::repliqa());
    }
}
