//! A model of the benchmark: its settings, its label and its measurement.

use std::iter;
use std::num::NonZeroUsize;
use std::time::Instant;

use anyhow::Result;
use evals_models::TextKind;
use evals_pipeline::choices;
use evals_pipeline::downloads;
use evals_pipeline::models::{ConfiguredModels, LocalModel, Servers, embedder};
use evals_terminal::Printer;
use serde_json::Value;

use super::figures::ModelFigures;
use super::measurement::{BenchPlan, Measurement};
use crate::options::EmbeddingModel;
use evals_settings::{EmbedderKind, Layer, Model, Resolved, Role};

/// Settings that distinguish two models of the same name.
const DISTINGUISHING: [&str; 6] = [
    "revision",
    "dtype",
    "pooling",
    "max_tokens",
    "base_url",
    "max_concurrency",
];

/// A model to measure, with its settings.
#[derive(Debug)]
pub(super) struct BenchedModel {
    pub(super) label: String,
    pub(super) resolved: Resolved,
    models: ConfiguredModels,
}

/// The settings that `--model` stands for; `None` if it is an empty mapping.
pub(super) fn layer(model: &EmbeddingModel) -> Result<Option<Layer>> {
    Ok(match model {
        EmbeddingModel::Named(model) => {
            let (provider, name) = (&model.provider, &model.name);
            let path = Role::Embedder.path();
            Some(Layer::model("--model", path, provider, name))
        }
        EmbeddingModel::Mapping(text) => {
            Layer::assignments(&[format!("{}={text}", Role::Embedder.path())])?
        }
    })
}

impl BenchedModel {
    pub(super) fn new(layers: Vec<Layer>) -> Result<Self> {
        let resolved = evals_settings::resolve(layers)?;
        let models = ConfiguredModels::of(&resolved.settings);
        embedder::check(&resolved, &models.embedder)?;
        Servers::check(&resolved, &models.embedder)?;
        Ok(Self {
            label: label(&models.embedder.settings),
            resolved,
            models,
        })
    }

    /// Measures as much as the time allows. A failure ends the measurement, and the results record it.
    pub(super) async fn measure(&self, printer: &Printer, plan: &BenchPlan) -> ModelFigures {
        let mut figures = ModelFigures::new(&self.label);
        if let Err(error) = self.fill(printer, plan, &mut figures).await {
            figures.failure = Some(format!("{error:#}"));
        }
        figures
    }

    async fn fill(
        &self,
        printer: &Printer,
        plan: &BenchPlan,
        figures: &mut ModelFigures,
    ) -> Result<()> {
        self.fetch(printer).await?;
        let started = Instant::now();
        let (resolved, models) = (&self.resolved, &self.models);
        let mut servers = Servers::new(resolved, models, printer, 0);
        let embedder = embedder::open(printer, resolved, &models.embedder, &mut servers).await?;
        let (first, tokens) = plan
            .texts
            .batch(0, NonZeroUsize::MIN, embedder.max_tokens());
        embedder.embed(&first, TextKind::Document).await?;
        figures.first_vector_seconds = Some(started.elapsed().as_secs_f64());
        figures.enter(
            &*embedder,
            choices::prices(&self.resolved).of(embedder.identity()),
        );
        figures.spend(tokens);
        Measurement::new(embedder, plan, figures).run().await?;
        Ok(())
    }

    /// Downloads a model's files before the clock starts.
    async fn fetch(&self, printer: &Printer) -> Result<()> {
        let model = &self.models.embedder;
        if let EmbedderKind::Local(local) = &model.settings.kind {
            let local = LocalModel::embedder(&self.resolved, model, local)?;
            let hub = downloads::hub();
            if !local.is_here(&hub) {
                local.open(printer, &hub).await?;
            }
        }
        Ok(())
    }
}

/// The model's name, followed by the settings that distinguish it from others of the same name.
fn label(model: &Model<EmbedderKind>) -> String {
    let written = serde_json::to_value(model).unwrap_or_default();
    let name = format!("{}:{}", model.provider, model.name);
    let settings = DISTINGUISHING
        .iter()
        .filter_map(|field| match &written[*field] {
            Value::Null => None,
            Value::String(value) => Some(format!(" {field}={value}")),
            value => Some(format!(" {field}={value}")),
        });
    iter::once(name).chain(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benched(model: &str) -> Result<BenchedModel> {
        BenchedModel::new(layer(&model.parse().unwrap())?.into_iter().collect())
    }

    #[test]
    fn labels_distinguish_models_of_the_same_name() {
        let model = "{provider: local, name: org/model, dtype: int8, max_tokens: 64}";
        assert_eq!(
            benched(model).unwrap().label,
            "local:org/model dtype=int8 max_tokens=64"
        );
        let served =
            "{provider: openai, name: m, base_url: http://localhost:1/v1, max_concurrency: 8}";
        assert_eq!(
            benched(served).unwrap().label,
            "openai:m base_url=http://localhost:1/v1 max_concurrency=8"
        );
        let embedded = benched("embedded:static-minilm").unwrap();
        assert_eq!(embedded.label, "embedded:static-minilm");
    }

    #[test]
    fn an_invalid_model_is_refused_before_any_request() {
        let message = |model| format!("{:#}", benched(model).unwrap_err());
        assert!(message("embedded:other").contains("the only embedded model is `static-minilm`"));
        let unknown = "{provider: local, name: org/model, dtyp: int8}";
        assert!(message(unknown).contains("dtyp"), "{}", message(unknown));
    }
}
