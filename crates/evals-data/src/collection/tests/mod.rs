//! Tests of collections, with tables that each test writes.

mod conversations;
mod files;
mod id_lists;
mod judgements;
mod rows;
mod texts;

use evals_rag::Document;
use serde_json::{Value, json};

use super::*;
use crate::hub::HubSettings;
use crate::manifest::Origin;

/// A folder with tables, read by the manifest given at each call.
struct Tables(tempfile::TempDir);

fn tables(files: &[(&str, &str)]) -> Tables {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Tables(folder)
}

impl Tables {
    fn try_collection(&self, manifest: &str) -> Result<Collection, DataError> {
        let origin = Origin::File(self.0.path().join("my.yaml"));
        let manifest = Manifest::parse(&format!("name: my\n{manifest}"), origin).unwrap();
        let hub = Hub::new(HubSettings::from_variables(|name| {
            (name == "HF_HUB_OFFLINE").then(|| "1".to_owned())
        }));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(Collection::resolve(&manifest, &hub, &()))
    }

    fn collection(&self, manifest: &str) -> Collection {
        self.try_collection(manifest).unwrap()
    }

    /// An error's message, with the folder's own name taken out.
    fn message(&self, error: &DataError) -> String {
        error
            .to_string()
            .replace(&format!("{}/", self.0.path().display()), "")
    }

    fn documents_error(&self, manifest: &str) -> String {
        let documents = self
            .collection(manifest)
            .documents()
            .and_then(Iterator::collect::<Result<Vec<_>, _>>);
        self.message(&documents.unwrap_err())
    }

    fn questions_error(&self, manifest: &str) -> String {
        self.message(&self.collection(manifest).questions().unwrap_err())
    }
}

fn documents(collection: &Collection) -> (Vec<Document>, DocumentCounts) {
    let mut documents = collection.documents().unwrap();
    let read = documents.by_ref().collect::<Result<_, _>>().unwrap();
    (read, documents.tally().counts())
}

/// `RepliQA`'s layout: one row for each question.
const ROWS: &str = "\
topic,doc,text,qid,question,answer
News,d1,First text.,d1-q1,One?,yes
News,d1,First text.,d1-q2,Two?,NOT FOUND
Sport,d2,Second text.,d2-q1,Three?,no
";
const REPLIQA: &str = "\
source: {path: rows.csv}
documents: {uri: doc, text: text, metadata: [topic], deduplicate: true}
questions: {id: qid, text: question, answer: answer, relevant: [doc]}
unanswerable: {answer: NOT FOUND}
";

const BEIR: &str = "\
documents: {source: {path: corpus.csv}, uri: _id, text: text}
questions: {source: {path: queries.csv}, id: _id, text: text}
judgements: {source: {path: qrels.csv}, query: query-id, document: corpus-id, grade: score}
";

fn beir(qrels: &str) -> Tables {
    tables(&[
        ("corpus.csv", "_id,text\nd1,one\nd2,two\n"),
        ("queries.csv", "_id,text\nq1,first\nq2,second\nq3,third\n"),
        ("qrels.csv", &format!("query-id,corpus-id,score\n{qrels}")),
    ])
}
