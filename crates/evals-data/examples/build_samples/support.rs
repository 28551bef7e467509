//! The help centre of `sample-support`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::columns::{lists, parquet, strings};
use super::error::{SampleError, rule};
use super::sources::read_all;

const MIN_ARTICLES: usize = 80;
const MIN_QUESTIONS: usize = 60;
const ARTICLES_EACH: std::ops::RangeInclusive<usize> = 1..=3;
const ADDRESS: &str = "https://help.larkdesk.example/";

/// The help centre of an invented product, for `sample-support`.
#[derive(Debug)]
pub(crate) struct Support {
    articles: Vec<Article>,
    questions: Vec<Exchange>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Article {
    id: String,
    title: String,
    #[serde(rename = "article_type")]
    kind: ArticleType,
    contents: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ArticleType {
    Article,
    FeatureRequest,
    KnownIssue,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    question: String,
    answer: String,
    article_ids: Vec<String>,
}

impl Support {
    pub(crate) fn read(folder: &Path) -> Result<Self, SampleError> {
        let support = Self {
            articles: read_all(folder, "articles-")?,
            questions: read_all(folder, "questions")?,
        };
        support.check()?;
        Ok(support)
    }

    /// The articles in `WixQA`'s columns.
    pub(crate) fn articles_parquet(&self) -> Result<Vec<u8>, SampleError> {
        let articles = &self.articles;
        let column = |of: fn(&Article) -> String| articles.iter().map(of).collect::<Vec<_>>();
        let urls = column(|article| format!("{ADDRESS}{}", article.id));
        let contents = column(Article::whole);
        let html = column(Article::html);
        parquet(vec![
            (
                "id",
                strings(articles.iter().map(|article| article.id.as_str())),
            ),
            ("url", strings(urls.iter().map(String::as_str))),
            ("contents", strings(contents.iter().map(String::as_str))),
            (
                "title",
                strings(articles.iter().map(|article| article.title.as_str())),
            ),
            ("html_content", strings(html.iter().map(String::as_str))),
            (
                "article_type",
                strings(articles.iter().map(|article| article.kind.name())),
            ),
        ])
    }

    /// The questions in `WixQA`'s columns.
    pub(crate) fn questions_parquet(&self) -> Result<Vec<u8>, SampleError> {
        let questions = &self.questions;
        parquet(vec![
            (
                "question",
                strings(questions.iter().map(|question| question.question.as_str())),
            ),
            (
                "answer",
                strings(questions.iter().map(|question| question.answer.as_str())),
            ),
            (
                "article_ids",
                lists(
                    questions
                        .iter()
                        .map(|question| question.article_ids.as_slice()),
                ),
            ),
        ])
    }

    fn check(&self) -> Result<(), SampleError> {
        let (articles, questions) = (self.articles.len(), self.questions.len());
        rule(articles >= MIN_ARTICLES, || {
            format!("{articles} articles; at least {MIN_ARTICLES} are needed")
        })?;
        rule(questions >= MIN_QUESTIONS, || {
            format!("{questions} questions; at least {MIN_QUESTIONS} are needed")
        })?;
        let mut ids = BTreeSet::new();
        for article in &self.articles {
            let id = article.id.as_str();
            rule(ids.insert(id), || format!("article id `{id}` occurs twice"))?;
            let filled = [id, &article.title, &article.contents]
                .into_iter()
                .all(|text| !text.trim().is_empty());
            rule(filled, || {
                format!("article `{id}` has an empty id, title or contents")
            })?;
        }
        self.questions
            .iter()
            .try_for_each(|question| question.check(&ids))
    }
}

impl Article {
    fn whole(&self) -> String {
        format!("{}\n\n{}", self.title, self.contents)
    }

    /// A plain rendering: each paragraph in `<p>`, lines within one parted by `<br>`.
    fn html(&self) -> String {
        let whole = self.whole();
        let paragraphs = whole
            .split("\n\n")
            .map(|text| format!("<p>{}</p>", escape(text.trim()).replace('\n', "<br>")));
        paragraphs.collect::<Vec<_>>().join("\n")
    }
}

impl ArticleType {
    fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::FeatureRequest => "feature_request",
            Self::KnownIssue => "known_issue",
        }
    }
}

impl Exchange {
    fn check(&self, articles: &BTreeSet<&str>) -> Result<(), SampleError> {
        let Self {
            question,
            answer,
            article_ids,
        } = self;
        let filled = !question.trim().is_empty() && !answer.trim().is_empty();
        rule(filled, || {
            format!("a question without text or answer: `{question}`")
        })?;
        let count = article_ids.len();
        rule(ARTICLES_EACH.contains(&count), || {
            format!("`{question}` names {count} articles, not 1 to 3")
        })?;
        let distinct = article_ids.iter().collect::<BTreeSet<_>>().len();
        rule(distinct == count, || {
            format!("`{question}` names an article twice")
        })?;
        article_ids.iter().try_for_each(|id| {
            rule(articles.contains(id.as_str()), || {
                format!("`{question}` names the unknown article `{id}`")
            })
        })
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
