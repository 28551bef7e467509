//! From written cases and evaluators to a dataset that can run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use evals::{Case, CaseId, Dataset, Evaluator, ReportEvaluator, SpecArguments};
use evals_targets::TargetSettings;
use evals_yaml::{Node, Place, Step};

use super::dataset_file::{DatasetFile, FileCase, FileEvaluator};
use super::grammar::{Written, WrittenCase};
use super::problem::{Findings, Problem, Problems};
use super::spec::{Form, WrittenSpec};
use crate::registry::Kind;
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
            .load(Written::from(self), "")
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
    pub(super) fn load(
        mut self,
        written: Written,
        default_name: &str,
    ) -> Result<Loaded, Vec<Problem>> {
        let ids = self.ids(&written.cases);
        let mut cases = Vec::new();
        let mut file_cases = Vec::new();
        for (id, case) in ids.into_iter().zip(written.cases) {
            let (evaluators, specs) = self.cases_evaluators(case.evaluators);
            let expected = (!case.expected.is_null()).then_some(case.expected);
            cases.push(Case {
                id: id.clone(),
                input: case.inputs.clone(),
                expected: expected.clone(),
                metadata: case.metadata.clone(),
                cluster: None,
                evaluators,
            });
            file_cases.push(FileCase {
                id,
                name: case.name,
                inputs: case.inputs,
                metadata: case.metadata,
                expected,
                evaluators: specs,
                place: case.place,
            });
        }
        let (evaluators, specs) = self.cases_evaluators(written.evaluators);
        let (report_evaluators, report_specs) = self.reports_evaluators(written.report_evaluators);
        let target = written.target.as_ref().and_then(|node| self.target(node));
        let file = DatasetFile {
            name: written.name.unwrap_or_else(|| default_name.to_owned()),
            schema: written.schema,
            cases: file_cases,
            evaluators: specs,
            report_evaluators: report_specs,
            cluster: written.cluster.as_ref().map(|(key, _)| key.clone()),
            target: written.target,
        };
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
        let dataset = match written.cluster {
            None => dataset,
            Some((key, place)) => dataset
                .cluster_by(&key)
                .map_err(|error| vec![Problem::new(place, error.to_string())])?,
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

    /// The ids of the cases: their names, and `Case` with the position for those without. Reports an explicit name that occurs
    /// twice.
    fn ids(&mut self, cases: &[WrittenCase]) -> Vec<CaseId> {
        let mut named: BTreeMap<&str, Place> = BTreeMap::new();
        for case in cases {
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
        let mut ids = Vec::with_capacity(cases.len());
        for (index, case) in cases.iter().enumerate() {
            if let Some(name) = case.name.as_deref().filter(|name| !name.is_empty()) {
                ids.push(CaseId::from(name));
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
            ids.push(CaseId::from(id));
        }
        ids
    }

    fn cases_evaluators(
        &mut self,
        written: Vec<WrittenSpec>,
    ) -> (Vec<Arc<dyn Evaluator<Untyped>>>, Vec<FileEvaluator>) {
        let mut evaluators = Vec::new();
        let mut specs = Vec::new();
        for spec in written {
            match self.build(&spec, Kind::Case) {
                Some(Built::Case(evaluator)) => evaluators.push(evaluator),
                Some(Built::Report(_)) => self.findings.error(
                    spec.place,
                    format!(
                        "`{}` judges whole reports; name it under `report_evaluators`",
                        spec.spec.name
                    ),
                ),
                None => {}
            }
            specs.push(FileEvaluator::from(spec));
        }
        (evaluators, specs)
    }

    fn reports_evaluators(
        &mut self,
        written: Vec<WrittenSpec>,
    ) -> (Vec<Arc<dyn ReportEvaluator<Untyped>>>, Vec<FileEvaluator>) {
        let mut evaluators = Vec::new();
        let mut specs = Vec::new();
        for spec in written {
            match self.build(&spec, Kind::Report) {
                Some(Built::Report(evaluator)) => evaluators.push(evaluator),
                Some(Built::Case(_)) => self.findings.error(
                    spec.place,
                    format!(
                        "`{}` judges cases; name it under `evaluators`",
                        spec.spec.name
                    ),
                ),
                None => {}
            }
            specs.push(FileEvaluator::from(spec));
        }
        (evaluators, specs)
    }

    fn build(&mut self, written: &WrittenSpec, wanted: Kind) -> Option<Built> {
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
    fn hint(&self, error: &RegistryError, written: &WrittenSpec) -> String {
        let name = &written.spec.name;
        match error {
            RegistryError::Unknown { .. } if name == "name" && written.form == Form::Short => {
                "; the long form needs `arguments` too: `{name: …, arguments: null}`".to_owned()
            }
            RegistryError::Arguments(SignatureError::Unknown { known, .. })
                if written.form == Form::Short && known.len() > written.arguments.len() =>
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

/// Whether a JSON Schema allows objects, as far as its first level says.
fn takes_mappings(schema: &serde_json::Value) -> bool {
    if let Some(any_of) = schema.get("anyOf").and_then(serde_json::Value::as_array) {
        return any_of.iter().any(takes_mappings);
    }
    let is_object = |kind: &serde_json::Value| kind == "object";
    match schema.get("type") {
        None => schema.get("enum").is_none(),
        Some(serde_json::Value::Array(kinds)) => kinds.iter().any(is_object),
        Some(kind) => is_object(kind),
    }
}

/// The place of the argument that an error is about, or of the evaluator.
fn place_of(error: &RegistryError, written: &WrittenSpec) -> Place {
    let RegistryError::Arguments(SignatureError::Unknown { argument, .. }) = error else {
        return written.place;
    };
    let found = written.arguments.iter().find(|(name, _)| name == argument);
    found.map_or(written.place, |(_, place)| *place)
}

impl From<WrittenSpec> for FileEvaluator {
    fn from(written: WrittenSpec) -> Self {
        let mut spec = written.spec;
        if spec.arguments == SpecArguments::Named(serde_json::Map::new()) {
            spec.arguments = SpecArguments::None;
        }
        Self {
            spec,
            place: written.place,
        }
    }
}

impl From<DatasetFile> for Written {
    fn from(file: DatasetFile) -> Self {
        let specs = |evaluators: Vec<FileEvaluator>| {
            let evaluators = evaluators.into_iter();
            evaluators.map(WrittenSpec::from).collect::<Vec<_>>()
        };
        let cases = file.cases.into_iter().map(|case| WrittenCase {
            name: case.name,
            inputs: case.inputs,
            metadata: case.metadata,
            expected: case.expected.unwrap_or_default(),
            evaluators: specs(case.evaluators),
            place: case.place,
            name_place: case.place,
        });
        Self {
            schema: file.schema,
            name: Some(file.name),
            cases: cases.collect(),
            evaluators: specs(file.evaluators),
            report_evaluators: specs(file.report_evaluators),
            cluster: file.cluster.map(|key| (key, Place::START)),
            target: file.target,
        }
    }
}

impl From<FileEvaluator> for WrittenSpec {
    fn from(FileEvaluator { spec, place }: FileEvaluator) -> Self {
        Self {
            spec,
            place,
            form: Form::Long,
            arguments: Vec::new(),
        }
    }
}
