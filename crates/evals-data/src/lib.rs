//! Datasets: manifests that say where documents, questions and judgements are, and the catalog that finds them.
//!
//! ```
//! use evals_data::{Catalog, Source};
//!
//! let manifest = Catalog::new(["./datasets"]).find("repliqa")?;
//! assert!(matches!(&manifest.documents.source, Source::Hub { repo, .. } if repo == "ServiceNow/repliqa"));
//! # Ok::<(), evals_data::CatalogError>(())
//! ```

mod catalog;
mod manifest;
mod nearest;

pub use catalog::{Catalog, CatalogError};
pub use manifest::{
    Column, ColumnError, Deduplicate, DocumentColumns, Filter, JudgementColumns, Manifest, ManifestError, Origin,
    QuestionColumns, RetrievalDefaults, Size, Source, Table,
};
