//! Rankings on pages: what is known about each document, and its texts.

use evals::Unit;
use evals_html::page::{Mark, Passage, Ranked};
use evals_metrics::{Judgements, Ranking};

use super::documents::Documents;

/// The documents that a run found.
pub(super) struct Found<'r> {
    pub(super) ranking: &'r Ranking,
    pub(super) passages: &'r [evals_rag::Passage],
    /// Whether the passages are those that the answerer was shown.
    pub(super) are_shown: bool,
    pub(super) cited: &'r [String],
    pub(super) judgements: Option<&'r Judgements>,
}

impl Found<'_> {
    /// The documents of the ranking, then those that have passages alone, which systems of others may return.
    pub(super) fn documents(&self, documents: &Documents) -> Vec<Ranked> {
        let ranked = self.ranking.iter().map(|document| {
            let score = Unit::Score.print(f64::from(document.score));
            self.document(&document.id, score, documents)
        });
        let mut all: Vec<Ranked> = ranked.collect();
        for passage in self.passages {
            if !all.iter().any(|it| it.document == passage.document) {
                all.push(self.document(&passage.document, String::new(), documents));
            }
        }
        all
    }

    fn document(&self, id: &str, score: String, documents: &Documents) -> Ranked {
        let own = self.passages.iter().filter(|it| it.document == id);
        let mut passages: Vec<Passage> = own.map(of_corpus).collect();
        let is_shown = self.are_shown && !passages.is_empty();
        if passages.is_empty() {
            passages.extend(documents.opening(id).cloned());
        }
        let grade = self.judgements.and_then(|it| it.grade(id));
        let marks = [
            (Mark::Relevant, grade.is_some_and(|grade| grade > 0)),
            (Mark::Shown, is_shown),
            (Mark::Cited, self.cited.iter().any(|it| it == id)),
        ];
        let marks = marks.into_iter().filter(|(_, holds)| *holds);
        Ranked {
            document: id.to_owned(),
            score,
            marks: marks.map(|(mark, _)| mark).collect(),
            grade: grade.map(|grade| grade.to_string()),
            passages,
        }
    }
}

/// The relevant documents that a ranking lacks, in the order of their ids.
pub(super) fn missed(ranking: &Ranking, judgements: Option<&Judgements>) -> Vec<String> {
    let relevant = judgements.into_iter().flat_map(Judgements::relevant);
    relevant
        .filter(|id| !ranking.iter().any(|document| document.id == *id))
        .map(str::to_owned)
        .collect()
}

fn of_corpus(passage: &evals_rag::Passage) -> Passage {
    Passage {
        document: passage.document.clone(),
        title: passage.title.clone().unwrap_or_default(),
        text: passage.text.clone(),
    }
}
