//! Records a reply's timings, numbers, facts and steps in the report of its case.

use evals::TaskScope;

use crate::Reply;

impl Reply {
    /// Records everything but the answer, the documents, the citations and the usage, whose measures and names depend on the
    /// benchmark.
    ///
    /// The stage [`target`](Self::STAGE) is the time that we saw, [`target (reported)`](Self::REPORTED_STAGE) the one that the
    /// target reports. Tool calls become spans, unless the reply has spans of its own.
    pub fn record(&self, scope: &TaskScope) {
        let mut is_cached = false;
        for timing in &self.timings {
            is_cached |= timing.cached;
            if timing.cached {
                scope.cached_timing(&timing.stage, timing.duration);
            } else {
                scope.timing(&timing.stage, timing.duration);
            }
        }
        match self.reported {
            Some(reported) if is_cached => scope.cached_timing(Self::REPORTED_STAGE, reported),
            Some(reported) => scope.timing(Self::REPORTED_STAGE, reported),
            None => {}
        }
        for (name, value) in &self.metrics {
            scope.metric(name, *value);
        }
        for (name, value) in &self.attributes {
            scope.attribute(name, value.clone());
        }
        self.record_steps(scope);
    }

    fn record_steps(&self, scope: &TaskScope) {
        if let Some(spans) = &self.spans {
            scope.records_spans();
            for span in &spans.roots {
                scope.span(span.clone());
            }
        } else if let Some(calls) = &self.tool_calls {
            scope.records_spans();
            for call in calls {
                scope.span(call.span());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use evals::{Span, SpanTree, Timing};
    use serde_json::json;

    use super::*;
    use crate::ToolCall;

    fn recorded(reply: &Reply) -> evals::Recording {
        let scope = TaskScope::default();
        reply.record(&scope);
        scope.take()
    }

    #[test]
    fn both_times_are_recorded_and_cached_together() {
        let mut reply = Reply {
            timings: vec![Timing {
                stage: Reply::STAGE.to_owned(),
                duration: Duration::from_secs(2),
                cached: false,
            }],
            reported: Some(Duration::from_secs(1)),
            ..Reply::default()
        };
        let stages = |reply: &Reply| {
            let timings = recorded(reply).timings.into_iter();
            let stages = timings.map(|it| (it.stage, it.duration.as_secs(), it.cached));
            stages.collect::<Vec<_>>()
        };
        let expected = |cached| {
            vec![
                ("target".to_owned(), 2, cached),
                ("target (reported)".to_owned(), 1, cached),
            ]
        };
        assert_eq!(stages(&reply), expected(false));
        reply.timings[0].cached = true;
        assert_eq!(stages(&reply), expected(true));
    }

    #[test]
    fn a_tool_call_is_a_span_that_names_the_tool() {
        let reply = Reply {
            tool_calls: Some(vec![ToolCall {
                name: "search".to_owned(),
                arguments: json!({"q": "cats"}),
                failed: true,
            }]),
            ..Reply::default()
        };
        let spans = recorded(&reply).spans.unwrap();
        let expected = Span::tool_call("search", &json!({"q": "cats"}), true);
        assert_eq!(spans.roots, [expected]);
    }

    #[test]
    fn no_tool_call_differs_from_none_reported() {
        let none = Reply::default();
        assert_eq!(recorded(&none).spans, None);
        let empty = Reply {
            tool_calls: Some(Vec::new()),
            ..Reply::default()
        };
        assert_eq!(recorded(&empty).spans, Some(SpanTree::default()));
    }

    #[test]
    fn spans_of_the_target_stand_for_its_tool_calls() {
        let reply = Reply {
            tool_calls: Some(vec![ToolCall::default()]),
            spans: Some(SpanTree {
                roots: vec![Span::new("agent")],
            }),
            ..Reply::default()
        };
        let spans = recorded(&reply).spans.unwrap();
        assert_eq!(spans.roots, [Span::new("agent")]);
    }
}
