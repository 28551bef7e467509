//! `evaluations bench embed`: compares the speed of embedding models. It bypasses the cache of vectors.

mod figures;
mod measurement;
mod model;
mod tables;
mod texts;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_settings::redaction::printable;
use evals_terminal::progress;

use self::figures::Figures;
use self::measurement::BenchPlan;
use self::model::BenchedModel;
use self::texts::Texts;
use crate::options::{BenchEmbedArgs, EmbeddingModel};
use evals_pages::results::{check_out, show};

pub(super) fn execute(session: &Session<'_>, arguments: &BenchEmbedArgs) -> Result<Exit> {
    let models = models(session, arguments)?;
    check_out(&arguments.out)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    let figures = runtime.block_on(measure(session, arguments, &models))?;
    show(session.printer, &figures, arguments.json, &arguments.out)?;
    Ok(exit(session, &figures))
}

/// Every model with its settings. All are checked before the first is measured.
fn models(session: &Session<'_>, arguments: &BenchEmbedArgs) -> Result<Vec<BenchedModel>> {
    let layers = |model: Option<&EmbeddingModel>| {
        let option = model.map(model::layer).transpose()?.flatten();
        session.user_layers(&arguments.settings, option)
    };
    let models: Vec<BenchedModel> = if arguments.models.is_empty() {
        vec![BenchedModel::new(layers(None)?)?]
    } else {
        let models = arguments.models.iter();
        models
            .map(|model| BenchedModel::new(layers(Some(model))?))
            .collect::<Result<_>>()?
    };
    // All have the settings of the same file.
    session.warn_of_matrix(&models[0].resolved);
    Ok(models)
}

async fn measure(
    session: &Session<'_>,
    arguments: &BenchEmbedArgs,
    models: &[BenchedModel],
) -> Result<Figures> {
    let texts = match &arguments.texts {
        Some(path) => Texts::of_file(path)?,
        None => Texts::of_sample(session.printer).await?,
    };
    let plan = BenchPlan {
        texts: Arc::new(texts),
        batches: sorted(&arguments.batches),
        concurrency: sorted(&arguments.concurrency),
        time: Duration::from_secs_f64(arguments.seconds),
    };
    let mut figures = Figures::new(&plan.texts, plan.time);
    for model in models {
        let bar = progress::open_ended(session.printer, "measuring");
        bar.set_message(printable(&model.label));
        figures
            .models
            .push(model.measure(session.printer, &plan).await);
        bar.finish_and_clear();
    }
    Ok(figures)
}

fn sorted<N: Ord + Copy>(numbers: &[N]) -> Vec<N> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Reports the models that could not be measured, which make the command fail.
fn exit(session: &Session<'_>, figures: &Figures) -> Exit {
    let mut exit = Exit::Done;
    for model in &figures.models {
        if let Some(failure) = &model.failure {
            session
                .printer
                .failure(&format!("{}: {failure}", model.label));
            exit = Exit::CouldNot;
        }
    }
    exit
}
