//! The model that grades passages.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::Result;
use evals::StopSignal;
use evals_local::StaticEmbedder;
use evals_messages::{chain, quantity};
use evals_models::Failure;
use evals_rag::estimate::Calls;
use evals_rag::judging::{JudgeError, RelevanceJudge};
use evals_rag::rag_judges::CallRange;
use evals_runs::clock::{now, timestamp};
use evals_runs::pooling::{
    Assessor, Grades, Judgement, JudgementFile, Pool, PooledPair, PooledQuestion,
};
use evals_settings::Resolved;
use evals_stores::store::RefreshPolicy;
use evals_terminal::{Printer, progress};
use futures::{StreamExt as _, stream};

use super::Command;
use crate::choices;
use crate::interruption::Interruption;
use crate::models::{ConfiguredModels, Servers};
use crate::question_answering::calls::{range_line, side};
use crate::run::plan::answers::check_price;
use crate::run_models::{Opener, Prompts};
use crate::session::named_models;
use crate::spending::Spending;

/// An opened judge of passages. Every grade is stored before the next one is awaited.
pub(super) struct Grading<'g> {
    pool: &'g Pool,
    printer: &'g Printer,
    resolved: Resolved,
    max_tokens: Option<NonZeroU32>,
    judge: RelevanceJudge,
    assessor: Assessor,
    spending: Arc<Spending>,
    stop: StopSignal,
    interruption: &'g Interruption,
}

impl<'g> Grading<'g> {
    /// Opens the judge of the settings behind the cache of replies; `None` if that is not a language model.
    pub(super) async fn open(
        command: &'g Command<'_>,
        interruption: &'g Interruption,
    ) -> Result<Option<Self>> {
        let (session, arguments) = (command.session, command.arguments);
        let models = named_models(None, arguments.judge.as_ref());
        let layers = session.user_layers(&arguments.settings, models)?;
        let resolved = evals_settings::resolve(layers)?;
        let configured = ConfiguredModels::of(&resolved.settings);
        configured.judge.check_embedded_name(&resolved)?;
        if configured.judge.is_embedded() {
            session.printer.note(
                "no language model grades; add `--judge PROVIDER:NAME` or set `evaluations.judge`",
            );
            return Ok(None);
        }
        if arguments.budget.is_some() {
            check_price(&resolved, &configured.judge)?;
        }
        let stop = interruption.stop();
        let spending = Spending::new(arguments.budget, stop.clone());
        let servers = Servers::new(&resolved, &configured, session.printer, 0);
        let mut servers = servers.interrupted_by(interruption);
        let mut opener = Opener::new(
            session,
            &resolved,
            &configured,
            &mut servers,
            Some(RefreshPolicy::Reuse),
            &spending,
            interruption,
        );
        let model = interruption.guard(opener.chat(&configured.judge)).await?;
        let judge = RelevanceJudge::new(
            model,
            Prompts::grade(&session.directories, &resolved.settings.prompts)?,
        );
        Ok(Some(Self {
            pool: &command.pool,
            printer: session.printer,
            max_tokens: configured.judge.settings.max_tokens(),
            assessor: Assessor::Model {
                identity: judge.identity().clone(),
                prompt: judge.prompt_digest().to_owned(),
            },
            judge,
            resolved,
            spending,
            stop,
            interruption,
        }))
    }

    pub(super) fn assessor(&self) -> &Assessor {
        &self.assessor
    }

    /// The pairs that are not graded yet.
    fn open_pairs(&self, stored: &[Judgement]) -> Vec<(&PooledQuestion, &PooledPair)> {
        let grades = Grades::of_model(stored, &self.assessor);
        let questions = self.pool.questions.iter();
        let open = questions.flat_map(|it| grades.open(it).into_iter().map(move |pair| (it, pair)));
        open.collect()
    }

    /// The calls for what is not graded yet.
    pub(super) fn estimate(&self, stored: &[Judgement]) -> Result<String> {
        let open = self.open_pairs(stored);
        let tokenizer = StaticEmbedder::static_minilm().tokenizer();
        let mut calls = Calls::NONE;
        for (question, pair) in &open {
            let request = self.judge.request(&question.text, &pair.text)?;
            let size = side(&request, self.max_tokens, &*tokenizer);
            let most = size.max_tokens.zip(calls.output_tokens);
            calls = Calls {
                calls: calls.calls + 1,
                input_tokens: calls.input_tokens + size.prompt_tokens,
                output_tokens: most.map(|(most, sum)| sum + most),
            };
        }
        let model = self.judge.identity();
        let price = choices::prices(&self.resolved).of(model);
        Ok(format!(
            "{} to grade\ngrading {model}: {}\nToken counts are approximate, because the embedded tokenizer counts them. \
             Cached replies cost nothing.\nThe estimate excludes retries and repaired grades.\n",
            quantity::of(open.len(), "passage"),
            range_line(&CallRange::exactly(calls), model, price)
        ))
    }

    /// Grades and stores what is not graded yet, and returns why something has no grade after that.
    pub(super) async fn grade(&self, file: &JudgementFile) -> Result<Vec<String>> {
        if self.open_pairs(&file.read()?).is_empty() {
            return Ok(Vec::new());
        }
        let file = file.open()?;
        let open = self.open_pairs(&file.stored);
        let bar = progress::of_items(self.printer, "grading");
        bar.reset();
        bar.set_length(open.len() as u64);
        let wanted = open.iter().take_while(|_| !self.stop.is_set());
        let asked = stream::iter(wanted.map(|(question, pair)| self.ask(question, pair)));
        let concurrency = self.resolved.settings.evaluations.concurrency;
        let mut asked = asked.buffer_unordered(concurrency.get());
        let mut failures = Vec::new();
        loop {
            let next = async { Ok(asked.next().await) };
            match self.interruption.guard(next).await? {
                None => break,
                Some(Ok(judgement)) => file.add(&judgement)?,
                // Every further call would also fail.
                Some(Err(error)) if error.failure.failure() == Failure::Terminal => {
                    return Err(error.into());
                }
                Some(Err(error)) => failures.push(chain(&error)),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        file.sync()?;
        let calls = self.spending.calls();
        if calls > 0 {
            let calls = quantity::of(calls, "call");
            self.printer.note(&format!("asked the judge with {calls}"));
        }
        let first = failures.first().map(|reason| {
            let passages = quantity::of(failures.len(), "passage");
            format!("{passages} without a grade; the first: {reason}")
        });
        let stopped = self.stop.reason();
        let stopped = stopped.map(|reason| format!("stopped early: {reason}"));
        Ok(first.into_iter().chain(stopped).collect())
    }

    async fn ask(
        &self,
        question: &PooledQuestion,
        pair: &PooledPair,
    ) -> Result<Judgement, JudgeError> {
        let found = self.judge.grade(&question.text, &pair.text).await?;
        Ok(Judgement {
            reason: found.reason.trim().to_owned(),
            time: timestamp(now()),
            ..question.judgement(pair, self.assessor.clone(), found.grade)
        })
    }
}
