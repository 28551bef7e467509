//! The judges of a run, by the measure that they decide.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use evals::{Domain, Identity, Report};
use evals_messages::quantity;
use evals_rag::unsigned_verdicts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::record::JudgeRecord;

/// The judge of each measure that has one, by the name of its outcome. The program decides the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JudgeRecords(BTreeMap<String, Recorded>);

/// The record of the judge of one measure in a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Recorded {
    Known(JudgeRecord),
    Unknown(Unknown),
}

/// The judge of verdicts that `rejudge` keeps from a run that does not record it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Unknown {
    #[serde(rename = "unknown")]
    Unknown,
}

impl Recorded {
    /// The text for messages and baselines.
    fn facts(&self) -> Value {
        match self {
            Self::Known(record) => record.facts(),
            Self::Unknown(_) => Identity::UNKNOWN.into(),
        }
    }

    /// Whether the program decides without a model.
    fn is_program(&self) -> bool {
        matches!(self, Self::Known(record) if record.judges.is_empty())
    }
}

impl JudgeRecords {
    /// The key in the metadata of a report.
    pub const KEY: &str = "judges";

    /// Records who judged a measure.
    pub fn enter(&mut self, measure: impl Into<String>, record: JudgeRecord) {
        self.0.insert(measure.into(), Recorded::Known(record));
    }

    /// Records the judge of verdicts that this report keeps from another report under the name `measure`: that report's judge of `then`. The
    /// judge is unknown if that report does not record it, or has no records (`former` is `None`).
    pub fn enter_kept(&mut self, measure: &str, former: Option<&Self>, then: &str) {
        match former.and_then(|former| former.by(then)) {
            Some(record) => self.enter(measure, record),
            None => self.enter_unknown(measure),
        }
    }

    /// Records that the judge of a measure is unknown.
    pub fn enter_unknown(&mut self, measure: impl Into<String>) {
        let unknown = Recorded::Unknown(Unknown::Unknown);
        self.0.insert(measure.into(), unknown);
    }

    /// The records of a report; `None` if it is of a version that kept none.
    ///
    /// # Errors
    ///
    /// The metadata is not what any version writes.
    pub fn read(metadata: &Map<String, Value>) -> Result<Option<Self>> {
        let recorded = metadata.get(Self::KEY);
        let records = recorded.map(Self::deserialize);
        records
            .transpose()
            .context("the report has no valid record of who judged (`judges`)")
    }

    /// The judge of a measure, without models if the program decides; `None` if the report does not record it.
    pub fn by(&self, measure: &str) -> Option<JudgeRecord> {
        match self.0.get(measure) {
            Some(Recorded::Known(record)) => Some(record.clone()),
            Some(Recorded::Unknown(_)) => None,
            None => Some(JudgeRecord::new([], [])),
        }
    }

    /// Who judged each measure of a report, for comparisons: null if no judge was asked, and [`Identity::UNKNOWN`] if the report does not
    /// say it, for one measure or for all.
    pub fn identity(metadata: &Map<String, Value>) -> Result<Value> {
        Ok(match Self::read(metadata)? {
            Some(records) => {
                let judged = records.0.iter();
                let judged = judged.filter(|(_, recorded)| !recorded.is_program());
                let facts: Map<String, Value> = judged
                    .map(|(measure, recorded)| (measure.clone(), recorded.facts()))
                    .collect();
                if facts.is_empty() {
                    Value::Null
                } else {
                    facts.into()
                }
            }
            None if has_judge(metadata) => Identity::UNKNOWN.into(),
            None => Value::Null,
        })
    }

    /// The identity of a baseline, as [`identity`](Self::identity) writes it. One that an earlier version wrote says too little.
    pub fn known(identity: Value) -> Value {
        if identity.is_null() || Self::deserialize(&identity).is_ok() {
            identity
        } else {
            Identity::UNKNOWN.into()
        }
    }
}

/// Adds the number of cases with a verdict that its judge did not sign to a report, for programs. Returns the line for people; `None` if no chat
/// model judged.
pub fn enter_unsigned<D: Domain>(report: &mut Report<D>) -> Option<(String, String)> {
    let (unsigned, cases) = unsigned_verdicts(&report.cases);
    if cases == 0 {
        return None;
    }
    let record = json!({"unsigned": unsigned, "cases": cases});
    report
        .metadata
        .insert("unsigned_verdicts".to_owned(), record);
    let judged = quantity::of(cases, "judged case");
    Some((
        "unsigned verdicts".to_owned(),
        format!("{unsigned} of {judged}"),
    ))
}

/// Whether a run asked a judge.
fn has_judge(metadata: &Map<String, Value>) -> bool {
    let models = metadata.get("models");
    models.is_some_and(|models| models.get("judge").is_some())
}

#[cfg(test)]
mod tests {
    use evals_models::ModelIdentity;
    use evals_rag::Prompt;
    use evals_rag::rag_judges::Rule;

    use super::super::record::PanelMember;
    use super::*;

    fn record() -> JudgeRecord {
        let model = ModelIdentity::new("openai", "m");
        let judge = ("judge".to_owned(), PanelMember::plain(&model));
        JudgeRecord::new([judge], [&Prompt::judge()])
    }

    fn rubric(criterion: &str) -> Map<String, Value> {
        let arguments = json!({"criterion": criterion, "pass": 2});
        arguments.as_object().unwrap().clone()
    }

    fn metadata(records: &JudgeRecords) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert(JudgeRecords::KEY.to_owned(), json!(records));
        metadata
    }

    #[test]
    fn every_part_of_a_judge_tells_it_from_another() {
        let known = record();
        let differs = |change: &dyn Fn(&mut JudgeRecord)| {
            let mut other = known.clone();
            change(&mut other);
            known.differences(&other).join("; ")
        };
        assert_eq!(differs(&|_| {}), "");
        let second = || PanelMember::plain(&ModelIdentity::new("openai", "n"));
        let member = |role: &str, it: &mut JudgeRecord| {
            it.judges.insert(role.to_owned(), second());
        };
        let prompt = |it: &mut JudgeRecord| {
            let name = "judge.md.jinja".to_owned();
            it.prompts.insert(name, "x".repeat(64));
        };
        let asked_too = |it: &mut JudgeRecord| *it = it.clone().asking("brevity", &rubric("How?"));
        for (found, expected) in [
            (
                differs(&|it| member("judge 2", it)),
                "judges.judge 2: not set -> ",
            ),
            (
                differs(&|it| member("judge", it)),
                "judges.judge.model.name: \"m\" -> \"n\"",
            ),
            (differs(&|it| it.repeats = 3), "repeats: 1 -> 3"),
            (
                differs(&|it| it.rule = Some(Rule::Unanimous)),
                "rule: not set -> \"unanimous\"",
            ),
            (
                differs(&|it| it.context_tokens = Some(4096)),
                "context_tokens: not set -> 4096",
            ),
            (differs(&prompt), "prompts.judge.md.jinja: \""),
            (
                differs(&asked_too),
                "criteria: not set -> {\"brevity\":{\"criterion\":\"",
            ),
        ] {
            assert!(found.starts_with(expected), "{found}");
        }
        let asked = |text| known.clone().asking("brevity", &rubric(text));
        let found = asked("How brief?").differences(&asked("How short?"));
        let [found] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(found.starts_with("criteria.brevity.criterion: "), "{found}");
        assert!(!found.contains("How"), "texts stay in the report: {found}");
    }

    #[test]
    fn a_run_without_a_record_is_judged_by_nobody_or_by_an_unknown_judge() {
        let mut records = JudgeRecords::default();
        records.enter("equivalent", record());
        let recorded = metadata(&records);
        let read = JudgeRecords::read(&recorded).unwrap();
        let read = read.unwrap();
        assert_eq!(read.by("equivalent"), Some(record()));
        assert_eq!(read.by("token F1").unwrap().name(), None);

        let mut old = Map::new();
        assert_eq!(JudgeRecords::identity(&old).unwrap(), Value::Null);
        old.insert("models".to_owned(), json!({"judge": {"name": "m"}}));
        assert_eq!(JudgeRecords::identity(&old).unwrap(), Identity::UNKNOWN);

        old.insert(JudgeRecords::KEY.to_owned(), json!({"equivalent": 1}));
        let error = JudgeRecords::identity(&old).unwrap_err().to_string();
        assert!(error.contains("no valid record of who judged"), "{error}");
    }

    #[test]
    fn the_judge_of_kept_verdicts_is_known_only_if_their_run_records_it() {
        let mut former = JudgeRecords::default();
        former.enter("equivalent", record());
        let mut records = JudgeRecords::default();
        records.enter_kept("equivalent (m)", Some(&former), "equivalent");
        records.enter_kept("token F1", Some(&former), "token F1");
        records.enter_kept("faithfulness", None, "faithfulness");
        let read = JudgeRecords::read(&metadata(&records)).unwrap().unwrap();
        assert_eq!(read.by("equivalent (m)"), Some(record()));
        assert_eq!(read.by("token F1"), Some(JudgeRecord::new([], [])));
        assert_eq!(read.by("faithfulness"), None);

        let identity = JudgeRecords::identity(&metadata(&records)).unwrap();
        let expected = json!({"equivalent (m)": record().facts(), "faithfulness": "unknown"});
        assert_eq!(identity, expected);
        assert_eq!(JudgeRecords::known(identity.clone()), identity);

        let mut again = JudgeRecords::default();
        again.enter_kept("faithfulness", Some(&read), "faithfulness");
        assert_eq!(again.by("faithfulness"), None, "the judge is still unknown");
    }

    #[test]
    fn a_baseline_of_an_earlier_version_has_an_unknown_judge() {
        let mut records = JudgeRecords::default();
        records.enter("equivalent", record());
        let identity = JudgeRecords::identity(&metadata(&records)).unwrap();
        assert_eq!(JudgeRecords::known(identity.clone()), identity);
        let earlier = json!({"model": {"provider": "openai", "name": "m"}, "parameters": null, "prompts": {}});
        assert_eq!(JudgeRecords::known(earlier), Identity::UNKNOWN);
    }
}
