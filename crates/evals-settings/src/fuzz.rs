//! Settings files and `--set`: whatever they hold, they are refused or give settings that read back as they are.

use std::path::Path;

use evals_fuzz::Target;
use serde_json::Value;

use super::{Layer, Resolved, SettingsError, SettingsFile, resolve};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

const TOKENS: [&str; 34] = [
    "~",
    "[]",
    "{}",
    "- ",
    ": ",
    "\n  ",
    "\t",
    "&a ",
    "*a",
    "<<: ",
    "|\n",
    "---\n",
    "? ",
    "\u{feff}",
    "\u{85}",
    "\0",
    ".inf",
    ".nan",
    "0x7f",
    "1e999",
    "-1",
    "18446744073709551616",
    "\"\\ud800\"",
    "null",
    "true",
    "providers: {ollama: {base_url: 'http://a:b@h/'}}",
    "extra_body: {a: [1]}",
    "api_key_env: A_B",
    "reranking: {model: {provider: local, name: a/b}}",
    "search.limit=",
    "prices: {m: {input: 1, output: 0.1}}",
    "${A:-b}",
    "\u{1b}",
    "provider: ",
];

/// The output of `config show`.
fn shown(resolved: &Resolved) -> String {
    serde_saphyr::to_string(&resolved.settings).unwrap()
}

fn value(resolved: &Resolved) -> Value {
    serde_json::to_value(&resolved.settings).unwrap()
}

/// Makes sure that what is shown of settings gives them again.
fn assert_reads_back(resolved: &Resolved, folder: &Path) {
    let path = folder.join("evaluations.yaml");
    let text = shown(resolved);
    std::fs::write(&path, &text).unwrap();
    let file = SettingsFile::named(&path).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let again = resolve(vec![file.layer]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(value(&again), value(resolved), "{text}");
    assert_eq!(shown(&again), text);
}

/// Reads a file of that name, and what is shown of it.
fn read(name: &str, text: &[u8], folder: &Path) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    let file = match SettingsFile::read(&path) {
        Ok(file) => file,
        Err(error) => return assert_names(&error, name),
    };
    match resolve(vec![file.layer]) {
        Ok(resolved) => assert_reads_back(&resolved, folder),
        Err(error) => assert_names(&error, name),
    }
}

/// Makes sure that an error says in which file it is, itself or by what caused it.
fn assert_names(error: &SettingsError, name: &str) {
    let mut causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| {
        error.source()
    });
    assert!(
        causes.any(|cause| cause.to_string().contains(name)),
        "{error}"
    );
}

#[test]
fn a_settings_file_is_refused_or_shown_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let defaults = shown(&resolve(Vec::new()).unwrap());
    Target::new("settings", CORPUS)
        .seed(defaults)
        .seed("search: {limit: 3, profile: bm25, fusion: {method: linear, weight: 0.25}}\nprocessing:\n  chunk_size: ~\n")
        .seed("embeddings:\n  model: {provider: openai, name: a/b, base_url: 'http://127.0.0.1:1/v1', vector_dim: 8}\nproviders:\n  openai: {timeout: 1.5, max_attempts: 2}\nprices:\n  a/b: {input: 1, output: 2.5}\n")
        .dictionary(TOKENS)
        .run(|input| read("evaluations.yaml", input, folder.path()));
}

#[test]
fn a_file_of_haiku_rag_is_refused_or_translated() {
    let folder = tempfile::tempdir().unwrap();
    Target::new("haiku", CORPUS)
        .seed("storage: {data_dir: x}\nembeddings:\n  model: {provider: ollama, name: qwen3-embedding, vector_dim: 2560}\nprocessing: {chunk_size: 256}\nsearch: {limit: 5}\n")
        .seed("reranking:\n  model: {provider: mxbai, name: a/b}\nqa:\n  model: {provider: openai, name: gpt, enable_thinking: false, temperature: 0.1}\nproviders:\n  ollama: {base_url: \"${NOWHERE_SET:-http://127.0.0.1:1}\"}\n")
        .dictionary(TOKENS)
        .dictionary(["${", "}", ":-", "$$", "${PATH}"])
        .run(|input| read("haiku.rag.yaml", input, folder.path()));
}

#[test]
fn an_assignment_is_refused_or_shown_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    Target::new("set", CORPUS)
        .seed("search.limit=7")
        .seed("qa.model={provider: ollama, name: a:b, extra_body: {c: [1, ~]}}")
        .seed("processing.chunk_size=null\nsearch.fusion.weight=0.5")
        .dictionary(TOKENS)
        .run(|input| {
            let text = String::from_utf8_lossy(input);
            let arguments: Vec<String> = text.split('\n').map(str::to_owned).collect();
            let layer = match Layer::assignments(&arguments) {
                Ok(layer) => layer,
                Err(error) => return assert_names(&error, "--set"),
            };
            match resolve(layer.into_iter().collect()) {
                Ok(resolved) => assert_reads_back(&resolved, folder.path()),
                Err(error) => assert_names(&error, "--set"),
            }
        });
}
