//! Counts the cost of model calls, and stops a run whose budget is spent.

mod metered;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use evals::{JournalError, StopSignal};
use evals_messages::{chain, quantity};
use evals_models::Usage;
use evals_rag::prices::{Price, Prices};
use evals_targets::{Payment, ReplyFile};
use thiserror::Error;

pub(crate) use self::metered::{Metered, MeteredEmbedder};

/// The budget was spent before work without cases was done, such as building an index.
#[derive(Debug, Clone, Copy, Error)]
#[error("the budget of ${budget} is spent before {before}")]
pub(crate) struct BudgetSpent {
    budget: f64,
    /// What is not done, and how to go on.
    before: &'static str,
}

/// Formats an amount in USD, or says that it is unknown.
pub(crate) fn dollars(cost: Option<f64>) -> String {
    match cost {
        Some(cost) => format!("${cost:.4}"),
        None => "cost unknown (no price in `prices`)".to_owned(),
    }
}

/// Adds up the cost of a run. Cached replies cost nothing.
#[derive(Debug)]
pub(crate) struct Spending {
    paid: Mutex<f64>,
    calls: AtomicU64,
    /// The most that the submitted batches may cost.
    reserved: Mutex<f64>,
    /// Whether something that costs more than is left was refused.
    is_refused: AtomicBool,
    budget: Option<f64>,
    stop: StopSignal,
    /// Where the run records what it pays, for the session that resumes it.
    ledger: OnceLock<Arc<ReplyFile>>,
    /// The keys of requests whose replies came in batches and are paid for, and not stored yet.
    unstored: Mutex<BTreeSet<String>>,
}

impl Spending {
    /// Counts against `budget`, in USD, and sets `stop` once it is spent.
    pub(crate) fn new(budget: Option<f64>, stop: StopSignal) -> Arc<Self> {
        Arc::new(Self {
            paid: Mutex::new(0.0),
            calls: AtomicU64::new(0),
            reserved: Mutex::new(0.0),
            is_refused: AtomicBool::new(false),
            budget,
            stop,
            ledger: OnceLock::new(),
            unstored: Mutex::default(),
        })
    }

    /// Adds the cost of earlier sessions of the run.
    pub(crate) fn resume(&self, cost: f64) {
        self.add(cost);
    }

    /// Adds what earlier sessions of the run paid, as `ledger` records it, and records there what this one pays from now on.
    pub(crate) fn record_in(&self, ledger: Arc<ReplyFile>, prices: &Prices) {
        for payment in ledger.payments() {
            let cost = prices.of(&payment.model).cost(payment.usage);
            self.add(cost.unwrap_or_default());
        }
        lock(&self.unstored).extend(ledger.unstored().iter().cloned());
        // A run has one ledger.
        let _ = self.ledger.set(ledger);
    }

    /// Adds what cases of earlier sessions cost. A ledger that these sessions wrote has counted it already.
    pub(crate) fn resume_cases(
        &self,
        payments: impl IntoIterator<Item = Payment>,
        prices: &Prices,
    ) {
        if self.ledger.get().is_some_and(|ledger| ledger.is_resumed()) {
            return;
        }
        for payment in payments {
            if payment.usage != Usage::default() {
                self.pay(&payment, prices.of(&payment.model));
            }
        }
    }

    /// Counts a call that states no tokens.
    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call and its cost, as far as its price is known.
    pub(crate) fn charge(&self, payment: &Payment, price: Price) {
        self.count_call();
        self.pay(payment, price);
    }

    /// The same for a reply that came in a batch, of the request with this key. Until it is stored, the program may read it again from its
    /// batch, also after a kill. It is paid for once.
    pub(crate) fn charge_batched(&self, payment: &Payment, price: Price, key: String) {
        self.count_call();
        let mut unstored = lock(&self.unstored);
        if unstored.contains(&key) {
            return;
        }
        self.record(|ledger| ledger.pay(payment, Some(&key)));
        unstored.insert(key);
        self.add(price.cost(payment.usage).unwrap_or_default());
    }

    /// Notes that the reply to the request with this key is stored.
    pub(crate) fn stored(&self, key: &str) {
        if lock(&self.unstored).remove(key) {
            self.record(|ledger| ledger.stored(key));
        }
    }

    /// Records a payment and adds its cost, as far as its price is known.
    pub(crate) fn pay(&self, payment: &Payment, price: Price) {
        self.record(|ledger| ledger.pay(payment, None));
        self.add(price.cost(payment.usage).unwrap_or_default());
    }

    /// Writes to the ledger, if the run has one.
    fn record(&self, write: impl FnOnce(&ReplyFile) -> Result<(), JournalError>) {
        if let Some(ledger) = self.ledger.get()
            && let Err(error) = write(ledger)
        {
            // A session that resumes the run could exceed the budget.
            self.stop.stop(format!(
                "cannot record what the run paid: {}",
                chain(&error)
            ));
        }
    }

    /// The rest of the budget after all costs and reservations; `None` without a budget.
    pub(crate) fn left(&self) -> Option<f64> {
        let (paid, reserved) = (*lock(&self.paid), *lock(&self.reserved));
        self.budget
            .map(|budget| (budget - paid - reserved).max(0.0))
    }

    /// Reserves a part of the budget. Returns whether enough is left.
    pub(crate) fn reserve(&self, cost: f64) -> bool {
        // Both stay locked: otherwise a payment and the release of its reservation could both happen in between, and count nowhere.
        let paid = lock(&self.paid);
        let mut reserved = lock(&self.reserved);
        let fits = self
            .budget
            .is_none_or(|budget| *paid + *reserved + cost <= budget);
        if fits {
            *reserved += cost;
        } else {
            self.is_refused.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// Reserves a part of the budget for a batch that is already submitted, even if less is left.
    pub(crate) fn reserve_anyway(&self, cost: f64) {
        *lock(&self.reserved) += cost;
    }

    /// Releases a reserved part of the budget.
    pub(crate) fn release(&self, cost: f64) {
        let mut reserved = lock(&self.reserved);
        *reserved = (*reserved - cost).max(0.0);
    }

    /// The number of calls, with or without a price.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The calls, and what they cost as far as prices are known, in words.
    pub(crate) fn in_words(&self) -> String {
        let calls = quantity::of(self.calls(), "call");
        let paid = *lock(&self.paid);
        if paid > 0.0 {
            format!("{calls} for {}", dollars(Some(paid)))
        } else {
            calls
        }
    }

    /// Whether the budget ended the run: it is spent, or too little is left for the next call.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent("").is_some() || self.is_refused.load(Ordering::Relaxed)
    }

    /// The error of work that the spent budget ends. `before` says what is not done, and how to go on.
    fn spent(&self, before: &'static str) -> Option<BudgetSpent> {
        let budget = self.budget.filter(|budget| *lock(&self.paid) >= *budget);
        budget.map(|budget| BudgetSpent { budget, before })
    }

    fn add(&self, cost: f64) {
        let mut paid = lock(&self.paid);
        *paid += cost;
        if let Some(budget) = self.budget
            && *paid >= budget
        {
            self.stop.stop(format!(
                "the budget of ${budget} is spent, including earlier sessions of this run; run the command again with a larger `--budget` to resume"
            ));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use evals_models::ModelIdentity;
    use evals_targets::Resumption;

    use super::*;

    #[test]
    fn what_is_reserved_is_not_reserved_again() {
        let spending = Spending::new(Some(1.0), StopSignal::new());
        spending.add(0.25);
        assert!(spending.reserve(0.5));
        assert_eq!(spending.left(), Some(0.25));
        assert!(!spending.is_spent());
        assert!(!spending.reserve(0.5));
        assert!(spending.is_spent(), "too little is left to go on");
        spending.release(0.5);
        assert!(spending.reserve(0.75));
        spending.reserve_anyway(0.5);
        assert_eq!(spending.left(), Some(0.0));
        spending.release(0.5);
        assert!(spending.reserve(0.0) && !spending.reserve(0.25));
        let unlimited = Spending::new(None, StopSignal::new());
        assert!(unlimited.reserve(1e9));
        assert_eq!(unlimited.left(), None);
    }

    /// A spending with the ledger of a run, which it resumes.
    fn session(folder: &std::path::Path) -> Arc<Spending> {
        let spending = Spending::new(None, StopSignal::new());
        let identity = serde_json::json!({});
        let ledger = ReplyFile::open(folder, "2027", &identity, Resumption::Resume).unwrap();
        let mut prices = Prices::default();
        prices.0.insert("m".to_owned(), DOLLAR);
        spending.record_in(Arc::new(ledger), &prices);
        spending
    }

    /// A dollar for a million tokens.
    const DOLLAR: Price = Price {
        input: Some(1.0),
        output: Some(0.0),
    };

    #[test]
    fn a_reply_that_is_read_again_from_its_batch_is_paid_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let usage = Usage {
            input_tokens: 1_000_000,
            ..Usage::default()
        };
        let model = ModelIdentity::new("openai", "m");
        let payment = Payment { model, usage };
        let paid = |spending: &Spending| *lock(&spending.paid);
        let charge = |spending: &Spending, key: &str| {
            spending.charge_batched(&payment, DOLLAR, key.to_owned());
        };
        let first = session(folder.path());
        charge(&first, "stored");
        first.stored("stored");
        charge(&first, "read again");
        assert!((paid(&first) - 2.0).abs() < 1e-9);
        drop(first);
        // The process was killed before it stored one of the replies.
        let second = session(folder.path());
        assert!((paid(&second) - 2.0).abs() < 1e-9);
        charge(&second, "read again");
        assert!((paid(&second) - 2.0).abs() < 1e-9);
        second.stored("read again");
        // As with `--refresh all`, which asks for another reply.
        charge(&second, "read again");
        charge(&second, "stored");
        assert!((paid(&second) - 4.0).abs() < 1e-9);
        drop(second);
        assert!((paid(&session(folder.path())) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_spent_budget_stops_the_run() {
        let stop = StopSignal::new();
        let spending = Spending::new(Some(1.0), stop.clone());
        spending.add(0.75);
        assert_eq!(stop.reason(), None);
        spending.add(0.25);
        let reason = stop.reason().unwrap();
        assert!(reason.starts_with("the budget of $1 is spent"), "{reason}");
    }
}
