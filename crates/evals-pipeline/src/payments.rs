//! What the cases of a journal cost, as payments: for a run whose payments no file records.

use evals::{CaseReport, Domain};
use evals_models::{ModelIdentity, Usage};
use evals_rag::Purpose;
use evals_targets::Payment;

/// The tokens that cases recorded for a purpose, as one payment for `model`.
pub(crate) fn of_cases<'c, D: Domain>(
    cases: impl IntoIterator<Item = &'c CaseReport<D>>,
    purpose: Purpose,
    model: ModelIdentity,
) -> Payment {
    let (input, output) = (purpose.input_tokens(), purpose.output_tokens());
    of_metrics(cases, input, output, model)
}

/// The same for tokens under other names.
pub(crate) fn of_metrics<'c, D: Domain>(
    cases: impl IntoIterator<Item = &'c CaseReport<D>>,
    input: &str,
    output: &str,
    model: ModelIdentity,
) -> Payment {
    let mut usage = Usage::default();
    for case in cases {
        usage.input_tokens += tokens(case, input);
        usage.output_tokens += tokens(case, output);
    }
    Payment { model, usage }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of tokens are whole, and others become the nearest one"
)]
fn tokens<D: Domain>(case: &CaseReport<D>, metric: &str) -> u64 {
    case.metrics.get(metric).map_or(0, |tokens| *tokens as u64)
}
