//! Checks the reranker.

use std::sync::Arc;

use evals_models::Reranker;
use evals_pipeline::downloads;
use evals_pipeline::models::{ConfiguredModels, LocalModel, Servers, reranker};
use evals_terminal::Printer;

use super::chat;
use super::finding::Finding;
use crate::settings::{RerankerKind, Resolved};

/// Opens the configured reranker, if there is one.
pub(super) async fn check(
    printer: &Printer,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Option<Finding> {
    models.reranker.as_ref()?;
    let bad = |error: anyhow::Error| Finding::Bad {
        what: format!("reranker: {error:#}"),
        remedy: "profiles without `+rerank` still work".to_owned(),
    };
    let model = match reranker::check(resolved, models) {
        Ok(model) => model,
        Err(error) => return Some(bad(error.into())),
    };
    let opened = match &model.settings.kind {
        RerankerKind::Llm(_) => {
            let asked = model.chat()?;
            return Some(chat::check(servers, "reranker", &asked).await);
        }
        RerankerKind::Http(_) => {
            let batch_size = resolved.settings.reranking.batch_size;
            let opened = servers.reranker(model, batch_size).await;
            opened.map(|reranker| Arc::new(reranker) as Arc<dyn Reranker>)
        }
        RerankerKind::Local(local) => match LocalModel::reranker(resolved, model, local) {
            Ok(local) if !local.is_here(&downloads::hub()) => {
                return Some(Finding::Note(format!(
                    "reranker: {model} is not in the hub cache; the first run that reranks downloads it"
                )));
            }
            Ok(local) => local.open_reranker(printer, &downloads::hub()).await,
            Err(error) => Err(error.into()),
        },
    };
    Some(match opened {
        Ok(reranker) => Finding::Good(format!("reranker: {}", reranker.identity())),
        Err(error) => bad(error),
    })
}
