//! The names of measures in rules.

use evals_rag::Purpose;
use evals_rag::qa::Equivalence;

use crate::stored_runs::names_measure;

/// The name of the pass rate of answers in tables.
const ACCURACY: &str = "accuracy";

/// Whether a name in a rule means the measure with a title: the title, the name of its mean, any notation of a rank measure, `accuracy` for the
/// pass rate of answers, and `tokens.input` and `tokens.output` for the tokens that the answering model read and wrote.
pub(crate) fn means(written: &str, title: &str) -> bool {
    let alias = match written {
        ACCURACY => Some(Equivalence::OUTCOME),
        "tokens.input" => Some(Purpose::Answerer.input_tokens()),
        "tokens.output" => Some(Purpose::Answerer.output_tokens()),
        _ => None,
    };
    alias == Some(title) || names_measure(written, title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_has_several_names() {
        assert!(means("nDCG@10", "nDCG@10") && means("MRR@5", "RR@5"));
        assert!(means("accuracy", "equivalent") && means("tokens.input", "input tokens"));
        assert!(!means("nDCG@5", "nDCG@10"));
    }
}
