//! `evaluations questions`: writes a test set from documents, reviews it, and checks it against changed documents.

mod check;
mod review;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_pipeline::test_set;

use crate::cli::{QuestionsArgs, QuestionsCommand};

pub(super) fn execute(session: &Session<'_>, arguments: &QuestionsArgs) -> Result<Exit> {
    match (&arguments.command, &arguments.write) {
        (Some(QuestionsCommand::Review(review)), _) => review::execute(session, review),
        (Some(QuestionsCommand::Check(check)), _) => check::execute(session, check),
        (Some(QuestionsCommand::Nuggets(nuggets)), _) => {
            test_set::write_nuggets(session, &nuggets.folder, &nuggets.asking)
        }
        (None, Some(write)) => test_set::execute(session, write, &arguments.settings),
        (None, None) => unreachable!("the parser asks for documents where no command is named"),
    }
}
