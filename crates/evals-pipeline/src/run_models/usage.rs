//! What the models of a search used, as the cases of a report recorded it.

use evals::{CaseReport, Domain, Report};
use evals_messages::quantity;
use evals_models::ModelIdentity;
use evals_rag::prices::{Price, Prices};
use evals_rag::{Purpose, Retrieval};

use crate::spending::dollars;

/// The tokens and the cost of a model behind a server.
pub(super) fn used(
    purpose: Purpose,
    model: &ModelIdentity,
    report: &Report<Retrieval>,
    prices: &Prices,
) -> String {
    let sum = |metric: &str| {
        let recorded = report.cases.iter();
        let mut recorded = recorded
            .filter_map(|case| case.metrics.get(metric))
            .peekable();
        recorded.peek().is_some().then(|| recorded.sum::<f64>())
    };
    let read = sum(purpose.input_tokens());
    let tokens = match (read, sum(purpose.output_tokens())) {
        (Some(read), Some(written)) => {
            format!("{} read, {written} written", quantity::of(read, "token"))
        }
        _ => "tokens unknown".to_owned(),
    };
    let cost = dollars(cost(purpose, &report.cases, &prices.of(model)));
    format!("{tokens}, {cost}")
}

/// The cost of calls for a purpose. Unknown if no case has a token count, unless tokens are free.
pub(crate) fn cost<D: Domain>(
    purpose: Purpose,
    cases: &[CaseReport<D>],
    price: &Price,
) -> Option<f64> {
    let has_tokens = |case: &CaseReport<D>| case.metrics.contains_key(purpose.input_tokens());
    let is_free = price.input == Some(0.0) && price.output == Some(0.0);
    if is_free || cases.iter().any(has_tokens) {
        return price.of_cases(cases, purpose);
    }
    None
}
