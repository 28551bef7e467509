//! From written cases and evaluators to a dataset that can run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use evals::{Case, CaseId, Dataset, Evaluator, ReportEvaluator};
use evals_targets::TargetSettings;
use evals_yaml::{Node, Place, Step};

use super::dataset_file::{DatasetFile, FileCase, FileEvaluator, SpecForm};
use super::problem::{Findings, Problem, Problems};
use crate::registry::Judges;
use crate::signature::SignatureError;
use crate::{Built, Registry, RegistryError, Resources, Untyped};

/// A dataset file that was read, and the dataset that it describes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The contents of the file.
    pub file: DatasetFile,
    /// Its cases with their evaluators, ready to run. An unnamed case is called `Case` and its position, from 1, or in records and tables by its inputs.
    pub dataset: Dataset<Untyped>,
    /// The settings of the file's section `target`.
    pub target: Option<TargetSettings>,
    /// Warnings about things that a reader of the file may not expect, in the order of the file.
    pub warnings: Vec<Problem>,
}

impl DatasetFile {
    /// Builds the evaluators again, with other resources. `path` is the file that was read, for messages.
    ///
    /// # Errors
    ///
    /// All evaluators that the registry does not know or that refuse their arguments.
    pub fn load(
        self,
        path: &Path,
        registry: &Registry,
        resources: &Resources,
    ) -> Result<Loaded, Problems> {
        Builder::new(registry, resources, Findings::default())
            .load(self)
            .map_err(|problems| Problems {
                path: path.to_owned(),
                problems,
            })
    }
}

/// Builds evaluators of one file.
pub(super) struct Builder<'r> {
    registry: &'r Registry,
    resources: &'r Resources,
    findings: Findings,
}

impl<'r> Builder<'r> {
    pub(super) fn new(
        registry: &'r Registry,
        resources: &'r Resources,
        findings: Findings,
    ) -> Self {
        Self {
            registry,
            resources,
            findings,
        }
    }

    /// Builds all evaluators. The errors of the findings, if there are any, come instead, in the order of the file.
    pub(super) fn load(mut self, mut file: DatasetFile) -> Result<Loaded, Vec<Problem>> {
        self.name(&mut file.cases);
        let mut cases = Vec::new();
        for case in &file.cases {
            cases.push(Case {
                id: case.id.clone(),
                input: case.inputs.clone(),
                expected: case.expected.clone(),
                metadata: case.metadata.clone(),
                cluster: None,
                sequence: None,
                evaluators: self.cases_evaluators(&case.evaluators),
            });
        }
        let evaluators = self.cases_evaluators(&file.evaluators);
        let report_evaluators = self.reports_evaluators(&file.report_evaluators);
        let target = file.target.as_ref().and_then(|node| self.target(node));
        let Findings {
            mut errors,
            mut warnings,
        } = self.findings;
        if !errors.is_empty() {
            errors.sort_by_key(|problem| problem.place);
            return Err(errors);
        }
        warnings.sort_by_key(|problem| problem.place);
        let dataset = Dataset::new(file.name.clone(), cases)
            .map_err(|error| vec![Problem::new(Place::START, error.to_string())])?
            .with_evaluators(evaluators)
            .with_report_evaluators(report_evaluators);
        let dataset = match &file.cluster {
            None => dataset,
            Some((key, place)) => dataset
                .cluster_by(key)
                .map_err(|error| vec![Problem::new(*place, error.to_string())])?,
        };
        Ok(Loaded {
            file,
            dataset,
            target,
            warnings,
        })
    }

    /// The settings of the section `target`. Without an address they cannot be checked further: the command line may name it.
    fn target(&mut self, node: &Node) -> Option<TargetSettings> {
        let settings = TargetSettings::from_value(node.to_value());
        let checked = settings.and_then(|settings| {
            if settings.address.is_some() {
                settings.check()?;
            }
            Ok(settings)
        });
        checked
            .map_err(|problem| {
                let path = problem.key.split('.').map(Step::Key);
                self.findings
                    .error(node.place_of(path), problem.to_string());
            })
            .ok()
    }

    /// Gives the cases their ids: their names, and `Case` with the position for those without. Reports an explicit name that occurs
    /// twice.
    fn name(&mut self, cases: &mut [FileCase]) {
        let mut named: BTreeMap<&str, Place> = BTreeMap::new();
        for case in &*cases {
            let Some(name) = &case.name else { continue };
            if let Some(earlier) = named.get(name.as_str()) {
                self.findings.error(
                    case.name_place,
                    format!(
                        "duplicate case name `{name}`, which line {} has too; rename one of them",
                        earlier.line
                    ),
                );
            } else {
                named.insert(name, case.name_place);
            }
        }
        let mut taken: BTreeSet<String> = named.keys().map(|&name| name.to_owned()).collect();
        for (index, case) in cases.iter_mut().enumerate() {
            if let Some(name) = case.name.as_deref().filter(|name| !name.is_empty()) {
                case.id = CaseId::from(name);
                continue;
            }
            let usual = format!("Case {}", index + 1);
            let mut id = usual.clone();
            let mut number = 2_u64;
            while !taken.insert(id.clone()) {
                id = format!("{usual} ({number})");
                number += 1;
            }
            if id != usual {
                self.findings.warning(
                    case.place,
                    format!("this unnamed case is called `{id}`, because another case has the name `{usual}`"),
                );
            }
            case.id = CaseId::from(id);
        }
    }

    fn cases_evaluators(&mut self, written: &[FileEvaluator]) -> Vec<Arc<dyn Evaluator<Untyped>>> {
        let built =
            written
                .iter()
                .filter_map(|evaluator| match self.build(evaluator, Judges::Cases)? {
                    Built::Case(built) => Some(built),
                    Built::Report(_) => {
                        self.misplaced(evaluator, "whole reports", "report_evaluators")
                    }
                });
        built.collect()
    }

    fn reports_evaluators(
        &mut self,
        written: &[FileEvaluator],
    ) -> Vec<Arc<dyn ReportEvaluator<Untyped>>> {
        let built = written.iter().filter_map(|evaluator| {
            match self.build(evaluator, Judges::Reports)? {
                Built::Report(built) => Some(built),
                Built::Case(_) => self.misplaced(evaluator, "cases", "evaluators"),
            }
        });
        built.collect()
    }

    /// Reports an evaluator that judges something else than the list is for, and that belongs under `key`.
    fn misplaced<E>(&mut self, written: &FileEvaluator, judges: &str, key: &str) -> Option<E> {
        let name = &written.spec.name;
        let problem = format!("`{name}` judges {judges}; name it under `{key}`");
        self.findings.error(written.place, problem);
        None
    }

    fn build(&mut self, written: &FileEvaluator, wanted: Judges) -> Option<Built> {
        match self.registry.build(&written.spec, self.resources) {
            Ok(built) => Some(built),
            Err(error) => {
                let error = match error {
                    RegistryError::Unknown { name, .. } => {
                        self.registry.unknown(&name, Some(wanted))
                    }
                    known => known,
                };
                let place = place_of(&error, written);
                let hint = self.hint(&error, written);
                let message = match &error {
                    // This hint says more than the one of the error.
                    RegistryError::Unknown { name, .. } if !hint.is_empty() => {
                        format!("no evaluator is called `{name}`{hint}")
                    }
                    error => format!("{}{hint}", evals_messages::chain(error)),
                };
                self.findings.error(place, message);
                None
            }
        }
    }

    /// Advice about a form of specification that is often mistaken.
    fn hint(&self, error: &RegistryError, written: &FileEvaluator) -> String {
        let name = &written.spec.name;
        match error {
            RegistryError::Unknown { .. } if name == "name" && written.form == SpecForm::Short => {
                "; the long form needs `arguments` too: `{name: …, arguments: null}`".to_owned()
            }
            RegistryError::Arguments(SignatureError::Unknown { known, .. })
                if written.form == SpecForm::Short && known.len() > written.arguments.len() =>
            {
                let is_any_known = written
                    .arguments
                    .iter()
                    .any(|(argument, _)| known.contains(&argument.as_str()));
                match self
                    .registry
                    .entry(name)
                    .and_then(|entry| entry.signature().parameters().first())
                {
                    Some(first) if !is_any_known && takes_mappings(&first.schema) => format!(
                        "; a mapping holds arguments by name, so one that is the argument itself is written `{name}: {{{}: {{…}}}}`",
                        first.name
                    ),
                    _ => String::new(),
                }
            }
            _ => String::new(),
        }
    }
}

/// Whether a JSON Schema allows objects.
fn takes_mappings(schema: &serde_json::Value) -> bool {
    let object = serde_json::json!({});
    // A schema that refers to others is that of an evaluator.
    jsonschema::validator_for(schema).map_or(true, |validator| validator.is_valid(&object))
}

/// The place of the argument that an error is about, or of the evaluator.
fn place_of(error: &RegistryError, written: &FileEvaluator) -> Place {
    let RegistryError::Arguments(SignatureError::Unknown { argument, .. }) = error else {
        return written.place;
    };
    let found = written.arguments.iter().find(|(name, _)| name == argument);
    found.map_or(written.place, |(_, place)| *place)
}
