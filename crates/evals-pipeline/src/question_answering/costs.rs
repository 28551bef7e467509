//! Adds up the calls, tokens and cost of a run.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use evals::{CaseReport, Domain};
use evals_messages::quantity;
use evals_models::ModelIdentity;
use evals_providers::Traffic;
use evals_rag::Purpose;
use evals_rag::prices::{Cost, Prices};
use evals_rag::qa::Qa;
use evals_terminal::Printer;
use serde::Serialize;

use super::judge_records::JUDGES;
use super::model_set::ModelSet;
use crate::models::RanIn;
use crate::run_models::{self, user::USER};
use crate::spending::dollars;
use crate::targets;

const TEXT: &str = "a string takes any text";

/// Tokens and cost of a run, separately for answering, judging, reranking, rewriting and playing users. A cached reply counts with its original tokens.
#[derive(Debug, Clone, Serialize)]
pub struct Costs {
    answering: Side,
    judging: Side,
    /// `None` without a reranker.
    #[serde(skip_serializing_if = "Option::is_none")]
    reranking: Option<Side>,
    /// `None` if no question is rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    rewriting: Option<Side>,
    /// `None` if no user is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Side>,
    /// USD; `None` where a price is not known.
    total: Option<f64>,
}

/// The calls of one model.
#[derive(Debug, Clone, Serialize)]
struct Side {
    model: Option<ModelIdentity>,
    /// The further judges of a panel. Tokens and cost are those of all judges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    panel: Vec<ModelIdentity>,
    input_tokens: f64,
    output_tokens: f64,
    /// Whether some token counts are estimates, because the server reported none.
    estimated: bool,
    /// Whether the model is a target that reported no tokens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreported: bool,
    /// USD; `None` where a price is not known.
    cost: Option<f64>,
}

/// The cost of the cases of earlier sessions, as far as prices are known.
pub fn spent(cases: &[CaseReport<Qa>], model_set: &ModelSet, prices: &Prices) -> f64 {
    let price = |role| model_set.price(role, prices);
    let cost = Cost::of(cases, &price("answerer"), &price("judge"));
    let reranking = price("reranker").of_cases(cases, Purpose::Reranker);
    let rewriting = price("rewriter").of_cases(cases, Purpose::Rewriter);
    [cost.answering, cost.judging, reranking, rewriting]
        .into_iter()
        .flatten()
        .sum()
}

fn sum<D: Domain>(cases: &[CaseReport<D>], metric: &str) -> f64 {
    let recorded = cases.iter().filter_map(|case| case.metrics.get(metric));
    // The sum of no floats is -0.
    recorded.fold(0.0, |sum, value| sum + value)
}

impl Costs {
    /// Adds up what cases recorded. `models` names the models by role.
    pub fn of<D: Domain, R: Borrow<str> + Ord>(
        cases: &[CaseReport<D>],
        models: &BTreeMap<R, ModelIdentity>,
        prices: &Prices,
    ) -> Self {
        let price = |role: &str| ModelSet::price_of(models, role, prices);
        let cost = Cost::of(cases, &price("answerer"), &price("judge"));
        let side = |role: &str, purpose: Purpose, cost: Option<f64>| {
            let model = models.get(role).cloned();
            let is_target = model.as_ref().is_some_and(targets::is_target);
            let metric = purpose.input_tokens();
            let mut with_tokens = cases.iter();
            let unreported =
                is_target && !with_tokens.any(|case| case.metrics.contains_key(metric));
            let panel = JUDGES.into_iter().skip(1);
            let panel = panel.filter(|_| purpose == Purpose::Judge);
            Side {
                model,
                panel: panel.filter_map(|role| models.get(role).cloned()).collect(),
                input_tokens: sum(cases, metric),
                output_tokens: sum(cases, purpose.output_tokens()),
                estimated: cases
                    .iter()
                    .any(|case| case.attributes.contains_key(purpose.estimated())),
                // Nobody knows what no tokens cost.
                cost: cost.filter(|_| !unreported),
                unreported,
            }
        };
        let reranking = models.get("reranker").map(|model| {
            let cost = run_models::cost(Purpose::Reranker, cases, &prices.of(model));
            side("reranker", Purpose::Reranker, cost)
        });
        // A first turn asks a rewriter nothing, so that there may be no tokens.
        let asked = |role: &str, purpose: Purpose| {
            let price = prices.of(models.get(role)?);
            Some(side(role, purpose, price.of_cases(cases, purpose)))
        };
        let rewriting = asked("rewriter", Purpose::Rewriter);
        let user = asked(USER, Purpose::User);
        let others = [&reranking, &rewriting, &user].into_iter().flatten();
        let others: Option<f64> = others.map(|side| side.cost).sum();
        let answering = side("answerer", Purpose::Answerer, cost.answering);
        let judging = side("judge", Purpose::Judge, cost.judging);
        let total = answering
            .cost
            .zip(judging.cost)
            .map(|(one, other)| one + other);
        Self {
            total: total.zip(others).map(|(sum, cost)| sum + cost),
            answering,
            judging,
            reranking,
            rewriting,
            user,
        }
    }

    /// USD for everything; `None` where a price is not known.
    pub(crate) fn total(&self) -> Option<f64> {
        self.total
    }

    /// A line for each model, and a line for the total if any model is behind a server.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let others = [
            ("reranking", &self.reranking),
            ("rewriting", &self.rewriting),
            (USER, &self.user),
        ];
        let others = others.map(|(what, side)| side.as_ref().map(|side| (what, side)));
        let sides = [("answering", &self.answering), ("judging", &self.judging)];
        let sides = || sides.into_iter().chain(others.into_iter().flatten());
        for (what, side) in sides() {
            let Some(model) = &side.model else { continue };
            if side.unreported {
                let text = format!("{}, tokens not reported, cost unknown", model.name);
                lines.push((what.to_owned(), text));
                continue;
            }
            let text = match RanIn::of(model) {
                RanIn::Program => format!("{model}, part of this program, no LLM"),
                RanIn::Process => format!("{model}, in this process, no LLM"),
                RanIn::Server => {
                    let models = [model].into_iter().chain(&side.panel);
                    let models: Vec<String> = models.map(ToString::to_string).collect();
                    let estimated = if side.estimated { " (estimated)" } else { "" };
                    format!(
                        "{}, {} read, {} written{estimated}, {}",
                        models.join(" + "),
                        quantity::of(side.input_tokens, "token"),
                        side.output_tokens,
                        dollars(side.cost)
                    )
                }
            };
            lines.push((what.to_owned(), text));
        }
        let models = sides().filter_map(|(_, side)| side.model.as_ref());
        let served = models.filter(|it| is_served(it)).count();
        // The line of the only served model already says that its cost is unknown.
        if served > 1 || (served == 1 && self.total.is_some()) {
            lines.push(("together".to_owned(), dollars(self.total)));
        }
        lines
    }
}

fn is_served(model: &ModelIdentity) -> bool {
    RanIn::of(model) == RanIn::Server
}

/// Attempts at requests that did not bring a reply.
#[derive(Debug, Clone, Copy)]
pub struct Attempts {
    retries: u64,
    unanswered: u64,
}

impl Attempts {
    /// Attempts since the process began.
    pub(crate) fn so_far(traffic: &[Arc<Traffic>]) -> Self {
        let seen: Vec<_> = traffic.iter().map(|it| it.statistics()).collect();
        Self {
            retries: seen.iter().map(|it| it.retries).sum(),
            unanswered: seen.iter().map(|it| it.unanswered).sum(),
        }
    }

    /// Attempts after `earlier` was taken.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            retries: self.retries.saturating_sub(earlier.retries),
            unanswered: self.unanswered.saturating_sub(earlier.unanswered),
        }
    }
}

/// Prints how many calls this process made, if any model is behind a server. The report counts more if replies came from the cache or
/// from an earlier session.
///
/// `attempts` include those at embedding questions, if the same server embeds them.
pub(crate) fn note_calls(printer: &Printer, model_set: &ModelSet, calls: u64, attempts: Attempts) {
    if !model_set.models.values().any(is_served) {
        return;
    }
    let mut note = format!("{} made by this command", quantity::of(calls, "call"));
    if attempts.retries > 0 {
        let retries = quantity::of(attempts.retries, "retry");
        write!(note, ", {retries}").expect(TEXT);
    }
    if attempts.unanswered > 0 {
        let attempts = quantity::of(attempts.unanswered, "attempt");
        write!(
            note,
            "; {attempts} got no reply, though the server may charge for it"
        )
        .expect(TEXT);
    }
    printer.note(&note);
}
