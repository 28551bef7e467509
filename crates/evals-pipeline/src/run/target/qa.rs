//! Question answering by a target: judges and evaluates the answers of its replies.

use anyhow::Result;
use chrono::{DateTime, Utc};
use evals::{CaseReport, Dataset};
use evals_rag::Purpose;
use evals_rag::prices::Prices;
use evals_rag::qa::{self, Qa};
use evals_rag::targets::{self, Conversations, TargetSystem};
use evals_runs::clock;
use evals_targets::{Payment, RecordedTarget, TargetIdentity};
use serde_json::Value;

use super::manifest::of_answers;
use super::preparation::TargetQa;
use super::{Ended, TargetRun};
use crate::batches;
use crate::choices;
use crate::execution::Work;
use crate::finished_run::FinishedRun;
use crate::payments;
use crate::question_answering::labelled::{self, LabelAgreement};
use crate::question_answering::{Attempts, Closing};
use crate::resumption::{self, Opened};
use crate::run_models::user::USER;
use crate::targets::{TargetFacts, priced, with_price};

/// Judges every answer, and prints and writes the results.
pub(super) async fn execute(
    run: TargetRun<'_>,
    models: &TargetQa,
    recorded: &RecordedTarget,
) -> Result<Ended> {
    let TargetRun { plan, prepared, .. } = run;
    let printer = run.session.printer;
    let mut questions = prepared.questions.iter();
    let labels = plan.manifest.labels.as_ref();
    if let Some(labels) = labels {
        labelled::check(labels, &prepared.questions)?;
    }
    if labels.is_none() && questions.all(|question| question.answer.is_none()) {
        printer.warn(&format!(
            "no question of `{}` has a reference answer, so answers are not judged; `--skip-qa` skips them",
            plan.manifest.name
        ));
    }
    let answered = answer(run, models, recorded).await?;
    let text = answered.text(printer)?;
    let gap = if plan.retrieval { "\n" } else { "" };
    printer.result(&format!("{gap}{text}"))?;
    // The retrieval benchmark writes to the files as they were named.
    let files = plan.out.iter().map(|file| {
        if plan.retrieval {
            file.of("qa")
        } else {
            file.clone()
        }
    });
    let files: Vec<_> = files.collect();
    let exit = answered.close(printer, &files, run.interruption.is_interrupted())?;
    Ok(Ended {
        exit,
        settled: answered.is_settled(),
    })
}

/// Asks for and judges the answers that are not finished yet.
async fn answer(
    run: TargetRun<'_>,
    models: &TargetQa,
    recorded: &RecordedTarget,
) -> Result<FinishedRun<Qa>> {
    let TargetRun {
        session,
        arguments,
        plan,
        prepared,
        interruption,
        ..
    } = run;
    let opening = open_folder(run, models, clock::now());
    let mut opened = interruption.guard(opening).await?;
    let prices = choices::prices(&plan.resolved);
    let identity = prepared.target.identity();
    let paid = payments(&opened.finished, models, identity, &prices);
    prepared.spending.resume_cases(paid, &prices);
    let attempts_before = Attempts::so_far(&prepared.traffic);
    let system = prepared.system(plan, recorded);
    system.conversations.resume(&opened.finished);
    let dataset = dataset(run, models, &system.conversations)?;
    let work = Work {
        name: format!("{} ({identity})", plan.qa_name),
        dataset,
        task: targets::qa_task(system),
        metadata: vec![("profile", identity.to_string().into())],
        timeout: Some(choices::case_timeout(&plan.resolved)?.task("the target")),
        doing: "answering".to_owned(),
    };
    let mut answered = run.execution().resume(work, &mut opened).await;
    let checked = prepared.check_ids(session.printer, interruption).await;
    let facts = TargetFacts::of(&answered.report, checked)
        .with_resumed(recorded)
        .with_corpus(plan.manifest.has_documents());
    facts.enter(&mut answered.report, identity)?;
    if !plan.retrieval {
        facts.warn(session.printer);
    }
    let further = batches::fact(&plan.resolved).into_iter();
    let further = further.chain(prepared.unfinished(&answered.report));
    let closing = Closing {
        session,
        model_set: &models.model_set,
        prices: with_price(prices, identity, facts.model.as_deref()),
        seed: arguments.control.seed,
        spending: &prepared.spending,
        traffic: &prepared.traffic,
        attempts_before,
        chosen: prepared.chosen.clone(),
        group_by: &arguments.results.group_by,
        facts: [facts.lines(), further.collect()].concat(),
    };
    closing.close(answered, opened.folder)
}

/// The questions as cases, with their evaluators. Those of a live conversation are a sequence.
fn dataset(
    run: TargetRun<'_>,
    models: &TargetQa,
    conversations: &Conversations,
) -> Result<Dataset<Qa>> {
    let TargetRun { plan, prepared, .. } = run;
    let dataset = qa::dataset(&plan.manifest.name, prepared.questions.iter().cloned())?
        .clustered(plan.manifest.cluster.clone())
        .in_sequences(|case| conversations.sequence(case.as_str()));
    let judging = &models.judging;
    let dataset = judging.add_evaluators(run.session.printer, dataset, &prepared.chosen);
    Ok(match plan.manifest.labels.clone() {
        Some(labels) => dataset.report_evaluator(LabelAgreement(labels)),
        None => dataset,
    })
}

/// What the cases of earlier sessions cost.
fn payments(
    cases: &[CaseReport<Qa>],
    models: &TargetQa,
    target: &TargetIdentity,
    prices: &Prices,
) -> Vec<Payment> {
    let answers = cases.iter().map(|case| {
        let replied = case.attributes.get(TargetSystem::MODEL);
        let model = priced(target, replied.and_then(Value::as_str), prices);
        payments::of_cases([case], Purpose::Answerer, model)
    });
    let judge = models.model_set.models.get("judge");
    let verdicts = judge.map(|judge| payments::of_cases(cases, Purpose::Judge, judge.clone()));
    let user = models.model_set.models.get(USER);
    let messages = user.map(|user| payments::of_cases(cases, Purpose::User, user.clone()));
    answers.chain(verdicts).chain(messages).collect()
}

async fn open_folder(
    run: TargetRun<'_>,
    models: &TargetQa,
    started: DateTime<Utc>,
) -> Result<Opened<Qa>> {
    let record = of_answers(run, models, started)?;
    resumption::open(run.session, &record, started, run.plan.resume).await
}
