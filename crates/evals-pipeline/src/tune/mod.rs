//! `evaluations tune`: looks for better settings, and says how much of the gain is luck.
//!
//! `evals-tune` decides what is measured next and what the answers mean. Each of its trials is an ordinary run here, so that indexes, caches,
//! budgets and pages are those of `run`, and `compare` and `view` know the trials.

mod idle;
mod limits;
mod objective;
mod plan;
mod report;
mod simulation;
mod trial;

use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use evals_messages::quantity;
use evals_pages::results::{check_out, show};
use evals_runs::atomic_file::write_atomically;
use evals_runs::run_folder::RunFolder;
use evals_runs::run_record::SelectionRecord;
use evals_runs::stored_runs::{StoredRun, is_finished};
use evals_runs::tunings::{Lock, Record, Trial as RecordedTrial};
use evals_settings::{SettingsFile, Tune};
use evals_terminal::progress;
use evals_tune::{Answered, Budget, OWN, Options, Question, Step, Trial, Tuning};

pub use self::plan::short_name;

use self::plan::{Asked, Plan};
use self::report::Tuned;
use self::trial::Measured;
use crate::exit::Exit;
use crate::interruption::{Interrupted, interruptible};
use crate::options::{SettingsArgs, TuneArgs};
use crate::session::Session;

/// The file of better settings, in the working folder.
const BEST: &str = "best.yaml";
/// Its first line.
const WRITTEN: &str = "# Written by `evaluations tune`: the settings that differ from yours.\n";

/// Looks for better settings.
///
/// # Errors
///
/// If the dataset, the settings or the space are unusable, the user's own settings fail, or results cannot be written.
pub fn execute(session: &Session<'_>, arguments: &TuneArgs) -> Result<Exit> {
    check_out(&arguments.run.results.out)?;
    let plan = Plan::new(session, arguments)?;
    let mut read = None;
    let exit = interruptible(session.printer, async |interruption| {
        read = Some(Box::pin(plan.questions(session, interruption)).await?);
        Ok(Exit::Done)
    })?;
    let Some((asked, digest)) = read else {
        return Ok(exit);
    };
    let tuning = tuning(&plan, &asked)?;
    if arguments.simulate {
        session
            .printer
            .result(&simulation::text(session.printer, &plan, &tuning, &asked)?)?;
        return Ok(Exit::Done);
    }
    if arguments.run.judging.estimate {
        return estimate(session, &plan, &tuning, &asked);
    }
    check_best(session)?;
    let dataset = &plan.manifest.name;
    let _lock = Lock::take(&session.directories, &digest)?;
    let record = Record::open(&session.directories, dataset, &digest)?;
    let mut course = Course {
        session,
        plan: &plan,
        asked: &asked,
        tuning,
        record,
        runs: Vec::new(),
        spent: 0.0,
    };
    match course.run() {
        Err(error) if error.is::<Interrupted>() => {
            session
                .printer
                .note("interrupted; run the same command again to resume");
            return Ok(Exit::Interrupted);
        }
        ended => ended?,
    }
    course.finish(arguments)
}

fn tuning(plan: &Plan, asked: &[Asked]) -> Result<Tuning> {
    let questions = asked.iter().map(|it| Question {
        cluster: it.cluster.clone(),
        conversation: it.conversation.clone(),
    });
    let questions: Vec<Question> = questions.collect();
    let options = Options {
        trials: plan.tune.trials.get(),
        hold_out: plan.tune.holdout,
        limits: plan.limits.clone(),
        budget: Budget {
            usd: plan.budget(),
            seconds: plan.tune.budget.time.map(|it| it.0),
        },
        seed: plan.arguments.control.seed,
        ..Options::default()
    };
    Ok(Tuning::new(
        plan.space.clone(),
        plan.own.clone(),
        &questions,
        options,
    )?)
}

/// Prints what one of the settings would cost, and how many there are.
fn estimate(session: &Session<'_>, plan: &Plan, tuning: &Tuning, asked: &[Asked]) -> Result<Exit> {
    session.printer.result(&format!(
        "{} settings beside yours, over {} to search with and {} held out.\nA race of equal settings asks about a quarter of all \
         questions of all settings: {} answers here.\nHow long one takes is known after the first trial; `budget: {{time: 30m}}` ends a \
         search in time.\n",
        plan.others(),
        quantity::of(tuning.split().search.len(), "question"),
        tuning.split().held_out.len(),
        (plan.others() + 1) * asked.len() / 4,
    ))?;
    if plan.arguments.stages.skip_qa {
        session
            .printer
            .result("A rank measure needs neither an answering model nor a judge.\n")?;
        return Ok(Exit::Done);
    }
    session.printer.result(&format!(
        "One of the settings over all {} questions:\n\n",
        asked.len()
    ))?;
    let mut arguments = plan.arguments.clone();
    arguments.judging.estimate = true;
    let mut resolved = crate::run::resolve(session, &arguments, &plan.manifest)?;
    resolved.settings.matrix.clear();
    resolved.settings.tune = Tune::default();
    crate::run::one(session, &arguments, plan.manifest.clone(), resolved)
}

/// A tuning with what was measured so far.
struct Course<'c> {
    session: &'c Session<'c>,
    plan: &'c Plan,
    asked: &'c [Asked],
    tuning: Tuning,
    record: Record,
    /// The number of the candidate and the name of the run of each trial.
    runs: Vec<(usize, String)>,
    /// What the trials cost so far, in USD.
    spent: f64,
}

impl Course<'_> {
    /// Runs all trials. It asks after each what is next, because the budget may end the search.
    fn run(&mut self) -> Result<()> {
        self.open();
        let bar = progress::of_items(self.session.printer, "tuning");
        bar.reset();
        while let Step::Measure(trials) = self.tuning.next_step() {
            let Some(trial) = trials.first() else { break };
            bar.set_length(bar.position() + trials.len() as u64);
            bar.set_message(self.plan.label(self.tuning.candidate(trial.candidate)));
            let is_held_out =
                |question: &usize| self.tuning.split().held_out.binary_search(question).is_ok();
            if trial.questions.iter().any(is_held_out) {
                let held_out = self.held_out();
                self.record.use_held_out(&held_out)?;
            }
            self.measure(trial)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Says what is about to run.
    fn open(&self) {
        let printer = self.session.printer;
        if self.record.is_begun() {
            printer.note("resuming: trials that are finished count as they are");
        }
        let split = self.tuning.split();
        printer.note(&format!(
            "tuning {} on {}: {} to search with, {} held out",
            self.plan.objective,
            self.plan.manifest.name,
            quantity::of(split.search.len(), "question"),
            split.held_out.len()
        ));
    }

    /// The digest of the held-out questions.
    fn held_out(&self) -> String {
        SelectionRecord::digest(&self.ids(&self.tuning.split().held_out))
    }

    fn ids(&self, questions: &[usize]) -> Vec<String> {
        let mut questions = questions.to_vec();
        questions.sort_unstable();
        questions
            .into_iter()
            .map(|it| self.asked[it].id.clone())
            .collect()
    }

    /// Runs one trial, unless it was finished before, and tells the search what it found.
    fn measure(&mut self, trial: &Trial) -> Result<()> {
        let ids = self.ids(&trial.questions);
        let candidate = self.tuning.candidate(trial.candidate).clone();
        let (settings, questions) = (self.plan.label(&candidate), SelectionRecord::digest(&ids));
        let known = self.record.trial(&settings, &questions);
        let known = known.and_then(|it| Some((self.stored(&it.run)?, it.seconds)));
        let (is_new, began) = (known.is_none(), Instant::now());
        let measured = if let Some((run, seconds)) = known {
            Measured::of(&run, &self.plan.objective).map(|it| (it, seconds))
        } else {
            let budget = self.plan.budget().map(|usd| usd - self.spent);
            let run = trial::run(self.session, self.plan, &candidate, &ids, budget);
            let measured = run.and_then(|run| Measured::of(&run, &self.plan.objective));
            measured.map(|it| (it, began.elapsed().as_secs_f64()))
        };
        let (measured, seconds) = match measured {
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) if trial.candidate == OWN => {
                return Err(error.context("your own settings fail"));
            }
            Err(error) => {
                let reason = evals_messages::chain(error.as_ref());
                let warning = format!("`{settings}` is out of the search: {reason}");
                self.session.printer.warn(&warning);
                self.tuning.drop(trial.candidate, reason);
                return Ok(());
            }
            Ok(measured) => measured,
        };
        if is_new && measured.is_finished {
            self.record.add(RecordedTrial {
                settings,
                questions,
                run: measured.run.clone(),
                seconds,
            })?;
        }
        self.tell(trial, measured, seconds);
        Ok(())
    }

    /// Tells the search what a trial measured.
    fn tell(&mut self, trial: &Trial, measured: Measured, seconds: f64) {
        self.spent += measured.spent;
        self.tuning.spend(measured.spent, seconds);
        let mut answers = measured.answers;
        for place in &trial.questions {
            let answered = answers.remove(&self.asked[*place].id);
            let answered = answered.unwrap_or_else(|| Answered {
                value: Err(measured.unasked.clone()),
                latency: None,
                cost: None,
            });
            self.tuning.record(trial.candidate, *place, answered);
        }
        self.runs.push((trial.candidate, measured.run));
    }

    /// The finished run of an earlier trial; `None` if somebody deleted it.
    fn stored(&self, name: &str) -> Option<StoredRun> {
        let folder = RunFolder::open(&self.session.directories.runs().join(name))?;
        let run = StoredRun::of_folder(folder).ok()?;
        is_finished(run.state()).then_some(run)
    }

    /// The runs of a candidate.
    fn runs_of(&self, candidate: usize) -> Vec<String> {
        let own = self.runs.iter().filter(|(of, _)| *of == candidate);
        own.map(|(_, run)| run.clone()).collect()
    }

    /// Prints and writes the result.
    fn finish(&self, arguments: &TuneArgs) -> Result<Exit> {
        let tuned = Tuned::of(self)?;
        let printer = self.session.printer;
        show(printer, &tuned, false, &arguments.run.results.out)?;
        if let Some(best) = tuned.best() {
            let path = self.session.directories.working.join(BEST);
            let text = format!("{WRITTEN}{best}");
            write_atomically(&path, |file| file.write_all(text.as_bytes()))
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            let own = files_of(self.session, &arguments.run.settings);
            printer.note(&format!("use them with `{own}--config {}`", path.display()));
        }
        Ok(if tuned.has_verdict() {
            Exit::Done
        } else {
            Exit::CheckFailed
        })
    }
}

/// The options that name the user's settings files, which better settings are merged into.
fn files_of(session: &Session<'_>, arguments: &SettingsArgs) -> String {
    let directories = &session.directories;
    let mut files = arguments.config.clone();
    if files.is_empty() {
        files.extend(SettingsFile::discover(
            &directories.working,
            &directories.config,
        ));
    }
    let options = files.iter().map(|it| format!("--config {} ", it.display()));
    options.collect()
}

/// Refuses to overwrite a file of the user's.
fn check_best(session: &Session<'_>) -> Result<()> {
    let path = session.directories.working.join(BEST);
    match std::fs::read_to_string(&path) {
        Ok(text) if !text.starts_with(WRITTEN) => bail!(
            "`{}` was not written by `evaluations tune`, which would overwrite it; move it away",
            path.display()
        ),
        _ => Ok(()),
    }
}
