//! What answers and verdicts took, for the report and for people.

use std::fmt::Write as _;

use evals::Report;
use evals_models::ModelIdentity;
use evals_rag::Purpose;
use evals_rag::prices::{Cost, Prices};
use evals_rag::qa::Qa;
use serde::Serialize;

use super::models::Cast;

/// Tokens and cost of a run, answering and judging apart. Stored replies count as what they took when they were asked for.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Costs {
    answering: Side,
    judging: Side,
    /// USD; `None` where a price is not known.
    total: Option<f64>,
}

/// The calls of one model.
#[derive(Debug, Clone, Serialize)]
struct Side {
    model: Option<ModelIdentity>,
    input_tokens: f64,
    output_tokens: f64,
    /// Whether some numbers of tokens were counted here, because the server gave none.
    estimated: bool,
    /// USD; `None` where a price is not known.
    cost: Option<f64>,
}

/// Adds up what the cases of `report` recorded.
pub(super) fn of(report: &Report<Qa>, cast: &Cast, prices: &Prices) -> Costs {
    let price = |role: &str| {
        let model = cast.models.get(role);
        model.map(|model| prices.of(model)).unwrap_or_default()
    };
    let cost = Cost::of(&report.cases, &price("answerer"), &price("judge"));
    let side = |role: &str, purpose: Purpose, cost: Option<f64>| Side {
        model: cast.models.get(role).cloned(),
        input_tokens: sum(report, purpose.input_tokens()),
        output_tokens: sum(report, purpose.output_tokens()),
        estimated: report
            .cases
            .iter()
            .any(|case| case.attributes.contains_key(purpose.estimated())),
        cost,
    };
    Costs {
        answering: side("answerer", Purpose::Answerer, cost.answering),
        judging: side("judge", Purpose::Judge, cost.judging),
        total: cost.total(),
    }
}

fn sum(report: &Report<Qa>, metric: &str) -> f64 {
    let recorded = report
        .cases
        .iter()
        .filter_map(|case| case.metrics.get(metric));
    recorded.sum()
}

impl Costs {
    /// A line for each model that was asked, and one for the calls of this process.
    pub(super) fn text(&self, calls: u64) -> String {
        let mut text = String::new();
        for (what, side) in [("answering", &self.answering), ("judging", &self.judging)] {
            let Some(model) = &side.model else { continue };
            if model.provider == "embedded" {
                writeln!(text, "{what:<10} {model}, part of this program, no LLM")
            } else {
                writeln!(
                    text,
                    "{what:<10} {model}: {} tokens read, {} written{}, {}",
                    side.input_tokens,
                    side.output_tokens,
                    if side.estimated { " (estimated)" } else { "" },
                    dollars(side.cost)
                )
            }
            .expect("a string takes any text");
        }
        if self.is_asked() {
            writeln!(
                text,
                "{:<10} {}; {calls} calls were made now, the others came from the cache or from an earlier session",
                "together",
                dollars(self.total)
            )
            .expect("a string takes any text");
        }
        text
    }

    /// Whether any model outside the program took part.
    fn is_asked(&self) -> bool {
        let models = [&self.answering.model, &self.judging.model];
        let asked = |model: &ModelIdentity| model.provider != "embedded";
        models.into_iter().flatten().any(asked)
    }
}

/// An amount for people. What is not known is never shown as nothing.
pub(super) fn dollars(cost: Option<f64>) -> String {
    match cost {
        Some(cost) => format!("${cost:.4}"),
        None => "cost unknown (no price in `prices`)".to_owned(),
    }
}
