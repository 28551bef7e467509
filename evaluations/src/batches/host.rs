//! Connects batches with the rest of the run: the budget, the calls and searches under way, and the messages.

use std::collections::BTreeMap;
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
use evals_stores::replies::{ReplyStore, reply_key};
use indicatif::ProgressBar;
use thiserror::Error;

use crate::interruption::{Interruption, OpenBatches};
use crate::spending::{Spending, dollars};
use crate::terminal::{Printer, printable, progress};

/// In a pipe, the program prints the state of a batch when it changes, and again after this time.
const REMINDER: Duration = Duration::from_mins(10);

/// The rest of the run, as the batches of one model see it.
#[derive(Debug)]
pub(super) struct Host {
    printer: Printer,
    interruption: Interruption,
    spending: Arc<Spending>,
    searches: Arc<AtomicUsize>,
    open: OpenBatches,
    /// Where other processes may store replies meanwhile; `None` if the run asks for all replies again.
    store: Option<ReplyStore>,
    model: String,
    price: Price,
    shown: Mutex<BTreeMap<String, Shown>>,
}

/// The display of a batch.
#[derive(Debug)]
struct Shown {
    bar: ProgressBar,
    state: String,
    printed: Instant,
}

/// A batch, or a first, direct request, may exceed the budget.
#[derive(Debug, Error)]
#[error(
    "{size} may cost up to {most}, and {left} of the budget is left; set a larger `--budget`{or} a smaller `max_tokens` of `{model}`{further}"
)]
struct OverBudget {
    model: String,
    size: String,
    most: String,
    left: String,
    or: &'static str,
    /// What else helps for several requests.
    further: &'static str,
}

/// Settings are missing to compute the most that a batch may cost.
#[derive(Debug, Error)]
#[error(
    "`--budget` with `--batch` needs a limit on replies and a price, because the cost of a batch must be known before it is submitted; set `max_tokens` and `prices` of `{0}`"
)]
struct UnknownCost(String);

/// The number of requests and the tokens of a batch, in words.
fn sized(requests: usize, tokens: u64) -> String {
    format!(
        "{} with up to {}",
        quantity::of(requests, "request"),
        quantity::of(tokens, "token")
    )
}

impl Host {
    pub(super) fn new(
        printer: &Printer,
        interruption: &Interruption,
        spending: &Arc<Spending>,
        searches: &Arc<AtomicUsize>,
        open: &OpenBatches,
        store: Option<ReplyStore>,
        (model, price): (String, Price),
    ) -> Self {
        Self {
            printer: printer.clone(),
            interruption: interruption.clone(),
            spending: Arc::clone(spending),
            searches: Arc::clone(searches),
            open: open.clone(),
            store,
            model,
            price,
            shown: Mutex::default(),
        }
    }

    /// The most that a batch may cost; `None` without a limit on replies or without a price.
    fn cost(&self, size: &BatchSize) -> Option<f64> {
        self.price.cost(Usage {
            input_tokens: size.input_tokens,
            output_tokens: size.output_tokens?,
            estimated: true,
        })
    }

    /// Shows the state of a batch: on a terminal in a line that changes, in a pipe as notes.
    fn show(&self, batch: &str, state: &str, (short, line): (&str, &str)) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !shown.contains_key(batch);
        let known = shown.entry(batch.to_owned()).or_insert_with(|| Shown {
            bar: progress::terminal_only(&self.printer, "batch"),
            state: String::new(),
            printed: Instant::now(),
        });
        self.open.add(batch, &known.bar);
        known.bar.set_message(short.to_owned());
        let is_due = known.printed.elapsed() >= REMINDER || known.state != state;
        if self.printer.progress().is_hidden() && (is_new || is_due) {
            self.printer.note(line);
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
        let done = counts.completed.saturating_add(counts.failed);
        let _ = write!(text, " {done}/{}", counts.total);
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
                self.open.remove(batch);
                let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(shown) = shown.remove(batch) {
                    shown.bar.finish_and_clear();
                }
            }
            BatchEvent::Warning { text } => self.printer.warn(text),
            event => self.printer.note(&event.to_string()),
        }
    }

    fn under_way(&self) -> usize {
        self.interruption
            .calls_under_way()
            .saturating_add(self.searches.load(Ordering::Relaxed))
    }

    async fn stored(
        &self,
        model: &dyn ChatModel,
        requests: &[Arc<ChatRequest>],
    ) -> Result<Vec<Option<ChatReply>>, Box<dyn Error + Send + Sync>> {
        let Some(store) = &self.store else {
            return Ok(vec![None; requests.len()]);
        };
        let keys = requests.iter().map(|it| reply_key(model, it));
        Ok(store.get_all(keys.collect()).await?)
    }

    fn reserve(&self, size: &BatchSize) -> Result<(), Box<dyn Error + Send + Sync>> {
        let Some(left) = self.spending.left() else {
            return Ok(());
        };
        let Some(cost) = self.cost(size) else {
            return Err(UnknownCost(self.model.clone()).into());
        };
        if self.spending.reserve(cost) {
            return Ok(());
        }
        let tokens = size
            .input_tokens
            .saturating_add(size.output_tokens.unwrap_or_default());
        let (or, further) = match size.requests {
            1 => (" or", ""),
            _ => (",", ", or a smaller `batch.max_requests`"),
        };
        Err(OverBudget {
            or,
            further,
            model: self.model.clone(),
            size: sized(size.requests, tokens),
            most: dollars(Some(cost)),
            left: dollars(Some(left)),
        }
        .into())
    }

    fn resume(&self, size: &BatchSize) {
        if let Some(cost) = self.cost(size) {
            self.spending.reserve_anyway(cost);
        }
    }

    fn release(&self, size: &BatchSize) {
        if let Some(cost) = self.cost(size) {
            self.spending.release(cost);
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
