//! The BEIR collections: one manifest for all, over the repositories `mteb/<name>`.

use crate::manifest::{Manifest, ManifestError, Origin};

/// The prefix of the names of BEIR collections.
pub(super) const PREFIX: &str = "beir:";

/// One collection of BEIR (Thakur et al. 2021), with the counts of its Table 1.
struct Collection {
    name: &'static str,
    /// The repository below `mteb/`, if its name is another one.
    repo: Option<&'static str>,
    /// The split whose judgements the published figures use.
    split: &'static str,
    documents: u64,
    questions: u64,
    /// Whether several questions share a document, and shared documents do not link most questions.
    is_clustered: bool,
}

const fn collection(name: &'static str, documents: u64, questions: u64) -> Collection {
    Collection {
        name,
        repo: None,
        split: "test",
        documents,
        questions,
        is_clustered: false,
    }
}

const COLLECTIONS: &[Collection] = &[
    collection("arguana", 8_674, 1_406),
    collection("climate-fever", 5_416_593, 1_535),
    collection("cqadupstack-android", 22_998, 699),
    collection("cqadupstack-english", 40_221, 1_570),
    collection("cqadupstack-gaming", 45_301, 1_595),
    collection("cqadupstack-gis", 37_637, 885),
    collection("cqadupstack-mathematica", 16_705, 804),
    collection("cqadupstack-physics", 38_316, 1_039),
    collection("cqadupstack-programmers", 32_176, 876),
    collection("cqadupstack-stats", 42_269, 652),
    collection("cqadupstack-tex", 68_184, 2_906),
    collection("cqadupstack-unix", 47_382, 1_072),
    collection("cqadupstack-webmasters", 17_405, 506),
    collection("cqadupstack-wordpress", 48_605, 541),
    Collection {
        repo: Some("dbpedia"),
        ..collection("dbpedia-entity", 4_635_922, 400)
    },
    collection("fever", 5_416_568, 6_666),
    collection("fiqa", 57_638, 648),
    collection("hotpotqa", 5_233_329, 7_405),
    // The test judgements were never published; figures are those of the development split.
    Collection {
        split: "dev",
        ..collection("msmarco", 8_841_823, 6_980)
    },
    collection("nfcorpus", 3_633, 323),
    collection("nq", 2_681_468, 3_452),
    collection("quora", 522_931, 10_000),
    collection("scidocs", 25_657, 1_000),
    Collection {
        is_clustered: true,
        ..collection("scifact", 5_183, 300)
    },
    Collection {
        repo: Some("touche2020"),
        ..collection("webis-touche2020", 382_545, 49)
    },
    collection("trec-covid", 171_332, 50),
];

/// The names of all known collections with their prefix, in alphabetical order.
pub(super) fn names() -> impl Iterator<Item = String> {
    COLLECTIONS
        .iter()
        .map(|collection| format!("{PREFIX}{}", collection.name))
}

/// The manifest of `beir:<name>`.
///
/// An unknown name stands for `mteb/<name>` and its test split, because new BEIR-like repositories keep appearing.
pub(super) fn manifest(name: &str) -> Result<Manifest, ManifestError> {
    let known = COLLECTIONS
        .iter()
        .find(|collection| collection.name == name || collection.repo == Some(name));
    let repo = known.and_then(|collection| collection.repo).unwrap_or(name);
    let split = known.map_or("test", |collection| collection.split);
    let size = known.map_or_else(String::new, |collection| {
        format!(
            "size: {{documents: {}, questions: {}}}\n",
            collection.documents, collection.questions
        )
    });
    let cluster = match known {
        Some(known) if known.is_clustered => "cluster: document\n",
        _ => "",
    };
    // As in the published figures, a document is its title and text joined by a space, is searched as a whole, and counts to
    // depth 100. Questions that are documents themselves (ArguAna, Quora) do not find themselves.
    let text = format!(
        "name: '{PREFIX}{name}'\n\
         description: 'BEIR {name}, {split} split'\n\
         licence: see the homepage\n\
         homepage: 'https://huggingface.co/datasets/mteb/{repo}'\n\
         {size}\
         source: {{repo: 'mteb/{repo}', revision: main}}\n\
         documents: {{source: {{files: ['corpus/*.parquet']}}, uri: _id, title: title, text: [title, text]}}\n\
         questions: {{source: {{files: ['queries/*.parquet']}}, id: _id, text: text}}\n\
         judgements: {{source: {{files: ['**/{split}*.parquet']}}, query: query-id, document: corpus-id, grade: score}}\n\
         retrieval: {{limit: 100, headline: nDCG@10, measures: [nDCG@10, R@100, AP@100, RR@10, R@10], \
         ignore_identical_ids: true}}\n\
         {cluster}\
         settings: {{processing: {{chunk_size: null}}}}\n"
    );
    Manifest::parse(&text, Origin::Bundled(format!("{PREFIX}{name}")))
}

/// Whether a repository can have that name. Anything else could inject keys into the manifest.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Source;

    fn repo_and_glob(name: &str) -> (String, String) {
        match manifest(name).unwrap().judgements.unwrap().source {
            Source::Hub { repo, files, .. } => (repo, files.join(" ")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn particular_collections_differ() {
        assert_eq!(
            repo_and_glob("scifact"),
            ("mteb/scifact".to_owned(), "**/test*.parquet".to_owned())
        );
        assert_eq!(
            repo_and_glob("msmarco"),
            ("mteb/msmarco".to_owned(), "**/dev*.parquet".to_owned())
        );
        assert_eq!(repo_and_glob("dbpedia-entity").0, "mteb/dbpedia");
        assert_eq!(repo_and_glob("dbpedia").0, "mteb/dbpedia");
        assert_eq!(repo_and_glob("my-own").0, "mteb/my-own");
    }

    #[test]
    fn the_parts_of_cqadupstack_add_up_to_the_published_whole() {
        let parts = COLLECTIONS
            .iter()
            .filter(|collection| collection.name.starts_with("cqadupstack-"));
        let (documents, questions) = parts.fold((0, 0), |sum, part| {
            (sum.0 + part.documents, sum.1 + part.questions)
        });
        assert_eq!((documents, questions), (457_199, 13_145));
    }

    #[test]
    fn every_collection_has_a_manifest() {
        for collection in COLLECTIONS {
            assert_eq!(
                manifest(collection.name).unwrap().size.unwrap().documents,
                Some(collection.documents)
            );
        }
    }
}
