//! `evaluations datasets export`: writes a dataset's documents or chunks and its questions into a folder.

use anyhow::{Context as _, Result, bail};
use evals_data::{Collection, Export, ExportError, ExportFormat, Exported, check_folder};
use evals_index::Index;
use evals_messages::quantity;
use evals_pipeline::chunked_corpus::ChunkedCorpus;
use evals_pipeline::downloads;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::{Interrupted, Interruption, interruptible};
use evals_pipeline::session::Session;
use evals_runs::shell_word::shell_word;
use futures::StreamExt as _;
use tokio::runtime::Handle;

use crate::cli::{ExportArgs, ExportLayout};

pub(super) fn execute(session: &Session<'_>, arguments: &ExportArgs) -> Result<Exit> {
    let manifest = session.manifest(&arguments.dataset)?;
    let format = format(arguments)?;
    check_folder(&arguments.to)?;
    let settings = &arguments.settings;
    if !arguments.chunks && (!settings.config.is_empty() || !settings.assignments.is_empty()) {
        bail!(
            "settings decide on chunks and vectors alone; add `--chunks`, or leave out `--config` and `--set`"
        );
    }
    let uri = arguments.db.as_deref();
    let corpus = || ChunkedCorpus::new(session, &manifest, settings, uri, arguments.vectors);
    let corpus = arguments.chunks.then(corpus).transpose()?;
    interruptible(session.printer, async |interruption| {
        let opening = Box::pin(async {
            let collection = downloads::fetch(session.printer, &manifest).await?;
            let index = match &corpus {
                Some(corpus) => Some(corpus.index(session, &collection, interruption).await?),
                None => None,
            };
            Ok((collection, index))
        });
        let (collection, index) = match interruption.guard(opening).await {
            Err(error) if error.is::<Interrupted>() => return Ok(Exit::Interrupted),
            opened => opened?,
        };
        // Judgements that are not written need not be right.
        let lenient = arguments.allow_missing_judged || !arguments.with_answers;
        let collection = collection.allow_missing_judged(lenient);
        match write(arguments.clone(), format, collection, index, interruption).await? {
            Ok(exported) => {
                session.printer.note(&summary(arguments, exported));
                Ok(Exit::Done)
            }
            Err(ExportError::Stopped) => {
                session.printer.note("interrupted; nothing was written");
                Ok(Exit::Interrupted)
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// The format of the files. Refuses one that documents or chunks do not have.
fn format(arguments: &ExportArgs) -> Result<ExportFormat> {
    let format = match arguments.format {
        ExportLayout::Jsonl => return Ok(ExportFormat::JsonLines),
        ExportLayout::Parquet => return Ok(ExportFormat::Parquet),
        ExportLayout::Text if arguments.chunks => {
            bail!("`--format text` writes documents; leave out `--chunks`, or use `--format jsonl`")
        }
        ExportLayout::Text => return Ok(ExportFormat::Text),
        ExportLayout::Vespa => ExportFormat::Vespa,
        ExportLayout::Opensearch => ExportFormat::OpenSearch,
        ExportLayout::Qdrant => ExportFormat::Qdrant,
        ExportLayout::Weaviate => ExportFormat::Weaviate,
        ExportLayout::Sql => ExportFormat::Sql,
    };
    if !arguments.chunks {
        bail!("this `--format` is for chunks; add `--chunks`, or use `--format jsonl`");
    }
    Ok(format)
}

/// Writes the files on another thread, because it reads the whole corpus, and this thread has to notice an interruption.
async fn write(
    arguments: ExportArgs,
    format: ExportFormat,
    collection: Collection,
    index: Option<Index>,
    interruption: &Interruption,
) -> Result<Result<Exported, ExportError>> {
    let export = Export {
        format,
        with_answers: arguments.with_answers,
        questions_only: arguments.questions_only,
    };
    let (watched, runtime) = (interruption.clone(), Handle::current());
    let work = move || {
        let keep_going = || !watched.is_interrupted();
        let Some(index) = index else {
            return collection.export(&arguments.to, export, &keep_going);
        };
        let chunks = runtime.block_on(index.chunks(arguments.vectors));
        let mut chunks = Box::pin(chunks.map_err(|error| ExportError::Chunks(error.into()))?);
        let chunks = std::iter::from_fn(|| {
            let next = runtime.block_on(chunks.next())?;
            Some(next.map_err(Into::into))
        });
        let embedder = index.identity().embedder();
        let dimension = embedder
            .filter(|_| arguments.vectors)
            .map(|it| it.dimension);
        collection.export_chunks(&arguments.to, export, dimension, chunks, &keep_going)
    };
    tokio::task::spawn_blocking(work)
        .await
        .context("the task that writes the files was cancelled")
}

fn summary(arguments: &ExportArgs, exported: Exported) -> String {
    let folder = arguments.to.display();
    let questions = quantity::of(exported.questions, "question");
    let written = if arguments.questions_only {
        questions
    } else if arguments.chunks {
        let vectors = if arguments.vectors {
            " with vectors"
        } else {
            ""
        };
        let chunks = quantity::of(exported.chunks, "chunk");
        format!("{chunks}{vectors} and {questions}")
    } else {
        let documents = quantity::of(exported.documents, "document");
        format!("{documents} and {questions}")
    };
    let answers = if arguments.with_answers {
        " with answers"
    } else {
        ""
    };
    let run = if exported.has_manifest {
        format!(
            "; `evaluations run {}` runs it",
            shell_word(&arguments.to.join("dataset.yaml").to_string_lossy())
        )
    } else {
        String::new()
    };
    format!("wrote {written}{answers} to {folder}{run}")
}
