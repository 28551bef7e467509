//! The tokenizer against the reference implementation.
//!
//! `golden/wordpiece.jsonl` was written with the Python package `tokenizers` 0.23.3: `BertNormalizer` (lower case, accents stripped),
//! `BertPreTokenizer` and `WordPiece` over the vocabulary of all-MiniLM-L6-v2, without added tokens; offsets are turned into bytes.

use evals_local::StaticEmbedder;
use evals_models::Tokenizer;
use serde::Deserialize;

const GOLDEN: &str = include_str!("golden/wordpiece.jsonl");

#[derive(Deserialize)]
struct Golden {
    text: String,
    tokens: Vec<String>,
    ranges: Vec<(usize, usize)>,
}

fn golden() -> Vec<Golden> {
    let parse = |line| serde_json::from_str(line).expect("every line is one case");
    let golden: Vec<_> = GOLDEN.lines().map(parse).collect();
    assert!(golden.len() > 400);
    golden
}

#[test]
fn tokens_are_those_of_the_reference() {
    let model = StaticEmbedder::static_minilm();
    let tokenizer = model.tokenizer();
    for Golden { text, tokens, .. } in golden() {
        let found: Vec<_> = tokenizer
            .tokens(&text)
            .into_iter()
            .map(|token| tokenizer.token(token).unwrap().to_owned())
            .collect();
        assert_eq!(found, tokens, "{text:?}");
        assert_eq!(tokenizer.count(&text), tokens.len(), "{text:?}");
    }
}

#[test]
fn ranges_are_those_of_the_reference() {
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    for Golden { text, ranges, .. } in golden() {
        let found: Vec<_> = tokenizer
            .boundaries(&text)
            .into_iter()
            .map(|range| (range.start, range.end))
            .collect();
        assert_eq!(found, ranges, "{text:?}");
    }
}

#[test]
fn a_cut_text_has_the_tokens_that_were_asked_for() {
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    for Golden { text, .. } in golden() {
        let tokens = tokenizer.tokens(&text);
        for max_tokens in 0..=tokens.len() {
            let cut = tokenizer.truncate(&text, max_tokens);
            assert!(text.starts_with(cut));
            let kept = tokenizer.tokens(cut);
            assert!(
                tokens.starts_with(&kept) && kept.len() <= max_tokens,
                "{text:?} at {max_tokens}: {cut:?}"
            );
        }
        assert_eq!(tokenizer.truncate(&text, tokens.len()), text);
    }
}

#[test]
fn ten_megabytes_of_one_word_are_one_token() {
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    let word = "x".repeat(10 << 20);
    assert_eq!(tokenizer.tokens(&word), [tokenizer.unknown()]);
    assert_eq!(tokenizer.boundaries(&word), vec![0..word.len(); 1]);
}
