//! A LanceDB table as a target: `lancedb:FOLDER#TABLE`.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use async_trait::async_trait;
use evals::FailureClass;
use evals_index::{ForeignError, ForeignSearch, ForeignTable};
use evals_targets::{
    EmbeddingTarget, Reply, ReplyDocument, Request, SettingsProblem, Target, TargetError,
    TargetIdentity, TargetSettings,
};
use serde_json::{Value, json};

use super::layers::located;
use super::open::Opening;
use crate::run_models::Opener;
use crate::run_models::embedder;
use crate::store_options;

/// The kind of these targets.
const KIND: &str = "lancedb";

/// Documents for a request that does not say how many.
const FEW: usize = 10;

/// How the section `target.parameters` says that the table is searched.
pub(super) fn search(settings: &TargetSettings) -> Result<ForeignSearch, SettingsProblem> {
    let written = Value::Object((*settings.parameters).clone());
    let search: ForeignSearch = serde_json::from_value(written)
        .map_err(|error| SettingsProblem::new("parameters", error.to_string()))?;
    match search.idle_parameter() {
        Some(name) => Err(SettingsProblem::new(
            format!("parameters.{name}"),
            "is for the table's index of the vectors; add `index: true`",
        )),
        None => Ok(search),
    }
}

/// A table, and how it is searched.
#[derive(Debug)]
struct LanceDbTarget {
    identity: TargetIdentity,
    table: ForeignTable,
    search: ForeignSearch,
}

/// Opens the table, says what it is, and tries a search of it. The embedding model is opened if questions need vectors.
pub(super) async fn open(
    settings: &TargetSettings,
    (database, table): (&str, Option<&str>),
    opening: &Opening,
    opener: &mut Opener<'_, '_>,
) -> Result<Arc<dyn Target>> {
    let (resolved, printer) = (opener.resolved, opener.session.printer);
    let search = search(settings).map_err(|problem| located(resolved, &problem))?;
    let uri = if database.contains("://") {
        database.to_owned()
    } else {
        opening.folder.join(database).display().to_string()
    };
    let store = store_options::open(printer, resolved, &uri).await?;
    let table = ForeignTable::open(&store, table, &settings.columns).await;
    let table = table.map_err(|error| match &error {
        ForeignError::Column { role, .. } => {
            let problem = SettingsProblem::new(format!("columns.{role}"), error.to_string());
            anyhow::Error::new(located(resolved, &problem))
        }
        _ => anyhow::Error::new(error),
    })?;
    printer.note(&table.description(&search));
    let embedder = if table.needs_vector(&search) && table.dimension().is_some() {
        opener.models.embedder.check_embedded_name(resolved)?;
        let embedder = embedder::open(opener, opening.vectors).await?;
        table.check_model(&*embedder)?;
        Some(embedder)
    } else {
        None
    };
    for warning in table.check(&search).await? {
        printer.warn(&warning);
    }
    let target: Arc<dyn Target> = Arc::new(LanceDbTarget {
        identity: identity(settings, database, &table),
        table,
        search,
    });
    Ok(match embedder {
        Some(embedder) => Arc::new(EmbeddingTarget::new(target, embedder)),
        None => target,
    })
}

/// The table's version is part of the identity, so that no run goes on with a table that has changed.
fn identity(settings: &TargetSettings, database: &str, table: &ForeignTable) -> TargetIdentity {
    let mut parameters = settings.parameters();
    parameters.insert("table_version".to_owned(), json!(table.version()));
    TargetIdentity {
        version: settings.version.clone(),
        parameters,
        ..TargetIdentity::new(KIND, format!("{database}#{}", table.name()))
    }
}

#[async_trait]
impl Target for LanceDbTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let question = request.question_text().unwrap_or_default();
        let vector = request.vector.as_deref().unwrap_or_default();
        let k = request.k.unwrap_or(FEW);
        let started = Instant::now();
        let found = self.table.search(&self.search, question, vector, k).await;
        let took = started.elapsed();
        // Any other question would meet the same error.
        let found = found.map_err(|error| TargetError::new(FailureClass::Terminal, error))?;
        let documents = found.into_iter().map(|hit| ReplyDocument {
            id: hit.document,
            score: Some(f64::from(hit.score)),
            title: hit.title,
            text: hit.text,
        });
        Ok(Reply {
            documents: Some(documents.collect()),
            timings: vec![Reply::timing(Reply::STAGE, took)],
            ..Reply::default()
        })
    }
}
