//! The passages of a pool that people grade, in the order of the CSV file: no reply tells what the model thinks.

use anyhow::Result;
use axum::http::StatusCode;
use evals_html::view::{Reviewed, ReviewingPage};
use evals_pipeline::interruption::Interruption;
use evals_pipeline::options::PoolArgs;
use evals_pipeline::pool::Command;
use evals_pipeline::session::Session;
use evals_runs::annotations::user_name;
use evals_runs::pooling::{
    Assessor, JudgementFile, Pool, PooledPair, PooledQuestion, written_grade,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::failure::{PageFailure, person};
use super::{Sent, Source, WantedSample};

/// A pool with the file of its judgements.
#[derive(Debug)]
pub(crate) struct GradedPool {
    pool: Pool,
    file: JudgementFile,
    /// The seed of the order in which people grade.
    seed: u64,
    /// How many questions to grade unless somebody chooses another number.
    size: usize,
}

/// What a person says about a passage.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Given {
    id: String,
    /// The grade.
    verdict: String,
    author: String,
}

impl GradedPool {
    /// Reads the runs and their documents.
    pub(crate) async fn open(
        session: &Session<'_>,
        arguments: &PoolArgs,
        interruption: &Interruption,
    ) -> Result<Self> {
        let command = Box::pin(Command::open(session, arguments, interruption)).await?;
        let Command { pool, file, .. } = command;
        file.read()?;
        Ok(Self {
            pool,
            file,
            seed: arguments.seed,
            size: arguments.sample.get(),
        })
    }

    fn pair(&self, name: &str) -> Result<(&PooledQuestion, &PooledPair), PageFailure> {
        let mut pairs = self.pool.pairs();
        let pair = pairs.find(|(question, pair)| question.pair_name(pair) == name);
        pair.ok_or_else(|| PageFailure::bad_request("The pool has no such passage."))
    }
}

impl Source for GradedPool {
    type Review = Given;

    fn page(&self) -> ReviewingPage {
        ReviewingPage {
            of: Reviewed::Passages,
            name: self.pool.dataset.clone(),
            author: user_name().unwrap_or_default(),
            questions: self.pool.questions.len(),
            size: self.size.min(self.pool.questions.len()),
        }
    }

    /// The passages that nobody has graded.
    fn queue(&self, wanted: &WantedSample) -> Result<Vec<Value>, PageFailure> {
        let size = wanted.size.unwrap_or(self.size);
        let stored = self.file.read()?;
        let pairs = self.pool.next_for_people(&stored, self.seed, size);
        let queue = pairs
            .into_iter()
            .map(|(question, pair)| json!({"id": question.pair_name(pair), "review": null}));
        Ok(queue.collect())
    }

    fn shown(&self, id: &str) -> Result<Value, PageFailure> {
        let (question, pair) = self.pair(id)?;
        let passage = json!({"text": &*pair.text, "is_evidence": false});
        Ok(json!({
            "item": {"id": question.id, "question": question.text, "answer": "", "kind": ""},
            "is_answerable": false,
            "documents": [{"document": pair.document, "parts": [passage], "whole": null, "lost": []}],
        }))
    }

    fn store(&self, sent: Sent<Given>) -> Result<(StatusCode, Value), PageFailure> {
        let given = sent.review;
        let (question, pair) = self.pair(&given.id)?;
        let author = person(&given.author)?.to_owned();
        let grade = written_grade(&given.verdict);
        let grade = grade.ok_or_else(|| PageFailure::bad_request("A grade is 0, 1, 2 or 3."))?;
        let judgement = question.judgement(pair, Assessor::Person(author.clone()), grade);
        self.file.open()?.add_changed(&[judgement])?;
        let given = Given { author, ..given };
        Ok((StatusCode::OK, json!({"review": given})))
    }
}
