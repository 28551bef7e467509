//! Records a reply's timings, numbers, facts and steps in the report of its case.

use std::time::Duration;

use evals::{SpanTree, TaskScope};

use crate::{Reply, TargetIdentity};

impl Reply {
    /// Records everything but the answer, the documents, the citations and the usage, whose measures and names depend on the
    /// benchmark.
    ///
    /// The stage [`target`](Self::STAGE) is the time that we saw, [`target (reported)`](Self::REPORTED_STAGE) the one that the
    /// target reports. The first of them that the reply has is the duration of the case, even if the reply was recorded before. So a wait for
    /// a free process or for the rate limit, or the [start](Self::START_STAGE) of a command, is not part of it. A reply from a file that has
    /// neither is [untimed](TaskScope::untimed). Tool calls become spans, unless spans of the reply show calls of tools already.
    pub fn record(&self, target: &TargetIdentity, scope: &TaskScope) {
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
        match self.duration() {
            Some(duration) => scope.took(duration),
            None if target.is_file() => scope.untimed("the reply has no time"),
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

    /// How long the target took: as we saw it, or else as it reports.
    pub fn duration(&self) -> Option<Duration> {
        let mut timings = self.timings.iter();
        let seen = timings.find(|timing| timing.stage == Self::STAGE);
        seen.map(|timing| timing.duration).or(self.reported)
    }

    fn record_steps(&self, scope: &TaskScope) {
        if self.spans.is_some() || self.tool_calls.is_some() {
            scope.records_spans();
        }
        for span in self.spans.iter().flat_map(|spans| &spans.roots) {
            scope.span(span.clone());
        }
        let shows_tools = self.spans.as_ref().is_some_and(shows_tools);
        for call in self.tool_calls.iter().flatten().filter(|_| !shows_tools) {
            scope.span(call.span());
        }
    }
}

/// Whether a step names the tool that it calls.
fn shows_tools(spans: &SpanTree) -> bool {
    let mut spans = spans.iter();
    spans.any(|span| span.attributes.contains_key("gen_ai.tool.name"))
}

#[cfg(test)]
mod tests {
    use evals::{Span, SpanTree, Timing};
    use serde_json::json;

    use super::*;
    use crate::ToolCall;

    fn recorded(reply: &Reply) -> evals::Recording {
        let scope = TaskScope::default();
        reply.record(&TargetIdentity::new("fn", "test"), &scope);
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
        assert_eq!(reply.duration(), Some(Duration::from_secs(2)));
        reply.timings.clear();
        assert_eq!(reply.duration(), Some(Duration::from_secs(1)));
        reply.reported = None;
        assert_eq!(reply.duration(), None);
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
    fn tool_calls_join_spans_that_show_none() {
        let call = ToolCall {
            name: "search".to_owned(),
            arguments: json!({}),
            failed: false,
        };
        let mut reply = Reply {
            spans: Some(SpanTree {
                roots: vec![Span::new("plan")],
            }),
            tool_calls: Some(vec![call.clone()]),
            ..Reply::default()
        };
        let names = |reply: &Reply| {
            let spans = recorded(reply).spans.unwrap();
            let names = spans.roots.into_iter().map(|span| span.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&reply), ["plan", "execute_tool search"]);
        reply.spans.as_mut().unwrap().roots[0].children = vec![call.span()];
        assert_eq!(names(&reply), ["plan"]);
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
}
