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
    Assessor, Graders, Grades, Judgement, JudgementFile, Pool, PooledPair, PooledQuestion,
    StoredJudgements,
};
use evals_settings::Resolved;
use evals_stores::store::RefreshPolicy;
use evals_terminal::{Printer, progress};
use futures::{StreamExt as _, stream};

use super::Command;
use crate::choices;
use crate::exit::Exit;
use crate::interruption::Interruption;
use crate::models::{ConfiguredModels, Servers};
use crate::question_answering::{JudgeRow, side};
use crate::run_models::{Opener, Prompts};
use crate::session::named_models;
use crate::spending::Spending;

/// How many grades are stored at a time. What a killed process had not stored is in the cache of replies.
const AT_A_TIME: usize = 200;

/// An opened judge of passages.
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

/// What became of the passages to grade.
#[derive(Debug, Default)]
pub(super) struct Graded {
    /// The number of passages without a grade.
    failures: usize,
    /// Why the first of these passages has no grade.
    first_failure: Option<String>,
    /// Why not all were asked for.
    stopped: Option<String>,
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
        let judge = RelevanceJudge::new(model).prompt(Prompts::grade(&session.directories)?);
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

    /// The calls for what is not graded yet.
    pub(super) fn estimate(&self, stored: &StoredJudgements) -> Result<String> {
        let grades = Grades::of(stored, Some(&self.assessor));
        let open = self.pool.unjudged(&grades, Graders::Model);
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
        let row = JudgeRow {
            what: "grading",
            model: self.judge.identity().clone(),
            calls: CallRange::exactly(calls),
        };
        Ok(format!(
            "{} of {} to grade\n{}\nToken counts are approximate, because the embedded tokenizer counts them. Cached replies cost nothing.\n\
             The estimate excludes retries and repaired grades.\n",
            open.len(),
            quantity::of(self.pool.pairs().count(), "pair"),
            row.line(&choices::prices(&self.resolved))
        ))
    }

    /// Grades what is not graded yet, and stores the grades.
    pub(super) async fn grade(&self, file: &JudgementFile) -> Result<Graded> {
        let stored = file.read()?;
        let grades = Grades::of(&stored, Some(&self.assessor));
        let open = self.pool.unjudged(&grades, Graders::Model);
        let bar = progress::of_items(self.printer, "grading");
        bar.reset();
        bar.set_length(open.len() as u64);
        let wanted = open.iter().take_while(|_| !self.stop.is_set());
        let asked = stream::iter(wanted.map(|(question, pair)| self.ask(question, pair)));
        let concurrency = self.resolved.settings.evaluations.concurrency;
        let mut asked = asked.buffer_unordered(concurrency.get());
        let (mut graded, mut unsaved) = (Graded::default(), Vec::new());
        let ended = loop {
            let next = async { Ok(asked.next().await) };
            match self.interruption.guard(next).await {
                Ok(None) => break Ok(()),
                Ok(Some(Ok(judgement))) => unsaved.push(judgement),
                // Every further call would also fail.
                Ok(Some(Err(error))) if error.failure.failure() == Failure::Terminal => {
                    break Err(error.into());
                }
                Ok(Some(Err(error))) => {
                    graded.failures += 1;
                    graded.first_failure.get_or_insert_with(|| chain(&error));
                }
                Err(interrupted) => break Err(interrupted),
            }
            bar.inc(1);
            if unsaved.len() >= AT_A_TIME {
                file.add(&std::mem::take(&mut unsaved))?;
            }
        };
        bar.finish_and_clear();
        if !unsaved.is_empty() {
            file.add(&unsaved)?;
        }
        ended?;
        graded.stopped = self.stop.reason();
        let calls = self.spending.calls();
        if calls > 0 {
            let calls = quantity::of(calls, "call");
            self.printer.note(&format!("asked the judge with {calls}"));
        }
        Ok(graded)
    }

    async fn ask(
        &self,
        question: &PooledQuestion,
        pair: &PooledPair,
    ) -> Result<Judgement, JudgeError> {
        let found = self.judge.grade(&question.text, &pair.text).await?;
        Ok(Judgement {
            reason: found.reason,
            time: timestamp(now()),
            ..question.judgement(pair, self.assessor.clone(), found.grade)
        })
    }
}

impl Graded {
    /// Says what has no grade. Fails where that is so, because numbers lack questions then.
    pub(super) fn exit(&self, printer: &Printer, interruption: &Interruption) -> Exit {
        if let Some(reason) = &self.first_failure {
            printer.failure(&format!(
                "{} without a grade; the first: {reason}",
                quantity::of(self.failures, "passage")
            ));
        }
        if let Some(reason) = &self.stopped {
            printer.failure(&format!("stopped early: {reason}"));
        }
        match self {
            _ if interruption.is_interrupted() => Exit::Interrupted,
            Self {
                failures: 0,
                stopped: None,
                ..
            } => Exit::Done,
            _ => Exit::CheckFailed,
        }
    }
}
