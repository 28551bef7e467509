//! A case as its page shows it.

use serde::Serialize;

/// One case with all of its runs. In the file, passages are numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Case<P = Passage> {
    /// The case's id.
    pub id: String,
    /// What is the same in every run: question, reference, facts.
    pub fields: Vec<Field>,
    /// The turns of the conversation that the case belongs to, itself among them: their numbers, and the ids of their cases on the page. Empty
    /// for a case by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<(u64, String)>,
    /// The runs of the case: one for each repetition, of each side of a comparison.
    pub runs: Vec<Run<P>>,
    /// What a comparison says about the case, such as `same answer, other verdict`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A named text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// The name, such as `question`.
    pub name: String,
    /// The text, with its line breaks.
    pub text: String,
    /// What it is to the case.
    pub role: FieldRole,
}

/// What a field is to its case. A page shows the answer against the reference, word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldRole {
    /// What was asked.
    Question,
    /// The reference answer or expected output.
    Reference,
    /// What the system answered.
    Answer,
    /// Anything else.
    Other,
}

/// One run of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Run<P = Passage> {
    /// Which side of a comparison it belongs to; `None` on other pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The name of the system on a page of several, such as a search profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The number of the repetition, from 1.
    pub repeat: u32,
    /// Why the task failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What was said before the question, oldest first: who said it, and the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<(&'static str, String)>,
    /// The answer, and other texts that differ between runs.
    pub fields: Vec<Field>,
    /// What the evaluators returned.
    pub outcomes: Vec<Outcome>,
    /// The documents found, best first; `None` if the run has no ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<Ranked<P>>>,
    /// Relevant documents that the ranking lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Service time of each stage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// The steps of the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The run that is compared with.
    Before,
    /// The newer run.
    After,
}

/// What one evaluator returned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The name of the measure.
    pub name: String,
    /// What kind of value it is.
    pub kind: OutcomeKind,
    /// The formatted value: `0.5000`, `passed`, `failed`, a label; the word `undefined` or `error` where there is none.
    pub shown: String,
    /// The reason for the value, or for its absence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The kind of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// An assertion that passed.
    Passed,
    /// An assertion that failed.
    Failed,
    /// A number.
    Score,
    /// A label.
    Label,
    /// No value, for a reason.
    Undefined,
    /// The evaluator failed.
    Error,
}

/// A document of a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked<P = Passage> {
    /// The document's id.
    pub document: String,
    /// Its formatted score; empty if the system gave none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub score: String,
    /// What is known about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Its grade, if it was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<String>,
    /// Its passages, or its opening. The writer stores equal passages once and writes their numbers, and `null` for a passage
    /// that the page leaves out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<P>,
}

/// What is known about a document of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// The judgements call it relevant.
    Relevant,
    /// The answerer saw it.
    Shown,
    /// The answer cites it.
    Cited,
}

/// A text of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Passage {
    /// The document's id.
    pub document: String,
    /// The document's title, if it has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The text.
    pub text: String,
}

/// The service time of one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Names the stage.
    pub stage: String,
    /// The time in seconds.
    pub seconds: f64,
    /// The formatted time.
    pub shown: String,
    /// Whether its result came from a cache.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// A step of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Names the step.
    pub name: String,
    /// Its formatted time; empty if it was not measured.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shown: String,
    /// Whether it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Facts about it, such as arguments and tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
    /// The steps inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Step>,
}

impl<P> Case<P> {
    /// Replaces every passage. The first error ends it.
    pub(super) fn with_passages<Q, E>(
        self,
        mut replace: impl FnMut(P) -> Result<Q, E>,
    ) -> Result<Case<Q>, E> {
        let runs = self.runs.into_iter();
        Ok(Case {
            id: self.id,
            fields: self.fields,
            turns: self.turns,
            runs: runs
                .map(|run| run.with_passages(&mut replace))
                .collect::<Result<_, E>>()?,
            remarks: self.remarks,
        })
    }
}

impl<P> Run<P> {
    fn with_passages<Q, E>(self, replace: &mut impl FnMut(P) -> Result<Q, E>) -> Result<Run<Q>, E> {
        let ranking = self.ranking.map(|ranking| {
            let documents = ranking.into_iter();
            documents.map(|it| it.with_passages(replace)).collect()
        });
        Ok(Run {
            side: self.side,
            system: self.system,
            repeat: self.repeat,
            failure: self.failure,
            said: self.said,
            fields: self.fields,
            outcomes: self.outcomes,
            ranking: ranking.transpose()?,
            missed: self.missed,
            timings: self.timings,
            steps: self.steps,
        })
    }
}

impl<P> Ranked<P> {
    fn with_passages<Q, E>(
        self,
        replace: &mut impl FnMut(P) -> Result<Q, E>,
    ) -> Result<Ranked<Q>, E> {
        Ok(Ranked {
            document: self.document,
            score: self.score,
            marks: self.marks,
            grade: self.grade,
            passages: self
                .passages
                .into_iter()
                .map(replace)
                .collect::<Result<_, E>>()?,
        })
    }
}
