//! The report of a run without timings, which differ from run to run.

use std::path::Path;

use serde_json::Value;

use crate::sandbox::json;

/// Members that hold timings.
const TIMES: [&str; 6] = [
    "seconds",
    "timings",
    "cached_timings",
    "task_time",
    "elapsed",
    "started",
];

/// A value without timings.
fn untimed(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.filter(|(name, _)| !TIMES.contains(&name.as_str()));
            members
                .map(|(name, value)| (name, untimed(value)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(untimed).collect(),
        other => other,
    }
}

/// The report of a run as text, without timings. Members keep their order.
pub(crate) fn report(run: &Path) -> String {
    serde_json::to_string_pretty(&untimed(json(&run.join("report.json")))).unwrap()
}
