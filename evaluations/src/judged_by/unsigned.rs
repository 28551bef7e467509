//! How many verdicts the judges of a report did not sign.

use evals::{Domain, Report};
use evals_messages::quantity;
use evals_rag::unsigned_verdicts;
use serde_json::json;

/// Adds the number of cases with a verdict that its judge did not sign to a report, for programs. Returns the line for people; `None` if no chat
/// model judged.
pub(crate) fn enter_unsigned<D: Domain>(report: &mut Report<D>) -> Option<(String, String)> {
    let (unsigned, cases) = unsigned_verdicts(&report.cases);
    if cases == 0 {
        return None;
    }
    let record = json!({"unsigned": unsigned, "cases": cases});
    report
        .metadata
        .insert("unsigned_verdicts".to_owned(), record);
    let judged = quantity::of(cases, "judged case");
    Some((
        "unsigned verdicts".to_owned(),
        format!("{unsigned} of {judged}"),
    ))
}
