//! The target whose replies are in a file.

use std::collections::BTreeSet;

use async_trait::async_trait;
use evals::FailureClass;

use super::Outputs;
use crate::{Reply, Request, Target, TargetError, TargetIdentity, TargetSettings};

/// Names that a warning lists.
const LISTED: usize = 5;

/// A target whose replies were made elsewhere.
#[derive(Clone, Debug)]
pub struct OutputsTarget {
    identity: TargetIdentity,
    outputs: Outputs,
}

impl OutputsTarget {
    /// A target of these replies. The file's digest becomes part of its identity.
    pub fn new(mut identity: TargetIdentity, outputs: Outputs) -> Self {
        let digest = outputs.digest().into();
        identity.parameters.insert("sha256".to_owned(), digest);
        Self { identity, outputs }
    }

    /// The target of a section `target:` whose file was read: `kind` is `outputs` or `trec`.
    pub fn of(kind: &str, settings: &TargetSettings, outputs: Outputs) -> Self {
        let name = outputs.path().display().to_string();
        let identity = TargetIdentity {
            version: settings.version.clone(),
            parameters: settings.parameters(),
            ..TargetIdentity::new(kind, name)
        };
        Self::new(identity, outputs)
    }
}

#[async_trait]
impl Target for OutputsTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let Request { id, repeat, .. } = request;
        let failed = |message: String| TargetError::new(FailureClass::Content, message);
        match self.outputs.reply(id, *repeat) {
            Some(Ok(reply)) => Ok(reply.clone()),
            Some(Err(message)) => Err(failed(message.clone())),
            None => {
                let path = self.outputs.path().display();
                let what = match repeat {
                    1 => format!("`{id}`"),
                    repeat => format!("repetition {repeat} of `{id}`"),
                };
                Err(failed(format!("`{path}` has no reply to {what}")))
            }
        }
    }

    fn warnings(&self, cases: &BTreeSet<&str>) -> Vec<String> {
        let path = self.outputs.path().display();
        let unknown = self.outputs.unknown(cases);
        let missing: Vec<&str> = cases
            .iter()
            .copied()
            .filter(|id| self.outputs.reply(id, 1).is_none())
            .collect();
        let mut warnings = Vec::new();
        if !unknown.is_empty() {
            let all = self.outputs.ids().len();
            warnings.push(format!(
                "`{path}`: {} of {all} ids are none of this run's cases and are not used: {}",
                unknown.len(),
                listed(&unknown)
            ));
        }
        if !missing.is_empty() {
            warnings.push(format!(
                "`{path}` has no reply to {} of {} cases, which count as failed: {}",
                missing.len(),
                cases.len(),
                listed(&missing)
            ));
        }
        warnings
    }
}

fn listed(ids: &[&str]) -> String {
    let shown = ids.iter().take(LISTED).map(|id| format!("`{id}`"));
    let mut shown: Vec<String> = shown.collect();
    if ids.len() > LISTED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
