//! The answers of a run, as people label them and as its judge saw them.

use anyhow::{Result, bail};
use evals::{CaseId, CaseReport, Domain, EvaluatorIdentity, Report, Value};
use evals_evaluators::Untyped;
use evals_rag::Prompt;
use evals_rag::qa::{Equivalence, Qa, Reference};
use serde::Serialize;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::judge::{Measures, WantedMeasure, criterion, evaluator};
use super::label::Digests;
use crate::judged_by::{JudgeRecord, JudgeRecords};
use crate::run_folder::RunFolder;
use crate::stored_runs::{StoredReport, StoredRun};

/// What a person decides about an answer to a question with a reference.
const EQUIVALENT: &str =
    "Does the answer say what the reference says? More detail is no fault, a contradiction is.";
/// The same for a question that the corpus does not answer.
const REFUSED: &str =
    "The documents do not answer this question. Only an answer that says so passes.";
/// The same for any other output.
const RIGHT: &str = "Is the output right?";

/// The answers of a run.
#[derive(Debug)]
pub(crate) struct RunAnswers {
    /// The name of the run's folder.
    pub(crate) run: String,
    /// The measure whose verdicts labels are compared with; `None` if the run has no judge.
    pub(crate) measure: Option<String>,
    /// The measures of judges that labels may be given for.
    pub(crate) judges: Vec<String>,
    /// The judge's model, as the manifest names it.
    pub(crate) judge: Option<String>,
    /// Who judged the measure; `None` if the run has no judge, or is of a version that did not record it.
    pub(crate) judged_by: Option<JudgeRecord>,
    /// In the order of the dataset.
    pub(crate) answers: Vec<JudgedAnswer>,
    /// How many cases have no answer, because they failed.
    pub(crate) failed: usize,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgedAnswer {
    pub(crate) id: CaseId,
    pub(crate) repeat: u32,
    /// What to decide about the answer.
    pub(crate) criterion: String,
    pub(crate) question: String,
    pub(crate) reference: Option<String>,
    pub(crate) answer: String,
    pub(crate) passages: Vec<ShownPassage>,
    /// Whether the judge passes it; `None` if the judge has no verdict.
    pub(crate) verdict: Option<bool>,
    /// The judge's reason.
    pub(crate) reason: Option<String>,
    pub(crate) digests: Digests,
}

/// A passage that the answerer saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ShownPassage {
    pub(crate) document: String,
    pub(crate) text: String,
}

/// The texts of a case that people see.
pub(crate) struct Texts {
    criterion: &'static str,
    /// Whether the corpus holds the answer.
    answerable: bool,
    question: String,
    reference: Option<String>,
    answer: String,
    passages: Vec<ShownPassage>,
}

/// A domain whose outputs people can label.
pub(crate) trait Answers: Domain {
    /// The measure of the benchmark's own judge.
    const JUDGED: Option<&'static str>;

    /// The texts of a case; `None` if the task failed.
    fn texts(case: &CaseReport<Self>) -> Option<Texts>;
}

impl Answers for Qa {
    const JUDGED: Option<&'static str> = Some(Equivalence::OUTCOME);

    fn texts(case: &CaseReport<Self>) -> Option<Texts> {
        let answer = case.result.output()?;
        let expected = case.expected.as_ref();
        let passages = answer.passages.iter().map(|passage| ShownPassage {
            document: passage.document.clone(),
            text: passage.text.clone(),
        });
        let answerable = expected.is_none_or(|expected| expected.answerable);
        Some(Texts {
            criterion: if answerable { EQUIVALENT } else { REFUSED },
            answerable,
            question: case.input.clone(),
            reference: Reference::for_judge(expected).ok().map(str::to_owned),
            answer: answer.text.clone(),
            passages: passages.collect(),
        })
    }
}

impl Answers for Untyped {
    const JUDGED: Option<&'static str> = None;

    fn texts(case: &CaseReport<Self>) -> Option<Texts> {
        Some(Texts {
            criterion: RIGHT,
            answerable: true,
            question: written(&case.input),
            reference: case.expected.as_ref().map(written),
            answer: written(case.result.output()?),
            passages: Vec::new(),
        })
    }
}

impl RunAnswers {
    /// Reads the answers of a run.
    pub(crate) fn read(run: &StoredRun, measure: WantedMeasure<'_>) -> Result<Self> {
        let folder = run.folder("names the judge, and beside which labels are kept")?;
        let manifest: Json = folder.read_manifest()?;
        match run.report()? {
            StoredReport::Qa(report) => Self::of(folder, &report, &manifest, measure),
            StoredReport::Eval(report) => Self::of(folder, &report, &manifest, measure),
            StoredReport::Retrieval(_) => bail!(
                "run `{}` is a retrieval run; labels are verdicts about answers, so choose a run of question answering or of a dataset file",
                run.name()
            ),
        }
    }

    /// The answers of a report, whose run has this manifest.
    pub(crate) fn of<D: Answers>(
        folder: &RunFolder,
        report: &Report<D>,
        manifest: &Json,
        measure: WantedMeasure<'_>,
    ) -> Result<Self> {
        let run = folder.name();
        let measures = Measures::of(report);
        let measure = measures.choose(&run, measure, D::JUDGED)?;
        let judge = Judge::of(report, manifest, measure.as_deref())?;
        let answers: Vec<JudgedAnswer> = report
            .cases
            .iter()
            .filter_map(|case| Some(judge.answer(case, D::texts(case)?)))
            .collect();
        Ok(Self {
            run,
            judges: measures.judges().cloned().collect(),
            judge: measure.as_ref().and_then(|_| judge.name()),
            judged_by: judge.record,
            failed: report.cases.len() - answers.len(),
            measure,
            answers,
        })
    }

    /// The answer of a repetition of a case.
    pub(crate) fn find(&self, id: &str, repeat: u32) -> Option<&JudgedAnswer> {
        Some(&self.answers[self.place(id, repeat)?])
    }

    /// The place of the answer of a repetition of a case.
    pub(crate) fn place(&self, id: &str, repeat: u32) -> Option<usize> {
        let mut answers = self.answers.iter();
        answers.position(|answer| answer.id.as_str() == id && answer.repeat == repeat)
    }
}

/// The judge of a run.
struct Judge<'r, D: Domain> {
    report: &'r Report<D>,
    measure: Option<&'r str>,
    /// Who judged; `None` if the report does not say it.
    record: Option<JudgeRecord>,
    /// What a report without the record says about its judge.
    unrecorded: Unrecorded,
}

/// The judge of a report of a version that did not record who judged. Its labels are about these facts.
struct Unrecorded {
    /// The models and their parameters by role.
    models: Json,
    /// Digest of the prompt template in question answering.
    prompt: Option<String>,
}

impl Unrecorded {
    fn of<D: Answers>(manifest: &Json) -> Self {
        let of_judge = |section: &str| -> Json {
            let roles = manifest[section].as_object();
            let judges = roles.into_iter().flatten();
            let judges = judges.filter(|(role, _)| is_judge(role));
            judges
                .map(|(role, value)| (role.clone(), value.clone()))
                .collect()
        };
        let prompt = manifest["prompts"][Prompt::judge().name()].as_str();
        Self {
            models: json!({"models": of_judge("models"), "parameters": of_judge("parameters")}),
            prompt: prompt.filter(|_| D::JUDGED.is_some()).map(str::to_owned),
        }
    }
}

impl<'r, D: Answers> Judge<'r, D> {
    fn of(report: &'r Report<D>, manifest: &Json, measure: Option<&'r str>) -> Result<Self> {
        let records = JudgeRecords::read(&report.metadata)?;
        let record = records.as_ref().zip(measure);
        let record = record.map(|(records, measure)| records.by(measure));
        Ok(Self {
            report,
            measure,
            record,
            unrecorded: Unrecorded::of::<D>(manifest),
        })
    }

    /// The models, such as `openai:gpt-5-mini`.
    fn name(&self) -> Option<String> {
        if let Some(record) = &self.record {
            return record.name();
        }
        let models = self.unrecorded.models["models"].as_object()?.values();
        let names = models.filter_map(|model| {
            let [provider, name] = ["provider", "name"].map(|key| model[key].as_str());
            Some(format!("{}:{}", provider?, name?))
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The digests of the judge's prompts, and of the judge with what it is asked.
    fn digests(&self, evaluator: Option<&EvaluatorIdentity>) -> [Option<String>; 2] {
        let version = evaluator.and_then(|it| it.version.as_deref());
        let spec = evaluator.and_then(|it| it.spec.as_ref());
        let version = || version.map(|version| digest(&version));
        match (&self.record, self.measure) {
            (_, None) => [None, None],
            (Some(record), Some(measure)) => [
                record.digest_of_prompts().or_else(version),
                Some(digest(&(measure, record.digest_of_panel(), spec))),
            ],
            (None, Some(measure)) => {
                let Unrecorded { models, prompt } = &self.unrecorded;
                [
                    prompt.clone().or_else(version),
                    Some(digest(&(measure, models, spec))),
                ]
            }
        }
    }

    fn answer(&self, case: &CaseReport<D>, texts: Texts) -> JudgedAnswer {
        let outcome = self.measure.and_then(|measure| case.outcome(measure));
        let evaluator =
            outcome.and_then(|it| evaluator(self.report, case, it.origin, &it.evaluator));
        let verdict = outcome.and_then(|outcome| match outcome.value {
            Value::Assertion(passed) => Some(passed),
            Value::Score(_) | Value::Label(_) | Value::Undefined => None,
        });
        let [prompt, judge] = self.digests(evaluator);
        JudgedAnswer {
            id: case.id.clone(),
            repeat: case.repeat,
            digests: Digests {
                case: digest(&(&texts.question, &texts.reference, texts.answerable)),
                answer: digest(&texts.answer),
                prompt,
                judge,
            },
            criterion: evaluator
                .and_then(criterion)
                .unwrap_or_else(|| texts.criterion.to_owned()),
            question: texts.question,
            reference: texts.reference,
            answer: texts.answer,
            passages: texts.passages,
            reason: verdict.and_then(|_| outcome?.reason.clone()),
            verdict,
        }
    }
}

/// Whether a role of a manifest is a judge's: `judge`, or `judge PROVIDER:NAME` beside the first.
fn is_judge(role: &str) -> bool {
    role == "judge" || role.starts_with("judge ")
}

/// Returns a text unchanged, and any other value as JSON.
fn written(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(_) | Json::Array(_) => format!("{value:#}"),
        other => other.to_string(),
    }
}

/// SHA-256 of a value as JSON with sorted keys, in hexadecimal.
fn digest(value: &impl Serialize) -> String {
    let mut json = serde_json::to_value(value).expect("texts and JSON values serialise");
    json.sort_all_objects();
    hex::encode(Sha256::digest(json.to_string()))
}
