//! Documents a second, on generated text of the length of a scientific abstract.

use divan::Bencher;
use divan::counter::ItemsCount;
use evals_local::StaticEmbedder;
use evals_models::Tokenizer;

fn main() {
    divan::main();
}

const ASSET: &[u8] = include_bytes!("../assets/static-minilm.bin");
const DOCUMENTS: usize = 1_000;
const WORDS: usize = 220;

/// Words of all frequencies from the model's own vocabulary, some of them joined into longer ones that need several tokens.
fn documents(model: &StaticEmbedder) -> Vec<String> {
    let tokenizer = model.tokenizer();
    let size = u32::try_from(tokenizer.vocabulary_size())
        .expect("a vocabulary of some ten thousand words");
    let words: Vec<&str> = (0..size)
        .filter_map(|token| tokenizer.token(token))
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect();
    let mut state = 1_u64;
    let mut word = || {
        // Knuth's linear congruential generator; squaring the fraction favours the front of the vocabulary, where common words are.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let fraction = (state >> 33) as usize;
        words[(((fraction * fraction) >> 31) * words.len()) >> 31]
    };
    let mut document = || {
        let joined = |index: usize| if index % 8 == 7 { "" } else { " " };
        (0..WORDS)
            .flat_map(|index| [word(), joined(index)])
            .collect()
    };
    (0..DOCUMENTS).map(|_| document()).collect()
}

#[divan::bench]
fn load(bencher: Bencher) {
    bencher.bench(|| StaticEmbedder::from_asset("static-minilm", ASSET));
}

#[divan::bench]
fn tokenize(bencher: Bencher) {
    let model = StaticEmbedder::static_minilm();
    let documents = documents(&model);
    let tokenizer = model.tokenizer();
    bencher.counter(ItemsCount::new(DOCUMENTS)).bench(|| {
        documents
            .iter()
            .map(|document| tokenizer.count(document))
            .sum::<usize>()
    });
}

#[divan::bench]
fn embed(bencher: Bencher) {
    let model = StaticEmbedder::static_minilm();
    let documents = documents(&model);
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    bencher
        .counter(ItemsCount::new(DOCUMENTS))
        .bench(|| model.embed_batch(&texts));
}
