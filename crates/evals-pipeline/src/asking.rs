//! A judge that a command asks about many things, one call for each, without running cases.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::Result;
use evals::StopSignal;
use evals_local::StaticEmbedder;
use evals_messages::{chain, quantity};
use evals_models::{ChatModel, ChatRequest, Failure};
use evals_rag::estimate::Calls;
use evals_rag::judging::JudgeFailure;
use evals_settings::Resolved;
use evals_stores::store::RefreshPolicy;
use evals_terminal::{Printer, progress};
use futures::{StreamExt as _, stream};

use crate::choices;
use crate::exit::Exit;
use crate::interruption::Interruption;
use crate::models::{ConfiguredModels, Servers};
use crate::options::AskingArgs;
use crate::question_answering::calls::{line, side};
use crate::run::plan::answers::check_price;
use crate::run_models::Opener;
use crate::session::{Session, named_models};
use crate::spending::Spending;

/// An opened judge, behind the cache of replies.
pub(crate) struct Asking<'a> {
    pub(crate) model: Arc<dyn ChatModel>,
    /// The most tokens of a reply, as the settings limit them.
    pub(crate) max_tokens: Option<NonZeroU32>,
    pub(crate) resolved: Resolved,
    printer: &'a Printer,
    spending: Arc<Spending>,
    stop: StopSignal,
    interruption: &'a Interruption,
}

impl<'a> Asking<'a> {
    /// Opens the judge that the command line or the settings name; `None` if that is not a language model.
    pub(crate) async fn open(
        session: &'a Session<'_>,
        arguments: &AskingArgs,
        interruption: &'a Interruption,
    ) -> Result<Option<Self>> {
        let named = named_models(None, arguments.judge.as_ref());
        let layers = session.user_layers(&arguments.settings, named)?;
        let resolved = evals_settings::resolve(layers)?;
        let configured = ConfiguredModels::of(&resolved.settings);
        configured.judge.check_embedded_name(&resolved)?;
        if configured.judge.is_embedded() {
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
        Ok(Some(Self {
            model,
            max_tokens: configured.judge.settings.max_tokens(),
            printer: session.printer,
            resolved,
            spending,
            stop,
            interruption,
        }))
    }

    /// The calls, tokens and cost of requests, in words. `doing` is what the judge does, such as `grading`.
    pub(crate) fn estimate(&self, doing: &str, requests: &[ChatRequest]) -> String {
        let tokenizer = StaticEmbedder::static_minilm().tokenizer();
        let calls = requests.iter().fold(Calls::NONE, |calls, request| {
            let size = side(request, self.max_tokens, &*tokenizer);
            let most = size.max_tokens.zip(calls.output_tokens);
            Calls {
                calls: calls.calls + 1,
                input_tokens: calls.input_tokens + size.prompt_tokens,
                output_tokens: most.map(|(most, sum)| sum + most),
            }
        });
        let model = self.model.identity();
        let price = choices::prices(&self.resolved).of(model);
        format!(
            "{doing} {model}: {}\nToken counts are approximate, because the embedded tokenizer counts them. \
             Cached replies cost nothing.\nThe estimate excludes retries and repaired replies.\n",
            line(&calls, model, price)
        )
    }

    /// Asks about each item, as many at the same time as the settings allow, and passes each reply to `keep` before it awaits the next one.
    /// Returns the problems that left items without a reply, such as an interruption. `bar` is the title of the progress bar, and `noun` an
    /// item in messages.
    ///
    /// # Errors
    ///
    /// Every further call would also fail, or `keep` fails.
    pub(crate) async fn ask<T, R>(
        &self,
        (bar, noun): (&str, &str),
        each: Vec<T>,
        ask: impl AsyncFn(T) -> Result<R, JudgeFailure>,
        mut keep: impl FnMut(R) -> Result<()>,
    ) -> Result<Vec<String>> {
        let bar = progress::of_items(self.printer, bar);
        bar.reset();
        bar.set_length(each.len() as u64);
        let wanted = each.into_iter().take_while(|_| !self.stop.is_set());
        let concurrency = self.resolved.settings.evaluations.concurrency;
        let ask = &ask;
        let asked = stream::iter(wanted.map(|it| async move { ask(it).await }));
        let mut asked = asked.buffer_unordered(concurrency.get());
        let mut failures = Vec::new();
        loop {
            let next = async { Ok(asked.next().await) };
            // After an interruption, calls that were never sent do not end.
            match self.interruption.guard(next).await.unwrap_or(None) {
                None => break,
                Some(Ok(reply)) => keep(reply)?,
                Some(Err(error)) if error.failure() == Failure::Terminal => {
                    return Err(error.into());
                }
                Some(Err(error)) => failures.push(chain(&error)),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        if self.spending.calls() > 0 {
            let calls = self.spending.in_words();
            self.printer.note(&format!("asked the judge with {calls}"));
        }
        let first = failures.first().map(|reason| {
            let things = quantity::of(failures.len(), noun);
            format!("{things} without a usable reply; the first: {reason}")
        });
        let stopped = match self.stop.reason() {
            Some(reason) => Some(format!("stopped early: {reason}")),
            None if self.stop.is_set() => {
                Some("interrupted; run the same command again to go on".to_owned())
            }
            None => None,
        };
        Ok(first.into_iter().chain(stopped).collect())
    }

    /// Says why something has no reply, and with which exit code the command ends.
    pub(crate) fn end(&self, problems: &[String]) -> Exit {
        for problem in problems {
            self.printer.failure(problem);
        }
        if self.interruption.is_interrupted() {
            Exit::Interrupted
        } else if problems.is_empty() {
            Exit::Done
        } else {
            Exit::CheckFailed
        }
    }
}
