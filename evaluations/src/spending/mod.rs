//! Counts the cost of model calls, and stops a run whose budget is spent.

mod metered;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use evals::StopSignal;
use evals_messages::chain;
use evals_models::Usage;
use evals_rag::prices::{Price, Prices};
use evals_targets::{Payment, ReplyFile};
use thiserror::Error;

pub(crate) use self::metered::{Metered, MeteredEmbedder};

/// The budget was spent while an index was being built.
#[derive(Debug, Clone, Copy, Error)]
#[error(
    "the budget of ${0} is spent before all documents are embedded; run the command again with a larger `--budget` to resume"
)]
pub(crate) struct BudgetSpent(f64);

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
    budget: Option<f64>,
    stop: StopSignal,
    /// Where the run records what it pays, for the session that resumes it.
    ledger: OnceLock<Arc<ReplyFile>>,
}

impl Spending {
    /// Counts against `budget`, in USD, and sets `stop` once it is spent.
    pub(crate) fn new(budget: Option<f64>, stop: StopSignal) -> Arc<Self> {
        Arc::new(Self {
            paid: Mutex::new(0.0),
            calls: AtomicU64::new(0),
            reserved: Mutex::new(0.0),
            budget,
            stop,
            ledger: OnceLock::new(),
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

    /// Records a payment and adds its cost, as far as its price is known.
    pub(crate) fn pay(&self, payment: &Payment, price: Price) {
        if let Some(ledger) = self.ledger.get()
            && let Err(error) = ledger.pay(payment)
        {
            // A session that resumes the run could exceed the budget.
            self.stop.stop(format!(
                "cannot record what the run paid: {}",
                chain(&error)
            ));
        }
        self.add(price.cost(payment.usage).unwrap_or_default());
    }

    /// The rest of the budget after all costs and reservations; `None` without a budget.
    pub(crate) fn left(&self) -> Option<f64> {
        let (paid, reserved) = (*lock(&self.paid), *lock(&self.reserved));
        self.budget
            .map(|budget| (budget - paid - reserved).max(0.0))
    }

    /// Reserves a part of the budget. Returns whether enough is left.
    pub(crate) fn reserve(&self, cost: f64) -> bool {
        let paid = *lock(&self.paid);
        let mut reserved = lock(&self.reserved);
        let fits = self
            .budget
            .is_none_or(|budget| paid + *reserved + cost <= budget);
        if fits {
            *reserved += cost;
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

    /// Whether the budget is spent.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent().is_some()
    }

    /// The budget, once it is spent.
    fn spent(&self) -> Option<BudgetSpent> {
        let paid = *lock(&self.paid);
        let budget = self.budget.filter(|budget| paid >= *budget);
        budget.map(BudgetSpent)
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
    use super::*;

    #[test]
    fn what_is_reserved_is_not_reserved_again() {
        let spending = Spending::new(Some(1.0), StopSignal::new());
        spending.add(0.25);
        assert!(spending.reserve(0.5));
        assert_eq!(spending.left(), Some(0.25));
        assert!(!spending.reserve(0.5));
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
