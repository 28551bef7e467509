//! Tests of the generator with scripted models.

mod fakes;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use evals_models::{ChatModel, Failure, ModelIdentity};
use evals_rag::Document;
use serde_json::{Map, Value, json};

use self::fakes::{EqualAnswers, Script, SharedWords};

use crate::{
    DropReason, GenerateError, GeneratedSet, Generator, Item, Kind, QuestionPrompts,
    QuestionSettings,
};

fn document(id: &str, text: &str) -> Document {
    Document {
        uri: id.to_owned(),
        title: None,
        text: text.to_owned(),
        metadata: Map::new(),
    }
}

/// The text of a block of a prompt, such as `question`.
fn block<'p>(prompt: &'p str, name: &str) -> &'p str {
    let (_, rest) = prompt.split_once(&format!("<{name}-")).unwrap();
    let (_, rest) = rest.split_once(">\n").unwrap();
    rest.split_once("\n</").unwrap().0
}

fn passages(prompt: &str) -> Vec<&str> {
    (1..)
        .map_while(|number| {
            let name = format!("passage-{number}");
            prompt
                .contains(&format!("<{name}-"))
                .then(|| block(prompt, &name))
        })
        .collect()
}

/// The number of the ferry that a text is about.
fn ferry(text: &str) -> usize {
    let (_, rest) = text.split_once("ferry N").unwrap();
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

/// 200 documents about one ferry each. Every eighth has a copy with other words.
fn ferries() -> Vec<Document> {
    let mut corpus = Vec::new();
    for number in 0..200 {
        let id = format!("{}/{number}.md", number % 5);
        let capacity = number + 100;
        let text = format!(
            "On Sundays it rains.\n\nThe ferry N{number} of the line  carries\n{capacity} passengers; it sails from the old quay."
        );
        corpus.push(document(&id, &text));
        if number % 8 == 7 {
            let text = format!("All know that ferry N{number} takes {capacity} passengers aboard.");
            corpus.push(document(&format!("copies/{number}.md"), &text));
        }
    }
    corpus
}

/// Writes the question about a ferry, with the defect that its number stands for.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a scripted model takes functions that may fail"
)]
fn write(prompt: &str, messages: usize) -> Result<Value, Failure> {
    let passage = passages(prompt)[0];
    let number = ferry(passage);
    let capacity = (number + 100).to_string();
    let mut question = format!("How many people fit on ferry N{number} ?");
    let mut answer = capacity.clone();
    let mut quote = if passage.contains("takes") {
        format!("takes {capacity} passengers")
    } else {
        format!("CARRIES {capacity} passengers")
    };
    match number % 8 {
        1 => "carries a thousand people".clone_into(&mut quote),
        2 if messages == 1 => "has room".clone_into(&mut quote),
        3 => question = format!("How many people fit on ferry N{number} of this passage ?"),
        4 => {
            question = format!("How many days had a week on ferry N{number} ?");
            "7".clone_into(&mut answer);
            quote.push_str("; it");
        }
        5 => question = format!("How many people fit on ferry N{number} or any ferry ?"),
        6 => "blue".clone_into(&mut answer),
        _ => {}
    }
    Ok(json!({"question": question, "id": "ID", "answer": answer, "quotes": [quote]}))
}

fn expected(number: usize) -> Option<DropReason> {
    match number % 8 {
        1 => Some(DropReason::NoEvidence),
        3 => Some(DropReason::NotAlone),
        4 => Some(DropReason::NeedsNoDocument),
        5 => Some(DropReason::NotUnique),
        6 => Some(DropReason::NotAnswered),
        _ => None,
    }
}

/// Judges by the words of question, answer and passages.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a scripted model takes functions that may fail"
)]
fn judge(prompt: &str, _: usize) -> Result<Value, Failure> {
    let question = block(prompt, "question");
    Ok(if prompt.starts_with("You are shown a question without") {
        let known = question.contains("a week").then_some("7");
        json!({"reason": "points", "id": "ID", "clear": !question.contains("this passage"), "answer": known})
    } else if prompt.starts_with("You check whether quotes") {
        let answer = block(prompt, "reference");
        let holds = prompt.contains("<quote-1-") && block(prompt, "quote-1").contains(answer);
        json!({"reason": "missing", "id": "ID", "pass": holds || answer == "7"})
    } else {
        let wanted = format!("ferry N{} ", ferry(question));
        let answering = (1..)
            .zip(passages(prompt))
            .filter(|(_, text)| text.contains(&wanted) || question.contains("any ferry"));
        let answering = answering.map(|(number, text)| {
            let same = text.contains(&wanted);
            json!({"passage": number.to_string(), "same": same, "quote": text.trim_end_matches('.')})
        });
        json!({"id": "ID", "answering": answering.collect::<Vec<_>>()})
    })
}

fn only(kind: Kind) -> QuestionSettings {
    QuestionSettings {
        mix: BTreeMap::from([(kind, 1.0)]),
        ..QuestionSettings::default()
    }
}

/// Runs a generator over a corpus.
async fn with<T>(
    corpus: &[Document],
    writer: &dyn ChatModel,
    judge: &dyn ChatModel,
    concurrency: usize,
    run: impl AsyncFnOnce(&Generator<'_>) -> T,
) -> T {
    let generator = Generator {
        writer,
        judge,
        equivalence: &EqualAnswers(ModelIdentity::new("test", "equal")),
        searcher: &SharedWords(corpus),
        corpus,
        prompts: &QuestionPrompts::default(),
        concurrency: NonZeroUsize::new(concurrency).unwrap(),
        progress: &|_| {},
    };
    run(&generator).await
}

async fn generated(
    corpus: &[Document],
    writer: &dyn ChatModel,
    settings: &QuestionSettings,
    count: usize,
) -> GeneratedSet {
    with(corpus, writer, &Script::new(judge), 4, async |it| {
        it.generate(settings, count, 1).await
    })
    .await
    .unwrap()
}

/// Asserts that each span is where it says.
fn assert_placed(corpus: &[Document], items: &[Item]) {
    for span in items.iter().flat_map(|item| &item.evidence) {
        let document = corpus.iter().find(|it| it.uri == span.document).unwrap();
        let (start, end) = (span.start.unwrap(), span.end.unwrap());
        let text: String = document
            .text
            .chars()
            .skip(start)
            .take(end - start)
            .collect();
        assert_eq!(text, span.quote);
    }
}

#[tokio::test]
async fn every_planted_defect_is_found_and_nothing_else() {
    let corpus = ferries();
    let writer = Script::new(write);
    let set = generated(&corpus, &writer, &only(Kind::SingleFact), 70).await;
    assert_eq!((set.kept.len(), set.shortage()), (70, None));
    for item in &set.kept {
        let number = ferry(&item.question);
        assert_eq!(expected(number), None, "{item:?}");
        let documents = if number % 8 == 7 { 2 } else { 1 };
        assert_eq!(item.relevant.len(), documents, "{item:?}");
        assert_eq!(item.evidence.len(), documents, "{item:?}");
    }
    for dropped in &set.dropped {
        let number = ferry(&dropped.item.question);
        let is_repeated = dropped.reason == DropReason::Duplicate && number % 8 == 7;
        let is_planted = Some(dropped.reason) == expected(number);
        assert!(is_planted || is_repeated, "{dropped:?}");
        assert!(!dropped.detail.is_empty());
    }
    assert!(set.dropped_by_reason().len() >= 5);
    assert_placed(&corpus, &set.kept);
    let ids: BTreeSet<&str> = set.kept.iter().map(|it| &*it.id).collect();
    assert_eq!(ids.len(), 70);
    assert_eq!(set.coverage.len(), 6);
    let covered: usize = set.coverage.iter().map(|it| it.covered).sum();
    assert_eq!(
        covered,
        set.kept.len(),
        "each is about a document of its own"
    );
    assert!(writer.requests().len() > 70);
}

#[tokio::test]
async fn the_seed_decides_the_requests_however_many_run_at_once() {
    let corpus = ferries();
    let mut seen = Vec::new();
    for (concurrency, seed) in [(1, 1), (16, 1), (1, 2)] {
        let (writer, judge) = (Script::new(write), Script::new(judge));
        let settings = QuestionSettings {
            mix: [(Kind::SingleFact, 1.0), (Kind::Keywords, 1.0)].into(),
            ..QuestionSettings::default()
        };
        let set = with(&corpus, &writer, &judge, concurrency, async |it| {
            it.generate(&settings, 20, seed).await
        })
        .await;
        let set = set.unwrap();
        let of = |kind| set.kept.iter().filter(|it| it.kind == kind).count();
        assert_eq!((of(Kind::SingleFact), of(Kind::Keywords)), (10, 10));
        seen.push((set.kept, set.dropped, writer.requests(), judge.requests()));
    }
    assert!(seen[0] == seen[1]);
    assert!(seen[0].0 != seen[2].0);
    let distinct: BTreeSet<&String> = seen[0].2.iter().collect();
    assert_eq!(distinct.len(), seen[0].2.len(), "nothing is asked twice");
}

#[tokio::test]
async fn the_same_question_again_and_again_ends_with_a_short_set() {
    let corpus = ferries();
    let writer = Script::new(|prompt: &str, _| {
        let passage = passages(prompt)[0];
        let capacity = (ferry(passage) + 100).to_string();
        let quote = format!("{capacity} passengers");
        Ok(
            json!({"question": "How many fit on ferry N999 ?", "id": "ID", "answer": capacity, "quotes": [quote]}),
        )
    });
    let set = with(&corpus, &writer, &Script::new(judge), 4, async |it| {
        it.generate(&only(Kind::SingleFact), 100, 1).await
    })
    .await;
    let set = set.unwrap();
    assert_eq!((set.kept.len(), set.dropped.len()), (1, 299));
    assert_eq!(
        set.shortage().unwrap(),
        "only 1 of 100 questions passed all filters after 300 attempts; most were dropped as `duplicate` (299), the last because: nearly \
         the same as question `q0001`: How many fit on ferry N999 ?"
    );
}

#[tokio::test]
async fn prose_and_other_objects_are_no_questions() {
    let corpus = ferries();
    for reply in [
        json!("Here is a question: why?"),
        json!({"q": 1}),
        json!([1]),
    ] {
        let writer = Script::new(|_: &str, _| Ok(reply.clone()));
        let set = generated(&corpus, &writer, &only(Kind::Number), 2).await;
        assert_eq!((set.kept.len(), set.dropped.len()), (0, 6));
        assert!(
            set.dropped
                .iter()
                .all(|it| it.reason == DropReason::Unusable)
        );
        assert!(
            set.dropped[0]
                .detail
                .contains("no JSON object with a text `question`"),
            "{}",
            set.dropped[0].detail
        );
    }
    let nothing = Script::new(|_: &str, _| {
        Ok(json!({"question": " ", "id": "ID", "answer": "", "quotes": []}))
    });
    let set = generated(&corpus, &nothing, &only(Kind::Number), 1).await;
    assert!(
        set.shortage()
            .unwrap()
            .ends_with("nothing to ask about the passage")
    );
}

#[tokio::test]
async fn a_model_that_only_writes_prose_is_not_asked_about_every_question() {
    let corpus = ferries();
    for count in [8, 50] {
        let asked = AtomicUsize::new(0);
        // One of the replies is good, and the count begins again.
        let writer = Script::new(|prompt: &str, messages| {
            if asked.fetch_add(1, Ordering::Relaxed) == 5 {
                return write(prompt, messages);
            }
            Ok(json!("Here is  a\nquestion: why?"))
        });
        let set = with(&corpus, &writer, &Script::new(judge), 4, async |it| {
            let settings = only(Kind::Number);
            it.generate(&settings, count, 1).await
        })
        .await;
        let error = set.unwrap_err();
        assert_eq!(
            error.to_string(),
            "10 replies in a row could not be read, so nothing further was asked; the last one begins: `Here is a question: why?`"
        );
        // Each is sent back once: ten in a row and those under way, after the first eight, whose good one the judge has read.
        let requests = writer.requests().len();
        assert!((20..=2 * (8 + 10 + 4)).contains(&requests), "{requests}");
    }
}

#[tokio::test]
async fn a_failure_of_every_call_stops_at_once() {
    let corpus = ferries();
    for failure in [Failure::Terminal, Failure::Transient] {
        let writer = Script::new(|_: &str, _| Err(failure));
        let set = with(&corpus, &writer, &Script::new(judge), 4, async |it| {
            let settings = only(Kind::Number);
            it.generate(&settings, 50, 1).await
        })
        .await;
        let error = set.unwrap_err();
        assert_eq!(error.to_string(), "`test:script` gave no answer");
        assert!(writer.requests().len() <= 4);
    }
}

#[tokio::test]
async fn a_corpus_without_passages_is_refused() {
    for corpus in [Vec::new(), vec![document("a", "# Title")]] {
        let set = with(
            &corpus,
            &Script::new(write),
            &Script::new(judge),
            1,
            async |it| {
                let settings = QuestionSettings::default();
                it.generate(&settings, 5, 1).await
            },
        )
        .await;
        assert!(matches!(set, Err(GenerateError::EmptyCorpus)));
    }
}

#[tokio::test]
async fn one_document_is_asked_about_again_in_any_script() {
    let text = "渡し船は毎朝九時に\n島へ向けて出航します。冬は運休です。";
    let corpus = vec![document("船", text)];
    let asked = AtomicUsize::new(0);
    let writer = Script::new(|prompt: &str, _| {
        assert!(!prompt.contains("kind == "));
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let question = format!("渡し船{number}は何時に出航しますか");
        Ok(
            json!({"question": question, "id": "ID", "answer": "九時", "quotes": ["九時に島へ"], "near_miss": "x"}),
        )
    });
    let judge = Script::new(|prompt: &str, _| {
        Ok(
            json!({"id": "ID", "clear": true, "pass": prompt.contains("九時に\n島へ"), "answering": []}),
        )
    });
    let set = with(&corpus, &writer, &judge, 1, async |it| {
        let settings = QuestionSettings::default();
        it.generate(&settings, 10, 1).await
    })
    .await;
    let set = set.unwrap();
    assert_eq!(set.kept.len(), 10);
    assert!(set.kept.iter().all(|it| it.kind != Kind::Comparison));
    let requests: BTreeSet<String> = writer.requests().into_iter().collect();
    assert_eq!(requests.len(), 10, "no request is repeated");
    assert_placed(&corpus, &set.kept);
    let answerable = set.kept.iter().find(|it| it.is_answerable()).unwrap();
    assert_eq!(answerable.evidence[0].start, Some(6));
}

#[tokio::test]
async fn a_comparison_quotes_two_documents() {
    let corpus = ferries();
    let writer = Script::new(|prompt: &str, messages| {
        let passages = passages(prompt);
        let quotes = passages.iter().map(|it| format!("ferry N{}", ferry(it)));
        // The first reply leaves the second passage out.
        let quotes: Vec<String> = quotes.take(messages).collect();
        let question = format!("Is ferry N{} larger ?", ferry(passages[0]));
        Ok(json!({"question": question, "id": "ID", "answer": "N", "quotes": quotes}))
    });
    let set = generated(&corpus, &writer, &only(Kind::Comparison), 5).await;
    assert_eq!(set.kept.len(), 5, "{:?}", set.dropped);
    for item in &set.kept {
        let documents: BTreeSet<&str> = item.evidence.iter().map(|it| &*it.document).collect();
        assert!(documents.len() >= 2, "{item:?}");
    }
    assert_placed(&corpus, &set.kept);
}

#[tokio::test]
async fn an_unanswerable_question_has_no_passage_that_answers() {
    let corpus = ferries();
    let writer = Script::new(|prompt: &str, _| {
        let number = ferry(passages(prompt)[0]);
        // The judge finds odd ferries in the corpus.
        let asked = if number % 2 == 1 {
            number
        } else {
            900 + number
        };
        let question = format!("What colour has ferry N{asked} ?");
        Ok(json!({"near_miss": "its size", "question": question, "id": "ID", "answer": null}))
    });
    let set = generated(&corpus, &writer, &only(Kind::Unanswerable), 20).await;
    assert_eq!(set.kept.len(), 20);
    for item in &set.kept {
        assert!(ferry(&item.question) >= 900 && !item.is_answerable());
        assert!(item.evidence.is_empty() && item.relevant.is_empty());
    }
    let mut reasons = set.dropped_by_reason();
    // Of a ferry with two documents.
    reasons.remove(&DropReason::Duplicate);
    assert!(reasons.into_keys().eq([DropReason::Answerable]));
}

#[tokio::test]
async fn questions_of_a_log_get_evidence_or_are_unanswerable() {
    let corpus = ferries();
    let writer = Script::new(|prompt: &str, messages| {
        let question = block(prompt, "question");
        let number = ferry(question);
        let capacity = (number + 100).to_string();
        if number >= 200 {
            return Ok(json!({"id": "ID", "answer": null, "quotes": []}));
        }
        let quote = if messages == 1 && number == 0 || number == 9 {
            "no such words".to_owned()
        } else {
            format!("{capacity} passengers")
        };
        Ok(json!({"id": "ID", "answer": capacity, "quotes": [quote]}))
    });
    let questions = [0, 9, 16, 300].map(|it| format!("who fits on ferry N{it} of this passage"));
    let set = with(&corpus, &writer, &Script::new(judge), 2, async |it| {
        it.answer(&questions).await
    })
    .await;
    let set = set.unwrap();
    let kept: Vec<(&str, bool)> = set
        .kept
        .iter()
        .map(|it| (&*it.question, it.is_answerable()))
        .collect();
    assert_eq!(
        kept,
        [
            (&*questions[0], true),
            (&questions[2], true),
            (&questions[3], false)
        ]
    );
    assert!(set.kept.iter().all(|it| it.kind == Kind::Logged));
    assert_eq!(set.dropped[0].reason, DropReason::NoEvidence);
    assert_placed(&corpus, &set.kept);
}

#[test]
fn prompts_are_listed_by_their_names_and_replaced() {
    let prompts = QuestionPrompts::default();
    let names = prompts.all().into_iter().map(|it| it.name().to_owned());
    let names: Vec<String> = names.collect();
    assert!(names.is_sorted());
    let mut seen = Vec::new();
    let same = prompts.clone().try_map(|prompt| {
        seen.push(prompt.name().to_owned());
        Ok::<_, ()>(prompt)
    });
    assert_eq!((same, seen), (Ok(prompts), names));
}
