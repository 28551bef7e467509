//! The embedding model that settings name, wherever it runs.

use std::sync::Arc;

use anyhow::Result;
use evals_models::Embedder;

use crate::choices;
use crate::downloads;
use crate::models::local::LocalModel;
use crate::models::servers::Servers;
use crate::printer::Printer;
use crate::settings::Resolved;

/// Where the model stands in the settings.
pub(crate) const PATH: &str = "embeddings.model";

/// Opens it, and brings its files here first where they are not.
pub(crate) async fn open(
    printer: &Printer,
    resolved: &Resolved,
    servers: &mut Servers<'_>,
) -> Result<Arc<dyn Embedder>> {
    let model = &resolved.settings.embeddings.model;
    Ok(if choices::is_embedded(model) {
        choices::embedder(resolved)?
    } else if choices::is_local(model) {
        let model = LocalModel::of(resolved)?;
        model.open(printer, &downloads::hub()).await?
    } else {
        servers.embedder(PATH, model).await?
    })
}
