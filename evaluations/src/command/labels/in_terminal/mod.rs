//! `evaluations labels RUN --in-terminal`: a person labels answers on a terminal, one key each, and does not see what the judge said.

mod key;
mod keys;
mod note;
mod screen;
mod work;

use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};
use tokio::task::block_in_place;

use self::keys::Keys;
use self::screen::Screen;
use self::work::Work;
use crate::annotations::{
    LabelFile, Labelling, RunAnswers, USUAL_SAMPLE, checked_labeller, user_name,
};
use crate::cli::LabelsArgs;
use crate::exit::Exit;
use crate::interruption::interruptible;
use crate::session::Session;

/// Labels until the person quits, every answer has a label, or a signal comes. Each label is stored at once.
pub(super) fn label(
    session: &Session<'_>,
    arguments: &LabelsArgs,
    run: &RunAnswers,
    file: &LabelFile,
) -> Result<Exit> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        bail!(
            "`--in-terminal` reads keys and shows answers, so stdin and stdout have to be a terminal; `--export FILE.csv` writes the answers for a spreadsheet"
        );
    }
    let labeller = arguments.labeller.clone().or_else(user_name);
    let Some(labeller) = labeller else {
        bail!("this machine does not name its user; pass `--labeller NAME`");
    };
    let size = arguments.sample.map_or(USUAL_SAMPLE, Into::into);
    let labelling = Labelling {
        run,
        file,
        labeller: checked_labeller(&labeller)?,
        sample: super::sample(arguments, run, Some(size))?,
    };
    let queue = labelling.queue()?;
    if queue.is_empty() {
        bail!("run `{}` has no answer to label", run.run);
    }
    let is_colored = session.printer.color();
    let ending = interruptible(session.printer, async |interruption| {
        block_in_place(|| {
            let keys = Keys::new(interruption)?;
            Work::new(labelling, queue, Screen::new(is_colored), keys).run()
        })
    })?;
    Ok(ending)
}
