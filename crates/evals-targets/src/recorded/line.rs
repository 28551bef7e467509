//! The lines of the file of a run's replies.

use std::collections::BTreeMap;

use evals_models::{ModelIdentity, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Reply;

/// One repetition of one case.
pub(super) type ReplyKey = (String, u32);

/// A reply and what was asked.
#[derive(Clone, Debug)]
pub(super) struct RecordedReply {
    pub(super) inputs: Value,
    pub(super) reply: Reply,
}

/// A reply as a later session reads it from its line.
#[cfg(test)]
pub(crate) fn read_back(reply: &Reply) -> Reply {
    let recorded = RecordedReply {
        inputs: Value::Null,
        reply: reply.clone(),
    };
    let line = ReplyLine::of(&("case".to_owned(), 1), &recorded);
    let line = serde_json::to_string(&Line::Reply(Box::new(line))).unwrap();
    match serde_json::from_str(&line) {
        Ok(Line::Reply(line)) => line.into_recorded().1.reply,
        other => panic!("{other:?} of {line}"),
    }
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Reply(Box<ReplyLine>),
    /// What the run paid at one time.
    Paid {
        paid: Payment,
        /// The request's key, if the reply came in a batch: a later session may read the reply again without paying for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batched: Option<String>,
    },
    /// The reply to the request with this key is stored, so no later session reads it again from its batch.
    Stored {
        stored: String,
    },
    /// No later session needs the file.
    Finished {
        finished: bool,
    },
}

/// A recorded reply.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReplyLine {
    pub(super) id: String,
    pub(super) repeat: u32,
    pub(super) inputs: Value,
    reply: Reply,
    /// The reply's metrics that are not finite numbers, as text, because JSON has no such numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    not_finite: BTreeMap<String, String>,
}

impl ReplyLine {
    pub(super) fn of((id, repeat): &ReplyKey, recorded: &RecordedReply) -> Self {
        let mut reply = recorded.reply.clone();
        let mut not_finite = BTreeMap::new();
        reply.metrics.retain(|name, value| {
            if !value.is_finite() {
                not_finite.insert(name.clone(), value.to_string());
            }
            value.is_finite()
        });
        Self {
            id: id.clone(),
            repeat: *repeat,
            inputs: recorded.inputs.clone(),
            reply,
            not_finite,
        }
    }

    pub(super) fn into_recorded(self) -> (ReplyKey, RecordedReply) {
        let mut reply = self.reply;
        let not_finite = self.not_finite.into_iter();
        reply.metrics.extend(
            not_finite.filter_map(|(name, value)| Some((name, value.parse::<f64>().ok()?))),
        );
        let recorded = RecordedReply {
            inputs: self.inputs,
            reply,
        };
        ((self.id, self.repeat), recorded)
    }
}

/// Tokens that a run paid for: those of a call of a model, or those that a target reports.
///
/// It holds no amount, so that a session can count with prices that an earlier one did not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// The model, as prices name it.
    pub model: ModelIdentity,
    /// Its tokens.
    pub usage: Usage,
}
