//! Judges long outputs on a thread of their own, so that the deadline of the case holds and other cases go on.

use std::panic;

use evals::Context;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::Untyped;

/// Outputs of about this many bytes and more are long. Checks need less than a millisecond for shorter ones.
const LONG: usize = 1 << 14;

/// Whether output and expected output are long together.
pub(super) fn is_long(context: &Context<'_, Untyped>) -> bool {
    let values = [Some(context.output), context.case.expected.as_ref()];
    let mut left = LONG;
    values
        .into_iter()
        .flatten()
        .any(|value| !fits(value, &mut left))
}

/// Whether these texts are long together.
pub(super) fn are_long<'t>(texts: impl IntoIterator<Item = &'t str>) -> bool {
    texts.into_iter().map(str::len).sum::<usize>() >= LONG
}

/// Judges short texts at once, and long ones on a thread of their own. A time limit ends the wait but not the thread, so the work must end by
/// itself.
pub(super) async fn judged<R: Send + 'static>(
    context: &Context<'_, Untyped>,
    is_long: bool,
    judge: impl FnOnce(&Context<'_, Untyped>) -> R + Send + 'static,
) -> R {
    if !is_long || Handle::try_current().is_err() {
        return judge(context);
    }
    let (case, output) = (context.case.clone(), context.output.clone());
    let (recording, scope) = (context.recording.clone(), context.scope.clone());
    let (repeat, duration) = (context.repeat, context.duration);
    let judging = spawn_blocking(move || {
        judge(&Context {
            case: &case,
            output: &output,
            repeat,
            duration,
            recording: &recording,
            scope,
        })
    });
    match judging.await {
        Ok(judged) => judged,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => panic::resume_unwind(payload),
            // The runtime is ending, and with it this future.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Takes the size of a value from what is left; false if that is not enough.
fn fits(value: &Value, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        Value::Object(members) => members.keys().map(String::len).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => 0,
    };
    let Some(rest) = left.checked_sub(own + 1) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(members) => members.values().all(|item| fits(item, left)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use evals::Case;
    use serde_json::json;

    use super::*;

    fn output_is_long(output: &Value, expected: Option<Value>) -> bool {
        let mut case: Case<Untyped> = Case::new("c", json!("q"));
        case.expected = expected;
        is_long(&Context::new(&case, output))
    }

    #[test]
    fn the_whole_size_of_a_value_counts() {
        let half = "x".repeat(LONG / 2);
        assert!(!output_is_long(&json!(half), None));
        assert!(output_is_long(&json!(half), Some(json!(half))));
        assert!(output_is_long(&json!({"a": [half, half]}), None));
        assert!(output_is_long(&json!(vec![1; LONG]), None));
        assert!(are_long([half.as_str(), &half]));
    }
}
