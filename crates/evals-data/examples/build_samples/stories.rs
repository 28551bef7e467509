//! The news stories of `sample`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::columns::{parquet, strings};
use super::error::{SampleError, rule};
use super::sources::read_all;

const MIN_STORIES: usize = 60;
const WORDS: std::ops::RangeInclusive<usize> = 300..=900;
const QUESTIONS_EACH: usize = 5;
/// One in this many questions has no answer in its story.
const UNANSWERABLE_ONE_IN: usize = 5;
const UNANSWERABLE: &str = "The answer is not found in the document.";

/// The invented news of `sample`.
#[derive(Debug)]
pub(crate) struct Stories(Vec<Story>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    id: String,
    topic: String,
    title: String,
    text: String,
    questions: Vec<Exchange>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    question: String,
    answer: String,
    long_answer: String,
}

/// One row of the table: a question beside its story.
struct Row<'s> {
    story: &'s Story,
    question: &'s Exchange,
    path: String,
    extracted: String,
    question_id: String,
}

impl Stories {
    pub(crate) fn read(folder: &Path) -> Result<Self, SampleError> {
        let stories = Self(read_all(folder, "")?);
        stories.check()?;
        Ok(stories)
    }

    /// The table in `RepliQA`'s columns: one row for each question.
    pub(crate) fn parquet(&self) -> Result<Vec<u8>, SampleError> {
        let rows = self.rows();
        parquet(vec![
            (
                "document_id",
                strings(rows.iter().map(|row| row.story.id.as_str())),
            ),
            (
                "document_topic",
                strings(rows.iter().map(|row| row.story.topic.as_str())),
            ),
            (
                "document_path",
                strings(rows.iter().map(|row| row.path.as_str())),
            ),
            (
                "document_extracted",
                strings(rows.iter().map(|row| row.extracted.as_str())),
            ),
            (
                "question_id",
                strings(rows.iter().map(|row| row.question_id.as_str())),
            ),
            (
                "question",
                strings(rows.iter().map(|row| row.question.question.as_str())),
            ),
            (
                "answer",
                strings(rows.iter().map(|row| row.question.answer.as_str())),
            ),
            (
                "long_answer",
                strings(rows.iter().map(|row| row.question.long_answer.as_str())),
            ),
        ])
    }

    fn rows(&self) -> Vec<Row<'_>> {
        self.0.iter().flat_map(Story::rows).collect()
    }

    fn check(&self) -> Result<(), SampleError> {
        let found = self.0.len();
        rule(found >= MIN_STORIES, || {
            format!("{found} stories; at least {MIN_STORIES} are needed")
        })?;
        let mut ids = BTreeSet::new();
        for story in &self.0 {
            rule(ids.insert(&story.id), || {
                format!("story id `{}` occurs twice", story.id)
            })?;
            story.check()?;
        }
        let questions = || self.0.iter().flat_map(|story| &story.questions);
        let (all, unanswerable) = (
            questions().count(),
            questions()
                .filter(|question| question.is_unanswerable())
                .count(),
        );
        rule(unanswerable * UNANSWERABLE_ONE_IN == all, || {
            format!(
                "{unanswerable} of {all} questions are unanswerable; it has to be one in {UNANSWERABLE_ONE_IN}"
            )
        })
    }
}

impl Story {
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let Self {
            id,
            title,
            text,
            questions,
            ..
        } = self;
        questions
            .iter()
            .zip(1..)
            .map(move |(question, number)| Row {
                story: self,
                question,
                path: format!("sample/{id}.txt"),
                extracted: format!("{title}\n\n{text}"),
                question_id: format!("{id}-q{number}"),
            })
    }

    fn check(&self) -> Result<(), SampleError> {
        let id = &self.id;
        let words = self.text.split_whitespace().count();
        rule(WORDS.contains(&words), || {
            format!(
                "story `{id}` has {words} words, not {} to {}",
                WORDS.start(),
                WORDS.end()
            )
        })?;
        let questions = self.questions.len();
        rule(questions == QUESTIONS_EACH, || {
            format!("story `{id}` has {questions} questions, not {QUESTIONS_EACH}")
        })?;
        let filled = [id, &self.topic, &self.title]
            .into_iter()
            .all(|text| !text.trim().is_empty());
        rule(filled, || {
            format!("story `{id}` has an empty id, topic or title")
        })?;
        self.questions
            .iter()
            .try_for_each(|question| question.check(id))
    }
}

impl Exchange {
    fn is_unanswerable(&self) -> bool {
        self.answer == UNANSWERABLE
    }

    fn check(&self, story: &str) -> Result<(), SampleError> {
        let filled = [&self.question, &self.answer, &self.long_answer]
            .into_iter()
            .all(|text| !text.trim().is_empty());
        rule(filled, || {
            format!(
                "story `{story}` has a question without text or answer: `{}`",
                self.question
            )
        })?;
        let agree = self.is_unanswerable() == (self.long_answer == UNANSWERABLE);
        rule(agree, || {
            format!(
                "story `{story}`: answer and long answer of `{}` disagree about being unanswerable",
                self.question
            )
        })
    }
}
