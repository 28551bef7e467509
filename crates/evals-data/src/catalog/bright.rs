//! BRIGHT: questions whose relevant documents only reasoning finds, by subject.

use crate::manifest::{Manifest, ManifestError, Origin};

/// The prefix of the names of BRIGHT's subjects.
pub(super) const PREFIX: &str = "bright:";

/// Subject, documents and questions, as the dataset's card counts them, and nDCG@10 of BM25 (Su et al. 2024, Table 2).
///
/// `leetcode`, `aops` and both parts of `theoremqa` are missing: there, each question has documents of its own (`excluded_ids`) that its
/// ranking must not contain.
const SUBJECTS: [(&str, u64, u64, &str); 8] = [
    ("biology", 57_359, 103, "0.189"),
    ("earth_science", 121_249, 116, "0.272"),
    ("economics", 50_220, 103, "0.149"),
    ("pony", 7_894, 112, "0.079"),
    ("psychology", 52_835, 101, "0.125"),
    ("robotics", 61_961, 101, "0.136"),
    ("stackoverflow", 107_081, 117, "0.184"),
    ("sustainable_living", 60_792, 108, "0.150"),
];

/// The names of all subjects with their prefix, in alphabetical order.
pub(super) fn names() -> impl Iterator<Item = String> {
    SUBJECTS.iter().map(|(name, ..)| format!("{PREFIX}{name}"))
}

/// The manifest of `bright:<subject>`; `None` if there is no such subject.
pub(super) fn manifest(name: &str) -> Option<Result<Manifest, ManifestError>> {
    let (name, documents, questions, bm25) = SUBJECTS.iter().find(|(known, ..)| *known == name)?;
    let text = format!(
        "name: 'bright:{name}'\n\
         description: 'BRIGHT {name}, questions that need reasoning to find documents (BM25: nDCG@10 {bm25})'\n\
         licence: CC-BY-4.0\n\
         homepage: https://huggingface.co/datasets/xlangai/BRIGHT\n\
         size: {{documents: {documents}, questions: {questions}}}\n\
         source: {{repo: xlangai/BRIGHT, revision: main}}\n\
         documents: {{source: {{files: ['documents/{name}-*.parquet']}}, uri: id, text: content}}\n\
         questions: {{source: {{files: ['examples/{name}-*.parquet']}}, id: id, text: query, relevant: gold_ids}}\n\
         retrieval: {{limit: 100, headline: nDCG@10, measures: [nDCG@10, R@10, R@100, RR@10]}}\n\
         settings: {{processing: {{chunk_size: null}}}}\n"
    );
    Some(Manifest::parse(
        &text,
        Origin::Bundled(format!("{PREFIX}{name}")),
    ))
}
