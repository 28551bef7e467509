//! `evaluations datasets export`: writes a dataset's documents and questions into a folder.

use anyhow::{Context as _, Result};
use evals_data::{Export, ExportError, ExportFormat, Exported};
use evals_messages::quantity;
use evals_pipeline::downloads;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::{Interrupted, interruptible};
use evals_pipeline::session::Session;
use evals_runs::shell_word::shell_word;

use crate::cli::{ExportArgs, ExportLayout};

pub(super) fn execute(session: &Session<'_>, arguments: &ExportArgs) -> Result<Exit> {
    let manifest = session.manifest(&arguments.dataset)?;
    let export = Export {
        format: match arguments.format {
            ExportLayout::Jsonl => ExportFormat::JsonLines,
            ExportLayout::Parquet => ExportFormat::Parquet,
            ExportLayout::Text => ExportFormat::Text,
        },
        with_answers: arguments.with_answers,
        questions_only: arguments.questions_only,
    };
    interruptible(session.printer, async |interruption| {
        let fetching = downloads::fetch(session.printer, &manifest);
        let collection = match interruption.guard(fetching).await {
            Err(error) if error.is::<Interrupted>() => return Ok(Exit::Interrupted),
            fetched => fetched?,
        };
        // Judgements that are not written need not be right.
        let lenient = arguments.allow_missing_judged || !arguments.with_answers;
        let collection = collection.allow_missing_judged(lenient);
        let folder = arguments.to.clone();
        let watched = interruption.clone();
        // On another thread, because it reads the whole corpus, and this thread has to notice an interruption.
        let exported = tokio::task::spawn_blocking(move || {
            collection.export(&folder, export, &|| !watched.is_interrupted())
        })
        .await
        .context("the task that writes the files was cancelled")?;
        match exported {
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

fn summary(arguments: &ExportArgs, exported: Exported) -> String {
    let folder = arguments.to.display();
    let questions = quantity::of(exported.questions, "question");
    let written = if arguments.questions_only {
        questions
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
