//! Tests of mappings: replies in our own form, chat completions, and replies of other shapes.

use std::time::Duration;

use evals_models::Usage;
use serde_json::{Value, json};

use super::Mapping;
use crate::recorded::read_back;
use crate::settings::ResponseSettings;
use crate::{Reply, ToolCall};

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests write the reply where it is read"
)]
fn own(reply: Value) -> Result<Reply, String> {
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    mapping.read(&reply).map_err(|error| error.to_string())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests write the reply where it is read"
)]
fn configured(settings: Value, reply: Value) -> Result<Reply, String> {
    let settings: ResponseSettings = serde_json::from_value(settings).unwrap();
    let mapping = Mapping::new(&settings).unwrap();
    mapping.read(&reply).map_err(|error| error.to_string())
}

/// A value of so many levels.
fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, level| {
        if level % 2 == 0 {
            json!([inner])
        } else {
            json!({ "a": inner })
        }
    })
}

/// Steps inside steps.
fn steps(count: usize) -> Value {
    (1..count).fold(
        json!([{"name": "s"}]),
        |inner, _| json!([{"name": "s", "children": inner}]),
    )
}

#[test]
fn a_reply_of_100_levels_is_read_back_from_its_record_and_a_deeper_one_is_refused() {
    let whole = |reply| configured(json!({"answer": "$"}), reply);
    let read = [
        own(json!({"answer": nested(99)})),
        whole(nested(100)),
        own(json!({"answer": "x", "attributes": {"trace": nested(98)}})),
        own(json!({"tool_calls": [{"name": "f", "arguments": nested(97)}]})),
        own(json!({"tool_calls": [{"name": "f", "arguments": nested(100).to_string()}]})),
        own(json!({"answer": "x", "spans": steps(49), "unread": nested(99)})),
    ];
    for reply in read {
        let reply = reply.unwrap();
        assert_eq!(read_back(&reply), reply);
    }
    let refused = [
        own(json!({"answer": nested(100)})),
        whole(nested(101)),
        own(json!({"answer": "x", "spans": steps(50)})),
    ];
    for reply in refused {
        let message = reply.unwrap_err();
        let start = "the reply is nested more than 100 levels deep; the reply begins with `";
        assert!(message.starts_with(start), "{message}");
    }
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    for levels in [101, 128, 100_000] {
        let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let message = Mapping::parse(&text)
            .and_then(|json| mapping.read(&json))
            .unwrap_err()
            .problem;
        assert_eq!(message, "the reply is nested more than 100 levels deep");
    }
}

#[test]
fn arguments_of_a_tool_that_nest_too_deep_to_be_recorded_stay_a_text() {
    let text = nested(101).to_string();
    let reply = own(json!({"tool_calls": [{"name": "f", "arguments": text}]})).unwrap();
    assert_eq!(reply.tool_calls.unwrap()[0].arguments, text);
}

#[test]
fn an_output_is_an_answer() {
    let answer = |reply| own(reply).map(|reply| reply.answer);
    assert_eq!(
        answer(json!({"output": {"a": 1}})),
        Ok(Some(json!({"a": 1})))
    );
    assert_eq!(answer(json!({"output": null})), Ok(Some(Value::Null)));
    assert_eq!(
        answer(json!({"answer": "x", "output": "y"})),
        Ok(Some("x".into()))
    );
}

#[test]
fn every_field_of_our_own_format_is_read() {
    let reply = own(json!({
        "id": "q1", "answer": "Paris",
        "documents": [{"id": "a", "score": 2.5, "title": "T", "text": "x", "more": 1}, "b", 7, {"text": "only text"}],
        "citations": ["a", 7], "refused": false, "usage": {"input_tokens": 3, "output_tokens": 4}, "model": "m",
        "latency_ms": 250, "version": 2, "tool_calls": [{"name": "search", "arguments": {"q": "x"}}],
        "attributes": {"route": "fast"}, "metrics": {"hops": 2}, "spans": [{"name": "plan"}], "trace": "ignored",
    }))
    .unwrap();
    let documents = reply.documents.unwrap();
    let ids: Vec<_> = documents
        .iter()
        .map(|document| document.id.as_deref())
        .collect();
    assert_eq!(ids, [Some("a"), Some("b"), Some("7"), None]);
    assert_eq!(
        (documents[0].score, documents[0].title.as_deref()),
        (Some(2.5), Some("T"))
    );
    assert_eq!(documents[3].text.as_deref(), Some("only text"));
    assert_eq!(reply.answer, Some("Paris".into()));
    assert_eq!(reply.citations.unwrap(), ["a", "7"]);
    assert_eq!(reply.refused, Some(false));
    assert_eq!(
        reply.usage,
        Some(Usage {
            input_tokens: 3,
            output_tokens: 4,
            estimated: false
        })
    );
    assert_eq!(reply.reported, Some(Duration::from_millis(250)));
    assert_eq!(reply.version.as_deref(), Some("2"));
    assert_eq!(reply.tool_calls.unwrap()[0].arguments, json!({"q": "x"}));
    assert_eq!(reply.attributes["route"], "fast");
    assert_eq!(reply.metrics["hops"].to_bits(), 2.0_f64.to_bits());
    assert_eq!(reply.spans.unwrap().roots[0].name, "plan");
}

#[test]
fn a_lone_value_is_an_answer() {
    for value in [json!("Paris"), json!(7), json!(true)] {
        assert_eq!(own(value.clone()).unwrap().answer, Some(value));
    }
}

#[test]
fn a_chat_completion_is_read_with_its_usage_and_model() {
    let reply = own(json!({
        "id": "chatcmpl-1", "model": "gpt",
        "choices": [{"message": {"content": "Paris", "tool_calls": [
            {"id": "1", "function": {"name": "search", "arguments": "{\"q\": 1}"}},
            {"id": "2", "function": {"name": "search", "arguments": "{broken"}},
        ]}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    }))
    .unwrap();
    assert_eq!(reply.answer, Some("Paris".into()));
    assert_eq!(reply.model.as_deref(), Some("gpt"));
    assert_eq!(reply.usage.unwrap().input_tokens, 9);
    let call = |arguments| ToolCall {
        name: "search".to_owned(),
        arguments,
        failed: false,
    };
    assert_eq!(
        reply.tool_calls.unwrap(),
        [call(json!({"q": 1})), call(json!("{broken"))]
    );
    let refused =
        own(json!({"choices": [{"message": {"content": null, "refusal": "No."}}]})).unwrap();
    assert_eq!(
        (refused.refused, refused.answer),
        (Some(true), Some("No.".into()))
    );
    let parts = own(
        json!({"choices": [{"message": {"content": [{"type": "text", "text": "Pa"}, {"text": "ri"}, "s"]}}]}),
    );
    assert_eq!(parts.unwrap().answer, Some("Paris".into()));
}

#[test]
fn a_refusal_is_found_wherever_a_completion_has_it() {
    for message in [
        json!({"content": null, "refusal": "I cannot help."}),
        json!({"refusal": "I cannot help."}),
        json!({"content": "", "refusal": "I cannot help."}),
        json!({"content": [], "refusal": "I cannot help."}),
        json!({"content": [{"type": "refusal", "refusal": "I cannot help."}]}),
    ] {
        let reply = own(json!({"choices": [{"message": message, "finish_reason": "stop"}]}));
        let reply = reply.unwrap();
        assert_eq!(reply.answer, Some("I cannot help.".into()), "{message}");
        assert_eq!(reply.refused, Some(true), "{message}");
    }
    let both = json!({"content": "Paris", "refusal": "Not more."});
    let both = own(json!({"choices": [{"message": both}]})).unwrap();
    assert_eq!(
        (both.refused, both.answer),
        (Some(true), Some("Paris".into()))
    );
    let empty = json!({"content": "Paris", "refusal": ""});
    let none = own(json!({"choices": [{"message": empty}]})).unwrap();
    assert_eq!((none.refused, none.answer), (None, Some("Paris".into())));
}

#[test]
fn a_completion_that_was_cut_keeps_its_text_and_says_so() {
    for reason in ["length", "content_filter"] {
        let of = |message: Value| {
            own(json!({"choices": [{"message": message, "finish_reason": reason}]}))
        };
        let reply = of(json!({"content": "Par"})).unwrap();
        assert_eq!(reply.answer, Some("Par".into()));
        assert_eq!(
            (reply.refused, &reply.attributes["finish_reason"]),
            (None, &json!(reason))
        );
        for empty in [json!({"content": ""}), json!({"content": null}), json!({})] {
            let message = of(empty).unwrap_err();
            let expected = format!("(`finish_reason` is `{reason}`); the reply begins with");
            assert!(
                message.starts_with("the completion has no text: "),
                "{message}"
            );
            assert!(message.contains(&expected), "{message}");
        }
    }
    let whole = json!({"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]});
    assert!(own(whole).unwrap().attributes.is_empty());
}

#[test]
fn paths_read_what_they_name_and_nothing_else() {
    let settings = json!({
        "answer": "$.out.text", "documents": "$.hits.hits[*]", "document_id": "$._id", "document_score": "$._score",
        "document_text": "$._source.body", "citations": "$.hits.hits[?@.cited]['_id']", "latency_ms": "$.took",
        "usage": {"input_tokens": "$.u.i", "output_tokens": "$.u.o"}, "refused": "$.declined",
    });
    let reply = configured(settings, json!({
        "out": {"text": "Paris"}, "took": 12, "u": {"i": 1, "o": 2}, "declined": false,
        "hits": {"hits": [{"_id": "a", "_score": 1, "_source": {"body": "x"}, "cited": true}, {"_id": "b"}]},
        "model": "not named",
    }))
    .unwrap();
    assert_eq!(reply.answer, Some("Paris".into()));
    let documents = reply.documents.unwrap();
    assert_eq!(
        (documents[0].id.as_deref(), documents[0].text.as_deref()),
        (Some("a"), Some("x"))
    );
    assert_eq!(documents[1].id.as_deref(), Some("b"));
    assert_eq!(reply.citations.unwrap(), ["a"]);
    assert_eq!(reply.reported, Some(Duration::from_millis(12)));
    assert_eq!(reply.usage.unwrap().output_tokens, 2);
    assert_eq!(reply.model, None);
}

#[test]
fn no_document_found_is_not_the_same_as_no_documents() {
    let settings = json!({"documents": "$.hits[*]", "answer": "$.text"});
    let found = |reply| configured(settings.clone(), reply).unwrap().documents;
    assert_eq!(found(json!({"hits": []})), Some(Vec::new()));
    assert_eq!(found(json!({"text": "x"})), None);
    assert_eq!(
        own(json!({"documents": []})).unwrap().documents,
        Some(Vec::new())
    );
    assert_eq!(
        own(json!({"answer": "", "documents": null}))
            .unwrap()
            .documents,
        None
    );
}

#[test]
fn the_whole_reply_can_be_the_answer() {
    let reply = json!({"label": "spam", "score": 1});
    let read = configured(json!({"answer": "$"}), reply.clone()).unwrap();
    assert_eq!(read.answer, Some(reply));
}

#[test]
fn an_answer_may_be_null_and_a_reply_may_be_its_steps() {
    let answer = |reply| own(reply).unwrap().answer;
    assert_eq!(answer(json!({"answer": null})), Some(Value::Null));
    assert_eq!(answer(json!({"documents": []})), None);
    let settings = json!({"answer": "$.out.text"});
    let reply = configured(settings.clone(), json!({"out": {"text": null}})).unwrap();
    assert_eq!(reply.answer, Some(Value::Null));
    let message = configured(settings, json!({"out": null})).unwrap_err();
    assert!(message.starts_with("the reply has nothing at"), "{message}");
    let many = configured(json!({"answer": "$.out[*]"}), json!({"out": [null]}));
    assert_eq!(many.unwrap().answer, Some(Value::Null));
    let steps = own(json!({"spans": [{"name": "search"}]})).unwrap();
    assert_eq!((steps.answer, steps.spans.unwrap().roots.len()), (None, 1));
}

#[test]
fn replies_of_another_shape_say_what_failed() {
    for (reply, start) in [
        (
            json!({}),
            "the reply has neither `answer` nor `documents`; name its fields in `response`",
        ),
        (
            json!({"response": "Paris"}),
            "the reply has neither `answer`",
        ),
        (
            json!([1, 2]),
            "the reply is a list, not an object with `answer` or `documents`; the reply begins with `[1,2]`",
        ),
        (json!(null), "the reply is null"),
        (
            json!({"documents": "a, b"}),
            "`documents` is a text, not a list",
        ),
        (
            json!({"documents": [["a"]]}),
            "element 0 of `documents` has neither an id (`id`) nor a text (`text`)",
        ),
        (
            json!({"documents": [{"id": "a"}, {"id": ["b"]}]}),
            "element 1 of `documents`: `id` is a list, not a text or a number",
        ),
        (
            json!({"documents": [{"id": "a", "score": "high"}]}),
            "element 0 of `documents`: `score` is a text, not a number",
        ),
        (
            json!({"documents": [{"title": "a"}]}),
            "element 0 of `documents` has neither an id",
        ),
        (
            json!({"answer": "x", "refused": "no"}),
            "`refused` is a text, not true or false",
        ),
        (
            json!({"answer": "x", "usage": {"input_tokens": -1}}),
            "`input_tokens` in `usage` is `-1`, not a whole number",
        ),
        (
            json!({"answer": "x", "metrics": {"m": "high"}}),
            "`m` in `metrics` is a text, not a number",
        ),
        (
            json!({"answer": "x", "tool_calls": [{}]}),
            "element 0 of `tool_calls` has no `name`",
        ),
        (
            json!({"answer": "x", "latency_ms": -3}),
            "`latency_ms` is -3, and a duration is not negative",
        ),
        (
            json!({"choices": [{"message": {"content": null}}]}),
            "the reply has neither",
        ),
        (
            json!({"choices": [{"message": {"content": {"text": "a"}}}]}),
            "`choices[0].message.content` is an object, not a text",
        ),
    ] {
        let message = own(reply).unwrap_err();
        assert!(message.starts_with(start), "{message}");
    }
    for (settings, reply, start) in [
        (
            json!({"answer": "$.text", "documents": "$.hits[*]"}),
            json!({"txt": 1}),
            "the reply has nothing at `response.answer` (`$.text`) and `response.documents` (`$.hits[*]`); the reply begins with `{\"txt\":1}`",
        ),
        (
            json!({"answer": "$.all[*]"}),
            json!({"all": [1, 2]}),
            "`response.answer` (`$.all[*]`) matches 2 values, and one is needed",
        ),
        (
            json!({"documents": "$.hits"}),
            json!({"hits": {"a": 1}}),
            "`response.documents` (`$.hits`) is an object, not a list",
        ),
        (
            json!({"documents": "$.hits[*]", "document_id": "$._id"}),
            json!({"hits": [{"id": 1}]}),
            "element 0 of `response.documents` (`$.hits[*]`) has neither an id (`response.document_id` (`$._id`)) nor a text",
        ),
        (
            json!({"latency_ms": "$.ms"}),
            json!({"ms": 3}),
            "`response` names neither `answer` nor `documents`",
        ),
    ] {
        let message = configured(settings, reply).unwrap_err();
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn numbers_that_json_does_not_have_are_kept_for_metrics_alone() {
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    let read = |text| Mapping::parse(text).and_then(|json| mapping.read(&json));
    let reply =
        read(r#"{"answer": "x", "metrics": {"a": NaN, "b": -Infinity, "c": null}}"#).unwrap();
    assert!(reply.metrics["a"].is_nan());
    assert!(reply.metrics["b"].is_infinite());
    assert!(!reply.metrics.contains_key("c"));
    let error = read(r#"{"documents": [{"id": "a", "score": NaN}]}"#).unwrap_err();
    assert!(
        error
            .problem
            .contains("`score` is NaN, not a finite number"),
        "{error}"
    );
}

#[test]
fn a_reply_for_another_case_is_refused() {
    let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
    let check = |reply: Value| mapping.check_id(&reply, "7").map_err(|error| error.problem);
    assert_eq!(check(json!({"id": 7, "answer": "x"})), Ok(()));
    assert_eq!(check(json!({"answer": "x"})), Ok(()));
    assert_eq!(check(json!({"id": "chatcmpl-1", "choices": []})), Ok(()));
    let message = check(json!({"id": "8", "answer": "x"})).unwrap_err();
    assert!(
        message.starts_with("the reply is for `8`, and `7` was asked"),
        "{message}"
    );
}

#[test]
fn a_long_answer_is_read_whole() {
    let text = "ä".repeat(1 << 19);
    assert_eq!(
        own(json!({"answer": text}))
            .unwrap()
            .answer
            .unwrap()
            .as_str()
            .unwrap()
            .len(),
        1 << 20
    );
}
