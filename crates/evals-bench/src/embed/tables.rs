//! The results as tables, and as a page for browsers.

use evals_html::page::{Fact, Listing, Notice, Opening, Severity};

use super::figures::{Figures, ModelFigures};
use evals_pages::results::{NONE, Results, seconds, significant, table};

impl Results for Figures {
    const LEAST: &'static [&'static str] = &[];

    fn measured(&self) -> String {
        let [shortest, median, longest] = self.texts.tokens;
        format!(
            "{} {}, {shortest} to {longest} tokens (median {median})",
            self.texts.count, self.texts.source
        )
    }

    fn tables(&self) -> Vec<Listing> {
        let models = &self.models;
        let facts_of_models = table(
            "Models",
            &[
                "model",
                "dimensions",
                "first vector",
                "USD per million tokens",
                "USD spent",
            ],
            facts(models),
        );
        let latency = ["batch", "model", "calls", "mean", "p50", "p95", "p99"];
        let throughput = ["at once", "model", "batch", "texts/s", "tokens/s"];
        let speeds = [
            table("Latency", &latency, latencies(models)),
            table("Throughput", &throughput, throughputs(models)),
        ];
        let speeds = speeds.into_iter().filter(|it| !it.rows.is_empty());
        [facts_of_models].into_iter().chain(speeds).collect()
    }

    fn shown(&self) -> Vec<Listing> {
        let mut tables = self.tables();
        tables[0].caption.clear();
        tables
    }

    fn closing(&self) -> String {
        skipped(self).map(|line| line + "\n").collect()
    }

    fn page(&self) -> Opening {
        let notice = |severity, text: String| Notice { severity, text };
        let failures = self.models.iter().filter_map(|model| {
            let failure = model.failure.as_ref()?;
            Some(notice(
                Severity::Failure,
                format!("{}: {failure}", model.label),
            ))
        });
        let skipped = skipped(self).map(|line| notice(Severity::Note, line));
        let fact = |name: &str, value| Fact {
            name: name.to_owned(),
            value,
        };
        Opening {
            title: "Speed of embedding models".to_owned(),
            sentence: sentence(self),
            notices: failures.chain(skipped).collect(),
            facts: vec![
                fact("texts", self.measured()),
                fact("evaluations", env!("CARGO_PKG_VERSION").to_owned()),
            ],
            listings: self.tables(),
            ..Opening::default()
        }
    }
}

/// A line for each measurement that was skipped.
fn skipped(figures: &Figures) -> impl Iterator<Item = String> {
    figures.models.iter().flat_map(|model| {
        model.left_out.iter().map(|left_out| {
            format!(
                "{}: skipped batches of {}, {} at once: {}",
                model.label, left_out.batch, left_out.concurrency, left_out.reason
            )
        })
    })
}

/// The model with the highest throughput: `embedded:static-minilm is the fastest: 12345 texts/s`.
fn sentence(figures: &Figures) -> String {
    let rounds = figures.models.iter().flat_map(|model| {
        let rounds = model.throughput.iter();
        rounds.map(move |round| (model.label.as_str(), round.texts_per_second))
    });
    let best = rounds.max_by(|left, right| left.1.total_cmp(&right.1));
    match (best, figures.models.len()) {
        (Some((model, speed)), 1) => format!("{model} embeds up to {speed:.0} texts per second"),
        (Some((model, speed)), _) => {
            format!("{model} is the fastest of these models: up to {speed:.0} texts per second")
        }
        (None, _) => "No model could be measured".to_owned(),
    }
}

fn facts(models: &[ModelFigures]) -> Vec<Vec<String>> {
    let rows = models.iter().map(|model| {
        vec![
            model.label.clone(),
            model.dimension.map_or_else(none, |it| it.to_string()),
            seconds(model.first_vector_seconds),
            model
                .usd_per_million_tokens
                .map_or_else(|| unknown(model), dollars),
            model.usd_spent.map_or_else(|| unknown(model), dollars),
        ]
    });
    rows.collect()
}

/// Rows by batch size, so that models of the same size stand together.
fn latencies(models: &[ModelFigures]) -> Vec<Vec<String>> {
    let mut rows: Vec<_> = models
        .iter()
        .flat_map(|model| model.latency.iter().map(move |latency| (model, latency)))
        .collect();
    rows.sort_by_key(|(_, latency)| latency.batch);
    let rows = rows.into_iter().map(|(model, latency)| {
        vec![
            latency.batch.to_string(),
            model.label.clone(),
            latency.seconds.n.to_string(),
            seconds(latency.seconds.mean),
            seconds(latency.seconds.p50),
            seconds(latency.seconds.p95),
            seconds(latency.seconds.p99),
        ]
    });
    rows.collect()
}

/// Rows by number of concurrent calls.
fn throughputs(models: &[ModelFigures]) -> Vec<Vec<String>> {
    let mut rows: Vec<_> = models
        .iter()
        .flat_map(|model| model.throughput.iter().map(move |round| (model, round)))
        .collect();
    rows.sort_by_key(|(_, round)| round.concurrency);
    let rows = rows.into_iter().map(|(model, round)| {
        vec![
            round.concurrency.to_string(),
            model.label.clone(),
            round.batch.to_string(),
            significant(round.texts_per_second),
            format!("{:.0}", round.tokens_per_second),
        ]
    });
    rows.collect()
}

fn none() -> String {
    NONE.to_owned()
}

/// Stands for a missing price: `unknown` for an opened model, a dash for one that could not be opened.
fn unknown(model: &ModelFigures) -> String {
    match model.identity {
        Some(_) => "unknown".to_owned(),
        None => none(),
    }
}

fn dollars(amount: f64) -> String {
    if amount == 0.0 {
        return "0".to_owned();
    }
    let amount = format!("{amount:.6}");
    amount
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_have_no_trailing_zeros() {
        assert_eq!(
            [0.0, 0.02, 2.0, 1.5e-5].map(dollars),
            ["0", "0.02", "2", "0.000015"]
        );
    }
}
