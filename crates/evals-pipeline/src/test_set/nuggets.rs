//! `evaluations questions nuggets FOLDER`: writes the facts of good answers into a test set, so that every run is judged by the same ones.

use std::path::Path;

use anyhow::{Result, bail};
use evals_data::Manifest;
use evals_messages::quantity;
use evals_questions::review::current;
use evals_questions::{Check, Item, SetFolder};
use evals_rag::judging::{JudgeFailure, Panel};
use evals_rag::rag_judges::NuggetBank;
use evals_runs::clock::{now, timestamp};

use crate::asking::Asking;
use crate::exit::Exit;
use crate::interruption::{Interruption, interruptible};
use crate::options::AskingArgs;
use crate::run_models::Prompts;
use crate::session::Session;

/// Has a judge list the facts of the answers that have none yet, and rewrites the questions with them.
///
/// # Errors
///
/// If the set cannot be read or written, its manifest does not name the column, or the settings or the model are unusable.
pub fn write_nuggets(session: &Session<'_>, folder: &Path, arguments: &AskingArgs) -> Result<Exit> {
    let manifest = folder.join(Manifest::FILE);
    let columns = Manifest::read(&manifest)?.questions.columns;
    if columns.nuggets.is_none() {
        bail!(
            "`{}` does not read facts; add `nuggets: nuggets` to its `questions`",
            manifest.display()
        );
    }
    interruptible(session.printer, async |interruption| {
        let folder = SetFolder::new(folder);
        Box::pin(list(session, &folder, arguments, interruption)).await
    })
}

async fn list(
    session: &Session<'_>,
    folder: &SetFolder,
    arguments: &AskingArgs,
    interruption: &Interruption,
) -> Result<Exit> {
    let printer = session.printer;
    let before = folder.questions()?;
    let wanted = wanted(folder, &before)?;
    if wanted.is_empty() {
        printer.note("every answer of the set has its facts");
        return Ok(Exit::Done);
    }
    let asking = Asking::open(session, arguments, interruption);
    let Some(asking) = asking.await? else {
        bail!(
            "no language model lists facts; add `--judge PROVIDER:NAME` or set `evaluations.judge`"
        );
    };
    let prompts = Prompts::find(&session.directories, &asking.resolved.settings.prompts)?.judges;
    let prompt = &prompts.nuggets;
    if arguments.estimate {
        let requests = wanted.iter();
        let requests =
            requests.map(|(_, question, text)| NuggetBank::request(question, text, prompt));
        let requests = requests.collect::<Result<Vec<_>, _>>()?;
        printer.result(&asking.estimate("listing facts with", &requests))?;
        return Ok(Exit::Done);
    }
    let panel = Panel::new(asking.model.clone(), asking.max_tokens);
    let ask = async |(place, question, text): Wanted| {
        let mut calls = Vec::new();
        let listed = NuggetBank::list(&question, &text, prompt, &panel, &mut calls);
        Ok::<_, JudgeFailure>((place, listed.await?))
    };
    let (mut items, mut facts) = (before.clone(), 0);
    let asked = asking.ask(("facts", "answer"), wanted, ask, |(place, nuggets)| {
        facts += nuggets.len();
        items[place].nuggets = nuggets;
        Ok(())
    });
    let problems = asked.await?;
    if items != before {
        let check = Check {
            updated: items,
            ..Check::default()
        };
        folder.lock()?.update(&before, &check, &timestamp(now()))?;
    }
    let facts = quantity::of(facts, "fact");
    printer.note(&format!(
        "wrote {facts} to questions.jsonl; edit them there"
    ));
    Ok(asking.end(&problems))
}

/// The place of a question without facts, its text, and the text that has the facts.
type Wanted = (usize, String, String);

/// The questions without facts that have an answer, with the edits of people, and without those that people dropped.
fn wanted(folder: &SetFolder, items: &[Item]) -> Result<Vec<Wanted>> {
    let reviews = folder.reviews()?;
    let reviews = current(&reviews);
    let open = items.iter().enumerate();
    let open = open.filter(|(_, item)| item.nuggets.is_empty() && item.is_answerable());
    let wanted = open.filter_map(|(place, item)| {
        let (mut question, mut answer) = (item.question.clone(), Some(item.answer.clone()));
        let review = reviews.get(item.id.as_str());
        let stays = review.is_none_or(|review| review.apply(&mut question, &mut answer));
        match NuggetBank::of(&[], answer.as_deref(), &item.evidence) {
            Some(NuggetBank::In(text)) if stays => Some((place, question, text.into_owned())),
            _ => None,
        }
    });
    Ok(wanted.collect())
}
