//! The pool: what has to be judged so that the top of every run is.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::{CaseReport, Report};
use evals_metrics::{Ranking, drawn_order};
use evals_models::ModelIdentity;
use evals_rag::{Document, Missing, Passage, Retrieval, Retrieved};
use sha2::{Digest as _, Sha256};

use super::grades::Grades;
use super::judgement::{Assessor, Judgement, digest};
use crate::clock::{now, timestamp};
use crate::stored_runs::{StoredReport, StoredRun};

/// Most characters of a text that is judged.
pub const LONGEST_TEXT: usize = 12_000;

/// A retrieval run with what a pool needs of it.
#[derive(Debug, Clone)]
pub struct PooledRun {
    /// The name that tables have.
    pub name: String,
    /// The rankings.
    pub report: Arc<Report<Retrieval>>,
    /// Its models by role.
    pub models: BTreeMap<String, ModelIdentity>,
}

/// The documents of the top k of several runs, question by question, with the texts to judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// The dataset of the runs.
    pub dataset: String,
    /// How many documents of each ranking are pooled.
    pub depth: NonZeroUsize,
    /// The questions that the corpus answers, by id.
    pub questions: Vec<PooledQuestion>,
    /// How many documents of the questions have no text, in the corpus or in a run. Nobody can judge them.
    pub without_text: usize,
}

/// A question, with the documents that a run returned for it.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledQuestion {
    /// The question's id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// SHA-256 of its text.
    pub digest: String,
    /// Its cluster, if the dataset has clusters.
    pub cluster: Option<String>,
    /// What is judged, by document.
    pub pairs: Vec<PooledPair>,
}

/// A document to be judged for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledPair {
    /// Its id.
    pub document: String,
    /// The text that is judged: title and text of the document or of a passage.
    pub text: Arc<str>,
    /// SHA-256 of that text.
    pub digest: Arc<str>,
}

/// A case of the first run that has the question, and its pooled documents, each with the best passage of the first run that returned one.
type Found<'r> = (
    &'r CaseReport<Retrieval>,
    BTreeMap<&'r str, Option<&'r Passage>>,
);

impl PooledRun {
    /// Reads a stored run under a label. With an empty label, as of a single run, reports show the name of the run.
    ///
    /// # Errors
    ///
    /// It is no retrieval run, or its report is damaged.
    pub fn of(run: &StoredRun, label: String) -> Result<Self> {
        let StoredReport::Retrieval(report) = run.report()? else {
            bail!(
                "run `{}` stores no rankings, so there is nothing to pool; name retrieval runs",
                run.name()
            );
        };
        Ok(Self {
            models: run.record.models.clone(),
            name: Some(label)
                .filter(|it| !it.is_empty())
                .unwrap_or_else(|| run.name()),
            report,
        })
    }

    /// The cases that the corpus answers.
    pub(super) fn cases(&self) -> impl Iterator<Item = &CaseReport<Retrieval>> {
        let cases = self.report.cases.iter();
        cases.filter(|case| case.metadata.answerable)
    }

    /// The rankings of each question, one for each repetition that has one.
    pub(super) fn rankings(&self) -> BTreeMap<&str, Vec<&Ranking>> {
        let mut rankings: BTreeMap<&str, Vec<&Ranking>> = BTreeMap::new();
        for case in self.cases() {
            let of_question = rankings.entry(case.id.as_str()).or_default();
            of_question.extend(found(case).map(|found| &found.ranking));
        }
        rankings
    }
}

/// What a case found, unless it failed or the target returns no documents.
fn found(case: &CaseReport<Retrieval>) -> Option<&Retrieved> {
    let found = case.result.output()?;
    (!found.missing.contains(&Missing::Documents)).then_some(found)
}

/// The ids of the documents whose texts a pool of these runs needs.
pub fn pooled_documents(runs: &[PooledRun], depth: NonZeroUsize) -> BTreeSet<&str> {
    let cases = runs.iter().flat_map(PooledRun::cases).filter_map(found);
    let rankings = cases.flat_map(|found| found.ranking.iter().take(depth.get()));
    rankings.map(|document| document.id.as_str()).collect()
}

impl Pool {
    /// Pools the first `depth` documents of each ranking. `documents` has the documents of the corpus that
    /// [`pooled_documents`] lists, or those of them that it has.
    ///
    /// A document is judged by its whole text if that has at most [`LONGEST_TEXT`] characters. Otherwise the best passage that a run returned is
    /// judged, of the first run in the given order, so that a run that is named last changes nothing for the others; without one, its beginning.
    ///
    /// # Errors
    ///
    /// The runs are of different datasets, or of different versions of one.
    pub fn of(
        runs: &[PooledRun],
        depth: NonZeroUsize,
        documents: &BTreeMap<String, Document>,
    ) -> Result<Self> {
        let first = runs.first().context("a pool needs a retrieval run")?;
        let dataset = &first.report.dataset;
        if let Some(other) = runs.iter().find(|run| run.report.dataset != *dataset) {
            bail!(
                "run `{}` is of dataset `{dataset}` and run `{}` of `{}`; pool runs of one dataset",
                first.name,
                other.name,
                other.report.dataset
            );
        }
        let found = questions(runs, depth)?;
        if found.is_empty() {
            bail!(
                "the runs have no question that the corpus answers, so there is nothing to judge"
            );
        }
        let whole = documents.iter().filter_map(|(id, document)| {
            let is_short = document.text.chars().nth(LONGEST_TEXT).is_none();
            is_short.then(|| (&**id, pair(id, document.title.as_ref(), &document.text)))
        });
        // Questions that found a document share its text.
        let whole: BTreeMap<&str, PooledPair> = whole.collect();
        let mut without_text = 0;
        let questions = found.into_iter().map(|(id, (case, found))| {
            let all = found.len();
            let pairs = found.into_iter().filter_map(|(id, passage)| {
                let part = match (passage, documents.get(id)) {
                    (Some(passage), _) => (passage.title.as_ref(), &passage.text),
                    (None, document) => document.map(|it| (it.title.as_ref(), &it.text))?,
                };
                let whole = whole.get(id).cloned();
                Some(whole.unwrap_or_else(|| pair(id, part.0, part.1)))
            });
            let pairs: Vec<PooledPair> = pairs.collect();
            without_text += all - pairs.len();
            PooledQuestion {
                id: id.to_owned(),
                text: case.input.clone(),
                digest: digest(&case.input),
                cluster: case.cluster.clone(),
                pairs,
            }
        });
        Ok(Self {
            questions: questions.collect(),
            without_text,
            dataset: dataset.clone(),
            depth,
        })
    }

    /// All pairs, each with its question.
    pub fn pairs(&self) -> impl Iterator<Item = (&PooledQuestion, &PooledPair)> {
        let questions = self.questions.iter();
        questions.flat_map(|it| it.pairs.iter().map(move |pair| (it, pair)))
    }

    /// What a model has to judge: the pairs without a grade of it.
    pub fn next_for_model(
        &self,
        stored: &[Judgement],
        model: &Assessor,
    ) -> Vec<(&PooledQuestion, &PooledPair)> {
        let grades = Grades::of_model(stored, model);
        open(self.questions.iter(), &grades, usize::MAX)
    }

    /// What people judge next: the pairs without a grade of people, of the next `questions` of the drawn order that have such pairs.
    ///
    /// A question counts only if all of its pairs are graded. If a later run brought new documents to a question that was complete,
    /// they come first.
    pub fn next_for_people(
        &self,
        stored: &[Judgement],
        seed: u64,
        questions: usize,
    ) -> Vec<(&PooledQuestion, &PooledPair)> {
        open(self.drawn(seed), &Grades::of_people(stored), questions)
    }

    /// The questions in the order in which people judge them.
    pub fn drawn(&self, seed: u64) -> impl Iterator<Item = &PooledQuestion> {
        let ids = self.questions.iter().map(|question| &*question.id);
        let order = drawn_order(ids, seed).into_iter();
        order.map(|place| &self.questions[place])
    }
}

impl PooledQuestion {
    /// Names a pair in what people fill in. It begins with a letter, so that no spreadsheet takes it for a number.
    pub fn pair_name(&self, pair: &PooledPair) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.digest);
        hash.update(&*pair.digest);
        format!("sha-{}", &hex::encode(hash.finalize())[..16])
    }

    /// A judgement of one of its pairs, given now.
    pub fn judgement(&self, pair: &PooledPair, assessor: Assessor, grade: u8) -> Judgement {
        Judgement {
            question: self.id.clone(),
            question_digest: self.digest.clone(),
            passage_digest: pair.digest.to_string(),
            document: pair.document.clone(),
            assessor,
            grade,
            reason: String::new(),
            time: timestamp(now()),
        }
    }
}

/// The pairs without a grade of the first `most` questions that have such pairs.
fn open<'p>(
    questions: impl Iterator<Item = &'p PooledQuestion>,
    grades: &Grades<'_>,
    most: usize,
) -> Vec<(&'p PooledQuestion, &'p PooledPair)> {
    let open = questions.map(|it| (it, grades.open(it)));
    let open = open.filter(|(_, open)| !open.is_empty()).take(most);
    let pairs = open.flat_map(|(it, open)| open.into_iter().map(move |pair| (it, pair)));
    pairs.collect()
}

fn questions(runs: &[PooledRun], depth: NonZeroUsize) -> Result<BTreeMap<&str, Found<'_>>> {
    let mut questions: BTreeMap<&str, Found<'_>> = BTreeMap::new();
    for run in runs {
        for case in run.cases() {
            let question = questions.entry(case.id.as_str());
            let (first, documents) = question.or_insert_with(|| (case, BTreeMap::new()));
            if first.input != case.input {
                bail!(
                    "question `{}` has a different text in run `{}` than in the runs before it; pool runs of one version of the dataset",
                    case.id,
                    run.name
                );
            }
            let Some(found) = found(case) else { continue };
            for document in found.ranking.iter().take(depth.get()) {
                let best = documents.entry(&document.id).or_default();
                let mut passages = found.passages.iter();
                let passage = || passages.find(|it| it.document == document.id);
                *best = best.or_else(passage);
            }
        }
    }
    Ok(questions)
}

/// The beginning of a text to judge, below its title unless it begins with it.
fn pair(id: &str, title: Option<&String>, text: &str) -> PooledPair {
    let end = text.char_indices().nth(LONGEST_TEXT);
    let text = &text[..end.map_or(text.len(), |(end, _)| end)];
    let title = title.filter(|title| !text.trim_start().starts_with(title.trim()));
    let text = match title {
        Some(title) => format!("{title}\n\n{text}"),
        None => text.to_owned(),
    };
    PooledPair {
        document: id.to_owned(),
        digest: digest(&text).into(),
        text: text.into(),
    }
}
