//! The pool: what has to be judged so that the top of every run is.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::{CaseReport, Report};
use evals_metrics::{Drawing, NoStatistic, Ranking};
use evals_models::ModelIdentity;
use evals_rag::{Document, Missing, Passage, Retrieval, Retrieved};

use super::grades::{Graders, Grades};
use super::judgement::{Assessor, Judgement, digest};
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
#[derive(Debug, Clone)]
pub struct Pool {
    /// The dataset of the runs.
    pub dataset: String,
    /// How many documents of each ranking are pooled.
    pub depth: NonZeroUsize,
    /// The questions that the corpus answers, by id.
    pub questions: Vec<PooledQuestion>,
}

/// A question, with the documents that a run returned for it.
#[derive(Debug, Clone)]
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
    /// How many documents have no text, in the corpus or in a run. Nobody can judge them.
    pub without_text: usize,
}

/// A document to be judged for a question.
#[derive(Debug, Clone)]
pub struct PooledPair {
    /// Its id.
    pub document: String,
    /// The text that is judged: title and text of the document or of a passage.
    pub text: Arc<str>,
    /// SHA-256 of that text.
    pub digest: Arc<str>,
    /// Whether it is all of the document.
    pub is_whole: bool,
}

/// What the runs say about a question before texts are found.
struct Found<'r> {
    text: &'r str,
    cluster: Option<&'r str>,
    /// The pooled documents, with the best passage of the first run that returned one.
    documents: BTreeMap<&'r str, Option<&'r Passage>>,
}

impl PooledRun {
    /// Reads a stored run.
    ///
    /// # Errors
    ///
    /// It is no retrieval run, or its report is damaged.
    pub fn of(run: &StoredRun) -> Result<Self> {
        let StoredReport::Retrieval(report) = run.report()? else {
            bail!(
                "run `{}` stores no rankings, so there is nothing to pool; name retrieval runs",
                run.name()
            );
        };
        Ok(Self {
            models: run.record.models.clone(),
            name: run.name(),
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
        // Texts of whole documents are shared by the questions that found them.
        let mut whole: BTreeMap<&str, PooledPair> = BTreeMap::new();
        let questions = found.into_iter().map(|(id, found)| {
            let all = found.documents.len();
            let pairs = found.documents.into_iter().filter_map(|(id, passage)| {
                if let Some(known) = whole.get(id) {
                    return Some(known.clone());
                }
                let pair = pair(id, documents.get(id), passage)?;
                if pair.is_whole {
                    whole.insert(id, pair.clone());
                }
                Some(pair)
            });
            let pairs: Vec<PooledPair> = pairs.collect();
            PooledQuestion {
                id: id.to_owned(),
                text: found.text.to_owned(),
                digest: digest(found.text),
                cluster: found.cluster.map(str::to_owned),
                without_text: all - pairs.len(),
                pairs,
            }
        });
        Ok(Self {
            questions: questions.collect(),
            dataset: dataset.clone(),
            depth,
        })
    }

    /// What the graders have not judged yet. Documents with one text are judged once.
    pub fn unjudged(
        &self,
        grades: &Grades<'_>,
        graders: Graders,
    ) -> Vec<(&PooledQuestion, &PooledPair)> {
        let mut seen = BTreeSet::new();
        let open = self.pairs().filter(|(question, pair)| {
            grades.by(graders, question, pair).is_none()
                && seen.insert((&*question.id, &*pair.digest))
        });
        open.collect()
    }

    /// All pairs, with their questions.
    pub fn pairs(&self) -> impl Iterator<Item = (&PooledQuestion, &PooledPair)> {
        let questions = self.questions.iter();
        questions.flat_map(|question| question.pairs.iter().map(move |pair| (question, pair)))
    }

    /// The order in which people judge whole questions.
    pub(super) fn drawing(&self, seed: u64) -> Result<Drawing, NoStatistic> {
        let names = self.questions.iter().map(|question| question.id.as_str());
        Drawing::new(names.map(|name| (name, 1.0)), seed)
    }
}

impl PooledQuestion {
    /// A judgement of one of its pairs.
    pub fn judgement(&self, pair: &PooledPair, assessor: Assessor, grade: u8) -> Judgement {
        Judgement {
            question: self.id.clone(),
            question_digest: self.digest.clone(),
            passage_digest: pair.digest.to_string(),
            document: pair.document.clone(),
            assessor,
            grade,
            reason: String::new(),
            time: String::new(),
        }
    }
}

fn questions(runs: &[PooledRun], depth: NonZeroUsize) -> Result<BTreeMap<&str, Found<'_>>> {
    let mut questions: BTreeMap<&str, Found<'_>> = BTreeMap::new();
    for run in runs {
        for case in run.cases() {
            let question = questions.entry(case.id.as_str());
            let question = question.or_insert_with(|| Found {
                text: &case.input,
                cluster: case.cluster.as_deref(),
                documents: BTreeMap::new(),
            });
            if question.text != case.input {
                bail!(
                    "question `{}` has a different text in run `{}` than in the runs before it; pool runs of one version of the dataset",
                    case.id,
                    run.name
                );
            }
            let Some(found) = found(case) else { continue };
            for document in found.ranking.iter().take(depth.get()) {
                let best = question.documents.entry(&document.id).or_default();
                let mut passages = found.passages.iter();
                let passage = || passages.find(|it| it.document == document.id);
                *best = best.or_else(passage);
            }
        }
    }
    Ok(questions)
}

/// What is judged of a document; `None` if there is no text of it.
fn pair(id: &str, document: Option<&Document>, passage: Option<&Passage>) -> Option<PooledPair> {
    let end = document.and_then(|it| it.text.char_indices().nth(LONGEST_TEXT));
    let is_whole = document.is_some() && end.is_none();
    let (title, text) = match (document, passage) {
        (Some(document), _) if is_whole => (&document.title, document.text.as_str()),
        (_, Some(passage)) => (&passage.title, passage.text.as_str()),
        (Some(document), None) => (&document.title, &document.text[..end?.0]),
        (None, None) => return None,
    };
    let text = match title {
        Some(title) if !text.trim_start().starts_with(title.trim()) => {
            format!("{title}\n\n{text}")
        }
        _ => text.to_owned(),
    };
    Some(PooledPair {
        document: id.to_owned(),
        digest: digest(&text).into(),
        text: text.into(),
        is_whole,
    })
}
