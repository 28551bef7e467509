//! The `NanoBEIR` collections: fifty questions each of thirteen BEIR collections, over small corpora.

use crate::manifest::{Manifest, ManifestError, Origin};

/// The prefix of the names of `NanoBEIR` collections.
pub(super) const PREFIX: &str = "nanobeir:";

/// Name, repository below `zeta-alpha-ai/`, documents and questions. The repositories and their columns are those that
/// `NanoBEIREvaluator` of sentence-transformers reads; the counts are for listings alone.
const COLLECTIONS: [(&str, &str, u64, u64); 13] = [
    ("arguana", "NanoArguAna", 3_635, 50),
    ("climatefever", "NanoClimateFEVER", 3_408, 50),
    ("dbpedia", "NanoDBPedia", 6_045, 50),
    ("fever", "NanoFEVER", 4_996, 50),
    ("fiqa2018", "NanoFiQA2018", 4_598, 50),
    ("hotpotqa", "NanoHotpotQA", 5_090, 50),
    ("msmarco", "NanoMSMARCO", 5_043, 50),
    ("nfcorpus", "NanoNFCorpus", 2_953, 50),
    ("nq", "NanoNQ", 5_035, 50),
    ("quoraretrieval", "NanoQuoraRetrieval", 5_046, 50),
    ("scidocs", "NanoSCIDOCS", 2_210, 50),
    ("scifact", "NanoSciFact", 2_919, 50),
    ("touche2020", "NanoTouche2020", 5_745, 49),
];

/// The names of all collections with their prefix, in alphabetical order.
pub(super) fn names() -> impl Iterator<Item = String> {
    COLLECTIONS
        .iter()
        .map(|(name, ..)| format!("{PREFIX}{name}"))
}

/// The manifest of `nanobeir:<name>`; `None` if there is no such collection.
pub(super) fn manifest(name: &str) -> Option<Result<Manifest, ManifestError>> {
    let (name, repo, documents, questions) =
        COLLECTIONS.iter().find(|(known, ..)| *known == name)?;
    // Titles are part of the texts, judgements have no grades, and a document with the question's own id counts: the evaluator keeps it.
    let text = format!(
        "name: '{PREFIX}{name}'\n\
         description: 'NanoBEIR {name}, a small part of the BEIR collection'\n\
         licence: see the homepage\n\
         homepage: 'https://huggingface.co/datasets/zeta-alpha-ai/{repo}'\n\
         size: {{documents: {documents}, questions: {questions}}}\n\
         source: {{repo: 'zeta-alpha-ai/{repo}', revision: main}}\n\
         documents: {{source: {{files: ['corpus/*.parquet']}}, uri: _id, text: text}}\n\
         questions: {{source: {{files: ['queries/*.parquet']}}, id: _id, text: text}}\n\
         judgements: {{source: {{files: ['qrels/*.parquet']}}, query: query-id, document: corpus-id}}\n\
         retrieval: {{limit: 100, headline: nDCG@10, measures: [nDCG@10, RR@10, AP@100, R@10, Success@1]}}\n\
         settings: {{processing: {{chunk_size: null}}}}\n"
    );
    Some(Manifest::parse(
        &text,
        Origin::Bundled(format!("{PREFIX}{name}")),
    ))
}
