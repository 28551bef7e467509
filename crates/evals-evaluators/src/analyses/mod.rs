//! Evaluators of whole reports: confusion matrix, precision and recall, ROC, Kolmogorov-Smirnov.
//!
//! They make the analyses of pydantic-evals. Where those hold NaN, ours hold no value, and the description says why. A
//! description also says how many cases were left out.

mod confusion_matrix;
mod curve;
mod kolmogorov_smirnov;
mod precision_recall;
mod roc_auc;
mod scored_cases;
#[cfg(test)]
mod tests;

use crate::Entry;

/// The evaluators of whole reports.
pub(crate) fn entries() -> Vec<Entry> {
    vec![
        confusion_matrix::entry(),
        curve::entry(kolmogorov_smirnov::KOLMOGOROV_SMIRNOV),
        curve::entry(precision_recall::PRECISION_RECALL),
        curve::entry(roc_auc::ROC_AUC),
    ]
}
