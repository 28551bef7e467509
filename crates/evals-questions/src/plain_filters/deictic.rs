//! Phrases of English that point to a text which a reader of the question does not see.
//!
//! Other languages are left to the model, as are pronouns in longer questions.

use evals_rag::text::{content_words, words_in_order};

/// What a passage is called, and who wrote it.
const TEXTS: &str = "passage passages excerpt excerpts snippet extract article articles text texts document documents context \
    paragraph report story author authors narrator";

/// Those that a question may be about, so that `in the document` need not point to the passage.
const NAMED: &str = "document documents report story";

/// Words before the name of a text that point to it, whatever stands around.
const POINTING: &str = "this these that above following given provided preceding";

/// Words before `the passage` that make it the place of something.
const PLACING: &str = "in of by from to within per does did";

/// What a text or its author does, or what is done in it.
const SAYING: &str = "say says said mention mentions mentioned describe describes described state states stated discuss discusses \
    discussed argue argues argued suggest suggests suggested explain explains explained give gives given provide provides provided \
    listed shown";

/// Words that stand for something named before.
const PRONOUNS: &str = "he she it they him her them his hers its their this these those";

fn is_one_of(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}

/// The phrase of a question that points to a text, or that stands for something which the question does not name.
pub(super) fn found(question: &str) -> Option<String> {
    let words: Vec<String> = words_in_order(question).collect();
    let pointing = (0..words.len()).find_map(|at| phrase(&words, at));
    pointing.or_else(|| unnamed(question, &words))
}

/// The phrase that ends with the name of a text, or of its author, at `at`.
fn phrase(words: &[String], at: usize) -> Option<String> {
    // Out of the question there is no word.
    let before = |back: usize| {
        at.checked_sub(back)
            .map_or("", |place| words[place].as_str())
    };
    let after = words.get(at + 1).map_or("", String::as_str);
    let from = |back: usize| Some(words[at - back..=at].join(" "));

    if matches!(&*words[at], "above" | "below")
        && (is_one_of(before(1), SAYING) || before(1) == "the")
        && !is_one_of(after, "the a an average")
    {
        return from(1);
    }
    if !is_one_of(&words[at], TEXTS) {
        return None;
    }
    if is_one_of(before(1), POINTING) {
        return from(1);
    }
    // `the short passage` points as `the passage` does.
    let article = [1, 2].into_iter().find(|back| before(*back) == "the")?;
    // `The author of the novel` and `the text of the button` say which one they mean.
    if is_one_of(after, "of for on about") {
        return None;
    }
    if is_one_of(after, SAYING) && is_one_of(before(1), "the short whole") {
        return from(article);
    }
    let placing = before(article + 1);
    let is_source = placing == "to" && before(article + 2) == "according";
    let is_placed = is_one_of(placing, PLACING)
        && (!is_one_of(&words[at], NAMED)
            || is_one_of(before(article + 2), SAYING)
            || is_one_of(placing, "does did"));
    if is_source || is_placed {
        from(article + 1)
    } else {
        None
    }
}

/// The pronoun of a question that names at most one thing, such as `When was it founded?`
fn unnamed(question: &str, words: &[String]) -> Option<String> {
    let pronoun = words.iter().find(|word| is_one_of(word, PRONOUNS))?;
    let named = content_words(question);
    let named = named.iter().filter(|word| !is_one_of(word, PRONOUNS));
    (named.count() <= 1).then(|| pronoun.clone())
}
