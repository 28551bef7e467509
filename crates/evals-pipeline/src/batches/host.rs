//! Connects batches with the rest of the run: the budget, the store of replies, the calls and searches under way, and the messages.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals_messages::quantity;
use evals_models::{ChatModel, ChatReply, ChatRequest, Usage};
use evals_providers::{BatchCounts, BatchEvent, BatchHost, BatchSize};
use evals_rag::prices::Price;
use evals_settings::redaction::printable;
use evals_stores::replies::{ReplyStore, is_worth_storing, reply_key};
use evals_targets::Payment;
use evals_terminal::{Printer, progress};
use indicatif::ProgressBar;

use crate::interruption::{Interruption, OpenBatches};
use crate::spending::{Spending, dollars};

/// In a pipe, the program prints the state of a batch when it changes, and again after this time.
const REMINDER: Duration = Duration::from_mins(10);

/// What the batches of all models need of the run.
#[derive(Clone, Debug)]
pub(super) struct BatchRun {
    pub(super) printer: Printer,
    pub(super) interruption: Interruption,
    pub(super) spending: Arc<Spending>,
    /// The searches that wait or run.
    pub(super) searches: Arc<AtomicUsize>,
    pub(super) open: OpenBatches,
}

/// The rest of the run, as the batches of one model see it.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) run: BatchRun,
    /// Where replies are stored, also by other processes meanwhile.
    pub(super) store: ReplyStore,
    /// Whether stored replies are used. Otherwise the run asks for all replies again.
    pub(super) reuses: bool,
    pub(super) model: String,
    pub(super) price: Price,
    pub(super) shown: Mutex<BTreeMap<String, ShownBatch>>,
}

/// The display of a batch.
#[derive(Debug)]
pub(super) struct ShownBatch {
    bar: ProgressBar,
    state: String,
    printed: Instant,
}

impl Host {
    /// The most that a batch may cost; `None` without a limit on replies or without a price.
    fn cost(&self, size: &BatchSize) -> Option<f64> {
        self.price.cost(Usage {
            input_tokens: size.input_tokens,
            output_tokens: size.output_tokens?,
            estimated: true,
        })
    }

    /// Why a batch, or a first, direct request, is not sent.
    fn over_budget(&self, size: &BatchSize, cost: f64, left: f64) -> String {
        let tokens = size.input_tokens + size.output_tokens.unwrap_or_default();
        let (or, further) = match size.requests {
            1 => (" or", ""),
            _ => (",", ", or a smaller `batch.max_requests`"),
        };
        format!(
            "{} with up to {} may cost up to {}, and {} of the budget is left; set a larger `--budget`{or} a smaller `max_tokens` of `{}`{further}",
            quantity::of(size.requests, "request"),
            quantity::of(tokens, "token"),
            dollars(Some(cost)),
            dollars(Some(left)),
            self.model
        )
    }

    /// Shows the state of a batch: on a terminal in a line that changes, in a pipe as notes.
    fn show(&self, batch: &str, state: &str, (short, line): (&str, &str)) {
        let printer = &self.run.printer;
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !shown.contains_key(batch);
        let known = shown.entry(batch.to_owned()).or_insert_with(|| ShownBatch {
            bar: progress::terminal_only(printer, "batch"),
            state: String::new(),
            printed: Instant::now(),
        });
        self.run.open.add(batch, &known.bar);
        known.bar.set_message(short.to_owned());
        let is_due = known.printed.elapsed() >= REMINDER || known.state != state;
        if printer.progress().is_hidden() && (is_new || is_due) {
            printer.note(line);
            known.printed = Instant::now();
        }
        state.clone_into(&mut known.state);
    }
}

/// A batch in the words of its line on a terminal, which has a clock of its own and may be cut anywhere: what matters most comes first.
fn short(state: &str, counts: Option<BatchCounts>, next: Duration, model: &str) -> String {
    let mut text = state.to_owned();
    // Writing to a string cannot fail.
    if let Some(counts) = counts {
        let _ = write!(text, " {}/{}", counts.done(), counts.total);
    }
    let _ = write!(text, ", next look in {}", progress::spoken(next));
    if let Some(counts) = counts.filter(|counts| counts.failed > 0) {
        let _ = write!(text, ", {} failed", counts.failed);
    }
    let _ = write!(text, ", {model}");
    // The state is the server's word.
    printable(&text)
}

#[async_trait]
impl BatchHost for Host {
    fn on_event(&self, event: &BatchEvent) {
        match event {
            BatchEvent::Waiting {
                batch,
                model,
                state,
                counts,
                next,
                ..
            } => {
                let short = short(state, *counts, *next, model);
                self.show(batch, state, (&short, &event.to_string()));
            }
            BatchEvent::Ended { batch } => {
                self.run.open.remove(batch);
                let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(shown) = shown.remove(batch) {
                    shown.bar.finish_and_clear();
                }
            }
            BatchEvent::Warning(text) => self.run.printer.warn(text),
            event => self.run.printer.note(&event.to_string()),
        }
    }

    fn key(&self, model: &dyn ChatModel, request: &ChatRequest) -> String {
        reply_key(model, request).to_string()
    }

    fn under_way(&self) -> usize {
        self.run.interruption.calls_under_way() + self.run.searches.load(Ordering::Relaxed)
    }

    async fn stored(
        &self,
        keys: &[String],
    ) -> Result<Vec<Option<ChatReply>>, Box<dyn Error + Send + Sync>> {
        if !self.reuses {
            return Ok(vec![None; keys.len()]);
        }
        let keys: Result<_, _> = keys.iter().map(|key| key.parse()).collect();
        Ok(self.store.get_all(keys?).await?)
    }

    async fn receive(
        &self,
        model: &dyn ChatModel,
        replies: &[(String, ChatReply)],
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut stored = Vec::new();
        for (key, reply) in replies {
            let payment = Payment {
                model: model.identity().clone(),
                usage: reply.usage,
            };
            if !reply.served.batched {
                self.run.spending.charge(&payment, self.price);
                continue;
            }
            let spending = &self.run.spending;
            spending.charge_batched(&payment, self.price, key.clone());
            if is_worth_storing(reply) {
                stored.push((key.parse()?, reply.clone()));
            }
        }
        Ok(self.store.put_all(model.identity(), stored).await?)
    }

    fn reserve(
        &self,
        size: &BatchSize,
        is_submitted: bool,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let spending = &self.run.spending;
        let cost = self.cost(size);
        if is_submitted {
            spending.reserve_anyway(cost.unwrap_or_default());
            return Ok(());
        }
        let Some(left) = spending.left() else {
            return Ok(());
        };
        match cost {
            Some(cost) if spending.reserve(cost) => Ok(()),
            Some(cost) => Err(self.over_budget(size, cost, left).into()),
            None => Err(format!(
                "`--budget` with `--batch` needs a limit on replies and a price, because the cost of a batch must be known before it is submitted; set `max_tokens` and `prices` of `{}`",
                self.model
            )
            .into()),
        }
    }

    fn release(&self, size: &BatchSize, keys: &BTreeSet<String>) {
        for key in keys {
            self.run.spending.stored(key);
        }
        if let Some(cost) = self.cost(size) {
            self.run.spending.release(cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_sixty_columns_shows_the_state_of_a_batch_and_the_next_look() {
        let counts = BatchCounts {
            total: 299,
            completed: 40,
            failed: 1,
        };
        let next = Duration::from_secs(30);
        let text = short("in_progress", Some(counts), next, "openai:gpt-5-mini");
        assert_eq!(
            text,
            "in_progress 41/299, next look in 30s, 1 failed, openai:gpt-5-mini"
        );
        // The label, the spinner and the clock take 24 columns.
        let cut: String = text.chars().take(60 - 24).collect();
        assert_eq!(cut, "in_progress 41/299, next look in 30s");
        let steering = short("in\u{1b}[2J", None, next, "openai:m");
        assert_eq!(steering, r"in\u{1b}[2J, next look in 30s, openai:m");
    }
}
