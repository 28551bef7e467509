//! The names of measures in rules.

use evals::MeasureNames;
use evals_metrics::Measure;
use evals_pages::names_measure;
use evals_rag::Purpose;
use evals_rag::qa::Equivalence;

/// The name of the pass rate of answers in tables.
const ACCURACY: &str = "accuracy";

/// The names that rules may use: the title of a measure, the name of its mean, any notation of a rank measure, `accuracy` for the pass rate of
/// answers, and `tokens.input` and `tokens.output` for the tokens that the answering model read and wrote.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names;

impl MeasureNames for Names {
    fn means(&self, written: &str, title: &str) -> bool {
        alias(written) == Some(title) || names_measure(written, title)
    }
}

impl Names {
    /// Whether two names in rules mean the same.
    pub(super) fn are_same(self, one: &str, other: &str) -> bool {
        let title = |written| alias(written).unwrap_or(written);
        let notation = |written: &str| {
            written
                .parse::<Measure>()
                .map(|measure| measure.to_string())
        };
        let notations = [one, other].map(notation);
        self.means(one, title(other))
            || self.means(other, title(one))
            || matches!(&notations, [Ok(one), Ok(other)] if one == other)
    }
}

/// The title that a name stands for.
fn alias(written: &str) -> Option<&'static str> {
    match written {
        ACCURACY => Some(Equivalence::OUTCOME),
        "tokens.input" => Some(Purpose::Answerer.input_tokens()),
        "tokens.output" => Some(Purpose::Answerer.output_tokens()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_has_several_names() {
        let means = |written, title| Names.means(written, title);
        assert!(means("nDCG@10", "nDCG@10") && means("MRR@5", "RR@5"));
        assert!(means("accuracy", "equivalent") && means("tokens.input", "input tokens"));
        assert!(!means("nDCG@5", "nDCG@10"));
    }

    #[test]
    fn two_names_of_a_measure_are_the_same() {
        for (one, other) in [
            ("nDCG@10", "nDCG@10"),
            ("nDCG@10", "ndcg@10"),
            ("MRR@5", "RR@5"),
            ("recip_rank", "MRR"),
            ("accuracy", "equivalent"),
            ("accuracy", "equivalent (pass rate)"),
            ("tokens.input", "input tokens"),
        ] {
            assert!(Names.are_same(one, other), "{one} {other}");
            assert!(Names.are_same(other, one), "{other} {one}");
        }
        assert!(!Names.are_same("nDCG@5", "nDCG@10"));
        assert!(!Names.are_same("latency.p95", "latency.p50"));
    }
}
