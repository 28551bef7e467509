//! Datasets: from a manifest to documents and questions.
//!
//! A [`Manifest`] says where a dataset's tables are and what their columns mean; the [`Catalog`] finds manifests by name. A [`Hub`]
//! downloads the files and verifies them. The [`Collection`] reads them: parquet, JSON Lines and CSV. [`Documents`] streams a corpus of
//! any size; only the questions and 32 bytes for each document id stay in memory.
//!
//! ```
//! use evals_data::{Collection, Hub, HubSettings, Manifest, Origin};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("rows.csv"), "id,text,question\n1,The sun is a star.,What is the sun?\n")?;
//! let manifest = Manifest::parse(
//!     "name: tiny
//! source: {path: rows.csv}
//! documents: {uri: id, text: text}
//! questions: {text: question, relevant: id}
//! ",
//!     Origin::File(folder.path().join("tiny.yaml")),
//! )?;
//! let hub = Hub::new(HubSettings::from_env());
//! let collection = Collection::resolve(&manifest, &hub, &()).await?;
//! let documents = collection.documents()?.collect::<Result<Vec<_>, _>>()?;
//! let questions = collection.questions()?.questions;
//! assert_eq!(documents[0].text, "The sun is a star.");
//! assert_eq!((questions[0].id.as_str(), questions[0].relevant.grade("1")), ("q-1c2112684ee8", Some(1)));
//! # Ok(())
//! # }
//! ```

mod availability;
mod catalog;
mod collection;
mod error;
mod export;
#[doc(hidden)]
pub mod foreign;
mod format;
mod hub;
mod manifest;
mod parquet_footer;
mod provenance;
mod reader;

pub use availability::Availability;
pub use catalog::{Catalog, CatalogError};
pub use collection::{
    Collection, DocumentCounts, DocumentTally, Documents, QuestionCounts, Questions,
};
pub use error::{DataError, Place, Unit, UnknownDocument};
pub use export::{BoxedError, Export, ExportError, ExportFormat, Exported, check_folder};
pub use hub::{
    Damage, DownloadEvent, DownloadObserver, FetchedFile, Greeting, Hub, HubError, HubFiles,
    HubSettings, HubWarning, Repository, RetryPolicy, Token, TransportError,
};
pub use manifest::{
    Column, ColumnError, Deduplicate, DocumentColumns, Filter, JudgementColumns, LabelError,
    Labels, Manifest, ManifestError, Origin, QuestionColumns, RetrievalDefaults, Size, Source,
    Table,
};
pub use provenance::{FileProvenance, Provenance, TableProvenance};
pub use reader::parquet_objects;
